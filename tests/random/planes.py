"""Gradients and duals as memory: kernels without the derivative that they belong to read and write them."""
from expressions import Expr
from kinds import TYPES, size
from module import Field


class Planes:
    """Part of a Program."""

    plane = None      # "grad" or "dual": which the kernel uses; it lacks that derivative then

    def plane_at(self, f, subs):
        return f"{f.base}.{self.plane}" + (f"[{subs}]" if subs else "") + ("." + f.member if f.member else "")

    def plane_leaf(self, kind):
        found = [f for f in self.module.fields if f.kind == kind and not f.single and f.base not in self.plane_hidden]
        if not found:
            return None
        f = self.rng.choice(found)
        self.count(f"read of x.{self.plane}")
        self.plane_read.add(f.base)
        at = self.plane_at(f, self.subscripts(f))
        if f.base in self.plane_changed:
            return Expr(f"sin({at})", kind, -1, 1)
        return Expr(at, kind, -1.2, 1.2)

    def change_plane(self):
        """Stores what is locally constant, as no derivative goes through a plane, to one that was not read before: the adjoint may need what was read."""
        found = [f for f in self.module.fields if not f.single and f.base not in self.plane_read and len(f.dims) < 3]
        if not found or self.plain or self.locked is not None:
            return self.task()
        self.count(f"x.{self.plane} written")
        f = self.rng.choice(found)
        mark, level = len(self.scope), self.kernel_level
        form = self.pick((5, "own"), (1, "scatter"), (1, "serial"), (1, "function")) if f.dims else "one"
        if form in ("function", "serial") and (len(f.dims) > 1 or f.member):
            form = "own"
        self.count(f"x.{self.plane} written, {form}")
        self.plane_hidden = {f.base}
        over = self.rng.choice([x for x in self.module.fields if x.dims]) if form == "scatter" else f
        names = [self.name_new("i") for _ in over.dims]
        for i, d in zip(names, over.dims):
            self.loop_var(i, 0, self.extent(d) - 1)
        self.kernel_level = not names
        subs = self.subscripts(f) if form == "scatter" else ", ".join(names)
        text = self.plane_change(f, subs, form)
        if self.chance(0.25):
            text = f"if ({self.condition(1)}) {{ {text} }}"
        head = f"for {', '.join(names)} in {over.base}"
        if form == "serial":
            head = f"serial for {names[0]} in range(1, {f.dims[0]})"
        if form in ("own", "one") and f.kind == "real" and self.chance(0.4):
            self.count(f"x.{self.plane} read after its store")
            self.plane_read.add(f.base)
            text += f" loss += 0.2 * sin({self.plane_at(f, subs)} * {self.fit(self.value('real', 1), -2, 2)});"
        self.emit(f"{head} {{ {text} }}" if names else text)
        self.kernel_level, self.plane_hidden = level, set()
        self.plane_changed.add(f.base)
        del self.scope[mark:]
        return None

    def plane_change(self, f, subs, form):
        at, one = self.plane_at(f, subs), self.constant_of(f.kind)
        if form == "scatter":    # the order of iterations is not known
            return f"{at} {self.rng.choice(['+=', '-='])} {one};"
        if form == "serial":
            return f"{at} = 0.5 * {self.plane_at(f, f'{subs} - 1')} + {one};"
        if form == "function":
            name, w, i = f"{self.name}_w{len(self.function_lines)}", self.name_new("p"), self.name_new("p")
            self.function_lines.append(f"func {name}({w}, {i}) {{ {w}.{self.plane}[{i}] = 0.5 * {w}.{self.plane}[{i}]; }}")
            return f"{name}({f.base}, {subs}); {at} += {one};"
        if f.base == "pr" and self.chance(0.3):
            whole = self.plane_at(Field(f.base, "", f.dims), subs)
            return f"{whole} = Pair({self.constant(1)}, {self.constant_of('vec2')});"
        if f.kind in ("vec2", "vec3", "vec4") and self.chance(0.4):
            return self.rng.choice([f"{at}.x {self.rng.choice(['=', '+=', '*='])} {self.constant(1)};", f"{at}.yx = {self.constant_of('vec2')};", f"{at}[{self.integer(0, 1, 0)}] -= 0.3;"])
        if f.kind[0] == "m" and self.chance(0.3):
            return f"{at}[0, 1] += {self.constant(1)};"
        other = self.plane_leaf(f.kind) if self.chance(0.5) else None
        return self.rng.choice([f"{at} *= 0.7;", f"{at} /= 2.0;", f"{at} = {one};", f"{at} += {one};", f"{at} -= {one};",
                                f"{at} = 0.4 * {at} + 0.3 * {other or self.zero_of(f.kind)};"])

    def zero_of(self, kind):
        return "0.0" if kind == "real" else f"{TYPES.get(kind, kind)}({', '.join(['0.0'] * size(kind))})" if kind[0] == "m" else f"{TYPES.get(kind, kind)}(0.0)"
