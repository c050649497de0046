#!/usr/bin/env python3
"""Whether VS Code's packager would take docs/editors/vscode: extension.py ROOT

The requirements are those of https://code.visualstudio.com/api/references/extension-manifest and of
https://code.visualstudio.com/api/working-with-extensions/publishing-extension. Each of them is also held against a manifest that breaks it.
"""
import copy
import json
import re
import sys
from pathlib import Path

import icon

CATEGORIES = ["Programming Languages", "Snippets", "Linters", "Themes", "Debuggers", "Formatters", "Keymaps", "SCM Providers", "Other", "Extension Packs", "Language Packs", "Data Science",
              "Machine Learning", "Visualization", "Notebooks", "Education", "Testing"]
MOST_KEYWORDS, LEAST_ICON = 30, 128
STRINGS = ("displayName", "description", "license", "main", "icon")


def paths(m):
    """The files that the manifest names."""
    c = m.get("contributes", {})
    yield from (m[k] for k in ("main", "icon") if isinstance(m.get(k), str))
    yield from m.get("files", [])
    yield from (g["path"] for g in c.get("grammars", []))
    yield from (x["configuration"] for x in c.get("languages", []) if "configuration" in x)


def packed(m, file):
    """Whether `files` lets it into the package; the packager takes these four always."""
    return file.removeprefix("./") in m.get("files", []) or file in ("package.json", "README.md", "LICENSE", "CHANGELOG.md")


def manifest_faults(m):
    if not re.fullmatch(r"[a-z0-9][a-z0-9-._]*", str(m.get("name", ""))):
        yield "name: lower case, without spaces"
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(m.get("version", ""))):
        yield "version: three numbers"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", str(m.get("publisher") or "")):
        yield "publisher: an identifier"
    if not re.fullmatch(r"\^\d+\.\d+\.\d+", str(m.get("engines", {}).get("vscode", ""))):
        yield "engines.vscode: a least version, not *"
    yield from (f"{k}: a text" for k in STRINGS if not (isinstance(m.get(k), str) and m[k]))
    if m.get("license") != "SEE LICENSE IN LICENSE":
        yield "license: the file beside it"
    if not m.get("categories") or not set(m["categories"]) <= set(CATEGORIES):
        yield "categories: of the list"
    if not isinstance(m.get("keywords"), list) or len(m["keywords"]) > MOST_KEYWORDS:
        yield f"keywords: at most {MOST_KEYWORDS}"
    if not str(m.get("icon", "")).endswith(".png"):
        yield "icon: no SVG"
    banner = m.get("galleryBanner", {})
    if not re.fullmatch(r"#[0-9a-f]{6}", str(banner.get("color"))) or banner.get("theme") not in ("dark", "light"):
        yield "galleryBanner: a colour, dark or light"
    if m.get("activationEvents") and not m.get("main"):
        yield "activationEvents: without main"
    yield from (f"{k}: a dependency would have to be packed" for k in ("dependencies", "extensionDependencies") if m.get(k))
    yield from contribution_faults(m.get("contributes", {}))


def contribution_faults(c):
    languages = [x.get("id") for x in c.get("languages", [])]
    yield from (f"grammars: no language {g.get('language')}" for g in c.get("grammars", []) if g.get("language") not in languages or not g.get("scopeName"))
    commands = {x.get("command") for x in c.get("commands", []) if x.get("title")}
    for entries in c.get("menus", {}).values():
        yield from (f"menus: no command {e.get('command')}" for e in entries if e.get("command") not in commands)
    yield from (f"{k}: a setting has type, default and description" for k, v in c.get("configuration", {}).get("properties", {}).items() if not {"type", "default", "description"} <= set(v))
    modifiers = {x.get("id") for x in c.get("semanticTokenModifiers", [])}
    for scopes in c.get("semanticTokenScopes", []):
        yield from (f"semanticTokenScopes: {s}" for s in scopes.get("scopes", {}) if not set(s.split(".")[1:]) <= modifiers)


def folder_faults(folder, m, root):
    for file in paths(m):
        if not (folder / file).is_file():
            yield f"{file}: there is no such file"
        elif not packed(m, file):
            yield f"{file}: not in `files`"
    for file in folder.glob("*.js"):
        yield from (f"{file.name} needs {x}, which is not packed" for x in re.findall(r"require\('\./([^']+)'\)", file.read_text()) if not packed(m, x))
        yield from (f"{file.name} needs {x}, which Node has not" for x in re.findall(r"require\('([^.'][^']*)'\)", file.read_text()) if x not in ("vscode", "child_process"))
    readme, licence = folder / "README.md", folder / "LICENSE"
    if not readme.is_file() or "This is the README for your extension" in readme.read_text():
        yield "README.md: missing, or the template"
    elif re.search(r"\]\((?!https:)", readme.read_text()):
        yield "README.md: a link that is not https: leads nowhere in the package"
    if not licence.is_file() or licence.read_text() != (root / "LICENSE").read_text():
        yield "LICENSE: not that of the project"
    image = icon.read((folder / "icon.png").read_bytes()) if (folder / "icon.png").is_file() else None
    if not image or min(image[:2]) < LEAST_ICON:
        yield f"icon.png: at least {LEAST_ICON} pixels on each side"
    project = re.search(r"version: '([^']+)'", (root / "meson.build").read_text())[1]
    if m.get("version") != project:
        yield f"version: not {project}"


def broken(m):
    """Manifests with one fault each, and a part of the message."""
    for key, value, text in (("name", "Tk Language", "name"), ("version", "1.0", "version"), ("publisher", None, "publisher"), ("engines", {"vscode": "*"}, "engines"), ("license", "MIT", "license"),
                             ("displayName", "", "displayName"), ("categories", ["Languages"], "categories"), ("categories", [], "categories"), ("keywords", ["k"] * 31, "keywords"), ("icon", "icon.svg", "icon"),
                             ("galleryBanner", {"color": "blue", "theme": "dark"}, "galleryBanner"), ("main", None, "activationEvents"), ("dependencies", {"a": "1"}, "dependencies")):
        yield {**m, key: value}, text
    for change, text in ((lambda c: c["grammars"][0].update(language="c"), "grammars"), (lambda c: c["commands"].pop(), "menus"), (lambda c: c["configuration"]["properties"]["tkc.path"].pop("description"), "setting"),
                         (lambda c: c.pop("semanticTokenModifiers"), "semanticTokenScopes")):
        one = copy.deepcopy(m)
        one["contributes"]["menus"]["commandPalette"].append({"command": one["contributes"]["commands"][-1]["command"]})
        change(one["contributes"])
        yield one, text


def main():
    root = Path(sys.argv[1])
    folder = root / "docs/editors/vscode"
    m = json.loads((folder / "package.json").read_text())
    faults = [*manifest_faults(m), *folder_faults(folder, m, root)]
    faults += [f"a manifest with a wrong `{text}` passes" for one, text in broken(m) if not any(text in f for f in manifest_faults(one))]
    faults += ["a file that is not packed passes"] if not any("rpc.js" in f for f in folder_faults(folder, {**m, "files": ["extension.js", "icon.png"]}, root)) else []
    if faults:
        sys.exit("docs/editors/vscode:\n" + "\n".join(faults))


if __name__ == "__main__":
    main()
