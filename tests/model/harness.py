"""What the models share: a module is compiled, its kernels run on arrays of numbers from here, and errors are counted in ulp."""
import math
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import mpmath
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
RECOMMENDED, CLANG = (line.split() for line in (ROOT / "runtime/flags.txt").read_text().splitlines())
FLAGS = ["-O3", *RECOMMENDED]
# What users compile with: no optimisation, and all that tkc.pc recommends; gcc takes the vector math library by declarations, clang by flags.
BUILDS = {"gcc -O0": ["gcc", "-O0"], "gcc": ["gcc", *FLAGS], "clang -O0": ["clang", "-O0"],
          "clang": ["clang", *FLAGS, *(CLANG if "avx2" in Path("/proc/cpuinfo").read_text() else [])]}
DIGITS = {"f32": (24, -126, 128), "f64": (53, -1022, 1024)}    # of the significand; least and first too great exponent of a normal number
TYPES = {"f32": np.float32, "f64": np.float64}


class Module:
    """A .tk module and a host in C, compiled. options: of tkc."""

    def __init__(self, build, name, tk, host, options=()):
        self.build, self.name, self.dir = Path(build).resolve(), name, tempfile.TemporaryDirectory()
        self.path = Path(self.dir.name)
        (self.path / f"{name}.tk").write_text(tk)
        (self.path / "host.c").write_text(host)
        self.must([self.build / "compiler" / "tkc", f"{name}.tk", *options, "-o", f"{name}.c"])

    def must(self, command, **more):
        done = subprocess.run([str(c) for c in command], cwd=self.path, capture_output=True, **more)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout.decode()[-3000:]}{done.stderr.decode()[-3000:]}")
        return done.stdout

    def compiled(self, compiler, *flags):
        include = ["-I", ROOT / "runtime" / "include"]
        self.must([compiler, "-std=c11", "-D_GNU_SOURCE", *flags, *include, "-c", f"{self.name}.c", "-o", "module.o"])
        self.must([compiler, "-std=c11", "-D_GNU_SOURCE", "-O1", *include, "host.c", "module.o", self.build / "runtime" / "libtkc.a", "-pthread", "-lm", "-o", "host"])

    def run(self, data):
        return self.must(["./host"], input=data, env={**os.environ, "OMP_NUM_THREADS": "1"})


def ulp(x, real):
    """The distance of numbers at x, an mpf; that of the least normal numbers below them."""
    digits, least, _ = DIGITS[real]
    if x == 0:
        return mpmath.ldexp(1, least - digits + 1)
    exponent = mpmath.frexp(x)[1] - 1
    return mpmath.ldexp(1, max(exponent, least) - digits + 1)


def error(got, want, real, slack=1):
    """In ulp. want: an mpf, or NaN or an infinity as such. What is below the least normal number may come out as anything that is."""
    if mpmath.isnan(want):
        return 0.0 if math.isnan(got) else math.inf
    limit = mpmath.ldexp(1, DIGITS[real][2])
    if mpmath.isinf(want) or abs(want) >= limit:
        if math.isinf(got) and (got > 0) == (want > 0):
            return 0.0
        want = mpmath.sign(want) * limit    # the greatest number is one ulp beside it
    if math.isnan(got):
        return math.inf
    least = mpmath.ldexp(1, DIGITS[real][1])
    if abs(want) < least and abs(got) <= least:
        return 0.0
    if math.isinf(got):    # what a derivative is made of may be some times greater than it
        got = want if abs(want) >= limit / slack and (got > 0) == (want > 0) else math.copysign(1, got) * limit
    return float(abs(mpmath.mpf(got) - want) / ulp(want, real))
