#!/usr/bin/env python3
"""How much C the samples become.

    samples.py --tkc TKC [--check] [SAMPLE.tk...]

Prints for each sample lines of .tk (of what it imports as well), lines and bytes of C, and bytes of C for a line of .tk, as the table in tests/bench/README.md has them.
With --check status 1 if a sample has more bytes for a line, by a fiftieth, than that table says, or is not in it.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"^\| `(\w+\.tk)` \|.*\| ([\d,]+) \|$", re.M)


def imported(source):
    return [(source.parent / name).resolve() for name in re.findall(r'^import "([^"]+)";', source.read_text(), re.M)]


def files_of(source):
    """It, and what it imports."""
    found, todo = [], [source.resolve()]
    while todo:
        f = todo.pop()
        if f not in found:
            found.append(f)
            todo += imported(f)
    return found


def modules():
    """Of the samples: not what others import, unless it is a sample's own."""
    files = sorted(ROOT.glob("samples/*/*.tk"))
    parts = {f for source in files for f in imported(source)}
    return [f for f in files if f.resolve() not in parts or f.stem == f.parent.name]


def measure(tkc, source):
    """Lines of .tk, lines and bytes of C."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / (source.stem + ".c")
        subprocess.run([tkc, source.name, "-o", str(out)], cwd=source.parent, check=True)
        text = out.read_bytes()
    return sum(f.read_text().count("\n") for f in files_of(source)), text.count(b"\n"), len(text)


def expected():
    return {name: int(count.replace(",", "")) for name, count in ROW.findall((ROOT / "tests/bench/README.md").read_text())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("samples", nargs="*", type=Path)
    args = parser.parse_args()
    known, failed = expected(), False
    print("| sample | lines of .tk | lines of C | bytes of C | bytes of C a line of .tk |\n| --- | --- | --- | --- | --- |")
    for source in args.samples or modules():
        lines, c_lines, size = measure(str(Path(args.tkc).resolve()), source.resolve())
        print(f"| `{source.name}` | {lines} | {c_lines:,} | {size:,} | {round(size / lines):,} |")
        if args.check and size / lines > 1.02 * known.get(source.name, 0):
            print(f"{source.name}: {round(size / lines)} bytes of C a line, tests/bench/README.md has {known.get(source.name)}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
