#!/usr/bin/env python3
"""Kernels whose loops are scheduled otherwise than they are written, at the flags that users get.

    schedules.py --build DIR [-n MODULES] [--from MODULE] [--seed S] [-j JOBS] [--cc CC]... [--keep DIR]

Modules with even numbers go by fields that are declared distinct, and by such as only look so (permutations.py); those with odd numbers have loops in parallel loops,
and rows (nests.py). Every kernel has derivatives, a third of them second-order products. What it computes is compared between
  - each compiler's code at -O3, with everything that pkg-config says, and clang -O0 of the same C: bit for bit, but where sums are made in vectors, or library functions called;
  - that and the module as it is written: without lanes, and with no field declared distinct, to rounding;
and in f64 tools/adcheck holds it against differences, and reverse against forward mode, with one thread and with three that share the smallest loops. Of what --explain-adjoint
calls an iteration's own, no two have one element, whatever the data. Ends with `N passed, N failed`.
"""
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from builds import ROOT, SHOP, STUB, Builder, run, search
from compare import USERS, differences
from compile import SMALL
from nests import Nests
from permutations import FIELDS, Permutations

THREADS = 3
SUBJECTS, KERNELS = [Permutations, Nests], [8, 4]    # C compilers take long for the loops of a nest
LANES = ["all", "auto", "all"]    # most loops are small
VALUES = (0, 2, 3)                # of compare.WHAT: what is not summed up for an adjoint
NAMES = ", ".join(f'"{f.name}"' for f in FIELDS.values() if f.distinct)
HOOK = f"""#include <string.h>
bool adcheck_distinct(const char *field)
{{
    static const char *const names[] = {{{NAMES}}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(field, names[i]))
            return true;
    return false;
}}
"""


def summed(c):
    """{(kernel, function)} of those in the C that sum up in vectors, or call the library."""
    found, function = set(), None
    for line in c.splitlines():
        if line and not line[0].isspace():
            m = re.search(r"\bm__?k(\d+)(_grad|_jvp|_hvp)?(?=_|\()", line)
            function = (int(m[1]), m[2] or "") if m else function
        if function and re.search(r"_SUM\(|\b(sin|cos|sinf|cosf|tk_sin\w*|tk_cos\w*)\(", line):
            found.add(function)
    return found


