#!/usr/bin/env python3
"""Kernels whose iterations write elements several times, at the flags that users get.

    rewrites.py --build DIR [-n MODULES] [--from MODULE] [--seed S] [-j JOBS] [--cc CC]... [--keep DIR]

Compilers take `omp simd` as leave to reorder what one iteration does to one element (passes/schedule/simd.c). Each module has another shape of fields: 1 to 4 components,
f32 or f64, side by side, apart (soa), or members of structs; and 20 kernels of two to five statements that rewrite elements, whole or by component, under
conditions, through subscripts that may be equal, with loops and sums in between, with derivatives and second-order products. What each compiler's code at -O3, with
everything that pkg-config says, computes is compared with clang -O0: bit for bit, but for kernels with sums over iterations. Ends with `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import USERS, differences, read

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/tools"))
import checkers  # noqa: E402

KERNELS, SIZE = 20, 43    # elements: several vectors of any width, and some left over
STUB = """#include "m.h"
#include "adcheck.h"
tk_module *adcheck_create(tk_session *s) { m *x = m_create(s, NULL); return x ? &x->tk : NULL; }
void adcheck_destroy(tk_module *x) { m_destroy((m *)x); }
"""


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


def run(cmd, **kw):
    done = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, **kw)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


class Search:
    def __init__(self, args, work):
        self.args, self.work = args, Path(work)
        self.tkc, self.lib = Path(args.build).resolve() / "compiler" / "tkc", Path(args.build).resolve() / "runtime" / "libtkc.a"
        self.include = ["-I", ROOT / "runtime" / "include", "-I", ROOT / "tests" / "tools"]
        sources = checkers.sources("adcheck")
        self.checker = [self.work / f"{s.stem}.o" for s in sources]
        self.need(["gcc", "-std=gnu11", "-O1", *self.include, "-c", *sources], cwd=self.work)

    def need(self, cmd, **kw):
        status, text = run(cmd, **kw)
        if status:
            raise RuntimeError(f"{' '.join(map(str, cmd))}: status {status}\n{text[:3000]}")

    def compile_tk(self, shape, kernels, tmp):
        """The kernels that tkc accepts; it refuses those that overwrite what their adjoint needs, and those that provably race."""
        while kernels:
            lines, starts = shape.fields(), []
            for k in kernels:
                starts.append(len(lines) + 1)
                lines += k
            (tmp / "m.tk").write_text("\n".join(lines) + "\n")
            status, text = run([self.tkc, "m.tk", f"--real={shape.elem}", "-o", "m.c"], cwd=tmp)
            if status == 0:
                return kernels
            at = {max(i for i, s in enumerate(starts) if s <= int(n)) for n in re.findall(r"^m\.tk:(\d+):\d+: error: .*\[E05\d\d\]$", text, re.M)}
            if not at:
                raise RuntimeError(f"tkc: {text[:1000]}\n" + "\n".join(lines))
            kernels = [k for i, k in enumerate(kernels) if i not in at]
        return []

    def values(self, cc, flags, tmp, name):
        self.need([*shlex.split(cc), "-std=c11", *flags, *self.include, "-c", "m.c", "-o", f"{name}.o"], cwd=tmp)
        self.need(["gcc", *self.include, "stub.c", f"{name}.o", *self.checker, self.lib, "-pthread", "-lm", "-o", name], cwd=tmp)
        self.need([tmp / name, "--values", f"{name}.values", "-1.2", "1.2"], cwd=tmp)
        return read(tmp / f"{name}.values")

    def module(self, number):
        """(kernels that are right, kernels refused, [(kernel, compiler, why)], loops marked)"""
        shape, rng = Shape(number), random.Random(f"{self.args.seed}.{number}")
        kernels = [Writer(shape, rng).kernel(f"k{i}") for i in range(KERNELS)]
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            tmp = Path(tmp)
            (tmp / "stub.c").write_text(STUB)
            left = self.compile_tk(shape, kernels, tmp)
            if not left:
                return 0, KERNELS, [], 0
            marked = (tmp / "m.c").read_text().count("TK_SIMD")
            tolerance = {"f32": 2e-5, "f64": 1e-13}[shape.elem]
            want, failed = self.values("clang", ["-O0"], tmp, "slow"), []
            for cc in self.args.cc:
                found = differences(want, self.values(cc, USERS, tmp, "fast"), lambda k: tolerance if has_sums(left[k]) else 0.0)
                failed += [(k, cc, why) for k, why in found]
            if failed and self.args.keep:
                Path(self.args.keep).mkdir(exist_ok=True)
                Path(self.args.keep, f"m{number}.tk").write_text((tmp / "m.tk").read_text())
            return len(left) - len({k for k, _, _ in failed}), KERNELS - len(left), [("\n".join(left[k]), f"module {number} ({shape}), {cc}", why) for k, cc, why in failed], marked


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("-n", type=int, default=64, help="modules; 64 have each shape once")
    ap.add_argument("--from", dest="first", type=int, default=0)
    ap.add_argument("--seed", default="1")
    ap.add_argument("-j", type=int, default=os.cpu_count())
    ap.add_argument("--cc", action="append", help="compilers, with further flags where they have some ('clang -march=native -ffp-contract=off'); without it clang and gcc")
    ap.add_argument("--keep", help="a directory for modules with failures")
    args = ap.parse_args()
    args.cc = args.cc or ["clang", "gcc"]
    passed = refused = marked = 0
    told = set()
    with tempfile.TemporaryDirectory() as work:
        search = Search(args, work)
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for good, no, failed, loops in pool.map(search.module, range(args.first, args.first + args.n)):
                passed, refused, marked = passed + good, refused + no, marked + loops
                for kernel, where, why in failed:
                    print(f"FAILED {where}: {why}\n{kernel}" if kernel not in told else f"FAILED {where}: {why}, the kernel above", flush=True)
                    told.add(kernel)
    print(f"refused: {refused}, loops marked: {marked}")
    print(f"{passed} passed, {len(told)} failed")
    return len(told) > 0


if __name__ == "__main__":
    sys.exit(main())
