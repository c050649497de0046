"""What two executables of one module compute from the same data, as tools/adcheck writes it with --values."""
import math
import os
import struct
from pathlib import Path

# What pkg-config says, the vector library as a variable; clang 14 and 15 use it rightly with AVX2 only (docs/c-api/builds.md).
RECOMMENDED, CLANG = (line.split() for line in (Path(__file__).parents[2] / "runtime/flags.txt").read_text().splitlines())
USERS = ["-O3", *RECOMMENDED]
AVX2 = CLANG if "avx2" in Path("/proc/cpuinfo").read_text() else []
COMPILERS = {"clang": [*USERS, *AVX2], "gcc": USERS}
WHAT = ["value", "gradient", "JVP", "value computed by the JVP", "second-order product"]


def read(path):
    """{(kernel, what): numbers}"""
    data, at, found = Path(path).read_bytes(), 0, {}
    while at < len(data):
        kernel, what, n = struct.unpack_from("<3q", data, at)
        found[kernel, what] = struct.unpack_from(f"<{n}d", data, at + 24)
        at += 24 + 8 * n
    return found


def same_bits(a, b):
    return struct.pack(f"<{len(a)}d", *a) == struct.pack(f"<{len(b)}d", *b)


def apart(a, b, tolerance):
    """Number of the component that differs most beyond tolerance * (the largest number of both), or None. What is not finite must not be so in both."""
    scale = max((abs(x) for x in (*a, *b) if math.isfinite(x)), default=0.0)
    worst, at = 0.0, None
    for j, (x, y) in enumerate(zip(a, b)):
        if math.isfinite(x) != math.isfinite(y) or (not math.isfinite(x) and str(x) != str(y)):
            return j
        d = abs(x - y) if math.isfinite(x) else 0.0
        if d > tolerance * scale and d > worst:
            worst, at = d, j
    return at


def differences(first, second, tolerance_of):
    """Lines about kernels of which the two files disagree: [(kernel, text)]. tolerance_of(kernel): 0 asks for the same bits."""
    found = []
    if first.keys() != second.keys():
        return [(k, "one of the two has no such result") for k, _ in first.keys() ^ second.keys()]
    for (kernel, what), a in first.items():
        b, tolerance = second[kernel, what], tolerance_of(kernel)
        if same_bits(a, b):
            continue
        j = apart(a, b, tolerance)
        if j is None and not tolerance:
            j = next(i for i in range(len(a)) if not same_bits(a[i:i + 1], b[i:i + 1]))
        if j is not None:
            found.append((kernel, f"{WHAT[what]}, component {j} of {len(a)}: {a[j]!r} and {b[j]!r}"))
    return found


# ---- random programs ----

def near(first, second, moved, tolerance):
    """As differences(), for results of arithmetic that is ordered otherwise; first and moved are one executable's, from data that differ in the last digits: what these
    make a difference to may differ."""
    found = []
    if first.keys() != second.keys():
        return [(k, "one of the two has no such result") for k, _ in first.keys() ^ second.keys()]
    for (kernel, what), a in first.items():
        b, c = second[kernel, what], moved[kernel, what]
        scale = max((abs(x) for x in (*a, *b) if math.isfinite(x)), default=0.0)
        for j, (x, y, z) in enumerate(zip(a, b, c)):
            if not (math.isfinite(x) and math.isfinite(z)):
                continue
            if not abs(x - y) <= tolerance * (abs(x) + 0.05 * scale) + 1000.0 * abs(x - z):
                found.append((kernel, f"{WHAT[what]}, component {j} of {len(a)}: {x!r} and {y!r}"))
                break
    return found


def users(runner, run, programs, tmp):
    """What clang and gcc make of rnd.c at the flags of users: [(program, complaint)]."""
    values, lib = {}, runner.lib("gcc", ["-O1"], 16384)
    for cc, flags in COMPILERS.items():
        exe = tmp / f"users-{cc}"
        for cmd in ([cc, "-std=c11", *flags, *runner.include, "-c", "rnd.c", "-o", f"{cc}.o"],
                    ["gcc", "-std=gnu11", "-O1", *runner.include, "stub.c", f"{cc}.o", *lib, "-pthread", "-lm", "-o", exe]):
            status, _, err = run(cmd, cwd=tmp)
            if status:
                return [(programs[0], f"{cc} {' '.join(flags)}: {err[:2000]}")]
        for high in ("1.2", "1.200000000000002") if cc == "gcc" else ("1.2",):
            status, out, err = run([exe, "--values", f"{cc}.values", "-1.2", high], cwd=tmp, env={**os.environ, "OMP_NUM_THREADS": "1"})
            if status:
                return [(programs[0], f"{cc} {' '.join(flags)}: status {status} {out[-500:]}{err[-1500:]}")]
            values[cc, high] = read(tmp / f"{cc}.values")
    owners = [p for p in programs for _ in p.kernels]
    found = near(values["gcc", "1.2"], values["clang", "1.2"], values["gcc", "1.200000000000002"], 2e-5)
    return [(owners[k], f"[gcc and clang at {' '.join(USERS)}] kernel {k}: {why}") for k, why in found]