class Search(Builder):
    def __init__(self, args, work):
        super().__init__(args, work)
        sources = [s for s in sorted((ROOT / "runtime" / "src").glob("*.c")) if re.search(r"\bTK_(MIN_CHUNK|MIN_PARALLEL|ATOMIC_CYCLES)\b", s.read_text())]
        self.small = SHOP.shared("gcc", sources, ["-std=gnu11", "-D_GNU_SOURCE", *SMALL, "-O1", "-pthread", "-I", ROOT / "runtime" / "src"], False).get()

    def compile_alone(self, subject, kernels, options, tmp):
        """Of kernels with which tkc ends otherwise than by refusing some: those that it takes, and the others with what it says."""
        good, bad = [], []
        for k in kernels:
            try:
                good += self.compile_tk(subject.head(), [k], options, tmp)
            except RuntimeError as e:
                bad.append((k, str(e)))
        return self.compile_tk(subject.head(), good, options, tmp), bad

    def written(self, subject, kernels, tmp):
        """What the module computes as it is written."""
        folder = tmp / "written"
        folder.mkdir()
        (folder / "stub.c").write_text(STUB + HOOK)
        text = (tmp / "m.tk").read_text()
        for text in (text.replace(" distinct;", ";"), text):    # without, stores of several iterations are not excluded everywhere
            (folder / "m.tk").write_text(text)
            status, said = run([self.tkc, "m.tk", f"--real={subject.elem}", "--lanes=none", "-o", "m.c"], cwd=folder)
            if status == 0:
                return self.values("clang", ["-O0"], folder, "slow")
        raise RuntimeError(f"tkc --lanes=none: {said[:2000]}")

    def check(self, kernels, tmp):
        """[(kernel, complaint)] of tools/adcheck, with the last compiler's code."""
        self.need(["gcc", *self.include, "stub.c", "fast.o" if self.args.cc else "slow.o", *self.checker, *self.small, self.lib, "-pthread", "-lm", "-o", "check"], cwd=tmp)
        found, first = [], 0
        while first < len(kernels):
            status, out = run([tmp / "check", "--table", str(first), str(THREADS), "-1.2", "1.2"], cwd=tmp)
            said = []
            for line in out.splitlines():
                m = re.match(r"kernel (\d+) \S+ (ok|FAILED) compared", line)
                if not m:
                    said.append(line)
                    continue
                if m[2] == "FAILED":
                    found.append((int(m[1]), " ".join(said)))
                first, said = int(m[1]) + 1, []
            if first < len(kernels):
                found.append((first, f"status {status}: {' '.join(said)}"))
                first += 1
        return found

    def compare(self, subject, left, tmp):
        """[(kernel, where, complaint)] of what several compilers make of the module."""
        loose, tolerance, found = summed((tmp / "m.c").read_text()), {"f32": 1e-4, "f64": 1e-12}[subject.elem], []
        want, written = self.values("clang", ["-O0"], tmp, "slow"), self.written(subject, left, tmp)
        found += [(k, "clang -O0 and as it is written", why) for k, why in differences(written, want, lambda k: tolerance)]
        for cc in self.args.cc:
            got = self.values(cc, USERS, tmp, "fast")
            for part, functions in ((VALUES, ("", "_jvp")), (set(range(5)) - set(VALUES), ("_grad", "_hvp"))):
                both = [{key: v for key, v in one.items() if key[1] in part} for one in (want, got)]
                found += [(k, cc, why) for k, why in differences(*both, lambda k: tolerance if any((int(left[k][0][8:].split("(")[0]), f) in loose for f in functions) else 0.0)]
        return found

    def module(self, number):
        rng = random.Random(f"{self.args.seed}.{number}")
        subject, lanes = SUBJECTS[number % 2](number // 2, rng), LANES[number // 2 % 3]
        kernels = [subject.kernel(f"k{i}") for i in range(KERNELS[number % 2])]
        options = [f"--real={subject.elem}", f"--lanes={lanes}"]
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            tmp = Path(tmp)
            (tmp / "stub.c").write_text(STUB)
            try:
                left, bad = self.compile_tk(subject.head(), kernels, options, tmp), []
            except RuntimeError:
                left, bad = self.compile_alone(subject, kernels, options, tmp)
            refused, found = len(kernels) - len(left) - len(bad), []
            if left:
                starts = [len(subject.head()) + 1 + sum(map(len, left[:k])) for k in range(len(left))]
                explained = run([self.tkc, "m.tk", *options, "--explain-adjoint"], cwd=tmp)[1]
                found = [(k, "classes", why) for k, why in subject.wrong(left, starts, explained)]
                found += self.compare(subject, left, tmp)
                found += [(k, "adcheck", why) for k, why in (self.check(left, tmp) if subject.elem == "f64" else [])]    # as for run.py: tapes are compared to the rounding of f64
                counts = Counter({"refused": refused, "own elements": explained.count("own element"), "loops in lanes": explained.count("lanes: 32")})
            if found or bad:
                self.keep(number, tmp)
            wrong = [("\n".join(left[k]), where, why) for k, where, why in found] + [("\n".join(k), "tkc", why) for k, why in bad]
            wrong = [(k, f"module {number} of seed {self.args.seed} ({subject}, --lanes={lanes}), {where}", why) for k, where, why in wrong]
            return len(left) - len({k for k, _, _ in found}), wrong, counts if left else {"refused": refused}


if __name__ == "__main__":
    sys.exit(search(__doc__, Search, 16, "modules; even ones have fields that are distinct, odd ones loops in loops"))
