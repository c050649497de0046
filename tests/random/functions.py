"""Functions of a program, and calls of them."""
from expressions import Expr


class Functions:
    """Part of a Program."""

    def call(self, kind, d):
        found = [f for f in self.functions if f["result"] == kind and self.mult * f["weight"] < 4000 and (f["pure"] or not self.pure)]
        if not found:
            return None
        f = self.rng.choice(found)
        args = []
        for k in f["args"]:
            if k == "int":
                args.append(self.integer(0, 4, 0))
            else:
                args.append(str(self.fit((self.value if self.chance(0.5) else self.unsure)(k, d - 1), -3, 3)))
        self.count("call")
        if self.looping:
            self.count("call in a loop")
        return Expr(f"{f['name']}({', '.join(args)})", kind, -3, 3)

    def make_array_function(self):
        """An `export func` over arrays of the host, which no kernel calls."""
        name = f"{self.name}_g{self.names}"
        self.count("export func with arrays")
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.lines, self.pad, self.scope, self.inside, self.kernel_level, self.pure, self.mult = [], 1, [], True, False, True, 4
        params, arrays = [], []
        for way in ["in", *self.rng.sample(["in", "inout", "out"], self.rng.randint(1, 3))]:
            n, kind = self.name_new("p"), self.rng.choice(["real", "real", "vec2", "vec3"])
            params.append(f"{n}: {way} {kind}[n]")
            arrays.append((n, kind, way))
        n = self.name_new("p")
        params.append(f"{n}: real")
        self.scope.append({"name": n, "kind": "real", "lo": -3, "hi": 3, "mutable": False})
        self.rng.shuffle(params)
        self.sink()
        for _ in range(self.rng.randint(1, 2)):
            i = self.name_new("i")
            mark = len(self.scope)
            self.loop_var(f"i32({i})", 0, 2)    # it is as wide as the extent of an array
            for n, kind, way in arrays:
                for at in [i] if way == "out" else [i, f"({i} + 1) % n"]:
                    self.scope.append({"name": f"{n}[{at}]", "kind": kind, "lo": -3, "hi": 3, "mutable": way != "in" and at == i})
            self.budget = self.rng.choice([2, 4, 8])
            self.enter(3)
            self.jumps += 1
            self.braces(f"for {i} in {self.rng.choice(['range(n)', arrays[0][0]])}", 8, tail=self.assign)
            self.jumps -= 1
            self.leave(3)
            del self.scope[mark:]
        result = self.chance(0.5)
        if result:
            self.emit(f"return {self.fit(self.value('real', 2), -3, 3)};")
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)"])
        self.function_lines += [f"export func {name}({', '.join(params)}){' -> real' if result else ''}{derive} {{", *self.lines, "}"]
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.pure = False

    def make_function(self):
        """Pure but for reads of the kernel's inputs; those for the host (`export func`) read nothing."""
        name = f"{self.name}_f{len(self.functions) + len(self.pairs)}"
        saved = self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level
        self.pure = self.chance(0.15)
        generic = not self.pure and self.chance(0.25)
        args = [self.rng.choice(["real", "real", "vec2", "vec3", "mat2"]) for _ in range(self.rng.randint(1, 3))] + (["int"] if self.chance(0.4) else [])
        result = self.rng.choice(["real", "real", "vec2", "vec3"])
        two = self.chance(0.2)
        self.lines, self.pad, self.scope, self.inside, self.kernel_level = [], 1, [], True, False
        self.mult = 4
        names = []
        for k in args:
            n = self.name_new("p")
            names.append(n)
            self.scope.append({"name": n, "kind": k, "lo": 0 if k == "int" else -3, "hi": 4 if k == "int" else 3, "mutable": False})
        self.count("export func" if self.pure else "function" + (" generic" if generic else "") + (" of several results" if two else ""))

        def result_text():
            e = self.fit(self.value(result, 2), -3, 3)
            return f"{e}, {self.fit(self.value('real', 1), -3, 3)}" if two else str(e)
        self.budget = self.rng.choice([0, 2, 4, 14])
        if self.budget == 14:
            self.count("function, large")
        self.early = None if self.chance(0.5) or generic and two or self.pure else result_text
        if self.budget:
            self.sink()
        self.block(self.rng.randint(0, 3) if self.budget < 14 else 7)
        if self.early and self.chance(0.7):
            self.count("return, early")
            self.emit(f"if ({self.condition(1)}) {{ return {result_text()}; }}")
            self.block(1)
        args_used = [v for v in self.scope if v["kind"] not in ("int", "bool") and (v["mutable"] or not v.get("used"))]
        if args_used:
            e = f"{'sin' if self.chance(0.5) else 'tanh'}({self.total(args_used)})"
            e = self.fit(Expr(f"({self.rng.choice(['0.5 * ', ''])}{e})", "real", -1, 1), -1, 1)
            r = self.fit(self.value(result, 2), -1.8, 1.8)
            self.emit(f"return {r} + {e}{', ' + str(self.fit(self.value('real', 1), -3, 3)) if two else ''};")
        else:
            self.emit(f"return {result_text()};")
        self.early = None
        types = {"int": "i32"}
        plist = ", ".join(n if generic else f"{n}: {types.get(k, k)}" for n, k in zip(names, args))
        out = "" if generic else f" -> ({result}, real)" if two else f" -> {result}"
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)"]) if self.pure else ""
        body = [f"{'export ' if self.pure else ''}func {name}({plist}){out}{derive} {{", *self.lines, "}"]
        weight = 20 if self.nested_function else 1
        self.lines, self.pad, self.scope, self.budget, self.inside, self.mult, self.kernel_level = saved
        self.function_lines += body
        f = {"name": name, "args": args, "result": result, "weight": weight, "two": two, "pure": self.pure}
        self.pure = False
        (self.pairs if two else self.functions).append(f)
