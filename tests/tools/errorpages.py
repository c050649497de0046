#!/usr/bin/env python3
"""Holds docs/errors/ against compiler/util/diag.def and against tkc: errorpages.py ROOT TKC

Each code has one entry, `## CODE: title`, in order. Its first block of ```tk, or of ```sh in an empty directory, gives this code and no other; blocks behind it give
nothing and succeed. A block of ```tk may begin with `// flags:`. `tkc explain CODE` prints the title, and each line of these blocks.
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, TKC = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"^```(tk|sh)\n(.*?)^```$", re.S | re.M)


def entries(page):
    """(code, title, [(language, text)]) of each heading."""
    parts = re.split(r"^## (.*)\n", page.read_text(), flags=re.M)
    for heading, text in zip(parts[1::2], parts[2::2]):
        code, _, title = heading.partition(": ")
        yield code, title, BLOCK.findall(text)


def run(command, where):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, env=os.environ | {"TKC": str(TKC)})
    return done.returncode, done.stderr, set(re.findall(r"\[([EW]\d+)\]$", done.stderr, re.M))


def shown(language, text, where):
    if language == "sh":
        return run(["sh", "-c", 'tkc() { "$TKC" "$@"; }\n' + text], where)
    flags = re.match(r"// flags: (.*)", text)
    Path(where, "example.tk").write_text(text)
    return run([TKC, "example.tk", *shlex.split(flags[1] if flags else "")], where)


def faults_of(entry):
    code, title, blocks = entry
    if not blocks:
        yield f"{code}: no example"
    with tempfile.TemporaryDirectory() as tmp:
        for i, (language, text) in enumerate(blocks):
            status, err, codes = shown(language, text, tmp)
            if i == 0 and (status, codes) != (code[0] == "E", {code}):
                yield f"{code}: its example has status {status} and gives {' '.join(sorted(codes)) or 'no code'}\n{err}"
            if i > 0 and (status or err):
                yield f"{code}: block {i + 1} is not clean\n{err}"
    out = subprocess.run([TKC, "explain", code], capture_output=True, text=True).stdout.splitlines()
    for line in [f"{code}: {title}"] * (not title or out[:1] != [f"{code}: {title}"]) + [f"    {line}" for _, text in blocks for line in text.splitlines() if line]:
        if line not in out[1:]:
            yield f"{code}: tkc explain does not print '{line.strip()}'"
            break


def faults():
    codes = re.findall(r'^DIAG\(\w+, \w+, "(\w+)"', (ROOT / "compiler/util/diag.def").read_text(), re.M)
    found = []
    for page in sorted((ROOT / "docs/errors").glob("*.md")):
        here = list(entries(page))
        if [e[0][1:] for e in here] != sorted(e[0][1:] for e in here):
            yield f"{page.name}: the entries are not in order"
        found += here
    for code in sorted({e[0] for e in found} | set(codes)):
        n = sum(e[0] == code for e in found)
        if code not in codes:
            yield f"{code}: an entry, but no such code in diag.def"
        elif n != 1:
            yield f"{code}: {n} entries"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for some in pool.map(lambda e: list(faults_of(e)), [e for e in found if e[0] in codes]):
            yield from some


if __name__ == "__main__":
    said = list(faults())
    print("\n".join(said), end="\n" if said else "")
    sys.exit(len(said) > 0)
