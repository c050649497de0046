#!/usr/bin/env python3
"""Kernels whose iterations write elements several times, at the flags that users get.

    rewrites.py --build DIR [-n MODULES] [--from MODULE] [--seed S] [-j JOBS] [--cc CC]... [--keep DIR]

Compilers take `omp simd` as leave to reorder what one iteration does to one element (passes/schedule/simd.c). Each module has another shape of fields: 1 to 4 components,
f32 or f64, side by side, apart (soa), or members of structs; and 20 kernels of two to five statements that rewrite elements, whole or by component, under
conditions, through subscripts that may be equal, with loops and sums in between, with derivatives and second-order products. What each compiler's code at -O3, with
everything that pkg-config says, computes is compared with clang -O0: bit for bit, but for kernels with sums over iterations. Ends with `N passed, N failed`.
"""
import random
import re
import sys
import tempfile
from pathlib import Path

from builds import STUB, Builder, search
from compare import USERS, differences

KERNELS, SIZE = 20, 43    # elements: several vectors of any width, and some left over


class Shape:
    """What the fields of a module are like."""

    def __init__(self, number):
        self.n = number % 4 + 1
        self.elem = ["f32", "f64"][number // 4 % 2]
        self.layout = ["", "soa", "struct", "soa struct"][number // 8 % 4]
        self.saved = number // 32 % 2 == 1    # then what is overwritten may be read
        self.struct = "struct" in self.layout
        self.soa = " soa" if "soa" in self.layout else ""

    def fields(self):
        kept = " saved" if self.saved else ""
        vec = f"vec({self.n}, real)" if self.n > 1 else "real"
        lines = ["lazy_grad;", "lazy_dual;", "param N: i32 = %d;" % SIZE, "field flag: i32[N];", f"field s: real;", f"field c: {vec}[N]{self.soa if self.n > 1 else ''};"]
        if self.struct:
            lines += [f"struct Part {{ a: {vec}, k: i32, b: {vec}, r: real }}", f"field p: Part[N]{self.soa}{kept};"]
        else:
            soa = self.soa if self.n > 1 else ""
            lines += [f"field d: {vec}[N]{soa}{kept};", f"field e: {vec}[N]{soa}{kept};", f"field r: real[N]{kept};"]
        return lines + [f"field g: {vec}[2 * N]{kept};", f"field u: real[N, 3]{kept};"]

    def __str__(self):
        return f"{self.n} x {self.elem} {self.layout or 'aos'}{' saved' if self.saved else ''}"


class Writer:
    def __init__(self, shape, rng):
        self.s, self.r = shape, rng
        style = rng.random()
        self.plain = style < 0.75    # nothing that keeps compilers from vectorising
        self.picks = 0.15 if style < 0.4 or style >= 0.75 else 0.4 if style < 0.65 else 0.0    # components that are chosen at run time
        self.d, self.e, self.r1 = ("p[i].a", "p[i].b", "p[i].r") if shape.struct else ("d[i]", "e[i]", "r[i]")

    def element(self):
        pick = self.r.random()
        if pick < 0.7 or self.plain:
            return self.r.choice([self.d, self.d, self.d, self.e])
        if pick < 0.8:
            return self.r.choice(["g[2 * i]", "g[2 * i + 1]"])
        return self.r.choice(["g[2 * i + flag[i] % 2]", "g[2 * i + 1 - flag[i] % 2]"])

    def scalar(self, element=None):
        """One number that is an element or a component of it."""
        element = element or self.element()
        if self.r.random() < 0.15 and not self.plain:
            return self.r.choice([self.r1, f"u[i, {self.r.randrange(3)}]", "u[i, flag[i] % 3]"])
        if self.s.n == 1:
            return element
        if self.r.random() < self.picks:
            return f"{element}[flag[i] % {self.s.n}]"
        return f"{element}.{'xyzw'[self.r.randrange(self.s.n)]}"

    def number(self):
        return self.r.choice(["0.5", "0.25", "1.5", "-0.75", "c[i]" + (".x" if self.s.n > 1 else ""), self.scalar("c[i]") if self.s.n > 1 else "c[i]"])

    def whole(self):
        return self.r.choice(["c[i]", f"0.5 * {self.element()}", self.element(), f"c[i] + {self.element()}", f"{self.element()} * {self.number()}"])

    def value(self):
        a, b = self.scalar(), self.number()
        return self.r.choice([b, a, f"{a} * {b}", f"{a} + {b}", f"{b} - {a}", f"{b} * {b}", f"{a} * {self.scalar()}"])

    def one_by_one(self):
        """All components of an element, with something else in between."""
        element = self.element()
        lines = [f"{element}.{c} {self.r.choice(['=', '=', '+='])} {self.value()};" for c in self.r.sample("xyzw"[:self.s.n], self.s.n)]
        at = self.r.randrange(1, self.s.n)
        return [*lines[:at], f"{self.scalar(element)} {self.r.choice(['=', '+='])} {self.value()};", *lines[at:]]

    def statement(self, depth=0):
        if self.s.n > 1 and self.r.random() < 0.2:
            return self.one_by_one()
        pick = self.r.random() * (0.76 if self.plain else 1.0)
        if pick < 0.3:
            return [f"{self.element()} {self.r.choice(['=', '=', '+=', '-='])} {self.whole()};"]
        if pick < 0.4:
            return [f"{self.element()} *= {self.r.choice(['0.5', '-1.25', self.number()])};"]
        if pick < 0.7:
            return [f"{self.scalar()} {self.r.choice(['=', '+=', '-='])} {self.value()};"]
        if pick < 0.76:
            a, b = self.scalar(), self.scalar()
            t = f"t{self.r.randrange(1000000)}"
            return [f"let {t} = {a};", f"{a} = {b};", f"{b} = {t};"]
        if pick < 0.8:
            return [f"s += {self.scalar()};"]
        if depth or pick < 0.84:
            return [f"{self.scalar()} += {self.number()} * s;"] if pick < 0.83 else [f"{self.element()} += c[i];"]
        inner = [line for _ in range(self.r.randint(1, 2)) for line in self.statement(1)]
        if pick < 0.88:
            return ["for q in range(3) {", *inner, "}"]
        head = self.r.choice(["flag[i] > 1", "flag[i] % 2 == 0", f"{self.number()} > 0.5"])
        other = ["} else {", *self.statement(1)] if self.r.random() < 0.5 else []
        return [f"if {head} {{", *inner, *other, "}"]

    def kernel(self, name):
        body = [line for _ in range(self.r.randint(2, 5)) for line in self.statement()]
        loop = self.r.choice(["for i in c {"] * 5 + ["for i in range(3, N - 2) {", "serial for i in range(N) {"])
        derive = self.r.choice(["derive(grad, jvp, hvp)"] * 3 + ["derive(jvp)"])
        return [f"kernel {name}() {derive} {{ {loop}", *body, "} }"]


def has_sums(kernel):
    """Sums over iterations, which may be taken in any order: here, or in the adjoint of what all iterations read."""
    return any(re.search(r"\bs\b", line) for line in kernel)


class Search(Builder):
    def module(self, number):
        shape, rng = Shape(number), random.Random(f"{self.args.seed}.{number}")
        kernels = [Writer(shape, rng).kernel(f"k{i}") for i in range(KERNELS)]
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            tmp = Path(tmp)
            (tmp / "stub.c").write_text(STUB)
            left = self.compile_tk(shape.fields(), kernels, [f"--real={shape.elem}"], tmp)
            if not left:
                return 0, [], {"refused": KERNELS, "loops marked": 0}
            marked = (tmp / "m.c").read_text().count("TK_SIMD")
            tolerance = {"f32": 2e-5, "f64": 1e-13}[shape.elem]
            want, failed = self.values("clang", ["-O0"], tmp, "slow"), []
            for cc in self.args.cc:
                found = differences(want, self.values(cc, USERS, tmp, "fast"), lambda k: tolerance if has_sums(left[k]) else 0.0)
                failed += [(k, cc, why) for k, why in found]
            if failed:
                self.keep(number, tmp)
            failed = [("\n".join(left[k]), f"module {number} ({shape}), {cc}", why) for k, cc, why in failed]
            return len(left) - len({k for k, _, _ in failed}), failed, {"refused": KERNELS - len(left), "loops marked": marked}


if __name__ == "__main__":
    sys.exit(search(__doc__, Search, 64, "modules; 64 have each shape once"))
