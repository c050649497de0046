#!/usr/bin/env python3
"""An independent model of the functions of vectors and matrices: norm, normalized, determinant, inverse, solve, sym_eig, svd, polar_decompose and theirs.

    matrices.py --build DIR [--short] [--seed S] [--cc CC]

Writes a module and a host, runs each function in f32 and f64, and compares values, gradients and JVPs with mpmath, derivatives with differences of many digits:
random, diagonal, graded and singular matrices, with values that agree or nearly agree, of determinants of either sign, times powers of two over the whole range
of the type; zero, NaN and infinity. An error is counted in units of the machine epsilon times the size of the result times the condition of the problem.
Prints the worst of each and ends with `N passed, N failed`. Needs python3-numpy and python3-mpmath.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from mpmath import mp, mpf
except ImportError:     # Debian's packages are those of Debian's Python, which need not be the first
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import matrices_cases as cases
import matrices_functions as functions

ROOT = Path(__file__).resolve().parent.parent.parent
VALUE, DERIVATIVE = 60, 250     # how many units are allowed
TYPES = {"f32": (np.float32, -126, 127), "f64": (np.float64, -1022, 1023)}


def build(args, real, work):
    """The host for one type."""
    out = Path(work) / real
    out.mkdir()
    (out / "m.tk").write_text(functions.module())
    (out / "host.c").write_text(functions.host())
    build_dir = Path(args.build).resolve()
    subprocess.run([build_dir / "compiler/tkc", "m.tk", "-o", "m.c", f"--real={real}"], cwd=out, check=True)
    subprocess.run([args.cc, "-std=gnu11", "-O2", "-fno-math-errno", "-fno-trapping-math", "-pthread", f"-I{ROOT / 'runtime/include'}", "host.c", "m.c",
                    build_dir / "runtime/libtkc.a", "-lm", "-o", "host"], cwd=out, check=True)
    return out


def run(out, index, a, d, w):
    """Outputs, JVPs along d, and gradients of the sum of outputs times w."""
    n = len(a)
    rows = np.zeros((n, 2 * functions.INPUTS + functions.OUTPUTS))
    rows[:, :a.shape[1]] = a
    rows[:, functions.INPUTS:functions.INPUTS + a.shape[1]] = d
    rows[:, 2 * functions.INPUTS:2 * functions.INPUTS + w.shape[1]] = w
    rows.tofile(out / "in")
    subprocess.run(["./host", str(index), str(n)], cwd=out, check=True)
    got = np.fromfile(out / "out").reshape(n, 2 * functions.OUTPUTS + functions.INPUTS)
    return got[:, :w.shape[1]], got[:, functions.OUTPUTS:functions.OUTPUTS + w.shape[1]], got[:, 2 * functions.OUTPUTS:2 * functions.OUTPUTS + a.shape[1]]


def exact(x):
    """mpmath numbers as long doubles, whose exponents reach farther than those of products of doubles."""
    return np.array([np.longdouble(mp.nstr(v, 25)) for v in x], dtype=np.longdouble)


class Worst:
    def __init__(self):
        self.value = self.gradient = self.jvp = 0.0
        self.count = self.bad = 0
        self.first = ""

    def note(self, what, error, limit, case):
        error = float(error) if error == error else float("inf")
        setattr(self, what, max(getattr(self, what), error))
        self.count += 1
        if not error <= limit:
            self.bad += 1
            self.first = self.first or f"{what} of {case}: {error:.3g} units"


def reference(f, a, d):
    """Outputs and their derivatives along d, with their conditions; None for derivatives that do not exist."""
    x = [mpf(float(v)) for v in a]
    value, condition = f.value(x)
    if condition is None:
        return None
    slope, slope_condition = None, f.slope_condition(x)
    if slope_condition is not None:
        h = mpf(10) ** -30
        hi, lo = ([v + s * h * mpf(float(e)) for v, e in zip(x, d)] for s in (1, -1))
        slope = exact([(p - q) / (2 * h) for p, q in zip(f.value(hi)[0], f.value(lo)[0])])
    return exact(value), np.longdouble(float(condition)), slope, slope and None if slope is None else np.longdouble(float(slope_condition))


def in_range(x, bottom, top, margin):
    size = np.max(np.abs(x))
    return size == 0 or np.longdouble(2) ** (bottom + margin) <= size <= np.longdouble(2) ** (top - 2)


def check(f, real, out, index, rng, short, worst):
    kind, bottom, top = TYPES[real]
    eps = np.longdouble(np.finfo(kind).eps)
    bits = 24 if real == "f32" else 53
    todo = []
    for name, a in cases.matrices(f, rng, kind, 1 if short else 6):
        d = np.array([kind(v) for v in rng.uniform(-1, 1, f.inputs)]) * np.max(np.abs(a) + (np.max(np.abs(a)) == 0))
        ref = None if f.residual or not np.all(np.isfinite(a)) else reference(f, a, d)
        exponents = cases.exponents(bottom, top, np.max(np.abs(a[np.isfinite(a)]), initial=1), 5 if short else 13)
        for e in [0, *exponents]:
            with np.errstate(all="ignore"):
                scaled, along = (np.ldexp(v.astype(np.float64), e).astype(kind) for v in (a, d))
                if not all(np.array_equal(np.ldexp(p.astype(np.longdouble), -e), q.astype(np.longdouble), equal_nan=True) for p, q in ((scaled, a), (along, d))):
                    continue    # digits were lost below the least normal number
            todo.append((name, e, a, ref, d, scaled, along))
    weights = rng.uniform(-1, 1, (len(todo), f.outputs)).astype(kind).astype(np.float64)
    inputs = np.array([t[5] for t in todo], dtype=np.float64)
    tangents = np.array([t[6] for t in todo], dtype=np.float64)
    value, jvp, gradient = (x.astype(np.longdouble) for x in run(out, index, inputs, tangents, weights))
    for k, (name, e, a, ref, d, _, along) in enumerate(todo):
        case = f"{name} * 2^{e}: {[float(v) for v in a]}"
        if not np.all(np.isfinite(a)):
            worst.note("value", 0 if not np.all(np.isfinite(value[k])) else np.inf, VALUE, case)
            continue
        if f.residual:
            whole = np.ldexp(a.astype(np.longdouble), e)
            if np.sqrt(np.sum(whole * whole)) < np.finfo(kind).max or np.all(np.isfinite(value[k])):
                worst.note("value", f.residual(whole, value[k]) / eps, VALUE, case)
            continue
        if ref is None:
            continue
        want, condition, slope, slope_condition = ref
        power = np.array(f.powers) * e
        want = np.ldexp(want, power)
        sizes = np.ldexp(np.array([np.max(np.abs(ref[0][s])) for s in f.groups_of]), power)
        if in_range(want, bottom, top, bits) and np.all(np.abs(want) < np.longdouble(2) ** top):
            floor = np.longdouble(2) ** (bottom - bits)
            worst.note("value", np.max(np.abs(value[k] - want) / (sizes * condition * eps + floor)), VALUE, case)
        if slope is None:
            continue
        units = max(slope_condition, 1) * eps
        if units * DERIVATIVE > 0.5:
            continue            # no digit is left
        slope = np.ldexp(slope, power)
        size = np.abs(slope) + np.array([np.max(np.abs(slope[s])) for s in f.groups_of]) + sizes
        if f.forward and in_range(size, bottom, top, bits):
            worst.note("jvp", np.max(np.abs(jvp[k] - slope) / (size * units)), DERIVATIVE, case)
        total = size * np.abs(weights[k])
        each = total / np.max(np.abs(along))
        if in_range(total, bottom, top, bits) and in_range(each, bottom, top, bits):
            worst.note("gradient", np.abs(np.dot(gradient[k], along.astype(np.longdouble)) - np.dot(slope, weights[k])) / (np.sum(total) * units), DERIVATIVE, case)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--short", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cc", default="gcc")
    args = p.parse_args()
    mp.dps = 80
    passed = failed = 0
    print(f"{'function':24} type  compared  value  gradient   jvp   (worst, in units)")
    with tempfile.TemporaryDirectory() as work:
        for real in TYPES:
            out = build(args, real, work)
            for index, f in enumerate(functions.ALL):
                worst = Worst()
                check(f, real, out, index, np.random.default_rng([args.seed, index]), args.short, worst)
                print(f"{f.name:24} {real}  {worst.count:8} {worst.value:6.1f}  {worst.gradient:8.1f} {worst.jvp:5.1f}{'   FAILED ' + str(worst.bad) + ', first ' + worst.first if worst.bad else ''}")
                passed += not worst.bad
                failed += bool(worst.bad)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
