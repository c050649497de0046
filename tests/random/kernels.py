"""What stands at kernel level around parallel loops."""
from expressions import Expr, num
from kinds import FLOATS, INTEGERS, OBLONG, STRUCTS, WIDE, members
from module import CONSTANT_EXTENTS, RANGE, Field
from stub import Kernel, Param


class Kernels:
    """Part of a Program."""

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
                         (1.2 if not in_loop else 0, self.kernel_loop), (0.5, self.serial_for), (0.4 if not in_loop else 0, self.time_steps), (0.3, self.var), (0.5, self.called_kernel), (0.3, self.array), (0.15, self.static_if), (0.1, self.effect), (0.15, self.print_), (0.2, self.static_chain),
                         (0.3, self.varied_for), (0.15 if not self.plain else 0, self.constant_block), (0.3, self.varied_array), (0.6 if self.plane and not in_loop else 0, self.change_plane), (0.6 if self.array_functions else 0, self.call_array_function),
                         (0.6 if self.typed_functions or self.references else 0, self.call_typed_function))
        make()

    def called_kernel(self):
        """Some of the kernel's work in a kernel of its own, called here. It sees none of the locals."""
        name = self.name_new(f"{self.name}_s")
        self.count("kernel called by a kernel")
        params = [self.param(0.4) for _ in range(self.rng.choice([0, 1, 2]))]
        args = [self.argument(p.kind, 2, 2) for p in params]
        arrays, extents = [], {}
        for _ in range(self.pick((6, 0), (2, 1), (2, 2))):
            given = self.array_given(arrays, extents)
            if given:
                args.append(given[0])
                params.append(given[1])
        result = self.pick((6, None), (1, "real"), (0.5, "vec2"), (0.5, "Pair"), (0.3, "int"))
        if self.plane and not self.derive:    # stub.py does not know which derivative it lacks
            result = None
        self.part(name, params, arrays, result)
        call = f"{name}({', '.join(args)})"
        if not result:
            return self.emit(call + ";")
        self.count(f"result {result} of a called kernel")
        n = self.name_new("l")
        self.emit(f"let {n} = {call};")
        self.scope += self.param_values(n, result, 3)
        return None

    def array_given(self, arrays, extents):
        """A field, an array of the host or a local array for a kernel that is called: (its name, the parameter), or None. Also checked alone, a kernel finds
        the extents that tools/adcheck gives."""
        way = self.pick((3, "in"), (1, "inout"), (1 if self.locked is None else 0, "out"))
        taken = {f.name for f in arrays}
        if self.chance(0.35):
            return self.structs_given(way, arrays, taken)
        if way == "in":
            found = [f for f in self.fields if f.role in ("active", "array") and self.may_read(f)]
            found += [self.local_field(v) for v in self.scope if v["kind"] == "array" and len(v["sizes"]) == 1 and not v["suffix"] and v["elem"] != "int"]
        else:
            found = self.writes_possible(lambda f: True)
        found = [f for f in found if f.dims and not any(d[0] == "(" and "K" not in d for d in f.dims) and not f.member and f.name not in taken and not (f.saved and way == "out")]
        if not found:
            return None
        f, n = self.rng.choice(found), self.name_new("p")
        dims, fresh = [], dict(extents)
        for d in f.dims:
            known = [k for k, v in fresh.items() if v == self.extent(d)]
            if "_" in d or self.chance(0.3):
                if not known and self.extent(d) == 4 - len(fresh) % 2:
                    known = [self.name_new("n")]
                    fresh[known[0]] = self.extent(d)
                if not known and "_" in d:
                    return None
            dims.append(known[0] if known and ("_" in d or self.chance(0.3)) else d)
        if set(fresh) - set(extents) - set(dims):
            return None
        extents.update(fresh)
        self.extents.update(fresh)
        g = Field(f.name, f.single or f.kind, dims, "array")
        g.base, g.way, g.saved = n, way, f.saved
        arrays.append(g)
        if way == "out":
            self.written.add(f.name)
        self.count(f"{'local array' if f.role == 'local' else 'array of the host' if f.way else 'field'} given to a kernel, {way}")
        return f.base, Param(n, f.single or f.kind, way != "in" or self.chance(0.8), way, dims)

    def structs_given(self, way, arrays, taken):
        """A field or an array of Pair."""
        free = self.writes_possible(lambda f: not f.saved) if way != "in" else [f for f in self.fields if f.role in ("active", "array") and self.may_read(f)]
        pairs = [(f, g) for f in free for g in free if f.member == "a" and g.member == "b" and f.base == g.base and not taken & {f.name, g.name} and "_" not in "".join(f.dims)]
        if not pairs:
            return None
        n = self.name_new("p")
        pair = self.rng.choice(pairs)
        for f in pair:
            g = Field(f.name, f.kind, f.dims, "array")
            g.base, g.way = n, way
            arrays.append(g)
            if way == "out":
                self.written.add(f.name)
        self.count(f"{'array' if f.way else 'field'} of structs given to a kernel, {way}")
        return f.base, Param(n, "Pair", way != "in" or self.chance(0.8), way, f.dims)

    def local_field(self, v):
        """A local array as if it were a field."""
        f = Field(v["name"], v["elem"], [str(v["sizes"][0])], "local")
        f.way = "in"
        self.range[f.name] = [-3.2, 3.2]
        return f

    def part(self, name, params, arrays=(), result=None):
        """A kernel of its own."""
        saved = self.lines, self.pad, self.scope, self.nest, self.arrays, self.tables, self.given
        self.lines, self.pad, self.nest, self.arrays, self.tables = [], 1, 0, list(arrays), self.module.tables
        self.given = self.given | {f.name for f in arrays} | {f.name for f in saved[4]}
        self.scope = [v for p in params if not p.way for v in self.param_values(p.name, p.kind, 2)]
        self.items(self.rng.randint(1, 2))
        used = [v for v in self.scope if v["kind"] in FLOATS and not v.get("used")]
        if used:
            self.emit(f"loss += 0.5 * sin({self.total(used)});")
        if result:
            self.emit(f"return {self.argument(result, 2, 3)};")
        kernel = Kernel(name, params, result)
        self.called += [kernel, *self.lines, "}"]
        self.kernels.append(kernel)
        self.lines, self.pad, self.scope, self.nest, self.arrays, self.tables, self.given = saved
        return kernel

    def param(self, grad):
        """A parameter by value; `grad`: how often it has a gradient."""
        return self.param_of(self.pick((4, "real"), (2, "vec2"), (2, "vec3"), (1.5, "int"), (0.4, "i64"), (0.3, "u8"), (0.3, "bool"), (0.6, "mat2"), (0.3, "vec5"), (0.8, "Pair"),
                                       (0.6, "Part"), (0.6, self.rng.choice(OBLONG)), (0.3, "vec7"), (0.2, "vec1"), (0.4, "Frame"), (1.6, self.rng.choice([*WIDE, "Tone"]))), grad)

    def param_of(self, kind, grad):
        p = Param(self.name_new("p"), kind, kind not in INTEGERS and self.chance(grad))
        self.count(f"kernel parameter {kind}" + (" needs_grad" if p.grad else ""))
        return p

    def param_values(self, name, kind, most):
        """What the scope has of a parameter: a value, or the members of a struct."""
        found = []
        for path, k in members(kind, name):
            whole = k in INTEGERS and k != "bool"
            text = f"i32({path})" if whole and k != "int" else self.widened(path, k) if k in WIDE else path
            found.append({"name": text, "kind": "int" if whole else WIDE.get(k, k), "lo": 0 if whole else -most, "hi": 4 if whole else most, "mutable": False})
        return found

    def argument(self, kind, d, most):
        """A value for a parameter of this kind."""
        if kind == "bool":
            return self.condition(1)
        if kind in INTEGERS:
            text = self.integer(0, 4, d - 1)
            return text if kind == "int" else f"{kind}({text})"
        if kind in WIDE:
            return self.exact(kind)
        if kind in STRUCTS:
            call = self.call_of(kind, d) if d > 0 and self.chance(0.3) else None
            return call or f"{kind}({', '.join(self.argument(k, d, most) for _, k in STRUCTS[kind])})"
        return str(self.fit((self.value if self.chance(0.7) else self.unsure)(kind, d), -most, most))

    def array_param(self):
        """An array of the host among the kernel's parameters: like a field, but for its rules about `out`."""
        way = self.pick((3, "in"), (1.5, "out"), (1.5, "inout"))
        kind = self.pick((4, "real"), (1.5, "vec2"), (1, "vec3"), (0.6, "mat2"), (0.3, "mat3"), (1.2, "Pair"), (0.6, "Part"), (0.7, self.rng.choice(OBLONG)), (0.3, "vec7"),
                         (0.4, "Frame"), (0.9, self.rng.choice([*WIDE, "Tone"])), (1 if way == "in" else 0, "int"),
                         (0.6 if way == "in" else 0, self.rng.choice(["i64", "u8", "bool", "ivec2"])))
        n = self.name_new("p")
        own = ["N", "M", "L", "3", *CONSTANT_EXTENTS]
        known = sorted({d for p in self.params for d in p.dims} - {*own})
        rank, dims = self.pick((3, 1), (1.5, 2), (0.2, 3)), []
        for _ in range(rank):
            dims.append(self.rng.choice(own) if self.chance(0.25) else self.rng.choice(known) if known and self.chance(0.6) else self.name_new("n"))
            known = sorted({*known, dims[-1]} - {*own})
        for path, k in members(kind):
            f = Field(n + path, k, dims, "table" if k in INTEGERS or k == "ivec2" else "array")
            f.way = way
            (self.arrays if f.role == "array" else self.tables).append(f)
            self.range[f.name] = [-RANGE, RANGE] if way != "out" else [0, 0]
        grad = (kind in FLOATS or kind in WIDE or kind in STRUCTS) and (way != "in" or self.chance(0.7))
        self.count(f"array {way} {kind} {rank}-D" + (" needs_grad" if grad else ""))
        return Param(n, kind, grad, way, dims)

    def kernel_write(self):
        """A write at kernel level, outside of any loop over data."""
        if self.locked is None and not self.looping and not self.plain and self.chance(0.15):
            self.cells = ["ticket", "mark"]
            self.atomic()
            self.cells = ()
        if self.chance(0.1):
            self.counter_alone()
        found = self.writes_possible(lambda f: not f.single)
        if not found:
            return self.let()
        f = self.rng.choice(found)
        self.hidden = self.hidden | {f.name}
        won = not self.plain and self.chance(0.15)
        e = self.fit(self.value("real" if won else f.kind, 3), -6, 6)
        subs = ", ".join(str(self.rng.randrange(self.extent(d))) for d in f.dims)
        self.hidden = self.hidden - {f.name}
        if won:
            self.count("kernel-level minimum or maximum")
            return self.winner(f, self.at(f, subs), self.rng.choice(["min", "max"]), e)
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
        found = [v for v in self.scope[mark:] if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
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

    def print_(self):
        """A line in a launch, and none in its adjoint."""
        self.count("print")
        more = self.rng.choice(["", f", {self.flat('vec2', 0)}", f", {self.flat('mat2', 0)}, f32(2.5)", f", {self.condition(0)}, i64(3), u8({self.integer(0, 4, 0)})", ", ivec2(1, 2), \" end\""])
        self.emit(f'print("v ", {self.flat("real", 1)}, {self.integer(0, 4, 0)}{more});')

    def lock(self):
        """Chooses what a loop around tasks may write; that is not read in it."""
        found = [f.name for f in [*self.fields, *self.module.counters, *self.module.counted] if not self.closed(f) and f.name not in self.inputs]
        self.rng.shuffle(found)
        self.locked = set(found[:max(1, len(found) // 2)])
        for f in self.locked & self.saves:    # read in the loop, at a time when it may have grown
            self.range[f] = [-400, 400]

    def kernel_loop(self):
        form = self.pick((2, "serial for"), (1, "while"), (0.4, "static for"))
        self.count("kernel-level " + form)
        if self.chance(0.6):
            self.var()
        self.lock()
        trips = self.rng.randint(2, 3)
        i = self.name_new("i")
        mark = len(self.scope)
        if form == "while":
            self.emit(f"var {i} = 0;")
            self.emit(f"while ({i} < {trips}){self.limit(trips)} {{")
        else:
            self.emit(f"{form} {i} in range({trips}) {{")
        self.loop_var(i, 0, trips - 1)
        frozen = self.tables_frozen
        self.tables_frozen = True
        self.pad += 1
        self.enter(trips)
        saved, outer = self.nest, self.rare
        self.nest = 0
        if form != "static for" and self.chance(0.12):
            self.count("kernel-level break or continue")
            self.emit(f"if ({self.condition(1)}) {{ {'break' if form == 'while' else self.rng.choice(['break', 'continue'])}; }}")
            self.rare += 1
        self.items(self.rng.randint(1, 3))
        self.rare, self.nest = outer, saved
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
        found = self.writes_possible(lambda f: len(f.dims) == 1 and not f.single)
        if not found:
            return self.let()
        f = self.rng.choice(found)
        i = self.name_new("i")
        self.count("serial for")
        self.hidden = self.hidden | {f.name}
        mark = len(self.scope)
        self.emit(f"serial for {i} in range(1, {f.dims[0]}) {{")
        self.loop_var(f"i32({i})" if "_" in f.dims[0] else i, 1, self.extent(f.dims[0]) - 1)    # it is as wide as the extent
        self.pad += 1
        self.enter(self.extent(f.dims[0]))
        self.block(self.rng.randint(0, 2))
        e = self.fit(self.value(f.kind, 2), -4, 4)
        if f.kind == "real" and not self.plain and self.chance(0.2):
            self.count("minima or maxima in a serial for")
            near = f"0.9 * {self.at(f, f'{i} - 1')} + " if self.chance(0.5) else ""
            self.winner(f, self.at(f, i), self.rng.choice(["min", "max"]), Expr(f"{near}{e}", "real", e.lo - 40, e.hi + 40) if near else e)
        elif self.chance(0.5):
            self.count("recurrence through memory")
            at = self.at(f, i)
            self.emit(f"{at} = sin({self.at(f, f'{i} - 1')}) * {e};" if self.locked is None else f"{at} += {e};")
            self.grow(f, e, "=" if self.locked is None else "+=")
            if self.locked is None:
                self.frozen.add(f.name)
        else:
            self.emit(f"{self.at(f, self.integer(0, self.extent(f.dims[0]) - 1, 0))} += {e};")
            self.grow(f, e, "+=")
        self.leave(self.extent(f.dims[0]))
        self.pad -= 1
        self.emit("}")
        self.hidden = self.hidden - {f.name}
        del self.scope[mark:]
        return None

    def time_steps(self):
        """A field whose first axis is time: each step reads the one before."""
        found = self.writes_possible(lambda f: len(f.dims) == 2 and f.kind == "real" and not f.single and not f.way)
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
        found = [f for f in self.fields if f.name in self.sure and self.sure[f.name] < (2 if f.member else self.rng.choice([1, 2, 2])) and f.name not in self.written]
        self.rng.shuffle(found)
        while found:
            n = self.rng.randint(1, 3)
            some, found = found[:n], found[n:]
            self.sure.update({f.name: 2 for f in some})
            over = self.rng.choice(some)
            mark = len(self.scope)
            names = [self.name_new("i") for _ in over.dims]
            for i, d in zip(names, over.dims):
                self.loop_var(i, 0, self.extent(d) - 1)
            self.count("inputs used in a task of their own" if names else "inputs used at kernel level")
            lo, hi = zip(*(self.range[f.name] for f in some))
            parts = [{"name": self.read(f, ", ".join(names) if f is over else self.subscripts(f)), "kind": f.kind, "lo": a, "hi": b} for f, a, b in zip(some, lo, hi)]
            outer, way = self.rng.choice(["sin", "tanh", "atan"]), self.rng.choice(["+=", "-="])
            text = f"loss {way} {num(self.rng.choice([0.3, 0.7, 1.2]))} * {outer}(0.4 * ({self.total(parts)}));"
            self.emit(f"for {', '.join(names)} in {over.base} {{ {text} }}" if names else text)
            del self.scope[mark:]
