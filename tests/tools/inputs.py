#!/usr/bin/env python3
"""Holds the lines `inputs:` of test scripts against the files that the scripts read: inputs.py --build DIR [NAME...]

A script with such a line is not run again while all files that it names are as they were. Each script runs under strace; it fails if it reads another file of the tree.
Files behind `copies:` are read, and their text does not matter. Ends with `N passed, N failed`.
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/runner"))
import cases  # noqa: E402
import scripts  # noqa: E402
from plan import Config, Failure, Plan, Skip  # noqa: E402

OPENED = re.compile(r" = \d+<([^>]+)>$")    # of strace -y: the file behind a descriptor, with its whole path
# The tree's build holds the sources of tkc, which scripts of install/ build once more.
BUILT = ("compiler/", "grammar/")


class Traced(Plan):
    """A plan whose last command, the script, runs under strace."""

    def carry_out(self):
        self.trace = Path(self.folder, "trace")
        *before, (cmd, *rest) = self.steps
        traced = ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=open,openat", "-e", "signal=none", "-o", self.trace, *cmd]
        self.steps = [*before, (traced, *rest)]
        super().carry_out()

    def read(self, build):
        """Files of the tree that the script read."""
        found = set()
        for line in self.trace.read_text(errors="replace").splitlines():
            if m := OPENED.search(line):
                path = Path(m[1])
                if ROOT in path.parents and build not in path.parents and path.is_file() and ".git" not in path.parts:
                    found.add(str(path.relative_to(ROOT)))
        return found


def missing(sh, read):
    """Files that a script reads and does not name."""
    paths = {str(p.relative_to(ROOT)) for w in [*scripts.input_words(sh), *scripts.copied_words(sh)] for p in scripts.files_of(w)} | {str(sh.relative_to(ROOT))}
    read = {f for f in read if not (sh.parent.name == "install" and f.startswith(BUILT))}
    return sorted(f for f in read if not any(f == p or f.startswith(p + "/") for p in paths))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    config = Config("gcc", Path(args.build).resolve())
    passed = failed = 0
    for case in cases.chosen([c for c in cases.all_cases(config) if c.kind is scripts.script and c.keyed], args.names):
        with tempfile.TemporaryDirectory() as folder:
            plan = Traced(config, folder)
            try:
                case.kind(plan, case.what)
                plan.carry_out()
                why = missing(case.what, plan.read(config.build))
            except Skip as e:
                print(f"skipped {case.name}: {e}")
                continue
            except Failure as e:
                why = [str(e)]
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"FAILED {case.name}: reads and does not name {' '.join(why)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
