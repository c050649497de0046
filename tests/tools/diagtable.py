#!/usr/bin/env python3
"""The list of diagnostics in docs/language/diagnostics.md, written from compiler/util/diag.def; each code has a link to its entry in docs/errors/.

    diagtable.py ROOT            ends with status 1 if the page's list is not what diag.def and the headings of docs/errors/ say
    diagtable.py ROOT --update   writes it
"""
import re
import sys
from pathlib import Path

import pages

BEGIN, END = "<!-- diagnostics: written by tests/tools/diagtable.py -->\n", "<!-- end of diagnostics -->\n"
GROUPS = {"E01": "Text and syntax", "E02": "Names", "E03": "Types and conversions", "E04": "Kernels, loops, statements",
          "E05": "Derivatives and data access", "E06": "Not compiled yet", "E07": "Files and the C compiler", "W08": "Warnings"}


def text_of(name, pattern):
    """The message with dots for what differs from case to case."""
    if pattern == "%s":
        return name.lower().replace("_", " ")
    text = re.sub(r"%l*[ds]", "…", pattern).replace("……", "…")
    return text.replace('\\"', '"').replace("\\\\", "\\").replace("%%", "%")


def places(errors):
    """{code: where its entry stands}"""
    return {a[:5].upper(): f"../errors/{page.name}#{a}" for page in errors.glob("*.md") for a in pages.anchors(page) if re.match(r"[ew]\d{4}-", a)}


def table(diag_def, entries):
    rows = sorted((code, text_of(name, text)) for name, code, text in re.findall(r'^DIAG\((\w+), \w+, "(\w+)", "(.*)"\)$', diag_def, re.M))
    if len(rows) != len(re.findall(r"^DIAG\(", diag_def, re.M)):
        sys.exit("diagtable: a row of diag.def is not on one line")
    lines, group = [], None
    for code, text in rows:
        if code[:3] != group:
            group = code[:3]
            lines += [*([""] if lines else []), f"**{GROUPS[group]}**", ""]
        lines.append(f"- [{code}]({entries[code]}): {text}" if code in entries else f"- {code}: {text}")
    return "\n".join(lines) + "\n"


def main():
    root = Path(sys.argv[1])
    page = root / "docs" / "language" / "diagnostics.md"
    text = page.read_text()
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = "\n" + table((root / "compiler/util/diag.def").read_text(), places(root / "docs/errors")) + "\n"
    if "--update" in sys.argv:
        page.write_text(head + BEGIN + new + END + tail)
    elif old != new:
        sys.exit("docs/language/diagnostics.md: the list of diagnostics is out of date; run tests/tools/diagtable.py . --update")


main()
