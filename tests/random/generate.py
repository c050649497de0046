#!/usr/bin/env python3
"""Random well-typed kernels that keep to the data-access rules; the same seed gives the same module.

    generate.py SEED [COUNT]     prints a module with COUNT kernels

A field is written until it is first read as an operand of something non-linear, a subscript or a condition; from then on ("frozen") it is not written, unless it is `saved`.
What a task writes is not read in it, but for an element that the same iteration has stored before. What a loop around tasks writes is not read in that loop.
"""
import collections
import random
import sys

from expressions import Expr, Expressions, num

RANGE = 1.2  # field data are drawn from -RANGE .. RANGE

# For all programs of a module: functions with derivatives of their own, a struct.
COMMON = """
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
        self.saved = False


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
            ("v3", "vec3", [N]), ("y3", "vec3", [M]), ("z2", "vec2", []), ("m2", "mat2", [N]), ("m3", "mat3", [M]))]
        for f in r.sample(self.fields, 5):
            f.saved = True
        self.loss = Field("loss", "real", [])    # written only
        self.tables = [Field("idx", "int", [N], "table"), Field("tab", "int", [N, M], "table"), Field("cnt", "int", [], "table"), Field("made", "int", [N], "table")]
        self.constants = [Field("fix", "real", [N], "constant"), Field("fix0", "real", [], "constant")]

    def head(self):
        lines = []
        for k, v in self.extent.items():
            lines.append(f"{self.form[k]} {k}: i32 = {v};")
        lines += ["param P: real = 0.7;", "param J: i32 = 3;", "const C = 0.3;"]
        for f in self.fields + [self.loss] + self.tables + self.constants:
            kind = "i32" if f.kind == "int" else f.kind
            lines.append(f"field {f.name}: {kind}{'[' + ', '.join(f.dims) + ']' if f.dims else ''}{' needs_grad needs_dual' if f.role == 'active' else ''}{' saved' if f.saved else ''};")
        return lines + COMMON.splitlines()


class Program(Expressions):
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
        self.budget = self.rng.choice([3, 4, 6, 8, 12, 24])
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
        return f"{f.name}[{subs}]" if subs else f.name

    def field_leaf(self, kind):
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
        return self.scaled(Expr(self.at(f, self.subscripts(f)), kind, lo, hi))

    def scaled(self, e):
        if e.mag <= 8:
            return e
        c = num(2 / e.mag)
        return Expr(f"({e} * {c})", e.kind, e.lo * float(c) - 1e-3, e.hi * float(c) + 1e-3)

    def int_leaf(self):
        found = [f for f in self.module.tables if self.may_read(f)]
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

    # ---- calls ----

    def call(self, kind, d):
        found = [f for f in self.functions if f["result"] == kind and self.mult * f["weight"] < 4000]
        if not found:
            return None
        f = self.rng.choice(found)
        args = []
        for k in f["args"]:
            if k == "int":
                args.append(self.integer(0, 4, 0))
            else:
                args.append(str(self.fit((self.value if self.chance(0.5) else self.unsure)(k, d - 1), -3, 3)))
        self.count("call")
        if self.looping:
            self.count("call in a loop")
        return Expr(f"{f['name']}({', '.join(args)})", kind, -3, 3)

    def make_function(self):
        """Pure but for reads of the kernel's inputs."""
        name = f"{self.name}_f{len(self.functions) + len(self.pairs)}"
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        generic = self.chance(0.25)
        args = [self.rng.choice(["real", "real", "vec2", "vec3", "mat2"]) for _ in range(self.rng.randint(1, 3))] + (["int"] if self.chance(0.4) else [])
        result = self.rng.choice(["real", "real", "vec2", "vec3"])
        two = self.chance(0.2)
        self.lines, self.pad, self.scope, self.inside, self.kernel_level = [], 1, [], True, False
        self.mult = 4
        names = []
        for k in args:
            n = self.name_new("p")
            names.append(n)
            self.scope.append({"name": n, "kind": k, "lo": 0 if k == "int" else -3, "hi": 4 if k == "int" else 3, "mutable": False})
        self.count("function" + (" generic" if generic else "") + (" of several results" if two else ""))

        def result_text():
            e = self.fit(self.value(result, 2), -3, 3)
            return f"{e}, {self.fit(self.value('real', 1), -3, 3)}" if two else str(e)
        self.budget = self.rng.choice([0, 2, 4, 14])
        if self.budget == 14:
            self.count("function, large")
        self.early = None if self.chance(0.5) or generic and two else result_text
        if self.budget:
            self.sink()
        self.block(self.rng.randint(0, 3) if self.budget < 14 else 7)
        if self.early and self.chance(0.7):
            self.count("return, early")
            self.emit(f"if ({self.condition(1)}) {{ return {result_text()}; }}")
            self.block(1)
        args_used = [v for v in self.scope if v["kind"] not in ("int", "bool") and (v["mutable"] or not v.get("used"))]
        if args_used:
            e = f"{'sin' if self.chance(0.5) else 'tanh'}({self.total(args_used)})"
            e = self.fit(Expr(f"({self.rng.choice(['0.5 * ', ''])}{e})", "real", -1, 1), -1, 1)
            r = self.fit(self.value(result, 2), -1.8, 1.8)
            self.emit(f"return {r} + {e}{', ' + str(self.fit(self.value('real', 1), -3, 3)) if two else ''};")
        else:
            self.emit(f"return {result_text()};")
        self.early = None
        types = {"int": "i32"}
        plist = ", ".join(n if generic else f"{n}: {types.get(k, k)}" for n, k in zip(names, args))
        out = "" if generic else f" -> ({result}, real)" if two else f" -> {result}"
        body = [f"func {name}({plist}){out} {{", *self.lines, "}"]
        weight = 20 if self.nested_function else 1
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.function_lines += body
        f = {"name": name, "args": args, "result": result, "weight": weight, "two": two}
        (self.pairs if two else self.functions).append(f)

    # ---- sequential statements ----

    def declare(self, kind, text, lo, hi, mutable, typed=None):
        n = self.name_new("v" if mutable else "l")
        types = {"int": "i32", "bool": "bool"}
        t = f": {types.get(kind, kind)}" if (self.chance(0.3) if typed is None else typed) else ""
        self.emit(f"{'var' if mutable else 'let'} {n}{t} = {text};")
        v = {"name": n, "kind": kind, "lo": lo, "hi": hi, "mutable": mutable}
        self.scope.append(v)
        return v

    def any_kind(self):
        return self.pick((6, "real"), (2, "vec2"), (2, "vec3"), (1, "mat2"), (0.5, "mat3"))

    def block(self, n):
        """n statements in a scope of their own."""
        mark = len(self.scope)
        for _ in range(n):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()
        self.consume(mark)
        del self.scope[mark:]

    def consume(self, mark):
        """Locals that nothing uses yet go into a variable that lives on, so that no code is dead."""
        found = [v for v in self.scope[mark:] if v["kind"] in ("real", "vec2", "vec3", "mat2", "mat3") and (v["mutable"] or not v.get("used"))]
        outer = [v for v in self.scope[:mark] if v["mutable"] and v["kind"] == "real" and not v.get("sum")]
        if not found or not outer:
            return
        v = self.rng.choice(outer)
        self.emit(f"{v['name']} = 0.5 * {v['name']} + {num(v['hi'] * 0.5)} * sin({self.total(found)});")

    def total(self, found):
        """A real that depends on all of these variables."""
        parts = []
        for v in found:
            n, k = v["name"], v["kind"]
            text = n if k == "real" else self.rng.choice([f"sum({n})", f"norm({n}, 0.1)"] + ([f"trace({n})"] if k[0] == "m" else []))
            m = max(abs(v["lo"]), abs(v["hi"]), 1)
            parts.append(text if m < 4 else f"{text} * {num(3 / m)}")
        return " + ".join(parts)

    def sink(self):
        return self.declare("real", num(self.rng.choice([0.1, 0.5, -0.3])), -3, 3, True, True)

    def braces(self, head, n, tail=None, first=None):
        mark, rare = len(self.scope), self.rare
        self.emit(f"{head} {{".lstrip())
        self.pad += 1
        if first:
            first()
        lines = len(self.lines)
        self.block(n)
        if self.scope[mark:]:
            self.consume(mark)
        if tail:
            tail()
        if len(self.lines) == lines:
            self.assign()
        self.pad -= 1
        self.emit("}")
        self.rare = rare
        del self.scope[mark:]

    def statement(self):
        deep = self.nest >= 3 or self.mult > 300
        make = self.pick((3, self.let), (2, self.var), (4, self.assign), (2, self.if_), (0 if deep else 2.5, self.for_), (0 if deep else 1, self.while_),
                         (0 if deep else 0.8, self.array), (0.4, self.static_for), (0.4, self.ints), (0.3, self.bools), (1.2 if self.writable else 0, self.write),
                         (0.6, self.several), (1.3 if self.variables("real", lambda v: v.get("struct") and v["mutable"]) else 0.5, self.struct), (0.7 if self.jumps else 0, self.jump), (0.25 if self.early and self.nest else 0, self.early_return), (0.2, self.bare_block))
        make()

    early, jumps, nested_function = None, 0, False

    def early_return(self):
        self.count("return out of a loop")
        self.emit(f"if ({self.condition(0)}) {{ return {self.early()}; }}")

    def bare_block(self):
        self.braces("", 2)

    def let(self):
        e = self.value(self.any_kind(), self.rng.randint(1, 3))
        self.declare(e.kind, e, e.lo, e.hi, False)

    def var(self):
        e = self.fit(self.value(self.any_kind(), 2), -3, 3)
        self.declare(e.kind, e, -3, 3, True)

    def several(self):
        if self.chance(0.3):
            self.count("custom derivative of several results")
            a, k, b = self.fit(self.value("real", 1), -2, 2), self.integer(0, 2, 0), self.fit(self.value("vec2", 1), -1, 1)
            p, q = self.name_new("l"), self.name_new("l")
            self.emit(f"let {p}, {q} = blend({a}, {k}, {b});")
            self.scope.append({"name": p, "kind": "real", "lo": -1, "hi": 1, "mutable": False})
            self.scope.append({"name": q, "kind": "vec2", "lo": -4, "hi": 4, "mutable": False})
            return None
        if not self.pairs:
            return self.let()
        f = self.rng.choice(self.pairs)
        args = ", ".join(self.integer(0, 4, 0) if k == "int" else str(self.fit(self.value(k, 1), -3, 3)) for k in f["args"])
        a, b = self.name_new("l"), self.name_new("l")
        self.count("call of several results")
        self.emit(f"let {a}, {b} = {f['name']}({args});")
        self.scope.append({"name": a, "kind": f["result"], "lo": -3, "hi": 3, "mutable": False})
        self.scope.append({"name": b, "kind": "real", "lo": -3, "hi": 3, "mutable": False})

    def struct(self):
        """A struct, whose members are variables like others; now and then they are exchanged."""
        found = [v for v in self.scope if v.get("struct") and v["mutable"]]
        if found and self.chance(0.8):
            n = self.rng.choice(found)["struct"]
            self.count("struct assigned")
            whole = f"Pair({self.fit(self.value('real', 1), -3, 3)}, {self.fit(self.value('vec2', 1), -3, 3)})"
            other = self.pick((2, f"turned({n})"), (1, whole), (1, f"turned({whole})"), (1, f"turned(turned({n}))"))
            self.emit(f"{n} = {other};" if self.chance(0.5) else f"{n} = {self.condition(1)} ? {other} : {n};")
            return
        self.count("struct")
        a, b = self.fit(self.value("real", 1), -3, 3), self.fit(self.value("vec2", 1), -3, 3)
        n = self.name_new("v")
        self.emit(f"var {n} = Pair({a}, {b});")
        for kind, name in (("real", "a"), ("vec2", "b")):
            self.scope.append({"name": f"{n}.{name}", "kind": kind, "lo": -3, "hi": 3, "mutable": True, "struct": n})

    def limit(self, enough):
        """The promise that a loop ends after this many trips; code compiled with --debug looks that it is kept."""
        if self.chance(0.65):
            return ""
        self.count("while limit")
        return f" limit {self.rng.choice([enough, enough, enough + 3, f'J + {enough}'])}"

    def ints(self):
        text, top = self.natural(2)
        self.declare("int", text, 0, top, False)
        self.count("int local")

    def bools(self):
        self.declare("bool", self.condition(2), 0, 1, False)
        self.count("bool local")

    def assign(self):
        found = [v for v in self.scope if v.get("mutable") and v["kind"] in ("real", "vec2", "vec3", "mat2", "mat3")]
        if not found:
            return self.var() if self.budget > 0 or not self.inside else self.let()
        v = self.rng.choice(found)
        n, kind, lim = v["name"], v["kind"], v["hi"]
        form = self.pick((4, "="), (2, "*="), (1, "/="), (2, "+="), (1, "-="), (2, "component"), (0.7, "swizzle"), (2, "carry"))
        if v.get("sum"):
            form = self.pick((3, "+="), (2, "-="))
            e = self.fit(self.value(kind, 2), -3, 3)
            self.emit(f"{n} {form} {e};")
            self.count("local " + form)
            return
        if form in ("component", "swizzle") and kind == "real" or form == "swizzle" and kind[0] == "m":
            form = "="
        self.count("local " + form)
        if form == "=":
            if self.chance(0.9):
                e = self.fit(self.value(kind, self.rng.randint(1, 3)), -lim * 0.7, lim * 0.7)
                self.emit(f"{n} = {e} {self.rng.choice('+-')} 0.3 * {n};")
            else:
                e = self.fit(self.value(kind, self.rng.randint(1, 3)), -lim, lim)
                self.emit(f"{n} = {e};")
        elif form == "*=":
            e = self.fit(self.value(self.rng.choice([kind, "real"]), 1), -1, 1)
            self.emit(f"{n} *= {e};")
        elif form == "/=":
            e = self.positive(self.rng.choice([kind, "real"]), 1, 1.05, 3)
            self.emit(f"{n} /= {e};")
        elif form in ("+=", "-="):
            # stays within its interval: what is added is what is missing to a value inside
            e = self.fit(self.value(kind, 2), -lim / 2, lim / 2)
            self.emit(f"{n} *= 0.5;")
            self.emit(f"{n} {form} {e};")
        elif form == "carry":
            e = self.fit(self.value(kind, 2), -lim * 0.6, lim * 0.6)
            self.emit(f"{n} = 0.4 * {self.rng.choice([n, f'{lim:.1f} * sin({n})'])} + {e};")
        elif form == "component":
            k = int(kind[-1])
            e = self.fit(self.value("real", 2), -lim, lim)
            if kind[0] == "v":
                sub = self.pick((1, "." + "xyz"[self.rng.randrange(k)]), (1, f"[{self.integer(0, k - 1, 0)}]"))
            else:
                sub = f"[{self.integer(0, k - 1, 0)}, {self.integer(0, k - 1, 0)}]"
            if self.chance(0.3):
                self.emit(f"{n}{sub} *= {self.fit(e, -1, 1)};")
            else:
                self.emit(f"{n}{sub} = {e};")
        else:
            k = int(kind[-1])
            letters = "".join(self.rng.sample("xyz"[:k], 2))
            e = self.fit(self.value("vec2", 2), -lim, lim)
            self.emit(f"{n}.{letters} = {e};")

    def enter(self, trips):
        self.nest += 1
        self.nest_seen = max(self.nest_seen, self.nest)
        self.mult *= max(trips, 1)

    def leave(self, trips):
        self.nest -= 1
        self.mult //= max(trips, 1)

    def if_(self):
        rare = self.chance(0.7)
        self.rare += rare
        self.if_parts()
        self.rare -= rare

    def if_parts(self):
        self.count("if")
        self.cover[f"if at loop depth {self.nest}"] += 1
        self.braces(f"if ({self.condition(2)})", self.rng.randint(1, 3))
        while self.chance(0.2):
            self.lines[-1] += " else"
            head = self.lines.pop()
            self.braces(f"@else if ({self.condition(1)})", self.rng.randint(1, 2))
            self.join(head)
        if self.chance(0.5):
            head = self.lines.pop()
            self.braces("@else", self.rng.randint(1, 3))
            self.join(head + " else")

    def join(self, head):
        """`}` and `else` on one line."""
        i = max(k for k, s in enumerate(self.lines) if s.lstrip().startswith("@else"))
        self.lines[i] = head + self.lines[i].lstrip()[5:]

    def loop_var(self, name, lo, hi):
        self.scope.append({"name": name, "kind": "int", "lo": lo, "hi": hi, "mutable": False})

    def for_(self):
        mark = len(self.scope)
        i = self.name_new("i")
        form = self.pick((3, "range"), (2, "range run-time"), (2, "triangular"), (1, "ndrange"), (0.7, "field"), (1, "range of two"))
        outer = self.int_variables(0, 8)
        lo, hi, trips, names = 0, 3, 4, i
        if form == "triangular" and not outer:
            form = "range"
        if form == "range":
            key = self.rng.choice([None, "M", "L", "N"])
            n = self.extent(key) if key else self.rng.randint(1, 4)
            head, hi, trips = f"range({key or n})", n - 1, n
        elif form == "range run-time":
            head = f"range({self.integer(0, 4, 1)})"
            hi, trips = 3, 4
        elif form == "triangular":
            v = self.rng.choice(outer)
            head = self.pick((2, f"range({v['name']})"), (1, f"range({v['name']}, {v['hi'] + 1})"))
            hi, trips = v["hi"], v["hi"] + 1
        elif form == "range of two":
            a, n = self.rng.randint(0, 2), self.rng.randint(1, 3)
            head, lo, hi, trips = f"range({a}, {a + n})", a, a + n - 1, n
        elif form == "ndrange":
            j = self.name_new("i")
            names = f"{i}, {j}"
            head, hi, trips = self.pick((1, "ndrange(2, 2)"), (1, "ndrange((0, 2), (1, 3))")), 1, 4
            self.loop_var(j, 0, 2)
        else:
            f = self.rng.choice([x for x in self.module.fields if len(x.dims) == 1])
            head, hi, trips = f.name, self.extent(f.dims[0]) - 1, self.extent(f.dims[0])
        self.count("for " + form)
        self.loop_var(i, lo, hi)
        if self.chance(0.35):
            self.acc_before = self.new_sum()
        self.nested_function |= self.inside
        self.enter(trips)
        self.jumps += 1
        rare = form in ("triangular", "range run-time")
        self.rare += rare
        self.braces(f"{self.serial}for {names} in {head}", self.rng.randint(1, 3), tail=self.assign if self.chance(0.7) else None)
        self.rare -= rare
        self.jumps -= 1
        self.leave(trips)
        keep = [v for v in self.scope[mark:] if v["name"] not in names.split(", ")]
        self.scope[mark:] = keep

    def new_sum(self):
        """A variable that loops only add to: its interval is as wide as it may get."""
        top = 3.0 * 400
        v = self.declare("real", num(self.rng.choice([0, 0.5])), -top, top, True, True)
        v["sum"] = True
        return v

    @property
    def serial(self):
        return "serial " if self.kernel_level else ""

    def jump(self):
        word = self.rng.choice(["break", "continue"])
        self.count(word)
        self.emit(f"if ({self.condition(1)}) {{ {word}; }}")
        self.rare += 1    # to the end of the loop

    def while_(self):
        n = self.name_new("n")
        form = self.pick((2, "counter"), (2, "data"), (1, "collatz"))
        self.count("while " + form)
        start = self.integer(0, 4, 1)
        self.rare += 1
        mark = len(self.scope)
        self.nested_function |= self.inside
        if form == "counter":
            self.emit(f"var {n} = {start};")
            self.loop_var(n, 0, 4)
            self.enter(4)
            self.jumps += 1
            word = f"while ({n} > 0){self.limit(4)}"
            self.braces(word, self.rng.randint(1, 3), first=lambda: self.emit(f"{n} -= 1;"))
        elif form == "collatz":
            self.emit(f"var {n} = {start} + 2;")
            self.loop_var(n, 0, 20)
            self.enter(9)
            self.braces(f"while ({n} != 1){self.limit(8)}", self.rng.randint(1, 2), tail=lambda: self.emit(f"if ({n} % 2 == 0) {{ {n} = {n} / 2; }} else {{ {n} = 3 * {n} + 1; }}"))
            self.jumps += 1
        else:
            e = self.fit(self.value("real", 2), -3, 3)
            v = self.declare("real", e, -3, 3, True, True)
            self.emit(f"var {n} = 0;")
            self.loop_var(n, 0, 5)
            self.enter(5)
            self.jumps += 1

            def step():
                self.emit(f"{v['name']} = {self.fit(self.value('real', 2), -1, 1)} + 0.6 * {v['name']};")
            self.braces(f"while ({v['name']} {self.rng.choice('<>')} {num(self.rng.uniform(-0.8, 0.8))} && {n} < 5){self.limit(5)}", self.rng.randint(0, 2),
                        first=lambda: self.emit(f"{n} += 1;"), tail=step)
        self.rare -= 1
        self.jumps -= 1
        self.leave({"counter": 4, "collatz": 9, "data": 5}[form])
        del self.scope[mark:]

    def static_for(self):
        i = self.name_new("i")
        n = self.rng.randint(2, 3)
        self.count("static for")
        self.loop_var(i, 0, n - 1)
        jumps, self.jumps = self.jumps, 0
        self.mult *= n
        self.braces(f"static for {i} in range({n})", 1, tail=self.assign)
        self.mult //= n
        self.jumps = jumps
        self.scope[:] = [v for v in self.scope if v["name"] != i]

    def array(self):
        """A local array, filled, changed and read with subscripts known at run time. Not every element is read."""
        self.rare += 1
        self.array_parts()
        self.rare -= 1

    def array_parts(self):
        self.count("local array")
        n, kind, size = self.name_new("r"), self.rng.choice(["real", "real", "vec2"]), self.rng.randint(2, 4)
        i = self.name_new("i")
        self.emit(f"var {n}: {kind}[{size}];")
        self.emit(f"{self.serial}for {i} in range({size}) {{")
        mark = len(self.scope)
        self.loop_var(i, 0, size - 1)
        self.pad += 1
        self.enter(size)
        e = self.fit(self.value(kind, 2), -2, 2)
        self.emit(f"{n}[{i}] = {e};")
        if self.chance(0.6):
            e = self.fit(self.value(kind, 1), -1, 1)
            self.emit(f"if ({i} > 0) {{ {n}[{i}] = 0.5 * {n}[{i} - 1] + {e}; }}")
        self.leave(size)
        self.pad -= 1
        self.emit("}")
        del self.scope[mark:]
        for _ in range(self.rng.randint(0, 2)):
            e = self.fit(self.value(kind, 1), -1, 1)
            self.emit(f"{n}[{self.integer(0, size - 1, 0)}] {self.rng.choice(['*=', '=', '*='])} {e};")
        again = None
        if self.chance(0.5):
            i = self.name_new("i")
            m = self.integer(0, 4, 1)
            self.count("local array in a loop")
            if self.chance(0.4):    # an element read before the loop, changed in it, and read again
                again = self.integer(0, size - 1, 0)
                self.declare(kind, f"{n}[{again}]", -3, 3, False)
                e = self.fit(self.value(kind, 1), -0.7, 0.7)
                self.emit(f"{self.serial}for {i} in range({m}) {{ {n}[{again}] = {n}[{again}] * {e} + 0.2; }}")
                i = self.name_new("i")
            self.emit(f"{self.serial}for {i} in range({m}) {{ {n}[{i} % {size}] = {n}[{self.integer(0, size - 1, 0)}] * {self.fit(self.value(kind, 1), -1, 1)}; }}")
        text = f"{n}[{again or self.integer(0, size - 1, 0)}]"
        if self.chance(0.5):
            text += f" * {n}[{self.integer(0, size - 1, 0)}]"
        self.declare(kind, text, -4, 4, False)

    # ---- writes to fields ----

    def grow(self, f, e, way):
        self.written.add(f.name)
        r = self.range[f.name]
        if way == "=":
            r[0], r[1] = min(r[0], e.lo), max(r[1], e.hi)
        else:
            # a loop around the task runs the statement again
            lo, hi = (e.lo, e.hi) if way == "+=" else (-e.hi, -e.lo)
            r[0] += self.mult * min(0, lo)
            r[1] += self.mult * max(0, hi)

    def write(self, last=False):
        """A write to a field of the running task."""
        f, subs, way = self.rng.choice(self.writable) if not last else self.writable[0]
        if self.closed(f):
            if last:
                return
            return self.assign()
        if way == "table":
            if not self.tables_frozen and not self.looping:
                text = self.integer(0, 4, 1)
                if not self.tables_frozen:
                    self.emit(f"made[{subs}] = {text};")
                    self.count("table written")
            return None
        e = self.fit(self.value(f.kind, self.rng.randint(1, 4)), -6, 6)
        if last and self.left:
            c, g = self.rng.choice([("0.7", "sin"), ("1.1", "tanh"), ("0.5", "cos")])
            e = Expr(f"{e} + {c} * {g}({self.total(self.left)})", e.kind, e.lo - 1.1, e.hi + 1.1)
            self.left = []
        if self.closed(f):    # the value reads the element that this iteration stored
            self.declare(f.kind, e, e.lo, e.hi, False)
            return None
        at = self.at(f, subs() if callable(subs) else subs)
        if way in ("own", "shift store") and not self.looping and self.chance(0.55):
            again = f.name in self.written
            form = self.pick((0.3 if again else 3, "="), (1, "linear"), (0.7 if not last else 0, "*=")) if way == "own" else "="
            self.count("field " + form)
            if form == "linear" or form == "*=":
                if self.own.get(f.name) or True:
                    self.written.add(f.name)
                    if form == "*=":
                        self.emit(f"{at} *= {self.rng.choice(['0.5', '-0.9', 'C', '1.1'])};" if self.chance(0.7) else f"{at} /= 2.0;")
                    else:
                        self.emit(f"{at} = {self.rng.choice(['0.9', '-0.5', 'C'])} * {at} + {e};")
                        self.grow(f, e, "+=")
                    r = self.range[f.name]
                    m = max(abs(r[0]), abs(r[1])) * (1.1 ** min(self.mult, 8) if form == "*=" else 1)
                    r[0], r[1] = -m, m
            else:
                self.emit(f"{at} = {e};")
                self.grow(f, e, "=")
            if way == "own" and not self.conditional:
                self.own[f.name] = subs
        elif way == "shift store":
            self.emit(f"let {self.name_new('l')} = {e};")
        else:
            op = self.rng.choice(["+=", "+=", "-="])
            if f.name in self.own:
                del self.own[f.name]
            if f.kind in ("vec2", "vec3") and self.chance(0.2) :
                self.emit(f"{at}.x {op} {self.fit(self.value('real', 2), -6, 6)};") if self.pure_value_of(f) else self.emit(f"{at} {op} {e};")
                self.count("component accumulated")
                self.grow(f, Expr("", f.kind, -6, 6), op)
                return None
            self.emit(f"{at} {op} {e};")
            self.grow(f, e, op)
            self.count(f"accumulate {way}")
        return None

    def pure_value_of(self, f):
        return not self.closed(f)

    conditional = False
    left = ()

    def closed(self, f):
        """An adjoint may need what f holds."""
        return f.name in self.frozen and f.name not in self.saves

    def writes_possible(self, ok):
        return [f for f in self.module.fields if not self.closed(f) and f.name not in self.inputs and ok(f) and (self.locked is None or f.name in self.locked)]

    def task(self):
        """A parallel loop: its space, what it writes and how, a body."""
        mark = len(self.scope)
        form = self.pick((3, "field 1"), (3, "range"), (2, "range bounds"), (2, "field 2"), (2.5, "ndrange"), (1.5, "ndrange bounds"), (1, "grouped"), (0.6, "three"),
                         (0.6, "triangular index"))
        i, j, k = self.name_new("i"), self.name_new("i"), self.name_new("i")
        spaces = {"N": "N", "M": "M"}
        shift = {}
        if form == "field 1":
            f = self.rng.choice([x for x in self.module.fields if len(x.dims) == 1])
            head, names, dims = f.name, [i], [f.dims[0]]
            bounds = [(0, self.extent(dims[0]) - 1)]
        elif form in ("range", "triangular index"):
            dims = [self.rng.choice("NNM")]
            head, names, bounds = f"range({dims[0]})", [i], [(0, self.extent(dims[0]) - 1)]
        elif form == "range bounds":
            dims = [self.rng.choice("NNM")]
            n = self.extent(dims[0])
            head, names, bounds = f"range(1, {dims[0]} - 1)", [i], [(1, n - 2)]
            shift = {0: self.rng.choice([-1, 1])}
        elif form in ("field 2", "grouped"):
            f = self.rng.choice([x for x in self.module.fields if len(x.dims) == 2])
            dims = list(f.dims)
            head, names, bounds = f.name, [i, j], [(0, self.extent(x) - 1) for x in dims]
        elif form == "ndrange":
            dims = self.rng.choice([["N", "M"], ["M", "N"], ["N", "N"], ["M", "L"], ["L", "M"]])
            head, names, bounds = f"ndrange({', '.join(dims)})", [i, j], [(0, self.extent(x) - 1) for x in dims]
        elif form == "ndrange bounds":
            dims = self.rng.choice([["N", "M"], ["M", "N"], ["N", "N"]])
            b0 = self.rng.choice([0, 1])
            head = f"ndrange(({b0}, {dims[0]} - 1), (1, {dims[1]} - 1))"
            names, bounds = [i, j], [(b0, self.extent(dims[0]) - 2), (1, self.extent(dims[1]) - 2)]
            shift = {self.rng.choice([0, 1] if b0 else [1]): self.rng.choice([-1, 1])}
        else:
            dims = ["L", "M", "L"]
            head, names, bounds = "ndrange(L, M, L)" if self.chance(0.5) else "e", [i, j, k], [(0, self.extent(x) - 1) for x in dims]
        if any(b < a for a, b in bounds):
            return self.task()
        self.count("task " + form)
        trips = 1
        for a, b in bounds:
            trips *= b - a + 1
        self.emit(f"for {i if form == 'grouped' else ', '.join(names)} in {'grouped(' + head + ')' if form == 'grouped' else head} {{")
        self.pad += 1
        state = self.kernel_level, self.hidden, self.writable, self.own, self.budget, self.conditional
        self.kernel_level = False
        self.own = {}
        outer = [v for v in self.scope if v.get("mutable")]
        for v in outer:    # tasks write only what they reduce
            v["mutable"] = False
        if form == "grouped":
            self.emit(f"let {j} = {i}.x;")
            self.emit(f"let {k} = {i}.y;")
            names = [j, k]
        chosen, hidden = [], set(self.hidden)
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            w = self.target(names, dims, bounds, shift, form)
            if w and w[0].name not in [c[0].name for c in chosen]:
                chosen.append(w)
                hidden.add(w[0].name)
                if w[2] == "own" and w[0].name in self.saves and self.chance(0.6):
                    self.own[w[0].name] = w[1]
        if not chosen:
            chosen = [(self.module.loss, "", "reduce")]
        self.hidden = hidden
        for n, (a, b) in zip(names, bounds):
            self.loop_var(n, a, b)
        self.mult *= trips if any(c[2] not in ("own", "shift store", "shift") for c in chosen) else 1
        self.writable = chosen
        local = len(self.scope)
        if self.chance(0.85):
            self.sink()
        for _ in range(self.rng.randint(0, 5)):
            if self.budget > 0:
                self.budget -= 1
                self.statement()
        for c in chosen:
            self.left = [v for v in self.scope[local:] if v["kind"] in ("real", "vec2", "vec3", "mat2", "mat3") and (v["mutable"] or not v.get("used"))]
            self.writable = [c] + [x for x in chosen if x is not c]
            self.write(last=True)
        reduced = self.reduced
        if reduced:
            v = self.rng.choice(reduced)
            e = self.fit(self.value(v["kind"], 2), -4, 4)
            if v["way"] == "sum":
                self.emit(f"{v['name']} {self.rng.choice(['+=', '-='])} {e};")
            else:
                self.emit(f"{v['name']} = {v['way']}({v['name']}, {e});" if self.chance(0.5) else f"{v['name']} = {v['way']}({e}, {v['name']});")
            self.count("reduction " + v["way"])
        if not chosen and not reduced:
            self.emit(f"let {self.name_new('l')} = 1.0;")
        self.mult //= trips if any(c[2] not in ("own", "shift store", "shift") for c in chosen) else 1
        self.kernel_level, self.hidden, self.writable, self.own, self.budget, self.conditional = state
        for v in outer:
            v["mutable"] = True
        self.pad -= 1
        self.emit("}")
        del self.scope[mark:]
        return None

    reduced = ()

    def target(self, names, dims, bounds, shift, form):
        """A field that the task writes, its subscripts and the way."""
        way = self.pick((5, "own"), (1, "reduce"), (1.5 if len(dims) > 1 else 0, "row"), (2 if shift else 0, "shift"), (1, "shift store" if shift else "own"), (2, "scatter"),
                        (0.4 if len(dims) == 1 and dims == ["N"] and not self.tables_frozen and self.locked is None and bounds[0][0] == 0 else 0, "table"))
        if way == "table":
            return (self.module.tables[3], names[0], "table")
        if way in ("own", "shift", "shift store"):
            found = self.writes_possible(lambda f: sorted(f.dims) == sorted(dims) and (f.dims == dims or len(set(dims)) == len(dims)))
            if not found:
                return None
            f = self.rng.choice(found)
            where = {d: n for d, n in zip(dims, names)} if len(set(dims)) == len(dims) else None
            subs = [where[d] for d in f.dims] if where else list(names)
            if not where and f.dims == ["N", "N"] and self.chance(0.3):
                subs.reverse()
            if way != "own":
                at, by = next(iter(shift.items()))
                if where is None and subs != list(names):
                    subs = list(names)
                pos = f.dims.index(dims[at]) if where else at
                subs[pos] = f"{subs[pos]} {'+' if by > 0 else '-'} 1"
            return (f, ", ".join(subs), way)
        if way == "reduce":
            found = self.writes_possible(lambda f: not f.dims or len(f.dims) == 1)
            if not found:
                return None
            f = self.rng.choice(found)
            return (f, ", ".join(str(self.rng.randrange(self.extent(d))) for d in f.dims), "reduce")
        if way == "row":
            found = self.writes_possible(lambda f: len(f.dims) == 1 and f.dims[0] in dims)
            if not found:
                return None
            f = self.rng.choice(found)
            return (f, self.rng.choice([n for n, d in zip(names, dims) if d == f.dims[0]]), "row")
        found = self.writes_possible(lambda f: len(f.dims) > 0)
        if not found:
            return None
        f = self.rng.choice(found)
        return (f, lambda: self.subscripts(f), "scatter")

    # ---- kernel level ----

    def reduction(self):
        way = self.pick((3, "sum"), (1, "min"), (1, "max"))
        kind = self.pick((4, "real"), (1, "vec2"))
        top = 4 * 60 if way == "sum" else 50
        start = "0.0" if way == "sum" else "50.0" if way == "min" else "-50.0"
        v = self.declare(kind, start if kind == "real" else f"vec2({start}, {start})", -top * 8, top * 8, True, True)
        v["way"] = way
        self.scope.remove(v)
        self.reduced = [v]
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            self.task()
        self.reduced = ()
        n = self.name_new("l")
        scale = num(1.5 / top)
        if way == "sum":
            self.emit(f"let {n} = {v['name']} * {num(0.1)};")
            self.scope.append({"name": n, "kind": kind, "lo": -60, "hi": 60, "mutable": False})
        else:
            self.emit(f"let {n} = {v['name']};")
            self.scope.append({"name": n, "kind": kind, "lo": -50, "hi": 50, "mutable": False})
        return scale

    def kernel_item(self):
        in_loop = self.locked is not None
        make = self.pick((5, self.task), (2 if not in_loop else 0.6, self.reduction), (1, self.let), (1, self.assign), (1, self.kernel_write), (0.8 if not in_loop else 0.3, self.kernel_if),
                         (1.2 if not in_loop else 0, self.kernel_loop), (0.5, self.serial_for), (0.4 if not in_loop else 0, self.time_steps), (0.3, self.var), (0.4, self.called_kernel))
        make()

    def called_kernel(self):
        """Some of the kernel's work in a kernel of its own, called here. It sees none of the locals."""
        name = self.name_new(f"{self.name}_s")
        self.count("kernel called by a kernel")
        params, args = [], []
        for _ in range(self.rng.choice([0, 1, 2])):
            kind = self.rng.choice(["real", "real", "vec2", "vec3", "int"])
            params.append((self.name_new("p"), kind, kind != "int" and self.chance(0.4)))
            args.append(self.integer(0, 4, 1) if kind == "int" else str(self.fit(self.value(kind, 2), -2, 2)))
        saved = self.lines, self.pad, self.scope, self.nest
        self.lines, self.pad, self.nest = [], 1, 0
        self.scope = [{"name": n, "kind": k, "lo": 0 if k == "int" else -2, "hi": 4 if k == "int" else 2, "mutable": False} for n, k, _ in params]
        self.items(self.rng.randint(1, 2))
        used = [v for v in self.scope if v["kind"] != "int" and not v.get("used")]
        if used:
            self.emit(f"loss += 0.5 * sin({self.total(used)});")
        self.called += [("head", name, params), *self.lines, "}"]
        self.kernels.append((name, params))
        self.lines, self.pad, self.scope, self.nest = saved
        self.emit(f"{name}({', '.join(args)});")

    def kernel_write(self):
        """A write at kernel level, outside of any loop over data."""
        found = self.writes_possible(lambda f: True)
        if not found:
            return self.let()
        f = self.rng.choice(found)
        self.hidden = self.hidden | {f.name}
        e = self.fit(self.value(f.kind, 3), -6, 6)
        subs = ", ".join(str(self.rng.randrange(self.extent(d))) for d in f.dims)
        self.hidden = self.hidden - {f.name}
        if self.chance(0.35):
            self.count("kernel-level write, linear")
            self.emit(f"loss += 0.25 * {self.at(f, subs)};" if f.kind == "real" and self.chance(0.5) else f"{self.at(f, subs)} *= 0.8;")
            i = self.name_new("i")
            self.emit(f"serial for {i} in range({self.rng.randint(2, 3)}) {{ {self.at(f, subs)} = 0.9 * {self.at(f, subs)} + {e} * 0.3; }}")
            self.grow(f, e, "+=")
            return None
        op = self.rng.choice(["=" if f.name not in self.written else "+=", "+=", "-="])
        self.count("kernel-level write")
        self.emit(f"{self.at(f, subs)} {op} {e};")
        self.grow(f, e, op)
        return None

    def items(self, n):
        mark = len(self.scope)
        for _ in range(n):
            self.kernel_item()
        found = [v for v in self.scope[mark:] if v["kind"] in ("real", "vec2", "vec3", "mat2", "mat3") and (v["mutable"] or not v.get("used"))]
        if found:
            self.emit(f"loss += sin({self.total(found)});")
        del self.scope[mark:]

    def kernel_if(self):
        self.rare += 1
        self.kernel_if_parts()
        self.rare -= 1

    def kernel_if_parts(self):
        self.count("kernel-level if")
        self.emit(f"if ({self.condition(1)}) {{")
        self.pad += 1
        self.items(self.rng.randint(1, 2))
        self.pad -= 1
        if self.chance(0.5):
            self.emit("} else {")
            self.pad += 1
            self.items(1)
            self.pad -= 1
        self.emit("}")

    def lock(self):
        """Chooses what a loop around tasks may write; that is not read in it."""
        found = [f.name for f in self.module.fields if not self.closed(f) and f.name not in self.inputs]
        self.rng.shuffle(found)
        self.locked = set(found[:max(1, len(found) // 2)])
        for f in self.locked & self.saves:    # read in the loop, at a time when it may have grown
            self.range[f] = [-400, 400]

    def kernel_loop(self):
        form = self.pick((2, "serial for"), (1, "while"))
        self.count("kernel-level " + form)
        if self.chance(0.6):
            self.var()
        self.lock()
        trips = self.rng.randint(2, 3)
        i = self.name_new("i")
        mark = len(self.scope)
        if form == "while":
            self.emit(f"var {i} = 0;")
            self.emit(f"while ({i} < {trips}) {{")
        else:
            self.emit(f"serial for {i} in range({trips}) {{")
        self.loop_var(i, 0, trips - 1)
        frozen = self.tables_frozen
        self.tables_frozen = True
        self.pad += 1
        self.enter(trips)
        saved = self.nest
        self.nest = 0
        self.items(self.rng.randint(1, 3))
        self.nest = saved
        self.assign()
        if form == "while":
            self.emit(f"{i} += 1;")
        self.leave(trips)
        self.pad -= 1
        self.emit("}")
        self.locked = None
        self.tables_frozen = frozen or self.chance(1)
        del self.scope[mark:]

    def serial_for(self):
        """Sequential code at kernel level; own element a step, and a recurrence through memory."""
        found = self.writes_possible(lambda f: len(f.dims) == 1)
        if not found:
            return self.let()
        f = self.rng.choice(found)
        i = self.name_new("i")
        self.count("serial for")
        self.hidden = self.hidden | {f.name}
        mark = len(self.scope)
        self.emit(f"serial for {i} in range(1, {f.dims[0]}) {{")
        self.loop_var(i, 1, self.extent(f.dims[0]) - 1)
        self.pad += 1
        self.enter(self.extent(f.dims[0]))
        self.block(self.rng.randint(0, 2))
        e = self.fit(self.value(f.kind, 2), -4, 4)
        if self.chance(0.5):
            self.count("recurrence through memory")
            self.emit(f"{f.name}[{i}] = sin({f.name}[{i} - 1]) * {e};" if self.locked is None else f"{f.name}[{i}] += {e};")
            self.grow(f, e, "=" if self.locked is None else "+=")
            if self.locked is None:
                self.frozen.add(f.name)
        else:
            self.emit(f"{f.name}[{self.integer(0, self.extent(f.dims[0]) - 1, 0)}] += {e};")
            self.grow(f, e, "+=")
        self.leave(self.extent(f.dims[0]))
        self.pad -= 1
        self.emit("}")
        self.hidden = self.hidden - {f.name}
        del self.scope[mark:]
        return None

    def time_steps(self):
        """A field whose first axis is time: each step reads the one before."""
        found = self.writes_possible(lambda f: len(f.dims) == 2 and f.kind == "real")
        if not found:
            return self.let()
        f = self.rng.choice(found)
        self.count("time steps")
        t, i = self.name_new("i"), self.name_new("i")
        T, X = f.dims
        n = self.extent(X)
        self.locked = {f.name}
        self.hidden = self.hidden | {f.name}
        mark = len(self.scope)
        self.emit(f"serial for {t} in range({T} - 1) {{")
        self.emit(f"    for {i} in range(1, {X} - 1) {{" if self.chance(0.5) else f"    for {i} in range({X}) {{")
        whole = "range(1" not in self.lines[-1]
        self.pad += 2
        self.loop_var(t, 0, self.extent(T) - 2)
        self.loop_var(i, 0 if whole else 1, n - 1 if whole else n - 2)
        state = self.kernel_level
        self.kernel_level = False
        e = self.fit(self.value("real", 2), -1, 1)
        near = f"{f.name}[{t}, ({i} + 1) % {X}]" if whole else self.rng.choice([f"{f.name}[{t}, {i} + 1]", f"{f.name}[{t}, {i} - 1]"])
        self.emit(f"{f.name}[{t} + 1, {i}] = sin({f.name}[{t}, {i}]) * {e} + 0.3 * cos({near});")
        self.kernel_level = state
        self.pad -= 2
        self.emit("    }")
        self.emit("}")
        self.written.add(f.name)
        self.range[f.name] = [min(-3, self.range[f.name][0]), max(3, self.range[f.name][1])]
        self.frozen.add(f.name)
        self.locked = None
        self.hidden = self.hidden - {f.name}
        del self.scope[mark:]
        return None

    def uses(self):
        """Reads smoothly and for sure what so far was read only where that may not matter, and some of what was read once."""
        found = [f for f in self.module.fields if f.name in self.sure and self.sure[f.name] < self.rng.choice([1, 2]) and f.name not in self.written]
        self.rng.shuffle(found)
        while found:
            n = self.rng.randint(1, 3)
            some, found = found[:n], found[n:]
            over = self.rng.choice(some)
            mark = len(self.scope)
            names = [self.name_new("i") for _ in over.dims]
            for i, d in zip(names, over.dims):
                self.loop_var(i, 0, self.extent(d) - 1)
            self.count("inputs used in a task of their own" if names else "inputs used at kernel level")
            lo, hi = zip(*(self.range[f.name] for f in some))
            parts = [{"name": self.at(f, ", ".join(names) if f is over else self.subscripts(f)), "kind": f.kind, "lo": a, "hi": b} for f, a, b in zip(some, lo, hi)]
            outer, way = self.rng.choice(["sin", "tanh", "atan"]), self.rng.choice(["+=", "-="])
            text = f"loss {way} {num(self.rng.choice([0.3, 0.7, 1.2]))} * {outer}(0.4 * ({self.total(parts)}));"
            self.emit(f"for {', '.join(names)} in {over.name} {{ {text} }}" if names else text)
            del self.scope[mark:]

    def make(self):
        self.pairs = []
        for _ in range(self.rng.choice([0, 0, 1, 2, 3])):
            self.make_function()
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
        found = [v for v in self.scope[mark:] if v["kind"] in ("real", "vec2", "vec3", "mat2", "mat3") and (v["mutable"] or not v.get("used"))]
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


def module_text(module, programs):
    """The text and the first line (from 1) of each program."""
    lines, starts = module.head(), []
    for p in programs:
        lines.append("")
        starts.append(len(lines) + 1)
        lines += p.text
    return "\n".join(lines) + "\n", starts


if __name__ == "__main__":
    m, ps = make_module(sys.argv[1] if len(sys.argv) > 1 else "1", int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(module_text(m, ps)[0], end="")
