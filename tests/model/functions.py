#!/usr/bin/python3
"""Built-in functions and operators on floats against mpmath: values, first and second derivatives in both modes, f32 and f64, over their whole domains.

    functions.py --build DIR [--short] [--only NAME] [--points N]

Prints the worst error of each row in ulp, with its argument, and ends with `N passed, N failed`. A row fails where its error is above 4 ulp, or above what the
table of docs/language/builtins.md says for it.
"""
import argparse
import random
import re
import sys

import mpmath
import numpy as np
from mpmath import mp, mpf

from harness import BUILDS, DIGITS, ROOT, TYPES, Module, error

ALLOWED = 4.0
WHAT = ["value", "d/da", "d/db", "d2/da2", "d2/dadb", "d2/db2"]


def floored(a, b):
    return a - b * mpmath.floor(a / b)


def truncated(a, b):
    q = a / b
    return a - b * (mpmath.floor(q) if q >= 0 else mpmath.ceil(q))


def rounded(a):
    return mpmath.sign(a) * mpmath.floor(abs(a) + mpf(1) / 2)


def lgamma(a):
    return mpmath.log(abs(mpmath.gamma(a))) if a < 10 else mpmath.loggamma(a)


# name of the row: (the expression, the function, the domain of each operand). A domain: least and greatest, in which numbers of all magnitudes are drawn, and places
# where they are drawn densely.
ANY, POSITIVE = (-np.inf, np.inf, ()), (0, np.inf, (1,))
ROWS = {
    "add": ("a[i] + b[i]", lambda a, b: a + b, [ANY, ANY]),
    "sub": ("a[i] - b[i]", lambda a, b: a - b, [ANY, ANY]),
    "mul": ("a[i] * b[i]", lambda a, b: a * b, [ANY, ANY]),
    "div": ("a[i] / b[i]", lambda a, b: a / b, [ANY, ANY]),
    "rem": ("a[i] % b[i]", truncated, [ANY, ANY]),
    "mod": ("mod(a[i], b[i])", floored, [ANY, ANY]),
    "pow": ("a[i] ** b[i]", lambda a, b: a ** b, [POSITIVE, (-200, 200, (0, 1, 2, -1))]),
    "min": ("min(a[i], b[i])", min, [ANY, ANY]),
    "max": ("max(a[i], b[i])", max, [ANY, ANY]),
    "abs": ("abs(a[i])", abs, [ANY]),
    "sign": ("sign(a[i])", mpmath.sign, [ANY]),
    "floor": ("floor(a[i])", mpmath.floor, [ANY]),
    "ceil": ("ceil(a[i])", mpmath.ceil, [ANY]),
    "round": ("round(a[i])", rounded, [ANY]),
    "trunc": ("trunc(a[i])", lambda a: mpmath.sign(a) * mpmath.floor(abs(a)), [ANY]),
    "fract": ("fract(a[i])", lambda a: a - mpmath.floor(a), [ANY]),
    "sqrt": ("sqrt(a[i])", mpmath.sqrt, [POSITIVE]),
    "rsqrt": ("rsqrt(a[i])", lambda a: 1 / mpmath.sqrt(a), [POSITIVE]),
    "cbrt": ("cbrt(a[i])", lambda a: mpmath.sign(a) * mpmath.cbrt(abs(a)), [ANY]),
    "exp": ("exp(a[i])", mpmath.exp, [(-800, 800, ())]),
    "exp2": ("exp2(a[i])", lambda a: mpf(2) ** a, [(-1200, 1200, ())]),
    "expm1": ("expm1(a[i])", mpmath.expm1, [(-800, 800, (0,))]),
    "log": ("log(a[i])", mpmath.log, [POSITIVE]),
    "log2": ("log2(a[i])", lambda a: mpmath.log(a) / mpmath.log(2), [POSITIVE]),
    "log1p": ("log1p(a[i])", mpmath.log1p, [(-1, np.inf, (0, -1))]),
    "sin": ("sin(a[i])", mpmath.sin, [ANY]),
    "cos": ("cos(a[i])", mpmath.cos, [ANY]),
    "tan": ("tan(a[i])", mpmath.tan, [ANY]),
    "asin": ("asin(a[i])", mpmath.asin, [(-1, 1, (1, -1, 0))]),
    "acos": ("acos(a[i])", mpmath.acos, [(-1, 1, (1, -1, 0))]),
    "atan": ("atan(a[i])", mpmath.atan, [ANY]),
    "atan2": ("atan2(a[i], b[i])", mpmath.atan2, [ANY, ANY]),
    "sinh": ("sinh(a[i])", mpmath.sinh, [(-800, 800, (0,))]),
    "cosh": ("cosh(a[i])", mpmath.cosh, [(-800, 800, (0,))]),
    "tanh": ("tanh(a[i])", mpmath.tanh, [(-800, 800, (0,))]),
    "hypot": ("hypot(a[i], b[i])", mpmath.hypot, [ANY, ANY]),
    "erf": ("erf(a[i])", mpmath.erf, [(-30, 30, (0,))]),
    "erfc": ("erfc(a[i])", mpmath.erfc, [(-30, 30, (0,))]),
    "digamma": ("digamma(a[i])", mpmath.digamma, [(0, 1e9, (0, 1, 2))]),
    "sigmoid": ("sigmoid(a[i])", lambda a: 1 / (1 + mpmath.exp(-a)), [(-800, 800, (0,))]),
    "softplus": ("softplus(a[i])", lambda a: mpmath.log1p(mpmath.exp(a)), [(-800, 800, (0,))]),
    "lgamma": ("lgamma(a[i])", lgamma, [(-40, 1e9, (0, 1, 2, -1, -2, -3))]),
}
POWERS = [-2147483648, -2147483647, -1000, -37, -8, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, 31, 100, 1001, 2147483647]
INTEGER_VALUED = {"floor", "ceil", "round", "trunc", "sign"}
KINKS = {"rem": lambda a, b: a / b, "mod": lambda a, b: a / b, "min": lambda a, b: a - b, "max": lambda a, b: a - b, "abs": lambda a: a, "sign": lambda a: a,
         "floor": lambda a: a, "ceil": lambda a: a, "round": lambda a: a + mpf(1) / 2, "trunc": lambda a: a, "fract": lambda a: a}


