"""Functions of a program, and calls of them."""
from expressions import Expr
from kinds import FLOATS, INTEGERS, OBLONG, STRUCTS, TYPES, VECTORS, WIDE, members

ATOMICS = ("atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor")


class Functions:
    """Part of a Program."""

    def callable(self, f):
        return (f["pure"] or not self.pure) and not (self.plain and f["draws"])

    def call(self, kind, d):
        text = self.call_of(kind, d)
        return text and Expr(text, kind, -3, 3)

    def call_of(self, kind, d):
        """The text of a call whose result is of this kind; None: there is no such function."""
        found = [f for f in self.functions if f["result"] == kind and self.mult * f["weight"] < 4000 and self.callable(f)]
        if not found:
            return None
        f = self.rng.choice(found)
        args = self.arguments(f, d - 1)
        f["called"] = True
        self.count("call" if kind in FLOATS else f"call, result {kind}")
        self.drawn |= f["draws"]
        if self.looping:
            self.count("call in a loop")
        return f"{f['name']}({', '.join(args)})"

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

    def argument_with(self, kind, e):
        """A value that depends on the scalar e, if it has a float."""
        if kind not in STRUCTS:
            return self.argument(kind, 2, 2)
        parts = [self.argument(k, 1, 2) for _, k in STRUCTS[kind]]
        k = next(i for i, (_, k) in enumerate(STRUCTS[kind]) if k in FLOATS)
        parts[k] += f" + {e}"
        return f"{kind}({', '.join(parts)})"

    def arguments(self, f, d):
        passive, self.passive = self.passive, self.passive or not f["more"] and f["result"] in INTEGERS
        args = [self.argument(k, d, 3) for k in f["args"]]
        self.passive = passive
        return args

    def call_rest(self):
        """Most functions that nothing has called."""
        for f in self.functions + self.pairs:
            if not f.get("called") and f["result"] not in WIDE and f["result"] != "Tone" and self.callable(f) and self.chance(0.7):
                self.let_results(f)
        for f in self.functions:
            if f["gradient"] and self.callable(f) and self.chance(0.3):
                self.gradient(f)

    def let_results(self, f):
        """Locals that are the results of a call."""
        f["called"] = True
        self.drawn |= f["draws"]
        kinds = [f["result"], *f["more"]]
        args = ", ".join(self.arguments(f, 1))
        names = [self.name_new("l") for _ in kinds]
        self.count(f"call of {len(kinds)} results" if f["more"] else "call" if f["result"] in FLOATS else f"call, result {f['result']}")
        self.emit(f"let {', '.join(names)} = {f['name']}({args});")
        for n, k in zip(names, kinds):
            self.scope += self.param_values(n, k, 3)

    def gradient(self, of=None):
        """Of a function, as values, or along a direction: bounded, since it may be steep."""
        found = [f for f in self.functions if f["gradient"] and self.mult * f["weight"] < 400 and self.callable(f)]
        if not found and not of:
            return self.let()
        f = of or self.rng.choice(found)
        f["called"] = True
        self.nested_function |= self.inside
        args = ", ".join(self.arguments(f, 1))
        kinds = [k for k in f["args"] if k in FLOATS or k in STRUCTS]
        if self.chance(0.3):
            self.count("JVP of a function as a value")
            tangents = ", ".join(self.argument(k, 1, 2) for k in kinds)
            return self.declare("real", f"tanh(0.2 * {f['name']}.jvp({args}, {tangents}))", -1, 1, False)
        names = [self.name_new("l") for _ in kinds]
        self.count(f"gradient of a function{' in a function' if self.inside else ''}")
        self.emit(f"let {', '.join(names)} = {f['name']}.grad({args});")
        for n, kind in zip(names, kinds):
            for path, k in members(kind, n):
                if k in FLOATS:
                    self.declare(k, f"tanh(0.2 * {path})", -1, 1, False)

    def make_function(self):
        """Pure but for reads of the kernel's inputs; those for the host (`export func`) read nothing."""
        name = f"{self.name}_f{len(self.functions) + len(self.pairs)}"
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.pure = self.chance(0.15)
        generic = not self.pure and self.chance(0.25)
        args = [self.pick((4, "real"), (2, "vec2"), (2, "vec3"), (1.5, "mat2"), (0.5, "vec5"), (0.7, "Pair"), (0.7, "Part"),
                          (1, "mat2x3"), (0.7, self.rng.choice(OBLONG)), (0.5, "vec7"), (0.3, "vec1"), (0.4, "Frame"), (2 if self.pure else 0.4, self.rng.choice([*WIDE, "Tone"]))) for _ in range(self.rng.randint(1, 3))]
        args += [self.pick((4, "int"), (1, "i64"), (1, "u8"), (1, "i16"), (1, "bool"))] if self.chance(0.4) else []
        result = self.pick((4, "real"), (2, "vec2"), (2, "vec3"), (0.7, "mat2"), (2 if self.pure else 0.7, self.rng.choice(OBLONG)), (0.4, self.rng.choice(VECTORS)),
                           (0.6, "int"), (0.6, "bool"), (0.6, "Pair"), (0.3, "Part"), (0.3, "Frame"), (2.5 if self.pure else 0, self.rng.choice([*WIDE, "Tone"])))
        more = self.pick((8, []), (1, ["real"]), (0.5, ["vec2"]), (0.7, [self.rng.choice(["int", "bool", "vec3", "mat2x3", "Pair"]), "real"]))
        self.lines, self.pad, self.scope, self.inside, self.kernel_level, self.drawn = [], 1, [], True, False, False
        self.mult = 4
        self.passive = result in INTEGERS and not more
        names = []
        for k in args:
            n = self.name_new("p")
            names.append(n)
            self.scope += self.param_values(n, k, 3)
            self.count(f"{'export func' if self.pure else 'function'}, parameter {k}")
        self.count("export func" if self.pure else "function" + (" generic" if generic else "") + (f" of {len(more) + 1} results" if more else ""))
        self.count(f"{'export func' if self.pure else 'function'}, result {result}")

        def results(first):
            return ", ".join([first, *(self.argument(k, 1, 3) for k in more)])

        def result_text():
            return results(str(self.fit(self.value(result, 2), -3, 3)) if result in FLOATS else self.argument(result, 2, 3))
        self.budget = self.rng.choice([0, 2, 4, 14])
        if self.budget == 14:
            self.count("function, large")
        self.early = None if self.chance(0.5) or generic and more or self.pure else result_text
        if self.budget:
            self.sink()
        self.block(self.rng.randint(0, 3) if self.budget < 14 else 7)
        if self.early and self.chance(0.7):
            self.count("return, early")
            self.emit(f"if ({self.condition(1)}) {{ return {result_text()}; }}")
            self.block(1)
        args_used = [v for v in self.scope if v["kind"] in FLOATS and (v["mutable"] or not v.get("used"))]
        if args_used and not self.passive:
            e = f"{'sin' if self.chance(0.5) else 'tanh'}({self.total(args_used)})"
            e = self.fit(Expr(f"({self.rng.choice(['0.5 * ', ''])}{e})", "real", -1, 1), -1, 1)
            texts = results(f"{self.fit(self.value(result, 2), -1.8, 1.8)} + {e}" if result in FLOATS else self.argument_with(result, e))
            if result in INTEGERS and "real" in more:
                texts += f" + {e}"
            self.emit(f"return {texts};")
        else:
            self.emit(f"return {result_text()};")
        self.early, self.passive = None, False
        written = [TYPES.get(k, k) for k in (result, *more)]
        plist = ", ".join(n if generic else f"{n}: {TYPES.get(k, k)}" for n, k in zip(names, args))
        out = "" if generic else f" -> ({', '.join(written)})" if more else f" -> {written[0]}"
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)", " derive(grad)", " derive(jvp)"]) if self.pure else ""
        floats = [n for n, k in zip(names, args) if k in FLOATS or k in ("Pair", "Part", "Frame")]
        if self.pure and floats and any(k in FLOATS or k in ("Pair", "Part", "Frame") for k in (result, *more)) and self.chance(0.5):
            self.count("export func, jac and hess")
            by = [", ".join(self.rng.sample(floats, self.rng.randint(1, len(floats)))) for _ in range(2)]
            derive = f" derive(grad, jvp, hvp, jac({by[0]}), hess({by[1]}))"
        body = [f"{'export ' if self.pure else ''}func {name}({plist}){out}{derive} {{", *self.lines, "}"]
        weight = 20 if self.nested_function else 1
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.function_lines += body
        text = "\n".join(body)
        bad = [o["name"] for o in self.functions + self.pairs if not o["once"]]
        # What stays within the rules of f.grad, and is differentiable twice.
        once = not self.drawn and not any(f"{w}(" in text for w in ("joint", *ATOMICS, *bad))
        gradient = once and result == "real" and not more and all(k in FLOATS and k != "mat3x7" and k != "big" or k in INTEGERS or k in ("Pair", "Part", "Frame") for k in args) and any(
            k not in INTEGERS for k in args)
        f = {"name": name, "args": args, "result": result, "weight": weight, "more": more, "pure": self.pure, "draws": self.drawn, "once": once, "gradient": gradient}
        self.pure = False
        (self.pairs if more else self.functions).append(f)
