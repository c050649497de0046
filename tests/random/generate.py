#!/usr/bin/env python3
"""Random well-typed kernels that keep to the data-access rules; the same seed gives the same module.

    generate.py SEED [COUNT]     prints a module with COUNT kernels

A field is written until it is first read as an operand of something non-linear, a subscript or a condition; from then on ("frozen") it is not written, unless it is `saved`.
What a task writes is not read in it, but for an element that the same iteration has stored before. What a loop around tasks writes is not read in that loop.
"""
import collections
import random
import sys

from expressions import FLOATS, Expr, Expressions, num
from functions import Functions
from kernels import Kernels
from statements import Statements
from tasks import Tasks

RANGE = 1.2  # field data are drawn from -RANGE .. RANGE

# For all programs of a module: functions with derivatives of their own, C functions (of libm), a struct. In a file of their own or not.
COMMON = """
extern func erfc(al: f64) -> f64 grad(-1.1283791670955126 * exp(-al * al));
extern func fma(al: f64, be: f64, ga: f64) -> f64 grad(be, al, 1.0);
extern func jn(n: i32, al: f64) -> f64 grad(0.5 * (jn(n - 1, al) - jn(n + 1, al)));
struct Pair { a: real, b: vec2 }
func turned(p: Pair) -> Pair { return Pair(p.b.y, [p.a, p.b.x]); }
func bend(al: real, be: real) -> real { return sin(al) * be; }
func bend_back(al: real, be: real, gp: real) -> (real, real) grad_for(bend) { return gp * cos(al) * be, gp * sin(al); }
func bend_jvp(al: real, be: real, dal: real, dbe: real) -> (real, real) jvp_for(bend) { return sin(al) * be, cos(al) * dal * be + sin(al) * dbe; }
func blend(al: real, n: i32, be: vec2) -> (real, vec2) { return sin(al) * be.x, al * be + be * real(n); }
func blend_back(al: real, n: i32, be: vec2, gp: real, gq: vec2) -> (real, vec2) grad_for(blend) {
    return gp * cos(al) * be.x + dot(gq, be), [gp * sin(al), 0.0] + gq * al + gq * real(n);
}
func blend_jvp(al: real, n: i32, be: vec2, dal: real, dbe: vec2) -> (real, vec2, real, vec2) jvp_for(blend) {
    return sin(al) * be.x, al * be + be * real(n), cos(al) * dal * be.x + sin(al) * dbe.x, dal * be + al * dbe + dbe * real(n);
}
"""


class Field:
    def __init__(self, name, kind, dims, role="active"):
        self.name, self.kind, self.dims, self.role = name, kind, dims, role
        self.base, _, self.member = name.partition(".")    # the field of structs and its member
        self.single = self.base == "f1"                    # f32 among f64
        self.saved = self.soa = False


class Module:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        r = self.rng
        self.extent = {"N": r.randint(5, 7), "M": r.randint(3, 4), "L": r.randint(2, 3)}
        self.form = {k: r.choice(["const", "param"]) for k in self.extent}
        N, M, L = "NML"
        self.fields = [Field(n, k, d) for n, k, d in (
            ("a", "real", [N]), ("b", "real", [N]), ("c", "real", [N]), ("d", "real", [M]), ("s", "real", []), ("t", "real", []), ("u", "real", []),
            ("g", "real", [N, M]), ("h", "real", [N, M]), ("w", "real", [M, N]), ("q", "real", [N, N]), ("e", "real", [L, M, L]), ("v2", "vec2", [N]), ("x2", "vec2", [M, L]),
            ("v3", "vec3", [N]), ("y3", "vec3", [M]), ("z2", "vec2", []), ("m2", "mat2", [N]), ("m3", "mat3", [M]),
            ("v4", "vec4", [M]), ("m4", "mat4", [L]), ("pr.a", "real", [N]), ("pr.b", "vec2", [N]), ("f1", "real", [N]))]
        for f in r.sample(self.fields, 5):
            f.saved = not f.member and not f.single
        for f in self.fields:
            f.soa = (f.kind != "real" or bool(f.member)) and r.random() < 0.3
        self.fields[-2].soa = self.fields[-3].soa
        self.loss = Field("loss", "real", [])    # written only
        self.tables = [Field("idx", "int", [N], "table"), Field("tab", "int", [N, M], "table"), Field("cnt", "int", [], "table"), Field("made", "int", [N], "table")]
        self.cells = [Field("cell", "int", [N], "cell"), Field("cells", "int", [N, M], "cell"), Field("ticket", "int", [], "cell")]    # atomics change them
        self.constants = [Field("fix", "real", [N], "constant"), Field("fix0", "real", [], "constant")]

    def head(self, imports):
        lines = ['import "common.tk";'] if imports else COMMON.splitlines()
        for k, v in self.extent.items():
            lines.append(f"{self.form[k]} {k}: i32 = {v};")
        lines += ["param P: real = 0.7;", "param J: i32 = 3;", "const C = 0.3;"]
        for f in self.fields + [self.loss] + self.tables + self.cells + self.constants:
            kind = "i32" if f.kind == "int" else "Pair" if f.member else "f32" if f.single else f.kind
            if f.member == "b":
                continue
            lines.append(f"field {f.base}: {kind}{'[' + ', '.join(f.dims) + ']' if f.dims else ''}{' needs_grad needs_dual' if f.role == 'active' else ''}{' saved' if f.saved else ''}{' soa' if f.soa else ''};")
        return lines


