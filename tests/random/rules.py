"""Kernels that stand beside a program's main one: with derivatives of their own, with none, or constant by intent."""
from kinds import TYPES, shape
from stub import Kernel, Param

SMOOTH = [("sin({0})", "cos({0})"), ("{0} * {0}", "2.0 * {0}"), ("tanh({0})", "(1.0 - tanh({0}) ** 2)"), ("exp(0.3 * {0})", "0.3 * exp(0.3 * {0})"), ("{0}", "1.0")]


class Rules:
    """Part of a Program."""

    def aside(self):
        """Begins kernels that share nothing with the main one; gives what `back` takes."""
        names = "lines", "pad", "scope", "nest", "arrays", "tables", "frozen", "written", "saves", "range", "sure", "called", "locked", "hidden", "tables_frozen", "budget", "given", "kernel_level"
        saved = {n: getattr(self, n) for n in names}
        self.lines, self.pad, self.scope, self.nest, self.arrays, self.tables, self.called = [], 1, [], 0, [], self.module.tables, []
        self.frozen, self.written, self.saves, self.sure, self.hidden, self.tables_frozen = set(), set(), set(), type(self.sure)(), set(), False
        self.range, self.given, self.budget, self.plain = self.ranges(), set(), self.rng.choice([2, 4, 8]), True
        return saved

    def back(self, saved):
        self.plain = False
        for n, v in saved.items():
            setattr(self, n, v)

    # ---- constant by intent ----

    def no_grad_kernel(self):
        """What it stores is locally constant, so that the derivative that it has is the true one."""
        self.count("kernel with no_grad")
        saved = self.aside()
        params = [p for p in (self.param(0) for _ in range(self.rng.randint(0, 1))) if p.kind in ("real", "int", "vec2")]
        self.scope = [v for p in params for v in self.param_values(p.name, p.kind, 2)]
        for _ in range(self.rng.randint(1, 3)):
            found = self.writes_possible(lambda f: not f.single)
            if found:
                self.store_constants(self.rng.choice(found))
        kernel = Kernel(self.name_new(f"{self.name}_z"), params, None, " no_grad")
        text = [kernel, *self.lines, "}"]
        self.back(saved)
        self.kernels.append(kernel)
        return text

    def store_constants(self, f):
        mark = len(self.scope)
        names = [self.name_new("i") for _ in f.dims]
        self.hidden = {f.name}
        self.kernel_level = not names
        for i, d in zip(names, f.dims):
            self.loop_var(i, 0, self.extent(d) - 1)
        subs = ", ".join(names)
        text = f"{self.at(f, subs)} = {self.constant_of(f.kind)};"
        serial = "serial " if not names or self.chance(0.2) else ""
        form = self.pick((3, "store"), (1.5, "sum"), (1, "branch"), (0.7, "loop"))
        if form == "sum":
            text = f"{self.at(f, self.subscripts(f))} += {self.constant_of(f.kind)};"
        elif form == "branch":
            text = f"if ({self.condition(1)}) {{ {text} }}"
        elif form == "loop":
            text = f"{serial}for {self.name_new('i')} in range({self.integer(0, 3, 1)}) {{ {text} }}"
        self.emit(f"{serial}for {subs} in {f.base} {{ {text} }}" if names else text)
        self.kernel_level, self.hidden = True, set()
        self.grow(f, type("", (), {"lo": -8, "hi": 8}), "=" if form != "sum" else "+=")
        del self.scope[mark:]

    def constant_of(self, kind):
        one = self.constant(2)
        if kind == "real":
            return one
        if kind[0] == "m":
            n, m = shape(kind)
            return f"{one} * identity({n})" if n == m else f"outer_product({TYPES.get(f'vec{n}', f'vec{n}')}({one}), {TYPES.get(f'vec{m}', f'vec{m}')}(0.5))"
        return f"{TYPES.get(kind, kind)}({one})"

    # ---- rules by hand ----

    def hand_rule(self):
        """A kernel whose adjoint, JVP or both the program writes: sums of smooth functions of elements."""
        saved = self.aside()
        al, n = Param(self.name_new("p"), "real"), Param(self.name_new("p"), "int")
        dal = Param(self.name_new("p"), "real")
        forth, back, along = [], [], []
        free = [f for f in self.module.fields if f.kind == "real" and not f.single and not f.saved and len(f.dims) < 3]
        self.rng.shuffle(free)
        outs, ins = free[:3], [f for f in free[3:] if f.dims]
        for out in outs[:self.rng.randint(1, 3)]:
            self.hand_loop(out, ins, (al.name, dal.name, n.name), forth, back, along)
        way = self.pick((1, "both"), (1.5, "grad_for"), (1, "jvp_for"))
        self.count("kernel with derivatives by hand, " + way)
        whole = Kernel(self.name_new(f"{self.name}_h"), [al, n])
        kernels, texts = [whole], [[whole, *forth, "}"]]
        if way != "jvp_for":
            kernels.append(Kernel(self.name_new(f"{self.name}_h"), [al, n], None, f" grad_for({whole.name})"))
            texts.append([kernels[-1], *reversed(back), "}"])
        if way != "grad_for":
            kernels.append(Kernel(self.name_new(f"{self.name}_h"), [al, n, dal], None, f" jvp_for({whole.name})"))
            texts.append([kernels[-1], *along, "}"])
        self.back(saved)
        self.kernels += kernels
        return [line for t in texts for line in t]

    def hand_loop(self, out, ins, names, forth, back, along):
        """out = or += a f(x[..]) + c y[..], where a is a parameter or a number."""
        al, dal, n = names
        over = self.rng.choice(ins) if not out.dims or self.chance(0.3) else out
        loops = [self.name_new("i") for _ in over.dims]
        at = dict(zip(over.dims, loops))

        def element(f, plane=""):
            # every element of `over` once, whatever the extents are
            subs = loops if f.dims == over.dims else [f"{at[d]}" if d in at and len(set(over.dims)) == len(over.dims) else f"({loops[0]} + {shift}) % {d}" for d in f.dims]
            return f"{f.base}{plane}" + (f"[{', '.join(subs)}]" if subs else "") + ("." + f.member if f.member else "")
        shift = self.rng.randrange(3)
        x, y = self.rng.choice(ins), self.rng.choice(ins)
        f, df = self.rng.choice(SMOOTH)
        a = self.rng.choice([al, "0.7", f"(0.3 * real({n}))"])
        c = self.rng.choice(["0.4", "-0.6", "C"])
        value = f"{a} * ({f.format(element(x))}) + {c} * {element(y)}"
        tangent = f"{a} * {df.format(element(x))} * {element(x, '.dual')} + {c} * {element(y, '.dual')}"
        if a == al:
            tangent += f" + {dal} * ({f.format(element(x))})"
        store = over is out and self.chance(0.6)
        op = "=" if store else "+="
        head = f"    for {', '.join(loops)} in {over.base} {{ "
        test = self.rng.choice(["", "", f"if {loops[0]} % 2 == 0 ", f"if {n} > 2 "])
        wrap = (lambda s: f"{head}{test}{{ {s} }} }}") if test else (lambda s: f"{head}{s} }}")
        forth.append(wrap(f"{element(out)} {op} {value};"))
        along.append(wrap(f"{element(out, '.dual')} {op} {tangent}; {element(out)} {op} {value};"))
        g = self.name_new("g")
        clear = f"{element(out, '.grad')} = 0.0; " if store else ""
        back.append(wrap(f"let {g} = {element(out, '.grad')}; {clear}{element(x, '.grad')} += {g} * {a} * {df.format(element(x))}; {element(y, '.grad')} += {c} * {g};"))

    # ---- without derivatives ----

    def underived(self):
        """A kernel without any: atomics on active floats give their old values, gradients are memory like any other."""
        self.count("kernel with derive()")
        f, g, h = self.rng.sample([x for x in self.module.fields if x.dims == ["N"] and x.kind == "real" and not x.single and not x.member], 3)
        i, o = self.name_new("i"), self.name_new("l")
        kernel = Kernel(self.name_new(f"{self.name}_u"), [], None, " derive()")
        self.kernels.append(kernel)
        op = self.rng.choice(["add", "sub", "min", "max"])
        return [kernel, f"    for {i} in {f.name} {{ let {o} = atomic_{op}({f.name}[{i}], 0.5 * {g.name}[{i}]); {h.name}[{i}] = {o}; }}",
                f"    for {i} in {g.name} {{ {g.name}[{i}] -= 0.1 * clamp({g.name}.grad[{i}], -1.0, 1.0); {g.name}.grad[{i}] = 0.0; }}", "}"]
