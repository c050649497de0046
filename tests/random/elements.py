#!/usr/bin/env python3
"""Sparse Hessians and Jacobians of kernels, against dense ones.

    elements.py --build DIR [-n MODULES] [--from MODULE] [--seed S] [-j JOBS] [--cc CC]... [--keep DIR]

Each module has ten kernels in the form of elements: parallel loops over tables, neighbours and fields, whose iterations compute with branches, loops, vectors and calls, and add to an energy or
store residuals. Some elements have equal vertices. A host compares each sparse matrix, in four layouts, with the columns of `_hvp` or `_jvp`: entries that the pattern lacks are zero there. It compares
gradients, and the bits of two numbers of threads. Every third module is built with --debug. Ends with `N passed, N failed`.
"""
import random
import re
import sys
import tempfile
from pathlib import Path

from builds import Builder, run, search

KERNELS = 10
CC = ["gcc -O1", "clang -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"]
HEAD = """param N: i32 = 7;
param T: i32 = 6;
field x: {kind}[N] needs_grad needs_dual;
field tri: vec(3, i32)[T];
field count: i32[T];
field w: real[T];
field E: real needs_grad needs_dual;
field r: vec2[T] needs_grad needs_dual;
func smooth(a: real, b: real) -> real {{ return sqrt(1.0 + a * a) * b + tanh(a - b); }}
func bent(a: real, b: real) -> real {{
    if a > b {{ return a * sin(b); }}
    var s = a;
    for k in range(3) {{ s = 0.5 * s + cos(s * b); }}
    return s;
}}
func square(a: real) -> real {{ return a * a; }}
func square_back(a: real, g: real) -> real grad_for(square) {{ return 2.0 * a * g; }}
func square_along(a: real, da: real) -> (real, real) jvp_for(square) {{ return a * a, 2.0 * a * da; }}"""

