#!/usr/bin/env python3
"""The pages of documentation, and whether their links lead somewhere: pages.py ROOT

A relative link names a file that is there, and behind # a heading of it or an `<a id="...">`. A page is linked from another one. A paragraph, list item or row has
at most 200 words: more than that nobody reads, and a table or a list says it better.
"""
import re
import sys
from pathlib import Path

WORDS = 200
LINK = re.compile(r"!?\[[^][]*(?:\[[^][]*\][^][]*)*\]\(([^()\s]+)\)")


def of(root):
    """All pages: README.md and those below docs/."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def of_language(root):
    """The reference of the language: its first page, and those behind it."""
    return [root / "docs" / "language.md", *sorted((root / "docs" / "language").glob("*.md"))]


def name(root, page):
    """README, language, language/types"""
    path = page.relative_to(root).with_suffix("")
    return str(path.relative_to("docs") if path.parts[0] == "docs" else path)


def named(root, name):
    return root / f"{name}.md" if name == "README" else root / "docs" / f"{name}.md"


def snippets(page):
    """Blocks behind `<!-- test: NAME [error] [explain] [f64] -->`; blocks of one name and language are joined."""
    found = {}
    text = page.read_text()
    for m in re.finditer(r"<!-- test: (\w+)((?: \w+)*) -->\n+```(\w+)\n(.*?)^```$", text, re.S | re.M):
        parts = found.setdefault(m[1], {"name": m[1], "words": set()})
        parts["words"] |= set(m[2].split())
        parts[m[3]] = parts.get(m[3], "") + m[4]
    return found.values()


def prose(text):
    """(number, line) of each line that is not code."""
    fenced = False
    for n, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield n, line


def anchors(page):
    """What can stand behind # in a link to the page: its headings, as hosts of repositories spell them."""
    found = []
    for _, line in prose(page.read_text()):
        found += re.findall(r'<a id="([^"]+)">', line)
        if re.match(r"#+ ", line):
            heading = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            again = sum(re.fullmatch(rf"{heading}(-\d+)?", a) is not None for a in found)
            found.append(f"{heading}-{again}" if again else heading)
    return found


def links(root, page):
    """(line, file, anchor) of each link to a file of the project."""
    for n, line in prose(page.read_text()):
        for target in LINK.findall(re.sub(r"`[^`]*`", "code", line)):
            if not re.match(r"[a-z]+:", target):
                path, _, anchor = target.partition("#")
                yield n, (page.parent / path).resolve() if path else page, anchor


def long_paragraphs(page):
    """(line, words) of each that is too long."""
    words = began = 0
    for n, line in [*prose(page.read_text()), (0, "")]:
        if not line.strip() or line.startswith(("#", "|", "- ", "<!--")):
            if words > WORDS:
                yield began, words
            words = 0
        if not words:
            began = n
        words += 0 if line.startswith("#") else len(line.split())


def faults(root):
    linked = {root / "README.md"}
    for page in of(root):
        where = page.relative_to(root)
        for n, path, anchor in links(root, page):
            if not path.exists():
                yield f"{where}:{n}: there is no {path.name}"
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                yield f"{where}:{n}: {path.name} has no heading '{anchor}'"
            if path != page:
                linked.add(path)
        for n, words in long_paragraphs(page):
            yield f"{where}:{n}: a paragraph of {words} words"
    yield from (f"{page.relative_to(root)}: no page has a link to it" for page in of(root) if page not in linked)


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(len(found) > 0)
