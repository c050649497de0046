"""Prints a shell script that does what a page says, in its order: steps.py PAGE [WORD]

A block behind `<!-- file: NAME -->` goes to the end of that file, what stands behind `<!-- run -->` is run. With WORD, blocks behind `<!-- WORD file: NAME -->` and
`<!-- WORD run -->`, and the text block behind `<!-- WORD output -->` must be what the last run block prints in its last lines.
"""
import re
import sys

word = re.escape(sys.argv[2]) + " " if len(sys.argv) > 2 else ""
print("set -eu")
seen, ran = set(), False
with open(sys.argv[1]) as f:
    page = f.read()
for kind, name, text in re.findall(rf"<!-- {word}(file|run|output)(?:: (\S+))? -->\n+```\w+\n(.*?)^```$", page, re.S | re.M):
    if kind == "run":
        ran = True
        print(f"cat >run.sh <<'END OF FILE'\n{text}END OF FILE\n. ./run.sh >output 2>&1 || {{ cat output; exit 1; }}") if word else print(text)
    elif kind == "output":
        print(f"cat >expected <<'END OF FILE'\n{text}END OF FILE\ntail -n \"$(wc -l <expected)\" output | cmp - expected")
    else:
        print(f"cat {'>>' if name in seen else '>'}{name} <<'END OF FILE'\n{text}END OF FILE")
        seen.add(name)
assert ran, "nothing to run"
