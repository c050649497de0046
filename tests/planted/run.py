#!/usr/bin/env python3
"""Plants the bugs of this folder, one at a time, into a copy of the tree, and prints the test that finds each.

    run.py [--update] [--parts] [--keep DIR] [NAME...]

First the test of found.txt is tried, then part after part of all tests, then random programs. Known cases are left out, as in tests/run.sh: a bug that only a known
case would find is missed. Without names, the tests first pass where there is no bug. --update writes found.txt; --parts goes through all parts and prints each that finds
the bug; --keep builds in a folder that stays. Ends with `N found, N missed`.
"""
import argparse
import filecmp
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "runner"))
import plans  # noqa: E402
import process  # noqa: E402

FOUND = HERE / "found.txt"
COPIED = "compiler grammar runtime samples tests docs meson.build meson_options.txt README.md LICENSE".split()
CLANG = ["--cc", "clang", "--cxx", "clang++"]
# (configuration, tree, options, words): the parts of the tests, in the order in which a bug is looked for
PARTS = [("gcc", "build", [], [*(f"{g}/" for g in plans.TEXTS), "unit/"]), ("gcc", "build", [], [f"{g}/" for g in plans.GENERATED]), ("gcc", "build", [], ["driver/"]), ("gcc", "build", [], ["race/"]),
         ("clang", "build", CLANG, ["run/", "algorithms/"]), ("sanitizers", "build", [*CLANG, "--sanitize", "--short"], [f"{g}/" for g in plans.GENERATED]), ("gcc", "build", [], ["install/"]),
         ("tkc with sanitizers", "build-asan", [*CLANG, "--sanitize", "--short"], [*(f"{g}/" for g in plans.TEXTS), "unit/"])]
# What most cases need of a build; unit tests and scripts need all of it.
FEW, WHOLE = ("compiler/tkc", "runtime/libtkc.a"), ("unit/", "driver/", "install/", "fuzz/")
SEARCHES = [("rewrites", ["-n", "4", "--from", "1"]), ("schedules", ["-n", "4", "--from", "1"]), ("tables", ["-n", "10"]), ("elements", ["-n", "4", "--cc", "gcc"]), ("run", ["-n", "300", "-j", "2", "--seed", "planted", "--stop"])]


def replace(source, copy):
    """Copies a file whose text is another one, with the time of now: in a folder that stays, Ninja builds anew what a planted bug was in."""
    if not Path(copy).exists() or not filecmp.cmp(source, copy, shallow=False):
        shutil.copy(source, copy)


class Copy:
    """A copy of the tree, and its builds."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"), copy_function=replace)
            else:
                replace(ROOT / name, folder / name)
        self.log = ""

    def run(self, *cmd):
        """Whether a command ends with status 0."""
        ended = process.execute(cmd, cwd=self.folder, limit=36000)
        self.log = ended.out + ended.err + (ended.stopped or "")
        return ended.status == 0

    def build(self, tree, *targets):
        options, compiler = (plans.SANITIZED, "clang") if tree == "build-asan" else ([], "gcc")
        if not (self.folder / tree / "build.ninja").exists() and not self.run("env", f"CC={compiler}", "meson", "setup", tree, "--buildtype=debugoptimized", *options):
            return False
        return self.run("ninja", "-C", tree, *targets)

    def patch(self, name, *options):
        return self.run("patch", "-s", "-F0", "-p1", *options, "-i", HERE / f"{name}.patch")

    # ---- who finds a bug ----

    def part(self, config, tree, options, words, targets=()):
        """`CONFIGURATION: CASE` of the first case of a part that fails, or nothing."""
        if not self.build(tree, *targets):
            return f"{config}: build"
        if self.run(sys.executable, "tests/runtests.py", "--build", tree, "--known", "--stop", "-j", "2", *options, *words):
            return None
        m = re.search(r"^FAILED [^:]*: ([^:]*): ", self.log, re.M)
        return f"{config}: {m[1]}" if m else f"{config}: {self.log[-300:]}"

    def search(self, script, options):
        if self.build("build") and self.run(sys.executable, f"tests/random/{script}.py", "--build", "build", *options):
            return None
        m = re.search(r"^FAILED (module \d+|[^ :]*)", self.log, re.M)
        return f"random/{script}: {m[1]}" if m else None

    def named(self, who):
        """Whether the finder of found.txt finds the bug."""
        config, _, case = who.partition(": ")
        if config == "random/run":
            batch = int(case.split(".")[1])
            return self.search("run", ["--from", str(batch * 25), "-n", "25", "-j", "2", "--seed", "planted", "--stop"])
        if config.startswith("random/"):
            return self.search(config[7:], ["-n", "1", "--from", case.split()[1]])
        part = next(p for p in PARTS if p[0] == config)
        if case == "build":
            return None if self.build(part[1]) else who
        return self.part(*part[:3], [case], () if case.startswith(WHOLE) else FEW)

    def finder(self, first):
        if first and (who := self.named(first)):
            return who
        return next((who for who in self.all_finders() if who), None)

    def all_finders(self):
        yield from (self.part(*p) for p in PARTS)
        yield from (self.search(*s) for s in SEARCHES)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--update", action="store_true")
    ap.add_argument("--parts", action="store_true")
    ap.add_argument("--keep")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    known = dict(line.split(": ", 1) for line in FOUND.read_text().splitlines())
    names, missed = args.names or sorted(p.stem for p in HERE.glob("*.patch")), 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(args.keep or tmp).resolve()
        folder.mkdir(exist_ok=True)
        copy = Copy(folder)
        if not args.names and (who := next((w for w in map(lambda p: copy.part(*p), PARTS) if w), None)):
            sys.exit(f"{who} fails without a planted bug:\n{copy.log[-3000:]}")
        for name in names:
            if not copy.patch(name):
                print(f"{name:20} MISSED: the patch does not apply", flush=True)
                missed += 1
                continue
            who = ", ".join(w for w in copy.all_finders() if w) if args.parts else copy.finder(known.get(name))
            copy.patch(name, "-R")
            missed += not who
            print(f"{name:20} found by {who}" if who else f"{name:20} MISSED ({(HERE / f'{name}.patch').read_text().splitlines()[0]})", flush=True)
            if args.update and who and not args.parts:
                known[name] = who
                FOUND.write_text("".join(f"{n}: {w}\n" for n, w in sorted(known.items())))
    print(f"{len(names) - missed} found, {missed} missed")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
