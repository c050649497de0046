#!/usr/bin/env python3
"""The words of the language, from the scanner's rules and the lists of the editors' files.

    words.py --c       one string for each, for mutate.c
    words.py --dict    a dictionary for libFuzzer
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tools"))
from editorwords import words  # noqa: E402


def tokens():
    scanner = (ROOT / "grammar/tk.l").read_text().split("%%")[1]
    marks = re.findall(r'^(?:"[^"\w\s]+"\|?)+(?=\s+return)', scanner, re.M)
    single = re.search(r"^\[-(.*)\] return yytext\[0\]", scanner, re.M)[1].replace("\\", "")
    names = re.findall(r'^"(\w+)"', scanner, re.M)
    found = [m for line in marks for m in re.findall(r'"([^"]+)"', line)] + ["-", *single] + names
    return sorted({*found, *(w for kind in words(ROOT).values() for w in kind)})


form = {"--c": '    "{}",', "--dict": '"{}"'}[sys.argv[1]]
print("\n".join(form.format(t) for t in tokens()))