# ---- arguments ----

def draw(rng, domain, real):
    """One number of the domain: of any magnitude, or a usual one, or close to a place."""
    low, high, places = domain
    digits, least, most = DIGITS[real]
    while True:
        kind = rng.random()
        if kind < 0.4:
            x = rng.choice([-1, 1]) * rng.uniform(1, 2) * 2.0 ** rng.randrange(least, most - 1)
        elif kind < 0.75 or not places:
            x = rng.uniform(max(low, -12), min(high, 12))
        else:
            x = rng.choice(places) + rng.choice([-1, 1]) * 2.0 ** rng.uniform(-digits, -1)
        x = float(TYPES[real](x))
        if low < x < high and abs(x) >= 2.0 ** least:
            return x


def second_operand(rng, name, a, domain, real):
    """Often of the first one's magnitude: there most happens."""
    if rng.random() < 0.5:
        b = a * rng.choice([-1, 1]) * 2.0 ** rng.uniform(-12, 12)
        b = float(TYPES[real](b)) if abs(b) < 2.0 ** (DIGITS[real][2] - 1) else 0.0
        if domain[0] < b < domain[1] and 2.0 ** DIGITS[real][1] <= abs(b):
            return b
    return draw(rng, domain, real)


def points_of(name, real, n):
    rng = random.Random(f"{name} {real}")
    domains = ROWS[name][2]
    found = []
    while len(found) < n:
        a = draw(rng, domains[0], real)
        if name == "lgamma" and a <= 0 and a == int(a):    # a pole
            continue
        found.append((a,) if len(domains) == 1 else (a, second_operand(rng, name, a, domains[1], real)))
    return found


# ---- the model ----

def model(name, point):
    """Value and derivatives by differences with so many digits that nothing of them is seen."""
    f = ROWS[name][1]
    exponents = [mpmath.frexp(mpf(x))[1] for x in point]
    spread = 2 * max(0, max(exponents)) + 3 * max(0, -min(exponents)) + 2 * (max(exponents) - min(exponents))
    with mp.workprec(900 + spread):
        x = [mpf(v) for v in point]
        value = f(*x)
        if name in KINKS:
            return [value, *smooth_part(name, x)]
        h = [min(abs(v), 1) * mpmath.ldexp(1, -120) for v in x]
        up, down = ([f(*(v + s * h[k] if j == k else v for j, v in enumerate(x))) for k in range(len(x))] for s in (1, -1))
        first = [(u - d) / (2 * e) for u, d, e in zip(up, down, h)]
        second = [(u - 2 * value + d) / (e * e) for u, d, e in zip(up, down, h)]
        second = [s if abs(s) > abs(value) * mpmath.ldexp(1, 30 - mp.prec) / (e * e) else mpf(0) for s, e in zip(second, h)]
        if len(x) == 1:
            return [value, first[0], None, second[0], None, None]
        corner = [f(x[0] + s * h[0], x[1] + t * h[1]) * s * t for s in (1, -1) for t in (1, -1)]
        return [value, *first, second[0], sum(corner) / (4 * h[0] * h[1]), second[1]]


