"""Makes a C table of the entries of docs/errors/, as plain text for `tkc explain`.

usage: explain.py OUTPUT PAGE.md...
"""
import posixpath
import re
import sys
import textwrap

WIDTH = 88
LINK = re.compile(r"\[([^][]+)\]\(([^()#\s]+)(?:#[^()\s]*)?\)")


def plain(text):
    """A paragraph without its links; what they lead to stands in parentheses, from the root of the tree."""
    return LINK.sub(lambda m: f"{m[1]} ({posixpath.normpath('docs/errors/' + m[2])})", text)


def filled(lines):
    text, mark = plain(" ".join(lines)), ""
    if text.startswith("- "):
        text, mark = text[2:], "- "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark), break_long_words=False, break_on_hyphens=False)


def body(markdown):
    """Blocks of an entry: paragraphs filled, list items too, programs indented."""
    out, lines, fenced = [], [], False

    def ended():
        if lines:
            out.append(filled(lines) + "\n")
            lines.clear()

    for line in [*markdown.splitlines(), ""]:
        if line.startswith("```"):
            ended()
            if not fenced and len(out) > 1 and out[-2].startswith("    "):
                out.append("instead:\n\n")       # a page shows two blocks as two
            fenced = not fenced
        elif fenced:
            out.append(f"    {line}".rstrip() + "\n")
        elif not line:
            ended()
            if out and out[-1] != "\n":
                out.append("\n")
        else:
            if line.startswith("- "):
                ended()
            lines.append(line)
    return "".join(out).rstrip("\n") + "\n"


def anchor(heading):
    """Of a heading, as those who show Markdown make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def entries(name, page):
    """(code, title, text, page) of each `## CODE: title`."""
    parts = re.split(r"^## (\w+): (.*)\n", page, flags=re.M)
    for code, title, markdown in zip(parts[1::3], parts[2::3], parts[3::3]):
        yield code, plain(title), body(markdown), f"{posixpath.basename(name)}#{anchor(f'{code}: {title}')}"


def main():
    found = []
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as page:
            found += entries(name, page.read())
    found.sort(key=lambda e: (e[0][1:], e[0]))
    with open(sys.argv[1], "w") as out:
        out.write('#include "driver/explain.h"\n\n')
        for i, entry in enumerate(found):
            for what, text in zip(("title", "text", "page"), entry[1:]):
                data = ", ".join(str(b) for b in text.encode())
                out.write(f"static const char {what}{i}[] = {{{data}, 0}};\n")
        out.write("\nconst explain_entry explain_entries[] = {\n")
        for i, entry in enumerate(found):
            out.write(f'    {{"{entry[0]}", title{i}, text{i}, page{i}}},\n')
        out.write("};\nconst int explain_nentries = (int)(sizeof explain_entries / sizeof *explain_entries);\n")


if __name__ == "__main__":
    main()
