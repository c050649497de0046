#!/usr/bin/env python3
"""The table of docs/language/habits.md, written from compiler/syntax/habits.def; a test gives each hint.

    habits.py ROOT            ends with status 1 if the page's table differs, or if no expected diagnostic of tests/syntax or tests/check has the hint of a row
    habits.py ROOT --update   writes the table
"""
import re
import sys
from pathlib import Path

BEGIN, END = "<!-- habits: written by tests/tools/habits.py -->\n", "<!-- end of habits -->\n"
STRING = r'"(?:[^"\\]|\\.)*"'
WORD = re.compile(rf"^WORD\((\w+), ({STRING}), ({STRING})\)$", re.M)
HINT = re.compile(rf"^HINT\(\w+, ({STRING}), ({STRING})\)$", re.M)
SYNTAX = re.compile(rf"^SYNTAX\((?:(?:{STRING}|'.'|\w+), ){{5}}({STRING}),\s*((?:{STRING}\s*)+)\)$", re.M)


def text_of(strings):
    return "".join(s[1:-1].replace('\\"', '"').replace("\\\\", "\\") for s in re.findall(STRING, strings))


def code(text):
    return f"`{text}`".replace("|", "\\|")


def written(hint):
    """The hint as a cell: 'code' in the page's quotes, names for tokens."""
    for token, name in (("$c", "x"), ("$t", "T"), ("$p", "x"), ("%s", "x")):
        hint = hint.replace(token, name)
    hint = re.sub(r"^(?:there is no '\w+'; )?(?:write )?", "", hint)    # as the head of the table says
    return re.sub(r"'((?:[^'\s]|\s(?!'))+)'", lambda m: code(m[1]), hint)


def table(words, rows):
    lines = ["| habit | write |", "| --- | --- |"]
    groups = {}
    for kind, word, here in words:
        if kind != "LIBRARY":
            groups.setdefault(written(here if kind in ("SAY", "VALUE") else f"'{here}'"), []).append(code(word))
    for habit, hint in rows:
        if habit:
            groups.setdefault(written(hint), []).append(code(habit))
    lines += [f"| {' '.join(group)} | {here} |" for here, group in groups.items()]
    return "\n".join(lines) + "\n"


def untested(root, words, rows):
    """The rows whose hint is in no expected diagnostic."""
    said = "".join(f.read_text(errors="replace") for d in ("syntax", "check") for f in sorted((root / "tests" / d).glob("*.diag")))
    for kind, word, here in words:
        named = rf"unknown (?:\w+) '{re.escape(word)}'|'{re.escape(word)}' is called '"
        if not re.search(named, said) and not (kind == "SAY" and re.search(rf"identifier '{re.escape(word)}'|\b{re.escape(word)}\b.*\n.*\^", said)):
            yield word
    for _, hint in rows:
        if not re.search(re.sub(r"\\\$[cpt]|%s", r".+", re.escape(hint)), said) and hint != "$w":
            yield hint


def main():
    root = Path(sys.argv[1])
    text = (root / "compiler/syntax/habits.def").read_text()
    words = [(kind, text_of(word), text_of(here)) for kind, word, here in WORD.findall(text)]
    rows = [(text_of(habit), text_of(hint)) for habit, hint in HINT.findall(text) + SYNTAX.findall(text)]
    if len(words) + len(rows) != len(re.findall(r"^(?:WORD|HINT|SYNTAX)\(", text, re.M)):
        sys.exit("habits: a row of habits.def has another form")
    page = root / "docs/language/habits.md"
    head, rest = page.read_text().split(BEGIN)
    old, tail = rest.split(END)
    new = "\n" + table(words, rows) + "\n"
    if "--update" in sys.argv:
        page.write_text(head + BEGIN + new + END + tail)
    elif old != new:
        sys.exit("docs/language/habits.md: the table is out of date; run tests/tools/habits.py . --update")
    missing = list(untested(root, words, rows))
    if missing:
        sys.exit("habits: no test gives these hints:\n" + "\n".join(missing))


main()
