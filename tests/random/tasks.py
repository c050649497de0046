"""Parallel loops and what they write."""
from expressions import Expr
from kinds import FLOATS, length, shape


class Tasks:
    """Part of a Program."""

    def grow(self, f, e, way):
        self.written.add(f.name)
        r = self.range[f.name]
        if way == "=":
            r[0], r[1] = min(r[0], e.lo), max(r[1], e.hi)
        else:
            # a loop around the task runs the statement again; in an export func, one that the subscripts do not tell
            times = self.mult * (7 if self.pure else 1)
            lo, hi = (e.lo, e.hi) if way == "+=" else (-e.hi, -e.lo)
            r[0] += times * min(0, lo)
            r[1] += times * max(0, hi)

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
        won = way.startswith("winner")
        rare = won and self.chance(0.6)    # of what loses, nothing is left
        self.rare += rare
        e = self.fit(self.value("real" if won else f.kind, self.rng.randint(1, 4)), -6, 6)
        self.rare -= rare
        if last and self.left:
            c, g = self.rng.choice([("0.7", "sin"), ("1.1", "tanh"), ("0.5", "cos")])
            e = Expr(f"{e} + {c} * {g}({self.total(self.left)})", e.kind, e.lo - 1.1, e.hi + 1.1)
            self.left = []
        if self.closed(f):    # the value reads the element that this iteration stored
            self.declare(f.kind, e, e.lo, e.hi, False)
            return None
        at = self.at(f, subs() if callable(subs) else subs)
        if won:
            return self.winner(f, at, way.split()[1], e, subs)
        if f.single:
            op = "=" if way == "own" and f.name not in self.written and not self.looping and self.chance(0.5) else "+="
            self.emit(f"{at} {op} {f.single}({e});")
            self.grow(f, e, op)
            self.count(f"f32 {f.kind} " + ("stored" if op == "=" else "accumulated"))
            return None
        if way in ("own", "shift store") and not self.looping and self.chance(0.55):
            again = f.name in self.written
            form = self.pick((0.3 if again else 3, "="), (1, "linear"), (0.7 if not last else 0, "*=")) if way == "own" else "="
            self.count("field " + form)
            if form == "linear" or form == "*=":
                self.written.add(f.name)
                if form == "*=":
                    self.emit(f"{at} *= {self.rng.choice(['0.5', '-0.9', 'C', '1.1'])};" if self.chance(0.7) else f"{at} /= 2.0;")
                else:
                    self.emit(f"{at} = {self.rng.choice(['0.9', '-0.5', 'C'])} * {at} + {e};")
                    self.grow(f, e, "+=")
                r = self.range[f.name]
                m = max(abs(r[0]), abs(r[1])) * (1.1 ** min(self.mult, 8) if form == "*=" else 1)
                r[0], r[1] = -m, m
            elif not self.store_struct(f, at, e, subs) and not self.store_component(f, at):
                self.emit(f"{at} = {e};")
                self.grow(f, e, "=")
            if way == "own" and not self.conditional and not f.single:
                self.own[f.name] = subs
        elif way == "shift store":
            self.emit(f"let {self.name_new('l')} = {e};")
        else:
            op = self.rng.choice(["+=", "+=", "-="])
            if f.name in self.own:
                del self.own[f.name]
            if f.kind != "real" and self.chance(0.25):
                return self.add_component(f, at, op, e)
            if f.kind == "real" and self.chance(0.12):
                self.count("atomic_add or atomic_sub")
                self.emit(f"atomic_{'add' if op == '+=' else 'sub'}({at}, {e});")
            elif not self.add_by_function(f, subs, op, e):
                self.emit(f"{at} {op} {e};")
            self.grow(f, e, op)
            self.count(f"accumulate {way}")
        return None

    def store_struct(self, f, at, e, subs):
        """Both members of an element at once, if the task writes both, and neither before."""
        other = next((c[0] for c in self.writable if c[0] is not f and f.member and c[0].name[:-1] == f.name[:-1] and c[1:] == (subs, "own")), None)
        if not other or not {f.member[-1], other.member[-1]} == {"a", "b"} or {f.name, other.name} & (self.written | self.frozen) or self.chance(0.2):
            return False
        self.count("struct stored")
        value = {f: e, other: self.fit(self.value(other.kind, 2), -6, 6)}
        if {f.name, other.name} & self.frozen:
            return False
        a, b = sorted(value, key=lambda x: x.name)
        self.emit(f"{at[:-2]} = Pair({value[a]}, {value[b]});")
        for x in value:
            self.grow(x, value[x], "=")
        return True

    def winner(self, f, at, op, e, subs=None):
        """A minimum or maximum of a field's element, or of a component of it; with `mixed`, of components that are constant."""
        part, k = "", None
        if f.kind[0] == "m":
            n, m = shape(f.kind)
            i, j = self.rng.randrange(n), self.rng.randrange(m)
            part, k = (f"[{i}, {j}]", i * m + j) if op == "mixed" or self.chance(0.5) else (f"[{self.integer(0, n - 1, 0)}, {j}]", None)
        elif f.kind != "real":
            n = length(f.kind)
            k = self.rng.randrange(min(n, 4))
            part = f".{'xyzw'[k]}" if self.chance(0.6) else f"[{k}]"
            if op != "mixed" and self.chance(0.5):
                part = f"[{self.integer(0, n - 1, 0)}]"
        op = op if op != "mixed" else "min" if k % 2 else "max"
        if self.chance(0.6):    # so that it wins more often
            c = self.rng.choice([1.0, 2.0])
            e = Expr(f"{e} {'-' if op == 'min' else '+'} {c}", "real", e.lo - c, e.hi + c)
        self.count(f"atomic_{op} of {'f32' if f.single else 'real'}" + (", a component" if part else ""))
        value = f"f32({e})" if f.single else str(e)
        if not part and subs and not f.single and len(f.dims) == 1 and not f.member and self.chance(0.2):
            self.count("minimum or maximum by a function that is given the field")
            name, w, i, al = f"{self.name}_w{len(self.function_lines)}", *(self.name_new("p") for _ in "wia")
            test = self.rng.choice(["", "", f"if ({al} < 2.5) "])
            body = f"atomic_{op}({w}[{i}], {al});"
            self.function_lines.append(f"func {name}({w}, {i}, {al}) {{ {f'{test}{{ {body} }}' if test else body} }}")
            self.emit(f"{name}({f.base}, {subs() if callable(subs) else subs}, {value});")
        else:
            self.emit(f"atomic_{op}({at}{part}, {value});")
        self.grow(f, e, "=")

    def add_component(self, f, at, op, e):
        """To a part of an element."""
        rows, n = shape(f.kind) if f.kind[0] == "m" else (1, min(length(f.kind), 4))
        form = self.pick((2, "component"), (2 if n > 1 else 0, "swizzle")) if f.kind[0] != "m" else self.pick((1, "row"), (1, "entry"), (1, "swizzle of a row"))
        kind = {"component": "real", "entry": "real", "row": f"vec{n}"}.get(form, "vec2")
        part = {"component": "." + self.rng.choice("xyzw"[:n]), "entry": f"[{self.integer(0, rows - 1, 0)}, {self.rng.randrange(n)}]", "row": f"[{self.integer(0, rows - 1, 0)}]",
                "swizzle": "." + "".join(self.rng.sample("xyzw"[:n], min(n, 2))), "swizzle of a row": f"[{self.rng.randrange(rows)}].yx"}[form]
        value = self.fit(self.value(kind, 2), -6, 6)
        if self.closed(f):    # the value reads it
            part, value = "", e
        self.count(form + " accumulated")
        self.emit(f"{at}{part} {op} {value};")
        self.grow(f, Expr("", f.kind, -6, 6), op)

    conditional = False
    left = ()

    def closed(self, f):
        """An adjoint may need what f holds."""
        return f.name in self.frozen and f.name not in self.saves

    def writes_possible(self, ok):
        return [f for f in self.fields if f.way != "in" and not self.closed(f) and f.name not in self.inputs and ok(f) and not (self.plain and f.saved) and (self.locked is None or f.name in self.locked)]

    def of_rank(self, n):
        """Fields to loop over; arrays of the host as often as all others."""
        found = [f for f in self.arrays if len(f.dims) == n]
        return found if found and self.chance(0.5) else [f for f in self.module.fields if len(f.dims) == n]

    def task(self):
        """A parallel loop: its space, what it writes and how, a body."""
        mark = len(self.scope)
        form = self.pick((3, "field 1"), (3, "range"), (2, "range bounds"), (2, "field 2"), (2.5, "ndrange"), (1.5, "ndrange bounds"), (1, "grouped"), (0.6, "three"),
                         (0.6, "triangular index"), (0.7, "range run-time"))
        i, j, k = self.name_new("i"), self.name_new("i"), self.name_new("i")
        spaces = {"N": "N", "M": "M"}
        shift = {}
        if form == "field 1":
            f = self.rng.choice(self.of_rank(1))
            head, names, dims = f.base, [i], [f.dims[0]]
            bounds = [(0, self.extent(dims[0]) - 1)]
        elif form in ("range", "triangular index"):
            dims = [self.rng.choice("NNM")]
            head, names, bounds = f"range({dims[0]})", [i], [(0, self.extent(dims[0]) - 1)]
        elif form == "range run-time":
            dims = ["N"]
            top = self.extent("N") - 1
            head, *bounds = self.rng.choice([("range(@, N)", 0, top), ("range(@)", 0, 3), ("range(J)", 0, 2), ("range(1, @ + 1)", 1, 4), ("ndrange(N)", 0, top), ("ndrange((1, N))", 1, top),
                                             ("range(len(a))", 0, top), ("range(0, N, 2)", 0, top), ("range(N - 1, -1, -1)", 0, top), ("range(N - 1, @, -2)", 0, top), ("ndrange((@, N, 2))", 0, top)])
            head, names, bounds = head.replace("@", self.integer(0, 4, 1) if "@" in head else ""), [i], [tuple(bounds)]
        elif form == "range bounds":
            dims = [self.rng.choice("NNM")]
            n = self.extent(dims[0])
            head, names, bounds = f"range(1, {dims[0]} - 1)", [i], [(1, n - 2)]
            shift = {0: self.rng.choice([-1, 1])}
        elif form in ("field 2", "grouped"):
            f = self.rng.choice(self.of_rank(2) if form == "field 2" else [x for x in self.module.fields if len(x.dims) == 2])
            dims = list(f.dims)
            head, names, bounds = f.base, [i, j], [(0, self.extent(x) - 1) for x in dims]
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
            self.grouped = i
            self.emit(f"let {j} = {i}.x;")
            self.emit(f"let {k} = {i}.y;")
            names = [j, k]
        chosen, hidden = [], set(self.hidden)
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            w = self.target(names, dims, bounds, shift, form)
            for w in [w, *self.other_member(w)]:
                if not w or w[0].name in [c[0].name for c in chosen]:
                    continue
                chosen.append(w)
                hidden.add(w[0].name)
                if w[2] == "own" and w[0].name in self.saves and not w[0].single and self.chance(0.6):
                    self.own[w[0].name] = w[1]
        if not chosen:
            chosen = [(self.module.loss, "", "reduce")]
        self.hidden = hidden
        for n, (a, b) in zip(names, bounds):
            self.loop_var(n, a, b)
        alone = all(c[2] in ("own", "shift store", "shift") or c[2].startswith("winner") for c in chosen)
        self.mult *= 1 if alone else trips
        self.writable = chosen
        whole = bounds == [(0, self.extent(d) - 1) for d in dims]
        at = "" if self.plain else f"[{names[0]}]" if dims == ["N"] else f"s[{names[0]}, {names[1]}]" if dims == ["N", "M"] and whole else ""
        self.cells = ["cell" + at, "hold" + at if at[0] == "s" else "held" + at] if at else []
        own = dims == ["N"] or dims == ["N", "M"] and whole
        self.counters = self.choose_counters(", ".join(names), dims if own else None)
        self.hidden = self.hidden | {f.name for f, _, _ in self.counters}
        local = len(self.scope)
        if self.chance(0.85):
            self.sink()
        for _ in self.counters:
            for make in self.rng.choice([[], [self.counter], [self.counter, self.counter]]):
                make()
        if self.cells and self.locked is None and self.chance(0.15):
            self.atomic()
        for _ in range(self.rng.randint(0, 5)):
            if self.budget > 0:
                self.budget -= 1
                self.statement()
        for c in chosen:
            self.left = [v for v in self.scope[local:] if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
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
        self.mult //= 1 if alone else trips
        self.kernel_level, self.hidden, self.writable, self.own, self.budget, self.conditional = state
        self.cells, self.counters, self.grouped = (), (), None
        for v in outer:
            v["mutable"] = True
        self.pad -= 1
        self.emit("}")
        del self.scope[mark:]
        return None

    reduced = ()

    def other_member(self, w):
        """Of a struct whose member a task stores: the other one."""
        if not w or not w[0].member or w[2] != "own" or self.chance(0.4):
            return []
        name = w[0].name[:-1] + {"a": "b", "b": "a"}.get(w[0].member[-1], "")
        return [(f, *w[1:]) for f in self.writes_possible(lambda f: f.name == name)]

    def target(self, *space):
        """A field that the task writes, its subscripts and the way."""
        found = self.plain_target(*space)
        if not found or found[2] in ("table", "shift store") or self.plain or not self.chance(0.12):
            return found
        return (*found[:2], "winner " + self.pick((2, "min"), (2, "max"), (2 if found[0].kind != "real" else 0, "mixed")))

    def plain_target(self, names, dims, bounds, shift, form):
        way = self.pick((5, "own"), (1, "reduce"), (1.5 if len(dims) > 1 else 0, "row"), (2 if shift else 0, "shift"), (1, "shift store" if shift else "own"), (2, "scatter"),
                        (0.4 if len(dims) == 1 and dims == ["N"] and not self.tables_frozen and self.locked is None and bounds[0][0] == 0 else 0, "table"))
        if way == "table":
            return (self.module.tables[3], names[0], "table")
        if way in ("own", "shift", "shift store"):
            found = self.writes_possible(lambda f: sorted(f.dims) == sorted(dims) and (f.dims == dims or len(set(dims)) == len(dims)))
            if not found:
                return None
            f = self.rng.choice([f for f in found if f.member and self.chance(0.15)] or found)
            where = {d: n for d, n in zip(dims, names)} if len(set(dims)) == len(dims) else None
            subs = [where[d] for d in f.dims] if where else list(names)
            if self.grouped and way == "own" and f.dims == dims and self.chance(0.6):
                self.count("element by an integer vector written")
                return (f, self.grouped, way)
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
