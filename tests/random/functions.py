"""Functions of a program, and calls of them."""
from expressions import Expr
from kinds import FLOATS, INTEGERS, OBLONG, TYPES, VECTORS, WIDE, members
from stub import Param


class Functions:
    """Part of a Program."""

    def callable(self, f):
        return (f["pure"] or not self.pure) and not (self.plain and f["draws"])

    def call(self, kind, d):
        found = [f for f in self.functions if f["result"] == kind and self.mult * f["weight"] < 4000 and self.callable(f)]
        if not found:
            return None
        f = self.rng.choice(found)
        args = [self.argument(k, d - 1, 3) for k in f["args"]]
        self.count("call")
        self.drawn |= f["draws"]
        if self.looping:
            self.count("call in a loop")
        return Expr(f"{f['name']}({', '.join(args)})", kind, -3, 3)

    # ---- functions of arrays and fields ----

    def make_reference_function(self):
        """It reads, or also writes, a local array, a field or an array of the host that it is given."""
        name = f"{self.name}_r{len(self.references)}"
        f = {"name": name, "elem": self.pick((3, "real"), (1, "vec2"), (1, "vec3")), "writes": self.chance(0.4), "pure": self.chance(0.4)}
        self.count("function of an array, " + ("writing" if f["writes"] else "reading"))
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.lines, self.pad, self.inside, self.kernel_level, self.mult, self.pure, self.drawn = [], 1, True, False, 8, f["pure"], False
        w, k, al, i = (self.name_new("p") for _ in "wkai")
        self.scope = [{"name": k, "kind": "int", "lo": 0, "hi": 4, "mutable": False}, {"name": al, "kind": "real", "lo": -3, "hi": 3, "mutable": False}]
        self.budget = self.rng.choice([1, 2, 4])
        total = self.sink()
        mark = len(self.scope)
        self.loop_var(f"i32({i})", 0, 6)    # of the longest field
        self.scope.append({"name": f"{w}[{i}]", "kind": f["elem"], "lo": -4, "hi": 4, "mutable": False})
        self.enter(6)
        self.jumps += 1
        part = f"{w}[{i}]" if f["elem"] == "real" else self.rng.choice([f"sum({w}[{i}])", f"norm({w}[{i}], 0.2)"])

        def step():
            self.emit(f"{total['name']} = 0.4 * {total['name']} + sin({part} * {self.fit(self.value('real', 1), -1, 1)});")
            if f["writes"]:
                self.emit(f"{w}[{i}] = {self.fit(self.value(f['elem'], 2), -2, 2)};")
        self.braces(f"for {i} in {self.rng.choice([w, f'range(len({w}))'])}", self.rng.randint(0, 2), tail=step)
        self.jumps -= 1
        self.leave(6)
        del self.scope[mark:]
        last = f"{w}[{k} % i32(len({w}))]"
        if f["writes"]:
            self.emit(f"{w}[0] = 0.5 * {last} + {self.fit(self.value(f['elem'], 1), -1, 1)};")
        self.emit(f"return 0.5 * sin({total['name']}) + 0.3 * tanh({last if f['elem'] == 'real' else f'sum({last})'} * {self.fit(self.value('real', 1), -1, 1)});")
        typed = self.chance(0.5)
        params = f"{w}, {k}{': i32' if typed else ''}, {al}: real"
        self.function_lines += [f"func {name}({params}){' -> real' if typed else ''} {{", *self.lines, "}"]
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False
        f["draws"] = self.drawn
        self.references.append(f)

    def make_vector_function(self):
        """Of a vector of any length, by its components."""
        name = f"{self.name}_v{len(self.vector_functions)}"
        self.count("function of a vector of any length")
        w, al, s, k = (self.name_new("p") for _ in "wask")
        step = self.rng.choice([f"{s} = 0.5 * {s} + sin({w}[{k}] * {al});", f"{s} += tanh({w}[{k}]) * {al} * 0.2;", f"if {w}[{k}] > {al} {{ {s} += 0.3 * {w}[{k}]; }} else {{ {s} *= 0.8; }}"])
        over = self.rng.choice([f"static for {k} in range(len({w}))", f"for {k} in range(len({w}))"])
        end = f"static if len({w}) > 2 {{ {s} += 0.1 * {w}[2]; }}" if self.chance(0.5) else f"{s} += 0.1 * {w}[len({w}) - 1];"
        self.function_lines.append(f"func {name}({w}, {al}: real) {{ var {s} = 0.2; {over} {{ {step} }} {end} return sin({s}); }}")
        self.vector_functions.append(name)

    def call_vector_function(self, kind, d):
        if not self.vector_functions:
            return None
        of = self.rng.choice(VECTORS)
        return Expr(f"{self.rng.choice(self.vector_functions)}({self.fit(self.value(of, d - 1), -3, 3)}, {self.fit(self.value(kind, 0), -3, 3)})", kind, -1, 1)

    def array_argument(self, f):
        """Of a function of arrays: a name, or None."""
        local = [v for v in self.scope if v["kind"] == "array" and v["elem"] == f["elem"] and not v["suffix"] and len(v["sizes"]) == 1 and (v["mutable"] or not f["writes"])]
        fields = []
        if not f["writes"] and not self.pure and not self.rare and not self.passive:
            fields = [x for x in self.fields if x.kind == f["elem"] and len(x.dims) == 1 and not x.single and not x.member and x.role in ("active", "array") and self.may_read(x)
                      and x.name not in self.own and max(map(abs, self.range[x.name])) <= 4]
        if local and (not fields or self.chance(0.6)):
            self.count("local array given to a function")
            return self.rng.choice(local)["name"]
        if not fields:
            return None
        x = self.rng.choice(fields)
        self.count("array of the host given to a function" if x.way else "field given to a function")
        if not self.inside:
            self.frozen.add(x.name)
            self.sure[x.name] += 1
        return x.name

    def call_reference(self, kind, d):
        """A function that reads an array."""
        found = [f for f in self.references if not f["writes"] and self.mult < 300 and self.callable(f)]
        if not found:
            return None
        f = self.rng.choice(found)
        w = self.array_argument(f)
        self.drawn |= f["draws"]
        return w and Expr(f"{f['name']}({w}, {self.integer(0, 4, 0)}, {self.fit(self.value('real', d - 1), -3, 3)})", kind, -0.8, 0.8)

    def change_by_function(self, v):
        """A local array is given to a function that writes it."""
        found = [f for f in self.references if f["writes"] and f["elem"] == v["elem"] and self.mult < 300 and self.callable(f)]
        if not found or self.chance(0.3):
            return
        f = self.rng.choice(found)
        self.count("local array written by a function")
        self.drawn |= f["draws"]
        self.declare("real", f"{f['name']}({v['name']}, {self.integer(0, 4, 0)}, {self.fit(self.value('real', 1), -3, 3)})", -0.8, 0.8, False)

    def add_by_function(self, f, subs, op, e):
        """The sum into an element of a field by a function that is given the field."""
        if len(f.dims) != 1 or f.member or not self.chance(0.15):
            return False
        self.count("field written by a function")
        name = f"{self.name}_w{len(self.function_lines)}"
        w, i, al = (self.name_new("p") for _ in "wia")
        body = f"{w}[{i}] {op} {al};" if self.chance(0.6) else f"if ({i} >= 0) {{ {w}[{i}] {op} 0.5 * {al}; }} {w}[{i}] {op} 0.5 * {al};"
        self.function_lines.append(f"func {name}({w}, {i}, {al}) {{ {body} }}")
        self.emit(f"{name}({f.base}, {subs() if callable(subs) else subs}, {e});")
        return True

    def effect(self):
        """A call for its effects."""
        self.count("function called for its effects")
        name = f"{self.name}_e{len(self.function_lines)}"
        k, al = self.name_new("p"), self.name_new("p")
        if "hvp" not in self.derive and self.chance(0.5):
            self.count("custom derivative of a function that changes a field")
            self.function_lines += [f"func {name}({k}: i32, {al}: real) {{ loss += 0.3 * sin({al} * real({k} + 1)); }}",
                                    f"func {name}_back({k}: i32, {al}: real) -> real grad_for({name}) {{ return 0.3 * loss.grad * cos({al} * real({k} + 1)) * real({k} + 1); }}"]
            return self.emit(f"{name}({self.integer(0, 3, 0)}, {self.fit(self.value('real', 2), -3, 3)});")
        early = f"if ({k} > 2) {{ return; }} " if self.chance(0.4) else ""
        self.function_lines.append(f"func {name}({k}: i32, {al}: real) {{ {early}loss += {self.rng.choice(['0.3', '-0.2'])} * sin({al} * real({k} + 1)); }}")
        return self.emit(f"{name}({self.integer(0, 3, 0)}, {self.fit(self.value('real', 2), -3, 3)});")

    def call_array_function(self):
        """An `export func` with arrays: what it changes is local, what it reads may be a field or an array of the host."""
        if not self.array_functions or self.pure or self.inside or self.mult > 100:
            return self.let()
        self.count("export func with arrays called")
        f = self.rng.choice(self.array_functions)
        extents = {"n": self.rng.choice([2, 3]), "m": self.rng.choice([2, 3])}
        args = []
        for a in f["params"]:
            if not a.way:
                args.append(str(self.fit(self.value("real", 2), -3, 3)))
                continue
            sizes = [extents.get(d) or int(d) for d in a.dims]
            found = [x for x in self.fields if a.way == "in" and x.kind == a.kind and [self.extent(d) for d in x.dims] == sizes and x.role in ("active", "array") and not x.single
                     and not x.member and self.may_read(x) and x.name not in self.own and max(map(abs, self.range[x.name])) <= 3]
            if found and self.chance(0.7):
                field = self.rng.choice(found)
                args.append(field.base)
                self.frozen.add(field.name)
                self.sure[field.name] += not self.rare
                self.count("array of the host given to an export func" if field.way else "field given to an export func")
                continue
            args.append(self.array_of(a.kind, sizes))
        if f["result"]:
            return self.declare("real", f"{f['name']}({', '.join(args)})", -3, 3, False)
        return self.emit(f"{f['name']}({', '.join(args)});")

    def array_of(self, kind, sizes):
        """A local array, filled; its name."""
        r = self.name_new("r")
        self.emit(f"var {r}: {TYPES.get(kind, kind)}[{', '.join(map(str, sizes))}];")
        entry = {"name": r, "kind": "array", "sizes": sizes, "mutable": True, "lo": 0, "hi": 0, "fixed": True}
        if len(sizes) == 1 and kind in FLOATS:
            self.fill(r, kind, sizes[0], r)
        else:
            names = [self.name_new("i") for _ in sizes]
            mark = len(self.scope)
            for i, n in zip(names, sizes):
                self.loop_var(i, 0, n - 1)
            self.emit(f"{self.serial}for {', '.join(names)} in {r} {{ {r}[{', '.join(names)}] = {self.argument(kind, 2, 2)}; }}")
            del self.scope[mark:]
        self.scope += [{**entry, "elem": k, "suffix": path, "mutable": k != "int"} for path, k in members(kind) if k in FLOATS or k == "int"]
        return r

    def make_array_function(self):
        """An `export func` over arrays of the host, of one or two dimensions, with extents that are arguments or constants."""
        name = f"{self.name}_g{self.names}"
        self.count("export func with arrays")
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.lines, self.pad, self.scope, self.inside, self.kernel_level, self.pure, self.mult = [], 1, [], True, False, True, 4
        arrays = []
        for way in ["in", *self.rng.sample(["in", "inout", "out"], self.rng.randint(1, 3))]:
            dims = self.pick((4, ["n"]), (1.5, ["n", "m"]), (0.7, ["n", "n"]), (0.7, ["3", "n"]), (1.2, ["3"]), (0.5, ["2", "3"]), (0.5, ["2 * K - 1"]))
            kind = self.pick((3, "real"), (1.5, "vec2"), (1, "vec3"), (1.2, "mat2"), (0.6, "mat3"), (1.2, "Pair"), (0.7, "Part"), (0.5 if way == "in" else 0, "int"),
                             (0.8, self.rng.choice(OBLONG)), (0.4, "vec7"), (0.4, "Frame"), (0.5 if way == "in" else 0, self.rng.choice([*WIDE, "Tone"])))
            arrays.append(Param(self.name_new("p"), kind, False, way, dims))
            self.count(f"export func, array {way} {kind}")
            self.count(f"export func, array of extents [{', '.join(dims)}]")
        if not any("n" in a.dims for a in arrays):
            arrays[0].dims = ["n"]
        params = [*arrays, Param(self.name_new("p"), "real")]
        self.scope.append({"name": params[-1].name, "kind": "real", "lo": -3, "hi": 3, "mutable": False})
        self.rng.shuffle(params)
        self.sink()
        for _ in range(self.rng.randint(1, 2)):
            self.array_function_loop(arrays)
        result = self.chance(0.5)
        if result:
            self.emit(f"return {self.fit(self.value('real', 2), -3, 3)};")
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)", " derive(grad)", " derive(jvp)"])
        self.function_lines += [f"export func {name}({', '.join(map(str, params))}){' -> real' if result else ''}{derive} {{", *self.lines, "}"]
        for a in arrays:
            a.dims = [str(self.extent(d)) if "K" in d else d for d in a.dims]
        self.array_functions.append({"name": name, "params": params, "result": result})
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False

    def array_function_loop(self, arrays):
        """Over one of the arrays, or up to its extents; what the body changes is of all of them."""
        over = self.rng.choice(arrays)
        names = [self.name_new("i") for _ in over.dims]
        mark = len(self.scope)
        for i, d in zip(names, over.dims):
            self.loop_var(f"i32({i})", 0, 1 if d == "2" else 2)    # it is as wide as the extent of an array
        for a in arrays:
            for near in (False, True):
                self.array_element(a, dict(zip(reversed(over.dims), reversed(names))), near)
        self.budget = self.rng.choice([2, 4, 8])
        self.enter(3 ** len(names))
        self.jumps += 1
        ranges = f"range({over.dims[0]})" if len(names) == 1 else f"ndrange({', '.join(over.dims)})"
        self.braces(f"for {', '.join(names)} in {self.rng.choice([ranges, over.name])}", 8, tail=self.assign)
        self.jumps -= 1
        self.leave(3 ** len(names))
        del self.scope[mark:]

    def array_element(self, a, loops, near):
        """What the scope has of an array: its element where the loop stands, or one beside that."""
        subs = []
        for d in a.dims:
            i = loops.get(d)
            subs.append(self.rng.choice(["0", f"{d} - 1", "1"]) if not i else f"({i} + 1) % {'(' + d + ')' if ' ' in d else d}" if near else i)
        at = f"{a.name}[{', '.join(subs)}]"
        for path, k in members(a.kind):
            if k in INTEGERS or k in WIDE:
                self.scope += self.param_values(at + path, k, 3)
                continue
            v = {"name": at + path, "kind": k, "lo": -3, "hi": 3, "mutable": a.way != "in" and not near}
            if a.kind == "Pair" and v["mutable"]:
                v["struct"] = at
            self.scope.append(v)

    def make_function(self):
        """Pure but for reads of the kernel's inputs; those for the host (`export func`) read nothing."""
        name = f"{self.name}_f{len(self.functions) + len(self.pairs)}"
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.pure = self.chance(0.15)
        generic = not self.pure and self.chance(0.25)
        args = [self.pick((4, "real"), (2, "vec2"), (2, "vec3"), (1.5, "mat2"), (0.5, "vec5"), (0.7, "Pair"), (0.7, "Part"),
                          (1, "mat2x3"), (0.7, self.rng.choice(OBLONG)), (0.5, "vec7"), (0.3, "vec1"), (0.4, "Frame"), (0.4, self.rng.choice([*WIDE, "Tone"]))) for _ in range(self.rng.randint(1, 3))]
        args += [self.pick((4, "int"), (1, "i64"), (1, "u8"), (1, "i16"), (1, "bool"))] if self.chance(0.4) else []
        result = self.pick((4, "real"), (2, "vec2"), (2, "vec3"), (0.7, "mat2"), (0.7, self.rng.choice(OBLONG)), (0.4, self.rng.choice(VECTORS)))
        two = self.chance(0.2)
        self.lines, self.pad, self.scope, self.inside, self.kernel_level, self.drawn = [], 1, [], True, False, False
        self.mult = 4
        names = []
        for k in args:
            n = self.name_new("p")
            names.append(n)
            self.scope += self.param_values(n, k, 3)
            self.count(f"{'export func' if self.pure else 'function'}, parameter {k}")
        self.count("export func" if self.pure else "function" + (" generic" if generic else "") + (" of several results" if two else ""))

        def result_text():
            e = self.fit(self.value(result, 2), -3, 3)
            return f"{e}, {self.fit(self.value('real', 1), -3, 3)}" if two else str(e)
        self.budget = self.rng.choice([0, 2, 4, 14])
        if self.budget == 14:
            self.count("function, large")
        self.early = None if self.chance(0.5) or generic and two or self.pure else result_text
        if self.budget:
            self.sink()
        self.block(self.rng.randint(0, 3) if self.budget < 14 else 7)
        if self.early and self.chance(0.7):
            self.count("return, early")
            self.emit(f"if ({self.condition(1)}) {{ return {result_text()}; }}")
            self.block(1)
        args_used = [v for v in self.scope if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
        if args_used:
            e = f"{'sin' if self.chance(0.5) else 'tanh'}({self.total(args_used)})"
            e = self.fit(Expr(f"({self.rng.choice(['0.5 * ', ''])}{e})", "real", -1, 1), -1, 1)
            r = self.fit(self.value(result, 2), -1.8, 1.8)
            self.emit(f"return {r} + {e}{', ' + str(self.fit(self.value('real', 1), -3, 3)) if two else ''};")
        else:
            self.emit(f"return {result_text()};")
        self.early = None
        written = TYPES.get(result, result)
        plist = ", ".join(n if generic else f"{n}: {TYPES.get(k, k)}" for n, k in zip(names, args))
        out = "" if generic else f" -> ({written}, real)" if two else f" -> {written}"
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)", " derive(grad)", " derive(jvp)"]) if self.pure else ""
        body = [f"{'export ' if self.pure else ''}func {name}({plist}){out}{derive} {{", *self.lines, "}"]
        weight = 20 if self.nested_function else 1
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.function_lines += body
        f = {"name": name, "args": args, "result": result, "weight": weight, "two": two, "pure": self.pure, "draws": self.drawn}
        self.pure = False
        (self.pairs if two else self.functions).append(f)
