#!/usr/bin/env python3
"""How much C the samples become.

    samples.py --tkc TKC [--check] [SAMPLE.tk...]

Prints for each sample lines of .tk, lines and bytes of C, and bytes of C for a line of .tk, as the table in docs/speed.md has them.
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


def measure(tkc, source):
    """Lines of .tk, lines and bytes of C."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / (source.stem + ".c")
        subprocess.run([tkc, source.name, "-o", str(out)], cwd=source.parent, check=True)
        text = out.read_bytes()
    return source.read_text().count("\n"), text.count(b"\n"), len(text)


def expected():
    return {name: int(count.replace(",", "")) for name, count in ROW.findall((ROOT / "docs/speed.md").read_text())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("samples", nargs="*", type=Path)
    args = parser.parse_args()
    known, failed = expected(), False
    print("| sample | lines of .tk | lines of C | bytes of C | bytes of C a line of .tk |\n| --- | --- | --- | --- | --- |")
    for source in args.samples or sorted(ROOT.glob("samples/*/*.tk")):
        lines, c_lines, size = measure(str(Path(args.tkc).resolve()), source.resolve())
        print(f"| `{source.name}` | {lines} | {c_lines:,} | {size:,} | {round(size / lines):,} |")
        if args.check and size / lines > 1.02 * known.get(source.name, 0):
            print(f"{source.name}: {round(size / lines)} bytes of C a line, docs/speed.md has {known.get(source.name)}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
