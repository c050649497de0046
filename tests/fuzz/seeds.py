#!/usr/bin/env python3
"""Writes the fuzzer's first inputs: seeds.py FOLDER OPTIONS [PART/PARTS]

Each .tk file of tests and samples of at most 12 KiB, once with each digit of OPTIONS in front, which selects options of tkc (fuzz_tkc.c). Comments are left out, but for
doc comments: they would only be in the way.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LARGEST = 12 * 1024

folder, options = Path(sys.argv[1]), sys.argv[2]
part, parts = map(int, (sys.argv[3:] or ["0/1"])[0].split("/"))
files = [p for where in ("samples", "tests") for p in sorted((ROOT / where).rglob("*.tk")) if p.stat().st_size <= LARGEST]
for k, tk in enumerate(files[part::parts]):
    text = re.sub(rb"(?m)^ *//(?!/).*$| //(?!/).*$", b"", tk.read_bytes())
    for digit in options:
        (folder / f"{digit}{str(tk.relative_to(ROOT)).replace('/', '_')}").write_bytes(digit.encode() + text)