HOST = """#include <math.h>
#include <stdio.h>
#include <string.h>
#include "m.h"

enum { D = %(D)d, N = 7, C = N * D, T = 6, R = 2 * T, MOST = 4000 };
typedef struct kernel {
    const char *name;
    tk_status (*pattern)(m *, double, const tk_sparse_options *, tk_sparse **);
    tk_status (*matrix)(m *, double, tk_sparse *, double *, size_t);
    tk_status (*grad)(m *, double), (*column)(m *, double, const double *);
    int seed, hess;
} kernel;

static unsigned state;
static double next(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static void set(m *s, int seed)
{
    state = (unsigned)seed;
    for (int i = 0; i < C; i++)
        ((double *)s->x.data)[i] = 2.4 * next() - 1.2;
    for (int e = 0; e < T; e++) {
        for (int k = 0; k < 3; k++)
            s->tri.data[e][k] = (int32_t)(next() * N);
        s->count.data[e] = (int32_t)(next() * 4);
        s->w.data[e] = next() + 0.2;
    }
    *s->E.data = 0;
}

static int64_t start(const tk_sparse *p, size_t i)
{
    return tk_sparse_starts(p) ? tk_sparse_starts(p)[i] : tk_sparse_starts_wide(p)[i];
}

static void dense(const tk_sparse *p, const tk_sparse_options *o, const double *v, int rows, double *M)
{
    const int br = o->blocks ? rows == C ? D : 2 : 1, bc = o->blocks ? D : 1;
    const size_t lines = o->columns ? tk_sparse_cols(p) : tk_sparse_rows(p);
    memset(M, 0, sizeof *M * (size_t)(rows * C));
    for (size_t i = 0; i < lines; i++)
        for (int64_t k = start(p, i); k < start(p, i + 1); k++) {
            const int64_t j = tk_sparse_indices(p) ? tk_sparse_indices(p)[k] : tk_sparse_indices_wide(p)[k];
            const int64_t row = o->columns ? j : (int64_t)i, col = o->columns ? (int64_t)i : j;
            for (int a = 0; a < br; a++)
                for (int b = 0; b < bc; b++)
                    M[(row * br + a) * C + col * bc + b] += v[(k * br + a) * bc + b];
        }
}

/* The columns, and behind those of a Hessian the gradient. */
static tk_status columns(m *s, const kernel *k, double *M)
{
    double *dx = (double *)s->x.dual, *g = (double *)s->x.grad, *dg = (double *)s->x.grad_dual, *dr = (double *)s->r.dual;
    for (int j = 0; j < C; j++) {
        memset(dx, 0, sizeof *dx * C);
        memset(g, 0, sizeof *g * C);
        memset(dg, 0, sizeof *dg * C);
        *s->E.dual = *s->E.grad_dual = 0;
        memset(dr, 0, sizeof *dr * R);
        dx[j] = 1;
        *s->E.grad = 1;
        const tk_status st = k->column(s, 0.7, NULL);
        if (st)
            return st;
        for (int i = 0; i < (k->hess ? C : R); i++)
            M[i * C + j] = k->hess ? dg[i] : dr[i];
    }
    if (!k->hess)
        return TK_OK;
    memset(g, 0, sizeof *g * C);
    *s->E.grad = 1;
    const tk_status st = k->grad(s, 0.7);
    memcpy(M + C * C, g, sizeof *g * C);
    return st;
}

static double off(const double *a, const double *b, int n)
{
    double most = 0, size = 1;
    for (int i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]);
        size = fmax(size, fabs(b[i]));
        most = d <= most ? most : isfinite(d) ? d : INFINITY;
    }
    return most / size;
}

/* Of one layout, with so many threads: what is wrong. */
static const char *compare(const kernel *k, int layout, int threads, double *values)
{
    static double want[MOST], got[MOST];
    static char why[200];
    tk_session_options so = tk_session_defaults();
    so.threads = threads;
    so.deterministic = true;
    tk_session *session = tk_session_create(&so);
    m *s = m_create(session, NULL);
    tk_sparse *p = NULL;
    const tk_sparse_options o = {layout & 1, true, layout & 2, layout & 4};
    const int rows = k->hess ? C : R;
    set(s, k->seed);
    memset(values, 0, sizeof *values * MOST);
    tk_status st = columns(s, k, want);
    memset(s->x.grad, 0, sizeof(double) * C);
    *s->E.data = 0;
    st = st ? st : k->pattern(s, 0.7, &o, &p);
    if (!st && tk_sparse_values(p) > MOST)
        return "too many values";
    st = st ? st : k->matrix(s, 0.7, p, values, MOST);
    snprintf(why, sizeof why, "status %%d: %%s", (int)st, m_error(s));
    const char *wrong = st ? why : NULL;
    if (!st) {
        dense(p, &o, values, rows, got);
        const double matrix = off(got, want, rows * C), gradient = k->hess ? off((double *)s->x.grad, want + C * C, C) : 0;
        snprintf(why, sizeof why, "layout %%d: the matrix is off by %%g, the gradient by %%g", layout, matrix, gradient);
        wrong = matrix <= 1e-10 && gradient <= 1e-11 ? NULL : why;
    }
    tk_sparse_free(p);
    m_destroy(s);
    tk_session_destroy(session);
    return wrong;
}

static const kernel kernels[] = {
%(rows)s
};

int main(void)
{
    static double one[MOST], three[MOST];
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const char *wrong = NULL;
        for (int t = 0; t < 4 && !wrong; t++) {
            const int layout = (kernels[i].seed + 3 * t) %% 8;
            wrong = compare(&kernels[i], layout, 1, one);
            wrong = wrong ? wrong : compare(&kernels[i], layout, 3, three);
            if (!wrong && memcmp(one, three, sizeof one))
                wrong = "one thread and three give other bits";
        }
        printf("%%s: %%s\\n", kernels[i].name, wrong ? wrong : "ok");
    }
}
"""
LOOPS = [("for e in range(T)", 6, ["tri[e][0]", "tri[e][1]", "tri[e][2]", "e", "e + 1", "(2 * e + 3) % N"]),
         ("for e in range(1, N)", 0, ["e", "e - 1", "N - 1 - e", "(e + 2) % N"]), ("for e in x", 0, ["e", "(e + 1) % N", "N - 1 - e"])]


