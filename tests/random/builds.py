"""Modules of kernels that a script writes: through tkc, through C compilers, and what they compute from fixed data; and the command lines of such scripts."""
import argparse
import concurrent.futures
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from pathlib import Path

from compare import read

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests/tools"), str(ROOT / "tests/runner")]
import checkers  # noqa: E402
import process  # noqa: E402
from compile import SHOP  # noqa: E402

STUB = """#include "m.h"
#include "adcheck.h"
tk_module *adcheck_create(tk_session *s) { m *x = m_create(s, NULL); return x ? &x->tk : NULL; }
void adcheck_destroy(tk_module *x) { m_destroy((m *)x); }
"""


def run(cmd, **kw):
    ended = process.execute(cmd, **kw)
    return (-99, ended.stopped) if ended.stopped else (ended.status, ended.out + ended.err)


class Builder:
    def __init__(self, args, work):
        self.args, self.work = args, Path(work)
        self.tkc, self.lib = Path(args.build).resolve() / "compiler" / "tkc", Path(args.build).resolve() / "runtime" / "libtkc.a"
        self.include = ["-I", ROOT / "runtime" / "include", "-I", ROOT / "tests" / "tools"]
        self.checker = SHOP.shared("gcc", checkers.sources("adcheck"), ["-std=gnu11", "-O1"], False).get()

    def need(self, cmd, **kw):
        status, text = run(cmd, **kw)
        if status:
            raise RuntimeError(f"{' '.join(map(str, cmd))}: status {status}\n{text[:3000]}")

    def compile_tk(self, head, kernels, options, tmp):
        """The kernels that tkc accepts; it refuses those that overwrite what their adjoint needs, and those that provably race."""
        while kernels:
            lines, starts = list(head), []
            for k in kernels:
                starts.append(len(lines) + 1)
                lines += k
            (tmp / "m.tk").write_text("\n".join(lines) + "\n")
            status, text = run([self.tkc, "m.tk", *options, "-o", "m.c"], cwd=tmp)
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

    def keep(self, number, tmp):
        if self.args.keep:
            Path(self.args.keep).mkdir(exist_ok=True)
            Path(self.args.keep, f"m{number}.tk").write_text((tmp / "m.tk").read_text())


def search(doc, builder, modules, about, compilers=("clang", "gcc"), more=None):
    """The command line of a script whose class `builder` has module(number): (kernels that are right, [(kernel, where, why)], what is counted beside). Gives the exit status."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("-n", type=int, default=modules, help=about)
    ap.add_argument("--from", dest="first", type=int, default=0)
    ap.add_argument("--seed", default="1")
    ap.add_argument("-j", type=int, default=os.cpu_count())
    ap.add_argument("--cc", action="append", help="compilers, with further flags where they have some ('clang -march=native -ffp-contract=off'); without it " + ", ".join(compilers))
    ap.add_argument("--keep", help="a directory for modules with failures")
    if more:
        more(ap)
    args = ap.parse_args()
    args.cc = [cc for cc in args.cc or compilers if cc]
    passed, counts, told = 0, Counter(), set()
    with tempfile.TemporaryDirectory() as work:
        made = builder(args, work)
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for good, failed, counted in pool.map(made.module, range(args.first, args.first + args.n)):
                passed += good
                counts.update(counted)
                for kernel, where, why in failed:
                    print(f"FAILED {where}: {why}\n{kernel}" if kernel not in told else f"FAILED {where}: {why}, the kernel above", flush=True)
                    told.add(kernel)
    print(", ".join(f"{name}: {n}" for name, n in counts.items()))
    print(f"{passed} passed, {len(told)} failed")
    return len(told) > 0