def smooth_part(name, x):
    """Of functions of straight pieces."""
    if name in INTEGER_VALUED:
        return [mpf(0), None, mpf(0), None, None]
    if name == "fract":
        return [mpf(1), None, mpf(0), None, None]
    if name == "abs":
        return [mpmath.sign(x[0]), None, mpf(0), None, None]
    if name in ("min", "max"):
        first = (x[0] < x[1]) == (name == "min")
        return [mpf(first), mpf(not first), mpf(0), mpf(0), mpf(0)]
    q = x[0] / x[1]
    return [mpf(1), -(mpmath.floor(q) if name == "mod" or q >= 0 else mpmath.ceil(q)), mpf(0), mpf(0), mpf(0)]


def is_kink(name, point):
    if name not in KINKS:
        return False
    with mp.workprec(2500):
        at = KINKS[name](*map(mpf, point))
        return at == 0 if name in ("min", "max", "abs", "sign") else at == mpmath.floor(at)


# ---- the module ----

def module_text(names):
    out = ["param N: i32 = 1;", "lazy_grad; lazy_dual;", "field a: real[N]; field b: real[N]; field y: real[N]; field n: i32[N];"]
    out += [f"kernel op_{name}() derive(grad, jvp, hvp) {{ for i in y {{ y[i] = {ROWS[name][0]}; }} }}" for name in names]
    out.append("kernel op_powi() derive(grad, jvp, hvp) { for i in y { y[i] = a[i] ** n[i]; } }")
    return "\n".join(out) + "\n"


HOST = r"""
#include <stdio.h>
#include <stdlib.h>
#include "functions.h"
#include <tkc/tkc_gen.h>
typedef REAL real;
static functions *m;
static int64_t N;
static void must(tk_status s) { if (s != TK_OK) { fprintf(stderr, "%s\n", functions_error(m)); exit(1); } }
static void put(const void *p) { fwrite(p, sizeof(real), (size_t)N, stdout); }
static void get(void *p, size_t size) { if (fread(p, size, (size_t)N, stdin) != (size_t)N) exit(3); }
static void set(real *p, real v) { for (int64_t i = 0; i < N; i++) p[i] = v; }
/* kernel, arity; then a, b, n. Gives y, gradients, and for each operand as a direction: y.dual, the duals of the gradients. */
int main(void)
{
    int head[2];
    functions_params p = functions_defaults();
    if (fread(&p.N, sizeof(int), 1, stdin) != 1 || !(m = functions_create(NULL, &p)))
        return 2;
    N = p.N;
    must(tk_module_need_grad_dual(&m->tk));
    while (fread(head, sizeof head, 1, stdin) == 1) {
        const tk_kernel *k = &m->tk.desc->kernels[head[0]];
        real *dual[2] = {m->a.dual, m->b.dual};
        get(m->a.data, sizeof(real)), get(m->b.data, sizeof(real)), get(m->n.data, sizeof(int32_t));
        must(tk_session_clear_grad(m->tk.session));
        must(tk_launch(&m->tk, k, NULL));
        put(m->y.data);
        set(m->y.grad, 1);
        must(tk_launch_grad(&m->tk, k, NULL, NULL));
        put(m->a.grad), put(m->b.grad);
        for (int d = 0; d < head[1]; d++) {
            must(tk_session_clear_dual(m->tk.session));
            must(tk_session_clear_grad(m->tk.session));
            set(dual[d], 1);
            must(tk_launch_jvp(&m->tk, k, NULL));
            put(m->y.dual);
            set(m->y.grad, 1);
            set(m->y.grad_dual, 0), set(m->a.grad_dual, 0), set(m->b.grad_dual, 0);
            must(tk_launch_hvp(&m->tk, k, NULL, NULL));
            put(m->a.grad_dual), put(m->b.grad_dual);
        }
    }
    functions_destroy(m);
}
"""


def results(module, names, points, real):
    """By name: for each point (value, first derivatives in both modes, second ones twice) as (index into WHAT, number)."""
    size = max(len(p) for p in points.values())
    data = np.int32(size).tobytes()
    for k, name in enumerate(names):
        arity = len(ROWS[name][2]) if name in ROWS else 1
        operands = [np.ones(size, TYPES[real]) for _ in range(2)]
        n = np.ones(size, np.int32)
        for i, p in enumerate(points[name]):
            if name == "powi":
                operands[0][i], n[i] = p
            else:
                for j, v in enumerate(p):
                    operands[j][i] = v
        data += np.array([k, arity], np.int32).tobytes() + operands[0].tobytes() + operands[1].tobytes() + n.tobytes()
    raw = np.frombuffer(module.run(data), TYPES[real]).reshape(-1, size)
    found, at = {}, 0
    for name in names:
        arity = len(ROWS[name][2]) if name in ROWS else 1
        rows = [(0, raw[at]), (1, raw[at + 1])] + [(2, raw[at + 2])] * (arity == 2)
        at += 3
        for d in range(arity):
            rows += [(1 + d, raw[at]), (3 + d, raw[at + 1])] + [(4 + d, raw[at + 2])] * (arity == 2)
            at += 3
        found[name] = rows
    return found


