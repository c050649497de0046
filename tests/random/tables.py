#!/usr/bin/env python3
"""Kernels in which tables and arguments choose what is read, what is overwritten later, and whether iterations meet.

    tables.py --build DIR [-n MODULES] [--from MODULE] [--cc CC]

A model in Python runs each kernel on small data. It says whether a launch overwrites what its adjoint needs, and whether two iterations of a parallel loop meet. Held against it:
  - a kernel that tkc refuses (E0505, E0507) is wrong for some data, where each store counts as a change;
  - of any other kernel, a launch on a tape of a release build gives TK_OVERWRITTEN or TK_RACE where the model says so, and nowhere else;
  - where it gives neither, the gradient is the one of forward mode.
Ends with `N passed, N failed`.
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
N, BASE, SIZE = 6, 10, 32          # iterations; where the elements of the loops begin, so that no subscript leaves the field
KERNELS, DATA = 24, 8              # of a module; sets of data of a kernel
SUBSCRIPTS = {                     # text -> element, from the index, the table, the argument
    "i": lambda i, e, n: i, "i + 1": lambda i, e, n: i + 1, "i - 1": lambda i, e, n: i - 1, "i + 6": lambda i, e, n: i + 6, "e[i]": lambda i, e, n: e[i],
    "N - 1 - i": lambda i, e, n: N - 1 - i, "i + n": lambda i, e, n: i + n, "n": lambda i, e, n: n, "2 * i": lambda i, e, n: 2 * i, "2 * i + 1": lambda i, e, n: 2 * i + 1,
    "min(i, 3)": lambda i, e, n: min(i, 3), "max(e[i], 2)": lambda i, e, n: max(e[i], 2), "i % 2": lambda i, e, n: i % 2, "i / 2": lambda i, e, n: i // 2,
    "clamp(i - 1, 0, N - 1)": lambda i, e, n: min(max(i - 1, 0), N - 1), "(i + 1) % 6": lambda i, e, n: (i + 1) % 6, "3": lambda i, e, n: 3, "n + 2": lambda i, e, n: n + 2,
    "n - i": lambda i, e, n: n - i}
OWN = ["i", "i + 1", "i - 1", "2 * i", "2 * i + 1", "N - 1 - i", "i + 6", "i + n"]
CONDITIONS = {"": lambda i, e, n: True, "i > 2": lambda i, e, n: i > 2, "i <= 2": lambda i, e, n: i <= 2, "i % 2 == 0": lambda i, e, n: i % 2 == 0, "i % 2 == 1": lambda i, e, n: i % 2 == 1,
              "e[i] < 3": lambda i, e, n: e[i] < 3, "n > 1": lambda i, e, n: n > 1, "i < n": lambda i, e, n: i < n}


class Statement:
    def __init__(self, r, kind, subscript, other=None):
        self.kind, self.subscript, self.other = kind, subscript, other    # "read", "store", "add", "same", "move"
        self.condition = r.choice(list(CONDITIONS)) if r.random() < 0.35 else ""
        at = f"a[{BASE} + ({subscript})]"
        self.text = {"read": f"loss += sin({at});", "store": f"{at} = 0.25;", "add": f"{at} += 0.5;", "same": f"{at} = 1.0 * {at};",
                     "move": f"{at} = 0.5 * a[{BASE} + ({other})];"}[kind]
        if self.condition:
            self.text = f"if {self.condition} {{ {self.text} }}"

    def holds(self, *data):
        return CONDITIONS[self.condition](*data)

    def at(self, *data):
        return SUBSCRIPTS[self.subscript](*data)


class Loop:
    def __init__(self, r, kind):
        self.kind, self.lo = kind, r.choice([0, 0, 1])
        pick = lambda: r.choice(list(SUBSCRIPTS))    # noqa: E731
        if kind == "reads":
            self.body = [Statement(r, "read", pick())]
        elif kind == "writes":
            self.body = [Statement(r, r.choice(["store", "add", "same"]), r.choice(OWN))]
        elif kind == "moves":
            self.body = [Statement(r, "move", r.choice(OWN), pick())]
        else:
            self.body = [Statement(r, r.choice(["read", "read", "store", "add", "same"]), pick()) for _ in range(r.randint(2, 3))]

    def text(self):
        word = "serial for" if self.kind == "serial" else "for"
        return f"    {word} i in range({self.lo}, N) {{ {' '.join(s.text for s in self.body)} }}"


class Kernel:
    """kind: "needs" is held against the data rule, "races" has one loop that moves elements within the field."""

    def __init__(self, r):
        self.kind = r.choice(["needs", "needs", "races"])
        order = [["serial"], ["reads", "writes"], ["reads", "serial"], ["serial", "writes"], ["writes", "reads"]]
        self.loops = [Loop(r, k) for k in (["moves"] if self.kind == "races" else r.choice(order))]

    def text(self, name):
        return "\n".join([f"kernel {name}(n: i32) {{", *(x.text() for x in self.loops), "}"])

    def overwrites(self, a, e, n, strict=False):
        """Whether what was read is changed behind that; strict: or stored into."""
        a, needed = list(a), set()
        for loop in self.loops:
            for i in range(loop.lo, N):
                for s in loop.body:
                    if not s.holds(i, e, n):
                        continue
                    k = BASE + s.at(i, e, n)
                    new = {"store": 0.25, "add": a[k] + 0.5}.get(s.kind, a[k])
                    if s.kind == "read":
                        needed.add(k)
                    elif (strict or new != a[k]) and k in needed:
                        return True
                    a[k] = new
        return False

    def races(self, e, n):
        """Whether an element that one iteration stores is touched by another."""
        for loop in self.loops:
            if loop.kind not in ("moves", "writes"):
                continue
            for s in loop.body:
                runs = [i for i in range(loop.lo, N) if s.holds(i, e, n)]
                for i in runs:
                    for j in runs:
                        if i != j and s.kind != "add" and s.at(i, e, n) in (s.at(j, e, n), SUBSCRIPTS[s.other](j, e, n) if s.other else None):
                            return True
        return False

    def may(self, r):
        """Whether some data are wrong."""
        return any(self.races(e, n) or self.overwrites(a, e, n, True) for a, e, n in (data(r) for _ in range(3000)))


def data(r):
    a = [r.choice([0.25, 0.5, 0.75, 1.0, -0.5]) for _ in range(SIZE)]
    e = [r.randrange(N) for _ in range(N)] if r.random() < 0.7 else [r.randrange(N)] * N
    return a, e, r.randint(-2, 7)


HOST = """#include <math.h>
#include <stdio.h>
#include "t.h"
static t *m;
static int bad;
typedef tk_status kernel(t *, int32_t);
static void fill(const double *a, const int32_t *e)
{
    for (int i = 0; i < %(SIZE)d; i++)
        m->a.data[i] = a[i];
    for (int i = 0; i < %(N)d; i++)
        m->e.data[i] = e[i];
    m->loss.data[0] = 0;
}
static void check(const char *name, kernel *k, const double *a, const int32_t *e, int n, tk_status want)
{
    tk_session *const s = tk_module_session(&m->tk);
    double slope[%(SIZE)d];
    fill(a, e);
    (void)tk_tape_begin(m->loss.field, 0);
    (void)k(m, n);
    (void)t_total(m);
    const tk_status got = tk_tape_end(m->loss.field);
    if (got != want)
        printf("%%s: n = %%d: %%s '%%s' instead of %%s\\n", name, n, tk_status_name(got), tk_session_error(s), tk_status_name(want)), bad = 1;
    tk_session_clear_error(s);
    for (int i = 0; i < %(SIZE)d; i++)
        slope[i] = m->a.grad[i];
    for (int i = 0; i < %(SIZE)d && got == TK_OK && want == TK_OK; i++) {
        double seed[%(SIZE)d] = {0};
        seed[i] = 1;
        fill(a, e);
        (void)tk_forward_begin(&m->loss.field, 1, m->a.field, seed, %(SIZE)d);
        (void)k(m, n);
        (void)t_total(m);
        const double dual = m->loss.dual[0];
        (void)tk_forward_end(s);
        if (fabs(dual - slope[i]) > 1e-12)
            printf("%%s: n = %%d: a.grad[%%d] is %%g, not %%g\\n", name, n, i, slope[i], dual), bad = 1;
    }
}
int main(void)
{
    m = t_create(NULL, NULL);
    if (!m)
        return 1;
%(CHECKS)s
    t_destroy(m);
    return bad;
}
"""
HEAD = f"""const N = {N};
field a: f64[{SIZE}] needs_grad needs_dual;
field e: i32[N];
field loss: f64 needs_grad needs_dual;
kernel total() {{ for i in a {{ loss += real(i + 1) * a[i]; }} }}
"""


class Module:
    def __init__(self, args, number, work):
        self.args, self.work = args, work
        self.r = random.Random(f"tables {number}")
        self.kernels = {f"k{i}": Kernel(self.r) for i in range(KERNELS)}
        self.faults = []

    def tkc(self):
        (self.work / "t.tk").write_text(HEAD + "\n".join(k.text(name) for name, k in self.kernels.items()))
        return subprocess.run([self.args.build / "compiler" / "tkc", "--real=f64", "t.tk"], cwd=self.work, capture_output=True, text=True)

    def kernel_at(self, line):
        text = (self.work / "t.tk").read_text().splitlines()[:line]
        return re.match(r"kernel (\w+)", next(t for t in reversed(text) if t.startswith("kernel")))[1]

    def accept(self):
        """The kernels that tkc refuses are taken out; each must be wrong for some data. Those that it warns of."""
        warned = set()
        while True:
            out = self.tkc()
            found = re.findall(r"^t\.tk:(\d+):\d+: (error|warning): .*\[(\w+)\]", out.stderr, re.M)
            refused = {self.kernel_at(int(line)) for line, what, _ in found if what == "error"}
            warned = {self.kernel_at(int(line)) for line, what, _ in found if what == "warning"}
            for name in refused:
                k = self.kernels.pop(name)
                if not k.may(self.r):
                    self.faults.append(f"refused, and right for all data:\n{k.text(name)}")
            if not refused:
                if out.returncode:
                    self.faults.append(out.stderr)
                return warned

    @staticmethod
    def wrong(k, a, e, n):
        return "TK_RACE" if k.races(e, n) else "TK_OVERWRITTEN" if k.overwrites(a, e, n) else "TK_OK"

    def run(self):
        warned = self.accept()
        checks = []
        for name, k in self.kernels.items():
            for _ in range(DATA):
                a, e, n = data(self.r)
                want = self.wrong(k, a, e, n)
                if want == "TK_RACE" and name in warned:
                    continue    # it said so
                checks.append(f'    check("{name}", t_{name}, (double[]){{{", ".join(map(str, a))}}}, (int32_t[]){{{", ".join(map(str, e))}}}, {n}, {want});')
        (self.work / "host.c").write_text(HOST % {"SIZE": SIZE, "N": N, "CHECKS": "\n".join(checks)})
        command = [self.args.cc, "-O1", "-w", "-I.", f"-I{ROOT}/runtime/include", "host.c", "t.c", self.args.build / "runtime" / "libtkc.a", "-lm", "-pthread", "-o", "host"]
        built = subprocess.run(command, cwd=self.work, capture_output=True, text=True)
        out = subprocess.run(["./host"], cwd=self.work, capture_output=True, text=True) if built.returncode == 0 else built
        if out.returncode:
            names = sorted(set(re.findall(r"^(k\d+):", out.stdout, re.M)))
            self.faults.append("\n".join([out.stdout + out.stderr, *(self.kernels[x].text(x) for x in names)]))
        return self.faults


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, default=ROOT / "build-gcc")
    p.add_argument("-n", type=int, default=10)
    p.add_argument("--from", dest="first", type=int, default=0)
    p.add_argument("--cc", default="gcc")
    args = p.parse_args()
    args.build = args.build.resolve()
    failed = 0
    for number in range(args.first, args.first + args.n):
        with tempfile.TemporaryDirectory() as work:
            faults = Module(args, number, Path(work)).run()
        for f in faults:
            print(f"module {number}: {f}")
        failed += bool(faults)
    print(f"{args.n - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
