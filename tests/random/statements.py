"""Sequential statements: locals, assignments, branches, loops, local arrays."""
from expressions import Expr, num
from kinds import FLOATS, OBLONG, SQUARE, TYPES, VECTORS, length, shape


class Statements:
    """Part of a Program."""

    def declare(self, kind, text, lo, hi, mutable, typed=None):
        n = self.name_new("v" if mutable else "l")
        if kind in OBLONG:
            self.count("local of a matrix that is not square")
        t = f": {self.type_of(kind)}" if (self.chance(0.3) if typed is None else typed) else ""
        self.emit(f"{'var' if mutable else 'let'} {n}{t} = {text};")
        v = {"name": n, "kind": kind, "lo": lo, "hi": hi, "mutable": mutable}
        self.scope.append(v)
        return v

    def type_of(self, kind):
        """A type, by one of its names."""
        text = TYPES.get(kind, kind)
        if kind not in FLOATS or self.chance(0.8):
            return text
        self.count("type by its other name")
        if kind in SQUARE:
            return f"mat({kind[3]}, {kind[3]}, f64)"
        return f"vec({length(kind)}, f64)" if kind in VECTORS else text.replace("real", "f64")

    def any_kind(self):
        return self.pick((6, "real"), (2, "vec2"), (2, "vec3"), (1, "mat2"), (0.5, "mat3"), (0.8, "vec4"), (0.2, "mat4"), (0.2, "vec5"), (0.15, "big"),
                         (0.5, "mat2x3"), (0.5, "mat3x2"), (0.5, self.rng.choice(OBLONG)), (0.3, "vec7"), (0.2, "vec1"))

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
        found = [v for v in self.scope[mark:] if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
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
            text = n if k == "real" else self.rng.choice([f"sum({n})", f"norm({n}, 0.1)"] + ([f"trace({n})"] if k in SQUARE else []))
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
        make = self.pick((3, self.let), (2, self.var), (4, self.assign), (2, self.if_), (0 if deep else 2.5, self.for_), (0 if deep or self.pure else 1, self.while_),
                         (0 if deep else 0.8, self.array), (0.4, self.static_for), (0.4, self.ints), (0.3, self.bools), (1.2 if self.writable else 0, self.write),
                         (0.6, self.several), (1.5 if any(f["gradient"] for f in self.functions) else 0, self.gradient), (0.3, self.decomposition), (0.8 if self.variables("int", lambda v: v.get("mutable")) else 0.2, self.carried_int),
                         (0.1 if not self.inside and not self.pure else 0, self.effect), (1 if self.cells and not self.looping and self.locked is None else 0, self.atomic),
                         (1.5 if self.counters and not self.inside else 0, self.counter), (0 if self.pure else 0.1, self.assertion), (0 if self.pure else 0.06, self.print_),
                         (0.25, self.mask), (0.25, self.static_if), (0.6, self.varied_array), (0.3, self.flag), (0.3, self.single_local), (0 if deep or self.pure else 0.25, self.while_flag),
                         (1.5, self.parts_of_local), (0.2 if not self.pure else 0, self.variables_of_results), (0.6, self.part_of_array), (0 if deep else 0.7, self.varied_for),
                         (0.2, self.static_chain), (0.5, self.at_once), (0.4, self.apart), (1 if self.array_functions else 0, self.call_array_function), (1 if self.typed_functions or self.references else 0, self.call_typed_function),
                         (0.2 if not self.pure and not self.inside else 0, self.stopped_field),
                         (1.3 if self.variables("real", lambda v: v.get("struct") and v["mutable"]) else 0.5, self.struct), (0.7 if self.jumps else 0, self.jump), (0.25 if self.early and self.nest else 0, self.early_return), (0.2, self.bare_block))
        make()

    early, jumps, nested_function = None, 0, False
    cells = ()    # elements, of a field of integers and of one of floats without derivatives, that belong to the running iteration

    def at_once(self):
        """Several variables take values of each other in one statement."""
        found = [v for v in self.variables("real", lambda v: v["mutable"] and not v.get("sum") and "struct" not in v)]
        if len(found) < 2:
            return self.assign()
        self.count("several assigned at once")
        some = self.rng.sample(found, self.rng.choice([2, 2, 3]) if len(found) > 2 else 2)
        values = [str(self.fit(self.value("real", 2), v["lo"], v["hi"])) for v in some]
        if len(some) == 2 and (some[0]["lo"], some[0]["hi"]) == (some[1]["lo"], some[1]["hi"]) and self.chance(0.5):
            values[0] = some[1]["name"]
            values[1] = self.rng.choice([some[0]["name"], values[1]])
        if len(set(values)) == 1 or self.chance(0.15):
            values = [f"[{', '.join(values)}]"]
        return self.emit(f"{', '.join(v['name'] for v in some)} = {', '.join(values)};")

    def apart(self):
        """The components of a vector, the rows of a matrix."""
        self.count("value taken apart")
        kind = self.rng.choice(["vec2", "vec3", "mat2"])
        e = self.fit(self.value(kind, 2), -3, 3)
        names = [self.name_new("l") for _ in range(3 if kind == "vec3" else 2)]
        mutable = self.chance(0.4)
        self.emit(f"{'var' if mutable else 'let'} {', '.join(names)} = {e};")
        for n in names:
            self.scope.append({"name": n, "kind": "vec2" if kind == "mat2" else "real", "lo": -3, "hi": 3, "mutable": mutable})

    def decomposition(self):
        """Of matrices whose singular values are apart, or not; functions of the values, and of their vectors what belongs to these."""
        n = self.rng.choice([2, 3])
        kind = f"mat{n}"
        f = self.rng.choice(["svd", "sym_eig", "polar_decompose"])
        self.count(f)
        m = self.fit(self.value(kind, 2), -1, 1)
        apart = self.chance(0.6)    # else some are equal where m is zero, and near elsewhere
        rows = ", ".join("[" + ", ".join(num((i + 1 if apart else 2) if i == j else 0) for j in range(n)) + "]" for i in range(n))
        a, b, c = (self.name_new("l") for _ in "abc")
        self.emit(f"let {', '.join((a, b, c) if f == 'svd' else (a, b))} = {f}({kind}([{rows}]) + 0.1 * {m});")

        def known(text, kind, lo, hi):
            self.declare(kind, text, lo, hi, False)
        if f == "polar_decompose":
            known(f"{a} + 0.3 * {b}", kind, -3, 3)
        elif f == "svd":
            if apart:
                self.scope.append({"name": b, "kind": f"vec{n}", "lo": 0, "hi": 4, "mutable": False})
            middle = self.rng.choice(["", f"diag({b} * {b} * 0.1) @ ", f"diag(exp(0.2 * {b}) - 1.0 / {b}) @ "])
            known(f"{a} @ {middle}transpose({c})", kind, -3, 3)
        else:
            if apart:
                self.scope.append({"name": a, "kind": f"vec{n}", "lo": 0, "hi": 4, "mutable": False})
            known(f"{b} @ diag({self.rng.choice([f'0.2 * {a} * {a}', f'sin({a})'])}) @ transpose({b})", kind, -4, 4)

    def carried_int(self):
        """An integer that changes, and serves as a subscript, exponent or bound."""
        found = self.variables("int", lambda v: v.get("mutable"))
        if not found or self.chance(0.2):
            self.count("integer variable")
            text, _ = self.natural(1)
            return self.declare("int", f"({text}) % 5", 0, 4, True, True)
        self.count("integer carried")
        v = self.rng.choice(found)["name"]
        text, top = self.natural(1)
        op = self.rng.choice("+*^")
        line = f"{v} = ({v} {op} ({text})) % 5;"
        return self.emit(f"if ({self.condition(1)}) {{ {line} }}" if self.chance(0.3) else line)

    def atomic(self):
        """The old value of an element that no other iteration touches."""
        n = self.name_new("l")
        if self.chance(0.4):
            f = self.rng.choice(["add", "sub", "max", "min"])
            self.count(f"atomic_{f} of floats without derivatives")
            self.emit(f"let {n} = atomic_{f}({self.cells[1]}, {self.constant(1)});")
            self.scope.append({"name": n, "kind": "real", "lo": -60, "hi": 60, "mutable": False})
            return
        f = self.rng.choice(["add", "max", "min", "or", "xor", "and"])
        self.count(f"atomic_{f}")
        self.emit(f"let {n} = atomic_{f}({self.cells[0]}, {self.integer(0, 4, 1)});")
        self.scope.append({"name": n, "kind": "int", "lo": 0, "hi": 1000, "mutable": False})

    def constant(self, d):
        """A float without derivative, of which little is known."""
        e = self.flat("real", d)
        return self.rng.choice([f"0.3 * real({self.integer(0, 4, d)})", f"0.5 * floor({e})" if e.mag < 6 else f"sign({e})", "0.4 * fix0", f"stop_grad(round({self.fit(e, -4, 4)}))"])

    def assertion(self):
        """What the intervals promise; code compiled with --debug looks."""
        self.count("assert")
        e = self.flat("real", 1)
        self.emit(f'assert({e} < {num(e.hi + 0.01)}, "interval");')

    def early_return(self):
        self.count("return out of a loop")
        self.emit(f"if ({self.condition(0)}) {{ return {self.early()}; }}")

    def bare_block(self):
        self.braces("", 2)

    def let(self):
        e = self.value(self.any_kind(), self.rng.randint(1, 3))
        self.declare(e.kind, e, e.lo, e.hi, False)

    def var(self):
        if self.chance(0.1):
            self.count("var without a value")
            kind, names = self.any_kind(), [self.name_new("v") for _ in range(self.rng.choice([1, 1, 2]))]
            self.emit(f"var {', '.join(names)}: {TYPES.get(kind, kind)};")
            self.scope += [{"name": n, "kind": kind, "lo": -3, "hi": 3, "mutable": True} for n in names]
            for n in names:
                self.emit(f"{n} += {self.fit(self.value(kind, 2), -1, 1)};")
            return
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
        found = [f for f in self.pairs if self.callable(f)]
        if not found or self.chance(0.2):
            return self.several_of_c()
        f = self.rng.choice(found)
        return self.let_results(f)

    def struct(self):
        """A struct, whose members are variables like others; now and then they are exchanged."""
        found = [v for v in self.scope if v.get("struct") and v["mutable"]]
        if found and self.chance(0.8):
            n = self.rng.choice(found)["struct"]
            self.count("struct assigned")
            whole = f"Pair({self.fit(self.value('real', 1), -3, 3)}, {self.fit(self.value('vec2', 1), -3, 3)})"
            other = self.pick((2, f"turned({n})"), (1, whole), (1, f"turned({whole})"), (1, f"turned(turned({n}))"), (2, self.combined(n, whole)))
            if self.chance(0.2):
                self.count("operator on a struct")
                self.emit(f"{n} *= 0.5;")
                self.emit(f"{n} {self.rng.choice(['+=', '-='])} {whole} / 2.0;")
            self.emit(f"{n} = {self.rng.choice([other, f'{self.condition(1)} ? {other} : {n}', f'select({self.condition(1)}, {n}, {other})'])};")
            return
        self.count("struct")
        a, b = self.fit(self.value("real", 1), -3, 3), self.fit(self.value("vec2", 1), -3, 3)
        n = self.name_new("v")
        whole = self.field_pair() if self.chance(0.4) else None
        self.emit(f"var {n} = {whole or f'Pair({a}, {b})'};")
        for kind, name in (("real", "a"), ("vec2", "b")):
            self.scope.append({"name": f"{n}.{name}", "kind": kind, "lo": -3, "hi": 3, "mutable": True, "struct": n})

    def combined(self, n, whole):
        """By operators that work member by member, whose result stays in the members' interval."""
        self.count("operator on a struct")
        return self.rng.choice([f"-{n}", f"0.5 * ({n} + {whole})", f"({n} - {whole}) / 2.0", f"-0.4 * {n} + turned({n}) * 0.6"])

    def field_pair(self):
        """An element of a field or an array of structs, if both of its members may be read and their values are small."""
        bases = [f.name[:-1] for f in self.fields if f.member and f.member[-1] == "a"]
        if self.pure or self.rare or not bases:
            return None
        base = self.rng.choice([b for b in bases if b != "pr."] or bases)
        members = [f for f in self.fields if f.name in (base + "a", base + "b")]
        if len(members) < 2 or not all(self.may_read(f) and max(map(abs, self.range[f.name])) <= 3 for f in members):
            return None
        self.count("struct read from an array" if members[0].way else "struct read from a field")
        for f in members:
            if not self.inside:
                self.frozen.add(f.name)
                self.sure[f.name] += 0    # `uses` reads it once more
        return self.at(members[0], self.subscripts(members[0]))[:-2]

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

    def mask(self):
        kind = self.rng.choice(["vec2", "vec3", "vec4", "mat2", "vec7", "mat3x2"])
        self.declare("mask of " + kind, self.conditions(kind, 2), 0, 1, False, False)

    def static_if(self):
        """Of the branch that is not taken only the words are looked at."""
        self.count("static if")
        flag = self.chance(0.5)
        other = self.rng.choice(["let {}: bool = 1.5;", "var {} = vec2(true) @ P;", "var {} = 1 / 2 * 0.5;"]).format(self.name_new("l"))
        if flag:
            self.braces(f"static if {self.rng.choice(['FLAG', 'C < 0.5 && FLAG', '!FLAG == false'])}", 2)
            if self.chance(0.6):
                self.lines[-1] += f" else {{ {other} }}"
            return
        self.emit(f"static if {self.rng.choice(['!FLAG', 'C > 0.5', 'FLAG && C == 1.0'])} {{ {other} }}")
        head = self.lines.pop()
        self.braces("@else", 2)
        self.join(head + " else")

    def stopped_field(self):
        """What is constant in a block, and enters where its derivative is zero anyhow."""
        found = [f for f in self.fields if f.kind == "real" and f.role == "active" and not f.member and not f.single and f.name not in self.own and self.may_read(f) and f.name in self.inputs]
        if not found:
            return self.assign()
        f = self.rng.choice(found)
        self.count("stop_grad of a field")
        mark = len(self.scope)
        self.emit("{")
        self.pad += 1
        self.emit(f"stop_grad({f.name});")
        at = self.at(f, self.subscripts(f))
        self.hidden = self.hidden | {f.name}
        self.frozen.add(f.name)
        self.sure[f.name] += 0    # `uses` reads it smoothly
        self.declare("real", f"{self.rng.choice(['floor', 'sign', 'round'])}({at}) + 0.7 * stop_grad(sign({at}))", -4, 4, False)
        self.assign()
        self.consume(mark)
        self.hidden = self.hidden - {f.name}
        self.pad -= 1
        self.emit("}")
        del self.scope[mark:]
        return None

    def bools(self):
        self.declare("bool", self.condition(2), 0, 1, False)
        self.count("bool local")

    def assign_element(self, v):
        """Of a local array."""
        self.count("element of a local array assigned")
        at = self.at_element(v)
        form = self.rng.choice(["=", "*=", "carry"])
        e = self.fit(self.value(v["elem"], 2), *((-2, 2) if form == "=" else (-1, 1)))
        self.emit(f"{at} = 0.5 * {at} + {e};" if form == "carry" else f"{at} {form} {e};")

    def assign(self):
        rows = [v for v in self.scope if v["kind"] == "array" and v["mutable"] and v["elem"] != "int"]
        if rows and self.chance(0.15):
            return self.assign_element(self.rng.choice(rows))
        found = [v for v in self.scope if v.get("mutable") and v["kind"] in FLOATS]
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
        if form in ("component", "swizzle") and kind == "real" or form == "swizzle" and (kind[0] == "m" or kind == "vec1"):
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
            rows, k = shape(kind) if kind[0] == "m" else (1, length(kind))
            e = self.fit(self.value("real", 2), -lim, lim)
            if kind[0] == "m" and self.chance(0.3):
                row = f"{n}[{self.integer(0, rows - 1, 0)}]"
                e = self.fit(self.value(f"vec{k}", 2), -lim, lim)
                self.count("local row")
                return self.emit(f"{row} = {e};" if self.chance(0.7) else f"{row}.yx = {self.fit(self.value('vec2', 1), -lim, lim)};")
            if kind == "big":
                sub = f"[{self.integer(0, k - 1, 0)}]"
            elif kind[0] == "v":
                sub = self.pick((1, "." + "xyzw"[self.rng.randrange(min(k, 4))]), (1, f"[{self.integer(0, k - 1, 0)}]"))
            else:
                sub = f"[{self.integer(0, rows - 1, 0)}, {self.integer(0, k - 1, 0)}]"
            if self.chance(0.3):
                self.emit(f"{n}{sub} *= {self.fit(e, -1, 1)};")
            else:
                self.emit(f"{n}{sub} = {e};")
        else:
            k = min(length(kind), 4)
            letters = "".join(self.rng.sample("xyzw"[:k], 2))
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
        form = self.pick((3, "range"), (2, "range run-time"), (2, "triangular"), (1, "ndrange"), (0.7, "field"), (1, "range of two"), (1, "range with a step"), (0.3, "range of i64"))
        if self.pure:    # what its gradient keeps has a size that is known on entry
            form = self.rng.choice(["range", "range of two", "range with a step"])
        outer = self.int_variables(0, 8)
        lo, hi, trips, names = 0, 3, 4, i
        if form == "triangular" and not outer:
            form = "range"
        if form == "range":
            key = None if self.pure else self.rng.choice([None, "M", "L", "N"])
            n = self.extent(key) if key else self.rng.randint(1, 4)
            head, hi, trips = f"range({key or n})", n - 1, n
        elif form == "range run-time":
            head = f"range({self.integer(0, 4, 1)})"
            hi, trips = 3, 4
        elif form == "triangular":
            v = self.rng.choice(outer)
            head = self.pick((2, f"range({v['name']})"), (1, f"range({v['name']}, {v['hi'] + 1})"))
            hi, trips = v["hi"], v["hi"] + 1
        elif form == "range of i64":
            n = self.rng.randint(1, 3)
            head, hi, trips = f"range(i64({n}))", n - 1, n
        elif form == "range of two":
            a, n = self.rng.randint(0, 2), self.rng.randint(1, 3)
            head, lo, hi, trips = f"range({a}, {a + n})", a, a + n - 1, n
        elif form == "range with a step":
            a, n, by = self.rng.randint(0, 2), self.rng.randint(1, 3), self.rng.randint(1, 2)
            lo, hi, trips = a, a + (n - 1) * by, n
            head = self.pick((1, f"range({lo}, {hi + self.rng.randint(1, by)}, {by})"), (1, f"range({hi}, {lo - self.rng.randint(1, by)}, -{by})"))
        elif form == "ndrange":
            j = self.name_new("i")
            names = f"{i}, {j}"
            head, hi, trips = self.pick((1, "ndrange(2, 2)"), (1, "ndrange((0, 2), (1, 3))")), 1, 4
            self.loop_var(j, 0, 2)
        else:
            f = self.rng.choice([x for x in self.module.fields if len(x.dims) == 1])
            head, hi, trips = f.base, self.extent(f.dims[0]) - 1, self.extent(f.dims[0])
        self.count("for " + form)
        self.loop_var(f"i32({i})" if form == "range of i64" else i, lo, hi)
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
        keep = [v for v in self.scope[mark:] if v["name"] not in [*names.split(", "), f"i32({i})"]]
        self.scope[mark:] = keep

    def new_sum(self):
        """A variable that loops only add to: its interval is as wide as it may get."""
        top = 3.0 * 400
        v = self.declare("real", num(self.rng.choice([0, 0.5])), -top, top, True, True)
        v["sum"] = True
        return v

    @property
    def serial(self):
        return "serial " if self.kernel_level or self.chance(0.05) else ""

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
            jumps, self.jumps = self.jumps, 0    # a jump to the next trip would never change n
            self.braces(f"while ({n} != 1){self.limit(8)}", self.rng.randint(1, 2), tail=lambda: self.emit(f"if ({n} % 2 == 0) {{ {n} = {n} / 2; }} else {{ {n} = 3 * {n} + 1; }}"))
            self.jumps = jumps + 1
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
        listed = self.chance(0.4) and [self.rng.randrange(n) for _ in range(n)]
        self.count("static for" + (" of a list" if listed else ""))
        self.loop_var(i, 0, n - 1)
        jumps, self.jumps = self.jumps, 0
        self.enter(n)
        self.braces(f"static for {i} in {listed or f'range({n})'}", 1, tail=self.assign)
        self.leave(n)
        self.jumps = jumps
        self.scope[:] = [v for v in self.scope if v["name"] != i]

    def array(self):
        """A local array, filled, changed and read with subscripts known at run time. Not every element is read."""
        self.rare += 1
        self.array_parts()
        self.rare -= 1

    def array_parts(self):
        self.count("local array")
        if self.chance(0.15):
            return self.small_array()
        n, kind = self.name_new("r"), self.rng.choice(["real", "real", "vec2", "vec3"])
        text = self.rng.choice(["M", "L", "J"]) if self.chance(0.3) and not self.pure else None
        size = 3 if text == "J" else self.extent(text) if text else self.rng.randint(2, 4)
        fixed, text = text is None, text or str(size)
        self.cover["local array of a param's extent"] += text == "J" or self.module.form.get(text) == "param"
        self.emit(f"var {n}: {kind}[{text}];")
        self.fill(n, kind, size, self.rng.choice([f"range({text})", f"range(len({n}))", n]))
        v = {"name": n, "kind": "array", "elem": kind, "sizes": [size], "suffix": "", "mutable": True, "lo": 0, "hi": 0, "fixed": fixed}
        self.scope.append(v)
        for _ in range(self.rng.randint(0, 2)):
            self.assign_element(v)
        again = None
        if self.chance(0.5):
            i = self.name_new("i")
            m = str(self.rng.randint(1, 3)) if self.pure else self.integer(0, 4, 1)
            self.count("local array in a loop")
            if self.chance(0.4):    # an element read before the loop, changed in it, and read again
                again = self.integer(0, size - 1, 0)
                self.declare(kind, f"{n}[{again}]", -3, 3, False)
                e = self.fit(self.value(kind, 1), -0.7, 0.7)
                self.emit(f"{self.serial}for {i} in range({m}) {{ {n}[{again}] = {n}[{again}] * {e} + 0.2; }}")
                i = self.name_new("i")
            self.emit(f"{self.serial}for {i} in range({m}) {{ {n}[{i} % {text}] = {n}[{self.integer(0, size - 1, 0)}] * {self.fit(self.value(kind, 1), -1, 1)}; }}")
        self.change_by_function(v)
        text = f"{n}[{again or self.integer(0, size - 1, 0)}]"
        if self.chance(0.5):
            text += f" * {n}[{self.integer(0, size - 1, 0)}]"
        return self.declare(kind, text, -7, 7, False)

    def fill(self, n, kind, size, over):
        i = self.name_new("i")
        self.emit(f"{self.serial}for {i} in {over} {{")
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

    def small_array(self):
        """Of two dimensions, of integers, of structs; filled by a list."""
        form = self.rng.choice(["list", "2-D", "integers", "structs"])
        self.count("local array, " + form)
        n = self.name_new("r")
        entry = {"name": n, "kind": "array", "mutable": True, "lo": 0, "hi": 0, "suffix": "", "fixed": True}
        size = self.rng.randint(2, 4)
        if form == "integers":
            if self.chance(0.5):
                self.emit(f"var {n}: i32[{size}] = [{', '.join(str(self.rng.randrange(5)) for _ in range(size))}];")
            else:
                i = self.name_new("i")
                self.emit(f"var {n}: i32[{size}];")
                self.emit(f"{self.serial}for {i} in {n} {{ {n}[{i}] = ({i} * {i} + {self.integer(0, 3, 1)}) % 5; }}")
            return self.scope.append({**entry, "elem": "int", "sizes": [size], "mutable": False})
        kind = self.rng.choice(["real", "vec2"])
        if form == "list":
            self.emit(f"var {n}: {kind}[{size}] = [{', '.join(str(self.fit(self.value(kind, 1), -2, 2)) for _ in range(size))}];")
            return self.scope.append({**entry, "elem": kind, "sizes": [size]})
        if form == "2-D":
            i, j, k = self.name_new("i"), self.name_new("i"), self.rng.randint(2, 3)
            self.emit(f"var {n}: {kind}[{size}, {k}];")
            over = self.rng.choice([f"ndrange({size}, {k})", n])
            self.emit(f"{self.serial}for {i}, {j} in {over} {{ {n}[{i}, {j}] = {self.fit(self.value(kind, 1), -1, 1)} * sin(real({i} + 2 * {j})); }}")
            return self.scope.append({**entry, "elem": kind, "sizes": [size, k]})
        self.emit(f"var {n}: Pair[{size}];")
        i = self.name_new("i")
        self.emit(f"{self.serial}for {i} in {n} {{ {n}[{i}] = Pair({self.fit(self.value('real', 1), -2, 2)}, {self.fit(self.value('vec2', 1), -2, 2)}); }}")
        if self.chance(0.5):
            self.emit(f"{n}[{self.integer(0, size - 1, 0)}] = turned({n}[{self.integer(0, size - 1, 0)}]);")
        self.scope += [{**entry, "elem": k, "sizes": [size], "suffix": s} for k, s in (("real", ".a"), ("vec2", ".b"))]
        return None