def power_model(point):
    a, n = point
    with mp.workprec(700):
        x = mpf(a)
        return [x ** n, n * x ** (n - 1), None, mpf(n) * (n - 1) * x ** (n - 2), None, None]


# ---- the table in the documentation ----

def documented():
    """What docs/language/builtins.md says: by name and type, the greatest error of the value, of first and of second derivatives."""
    found = {}
    for line in (ROOT / "docs" / "language" / "builtins.md").read_text().splitlines():
        m = re.match(r"\| (`\w+`(?:, `\w+`)*) \| (.*) \|$", line)
        cells = [c.strip() for c in m[2].split("|")] if m else []
        if len(cells) == 6 and all(re.fullmatch(r"\d+|-", c) for c in cells):
            bounds = {real: [float("inf") if c == "-" else float(c) for c in cells[3 * k:3 * k + 3]] for k, real in enumerate(("f32", "f64"))}
            found.update((name, bounds) for name in re.findall(r"`(\w+)`", m[1]))
    return found


def allowed(table, name, real, what):
    order = 0 if what == 0 else 1 if what < 3 else 2
    return table.get(name, {}).get(real, [ALLOWED] * 3)[order]


def beyond(numbers, real):
    """Whether one of the derivatives is too great: another that is computed with it is 0 times infinity."""
    return any(v is not None and (mpmath.isinf(v) or abs(v) >= mpmath.ldexp(1, DIGITS[real][2])) for v in numbers)


def check(module, build, real, names, points, want, table, worst):
    compiler, *flags = BUILDS[build]
    module.compiled(compiler, *flags)
    failed = set()
    for name, rows in results(module, names, points, real).items():
        for what, numbers in rows:
            for i, p in enumerate(points[name]):
                reference = want[name][i][what]
                if reference is None or what and beyond(want[name][i], real):
                    continue
                e = error(float(numbers[i]), reference, real, 8 if what >= 3 else 1)
                key = (name, real, what)
                if e > worst.get(key, (-1,))[0]:
                    worst[key] = (e, p, build, float(numbers[i]), reference)
                if e > allowed(table, name, real, what):
                    failed.add((name, what))
    return failed


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("--short", action="store_true", help="few points, one compiler")
    ap.add_argument("--only", help="one row")
    ap.add_argument("--points", type=int)
    args = ap.parse_args()
    names = [n for n in [*ROWS, "powi"] if not args.only or n == args.only]
    count = args.points or (60 if args.short else 600)
    builds = ["gcc"] if args.short else list(BUILDS)
    table, worst, failed, passed = documented(), {}, [], 0
    for real in ("f32", "f64"):
        points = {n: points_of(n, real, count) for n in names if n != "powi"}
        points = {n: [p for p in ps if not is_kink(n, p)] for n, ps in points.items()}
        if "powi" in names:
            rng = random.Random(real)
            points["powi"] = [(float(TYPES[real](rng.uniform(-2, 2) if abs(n) < 50 else rng.choice([-1, 1]) * (1 + rng.uniform(-2, 2) / abs(n)))), n) for n in POWERS * (count // len(POWERS))]
        want = {n: [power_model(p) if n == "powi" else model(n, p) for p in ps] for n, ps in points.items()}
        module = Module(args.build, "functions", module_text([n for n in ROWS if n in names]), HOST.replace("REAL", "float" if real == "f32" else "double"), [f"--real={real}"])
        order = [n for n in ROWS if n in names] + ["powi"]
        points.setdefault("powi", [(1.0, 1)])
        want.setdefault("powi", [power_model((1.0, 1))])
        for build in builds:
            bad = check(module, build, real, order, points, want, table, worst)
            passed += len(order) - len({n for n, _ in bad})
            failed += [(real, build, n, WHAT[w]) for n, w in sorted(bad)]
    for (name, real, what), (e, p, build, got, reference) in sorted(worst.items(), key=lambda kv: (kv[0][0], kv[0][1], kv[0][2])):
        print(f"{name:8} {real} {WHAT[what]:8} {e:12.4g} ulp at {', '.join(repr(v) for v in p)} ({build}): {got!r}, {mpmath.nstr(reference, 17)}")
    for f in failed:
        print("FAILED", *f)
    print(f"{passed} passed, {len({f[:3] for f in failed})} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
