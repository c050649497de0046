#!/usr/bin/env python3
"""Loops of which several stores depend on each other, at the flags that users get.

    loops.py --build DIR [-n MODULES] [--from MODULE] [--seed S] [-j JOBS] [--cc CC]... [--keep DIR] [--without MARK]...

Compilers take loops apart and make vectors of nests, and gcc 12 loses the order of stores there (docs/c-compilers.md). Each module has 40 kernels. A kernel is a loop,
serial or in the iterations of a parallel one, whose statements read and store six arrays: one element or neighbouring ones, so many further on as a param says, chosen by a table;
with short loops within, which compilers write out or do not. The arrays are fields, or arrays of the iteration. Values and gradients are those of clang -O0: bit for bit,
where no adjoint adds up over an inner loop. --without TK_WHOLE_LOOPS leaves out what tkc marks for gcc, to see what a mark is for. Ends with `N passed, N failed`.
"""
import random
import sys
import tempfile
from pathlib import Path

from builds import STUB, Builder, search
from compare import USERS, differences

KERNELS, SIZE = 40, 61    # elements
CC = ["gcc -O2", "gcc -O3", "gcc -O3 -march=native -ffp-contract=off", "clang -O3"]
MARKS = ["TK_WHOLE_LOOPS", "TK_NO_LANES", "TK_IN_ORDER"]


class Writer:
    def __init__(self, rng):
        self.r = rng
        self.local = rng.random() < 0.25
        self.names = ["t", "u", "v", "a", "b", "c"] if self.local else list("abcdef")
        self.symbols = rng.random() < 0.3
        self.tables = rng.random() < 0.15
        self.nests = rng.random() < 0.45
        self.known = []    # locals

    def at(self, inner=""):
        if self.tables and self.r.random() < 0.3:
            return "order[i]"
        by = self.r.choice(["", "", "", " + 1", " - 1", " - 2"] + [" + shift"] * (2 * self.symbols))
        return f"i{by}{inner}"

    def element(self, inner=""):
        return f"{self.r.choice(self.names)}[{self.at(inner)}]"

    def value(self):
        return self.r.choice(self.known) if self.known and self.r.random() < 0.6 else self.element()

    def nest(self):
        trips = self.r.choice(["2", "3", "4", "8", "9", "width"])
        sign = self.r.choice("+-")
        store = f"{self.element(f' {sign} j')} {self.r.choice(['=', '=', '=', '+='])} {self.value()};"
        return [f"serial for j in range({trips}) {{ {store} }}" if not self.local else f"for j in range({trips}) {{ {store} }}"]

    def statement(self, k):
        pick = self.r.random()
        if pick < 0.25:
            line = f"let s{k} = {self.element()};"
            self.known.append(f"s{k}")
            return [line]
        if pick < 0.4:
            return [f"{self.element()} = {self.r.choice(['0.0', '1.0', 'real(i)'])};"]
        if pick < 0.5:
            return [f"{self.element()} += {self.element()};"]
        if pick < 0.62:
            name = self.r.choice(self.names)
            return [f"{name}[i] = 0.5 * {name}[i - 1] + {self.value()};"]
        if pick < 0.76 and self.nests:
            return self.nest()
        if pick < 0.8:
            return [f"if ({self.element()} > 0.5) {{ {self.element()} = {self.value()}; }}"]
        return [f"{self.element()} = {self.value()};"]

    def kernel(self, name):
        body = [line for k in range(self.r.randint(2, 7)) for line in self.statement(k)]
        if not self.local:
            return [f"kernel {name}() derive(grad) {{ serial for i in range(12, 40) {{", *body, "} }"]
        arrays = [f"var {x}: real[{SIZE}];" for x in "tuv"]
        ends = [f"a2[p, i] = {'tuv'[k]}[i];" if k == 0 else f"{'bc'[k - 1]}2[p, i] = {'tuv'[k]}[i];" for k in range(3)]
        body = [line.replace("a[", "a2[p, ").replace("b[", "b2[p, ").replace("c[", "c2[p, ") for line in body]
        return [f"kernel {name}() derive(grad) {{ for p in range(3) {{", *arrays, "for i in range(12, 40) {", *body, "}", f"for i in range({SIZE}) {{", *ends, "} } }"]


class Search(Builder):
    def module(self, number):
        rng, real = random.Random(f"{self.args.seed}.{number}"), ["f64", "f32"][number % 2]
        kernels = [Writer(rng).kernel(f"k{i}") for i in range(KERNELS)]
        head = ["lazy_grad;", "lazy_dual;", f"param N: i32 = {SIZE};", "param shift: i32 = 5;", "param width: i32 = 3;", "field order: i32[N];"]
        head += [f"field {x}: real[N];" for x in "abcdef"] + [f"field {x}2: real[3, N];" for x in "abc"]
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            tmp = Path(tmp)
            (tmp / "stub.c").write_text(STUB)
            left = self.compile_tk(head, kernels, [f"--real={real}"], tmp)
            text = (tmp / "m.c").read_text()
            tolerance = {"f64": 1e-12, "f32": 2e-5}[real]
            marked = sum(text.count(mark) for mark in MARKS)
            want, failed = self.values("clang", ["-O0"], tmp, "slow"), []
            if self.args.without:
                include = text.index("#include <tkc/tkc_gen.h>\n") + len("#include <tkc/tkc_gen.h>\n")
                (tmp / "m.c").write_text(text[:include] + "".join(f"#undef {mark}\n#define {mark}\n" for mark in self.args.without) + text[include:])
            for cc in self.args.cc:
                found = differences(want, self.values(cc, USERS[1:] if " -O3" in cc else [], tmp, "fast"), lambda k: tolerance if any("for j in" in line for line in left[k]) else 0.0)
                failed += [(k, cc, why) for k, why in found]
            if failed:
                self.keep(number, tmp)
            failed = [("\n".join(left[k]), f"module {number}, {cc}", why) for k, cc, why in failed]
            return len(left) - len({k for k, _, _ in failed}), failed, {"refused": KERNELS - len(left), "marks": marked}


if __name__ == "__main__":
    sys.exit(search(__doc__, Search, 150, "modules", CC, lambda ap: ap.add_argument("--without", action="append", default=[], choices=MARKS)))
