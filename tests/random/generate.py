#!/usr/bin/env python3
"""Random well-typed kernels that keep to the data-access rules; the same seed gives the same module.

    generate.py SEED [COUNT]     prints a module with COUNT kernels

A field is written until it is first read as an operand of something non-linear, a subscript or a condition; from then on ("frozen") it is not written, unless it is `saved`.
What a task writes is not read in it, but for an element that the same iteration has stored before. What a loop around tasks writes is not read in that loop.
"""
import collections
import random
import re
import sys

from composed import Composed
from counters import Counters
from decisions import Decisions
from expressions import Expr, Expressions, num
from externs import Externs
from functions import Functions
from identities import Identities
from kernels import Kernels
from kinds import FLOATS, OBLONG
from limits import Limits
from module import CONSTANT_EXTENTS, RANGE, Module
from planes import Planes
from references import References
from rules import Rules
from singles import Singles
from statements import Statements
from stepped import Stepped
from sums import Sums
from stub import Kernel
from tasks import Tasks
from variety import Variety
from vectors import Vectors


# Locals may have their names, where the functions are not called.
BUILTINS = "sin exp step mix norm dot sum min abs clamp floor trace inverse select pow len rows random transpose length svd solve".split()


class Program(Composed, Counters, Decisions, Identities, Planes, Rules, References, Functions, Statements, Singles, Externs, Tasks, Kernels, Limits, Stepped, Sums, Variety, Vectors, Expressions):
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
        self.plane_read, self.plane_hidden, self.plane_changed = set(), set(), set()    # fields whose gradients or duals were read; are being written; were
        self.sure = collections.Counter()    # fields read: how often where it most likely matters
        self.own = {}                 # fields whose own element was stored in this iteration: name -> subscripts
        self.writable = []            # (field, subscripts or None, way) of the running task
        self.kernel_level = True
        self.vector_functions = []
        self.functions, self.references, self.array_functions, self.typed_functions, self.function_lines, self.params = [], [], [], [], [], []
        self.tables = list(module.tables)
        self.arrays, self.extents = [], {}    # of the host, among the kernel's parameters, and their extents
        self.given = set()                    # fields that the kernel knows by the name of a parameter alone
        self.called, self.kernels = [], []    # kernels that this one calls: text; and all kernels
        self.inside = False           # in a function
        self.grouped = None           # the loop variable of a task, if it is a vector of integers
        self.range = self.ranges()
        self.budget = self.rng.choice([2, 2, 3, 4, 5, 7, 10])
        self.stops = False
        fields = [f.name for f in module.fields]
        self.inputs = set(self.rng.sample(fields, 11))
        self.tables_frozen = False

    def ranges(self):
        return {f.name: [-RANGE, RANGE] for f in [*self.module.fields, self.module.loss]}

    # ---- text ----

    def emit(self, text):
        self.lines.append("    " * self.pad + text)

    def name_new(self, stem):
        self.names += 1
        return f"{stem}_{self.names}"

    def extent(self, k):
        return int(k) if k.isdigit() else CONSTANT_EXTENTS.get(k) or self.extents.get(k) or self.module.extent.get(k) or self.module.computed[k]

    @property
    def fields(self):
        return [f for f in self.module.fields if f.name not in self.given] + self.arrays

    # ---- leaves ----

    def may_read(self, f):
        if f.way and self.inside:
            return False
        if f.role == "table":
            return f.name != "made" or not (self.hidden & {"made"})
        if self.inside:
            return f.name in self.inputs or f.role == "constant"
        return f.name not in self.hidden and not (self.locked is not None and f.name in self.locked and not f.saved)

    def subscripts(self, f, d=1):
        if self.grouped and len(f.dims) == 2 and not f.way and self.chance(0.4):
            self.count("subscript by an integer vector")
            by = f"ivec2({self.rng.randrange(3)}, {self.rng.randrange(3)})"
            return f"({self.grouped} + {by}) % ivec2({', '.join(f.dims)})"
        return ", ".join(self.integer(0, self.extent(k) - 1, d if self.chance(0.3) else 0) for k in f.dims)

    def at(self, f, subs):
        if len(f.dims) in (2, 3) and not self.arrays and ", " in subs and "ivec2(" not in subs and self.chance(0.08):
            self.count("subscript by an integer vector")
            subs = f"ivec{len(f.dims)}({subs})"
        return (f"{f.base}[{subs}]" if subs else f.base) + ("." + f.member if f.member else "")


    def field_leaf(self, kind):
        if self.pure:
            return None
        if self.plane and self.chance(0.15):
            return self.plane_leaf(kind)
        if self.own and self.locked is None and self.chance(0.3):
            f = self.rng.choice(sorted(self.own))
            field = next((x for x in self.fields if x.name == f), None)
            if field and field.kind == kind and not self.looping:
                self.cover["own element read after its store"] += 1
                self.frozen.add(f)
                lo, hi = self.range[f]
                return self.scaled(Expr(self.at(field, self.own[f]), kind, lo, hi))
        found = [f for f in self.fields + self.module.constants if f.kind == kind and self.may_read(f)]
        if self.passive and self.chance(0.75):
            found = [f for f in found if f.role == "constant"] or (found if self.chance(0.3) else [])
        if (self.rare or self.passive) and not self.inside and self.chance(0.95):
            found = [f for f in found if f.role == "constant" or f.name in self.frozen and self.sure[f.name] > 0]
        if not found:
            return None
        f = self.rng.choice(found)
        if f.role in ("active", "array"):
            self.sure[f.name] += not (self.rare or self.passive or self.inside)
        if kind == "real" and self.chance(0.06):
            self.count("param read")
            return self.rng.choice([Expr("P", kind, 0.7, 0.7), Expr("C", kind, 0.3, 0.3), Expr("CP.a", kind, 0.6, 0.6), Expr("real(F)", kind, 0.3, 0.3),
                                    Expr("(F * fix0)", kind, -0.4, 0.4)])
        if kind == "vec2" and self.chance(0.06):
            return self.rng.choice([Expr("CV", kind, -0.2, 0.4), Expr("CP.b", kind, -0.2, 0.4), Expr("CW.p.b", kind, -0.2, 0.4), Expr("CM[1].yx", kind, -0.7, 0.5)])
        if kind == "mat2x3" and self.chance(0.1):
            self.count("constant matrix")
            return Expr("CM", kind, -0.7, 1.1)
        if f.role in ("active", "array") and not self.inside:
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
        if self.chance(0.1) and not self.pure:
            f = self.rng.choice([x for x in self.module.fields if x.dims and not x.member])
            k = self.rng.randrange(len(f.dims))
            self.count("extent read")
            return f"len({f.name})" if k == 0 and self.chance(0.4) else f"{f.name}.shape[{k}]", self.extent(f.dims[k])
        found = [f for f in self.tables if self.may_read(f)]
        if self.pure:
            return None
        if self.chance(0.06):
            counter = self.counter_leaf()
            if counter:
                return counter
        if self.chance(0.2):
            return self.pick((4, ("J", 3)), (1, ("i32(W)", 2)), (1, ("i32(B)", 3)), (0.7, ("CI[1]", 2)), (0.7, ("CW.n", 1)))
        if not found:
            return None
        f = self.rng.choice(found)
        if f.name == "made":
            self.tables_frozen = True
        if f.kind == "bool":
            self.count("bool field read")
            return f"({self.at(f, self.subscripts(f, 0))} ? 2 : 0)", 2
        if f.kind != "int":
            at = self.at(f, self.subscripts(f, 0))
            return (f"i32({at})" if f.kind in ("i64", "u8") else at + self.rng.choice([".x", "[1]", ".yx.y"])), 4
        self.count("table read")
        subs = ", ".join(self.integer(0, self.extent(k) - 1, 0) for k in f.dims)
        return self.at(f, subs), 4

    @property
    def looping(self):
        return self.nest > 0

    def make(self):
        self.pairs = []
        self.returns = returns = self.pick((9, None), (1, "real"), (0.4, "vec2"), (0.3, "vec3"), (0.2, "mat2"), (0.3, "Pair"), (0.2, "int"),
                                          (0.3, self.rng.choice(OBLONG)), (0.2, self.rng.choice(["vec1", "vec4", "vec7"])), (0.3, self.rng.choice(["f32", "vec(2, f32)", "mat(2, 3, f32)"])),
                                          (0.2, self.rng.choice(["Part", "Frame", "Tone"])), (0.2, self.rng.choice(["bool", "i64", "u8"])))
        self.derive = self.pick((8, ""), (1.0, " derive(grad, jvp, hvp)"), (0.3, " derive(hvp, jvp, grad)"), (0.3, " derive(jvp, grad)"), (0.8, " derive(grad)"), (0.8, " derive(jvp)"))
        self.plane = self.rng.choice([None, {" derive(grad)": "dual", " derive(jvp)": "grad"}.get(self.derive)])
        if not self.derive and not returns and self.chance(0.04):
            self.plane = self.rng.choice(["grad", "dual"])
        for _ in range(self.rng.choice([0, 0, 0, 1, 1])):
            self.make_reference_function()
        if self.chance(0.1):
            self.make_vector_function()
        for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3])):
            self.make_function()
        if self.chance(0.1):
            self.make_array_function()
        if self.chance(0.15):
            self.make_typed_function()
        self.params = [self.param(0.5) for _ in range(self.rng.choice([0, 0, 0, 1, 2]))]
        for p in self.params:
            self.scope += self.param_values(p.name, p.kind, RANGE)
        for _ in range(self.pick((7, 0), (1, 1), (1, 2), (0.5, 3))):
            self.params.append(self.array_param())
        self.rng.shuffle(self.params)
        for d in (d for p in self.params for d in p.dims):    # as tools/adcheck has them, in the order of the arguments
            if "_" in d:
                self.extents.setdefault(d, 4 - len(self.extents) % 2)
        mark = len(self.scope)
        for _ in range(self.rng.choice([0, 1, 1, 2]) if self.plane else 0):
            self.change_plane()
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])):
            self.kernel_item()
        if not any(" for " in s or s.strip().startswith("for ") for s in self.lines):
            self.task()
        if not self.plane and random.Random(f"{self.seed} crowd").random() < 0.08:    # the other programs stay as they are
            self.crowd()
        if not self.plane and random.Random(f"{self.seed} stepped").random() < 0.15:
            self.stepped()
        self.call_rest()
        if any(not f.get("called") for f in self.typed_functions):
            self.call_typed_function()
        found = [v for v in self.scope[mark:] if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
        if found:
            first = not any("loss" in s for s in self.lines)
            self.emit(f"loss = tanh({self.total(found)});" if first and self.chance(0.5) else f"loss += sin({self.total(found)});")
        self.uses()
        if self.chance(0.05):
            self.count("return out of a kernel")
            result = f" {self.result()}" if returns else ""
            self.emit(f"if ({self.condition(1)}) {{ return{result}; }}")
            self.rare += 1
            self.kernel_item()
            self.rare -= 1
            self.uses()
        if returns:
            self.count(f"kernel result {returns}")
            self.emit(f"return {self.result()};")
        if self.saves & self.written & self.frozen:
            self.count("saved field overwritten")
        if "hvp" in self.derive:
            self.count("hvp")
        main = Kernel(self.name, self.params, returns)
        self.kernels.append(main)
        for k in self.kernels:
            k.derive = self.derive
        beside = []
        for make, how_often in ((self.composed, 0.06), (self.no_grad_kernel, 0.05), (self.hand_rule, 0.05), (self.underived, 0.03)):
            beside += make() if not self.plane and self.chance(how_often) else []
        beside += self.decide()
        beside += self.identity() if self.chance(0.1) else []
        beside += self.sum_beside() if self.chance(0.1) else []
        called = [s.head() if isinstance(s, Kernel) else s for s in [*self.called, *beside]]
        self.text = [*self.function_lines, *called, main.head(), *self.lines, "}"]
        if self.chance(0.3):
            self.take_names("\n".join(self.text))
        return self

    def take_names(self, text):
        """Gives a local the name of a built-in function."""
        free, found = [n for n in BUILTINS if not re.search(rf"\b{n}\b", text)], re.findall(r"\b(?:let|var) ([lv]_\d+)\b", text)
        if free and found:
            self.count("local with the name of a built-in function")
            self.text = re.sub(rf"\b{self.rng.choice(found)}\b", self.rng.choice(free), text).split("\n")

    def result(self):
        """What the kernel gives to the host."""
        return self.argument(self.returns, 2, 3)


def make_module(seed, count, wide=False):
    """(module, programs); kernel i is of seed `seed`.i whatever the count."""
    module = Module(f"{seed}", wide)
    return module, [Program(module, f"k{i}", f"{seed}.{i}").make() for i in range(count)]


def module_text(module, programs, imports=False):
    """The text and the first line (from 1) of each program. With imports, the module's common text is expected in common.tk."""
    lines, starts = module.head(imports), []
    for p in programs:
        lines.append("")
        starts.append(len(lines) + 1)
        lines += p.text
    return "\n".join(lines) + "\n", starts


if __name__ == "__main__":
    m, ps = make_module(sys.argv[1] if len(sys.argv) > 1 else "1", int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(module_text(m, ps)[0], end="")
