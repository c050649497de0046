#!/usr/bin/env python3
"""The word lists of the editors' syntax files, written from grammar/tk.l and the pages of the language.

    editorwords.py ROOT            ends with status 1 if a list is not what the language has
    editorwords.py ROOT --update   writes them
"""
import json
import re
import sys
from pathlib import Path

import pages

ITEMS = "import const param struct field func export extern kernel lazy_grad lazy_dual let var static serial".split()
ATTRIBUTES = "needs_grad needs_dual saved distinct strided soa aos derive no_grad finite grad_for jvp_for operator out inout limit independent as".split()
BOOLEANS = {"true", "false"}
GROUPS = {"item": ("tkItem", "keyword.declaration.tk"), "control": ("tkControl", "keyword.control.tk"), "type": ("tkType", "storage.type.tk"),
          "attribute": ("tkAttribute", "storage.modifier.tk"), "function": ("tkFunction", "support.function.tk")}


def types(pattern):
    """The words of the scanner's rule for type names."""
    words = []
    for part in re.findall(r'"\w+"|\[iu\]\([\d|]+\)|\("vec"[^)]*\)\[234\]', pattern):
        if part.startswith("[iu]"):
            words += [s + n for s in "iu" for n in part[5:-1].split("|")]
        elif part.startswith("("):
            words += [w + n for w in re.findall(r'"(\w+)"', part) for n in "234"]
        else:
            words.append(part.strip('"'))
    return words


def spans(text):
    """Words of code spans that stand alone in table cells and lists: `sin cos tan`, `norm(v, eps)` gives norm."""
    words = []
    for span in re.findall(r"`([^`]+)`", text):
        words += [w for w in re.findall(r"[a-z]\w+", re.sub(r"\([^)]*\)", "", span))]
    return words


def words(root):
    scanner = (root / "grammar/tk.l").read_text()
    first, text = (root / "docs/language.md").read_text(), "".join(page.read_text() for page in pages.of_language(root))
    keywords = re.findall(r'^"(\w+)"\s', scanner, re.M)
    kinds = types(re.search(r'^("bool"\|.*?) \{$', scanner, re.M).group(1)) + ["vec", "mat"]
    functions = first.split("## Built-in functions")[1].split("\n## ")[0] + (root / "docs/language/builtins.md").read_text()
    functions = [w for line in functions.splitlines() if line.startswith(("|", "*")) for w in spans(line)]
    compiler = root / "compiler"
    statements = re.findall(r'\{"(\w+)", CALL_\w+, false, false\}', (compiler / "check/base/builtins.c").read_text())
    if "print" not in statements:
        sys.exit("editorwords: builtins.c has no table of built-in statements")
    functions += ["range", "ndrange", "grouped"] + statements
    functions += re.findall(r"\batomic_\w+", text)
    sources = ("ir/ops.def", "check/base/builtins.c", "check/prelude/prelude.tk", "check/prelude/matrices.tk", "check/prelude/decompositions.tk", "check/prelude/spectral.tk")
    text_of = "".join((compiler / f).read_text() for f in sources)
    text_of = re.sub(r'^OP\(\w+, *"\w+", *\d, NO.*', "", text_of, flags=re.M)            # nothing that a program can call by this name
    known = {a or b for a, b in re.findall(r'"(\w+)"|^func (\w+)', text_of, re.M)}
    unknown = [w for w in ATTRIBUTES if not re.search(rf"\b{w}\b", text)]
    if unknown:
        sys.exit(f"editorwords: the pages of the language know no {unknown}")
    found = {"item": [w for w in keywords if w in ITEMS],
             "control": [w for w in keywords if w not in (*ITEMS, *ATTRIBUTES, *kinds, *BOOLEANS)],
             "type": kinds, "attribute": ATTRIBUTES,
             "function": sorted({w for w in functions if w in known and w not in kinds and w not in keywords})}
    if set(ITEMS) - set(keywords):
        sys.exit(f"editorwords: no keywords: {set(ITEMS) - set(keywords)}")
    return found


def check_server(root, found):
    """What the language server proposes is what there is."""
    lsp = root / "compiler/lsp"
    server = {"function": re.findall(r'^BUILTIN\("(\w+)"', (lsp / "words/builtins.def").read_text(), re.M)}
    rows = re.findall(r'^WORD\((\w+), "(\w+)"', (lsp / "words/words.def").read_text(), re.M)
    server["type"] = [w for kind, w in rows if kind == "TYPE"]
    server["item"] = [w for kind, w in rows if w in ITEMS]
    server["control"] = [w for kind, w in rows if kind == "BODY" and w not in (*ITEMS, *ATTRIBUTES, *BOOLEANS)]
    server["attribute"] = [w for kind, w in rows if w in ATTRIBUTES]
    for kind, have in server.items():
        if set(have) != set(found[kind]):
            sys.exit(f"compiler/lsp: {kind}s: not there: {sorted(set(found[kind]) - set(have))}, too many: {sorted(set(have) - set(found[kind]))}")


def main():
    root = Path(sys.argv[1])
    check_server(root, words(root))
    vim, code = root / "docs/editors/vim/syntax/tk.vim", root / "docs/editors/vscode/syntaxes/tk.tmLanguage.json"
    lexer = root / "docs/editors/pygments/tk_lexer.py"
    new_vim, new_code, new_lexer = vim.read_text(), code.read_text(), lexer.read_text()
    for kind, found in words(root).items():
        group, scope = GROUPS[kind]
        new_vim = re.sub(rf"^syn keyword {group}\b.*$", " ".join(["syn keyword", group, *found]), new_vim, flags=re.M)
        pattern = json.dumps(r"\b(" + "|".join(found) + r")\b")
        new_code = re.sub(rf'(\{{ "name": "{re.escape(scope)}", "match": )".*" \}}', lambda m: m.group(1) + pattern + " }", new_code)
        new_lexer = re.sub(rf'^{kind.upper()} = ".*"$', f'{kind.upper()} = "{" ".join(found)}"', new_lexer, flags=re.M)
    json.loads(new_code)
    if "--update" in sys.argv:
        vim.write_text(new_vim)
        code.write_text(new_code)
        lexer.write_text(new_lexer)
    elif (new_vim, new_code, new_lexer) != (vim.read_text(), code.read_text(), lexer.read_text()):
        sys.exit("docs/editors: the word lists are out of date; run tests/tools/editorwords.py . --update")


if __name__ == "__main__":
    main()
