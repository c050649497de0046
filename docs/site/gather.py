#!/usr/bin/env python3
"""The pages of the site, from what is in the tree: gather.py ROOT OUT

README.md is the first page, docs/ lies beside it, and each other README.md is a page named after its folder. A link to any other file or folder of the project
becomes one to a page with its text, below source/; a notebook's page has its outputs. What MkDocs reads in another way than hosts of repositories is written as MkDocs reads it.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/tools"))
import pages

LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".tk": "tk", ".json": "json", ".cmake": "cmake", ".md": "md", ".build": "meson"}
PICTURES = {".png", ".gif"}
LISTED = 200            # files of a folder that its README's page lists: not all tests
ITEM = re.compile(r"(- |\d+\. )")
# Behind the first paragraph of the first page.
BUTTONS = "[Start](start.md){ .md-button .md-button--primary } [Gallery](gallery.md){ .md-button } [From Taichi](from-taichi.md){ .md-button }"


def known(root):
    """The files of the project, below ROOT: what git knows, or everything but build folders where there is no git."""
    found = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if found.returncode == 0:
        return sorted(f for f in found.stdout.splitlines() if (root / f).is_file())
    return sorted(str(f.relative_to(root)) for f in root.rglob("*") if f.is_file() and not f.relative_to(root).parts[0].startswith(("build", ".")))


class Site:
    def __init__(self, root, out):
        self.root, self.out, self.files = root, out, known(root)
        self.pages = {f: self.place(f) for f in self.files if f.endswith(".md")}
        self.sources = {}       # file or folder -> its page
        self.missing = set()

    @staticmethod
    def place(file):
        """Where the page of a Markdown file lies."""
        if file == "README.md":
            return "index.md"
        if file.startswith("docs/"):
            return file.removeprefix("docs/").replace("README.md", "index.md")
        return file.removesuffix("/README.md") + ".md"

    def target(self, path):
        """The page or picture that shows a file or folder of the project."""
        name = str(path.relative_to(self.root))
        if name in self.pages:
            return self.pages[name]
        if path.suffix in PICTURES and path.is_file():
            place = name.removeprefix("docs/")
            (self.out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.out / place)
            return place
        if name not in self.sources:
            if name not in self.files and not path.is_dir():
                self.missing.add(name)
                return self.sources.setdefault(name, "missing")
            self.sources[name] = "source/" + re.sub(r"(^|/)\.", r"\1dot.", name) + ".md"   # MkDocs leaves out what begins with a dot
            for inner in self.below(name):
                self.target(self.root / inner)
        return self.sources[name]

    def below(self, folder):
        return [f for f in self.files if f.startswith(f"{folder}/")]

    def link(self, place, to, anchor=""):
        return os.path.relpath(to, os.path.dirname(place) or ".") + (f"#{anchor}" if anchor else "")

    def relink(self, file, place, line):
        """The line with its links leading to where things are on the site."""
        def replaced(m):
            target = m[1]
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return m[0]
            path, _, anchor = target.partition("#")
            path = Path(os.path.normpath(self.root / os.path.dirname(file) / path))
            return m[0].replace(f"]({target})", f"]({self.link(place, self.target(path), anchor)})")
        # a picture in a link's text first
        line = re.sub(r"!\[[^][]*\]\(([^()\s]+)\)", replaced, line)
        spans = re.split(r"(`[^`]*`)", line)
        if len(spans) == 1 or "](" not in line:
            return pages.LINK.sub(lambda m: m[0] if m[0].startswith("!") else replaced(m), line)
        # code is no link, but may stand in the text of one
        code = spans[1::2]
        hidden = "".join(s if n % 2 == 0 else f"\0{n // 2}\0" for n, s in enumerate(spans))
        hidden = pages.LINK.sub(lambda m: m[0] if m[0].startswith("!") else replaced(m), hidden)
        return re.sub(r"\0(\d+)\0", lambda m: code[int(m[1])], hidden)

    def page(self, file):
        place, lines, fenced, before = self.pages[file], [], False, ""
        for line in (self.root / file).read_text().splitlines():
            if line.startswith("```"):
                fenced = not fenced
            elif not fenced and not line.startswith("    "):
                if re.fullmatch(r"<!--.*-->", line):
                    continue
                line = self.relink(file, place, line)
                # Markdown for Python begins no list within a paragraph.
                if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" "):
                    lines.append("")
            elif not fenced and line.startswith("    ") and ITEM.match(line.strip()):
                line = self.relink(file, place, line)
            lines.append(line)
            before = line
        folder = os.path.dirname(file)
        if file == "README.md":
            lines.insert(lines.index("", lines.index("") + 1), f"\n{BUTTONS}")
        elif os.path.basename(file) == "README.md" and len(self.below(folder)) <= LISTED:
            lines += ["", "## Files", ""] + [f"- [{f.removeprefix(folder + '/')}]({self.link(place, self.target(self.root / f))})" for f in self.below(folder) if f != file]
        self.write(place, "\n".join(lines) + "\n")

    def source(self, name, place):
        """The page of a file, or of a folder."""
        head = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n\n"
        path = self.root / name
        if path.is_dir():
            self.write(place, head + f"# {name}\n\n" + "".join(f"- [{f.removeprefix(name + '/')}]({self.link(place, self.target(self.root / f))})\n" for f in self.below(name)))
            return
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            self.write(place, head + f"# {name}\n\nA file of {path.stat().st_size} bytes that are no text.\n")
            return
        if path.suffix == ".ipynb":
            self.write(place, self.notebook(json.loads(text), place))
            return
        fence = "~" * max([3] + [len(m) + 1 for m in re.findall(r"~{3,}", text)])
        language = LANGUAGES.get(path.suffix, {"Makefile": "make", "meson.build": "meson"}.get(path.name, "text"))
        self.write(place, head + f"# {name}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n")

    def notebook(self, text, place):
        """The cells of a notebook, and their outputs: texts and pictures."""
        parts, pictures = [], 0
        for cell in text["cells"]:
            body = "".join(cell["source"])
            if cell["cell_type"] != "code":
                parts.append(body)
                continue
            parts.append(f"~~~{'tk' if body.startswith('%%tk') else 'python'}\n{body}\n~~~")
            for output in cell["outputs"]:
                data = output.get("data", {})
                said = "".join(output.get("text", data.get("text/plain", "")))
                if "image/png" in data:
                    pictures += 1
                    picture = self.out / place.replace(".md", f"-{pictures}.png")
                    picture.parent.mkdir(parents=True, exist_ok=True)
                    picture.write_bytes(base64.b64decode("".join(data["image/png"])))
                    parts.append(f"![A plot of the cell above]({picture.name})")
                elif said.strip():
                    parts.append(f"~~~text\n{said.rstrip()}\n~~~")
        return "\n\n".join(parts) + "\n"

    def write(self, place, text):
        path = self.out / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def gather(self):
        for file in self.pages:
            self.page(file)
        if self.missing:
            sys.exit("gather.py: linked, and no part of the project: " + ", ".join(sorted(self.missing)))
        for name, place in sorted(self.sources.items()):
            self.source(name, place)


if __name__ == "__main__":
    root, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    shutil.rmtree(out, ignore_errors=True)
    Site(root, out).gather()
    shutil.copytree(root / "docs/site/theme", out / "theme")
