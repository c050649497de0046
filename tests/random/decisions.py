"""Kernels and export funcs that decide by computed floats: with the data at ties (tools/ties.h) another rounding is another element, branch or number of trips.

A kernel computes a number in one of the `WAYS` that compilers like to rewrite, and decides by it in one of the `FORMS`. What was decided goes into `zi` and `zn`, too,
which tools/adcheck compares between the launch and the JVP; adjoints show in their gradients what they decided.
"""
import math

from stub import Kernel, Param

STEPS = [0.1, 0.1, 0.11, 0.11, 0.22, 0.05, 0.2, 1 / 3, 1 / 7, 0.25]    # of most of them some multiples differ by another rounding
LENGTH = 41    # of the table `zt`
WAYS = {"reciprocal": 3, "scaled": 3, "running sum": 3, "kernel-level sum": 3, "contraction": 4, "edge": 3, "in a function": 1, "length": 1, "mean": 1, "plain": 1}
FORMS = {"subscript": 4, "two subscripts": 2, "comparison": 3, "trips": 1.5, "step": 1.5, "winner": 1, "break": 1, "kept": 1, "particles": 1}


def last_below(k, h):
    """The largest number whose quotient by h is less than k."""
    x = k * h
    while x / h >= k:
        x = math.nextafter(x, 0.0)
    return x


def prepare(module):
    """Step of the data, and extent of the table `ze` whose last element is read where the quotient by the step is just less than its extent."""
    r = module.rng
    module.step = r.choice(STEPS)
    inverse = 1 / module.step
    edges = [k for k in range(2, 12) if last_below(k, module.step) <= 1.2 and last_below(k, module.step) * inverse >= k]
    module.edge = r.choice(edges or [k for k in range(2, 12) if last_below(k, module.step) <= 1.2])
    module.row = r.randint(6, 11)


def declared(module):
    both, h = "needs_grad needs_dual", module.step
    return [f"param DX: real = {h!r};", f"param IX: real = {1 / h!r};", f"field zx: real[N] {both};", f"field zp: vec2[N] {both};", f"field zr: real[N, {module.row}] {both};",
            f"field zt: real[{LENGTH}] {both};", f"field zu: real[7, 5] {both};", f"field ze: real[{module.edge}] {both};", f"field zy: real[N] {both};", f"field zo: real[N] {both};",
            f"field zs: real[N, {module.row}] {both};", "field zi: i32[N];", "field zn: i32;"]


class Decisions:
    """Part of a Program."""

    deciding = ()    # (its kernel or function, the way), of what was added
    decided_text, decided_kernels = (), ()

    def decide(self):
        """Text of kernels and functions beside the main kernel."""
        before = len(self.kernels)
        text = Decision(self).kernel() if self.chance(0.4) else []
        text += Decision(self).export() if self.chance(0.1) else []
        self.decided_text, self.decided_kernels = [s.head() if isinstance(s, Kernel) else s for s in text], self.kernels[before:]
        return text


class Alone:
    """What decides in a program, as a program: it is short enough for many compilers."""

    def __init__(self, program):
        self.name, self.seed = program.name, program.seed
        self.text, self.kernels, self.deciding = program.decided_text, program.decided_kernels, program.deciding


