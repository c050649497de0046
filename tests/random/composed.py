"""Kernels made of kernels, whose adjoint is one of the program's own that launches those of the parts."""
from stub import Kernel


class Composed:
    """Part of a Program."""

    plain = False     # what is made neither draws nor changes what a launch must keep
    drawn = False     # what was made draws

    def composed(self):
        """Text of the parts, the whole and its adjoint."""
        self.count("adjoints launched by a kernel")
        saved = self.aside()
        params = [p for p in (self.param(0) for _ in range(self.rng.randint(0, 2))) if p.kind in ("real", "int", "vec2")]
        forth, back = [], []
        for _ in range(self.rng.randint(1, 3)):
            self.composed_part(params, forth, back)
        whole, adjoint = Kernel(self.name_new(f"{self.name}_x"), params), Kernel(self.name_new(f"{self.name}_x"), params)
        adjoint.derive = f" grad_for({whole.name})"
        text = [*self.called, whole.head(), *forth, "}", adjoint.head(), *reversed(back), "}"]
        self.kernels += [whole, adjoint]
        self.back(saved)
        return text

    def composed_part(self, params, forth, back):
        form = self.pick((3, "once"), (1, "loop"), (1, "if"))
        t, trips = self.name_new("i"), self.rng.randint(2, 3)
        if form == "loop":
            self.lock()
        self.tables_frozen |= form == "loop"
        kinds = [self.rng.choice(["real", "int", "vec2", "Pair"]) for _ in range(self.rng.randint(0, 2))]
        part = self.part(self.name_new(f"{self.name}_s"), [self.param_of(k, 0) for k in kinds])
        self.locked = None
        args = [self.fixed_argument(k, params) for k in kinds]
        first = [a.replace("@", t) if form == "loop" else a.replace("@", "1") for a in args]
        last = [a.replace("@", f"({trips - 1} - {t})") if form == "loop" else a.replace("@", "1") for a in args]
        lines = [f"{part.name}({', '.join(first)});", f"{part.name}.grad({', '.join(last)});"]
        if form == "loop":
            lines = [f"serial for {t} in range({trips}) {{ {s} }}" for s in lines]
        elif form == "if":
            ints = [p.name for p in params if p.kind == "int"]
            test = f"{(ints or ['J'])[0]} {self.rng.choice(['>', '<', '=='])} 2"
            lines = [f"if ({test}) {{ {s} }}" for s in lines]
        forth.append("    " + lines[0])
        back.append("    " + lines[1])

    def fixed_argument(self, kind, params):
        """The same in both directions. @: the trip."""
        found = [p.name for p in params if p.kind == kind]
        if found and self.chance(0.6):
            return self.rng.choice(found)
        if kind == "int":
            return self.rng.choice(["2", "J", "@"])
        real = self.rng.choice(["0.7", "P", "fix0", "-0.4", "0.3 * real(@)"])
        return real if kind == "real" else f"vec2({real}, -0.6)" if kind == "vec2" else f"Pair(0.3, vec2({real}, 0.2))"
