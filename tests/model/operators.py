#!/usr/bin/python3
"""Operators on all types, and casts between all of them, against Python's integers and NumPy's floats: bit for bit, computed by kernels and folded by tkc.

    operators.py --build DIR [--short] [--only NAME]

Ends with `N passed, N failed`; a case is one operator on one type, or one cast, with one compiler.
"""
import argparse
import math
import random
import struct
import sys
from fractions import Fraction

import numpy as np

from harness import BUILDS, Module

INTEGERS = {f"{'i' if sign else 'u'}{bits}": (bits, sign) for bits in (8, 16, 32, 64) for sign in (True, False)}
FLOATS = {"f32": np.float32, "f64": np.float64}
C = {"bool": "bool", "f32": "float", "f64": "double", **{t: f"{'' if t[0] == 'i' else 'u'}int{b}_t" for t, (b, _) in INTEGERS.items()}}
NUMPY = {"bool": np.bool_, **FLOATS, **{t: np.dtype(f"{'int' if s else 'uint'}{b}").type for t, (b, s) in INTEGERS.items()}}
TYPES = list(C)


def limits(t):
    bits, sign = INTEGERS[t]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if sign else (0, (1 << bits) - 1)


def wrap(t, v):
    bits, sign = INTEGERS[t]
    v &= (1 << bits) - 1
    return v - (1 << bits) if sign and v >> (bits - 1) else v


# ---- the model: what docs/language.md says ----

