#!/usr/bin/python3
"""Random numbers against a model of their own: Philox4x32-10 from its paper, held to the vectors that its authors publish; then how they are distributed.

    randoms.py --build DIR [--short]

A launch's key is drawn from the session's seed at the number of the launch. The k-th place of a kernel's source draws with that key plus k, at the indices of its
loops. Ends with `N passed, N failed`; a case is one kind of number with one compiler and seed, or one property of the distribution.
"""
import argparse
import math
import sys

import mpmath
import numpy as np

from harness import BUILDS, Module

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
# key, counter, result: Random123's known answers for philox4x32 with 10 rounds
KNOWN = [((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
         ((MASK32, MASK32), (MASK32,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
         ((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1))]
SEEDS = (0, 1, 12345, MASK64)
LAUNCHES = 3
TK = """param N: i32 = 1;
param M: i32 = 1;
field u32s: f32[N]; field u64s: f64[N]; field n32s: f32[N, M]; field n64s: f64[N, M]; field dice: i64[N]; field wide: u64[N];
kernel draw() {
    for i in u32s { u32s[i] = random(); u64s[i] = random(); dice[i] = random_int(-3, 4); wide[i] = random_int(u64(5), u64(18446744073709551615)); }
    for i, j in n32s { n32s[i, j] = randn(); n64s[i, j] = randn(); }
}
"""
FIELDS = {"u32s": np.float32, "u64s": np.float64, "n32s": np.float32, "n64s": np.float64, "dice": np.int64, "wide": np.uint64}
HOST = """#include <stdio.h>
#include "drawn.h"
int main(void)
{
    uint64_t in[4];
    if (fread(in, sizeof *in, 4, stdin) != 4)
        return 1;
    tk_session_options options = tk_session_defaults();
    options.seed = in[0];
    tk_session *s = tk_session_create(&options);
    drawn_params p = {.N = (int32_t)in[1], .M = (int32_t)in[2]};
    drawn *m = drawn_create(s, &p);
    for (uint64_t k = 0; k < in[3]; k++) {
        if (drawn_draw(m) != TK_OK)
            return 1;
""" + "".join(f"        fwrite(m->{f}.data, sizeof *m->{f}.data, (size_t)m->{f}.shape[0]{' * (size_t)m->' + f + '.shape[1]' if f[0] == 'n' else ''}, stdout);\n" for f in FIELDS) + """    }
    drawn_destroy(m);
    tk_session_destroy(s);
}
"""


# ---- the model ----

def philox(key, counter):
    k0, k1 = key
    x0, x1, x2, x3 = counter
    for _ in range(10):
        p, q = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (q >> 32) ^ x1 ^ k0, q & MASK32, (p >> 32) ^ x3 ^ k1, p & MASK32
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return x0, x1, x2, x3


def words(key, a, b):
    return philox((key & MASK32, key >> 32), (a & MASK32, a >> 32, b & MASK32, b >> 32))


def bits(key, a, b):
    w = words(key, a, b)
    return w[0] | w[1] << 32


def normal(radius_of, turn):
    """Box and Muller; what a rounding of each step may change."""
    radius = mpmath.sqrt(-2 * mpmath.log(radius_of))
    return radius * mpmath.cos(2 * mpmath.pi * turn), float(radius)


def normal32(key, a, b):
    w = words(key, a, b)
    u = np.float32(w[0]) * np.float32(2.0 ** -32) + np.float32(2.0 ** -33)
    return normal(mpmath.mpf(float(u)), mpmath.mpf(w[1] >> 8) / 2 ** 24)


def normal64(key, a, b):
    w = words(key, a, b)
    first, second = w[0] | w[1] << 32, w[2] | w[3] << 32
    return normal(mpmath.mpf((first >> 11) + 1) / 2 ** 53, mpmath.mpf(second >> 11) / 2 ** 53)


# ---- bits ----

def right(name, got, key, shape):
    """Whether numbers of that field are the model's; of normal ones, to a rounding of each step."""
    site = 1 + list(("u32s", "u64s", "dice", "wide", "n32s", "n64s")).index(name)
    place = (key + site) & MASK64
    for at, x in enumerate(got):
        i, j = (at // shape[1], at % shape[1]) if name in ("n32s", "n64s") else (at, 0)
        if name == "u32s":
            ok = float(x) == (words(place, i, j)[0] >> 8) * 2.0 ** -24
        elif name == "u64s":
            ok = float(x) == (bits(place, i, j) >> 11) * 2.0 ** -53
        elif name == "dice":
            ok = int(x) == -3 + (bits(place, i, j) * 7 >> 64)
        elif name == "wide":
            ok = int(x) == 5 + (bits(place, i, j) * (MASK64 - 5) >> 64)
        else:
            want, radius = (normal32 if name == "n32s" else normal64)(place, i, j)
            ok = abs(mpmath.mpf(float(x)) - want) <= 8 * radius * (2.0 ** -24 if name == "n32s" else 2.0 ** -53)
        if not ok:
            return f"number {at} is {x!r}"
    return None


def drawn(module, seed, n, m, launches):
    """Arrays by field, one for each launch."""
    raw, at, out = module.run(np.array([seed, n, m, launches], np.uint64).tobytes()), 0, {f: [] for f in FIELDS}
    for _ in range(launches):
        for f, t in FIELDS.items():
            count = n * m if f[0] == "n" else n
            out[f].append(np.frombuffer(raw, t, count, at))
            at += count * np.dtype(t).itemsize
    return out


# ---- how they are distributed ----

def chi_squared(counts, expected):
    """How improbable such counts are: as many deviations as a normal number has."""
    x, k = float(np.sum((counts - expected) ** 2 / expected)), len(counts) - 1
    return abs((x - k) / math.sqrt(2 * k))


def cells(u, v, n):
    return np.bincount((u * n).astype(int) * n + (v * n).astype(int), minlength=n * n)


def correlation(u, v):
    return abs(float(np.mean((u - u.mean()) * (v - v.mean()))) / float(u.std() * v.std())) * math.sqrt(len(u))


def properties(one):
    """(name, deviations of what is seen from what is expected)"""
    u, v, z, dice = one["u64s"][0], one["u32s"][0].astype(float), one["n64s"][0], one["dice"][0]
    n = len(u)
    yield "u64s lie in [0, 1)", 0 if u.min() >= 0 and u.max() < 1 else 99
    yield "u32s lie in [0, 1)", 0 if v.min() >= 0 and v.max() < 1 else 99
    yield "dice fall from -3 to 3", 0 if dice.min() == -3 and dice.max() == 3 else 99
    yield "u64s: mean", abs(u.mean() - 0.5) * math.sqrt(12 * n)
    yield "u64s: in 256 parts", chi_squared(np.bincount((u * 256).astype(int), minlength=256), n / 256)
    yield "u32s: in 256 parts", chi_squared(np.bincount((v * 256).astype(int), minlength=256), n / 256)
    yield "u64s: their lower bits", chi_squared(np.bincount((u * 2.0 ** 53).astype(np.int64) & 255, minlength=256), n / 256)
    yield "dice: each side", chi_squared(np.bincount(dice + 3, minlength=7), n / 7)
    yield "neighbours", chi_squared(cells(u[:-1:2], u[1::2], 16), n / 2 / 256)
    yield "places", chi_squared(cells(u, v, 16), n / 256)
    yield "launches", chi_squared(cells(u, one["u64s"][1], 16), n / 256)
    yield "places: correlation", correlation(u, v)
    yield "launches: correlation", correlation(u, one["u64s"][1])
    yield "normal: mean", abs(float(z.mean())) * math.sqrt(len(z))
    yield "normal: variance", abs(float(z.var()) - 1) * math.sqrt(len(z) / 2)
    yield "normal: fourth moment", abs(float(np.mean(z ** 4)) - 3) * math.sqrt(len(z) / 96)
    below = np.searchsorted(np.sort(z), np.linspace(-3, 3, 121)) / len(z)
    exact = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in np.linspace(-3, 3, 121)])
    yield "normal: distribution", float(np.abs(below - exact).max()) * 2 * math.sqrt(len(z))
    yield "normal: neighbours", correlation(z[:-1], z[1:])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("--short", action="store_true", help="few numbers, one compiler")
    args = ap.parse_args()
    passed, faults = 0, []

    def case(name, fault):
        nonlocal passed
        passed += not fault
        if fault:
            faults.append(name)
            print(f"FAILED {name}: {fault}")

    for key, counter, want in KNOWN:
        case(f"the model's own: {want[0]:x}", "" if philox(key, counter) == want else "not what its authors publish")
    module, shape = Module(args.build, "drawn", TK, HOST), (30, 7) if args.short else (120, 9)
    for name in ["gcc"] if args.short else BUILDS:
        module.compiled(*BUILDS[name])
        for seed in SEEDS[-2:] if args.short else SEEDS:
            one = drawn(module, seed, *shape, LAUNCHES)
            for f in FIELDS:
                wrong = [f"launch {k}: {why}" for k in range(LAUNCHES) if (why := right(f, one[f][k], bits(seed, k, 0), shape))]
                case(f"{f}, {name}, seed {seed}", "; ".join(wrong))
    n = 1 << (16 if args.short else 20)
    for name, deviations in properties(drawn(module, 7, n, 2, 2)):
        case(name, "" if deviations < 4.5 else f"{deviations:.1f} deviations")
    print(f"{passed} passed, {len(faults)} failed")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