class Decision:
    """What is added to one program."""

    def __init__(self, program):
        self.program, self.module, self.rng, self.name = program, program.module, program.rng, program.name
        program.deciding = [*program.deciding]
        self.count, self.pick, self.chance, self.name_new = program.count, program.pick, program.chance, program.name_new
        self.body, self.below, self.taken = [], 2, set()
        self.way_to_give = self.pick((2, "loss"), (2, "store"), (1, "add"), (1, "scatter"))    # one for all branches, which no iterations share then
        self.par, self.beside_lines, self.serial = None, [], False

    def kernel(self):
        """Text of a kernel beside the main one."""
        way = self.pick(*((n, w) for w, n in WAYS.items()))
        form = self.form_for(way)
        self.count(f"decision, {way}")
        self.count(f"decided: {form}")
        self.serial = way == "kernel-level sum"
        self.loop = "serial for" if self.serial else "for"    # one that carries values
        name = self.name_new(f"{self.name}_d_{way.replace(' ', '_').replace('-', '_')}")
        first, second = getattr(self, "way_" + way.replace(" ", "_").replace("-", "_"))()
        getattr(self, "form_" + form.replace(" ", "_"))(first, second)
        derive = self.pick((6, ""), (3, " derive(grad, jvp, hvp)"))
        kernel = Kernel(name, [self.par] if self.par else [], None, derive)
        self.program.kernels.append(kernel)
        self.program.deciding.append((name, way))
        body = ["    " + s for s in self.body]
        if not self.serial:
            over = self.rng.choice(["zx", "zp", "range(N)", "zo"])
            body = [f"    for i in {over} {{", *body, "    }"]
        return [*self.beside_lines, kernel, *body, "}"]

    def form_for(self, way):
        form = self.pick(*((n, f) for f, n in FORMS.items()))
        if way == "edge":
            return "last element"
        if form in ("kept", "particles") and way in ("running sum", "kernel-level sum"):    # these loops write `zs`, or are none
            return "subscript"
        return form

    def put(self, text):
        self.body.append("    " * (self.below - 1) + text)

    # ---- data and constants ----

    def lattice(self):
        """A number of the data, another one each time: equal ones would be told apart by rounding alone, wherever the data are, and differences mean nothing then."""
        text = self.one_of_lattice()
        while text in self.taken:
            text = self.one_of_lattice()
        self.taken.add(text)
        return text

    def one_of_lattice(self):
        i = "i" if not self.serial else str(self.rng.randrange(5))
        other = f"(i + {self.rng.randint(1, 3)}) % N" if not self.serial else str(self.rng.randrange(5))
        return self.pick((3, f"zx[{i}]"), (2, f"zp[{i}].x"), (2, f"zp[{i}].y"), (1, f"zr[{i}, {self.rng.randrange(6)}]"), (1, f"zx[{other}]"), (0.5, f"({i_sum(i)})"))

    def divisor(self):
        """About a step, known at run time."""
        if self.chance(0.15):
            self.par = self.par or Param("by", "real", self.chance(0.5))
            return "max(by, DX)"
        return self.pick((5, "DX"), (1, "(2.0 * DX)"), (1, "(DX * 0.5)"), (0.5, "max(zx[0], DX)"), (0.5, "(DX + zt[0] * 0.0)"))

    def factor(self):
        """Something smooth that the decided value is multiplied by."""
        i = "i" if not self.serial else "2"
        return self.pick((2, f"(0.4 + 0.3 * zx[{i}])"), (1, f"sin(zp[{i}].y + 0.3)"), (1, "1.0"), (1, f"(zp[{i}].x - 1.7)"), (1, "(zu[1, 1] + 0.5)"))

    def record(self, text):
        if self.chance(0.75):
            self.put(f"zn = {text};" if self.serial else f"zi[i] = {text};")

    def give(self, text):
        """The result."""
        if self.serial:
            return self.put(f"loss += {text};")
        return self.put({"loss": f"loss += {text};", "store": f"zo[i] = {text};", "add": f"zo[i] += {text};", "scatter": f"zo[(i * 2 + 1) % N] += {text};"}[self.way_to_give])

    # ---- ways to compute a number, about an integer ----

    def way_reciprocal(self):
        d = self.divisor()
        x, y = self.lattice(), self.lattice()
        if self.chance(0.4):
            self.put(f"let by_d = {d};")
            d = "by_d"
        if self.chance(0.3) and not self.serial:
            self.put(f"let pq = zp[i] / {d};")
            return "pq.x", "pq.y"
        return f"{x} / {d}", f"{y} / {d}"

    def way_scaled(self):
        def one(x):
            h, c = self.module.step, self.rng.choice([0.1, 0.3, 0.5, 2.0, 3.0, 5.0, 7.0, -1.0, -0.1])
            k = 1 / h / c
            return self.rng.choice([f"{c!r} * ({k!r} * {x})", f"({x} * {k!r}) * {c!r}", f"{c!r} * {x} / {c * h!r}", f"({x} / {1 / k!r}) * {c!r}", f"({x} + {x}) * {0.5 / h!r}",
                                    f"{k!r} * ({c / 2!r} * {x} + {x} * {c / 2!r})", f"({-c!r}) * ({x} * ({-k!r}))", f"{x} * {0.7 / h!r} + {x} * {0.3 / h!r}"])
        return one(self.lattice()), one(self.lattice())

    def quotient(self, s):
        """Of a sum, which may be far from 0."""
        v = self.pick((3, f"{s} / DX"), (2, f"{s} * IX"), (1, f"{s} * {1 / self.module.step!r}"), (1, f"{s} / {self.module.step!r}"))
        return v if self.chance(0.3) else f"mod({v}, 8.0)"

    def way_running_sum(self):
        term = self.pick((4, "zr[i, jj]"), (1, "zr[i, jj] * 0.5"), (1, "abs(zr[i, jj])"), (1, "zr[i, jj] * zr[i, jj]"), (0.5, f"zr[i, {self.module.row - 1} - jj]"))
        keep = self.pick((4, "zs[i, jj] = acc;"), (1, "zs[i, jj] = 2.0 * acc;"), (2, ""))
        self.put("var acc = 0.0;")
        self.put(f"for jj in range({self.module.row}) {{ acc += {term}; {keep} }}" if self.chance(0.8) else f"for jj in range({self.module.row}) {{ {keep.replace(' = acc;', ' = 0.5 * acc;')} acc += {term}; }}")
        return self.quotient("acc"), self.quotient("(acc - zx[i])")

    def way_kernel_level_sum(self):
        """Beside work that keeps a compiler from adding in another order, and that an adjoint has no use for when it adds once more."""
        field, subs = self.rng.choice([("zx", "i"), ("zr", "i, jj"), ("zp", "i")])
        at = f"{field}[{subs}]" + (".x" if field == "zp" else "")
        term = self.pick((4, at), (1, f"{at} * {at}"), (1, f"{at} * 0.25"))
        cell = "zo[(i * 2) % N]" if field != "zr" else "zo[(i * 2 + jj) % N]"
        own = "zy[i]" if field != "zr" else "zs[i, jj]"
        work = self.pick((4, f"{cell} += 0.3 * {at};"), (2, f"{own} = {at} * zt[3];"), (1, f"var val = 0.0; for tt in range(3) {{ val = 0.5 * val + zt[tt]; }} {cell} += val * {at};"),
                         (1, f"if {at} > 0.0 {{ {cell} -= {at} * zt[1]; }}"), (1, "loss += 0.1 * zx[i];"), (1, ""))
        self.put("var acc = 0.0;")
        self.put(f"for {subs} in {field} {{ acc += {term}; {work} }}")
        return self.quotient("acc"), self.quotient("(acc + zx[1])")

    def way_contraction(self):
        x, y, c = self.lattice(), self.lattice(), self.rng.choice(["2.0", "3.0", "1.0", "5.0"])
        by = self.rng.choice(["IX", "IX", repr(1 / self.module.step), "(IX + 1.0)"])
        form = self.rng.choice(["stored", "stored", "stored", "sum", "square", "difference"])
        if form == "stored":
            self.put(f"let p = {x} * {by};")
            if self.chance(0.8):
                self.put("zy[i] = p;")
            return f"(p - {c}) + 0.0" if self.chance(0.2) else f"p - {c}", f"{y} * {by} + {c}"
        if form == "sum":
            return f"{x} * {by} + {c}", f"{c} - {y} * {by}"
        if form == "square":
            return f"({x} * {x} + {y} * {y}) * {by}", f"{x} * {x} - {y} * {y}"
        return f"({x} * 3.0 - {y} * 3.0) * {by}", f"{x} * {y} - {y} * {self.lattice()}"

    def way_edge(self):
        top = last_below(self.module.edge, self.module.step)
        def one():
            x = f"min(abs({self.lattice()}), {top!r})"
            return self.pick((6, f"{x} / DX"), (1, f"{x} / {self.module.step!r}"))
        return one(), one()

    def way_in_a_function(self):
        name = f"{self.name}_df{self.name_new('')}"
        text = self.rng.choice(["x / dd", "0.5 * (x / dd) + 0.5 * (x / dd)", "(x * 3.0) / (dd * 3.0)", "x * (1.0 / dd)", "(x + dd) / dd - 1.0"])
        self.beside_lines.append(f"func {name}(x: real, dd: real) -> real {{ return {text}; }}")
        return f"{name}({self.lattice()}, {self.divisor()})", f"{name}({self.lattice()}, DX)"

    def way_length(self):
        i = "i" if not self.serial else "1"
        one, other = self.rng.sample([f"norm(zp[{i}], DX)", f"sqrt(dot(zp[{i}], zp[{i}]) + 0.01)", f"hypot(zp[{i}].x, zp[{i}].y + 2.5)", f"length(zp[{i}] + vec2(3.0, 1.0))"], 2)
        return f"{one} / DX", f"{other} * IX"

    def way_mean(self):
        x, y = self.lattice(), self.lattice()
        return f"({x} + {y}) * 0.5 / DX", f"({x} + {y} + {self.lattice()}) / 3.0 / DX"

    def way_plain(self):
        return f"{self.lattice()} * IX", f"{self.lattice()} / {self.module.step!r}"

    # ---- what is decided by it ----

    def whole(self, v, top):
        """The text of an integer in 0 .. top."""
        cast = self.rng.choice([f"i32(floor({v}))", f"i32({v})", f"i32(floor({v}))", f"i32(round({v}))", f"i32(trunc({v}))", f"i32(ceil({v}))", f"i32(i64({v}))"])
        half = top // 2
        return self.pick((4, f"clamp({cast} + {half}, 0, {top})"), (1, f"min(max({cast}, {-half}) + {half}, {top})"), (1, f"abs({cast}) % {top + 1}"), (0.5, f"({cast} % {half} + {half})"))

    def form_subscript(self, v, w):
        self.put(f"let cc = {self.whole(v, LENGTH - 1)};")
        self.record("cc")
        second = f" + zt[{self.whole(w, LENGTH - 1)}]" if self.chance(0.7) else ""
        self.give(f"(zt[cc]{second}) * {self.factor()}")

    def form_two_subscripts(self, v, w):
        a, b = self.whole(v, 6), self.whole(w, 4)
        self.put(f"let cc = ivec2({a}, {b});" if self.chance(0.6) else f"let ca = {a}; let cb = {b}; let cc = ivec2(ca, cb);")
        self.record("cc.x * 10 + cc.y")
        if self.chance(0.25):
            return self.put(f"zu[cc] += {self.factor().replace('zu[1, 1]', '0.3')};")
        return self.give(f"zu[cc] * {self.factor()}")

    def form_last_element(self, v, w):
        self.put(f"let cc = i32({v});")
        self.record("cc")
        second = f" * ze[i32({w})]" if self.chance(0.8) else ""
        if self.chance(0.25):
            return self.put(f"ze[cc] += {self.factor()} / max(abs(zx[0]), DX);")
        return self.give(f"ze[cc]{second} * {self.factor()}")

    def form_comparison(self, v, w):
        op, k = self.rng.choice(["<", "<=", ">", ">="]), f"{self.rng.randint(-4, 6)}.0"
        test = self.pick((3, f"{v} {op} {k}"), (2, f"{v} {op} {w}"), (1, f"{v} {self.rng.choice(['==', '!='])} {w}"), (1, f"floor({v}) {op} {k}"))
        form = self.rng.choice(["choice", "select", "branch", "two branches"])
        if form in ("choice", "select"):
            self.put(f"let ok = {test};")
            self.record("ok ? 1 : 0")
            a, e = f"zt[1] * {self.factor()}", f"zt[2] - {self.factor()}"
            return self.give(f"(ok ? {a} : {e})" if form == "choice" else f"select(ok, {a}, {e})")
        self.put(f"if {test} {{")
        self.below += 1
        self.record("5")
        self.give(f"zt[3] * {self.factor()}")
        self.below -= 1
        if form == "two branches":
            self.put("} else {")
            self.below += 1
            self.record("7")
            self.give(f"zt[4] + {self.factor()}")
            self.below -= 1
        return self.put("}")

    def form_trips(self, v, w):
        self.put(f"var val = {self.factor()};")
        if self.chance(0.5):
            self.put(f"let n = clamp(i32({v}), 0, 6);")
            self.record("n")
            self.put(f"{self.loop} tt in range(n) {{ val = 0.7 * val + zt[tt] * {w_small(w)}; }}")
        else:
            h = self.rng.choice(["1.0", "0.5", "DX"])
            self.put(f"let end = min({v}, {'5.0 * DX' if h == 'DX' else '5.0'});")
            self.put("var at = 0.0; var n = 0;")
            self.put(f"while at {self.rng.choice(['<', '<='])} end {{ at += {h}; n += 1; val = 0.6 * val + zt[n]; }}")
            self.record("n")
        self.give("val")

    def form_step(self, v, w):
        one = self.rng.choice([f"floor({v})", f"round({v})", f"trunc({v})", f"ceil({v})", f"sign({v})", f"step(2.0, {v})", f"clamp(({v}), -2.0, 2.0)", f"mod({v}, 3.0)", f"(({v}) % 2.0)",
                               f"fract({v})", f"max({v}, {w})", f"min({v}, 2.0)", f"abs({v})"])
        if one.startswith(("floor", "round", "trunc", "ceil", "sign", "step")):
            self.record(f"i32({one})")
        self.give(f"{one} * 0.1 * {self.factor()} + zt[0] * {self.factor()}")

    def form_winner(self, v, w):
        if not self.serial and self.chance(0.3):
            self.put(f"atomic_{self.rng.choice(['min', 'max'])}(zo[{self.rng.choice(['0', 'i % 2'])}], floor({v}) + 0.0 * zx[i]);")
            return self.put(f"loss += zt[1] * {self.factor()};")
        i, op = ("i" if not self.serial else "1"), self.rng.choice(["<", "<=", ">", ">="])
        self.put(f"let bound = {v};")
        self.put("var best = bound; var at = 0;")
        self.put(f"{self.loop} tt in range(6) {{ let one = zr[{i}, tt] {self.rng.choice(['/ DX', '* IX'])}; if one {op} best {{ best = one; at = tt + 1; }} }}")
        self.record("at")
        return self.give(f"zt[at] * {self.factor()} + 0.1 * best")

    def form_break(self, v, w):
        i = "i" if not self.serial else "1"
        self.put(f"let lim = {v};")
        self.put(f"var walk = 0.0; var at = 0; var val = {self.factor()};")
        self.put(f"{self.loop} tt in range(6) {{ walk += zr[{i}, tt] * IX; if walk {self.rng.choice(['>', '>=', '<', '<='])} lim {{ break; }} val = 0.5 * val + zt[tt] * walk; at = tt; }}")
        self.record("at")
        self.give(f"val + zt[at + 10]{' * ' + w_small(w) if self.chance(0.5) else ''}")

    def form_kept(self, v, w):
        """What one loop decides, another one goes by."""
        store, index = self.rng.choice([(f"zi[i] = {self.whole(v, LENGTH - 1)};", "zi[i]"), (f"zs[i, 0] = floor({v});", "clamp(i32(zs[i, 0]) + 20, 0, 40)"),
                                        (f"zs[i, 0] = {v};", "clamp(i32(floor(zs[i, 0])) + 20, 0, 40)")])
        self.put(store)
        self.put(f"loss += 0.1 * {self.factor()};")
        self.body += ["}", "for i in range(N) {", f"    zo[i] = zt[{index}] * (0.3 + zx[i]);"]

    def form_particles(self, v, w):
        """Steps in time, each of which looks where the one before has ended."""
        self.put(f"zs[i, 0] = zx[i] + 0.0 * ({w_small(v)});" if self.chance(0.3) else "zs[i, 0] = zx[i];")
        move = self.rng.choice(["zt[cc] * DX", "zt[cc] * 0.1", "zu[cc % 7, 1] * DX + 0.1"])
        self.body += ["}", f"serial for jj in range({min(self.module.row, 6)} - 1) {{", "    for i in range(N) {", f"        let cc = clamp(i32(floor(zs[i, jj] {self.rng.choice(['/ DX', '* IX'])})) + 20, 0, 40);",
                      "        zi[i] = cc;", f"        zs[i, jj + 1] = zs[i, jj] + {move};", "    }", "}", "for i in zx {", "    loss += zs[i, 3] * zs[i, 3] + 0.1 * zp[i].x;"]

    # ---- export funcs ----

    def export(self):
        """Text of an export func whose result is decided by what it computes."""
        self.count("decision, export func")
        h, name = self.module.step, self.name_new(f"{self.name}_d_export")
        way, form = self.rng.choice(["reciprocal", "reciprocal", "scaled", "contraction", "sum"]), self.rng.choice(["comparison", "comparison", "subscript", "step", "trips"])
        self.count(f"export func decides by {way}")
        self.program.deciding.append((name, f"export func, {way}"))
        lines = []
        if way == "reciprocal":
            lines.append(f"let dd = max(area, {h!r}); let sx = fx / dd; let sy = fy / dd;")
        elif way == "scaled":
            c = self.rng.choice([3.0, 0.1, 7.0, 0.3])
            lines.append(f"let sx = {c!r} * ({1 / h / c!r} * fx); let sy = (fy * {c!r}) * {1 / h / c!r} + area;")
        elif way == "contraction":
            lines.append(f"let sx = fx * {1 / h!r} - {self.rng.choice(['1.0', '2.0', 'area'])}; let sy = fx * fy - area * {self.rng.choice(['fy', 'fx', '0.5'])};")
        else:
            lines.append("var walk = 0.0; var kept: real[8];")
            lines.append("for jj in range(8) { walk += (jj % 2 == 0 ? fx : fy) * 0.5; kept[jj] = walk; }")
            lines.append(f"let sx = walk * {1 / h!r}; let sy = kept[5] * {1 / h!r} - area;")
        test = self.rng.choice([f"sx {self.rng.choice(['<', '<=', '>=', '>'])} {self.rng.randint(0, 4)}.0", f"sx {self.rng.choice(['<', '<=', '>'])} sy", "floor(sx) == floor(sy)"])
        if form == "comparison":
            lines.append(f"let res = {test} ? 10.0 * sx + sy : 1000.0 * sx + sy * sy;")
        elif form == "subscript":
            lines.append("var tex: real[9]; for jj in range(9) { tex[jj] = fx * real(jj) + 0.3; }")
            lines.append(f"let res = tex[clamp({self.rng.choice(['i32(floor(sx))', 'i32(sx)', 'i32(round(sx))'])} + 4, 0, 8)] * (sy + 0.5);")
        elif form == "step":
            lines.append(f"let res = {self.rng.choice(['floor(sx)', 'round(sx)', 'mod(sx, 3.0)', 'sign(sx)', 'sx % 2.0', 'ceil(sx)'])} * (0.3 + fy) + sy;")
        else:
            lines.append("var res = sy; for jj in range(clamp(i32(sx), 0, 5)) { res = 0.5 * res + fy * real(jj); }")
        result, kind = self.rng.choice([("res", "real"), ("vec2(res, sx)", "vec2"), ("vec2(sx, floor(sy)) * res", "vec2")])
        derive = self.rng.choice(["", "", " derive(grad, jvp, hvp)"])
        return [f"export func {name}(fx: real, fy: real, area: real) -> {kind}{derive} {{", *("    " + s for s in lines), f"    return {result};", "}"]


def i_sum(i):
    return f"zx[{i}] + zp[{i}].x"


def w_small(w):
    """A smooth number of moderate size."""
    return f"(0.3 + 0.05 * sin({w}))"