def truncated(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def integer_power(t, a, b):
    if b >= 0:
        return wrap(t, pow(a, b, 1 << 64))
    return {1: 1, -1: -1 if b & 1 else 1}.get(a, 0)


def on_integers(t):
    bits, _ = INTEGERS[t]
    return {
        "a + b": lambda a, b: wrap(t, a + b), "a - b": lambda a, b: wrap(t, a - b), "a * b": lambda a, b: wrap(t, a * b),
        "a / b": lambda a, b: wrap(t, truncated(a, b)) if b else 0, "a % b": lambda a, b: a - b * truncated(a, b) if b else 0,
        "mod(a, b)": lambda a, b: a % b if b else 0, "a ** b": lambda a, b: integer_power(t, a, b),
        "a & b": lambda a, b: a & b, "a | b": lambda a, b: a | b, "a ^ b": lambda a, b: a ^ b,
        "a << b": lambda a, b: wrap(t, a << (b % bits)), "a >> b": lambda a, b: a >> (b % bits),
        "-a": lambda a, b: wrap(t, -a), "~a": lambda a, b: wrap(t, ~a), "abs(a)": lambda a, b: wrap(t, abs(a)), "sign(a)": lambda a, b: (a > 0) - (a < 0),
        **on_numbers(),
    }


def on_numbers():
    return {
        "min(a, b)": lambda a, b: a if a < b else b, "max(a, b)": lambda a, b: a if a > b else b, "select(a < b, a, b)": lambda a, b: a if a < b else b,
        "clamp(a, b, b)": lambda a, b: b, "a < b": lambda a, b: a < b, "a <= b": lambda a, b: a <= b, "a > b": lambda a, b: a > b, "a >= b": lambda a, b: a >= b,
        "a == b": lambda a, b: a == b, "a != b": lambda a, b: a != b, "!(a < b)": lambda a, b: not a < b, "!(a == b)": lambda a, b: a != b,
        "!(a >= b) || b > a": lambda a, b: (not a >= b) or b > a, "a < b && b < a": lambda a, b: False, "a <= b && b <= a": lambda a, b: a == b,
    }


def on_floats():
    def divide(a, b):
        return a / b

    return {
        "a + b": lambda a, b: a + b, "a - b": lambda a, b: a - b, "a * b": lambda a, b: a * b, "a / b": divide, "-a": lambda a, b: -a,
        "abs(a)": lambda a, b: abs(a), "sign(a)": lambda a, b: type(a)(int(a > 0) - int(a < 0)), "a * 0.0": lambda a, b: a * type(a)(0), "a + 0.0": lambda a, b: a + type(a)(0),
        "a - a": lambda a, b: a - a, "a / a": lambda a, b: a / a, "0.0 - a": lambda a, b: type(a)(0) - a, "a * 1.0 + b * 2.0": lambda a, b: a + b * type(a)(2),
        "floor(a)": lambda a, b: np.floor(a), "ceil(a)": lambda a, b: np.ceil(a), "trunc(a)": lambda a, b: np.trunc(a), "sqrt(a)": lambda a, b: np.sqrt(a),
        "isnan(a)": lambda a, b: bool(np.isnan(a)), "isinf(a)": lambda a, b: bool(np.isinf(a)), **on_numbers(),
    }


def on_bools():
    return {"a & b": lambda a, b: a & b, "a | b": lambda a, b: a | b, "a ^ b": lambda a, b: a ^ b, "!a": lambda a, b: not a, "a && b": lambda a, b: a and b,
            "a || b": lambda a, b: a or b, "a == b": lambda a, b: a == b, "a != b": lambda a, b: a != b, "a ? b : !b": lambda a, b: b if a else not b}


def nearest(v, real):
    """An integer or a fraction as a float, by round to nearest even; exact arithmetic."""
    v = Fraction(v)
    if v == 0:
        return FLOATS[real](0)
    digits, least = (24, -149) if real == "f32" else (53, -1074)
    n = abs(v)
    e = max(n.numerator.bit_length() - n.denominator.bit_length() - digits - 1, least)
    while n / Fraction(2) ** e >= 1 << digits:
        e += 1
    scaled = n / Fraction(2) ** e
    m, rest = divmod(scaled.numerator, scaled.denominator)
    half = Fraction(rest, scaled.denominator) - Fraction(1, 2)
    m += half > 0 or (half == 0 and m & 1)
    try:
        r = math.ldexp(m, e)
    except OverflowError:
        r = math.inf
    if real == "f32" and r >= 2.0 ** 128:
        r = math.inf
    return FLOATS[real](r if v > 0 else -r)


def cast(v, source, to):
    if to == "bool":
        return bool(v != 0)
    if to in INTEGERS:
        if source not in FLOATS:
            return wrap(to, int(v))
        low, high = limits(to)
        return 0 if np.isnan(v) else low if v <= low else high if v >= high else int(v)
    if source not in FLOATS:
        return nearest(int(v), to)
    return FLOATS[to](v) if not np.isfinite(v) or v == 0 else nearest(Fraction(float(v)), to) * FLOATS[to](1)


# ---- numbers ----

def specials(t):
    if t == "bool":
        return [False, True]
    if t in INTEGERS:
        low, high = limits(t)
        bits = INTEGERS[t][0]
        near = {low, low + 1, low + 2, high, high - 1, 0, 1, 2, 3, -1, -2, 5, 7, bits - 1, bits, bits + 1, high // 2, high // 2 + 1, -bits, 1 << (bits // 2), 10, 100}
        near |= {(1 << 24) + 1, (1 << 24) + 3, (1 << 53) + 1, (1 << 53) + 3, (1 << 62) + 1, (1 << 63) - 512, (1 << 63) + 1024, (1 << 63) + 1025}
        return sorted(v for v in near if low <= v <= high)
    edges = [0.0, 0.5, 1.0, 1.5, 2.5, 0.1, 3.0, 7.25, 126.9, 127.0, 127.5, 128.0, 255.0, 255.9, 256.0, 32767.5, 32768.0, 65535.5, 65536.0, 2147483520.0, 2147483647.0, 2147483647.5, 2147483648.0,
             2147483649.0, 4294967040.0, 4294967295.0, 4294967295.5, 4294967296.0, 9223371487098961920.0, 9223372036854774784.0, 9223372036854775808.0, 18446742974197923840.0,
             18446744073709549568.0, 18446744073709551616.0, 1e25, 3.4e38, 1e300, 2.0 ** -126, 2.0 ** -149, 2.0 ** -1074, 16777217.0, 1 + 2.0 ** -24, 1 + 3 * 2.0 ** -24, 1 + 2.0 ** -24 + 2.0 ** -50,
             math.inf]
    with np.errstate(all="ignore"):
        return [math.nan] + sorted({float(FLOATS[t](s * v)) for v in edges for s in (1, -1)}, key=lambda v: (v, math.copysign(1, v))) + [-0.0]


def values(t, rng, n):
    found = specials(t)
    while len(found) < n and t != "bool":
        if t in INTEGERS:
            found.append(wrap(t, rng.getrandbits(64) >> rng.randrange(64)))
        else:
            with np.errstate(all="ignore"):
                found.append(float(FLOATS[t](rng.choice([-1, 1]) * rng.uniform(1, 2) * 2.0 ** rng.choice([rng.randrange(-30, 70), rng.randrange(-140, 120)]))))
    return found


def pairs(t, rng, n):
    """All pairs of what is special, and others."""
    s = specials(t)
    found = [(a, b) for a in s for b in s]
    more = values(t, rng, len(s) + n)[len(s):]
    return found + [(a, rng.choice(more)) for a in more] + [(a, a) for a in more]


# ---- cases ----

class Case:
    def __init__(self, name, source, to, expression, want, points):
        self.name, self.source, self.to, self.expression, self.points = name, source, to, expression, points
        make = NUMPY[source] if source in FLOATS else (lambda v: v)
        with np.errstate(all="ignore"):
            self.want = [want(make(a), make(b)) for a, b in points]


def cases(short):
    rng = random.Random("operators")
    found = []
    for t in TYPES:
        table = on_bools() if t == "bool" else on_integers(t) if t in INTEGERS else on_floats()
        points = pairs(t, rng, 20 if short else 400)
        for k, (expression, model) in enumerate(table.items()):
            to = "bool" if any(isinstance(model(NUMPY[t](1), NUMPY[t](1)) if t in FLOATS else model(1, 1), kind) for kind in (bool, np.bool_)) else t
            found.append(Case(f"{t} {expression}", t, to, expression, model, points))
    for source in TYPES:
        points = [(v, v) for v in values(source, rng, 100 if short else 2000)]
        found += [Case(f"{to}({source})", source, to, f"{to}(a)", lambda a, b, s=source, t=to: cast(a, s, t), points) for to in TYPES if to != source]
    return found


def same(got, want, t):
    if t in FLOATS:
        if np.isnan(want):
            return bool(np.isnan(got))
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return int(got) == int(want)


HOST = r"""
#include <stdio.h>
#include <stdlib.h>
#include "operators.h"
#include <tkc/tkc_gen.h>
static operators *m;
static void must(tk_status s) { if (s != TK_OK) { fprintf(stderr, "%s\n", operators_error(m)); exit(1); } }
/* a kernel, the types of what it takes and gives, a and b; gives y. */
int main(void)
{
    int head[4];
    operators_params p = operators_defaults();
    if (fread(&p.N, sizeof(int), 1, stdin) != 1 || !(m = operators_create(NULL, &p)))
        return 2;
    void *const a[] = {IN_A}, *const b[] = {IN_B}, *const y[] = {OUT};
    const size_t size[] = {SIZES};
    while (fread(head, sizeof head, 1, stdin) == 1) {
        const size_t n = (size_t)head[3];
        if (fread(a[head[1]], size[head[1]], n, stdin) != n || fread(b[head[1]], size[head[1]], n, stdin) != n)
            return 3;
        must(tk_launch(&m->tk, &m->tk.desc->kernels[head[0]], NULL));
        fwrite(y[head[2]], size[head[2]], n, stdout);
    }
    operators_destroy(m);
}
"""


def host():
    text = HOST
    for key, make in {"IN_A": "m->a_{}.data", "IN_B": "m->b_{}.data", "OUT": "m->y_{}.data"}.items():
        text = text.replace(key, ", ".join(make.format(t) for t in TYPES))
    return text.replace("SIZES", ", ".join(f"sizeof({C[t]})" for t in TYPES))


def computed(all_cases, args, build, module):
    """By kernels, of what memory holds."""
    compiler, *flags = BUILDS[build]
    module.compiled(compiler, *flags)
    n = max(len(c.points) for c in all_cases)
    data = [np.int32(n).tobytes()]
    for k, c in enumerate(all_cases):
        head = np.array([k, TYPES.index(c.source), TYPES.index(c.to), len(c.points)], np.int32)
        data += [head.tobytes(), *(np.array([p[j] for p in c.points], NUMPY[c.source]).tobytes() for j in (0, 1))]
    raw = module.run(b"".join(data))
    bad, at = set(), 0
    for c in all_cases:
        size = np.dtype(NUMPY[c.to]).itemsize * len(c.points)
        for (a, b), got, want in zip(c.points, np.frombuffer(raw[at:at + size], NUMPY[c.to]), c.want):
            if not same(got, want, c.to) and c.name not in bad:
                print(f"FAILED {build}: {c.name} of {a!r}, {b!r}: {got!r}, not {want!r}")
                bad.add(c.name)
        at += size
    return bad


# ---- folded ----

def literal(v, t):
    if t == "bool":
        return "true" if v else "false"
    if t in INTEGERS:
        return f"{t}({v})" if v != -(1 << 63) else "(i64(-9223372036854775807) - i64(1))"
    if math.isnan(v):
        return f"({t}(0.0) / {t}(0.0))"
    if math.isinf(v):
        return f"({t}({'-' if v < 0 else ''}1.0) / {t}(0.0))"
    return f"{t}({v!r})"


def folded(all_cases, args, rng):
    """By tkc, of constants: each case's value at a few points, without a compiler that computes anything."""
    lines, asked = [], {t: [] for t in TYPES}
    for c in all_cases:
        division = c.source in INTEGERS and c.expression in ("a / b", "a % b", "mod(a, b)")    # by a constant zero: an error
        points = [i for i, p in enumerate(c.points) if p[1] != 0 or not division]
        for i in rng.sample(points, min(len(points), 3 if args.short else 40)):
            a, b = (literal(v, c.source) for v in c.points[i])
            text = "".join({"a": a, "b": b}.get(w, w) for w in words(c.expression))
            lines.append(f"    k_{c.to}[{len(asked[c.to])}] = {text};")
            asked[c.to].append((c, i))
    fields = "".join(f"field k_{t}: {t}[{max(1, len(asked[t]))}];\n" for t in TYPES)
    size = 500
    kernels = "".join(f"kernel fold_{k}() {{\n" + "\n".join(lines[at:at + size]) + "\n}\n" for k, at in enumerate(range(0, len(lines), size)))
    names = [f"fold_{k}" for k in range(0, (len(lines) + size - 1) // size)]
    main = ['#include <stdio.h>', '#include "folded.h"', "int main(void)", "{", "    folded *m = folded_create(NULL, NULL);"]
    main += [f"    folded_{n}(m);" for n in names] + [f"    fwrite(m->k_{t}.data, sizeof *m->k_{t}.data, {len(asked[t])}, stdout);" for t in TYPES] + ["    folded_destroy(m);", "}"]
    module = Module(args.build, "folded", fields + kernels, "\n".join(main) + "\n")
    module.compiled("gcc", "-O0")
    raw, at, bad = module.run(b""), 0, set()
    for t in TYPES:
        got = np.frombuffer(raw[at:at + np.dtype(NUMPY[t]).itemsize * len(asked[t])], NUMPY[t])
        at += np.dtype(NUMPY[t]).itemsize * len(asked[t])
        for g, (c, i) in zip(got, asked[t]):
            if not same(g, c.want[i], t) and c.name not in bad:
                print(f"FAILED folded: {c.name} of {c.points[i]!r}: {g!r}, not {c.want[i]!r}")
                bad.add(c.name)
    return bad


def words(text):
    out, word = [], ""
    for ch in text + " ":
        if ch.isalnum() or ch == "_" or (ch == "." and word and word[0].isdigit()):
            word += ch
        else:
            out += [word, ch]
            word = ""
    return out


# ---- literals ----

def literals(args):
    """Decimal numbers as f32 and f64, at and beside the middle between two floats: rounded once."""
    rng = random.Random("literals")
    texts = ["0.1", "1e-45", "7.006492321624085e-46", "7.006492321624086e-46", "1.17549429e-38", "3.4028235e38", "16777217.0", "33554434.0000001", "1e22", "1e23", "4.9406564584124654e-324",
             "8.0e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "0.50000002980232238769531250", "0.50000002980232238769531251", "0.50000002980232238769531249"]
    for _ in range(100 if args.short else 1000):
        x = np.float32(rng.uniform(1, 2) * 2.0 ** rng.randrange(-40, 40))
        middle = (Fraction(float(x)) + Fraction(float(np.nextafter(x, np.float32(np.inf))))) / 2
        exact = decimal(middle)
        texts += [exact, exact + "0000000000001", decimal(middle - Fraction(1, 10 ** 40))]
    want = {t: [nearest(Fraction(s), t) for s in texts] for t in FLOATS}
    use = {t: [k for k in range(len(texts)) if np.isfinite(want[t][k]) and want[t][k] != 0] for t in FLOATS}    # the others are errors
    fields = "".join(f"field k_{t}: {t}[{len(texts)}];\n" for t in FLOATS)
    body = "".join(f"    k_{t}[{k}] = {texts[k]};\n" for t in FLOATS for k in use[t])
    main = '#include <stdio.h>\n#include "literals.h"\nint main(void)\n{\n    literals *m = literals_create(NULL, NULL);\n    literals_all(m);\n'
    main += "".join(f"    fwrite(m->k_{t}.data, sizeof *m->k_{t}.data, {len(texts)}, stdout);\n" for t in FLOATS) + "    literals_destroy(m);\n}\n"
    module = Module(args.build, "literals", f"{fields}kernel all() {{\n{body}}}\n", main)
    module.compiled("gcc", "-O0")
    raw, at, bad = module.run(b""), 0, set()
    for t in FLOATS:
        got = np.frombuffer(raw[at:at + np.dtype(FLOATS[t]).itemsize * len(texts)], FLOATS[t])
        at += np.dtype(FLOATS[t]).itemsize * len(texts)
        for k in use[t]:
            if not same(got[k], want[t][k], t):
                if t not in bad:
                    print(f"FAILED literal {texts[k]} as {t}: {got[k]!r}, not {want[t][k]!r}")
                bad.add(t)
    return bad


def decimal(f):
    """All digits of a fraction whose denominator has no factors but 2 and 5."""
    n = 0
    while f.denominator != 1 and n < 400:
        f *= 10
        n += 1
    digits = str(f.numerator).rjust(n + 1, "0")
    return f"{digits[:len(digits) - n]}.{digits[len(digits) - n:] or '0'}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("--short", action="store_true", help="few numbers, one compiler")
    ap.add_argument("--only", help="cases whose name contains it")
    args = ap.parse_args()
    all_cases = [c for c in cases(args.short) if not args.only or args.only in c.name]
    fields = "".join(f"field a_{t}: {t}[N]; field b_{t}: {t}[N]; field y_{t}: {t}[N];\n" for t in TYPES)
    kernels = "".join(f"kernel k{k}() {{ for i in y_{c.to} {{ let a = a_{c.source}[i]; let b = b_{c.source}[i]; y_{c.to}[i] = {c.expression}; }} }}\n" for k, c in enumerate(all_cases))
    module = Module(args.build, "operators", f"param N: i32 = 1;\n{fields}{kernels}", host())
    builds = ["gcc"] if args.short else list(BUILDS)
    failed = {b: computed(all_cases, args, b, module) for b in builds}
    failed["folded"] = folded(all_cases, args, random.Random("folded"))
    n, bad = len(all_cases) * len(failed), sum(len(f) for f in failed.values())
    if not args.only:
        wrong = literals(args)
        n, bad = n + 2, bad + len(wrong)
    print(f"{n - bad} passed, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
