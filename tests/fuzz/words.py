#!/usr/bin/env python3
"""The words of the language, from the scanner's rules and the lists of the editors' files.

    words.py --keywords, --others    strings of C, for mutate.c
    words.py --dict                  a dictionary for libFuzzer
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tools"))
from editorwords import words  # noqa: E402


def main():
    scanner = (ROOT / "grammar/tk.l").read_text().split("%%")[1]
    marks = re.findall(r'^(?:"[^"\w\s]+"\|?)+(?=\s+return)', scanner, re.M)
    single = re.search(r"^\[-(.*)\] return yytext\[0\]", scanner, re.M)[1].replace("\\", "")
    marks = [m for line in marks for m in re.findall(r'"([^"]+)"', line)] + ["-", *single]
    kinds = words(ROOT)
    keywords = sorted({*kinds["item"], *kinds["control"], *kinds["attribute"]})
    others = sorted({*kinds["type"], *kinds["function"], "true", "false", *marks})
    if sys.argv[1] == "--dict":
        print("\n".join(f'"{w}"' for w in keywords + others))
    else:
        print("\n".join(f'    "{w}",' for w in (keywords if sys.argv[1] == "--keywords" else others)))


main()
