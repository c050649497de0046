"""Bodies larger than anybody writes by hand: more than 64 accesses to a plane in one parallel loop or in a function that stays a call, nests of more than 64 levels.

Loops have some dozens of iterations, so that threads have a chance to meet."""
from expressions import Expr
from kinds import length

KINDS = ("real", "vec2", "vec3", "vec4")


class Limits:
    """Part of a Program."""

    def crowd(self):
        form = self.pick((3, "scatter"), (3, "gather"), (2, "rows"), (2, "function that writes"), (2, "function that reads"), (0.7, "nest"))
        if getattr(self, "crowd_" + form.split()[-1])():
            self.count(f"beyond 64: {form}")

    def crowd_fields(self, dims, write):
        if write:
            found = self.writes_possible(lambda f: len(f.dims) == dims and f.kind in KINDS and not f.single)
        else:
            found = [f for f in self.fields if f.role in ("active", "array") and self.may_read(f) and len(f.dims) == dims and f.kind in KINDS and not f.single]
        return found

    def crowd_task(self, written, body):
        """A parallel loop around what body(index) emits; `written` is not read in it."""
        i, trips, mark = self.name_new("i"), self.rng.randint(30, 60), len(self.scope)
        state, outer = (self.kernel_level, self.hidden), [v for v in self.scope if v.get("mutable")]
        self.kernel_level, self.hidden = False, self.hidden | {f.name for f in written}
        for v in outer:
            v["mutable"] = False
        self.emit(f"for {i} in range({trips}) {{")
        self.pad += 1
        self.mult *= trips
        self.loop_var(i, 0, trips - 1)
        body(i)
        self.mult //= trips
        self.pad -= 1
        self.emit("}")
        for v in outer:
            v["mutable"] = True
        self.kernel_level, self.hidden = state
        del self.scope[mark:]

    def crowd_at(self, i, k, extent):
        """A subscript that depends on data, on the iteration and on k."""
        return f"({self.integer(0, 4, 0)} + {i} * {self.rng.choice([1, 3, 7])} + {k}) % {extent}"

    def crowd_count(self, kind):
        n = 1 if kind == "real" else length(kind)
        return -(-self.rng.randint(65, 130) // n)

    def crowd_loss(self, text):
        self.emit(f"loss += 0.1 * sin({text});")
        self.grow(self.module.loss, Expr("", "real", -0.1, 0.1), "+=")

    def crowd_sum(self, s, kind):
        return s if kind == "real" else " + ".join(f"{s}[{c}]" for c in range(length(kind)))

    def crowd_adds(self, f, depth, at, more=None):
        """Each iteration adds to the elements at(i, k) for many k; more(i, value) emits what it does behind each."""
        n, k, v = self.crowd_count(f.kind), self.name_new("i"), self.name_new("l")

        def body(i):
            e = self.fit(self.value(f.kind, depth), -2, 2)
            if self.closed(f):    # the value reads it
                return
            self.emit(f"let {v} = {e};")
            self.emit(f"static for {k} in range({n}) {{")
            self.pad += 1
            self.emit(f"{self.at(f, at(i, k))} {self.rng.choice(['+=', '+=', '-='])} {v} * (0.02 + 0.001 * real({k}));")
            if more:
                more(i, v)
            self.pad -= 1
            self.emit("}")
            self.mult *= n
            self.grow(f, Expr("", f.kind, -0.3, 0.3), "+=")
            self.mult //= n
        self.crowd_task([f], body)

    def crowd_scatter(self):
        found = self.crowd_fields(1, True)
        if not found:
            return False
        f = self.rng.choice(found)
        self.crowd_adds(f, 2, lambda i, k: self.crowd_at(i, k, f.dims[0]))
        return True

    def crowd_rows(self):
        """Rows that are constant never meet: in some of them each iteration has an element of its own."""
        found = [f for f in self.crowd_fields(2, True) if self.extent(f.dims[0]) >= 3]
        if not found:
            return False
        f = self.rng.choice(found)
        last = self.extent(f.dims[0]) - 1
        self.crowd_adds(f, 1, lambda i, k: f"{k} % {last}, {self.crowd_at(i, k, f.dims[1])}",
                        lambda i, v: self.emit(f"if {i} < {f.dims[1]} {{ {self.at(f, f'{last}, {i}')} += 0.01 * {v}; }}"))
        return True

    def crowd_gather(self):
        found = self.crowd_fields(1, False)
        if not found:
            return False
        f = self.rng.choice(found)
        n, k, s = self.crowd_count(f.kind), self.name_new("i"), self.name_new("v")
        self.frozen.add(f.name)
        self.sure[f.name] += 1

        def body(i):
            self.emit(f"var {s} = 0.1 * {self.at(f, self.crowd_at(i, 1, f.dims[0]))};")
            self.emit(f"static for {k} in range({n}) {{ {s} += (0.02 + 0.001 * real({k})) * sin({self.at(f, self.crowd_at(i, k, f.dims[0]))}); }}")
            self.crowd_loss(self.crowd_sum(s, f.kind))
        self.crowd_task([], body)
        return True

    def crowd_named(self, write):
        """Fields that a function knows by their names."""
        return [f for f in self.crowd_fields(1, write) if f.kind == "real" and not f.way and not f.saved]

    def crowd_writes(self):
        found = self.crowd_named(True)
        if not found:
            return False
        f, name, n, k = self.rng.choice(found), f"{self.name}_w{len(self.function_lines)}", self.rng.randint(65, 90), self.name_new("i")
        self.function_lines.append(f"func {name}(at: i32, by: real) {{ static for {k} in range({n}) {{ {self.at(f, f'(at + {k}) % {f.dims[0]}')} += "
                                   f"0.01 * sin(by * (0.3 + 0.01 * real({k}))) * by; }} }}")

        def body(i):
            args = [self.fit(self.value("real", 1), -2, 2) for _ in range(2)]
            for e in args if not self.closed(f) else []:
                self.emit(f"{name}({self.crowd_at(i, 1, f.dims[0])}, {e});")
                self.mult *= n
                self.grow(f, Expr("", "real", -0.02, 0.02), "+=")
                self.mult //= n
        self.crowd_task([f], body)
        return True

    def crowd_reads(self):
        found = self.crowd_named(False)
        if not found:
            return False
        f, name, n, k = self.rng.choice(found), f"{self.name}_w{len(self.function_lines)}", self.rng.randint(65, 90), self.name_new("i")
        self.function_lines.append(f"func {name}(at: i32, by: real) -> real {{ var sum = 0.0; static for {k} in range({n}) {{ "
                                   f"sum += 0.01 * sin(by * {self.at(f, f'(at + {k}) % {f.dims[0]}')}) * cos(by + 0.01 * real({k})); }} return sum; }}")
        self.frozen.add(f.name)
        self.sure[f.name] += 1

        def body(i):
            a, b = (self.fit(self.value("real", 1), -2, 2) for _ in range(2))
            self.crowd_loss(f"{name}({self.crowd_at(i, 1, f.dims[0])}, {a}) + {name}({self.crowd_at(i, 2, f.dims[0])}, {b})")
        self.crowd_task([], body)
        return True

    def crowd_nest(self):
        found = self.crowd_fields(1, True)
        if not found:
            return False
        f, n = self.rng.choice(found), self.rng.randint(65, 70)

        def body(i):
            e = self.fit(self.value(f.kind, 1), -2, 2)
            if self.closed(f):
                return
            self.emit(" ".join(f"if J < {100 + d} {{" for d in range(n)))
            self.emit(f"{self.at(f, self.crowd_at(i, 1, f.dims[0]))} += 0.1 * {e};")
            self.grow(f, Expr("", f.kind, -0.2, 0.2), "+=")
            self.emit("}" * n)
        self.crowd_task([f], body)
        return True
