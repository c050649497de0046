"""State that is stepped in place: loops whose iterations write elements of `saved` fields, read them, and write on by what they read."""
from expressions import Expr
from kinds import length

KINDS = ("real", "vec2", "vec3", "vec4")
SLOTS = 64


def declared():
    return [f"field slot: i32[{SLOTS}] saved;"]


class Stepped:
    """Part of a Program."""

    def stepped(self):
        found = self.writes_possible(lambda f: f.name in self.saves and f.kind in KINDS and 1 <= len(f.dims) <= 2 and not f.single and not f.way)
        if not found:
            return
        fields = self.rng.sample(found, min(len(found), self.rng.choice([1, 2, 2, 3])))
        n = min(self.extent(f.dims[0]) for f in fields)
        for f in fields:
            self.frozen.add(f.name)
        self.count(f"stepped in place: {min(len(fields), 2)} fields" if len(fields) > 1 else "stepped in place: 1 field")
        serial, times = self.chance(0.35), self.rng.randint(2, 3)
        if serial:
            self.emit(f"serial for {self.name_new('i')} in range({times}) {{")
            self.pad += 1
            self.mult *= times
        for _ in range(self.rng.randint(1, 3)):
            self.stepped_loop(fields, n)
        if serial:
            self.mult //= times
            self.pad -= 1
            self.emit("}")
        for f in fields:
            i = self.name_new("i")
            self.emit(f"for {i} in range({n}) {{ loss += 0.1 * sin({self.stepped_at(f, i)}); }}")
            self.grow(self.module.loss, Expr("", "real", -0.1 * n, 0.1 * n), "+=")
        self.written |= {f.name for f in fields}

    def stepped_at(self, f, i):
        """A component of the iteration's own element."""
        subs = [i, *(str(self.rng.randrange(self.extent(d))) for d in f.dims[1:])]
        at = self.at(f, ", ".join(subs))
        return at if f.kind == "real" else f"{at}[{self.rng.randrange(length(f.kind))}]"

    def stepped_own(self, i, n):
        """A subscript that no other iteration has."""
        return self.rng.choice([i, i, i, f"{n - 1} - {i}", f"({i} + {self.rng.randrange(n)}) % {n}"])

    def stepped_loop(self, fields, n):
        i, c = self.name_new("i"), self.name_new("i")
        pairs = n >= 2 and n % 2 == 0 and self.chance(0.3)
        listed = not pairs and n <= SLOTS and self.chance(0.25)    # by a list that the loop itself fills, saved as well
        self.emit(f"{'independent ' * listed}for {i} in range({n // 2 if pairs else n}) {{")
        self.pad += 1
        self.mult *= n
        where = {f.name: self.stepped_own(i, n) for f in fields}
        if listed:
            self.emit(f"slot[{i}] = {self.stepped_own(i, n)};")
            where = {f.name: f"slot[{i}]" for f in fields}
        if pairs:
            where = {f.name: f"2 * {i} + {self.rng.randrange(2)}" for f in fields}
        for _ in range(self.rng.randint(2, 5)):
            f = self.rng.choice(fields)
            if pairs and self.chance(0.4):
                self.emit(f"for {c} in range(2) {{")
                self.stepped_write(fields, f, {**where, f.name: f"2 * {i} + {c}"}, 2)
                self.emit("}")
            else:
                self.stepped_write(fields, f, where, 1)
        if self.chance(0.3):
            f = self.rng.choice(fields)
            self.emit(f"loss += 0.1 * sin({self.stepped_at(f, where[f.name])});")
            self.grow(self.module.loss, Expr("", "real", -0.1, 0.1), "+=")
        self.mult //= n
        self.pad -= 1
        self.emit("}")

    def stepped_write(self, fields, f, where, times):
        to = self.stepped_at(f, where[f.name])
        a, b = (self.stepped_at(g, where[g.name]) for g in (self.rng.choice(fields), self.rng.choice(fields)))
        way = self.pick((3, "+="), (2, "="), (1, "-="))
        value = self.rng.choice([f"sin({a} * {b})", f"sin({a}) * cos({b})", f"sin({a} + 0.3)", f"0.5 * tanh({b})"])
        if self.chance(0.2):
            self.emit(f"if {a} > {self.rng.choice([-0.17, 0.13, 0.31])} {{ {to} {way} 0.3 * {value}; }}")
        else:
            self.emit(f"{to} {way} 0.3 * {value};")
        self.mult *= times
        self.grow(f, Expr("", f.kind, -0.3, 0.3), way)
        self.mult //= times
