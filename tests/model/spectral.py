#!/usr/bin/env python3
"""An independent model of functions of singular values and eigenvalues: spectral, sym_spectral, products that are the same, functions of the values alone.

    spectral.py --build DIR [--short] [--seed S] [--cc CC]

Values, gradients, JVPs and second-order products in f32 and f64 against mpmath, derivatives by differences of many digits: where values are repeated, differ by
1e-12 to 1e-1, or are zero, at rest and at rotations. Prints the worst of each, in units of a power of the machine epsilon that the pages promise, and ends with
`N passed, N failed`. Needs python3-numpy and python3-mpmath.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import mpmath as mp
    import numpy as np
except ImportError:     # Debian's packages are those of Debian's Python, which need not be the first
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

ROOT = Path(__file__).resolve().parent.parent.parent
TYPES = {"f32": np.float32, "f64": np.float64}
GAPS = [0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]

MODULE = """
func each(x: real) -> real { return log(1.0 + x * x) + x * x * x; }
func odd(x: real) -> real { return x * exp(-0.3 * x * x); }
func energy(s) { return 0.3 * norm_sqr(s) ** 2.0 + 1.0 / (1.0 + norm_sqr(s)); }
func energy2(s: vec2) -> real { return energy(s) + (s.x * s.y) ** 2.0; }
func energy3(s: vec3) -> real { return energy(s) + (s.x * s.y * s.z) ** 2.0; }
func stress2(s: vec2) -> vec2 { return energy2.grad(s); }
func stress3(s: vec3) -> vec3 { return energy3.grad(s); }
func lopsided2(s: vec2) -> vec2 { return s * exp(-0.2 * norm_sqr(s)) + 0.3 * s * (s.x * s.y) ** 2.0; }
func lopsided3(s: vec3) -> vec3 { return s * exp(-0.2 * norm_sqr(s)) + 0.3 * s * (s.x * s.y * s.z) ** 2.0; }
"""


def shared(s):
    q = sum(x * x for x in s)
    p = mp.fprod(s)
    return q, p


def each(s):
    return [mp.log(1 + x * x) + x ** 3 for x in s]


def odd(s):
    return [x * mp.exp(-mp.mpf("0.3") * x * x) for x in s]


def stress(s):
    q, _ = shared(s)
    others = [mp.fprod(s[:k] + s[k + 1:]) for k in range(len(s))]
    return [(mp.mpf("1.2") * q - 2 / (1 + q) ** 2) * x + 2 * x * o * o for x, o in zip(s, others)]


def lopsided(s):
    q, p = shared(s)
    return [x * mp.exp(-q / 5) + mp.mpf("0.3") * x * p * p for x in s]


def ones(s):
    return [mp.mpf(1)] * len(s)


def of_energy(s):
    q, p = shared(s)
    return mp.mpf("0.3") * q * q + 1 / (1 + q) + p * p


# text, what it is; symmetric; with zeros
CASES = [("sum(W * sym_spectral(A, each))", each, True, True), ("sum(W * sym_spectral(A, stress{n}))", stress, True, True),
         ("sum(W * sym_spectral(A, lopsided{n}))", lopsided, True, True), ("sum(W * spectral(A, odd))", odd, False, True),
         ("sum(W * spectral(A, stress{n}))", stress, False, True), ("sum(W * spectral(A, lopsided{n}))", lopsided, False, True),
         ("by_hand{n}(A, W)", lopsided, False, True), ("rotation{n}(A, W)", ones, False, False), ("values{n}(A)", None, False, True), ("invariants{n}(A)", None, True, True)]

MORE = """
func by_hand{n}(A: mat{n}, W: mat{n}) -> real {{ let U, s, V = svd(A); return sum(W * (U @ (diag(lopsided{n}(s)) @ transpose(V)))); }}
func rotation{n}(A: mat{n}, W: mat{n}) -> real {{ let U, s, V = svd(A); return sum(W * (U @ transpose(V))); }}
func values{n}(A: mat{n}) -> real {{ let U, s, V = svd(A); return energy{n}(s); }}
func invariants{n}(A: mat{n}) -> real {{ let w, Q = sym_eig(A); return energy{n}(w); }}
"""


def module():
    text = MODULE
    for n in (2, 3):
        text += MORE.format(n=n)
        for k, case in enumerate(CASES):
            text += f"export func f{n}_{k}(A: mat{n}, W: mat{n}) -> real derive(grad, jvp, hvp) {{ return {case[0].format(n=n)}; }}\n"
    return text


def build(args, real, work):
    out = Path(work) / real
    out.mkdir()
    (out / "m.tk").write_text(module())
    subprocess.run([Path(args.build).resolve() / "compiler/tkc", "m.tk", "-o", "m.c", f"--real={real}"], cwd=out, check=True)
    subprocess.run([args.cc, "-std=gnu11", "-O1", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC", f"-I{ROOT / 'runtime/include'}", "m.c", "-lm", "-o", "m.so"], cwd=out, check=True)
    return ctypes.CDLL(str(out / "m.so"))


def run(library, kind, name, a, w, d):
    """Value, JVP along d, gradient, and its derivative along d."""
    n = len(a)
    a, w, d = (np.array(x, dtype=kind) for x in (a, w, d))
    zero, one, numbers, out = np.zeros((n, n), kind), np.ones(1, kind), np.zeros(4, kind), np.zeros((4, n, n), kind)
    p = [x.ctypes.data_as(ctypes.c_void_p) for x in (a, d, w, zero, *(numbers[k:] for k in range(4)), one, *out)]
    getattr(library, f"m_{name}_hvp")(*p[:6], p[8], None, *p[9:])
    getattr(library, f"m_{name}_jvp")(*p[:4], p[6], p[7])
    return float(numbers[0]), float(numbers[3]), out[0].astype(float), out[1].astype(float)


def exact(g, symmetric, a, w, d):
    n = len(a)
    a, w, d = (mp.matrix([[mp.mpf(float(x)) for x in row] for row in m]) for m in (a, w, d))

    def value(m):
        if symmetric:
            s, q = mp.eigsy((m + m.T) / 2)
            u, v = q, q.T
        else:
            u, s, v = mp.svd_r(m)
        if g is None:
            return of_energy(list(s))
        y = u * mp.diag(g(list(s))) * v
        return sum(w[i, k] * y[i, k] for i in range(n) for k in range(n))
    h = mp.mpf(10) ** -15
    gradient, product = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            e = mp.zeros(n, n)
            e[i, k] = h
            hi, lo = value(a + e + h * d) - value(a - e + h * d), value(a + e - h * d) - value(a - e - h * d)
            gradient[i, k], product[i, k] = (hi + lo) / (4 * h), (hi - lo) / (4 * h * h)
    return float(value(a)), gradient, product


def matrices(rng, n, symmetric, zeros, short):
    def turn():
        return np.linalg.qr(rng.normal(size=(n, n)))[0]
    gaps = [rng.choice(GAPS, 2) for _ in range(3 if short else 12)]
    for k, pair in enumerate([(0, 0), *gaps]):
        s = np.array([1.2, 1.2 + pair[0], 1.2 - pair[1] if k % 2 else 0.5])[:n]
        q, p = turn(), turn()
        yield f"gaps {pair[0]:g} {pair[1]:g}", (q * s) @ (q if symmetric else p).T
    yield "rest", np.eye(n)
    yield "mirror", np.diag([1.0] * (n - 1) + [-1.0])
    if not symmetric:
        yield "rotation", turn()
    for count in range(1, n + 1 if zeros else 1):
        q, p = turn(), turn()
        yield f"{count} zero", (q * np.array([1.3, 0.7, 0.4][:n - count] + [0.0] * count)) @ (q if symmetric else p).T


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--short", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cc", default="gcc")
    args = p.parse_args()
    mp.mp.dps = 70
    bad = passed = 0
    with tempfile.TemporaryDirectory() as work:
        for real, kind in TYPES.items():
            library, eps = build(args, real, work), float(np.finfo(kind).eps)
            units = (64 * eps, 64 * eps ** (2 / 3), 4 * eps ** (2 / 3), 4 * eps ** 0.5)
            for n in (2, 3):
                for k, (text, g, symmetric, zeros) in enumerate(CASES):
                    rng = np.random.default_rng([args.seed, n, k])
                    worst, first = np.zeros(4), ""
                    for what, a in matrices(rng, n, symmetric, zeros, args.short):
                        a, w, d = (x.astype(kind).astype(float) for x in (a, rng.normal(size=(n, n)), rng.normal(size=(n, n))))
                        got, want = run(library, kind, f"f{n}_{k}", a, w, d), exact(g, symmetric, a, w, d)
                        errors = (abs(got[0] - want[0]), abs(got[1] - np.sum(want[1] * d)), np.max(np.abs(got[2] - want[1])), np.max(np.abs(got[3] - want[2])))
                        sizes = (abs(want[0]) + np.max(np.abs(w)), np.max(np.abs(want[1])) + 1e-3, np.max(np.abs(want[1])) + 1e-3, np.max(np.abs(want[2])) + 1)
                        now = np.array([e / s / u if e == e else np.inf for e, s, u in zip(errors, sizes, units)])
                        if np.any(now > 1) and not first:
                            first = f"   FAILED, first {what}: {now}"
                        worst = np.maximum(worst, now)
                    print(f"{text.format(n=n):34} {real}  value {worst[0]:.2f}  JVP {worst[1]:.2f}  gradient {worst[2]:.2f}  second order {worst[3]:.2f}{first}")
                    bad += bool(first)
                    passed += not first
    print(f"{passed} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