class Writer:
    def __init__(self, rng, size):
        self.r, self.size = rng, size
        self.scalars, self.names, self.lines = [], 0, []

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def leaf(self):
        return self.r.choice([*self.scalars, *self.scalars, "c", f"{self.r.choice([0.3, 1.1, -0.8])}"])

    def value(self, depth):
        if not depth or self.r.random() < 0.15:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"sin({a})", f"cos({a} + {b})", f"tanh({a})", f"exp(0.3 * tanh({a}))",
                              f"log(2.0 + ({a}) ** 2)", f"({a}) / (2.0 + ({b}) ** 2)", f"max({a}, {b})", f"tanh({a}) ** 3", f"smooth(tanh({a}), sin({b}))",
                              f"bent(sin({a}), tanh({b}))", f"square(sin({a}))", f"({a} > {b} ? sin({a}) : {b})"])

    def small(self, depth):
        return f"sin({self.value(depth)})"

    def statement(self):
        kind, s = self.r.randrange(5), self.name("s")
        if kind == 0:
            self.lines.append(f"var {s} = {self.small(2)};")
            self.lines.append(f"if {self.leaf()} > {self.leaf()} {{ {s} = {self.small(2)}; }} else {{ {s} += {self.small(1)}; }}")
        elif kind == 1:
            self.lines.append(f"var {s} = {self.small(2)};")
            trips = self.r.choice(["3", "5", "count[e]"] if self.table else ["3", "7"])
            self.lines.append(f"for k in range({trips}) {{ {s} = 0.6 * {s} + 0.2 * sin({s} * {self.leaf()}) + 0.1 * real(k); }}")
        elif kind == 2:
            a = self.name("a")
            self.lines.append(f"var {a} = vec3({', '.join(self.small(1) for _ in range(3))});")
            self.lines.append(f"static for k in range(3) {{ {a}[k] = {a}[k] * {a}[(k + 1) % 3] + {self.leaf()}; }}")
            self.lines.append(f"let {s} = {a}[0] + {a}[1] * {a}[2];")
        else:
            self.lines.append(f"let {s} = {self.value(3)};")
        self.scalars.append(s)

    def read(self, subscripts):
        v = self.name("v")
        at = f"x[{self.r.choice(subscripts)}]"
        if self.size == 1:
            self.lines.append(f"let {v} = {at};")
            self.scalars.append(v)
        elif self.r.random() < 0.4:
            self.lines.append(f"let {v} = {at}[{self.r.randrange(self.size)}];")
            self.scalars.append(v)
        else:
            self.lines.append(f"let {v} = {at};")
            self.scalars += [f"{v}[{k}]" for k in range(self.size)]
            if self.r.random() < 0.3:
                self.scalars.append(f"{v}.norm_sqr()")

    def loop(self, hess):
        head, table, subscripts = self.r.choice(LOOPS if hess else LOOPS[:1])
        self.table, self.scalars, self.lines = table, ["w[e]"] if table else [], []
        for _ in range(self.r.randint(1, 4)):
            self.read(subscripts)
        for _ in range(self.r.randint(0, 4)):
            self.statement()
        if hess:
            self.lines += [f"E {self.r.choice(['+=', '+=', '-='])} {self.value(4)} + {self.total()};" for _ in range(self.r.choice([1, 1, 1, 2]))]
        else:
            parts = self.r.choice([[0], [1], [0, 1], [0, 1]])
            self.lines += [f"r[e][{k}] = {self.value(3)} + {self.total()};" for k in parts]
        return [f"    {head} {{", *(f"        {line}" for line in self.lines), "    }"]

    def total(self):
        """What depends on a vertex for sure."""
        return f"{self.r.choice(['1.0', '0.4 * ' + self.leaf()])} * sin({self.r.choice([s for s in self.scalars if s[0] == 'v'])})"

    def kernel(self, name):
        hess = self.r.random() < 0.7
        loops = [line for _ in range(self.r.choice([1, 1, 2]) if hess else 1) for line in self.loop(hess)]
        return hess, [f"kernel {name}(c: real) derive(grad, {'hvp' if hess else 'jvp'}, {'hess' if hess else 'jac'}(x)) {{", *loops, "}"]


def row(name, hess, seed):
    word = "hess" if hess else "jac"
    grad, column = (f"m_{name}_grad", f"m_{name}_hvp") if hess else ("NULL", f"m_{name}_jvp")
    return f'    {{"{name}", m_{name}_{word}_pattern, m_{name}_{word}, {grad}, {column}, {seed}, {int(hess)}}},'


class Search(Builder):
    def module(self, number):
        rng = random.Random(f"{self.args.seed}.{number}")
        size = rng.choice([1, 2, 2, 3])
        kernels = [Writer(rng, size).kernel(f"k{i}") for i in range(KERNELS)]
        rows = "\n".join(row(f"k{i}", hess, rng.randrange(1, 10**6)) for i, (hess, _) in enumerate(kernels))
        text = "\n".join([HEAD.format(kind="real" if size == 1 else f"vec{size}"), *(line for _, k in kernels for line in k)])
        failed = []
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            tmp = Path(tmp)
            (tmp / "m.tk").write_text(text + "\n")
            (tmp / "host.c").write_text(HOST % {"D": size, "rows": rows})
            self.need([self.tkc, "m.tk", "--real=f64", *["--debug"] * (number % 3 == 2), "-o", "m.c"], cwd=tmp)
            for cc in self.args.cc:
                self.need([*cc.split(), "-std=gnu11", *self.include, "m.c", "host.c", self.lib, "-pthread", "-lm", "-o", "host"], cwd=tmp)
                status, said = run([tmp / "host"], cwd=tmp)
                found = dict(re.findall(r"^(k\d+): (.*)$", said, re.M))
                for i, (_, lines) in enumerate(kernels):
                    why = found.get(f"k{i}", f"status {status}: {said[-600:]}")
                    failed += [] if why == "ok" else [("\n".join(lines), f"module {number}, {cc}", why)]
            if failed:
                self.keep(number, tmp)
        hessians = sum(hess for hess, _ in kernels)
        return KERNELS - len({k for k, _, _ in failed}), failed, {"Hessians": hessians, "Jacobians": KERNELS - hessians}


if __name__ == "__main__":
    sys.exit(search(__doc__, Search, 20, "modules", CC))
