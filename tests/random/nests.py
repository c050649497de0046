"""Parallel loops with loops inside, whose iterations are to run side by side, and rows that are to be peeled.

What inner loops carry decides in some of them (it is converted to an integer, compared, a subscript) and only adds up in others; numbers go through local arrays,
branches and loops of every length, none included.
"""

SIZES = [1, 31, 32, 33, 95]
TRIPS = {"none": 0, "three": 3, "K4": 4, "K16": 16, "K32": 32}
ROWS = [3, 4, 31, 32, 33, 64]


class Kernel(list):
    """The lines of a kernel, and what is known of it."""
    loose = False    # its sums may be made in any order


class Nests:
    def __init__(self, number, rng):
        self.r = rng
        self.elem = ["f64", "f32"][number % 2]
        self.n, self.row = rng.choice(SIZES), rng.choice(ROWS)

    def __str__(self):
        return f"nests, {self.n} iterations, rows of {self.row}, {self.elem}"

    def head(self):
        return ["lazy_grad; lazy_dual;", f"param N: i32 = {self.n};", f"param R: i32 = {self.row};", *(f"param {name}: i32 = {n};" for name, n in TRIPS.items()),
                "field x: real[N];", "field y: real[N];", "field z: real[N];", "field a: real[40];", "field c: real[40];", "field B: real[N, 40];", "field k: i32[40];", "field q: i32[N];",
                "field total: real;", "field bins: real[8];", "field u: real[7, R];", "field v: real[7, R];", "field w: real[R];"]

    # ---- expressions ----

    def integer(self):
        if self.counts and self.r.random() < 0.3:
            return f"h[{self.small(8)}]"
        return self.r.choice([*self.ints, *self.ints, "k[{}]".format(self.small(40))]) if self.ints or self.r.random() < 0.5 else f"i32({self.r.choice(['4.0', '0.01', '9.5'])} * {self.r.choice(self.floats)})"

    def small(self, n):
        """An integer from 0 to below n."""
        i, s, j = self.r.choice(self.ints or ["p"]), self.r.choice(self.floats), self.r.choice(self.indices or ["p"])
        return self.r.choice([f"clamp(i32(4.0 + 3.0 * {s}), 0, {n - 1})", f"clamp(i32(0.01 * {s}), 0, {n - 1})", f"clamp({i}, 0, {n - 1})", f"mod({i}, {n})", f"mod({i} + {j}, {n})", f"mod({j}, {n})",
                              f"i32(clamp(6.0 * {s}, 0.0, {n - 1}.0))"])

    def along(self):
        """A subscript of a table or row, most often a loop's."""
        if self.indices and self.r.random() < 0.8:
            return self.r.choice([j for j in self.indices[-1:] * 3 + self.indices] + [f"{self.indices[-1]} + 1"])
        return self.small(40) if self.r.random() < 0.7 else str(self.r.randrange(8))

    def beside(self):
        """Of the parallel loop: neighbours around the end, held there, under a condition."""
        return self.r.choice(["x[p]", "x[p]", "x[p]", "x[mod(p + 1, N)]", "x[(p + 1) % N]", "x[min(p + 1, N - 1)]", "x[max(p - 1, 0)]", "(p > 0 ? x[p - 1] : 0.25)", "x[p == 0 ? N - 1 : p - 1]"])

    def number(self):
        pick = self.r.random()
        if pick < 0.35:
            return self.r.choice(self.floats)
        if pick < 0.6:
            return f"{self.r.choice('aac')}[{self.along()}]"
        if pick < 0.72:
            return f"B[p, {self.along()}]"
        if pick < 0.85:
            return self.beside()
        if pick < 0.93 and self.arrays:
            return f"{self.r.choice(self.arrays)}[{self.small(8)}]"
        return f"real({self.r.choice(self.ints or ['p'])} % 7)" if pick < 0.97 else f"0.3 * floor(3.0 * {self.r.choice(self.floats)})"    # not more than there was

    def condition(self):
        j = self.r.choice(self.indices or ["p"])
        return self.r.choice([f"{self.r.choice(self.floats)} > 0.3", f"{self.number()} < {self.number()}", f"{self.integer()} % 3 == 0", f"{j} > 2", f"{self.integer()} > k[{self.small(40)}]",
                              "p > 3", "p % 2 == 0", "p == 0", "p < N - 1", f"x[p] > 0.2 && {self.r.choice(self.floats)} < 1.0", f"k[{self.along()}] > 1"])

    # ---- statements ----

    def assign_float(self):
        s, e, g = self.r.choice(self.floats), self.number(), self.number()
        return self.r.choice([f"{s} = 0.6 * {s} + 0.2 * {e};", f"{s} += 0.1 * {e};", f"{s} = 0.5 * {s} * {self.beside()} + 0.1 * {e};", f"{s} += 0.05 * {e} * {g};", f"{s} = 0.5 * {e} + 0.25 * {g};",
                              f"{s} = {self.condition()} ? 0.9 * {s} : 0.5 * {s} + 0.3 * {e};", f"{s} = min({s}, {e});", f"{s} = max({e}, {s});", f"{s} = 0.7 * {s} + 0.2 * a[{self.small(40)}];",
                              f"{s} = 0.8 * {s} + 0.02 * real({self.integer()} % 5);"])

    def assign_integer(self):
        n = self.r.choice(self.ints)
        return self.r.choice([f"{n} = i32({self.r.choice(['4.0', '0.01', '2.5'])} * {self.number()});", f"{n} += {self.condition()} ? 1 : 0;", f"{n} = ({n} * 5 + {self.integer()}) % 13;",
                              f"{n} = max({n}, {self.integer()});", f"{n} = ({n} + {self.small(5)}) % 40;"])

    def assign_element(self):
        if self.counts and (not self.arrays or self.r.random() < 0.5):
            return self.r.choice([f"h[{self.small(8)}] += 1;", f"h[{self.small(8)}] = {self.integer()} % 11;"])
        t, e = self.r.choice(self.arrays), self.number()
        at = self.r.choice([self.small(8), self.small(8), str(self.r.randrange(8))])
        return self.r.choice([f"{t}[{at}] = 0.5 * {e};", f"{t}[{at}] += 0.1 * {e};", f"{t}[{at}] = 0.5 * {t}[{at}] + 0.1 * {e};"])

    def statement(self, depth):
        pick = self.r.random()
        if pick < 0.14 and depth < 2:
            return self.loop(depth)
        if pick < 0.26 and depth < 4:
            inner = [line for _ in range(self.r.randint(1, 2)) for line in self.statement(depth + 2)]
            other = ["} else {", *self.statement(depth + 2)] if self.r.random() < 0.5 else []
            return [f"if {self.condition()} {{", *inner, *other, "}"]
        if pick < 0.29:
            return [self.r.choice([f"total += 0.1 * {self.number()};", f"bins[{self.small(8)}] += {self.number()};"])]
        if pick < 0.5 and self.ints:
            return [self.assign_integer()]
        return [self.assign_element() if pick < 0.62 and (self.arrays or self.counts) else self.assign_float()]

    def loop(self, depth):
        j = f"j{self.names}"
        self.names += 1
        bound = self.r.choice(["three", "K4", "K16", "K32"] * 4 + ["none", "none", "4", "7", "mod(q[p], 5)", "3, K16", "1, three + 1"] + (["{} % 6 + 1".format(self.indices[-1])] if self.indices else []))
        self.indices.append(j)
        body = [line for _ in range(self.r.randint(1, 4 - depth)) for line in self.statement(depth + 1)]
        if self.r.random() < 0.06:
            body.append(f"if {self.condition()} {{ {self.r.choice(['break', 'continue'])}; }}")
            body += [self.assign_float()]
        self.indices.pop()
        return [f"for {j} in range({bound}) {{", *body, "}"]

    def ending(self):
        s, r = self.r.choice(self.floats), self.r.choice(self.floats)
        lines = [self.r.choice([f"y[p] = {s};", f"y[p] += {s} * {r};", f"total += {s} * {r};", f"bins[{self.small(8)}] += {s};"])]
        rest = [f for f in self.floats if f not in (s, r)] + [f"0.1 * {t}[{self.small(8)}]" for t in self.arrays]
        return lines + [f"z[p] = {' + '.join([*(f'real({n})' for n in self.ints + [f'h[{self.small(8)}]'] * self.counts), *rest]) or s};"]

    def nest(self, name):
        self.names, self.indices, self.counts = 0, [], False    # counts: there is a local array of integers
        self.floats, self.ints, self.arrays = ["s", "r", "f"][:self.r.randint(1, 3)], ["n", "m"][:self.r.randint(0, 2)], ["t"] * (self.r.random() < 0.35)
        starts = {"s": "x[p]", "r": "0.5 * x[p]", "f": "0.3"}
        lines = [f"var {s} = {starts[s]};" for s in self.floats] + [f"var {n} = {self.r.choice(['0', 'q[p]', 'i32(4.0 * x[p])'])};" for n in self.ints] + [f"var {t}: real[8];" for t in self.arrays]
        if self.r.random() < 0.15:
            self.counts = True
            lines.append("var h: i32[8];")
        for _ in range(self.r.randint(2, 5)):
            lines += self.loop(0)
            if self.r.random() < 0.3:
                lines += self.statement(3)
        lines += self.ending()
        return Kernel([f"kernel {name}() derive(grad, jvp{self.second()}) {{", self.r.choice(["for p in x {"] * 3 + ["for p in range(N) {"]), *lines, "} }"])

    # ---- rows ----

    def neighbour(self):
        at = self.r.choice(["j", "(j + 1) % R", "(j - 1 + R) % R", "mod(j - 2, R)", "mod(j + 1, R)", "min(j + 1, R - 1)", "max(j - 1, 0)", "clamp(j - 2, 0, R - 1)", "abs(j - 1)", "j == 0 ? R - 1 : j - 1",
                            "j + 1 < R ? j + 1 : 2 * R - 1 - (j + 1)", "((j - 1) % R + R) % R", "R - 1 - j"])
        return self.r.choice([f"u[i, {at}]"] * 4 + [f"w[{at}]", "(j > 0 ? u[i, j - 1] : 0.0)", "(j < R - 1 ? u[i, j + 1] : w[j])", "(i > 0 ? u[i - 1, j] : 0.5)", f"u[(i + 1) % 7, {at}]"])

    def term(self):
        return self.r.choice([f"{self.neighbour()} * {self.neighbour()}", f"0.5 * {self.neighbour()}", f"({self.neighbour()} - {self.neighbour()})", f"w[j] * {self.neighbour()}"])

    def update(self):
        return self.r.choice([f"d += {self.term()};", f"d = 0.5 * d + {self.term()};", f"d = max(d, {self.term()});"])

    def where(self):
        edge = self.r.choice(["0", "1", "2", "5", "R - 1", "R - 2", "R / 2"])
        one = self.r.choice([f"j == {edge}", f"j != {edge}", f"j < {edge}", f"j >= {edge}", f"!(j > {edge})", "i > 0", "i == 3", "i % 2 == 0", "q[0] > 1", "u[i, j] > 0.2", f"j + i < {edge}", "j % 2 == 1"])
        return one if self.r.random() < 0.6 else f"{one} {self.r.choice(['&&', '||'])} {self.where()}"

    def rows(self, name):
        lines = [f"var d = {self.term()};"]
        for _ in range(self.r.randint(1, 3)):
            pick = self.r.random()
            head = self.where()
            if pick < 0.5:
                lines.append(self.update())
            elif pick < 0.85:
                lines += [f"if {head} {{", self.update(), *(["} else if j < R - 1 {" if self.r.random() < 0.5 else "} else {", self.update()] if self.r.random() < 0.5 else []), "}"]
            else:
                lines += ["for e in range(3) {", f"d += 0.3 * {self.r.choice(['u[i, (j + e) % R]', 'u[i, min(j + e, R - 1)]', 'w[mod(j - e, R)]'])};", "}"]
        lines.append(self.r.choice(["v[i, j] = d;", "v[i, j] = d;", "v[i, j] += d;", "total += d;"]))
        head, end = self.r.choice([("for i, j in u {", "}")] * 2 + [("for i, j in ndrange(7, R) {", "}"), ("for i, j in ndrange((1, 6), (1, R)) {", "}"), ("for i, j in ndrange(7, (0, R - 1)) {", "}"),
                                                                    ("for i in range(7) { for j in range(R) {", "} }")])
        return Kernel([f"kernel {name}() derive(grad, jvp{self.second()}) {{", head, *lines, end + " }"])

    def second(self):
        return ", hvp" * (self.r.random() < 0.35)

    def kernel(self, name):
        return self.rows(name) if self.r.random() < 0.2 else self.nest(name)

    def wrong(self, kernels, starts, explained):
        return []
