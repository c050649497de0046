"""Forms that are rare in programs: other ways to write an expression, an array, a loop, a store."""
import re

from expressions import Expr, num
from kinds import TYPES, length


class Variety:
    """Part of a Program."""

    # ---- expressions ----

    def literal(self, c):
        forms = {0.5: [".5", "5e-1", "0.5"], 1.0: ["1.", "1.0", "1", "10e-1"], 2.0: ["2.", "2", "2.0"], 0.25: [".25", "25e-2"]}.get(c, [num(c)])
        return self.rng.choice(forms) if self.chance(0.5) else num(c)

    def varied(self, kind, d):
        """Of scalars, vectors and matrices."""
        form = self.pick((1, "clamp"), (1, "smoothstep"), (0.7, "step"), (1, "signs"), (1, "of bool"), (1 if kind == "real" else 0, "of a matrix"), (0.6, "tower"),
                         (1 if kind == "real" else 0, "rows"), (1.5 if kind[0] == "v" else 0, "by a scalar"), (1 if kind[0] == "v" else 0, "blend by components"),
                         (0.7 if kind[0] == "v" else 0, "drawn"), (0.7 if kind == "vec2" else 0, "of integers"))
        e = self.varied_form(form, kind, d)
        if e:
            self.count(f"varied: {form}")
        return e

    def varied_form(self, form, kind, d):
        a = self.value(kind, d)
        if form == "clamp":
            lo, hi = (self.fit(self.value(kind, 0), *r) for r in ((-2, -0.6), (0.7, 2)))
            return Expr(f"clamp({a}, {lo}, {hi})", kind, -2, 2)
        if form == "smoothstep":
            lo, hi = (self.fit(self.value(kind, 0), *r) for r in ((-2, -1), (1.1, 2)))
            return Expr(f"smoothstep({lo}, {hi}, {a})", kind, 0, 1)
        if form == "step":
            return Expr(f"({a} * (0.3 + step({self.flat(kind, 0)}, {self.flat(kind, 0)})))", kind, min(1.3 * a.lo, 0.3 * a.lo), max(1.3 * a.hi, 0.3 * a.hi))
        if form == "signs":
            a = self.fit(a, -2, 2)
            return Expr(self.rng.choice([f"(-{a} ** 2)", f"(+{a} * -{a})"]), kind, -4, 4)
        if form == "of bool":
            return Expr(f"({a} + 0.3 * real({self.condition(1)}))", kind, a.lo, a.hi + 0.3)
        if form == "tower":
            a = self.fit(a, 0.6, 1.6)
            return Expr(self.rng.choice([f"({a} ** 2 ** 1)", f"(1.5 ** {a} ** 2)" if kind == "real" else f"({a} ** 2)", f"({a} ** -2 ** 1)"]), kind, 0.1, 3)
        if form == "of a matrix":
            m = self.fit(self.value(f"mat{self.rng.randint(2, 4)}", d), -1, 1)
            return self.rng.choice([Expr(f"norm({m}, 0.1)", kind, 0.3, 4.2), Expr(f"norm_sqr({m})", kind, 0, 16), Expr(f"sum({m})", kind, -16, 16)])
        if form == "rows":
            n = self.rng.randint(2, 3)
            m = self.value(f"mat{n}", d)
            return Expr(f"{self.named(m)}[{self.integer(0, n - 1, 0)}][{self.integer(0, n - 1, 0)}]", kind, m.lo, m.hi)
        if form == "by a scalar":
            return self.by_a_scalar(kind, a, self.value("real", d))
        if form == "blend by components":
            b, t = self.other(a, kind, 0), self.fit(self.value(kind, 0), 0, 1)
            return Expr(f"mix({a}, {b}, {t})", kind, min(a.lo, b.lo), max(a.hi, b.hi))
        if form == "drawn":
            if self.pure or self.plain:
                return None
            self.drawn = True
            parts = ", ".join(self.rng.choice(["random()", "randn()", "0.5"]) for _ in range(length(kind)))
            return Expr(f"({a} + 0.2 * {TYPES.get(kind, kind)}({parts}))", kind, a.lo - 2, a.hi + 2)
        pair = f"ivec2({self.integer(0, 4, 0)}, {self.integer(0, 4, 0)})"
        text = self.rng.choice([f"vec2({pair})", f"vec2({pair} * 3 % 5)", f"vec2(({pair} << 1) & ivec2(3, 7))", f"vec2(-{pair} / ivec2(2, 1))", f"vec2({pair} ** 2 - min({pair}, 2))"])
        return Expr(f"({a} + 0.1 * {text})", kind, a.lo - 2, a.hi + 2)

    def by_a_scalar(self, kind, a, b):
        f = self.rng.choice(["min", "max", "hypot", "atan2", "pow", "mod", "max3"])
        if f == "max3":
            return Expr(f"max({b}, {a}, {self.unsure(kind, 0)})", kind, min(a.lo, b.lo) - 9, max(a.hi, b.hi) + 9)
        if f in ("min", "max"):
            return Expr(f"{f}({a}, {b})", kind, min(a.lo, b.lo), max(a.hi, b.hi))
        if f == "hypot":
            a, b = self.fit(a, 0.3, 100), self.fit(b, 0.3, 100)
            return Expr(f"hypot({a}, {b})", kind, 0.4, a.mag + b.mag)
        if f == "atan2":
            return Expr(f"atan2({a}, {self.fit(b, 0.4, 100)})", kind, -1.6, 1.6)
        if f == "pow":
            return Expr(f"pow({self.fit(a, 0.4, 1.9)}, {self.fit(b, -2, 2)})", kind, 0.1, 6.5)
        return Expr(f"mod({self.fit(a, 0.3, 6)}, {self.fit(b, 1.5, 3)})", kind, 0, 3)

    def varied_integer(self, a, b):
        """Of two that are not negative: (text, largest value)."""
        (a, top), (b, _) = a, b
        form = self.rng.choice(["<<", ">>", "/", "abs", "**", "sign", "clamp", "mod", "wide shift", "min", "random", "random of a width", "0b"])
        if form.startswith("random") and (self.pure or self.plain or re.search("rand|_[fr][0-9]", a)):    # what draws is another one each time
            form = "/"
        self.count(f"integers: {form}")
        self.drawn |= form.startswith("random")
        return {"<<": (f"(({a} << ({b} % 34)) & 7)", 7), ">>": (f"({a} >> ({b} % 40))", top), "/": (f"({a} / ({b} + 1))", top), "abs": (f"(abs({b} - 3 - {a}) % 5)", 4),
                "**": (f"(({a} % 4) ** 2 % 5)", 4), "sign": (f"(sign({a} - 2) + 1)", 2), "clamp": (f"clamp({a}, 1, 3)", 3), "mod": (f"mod({b} - 2 * {a}, 5)", 4),
                "wide shift": (f"i32((i64(({a}) % 8) << 33) >> 32)", 14), "min": (f"min({a}, {b}, 3)", 3), "random": (f"(random_int({a}, {a} + 3) - {a})", 2),
                "random of a width": (self.rng.choice(["i32(random_int(u8(4)))", f"i32(random_int(i64(1), 4))", "i32(random_int(u16(1), u16(3)))"]), 3),
                "0b": (f"(({a} & 0b101) | 0x2)", 7)}[form]

    def varied_condition(self, d):
        self.count("operators on bool")
        op = self.rng.choice(["&", "|", "^", "==", "!="])
        return f"(({self.condition(d)}) {op} ({self.condition(d)}))"

    # ---- locals ----

    def varied_array(self):
        """Local arrays of other types and shapes, read and changed element by element."""
        form = self.pick((1.5, "nested list"), (1.5, "3-D"), (2 if not self.pure else 0, "extents"), (1, "mat2"), (1, "vec5"), (1, "f32"), (1, "bool"), (1.5, "integers"))
        self.count(f"local array: {form}")
        n, i = self.name_new("r"), self.name_new("i")
        entry = {"name": n, "kind": "array", "mutable": True, "lo": 0, "hi": 0, "suffix": "", "fixed": form != "extents", "elem": "real"}
        if form == "nested list":
            rows = ", ".join("[" + ", ".join(str(self.fit(self.value("real", 1), -2, 2)) for _ in range(3)) + "]" for _ in range(2))
            self.emit(f"var {n}: real[2, 3] = [{rows}];")
            self.scope.append({**entry, "sizes": [2, 3]})
        elif form in ("3-D", "extents"):
            texts, sizes = (["2", "2 * K - 1", "2"], [2, 3, 2]) if form == "3-D" else self.rng.choice([(["2 * K", "M"], [4, self.extent("M")]), (["a.shape[0]"], [self.extent("N")]),
                                                                                                    (["len(d) + 1"], [self.extent("M") + 1]), (["h.shape[1]", "L"], [self.extent("M"), self.extent("L")])])
            names = [self.name_new("i") for _ in sizes]
            self.emit(f"var {n}: real[{', '.join(texts)}];")
            self.emit(f"{self.serial}for {', '.join(names)} in {n} {{ {n}[{', '.join(names)}] = {self.fit(self.value('real', 1), -1, 1)} * cos(real({' + 2 * '.join(names)})); }}")
            self.scope.append({**entry, "sizes": sizes})
        elif form in ("mat2", "vec5"):
            self.emit(f"var {n}: {TYPES.get(form, form)}[2] = [{self.fit(self.value(form, 1), -2, 2)}, {self.fit(self.value(form, 0), -2, 2)}];")
            self.scope.append({**entry, "sizes": [2], "elem": form})
        elif form == "f32":    # exact: numbers of few digits
            self.emit(f"var {n}: f32[3] = [0.5, {self.integer(0, 4, 0)}, -1.25];")
            self.emit(f"{n}[{self.integer(0, 2, 0)}] += 0.25;")
            return self.declare("real", f"{self.fit(self.value('real', 1), -3, 3)} * 0.2 * real({n}[{self.integer(0, 2, 0)}])", -3, 3, False, True)
        elif form == "bool":
            self.emit(f"var {n}: bool[2] = [{self.condition(1)}, {self.rng.choice(['true', 'false'])}];")
            self.emit(f"{n}[{self.integer(0, 1, 0)}] = {n}[0] != ({self.condition(0)});")
            self.scope.append({"name": f"{n}[{self.integer(0, 1, 0)}]", "kind": "bool", "lo": 0, "hi": 1, "mutable": False})
            return None
        else:
            kind = self.rng.choice(["i8", "u8", "i16", "u16", "u32", "i64", "u64"])
            self.emit(f"var {n}: {kind}[3] = [{', '.join(str(self.rng.randrange(5)) for _ in range(3))}];")
            self.emit(f"{n}[{self.integer(0, 2, 0)}] {self.rng.choice(['+=', '-=', '*=', '/='])} {self.rng.choice('357')};")
            self.emit(f"{self.serial}for {i} in {n} {{ {n}[{i}] = {n}[{i}] + {kind}({self.integer(0, 4, 0)}); }}")
            self.scope.append({"name": f"(i32({n}[{self.integer(0, 2, 0)}]) & 7)", "kind": "int", "lo": 0, "hi": 7, "mutable": False})
            return None
        v = self.scope[-1]
        for _ in range(self.rng.randint(0, 2)):
            self.assign_element(v)
        return None

    def variables_of_results(self):
        """Variables, two or three, that begin as the results of a function."""
        self.count("variables of several results")
        name, (p, q) = f"{self.name}_q{len(self.function_lines)}", (self.name_new("p") for _ in "pq")
        three = self.chance(0.5)
        typed = self.chance(0.5)
        self.function_lines += [f"/// Of {p} and {q}.", f"func {name}({p}: real, {q}{': vec2' if typed else ''}){f' -> (real, vec2' + (', real' if three else '') + ')' if typed else ''} {{",
                                f"    return sin({p}) * {q}.y, {q}.yx * cos({p}){f', {p} * {q}.x' if three else ''};", "}"]
        names = [self.name_new("v") for _ in range(3 if three else 2)]
        self.emit(f"var {', '.join(names)} = {name}({self.fit(self.value('real', 1), -1, 1)}, {self.fit(self.value('vec2', 1), -2, 2)});")
        self.scope += [{"name": n, "kind": k, "lo": -3, "hi": 3, "mutable": True} for n, k in zip(names, ("real", "vec2", "real"))]

    def part_of_array(self):
        """A component, a row or a swizzle of an element of a local array."""
        found = [v for v in self.scope if v["kind"] == "array" and v["mutable"] and v["elem"] in ("vec2", "vec3", "mat2")]
        if not found:
            return self.varied_array()
        v = self.rng.choice(found)
        at = self.at_element(v)
        part, of = self.rng.choice([("[1, 0]", "real"), ("[0]", "vec2"), ("[1].yx", "vec2")] if v["elem"] == "mat2" else [(".x", "real"), (".yx", "vec2"), ("[1]", "real")])
        self.count("part of an array's element")
        form = self.rng.choice(["=", "*=", "/="])
        e = self.positive(of, 1, 1.05, 3) if form == "/=" else self.fit(self.value(of, 1), *((-2, 2) if form == "=" else (-1, 1)))
        return self.emit(f"{at}{part} {form} {e};")

    def flag(self):
        """A `var` of bool."""
        self.count("bool variable")
        n = self.name_new("b")
        self.emit(f"var {n}{self.rng.choice(['', ': bool'])} = {self.condition(1)};")
        self.emit(f"{n} = {self.rng.choice([f'{n} && {self.condition(0)}', f'!{n}', f'{n} ^ ({self.condition(0)})', f'{n} == ({self.condition(0)})'])};")
        self.scope.append({"name": n, "kind": "bool", "lo": 0, "hi": 1, "mutable": False})

    def while_flag(self):
        self.count("while on a bool variable")
        go, n = self.name_new("b"), self.name_new("n")
        self.rare += 1
        mark = len(self.scope)
        self.emit(f"var {go} = true;")
        self.emit(f"var {n} = 0;")
        self.loop_var(n, 0, 4)
        self.enter(4)
        self.nested_function |= self.inside
        jumps, self.jumps = self.jumps, 0
        self.braces(f"while {go}{self.limit(4)}", self.rng.randint(1, 2), first=lambda: self.emit(f"{n} += 1;"), tail=lambda: self.emit(f"{go} = {n} < 4 && {self.condition(0)};"))
        self.jumps = jumps
        self.leave(4)
        self.rare -= 1
        del self.scope[mark:]

    def parts_of_local(self):
        """Components, rows and swizzles of a variable, by all assignments."""
        found = [v for v in self.scope if v.get("mutable") and v["kind"] in ("vec2", "vec3", "vec4", "vec5", "mat2", "mat3", "mat4") and not v.get("sum")]
        if not found:
            return self.let()
        v = self.rng.choice(found)
        n, kind, lim = v["name"], v["kind"], v["hi"]
        k = int(kind[-1])
        if kind[0] == "m":
            part, of = self.rng.choice([(f"[{self.integer(0, k - 1, 0)}]", f"vec{k}"), (f"[{self.integer(0, k - 1, 0)}].yx", "vec2"), (f"[{self.rng.randrange(k)}, {self.integer(0, k - 1, 0)}]", "real"),
                                        (f"[{self.rng.randrange(k)}][{self.integer(0, k - 1, 0)}]", "real")])
        else:
            part, of = self.rng.choice([("." + "".join(self.rng.sample("xyzw"[:min(k, 4)], 2)), "vec2"), (f"[{self.integer(0, k - 1, 0)}]", "real"), ("." + self.rng.choice("xyzw"[:min(k, 4)]), "real")])
        form = self.rng.choice(["=", "*=", "/=", "+="])
        self.count(f"part of a local {form}")
        if form == "/=":
            return self.emit(f"{n}{part} /= {self.positive(of, 1, 1.05, 3)};")
        if form == "+=":
            self.emit(f"{n}{part} *= 0.5;")
            return self.emit(f"{n}{part} {self.rng.choice(['+=', '-='])} {self.fit(self.value(of, 1), -lim / 2, lim / 2)};")
        lim = lim if form == "=" else 1
        return self.emit(f"{n}{part} {form} {self.fit(self.value(of, 1), -lim, lim)};")

    # ---- loops ----

    def varied_for(self):
        """Unrolled or not: boxes of three dimensions, ranges with bounds, by an integer vector, of other widths."""
        form = self.pick((1, "static bounds"), (1, "static ndrange"), (1, "static in static"), (1.5 if not self.pure else 0, "grouped"), (1, "ndrange of three"), (0.7, "ndrange of one"),
                         (1 if not self.pure else 0, "field of three"), (1 if not self.pure else 0, "range of u8"))
        if self.mult > (12 if self.pure else 100):    # a map that is iterated often is chaotic, and nobody knows its derivative
            return self.let()
        self.count(f"loop: {form}")
        mark = len(self.scope)
        i, j, k = (self.name_new("i") for _ in "ijk")
        serial, inner, trips = self.serial, [], 8
        if form == "static bounds":
            head, names = f"static for {i} in range(1, {self.rng.choice(['3', 'K + 1'])})", [(i, 1, 2)]
        elif form == "static ndrange":
            head, names = f"static for {i}, {j} in ndrange(2, (1, 3))", [(i, 0, 1), (j, 1, 2)]
        elif form == "static in static":
            head, names, inner = f"static for {i} in range(2)", [(i, 0, 1)], [f"static for {j} in range({i} + 1)"]
        elif form == "grouped":
            x = self.rng.choice([f for f in self.module.fields + self.arrays if f.dims and not f.member])
            self.count(f"loop: grouped, {'array' if x.way else 'field'} {len(x.dims)}-D")
            head, inner = f"{serial}for {i} in grouped({x.name})", [None]
            names = [(f"i32({i}[{k}])", 0, self.extent(d) - 1) for k, d in enumerate(x.dims)] if x.way or len(x.dims) == 1 else [(f"{i}.{c}" if self.chance(0.5) else f"{i}[{'xyz'.index(c)}]", 0, self.extent(d) - 1) for c, d in zip("xyz", x.dims)]
            trips = 30
        elif form == "ndrange of three":
            head, names = f"{serial}for {i}, {j}, {k} in ndrange(2, (1, 3), {self.rng.choice('12')})", [(i, 0, 1), (j, 1, 2), (k, 0, 1)]
        elif form == "ndrange of one":
            head, names = f"{serial}for {i} in ndrange({self.rng.choice(['3', '(1, 3)'])})", [(i, 0, 2)]
        elif form == "field of three":
            head, names, trips = f"{serial}for {i}, {j}, {k} in e", [(n, 0, self.extent(d) - 1) for n, d in ((i, "L"), (j, "M"), (k, "L"))], 30
        else:
            head, names = f"{serial}for {i} in range(u8({self.integer(0, 3, 0)}))", [(f"i32({i})", 0, 2)]
        for n, lo, hi in names:
            self.loop_var(n, lo, hi)
        jumps, self.jumps = self.jumps, 0 if head.startswith("static") else self.jumps + 1
        self.nested_function |= self.inside
        self.enter(trips)
        if inner and inner[0]:
            self.loop_var(j, 0, 1)
            self.braces(head, 0, tail=lambda: self.braces(inner[0], 1, tail=self.assign))
        else:
            self.braces(head, self.rng.randint(0, 2), tail=self.assign)
        self.leave(trips)
        self.jumps = jumps
        del self.scope[mark:]
        return None

    def static_chain(self):
        """Of three branches one is compiled; the others are only words."""
        self.count("static if with else if")
        other = lambda: f"let {self.name_new('l')}: bool = 1.5;"
        first, second = self.rng.choice([("K == 2", "K > 2"), ("C < 0.5", "C < 0.1")]) if self.chance(0.5) else self.rng.choice([("K == 3", "K == 2"), ("K < 0", "FLAG")])
        if first in ("K == 2", "C < 0.5"):
            self.braces(f"static if {first}", 1, tail=self.assign)
            self.lines[-1] += f" else static if {second} {{ {other()} }} else {{ {other()} }}"
            return
        self.emit(f"static if {first} {{ {other()} }}")
        head = self.lines.pop()
        self.braces(f"@else static if {second}", 1, tail=self.assign)
        self.join(head + " else")
        self.lines[-1] += f" else {{ {other()} }}"

    # ---- kernel level ----

    def constant_block(self):
        """A block of kernel level in which fields are constant: they enter where their derivative is zero anyhow."""
        found = [f for f in self.module.fields if f.role == "active" and f.dims and not f.member and not f.single and f.kind != "big" and self.may_read(f)]
        if not found or self.locked is not None:
            return self.task()
        some = self.rng.sample(found, min(len(found), self.rng.randint(1, 2)))
        self.count("stop_grad of fields at kernel level")
        self.emit("{")
        for f in some:
            self.emit(f"    stop_grad({f.name});")
            self.frozen.add(f.name)
            self.sure[f.name] += 0    # `uses` reads it smoothly
            names = [self.name_new("i") for _ in f.dims]
            at = f"{f.name}[{', '.join(names)}]"
            one = at if f.kind == "real" else f"sum(floor({at}))"
            self.emit(f"    for {', '.join(names)} in {f.name} {{ loss += 0.1 * {self.rng.choice(['sign', 'floor', 'round'])}({one}) * {self.fit(self.value_outside(names, f), -1, 1)}; }}")
        self.emit("}")
        return None

    def value_outside(self, names, f):
        """A value for the body of a loop over a field, of numbers without derivative and parameters."""
        found = [v for v in self.scope if v["kind"] == "real" and not v.get("struct")]
        if found and self.chance(0.6):
            v = self.rng.choice(found)
            return Expr(v["name"], "real", v["lo"], v["hi"])
        return Expr(f"real({names[0]})", "real", 0, self.extent(f.dims[0]))

    def store_component(self, f, at):
        """To a part of an element that belongs to the iteration. True if it did."""
        if f.kind not in ("vec2", "vec3", "vec4", "mat2", "mat3") or not self.chance(0.6):
            return False
        n = int(f.kind[-1])
        if f.kind[0] == "m":
            part, of = self.rng.choice([(f"[{self.integer(0, n - 1, 0)}, {self.rng.randrange(n)}]", "real"), (f"[{self.rng.randrange(n)}]", f"vec{n}"), (f"[{self.rng.randrange(n)}][{self.rng.randrange(n)}]", "real")])
        else:
            part, of = self.rng.choice([("." + self.rng.choice("xyzw"[:n]), "real"), ("." + "".join(self.rng.sample("xyzw"[:n], 2)), "vec2"), (f"[{self.integer(0, n - 1, 0)}]", "real")])
        form = self.pick((3, "="), (1, "*="), (0.7, "/="), (1, "linear"))
        e = self.fit(self.value(of, 2), -6, 6)
        if self.closed(f):    # the value reads it
            return False
        self.count(f"part of an element {form}")
        self.emit({"=": f"{at}{part} = {e};", "*=": f"{at}{part} *= {self.rng.choice(['0.5', '-0.9', 'C'])};", "/=": f"{at}{part} /= 2.0;", "linear": f"{at}{part} = 0.5 * {at}{part} - {e};"}[form])
        self.grow(f, e, "=" if form == "=" else "+=")
        return True
