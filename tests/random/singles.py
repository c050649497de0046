"""Values of f32 among the f64: what is computed of them in f32 is exact for the data that tools/adcheck draws, so that differences see no rounding."""
from kinds import TYPES, WIDE


class Singles:
    """Part of a Program."""

    def read(self, f, subs):
        """An element as a value."""
        at = self.at(f, subs)
        return self.widened(at, f.single) if f.single else at

    def widened(self, at, kind):
        """An f32 value in f64."""
        self.count(f"f32 read {kind}")
        wide = TYPES.get(WIDE[kind], WIDE[kind])
        if kind == "f32":
            return self.pick((2, f"real({at})"), (1, f"real({at} * 0.5)"), (1, f"real(-{at})"), (0.5, f"(1.0 * f64({at}))"), (0.5, f"real(max({at}, 0.2517))"))
        more = []
        if kind[0] == "v":
            more = [f"vec2({at}.yx)", f"{wide}(max({at}, 0.2517))", f"vec2({at}[0], {at}.y)"]
        elif kind == "mat(2, 2, f32)":
            more = [f"mat2(transpose({at}))", f"mat2([[0.5, -0.25], [0.0, 1.0]] @ {at})"]
        else:
            more = [f"{wide}([[0.5, -0.25], [0.25, 0.5]] @ {at})", f"{wide}([{at}[1], {at}[0]])", f"transpose({wide[:3]}(3, 2, real)(transpose({at})))"]
        return self.pick((2, f"{wide}({at})"), (1, f"{wide}({at} * 0.5)"), (1, f"{wide}(-{at})"), (1, f"{wide}({at} * 0.5 - {at} * 0.25)"), (1.5, self.rng.choice(more)))

    def exact(self, kind):
        """The text of an f32 value: an element of a field that holds what was drawn, or a constant."""
        found = []
        if not self.pure and not self.rare and not self.passive:
            found = [f for f in self.fields if f.single == kind and self.may_read(f) and f.name not in self.written and f.name not in self.own and (self.inside or not self.locked)]
        if not found:
            self.count("f32 constant")
            one = [self.rng.choice(["0.375", "-0.625", "1.25"]) for _ in range(6)]
            text = {"f32": one[0], "v": f"({one[0]}, {one[1]})", "m": f"([[{one[0]}, {one[1]}{{}}], [{one[2]}, {one[3]}{{}}]])"}[kind if kind == "f32" else kind[0]]
            if kind[0] == "m":
                text = text.format(*([f", {one[4]}", f", {one[5]}"] if "3," in kind else ["", ""]))
            return f"f32({text})" if kind == "f32" else kind + text
        f = self.rng.choice(found)
        self.count("f32 value of a field given")
        if not self.inside:
            self.frozen.add(f.name)
            self.sure[f.name] += 0    # `uses` reads it once more
        return self.at(f, self.subscripts(f)) + self.rng.choice(["", " * 0.5", " * -2.0"])

    def single_local(self):
        """A local of f32, whose components are changed in f32."""
        kind = self.rng.choice(list(WIDE))
        n = self.name_new("v")
        self.count(f"f32 local {kind}")
        self.emit(f"var {n}{self.rng.choice(['', f': {kind}'])} = {self.exact(kind)};")
        part = {"f": "", "v": f"[{self.integer(0, 1, 0)}]", "m": f"[{self.integer(0, 1, 0)}, {self.integer(0, 2 if '3,' in kind else 1, 0)}]"}[kind[0]]
        for _ in range(self.rng.randint(0, 2)):
            self.emit(self.rng.choice([f"{n}{part} = {self.exact('f32')};", f"{n} *= 0.5;", f"{n}{part} += 0.25;", f"if ({self.condition(1)}) {{ {n} = -{n}; }}"]))
        self.declare(WIDE[kind], self.widened(n, kind), -6, 6, False)