class Program(Functions, Statements, Tasks, Kernels, Expressions):
    """One kernel and its functions."""

    def __init__(self, module, name, seed):
        self.module, self.name, self.seed = module, name, seed
        self.rng = random.Random(seed)
        self.cover = collections.Counter()
        self.scope, self.lines, self.pad, self.names = [], [], 1, 0
        self.depth_seen = self.nest = self.nest_seen = 0
        self.mult = 1                 # how often the statement may run
        self.frozen, self.hidden, self.locked = set(), set(), None    # read; written by the running task; written by the loop around it
        self.saves = {f.name for f in module.fields if f.saved} if self.chance(0.6) else set()    # what this kernel may overwrite
        self.written = set()
        self.sure = collections.Counter()    # fields read: how often where it most likely matters
        self.own = {}                 # fields whose own element was stored in this iteration: name -> subscripts
        self.writable = []            # (field, subscripts or None, way) of the running task
        self.kernel_level = True
        self.functions, self.function_lines, self.params = [], [], []
        self.called, self.kernels = [], []    # kernels that this one calls: text, and name and parameters of all
        self.inside = False           # in a function
        self.range = {f.name: [-RANGE, RANGE] for f in [*module.fields, module.loss]}
        self.budget = self.rng.choice([2, 3, 4, 6, 8, 10, 20])
        self.stops = False
        fields = [f.name for f in module.fields]
        self.inputs = set(self.rng.sample(fields, 9))
        self.tables_frozen = False

    # ---- text ----

    def emit(self, text):
        self.lines.append("    " * self.pad + text)

    def name_new(self, stem):
        self.names += 1
        return f"{stem}_{self.names}"

    def extent(self, k):
        return self.module.extent[k]

    # ---- leaves ----

    def may_read(self, f):
        if f.role == "table":
            return f.name != "made" or not (self.hidden & {"made"})
        if self.inside:
            return f.name in self.inputs or f.role == "constant"
        return f.name not in self.hidden and not (self.locked is not None and f.name in self.locked and not f.saved)

    def subscripts(self, f, d=1):
        return ", ".join(self.integer(0, self.extent(k) - 1, d if self.chance(0.3) else 0) for k in f.dims)

    def at(self, f, subs):
        return (f"{f.base}[{subs}]" if subs else f.base) + ("." + f.member if f.member else "")

    def read(self, f, subs):
        """An element as a value. Of f32 fields, arithmetic that is exact for the data that adcheck.c draws, so that differences see no rounding."""
        at = self.at(f, subs)
        if not f.single:
            return at
        self.count("f32 read")
        return self.pick((2, f"real({at})"), (1, f"real({at} * 0.5)"), (1, f"real(-{at})"), (0.5, f"(1.0 * f64({at}))"), (0.5, f"real(max({at}, 0.2517))"))

    def field_leaf(self, kind):
        if self.pure:
            return None
        if self.own and self.locked is None and self.chance(0.3):
            f = self.rng.choice(sorted(self.own))
            field = next((x for x in self.module.fields if x.name == f), None)
            if field and field.kind == kind and not self.looping:
                self.cover["own element read after its store"] += 1
                self.frozen.add(f)
                lo, hi = self.range[f]
                return self.scaled(Expr(self.at(field, self.own[f]), kind, lo, hi))
        found = [f for f in self.module.fields + self.module.constants if f.kind == kind and self.may_read(f)]
        if self.passive and self.chance(0.75):
            found = [f for f in found if f.role == "constant"] or (found if self.chance(0.3) else [])
        if (self.rare or self.passive) and not self.inside and self.chance(0.95):
            found = [f for f in found if f.role == "constant" or f.name in self.frozen and self.sure[f.name] > 0]
        if not found:
            return None
        f = self.rng.choice(found)
        if f.role == "active":
            self.sure[f.name] += not (self.rare or self.passive or self.inside)
        if kind == "real" and self.chance(0.06):
            self.count("param read")
            return self.rng.choice([Expr("P", kind, 0.7, 0.7), Expr("C", kind, 0.3, 0.3)])
        if f.role == "active" and not self.inside:
            self.frozen.add(f.name)
        lo, hi = self.range.get(f.name, (-RANGE, RANGE))
        self.count(f"read {kind} {len(f.dims)}-D")
        return self.scaled(Expr(self.read(f, self.subscripts(f)), kind, *((-max(-lo, hi, 0.25), max(-lo, hi, 0.25)) if f.single else (lo, hi))))

    def scaled(self, e):
        if e.mag <= 8:
            return e
        c = num(2 / e.mag)
        return Expr(f"({e} * {c})", e.kind, e.lo * float(c) - 1e-3, e.hi * float(c) + 1e-3)

    def int_leaf(self):
        found = [f for f in self.module.tables if self.may_read(f)]
        if self.pure:
            return None
        if self.chance(0.15):
            return "J", 3
        if not found:
            return None
        f = self.rng.choice(found)
        if f.name == "made":
            self.tables_frozen = True
        self.count("table read")
        subs = ", ".join(self.integer(0, self.extent(k) - 1, 0) for k in f.dims)
        return self.at(f, subs), 4

    @property
    def looping(self):
        return self.nest > 0

    def make(self):
        self.pairs = []
        for _ in range(self.rng.choice([0, 0, 1, 2, 3])):
            self.make_function()
        if self.chance(0.1):
            self.make_array_function()
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            kind = self.rng.choice(["real", "real", "vec2", "vec3", "int"])
            n = self.name_new("p")
            grad = kind != "int" and self.chance(0.5)
            self.params.append((n, kind, grad))
            self.scope.append({"name": n, "kind": kind, "lo": 0 if kind == "int" else -RANGE, "hi": 3 if kind == "int" else RANGE, "mutable": False})
            self.count("kernel parameter" + (" needs_grad" if grad else ""))
        mark = len(self.scope)
        for _ in range(self.rng.choice([1, 1, 2, 3, 4])):
            self.kernel_item()
        if not any(" for " in s or s.strip().startswith("for ") for s in self.lines):
            self.task()
        found = [v for v in self.scope[mark:] if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
        if found:
            first = not any("loss" in s for s in self.lines)
            self.emit(f"loss = tanh({self.total(found)});" if first and self.chance(0.5) else f"loss += sin({self.total(found)});")
        self.uses()
        stored = any(f.saved and f.name in self.written for f in self.module.fields)
        if self.saves & self.written & self.frozen:
            self.count("saved field overwritten")
        self.derive = self.pick((8, ""), (2 if not any(p for _, p in self.kernels) and not self.params and not stored else 0, " derive(grad, jvp, hvp)"), (0.5, " derive(grad)"), (0.5, " derive(jvp)"))
        if "hvp" in self.derive:
            self.count("hvp")
        self.kernels.append((self.name, self.params))
        called = [self.head(*s[1:]) if isinstance(s, tuple) else s for s in self.called]
        self.text = [*self.function_lines, *called, self.head(self.name, self.params), *self.lines, "}"]
        return self

    def head(self, name, params):
        """The first line of a kernel."""
        types = {"int": "i32"}
        return f"kernel {name}({', '.join(f'{n}: {types.get(k, k)}' + (' needs_grad' if g else '') for n, k, g in params)}){self.derive} {{"


def make_module(seed, count):
    """(module, programs); kernel i is of seed `seed`.i whatever the count."""
    module = Module(f"{seed}")
    return module, [Program(module, f"k{i}", f"{seed}.{i}").make() for i in range(count)]


def module_text(module, programs, imports=False):
    """The text and the first line (from 1) of each program. With imports, COMMON is expected in common.tk."""
    lines, starts = module.head(imports), []
    for p in programs:
        lines.append("")
        starts.append(len(lines) + 1)
        lines += p.text
    return "\n".join(lines) + "\n", starts


if __name__ == "__main__":
    m, ps = make_module(sys.argv[1] if len(sys.argv) > 1 else "1", int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(module_text(m, ps)[0], end="")
