"""Functions of arrays and fields, and calls of them."""
from expressions import Expr
from kinds import FLOATS, INTEGERS, OBLONG, TYPES, WIDE, members
from stub import Param


class References:
    """Part of a Program."""

    def make_reference_function(self):
        """It reads, or also writes, a local array, a field or an array of the host that it is given."""
        name = f"{self.name}_r{len(self.references)}"
        f = {"name": name, "elem": self.pick((3, "real"), (1, "vec2"), (1, "vec3"), (0.6, "mat2x3")), "writes": self.chance(0.4), "pure": self.chance(0.4), "rank": self.pick((3, 1), (1, 2))}
        self.count(f"function of an array, {f['rank']}-D, " + ("writing" if f["writes"] else "reading"))
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.lines, self.pad, self.inside, self.kernel_level, self.mult, self.pure, self.drawn = [], 1, True, False, 8, f["pure"], False
        w, k, al, i, j = (self.name_new("p") for _ in "wkaij")
        subs = i if f["rank"] == 1 else f"{i}, {j}"
        self.scope = [{"name": k, "kind": "int", "lo": 0, "hi": 4, "mutable": False}, {"name": al, "kind": "real", "lo": -3, "hi": 3, "mutable": False}]
        self.budget = self.rng.choice([1, 2, 4])
        total = self.sink()
        mark = len(self.scope)
        self.loop_var(f"i32({i})", 0, max(6, *self.module.extent.values()))    # of the longest field
        self.scope.append({"name": f"{w}[{subs}]", "kind": f["elem"], "lo": -4, "hi": 4, "mutable": False})
        self.enter(6)
        self.jumps += 1
        part = f"{w}[{subs}]" if f["elem"] == "real" else self.rng.choice([f"sum({w}[{subs}])", f"norm({w}[{subs}], 0.2)"])

        def step():
            self.emit(f"{total['name']} = 0.4 * {total['name']} + sin({part} * {self.fit(self.value('real', 1), -1, 1)});")
            if f["writes"]:
                self.emit(f"{w}[{subs}] = {self.fit(self.value(f['elem'], 2), -2, 2)};")
        self.braces(f"for {subs} in {self.rng.choice([w, f'range(len({w}))']) if f['rank'] == 1 else w}", self.rng.randint(0, 2), tail=step)
        self.jumps -= 1
        self.leave(6)
        del self.scope[mark:]
        last = f"{w}[{k} % i32(len({w})){', 1' if f['rank'] == 2 else ''}]"
        if f["writes"]:
            self.emit(f"{w}[{'0' if f['rank'] == 1 else '0, 0'}] = 0.5 * {last} + {self.fit(self.value(f['elem'], 1), -1, 1)};")
        self.emit(f"return 0.5 * sin({total['name']}) + 0.3 * tanh({last if f['elem'] == 'real' else f'sum({last})'} * {self.fit(self.value('real', 1), -1, 1)});")
        typed = self.chance(0.5)
        params = f"{w}, {k}{': i32' if typed else ''}, {al}: real"
        self.function_lines += [f"func {name}({params}){' -> real' if typed else ''} {{", *self.lines, "}"]
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False
        f["draws"] = self.drawn
        self.references.append(f)

    def array_argument(self, f):
        """Of a function of arrays: a name, or None."""
        local = [v for v in self.scope if v["kind"] == "array" and v["elem"] == f["elem"] and not v["suffix"] and len(v["sizes"]) == f["rank"] and (v["mutable"] or not f["writes"])]
        fields = []
        if not f["writes"] and not self.pure and not self.rare and not self.passive:
            fields = [x for x in self.fields if x.kind == f["elem"] and len(x.dims) == f["rank"] and not x.single and not x.member and x.role in ("active", "array") and self.may_read(x)
                      and x.name not in self.own and max(map(abs, self.range[x.name])) <= 4]
            slabs = [x for x in self.fields if x.kind == f["elem"] and len(x.dims) == f["rank"] + 1 and not x.single and not x.member and x.role in ("active", "array") and self.may_read(x)
                     and x.name not in self.own and max(map(abs, self.range[x.name])) <= 4]
            if slabs and self.chance(0.4):
                x = self.rng.choice(slabs)
                self.count("slab given to a function")
                if not self.inside:
                    self.frozen.add(x.name)
                    self.sure[x.name] += 0
                return f"{x.name}[{self.integer(0, self.extent(x.dims[0]) - 1, 1)}]"
        if local and (not fields or self.chance(0.6)):
            self.count("local array given to a function")
            return self.rng.choice(local)["name"]
        if not fields:
            return None
        x = self.rng.choice(fields)
        self.count("array of the host given to a function" if x.way else "field given to a function")
        if not self.inside:
            self.frozen.add(x.name)
            self.sure[x.name] += 0    # it may make little of it: `uses` reads it once more
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
        found = [f for f in self.references if f["writes"] and f["elem"] == v["elem"] and f["rank"] == len(v["sizes"]) and self.mult < 300 and self.callable(f)]
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
                self.sure[field.name] += 0
                self.count("array of the host given to an export func" if field.way else "field given to an export func")
                continue
            args.append(self.array_of(a.kind, sizes))
        if f["result"]:
            return self.declare("real", f"{f['name']}({', '.join(args)})", -3, 3, False)
        return self.emit(f"{f['name']}({', '.join(args)});")

    def array_of(self, kind, sizes):
        """A local array, filled; its name. Not every element is read."""
        self.rare += 1
        r = self.fill_new(kind, sizes)
        self.rare -= 1
        return r

    def fill_new(self, kind, sizes):
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
            dims = self.pick((4, ["n"]), (1.5, ["n", "m"]), (0.7, ["n", "n"]), (0.7, ["3", "n"]), (1.2, ["3"]), (0.5, ["2", "3"]), (0.5, ["(2 * K - 1)"]))
            kind = self.pick((3, "real"), (1.5, "vec2"), (1, "vec3"), (1.2, "mat2"), (0.6, "mat3"), (1.2, "Pair"), (0.7, "Part"), (0.5 if way == "in" else 0, "int"),
                             (0.8, self.rng.choice(OBLONG)), (0.4, "vec7"), (0.4, "Frame"), (2, self.rng.choice([*WIDE, "Tone"] if way == "in" else list(WIDE))))
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
        if any(a.kind in WIDE and a.way != "in" for a in arrays):    # what it rounds is no data for differences of kernels
            self.count("export func, array of f32 written")
        else:
            self.array_functions.append({"name": name, "params": params, "result": result})
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False

    def array_function_loop(self, arrays):
        """Over one of the arrays, or up to its extents; what the body changes is of all of them."""
        over = self.rng.choice(arrays)
        names = [self.name_new("i") for _ in over.dims]
        mark = len(self.scope)
        for i, d in zip(names, over.dims):
            self.loop_var(f"i32({i})", 0, 1 if d in ("2", "K") else 2)    # it is as wide as the extent of an array
        for a in arrays:
            for near in (False, True):
                self.array_element(a, dict(zip(reversed(over.dims), reversed(names))), near)
        self.budget = self.rng.choice([2, 4, 8])
        self.enter(3 ** len(names))
        self.jumps += 1
        stored = [a for a in arrays if a.kind in WIDE and a.way in ("inout", "out")]

        def last():
            for a in stored:
                subs = ", ".join(dict(zip(reversed(over.dims), reversed(names))).get(d, "0") for d in a.dims)
                self.emit(f"{a.name}[{subs}] {self.rng.choice(['=', '+='])} {a.kind}({self.fit(self.value(WIDE[a.kind], 2), -2, 2)});")
            self.assign()
        ranges = f"range({over.dims[0]})" if len(names) == 1 else f"ndrange({', '.join(over.dims)})"
        self.braces(f"for {', '.join(names)} in {self.rng.choice([ranges, over.name])}", 8, tail=last)
        self.jumps -= 1
        self.leave(3 ** len(names))
        del self.scope[mark:]

    # ---- of local arrays of a type ----

    def make_typed_function(self):
        """A function of local arrays, by their types or by any."""
        name = f"{self.name}_t{self.names}"
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        f = {"name": name, "writes": self.chance(0.5), "pure": self.chance(0.3)}
        self.lines, self.pad, self.scope, self.inside, self.kernel_level, self.mult, self.pure, self.drawn = [], 1, [], True, False, 8, f["pure"], False
        f["arrays"] = arrays = []
        for _ in range(self.rng.choice([1, 1, 2])):
            dims = self.rng.choice([["3"], ["2"], ["K"], ["(2 * K - 1)"], ["2", "3"], ["3", "K"]])
            kind = self.pick((3, "real"), (1, "vec2"), (1, "vec3"), (0.7, "mat2"), (1, self.rng.choice(OBLONG)), (0.4, "vec7"), (1, "Pair"), (0.5, "Part"), (0.5, "Frame"),
                             (0 if f["writes"] else 0.7, self.rng.choice([*WIDE, "Tone", "int", "i64"])))
            arrays.append(Param(self.name_new("p"), kind, False, "inout" if f["writes"] else "in", dims))
        f["typed"] = typed = [self.chance(0.75) for _ in arrays]
        al = self.name_new("p")
        self.scope.append({"name": al, "kind": "real", "lo": -3, "hi": 3, "mutable": False})
        for a, one in zip(arrays, typed):
            self.count(f"function of a local array, {'of type' if one else 'of any type'}, {a.kind}")
        self.count(f"function of {'typed' if any(typed) else 'any'} local arrays, {'writing' if f['writes'] else 'reading'}")
        self.sink()
        for _ in range(self.rng.randint(1, 2)):
            self.array_function_loop(arrays)
        f["result"] = result = self.pick((3, "real"), (1 if f["writes"] else 0, None), (0.7, "vec2"), (0.7, "Pair"))
        if result:
            self.emit(f"return {self.argument(result, 2, 3)};")
        plist = [f"{a.name}: {TYPES.get(a.kind, a.kind)}[{', '.join(a.dims)}]" if one else a.name for a, one in zip(arrays, typed)]
        plist.insert(self.rng.randint(0, len(plist)), f"{al}: real")
        f["real"] = plist.index(f"{al}: real")
        self.function_lines += [f"func {name}({', '.join(plist)}){f' -> {result}' if result and self.chance(0.6) else ''} {{", *self.lines, "}"]
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False
        f["draws"] = self.drawn
        self.typed_functions.append(f)

    def call_typed_function(self):
        found = [f for f in self.typed_functions if self.mult < 100 and self.callable(f)]
        others = [f for f in self.references if self.mult < 30 and self.callable(f)]
        if self.inside or not found + others:
            return self.let()
        if not found or others and self.chance(0.3):
            return self.give_new_array(self.rng.choice(others))
        f = self.rng.choice(found)
        f["called"] = True
        args = []
        for a in f["arrays"]:
            sizes = [self.extent(d) if not d[0] == "2" or d == "2" else 3 for d in a.dims]
            local = [v["name"] for v in self.scope if v["kind"] == "array" and v["elem"] == a.kind and v["sizes"] == sizes and not v["suffix"] and v["fixed"]
                     and (v["mutable"] or not f["writes"]) and v["name"] not in args]
            args.append(self.rng.choice(local) if local and self.chance(0.7) else self.array_of(a.kind, sizes))
        self.count("call of a function of typed local arrays")
        args.insert(f["real"], str(self.fit(self.value("real", 2), -3, 3)))
        self.drawn |= f["draws"]
        call = f"{f['name']}({', '.join(args)})"
        if not f["result"]:
            return self.emit(call + ";")
        n = self.name_new("l")
        self.emit(f"let {n} = {call};")
        self.scope += self.param_values(n, f["result"], 3)
        return None

    def give_new_array(self, f):
        """To a function of any array."""
        w = self.array_of(f["elem"], [self.rng.randint(2, 4) for _ in range(f["rank"])])
        self.count("local array written by a function" if f["writes"] else "local array given to a function")
        self.drawn |= f["draws"]
        self.declare("real", f"{f['name']}({w}, {self.integer(0, 4, 0)}, {self.fit(self.value('real', 1), -3, 3)})", -0.8, 0.8, False)

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
