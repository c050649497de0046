"""Random expressions, each with an interval that its value is sure to lie in, so that every operation stays in its domain."""
import math
import re

from stub import TYPES

UNARY = {  # name: (domain, image of [lo, hi])
    "sin": (None, lambda a, b: (-1, 1)), "cos": (None, lambda a, b: (-1, 1)), "tan": ((-1.2, 1.2), lambda a, b: (math.tan(a), math.tan(b))),
    "asin": ((-0.85, 0.85), lambda a, b: (-1.6, 1.6)), "acos": ((-0.85, 0.85), lambda a, b: (0, 3.2)), "atan": (None, lambda a, b: (-1.6, 1.6)),
    "sinh": ((-2, 2), lambda a, b: (math.sinh(a), math.sinh(b))), "cosh": ((-2, 2), lambda a, b: (0, 4)), "tanh": (None, lambda a, b: (-1, 1)),
    "exp": ((-4, 1.5), lambda a, b: (math.exp(a), math.exp(b))), "exp2": ((-4, 2), lambda a, b: (2 ** a, 2 ** b)),
    "expm1": ((-4, 1.5), lambda a, b: (math.expm1(a), math.expm1(b))), "log": ((0.25, 20), lambda a, b: (math.log(a), math.log(b))),
    "log2": ((0.25, 20), lambda a, b: (math.log2(a), math.log2(b))), "log1p": ((-0.7, 20), lambda a, b: (math.log1p(a), math.log1p(b))),
    "sqrt": ((0.25, 1e6), lambda a, b: (math.sqrt(a), math.sqrt(b))), "rsqrt": ((0.25, 1e6), lambda a, b: (1 / math.sqrt(b), 1 / math.sqrt(a))),
    "cbrt": ((0.2, 1e6), lambda a, b: (a ** (1 / 3) - 0.01, b ** (1 / 3) + 0.01)), "erf": (None, lambda a, b: (-1, 1)),
    "lgamma": ((0.6, 5), lambda a, b: (-0.2, 3.3)), "abs": (None, lambda a, b: (0, max(abs(a), abs(b)))),
}
STEPS = {  # locally constant
    "floor": lambda a, b: (a - 1, b), "ceil": lambda a, b: (a, b + 1), "round": lambda a, b: (a - 1, b + 1), "trunc": lambda a, b: (a - 1, b + 1),
    "sign": lambda a, b: (-1, 1), "fract": lambda a, b: (0, 1),
}


FLOATS = ("real", "vec2", "vec3", "vec4", "vec5", "big", "mat2", "mat3", "mat4")


def num(x):
    return repr(round(float(x), 6))


def imul(a, b):
    p = [x * y for x in a for y in b]
    return min(p), max(p)


class Expr:
    """Text, type and interval (of every component)."""

    def __init__(self, text, kind, lo, hi):
        self.text, self.kind, self.lo, self.hi = text, kind, lo, hi

    def __str__(self):
        return self.text

    @property
    def mag(self):
        return max(abs(self.lo), abs(self.hi))


class Expressions:
    """Needs of its heir: rng, cover (a Counter), scope (a list of dicts of variables), and the methods field_leaf(kind) and call(kind, depth)."""

    def count(self, name):
        self.cover[name] += 1

    def pick(self, *weighted):
        """One of (weight, value) pairs."""
        x = self.rng.random() * sum(w for w, _ in weighted)
        for w, v in weighted:
            x -= w
            if x < 0:
                return v
        return weighted[-1][1]

    def chance(self, p):
        return self.rng.random() < p

    def variables(self, kind, want=lambda v: True):
        return [v for v in self.scope if v["kind"] == kind and want(v)]

    # ---- keeping to intervals ----

    def fit(self, e, lo, hi):
        """e, or a function of e with values in [lo, hi]; works component by component on vectors and matrices."""
        if e.lo >= lo and e.hi <= hi:
            return e
        mid, r = (lo + hi) / 2, (hi - lo) / 2
        if hi > 50:
            if e.mag <= 6 and e.kind == "real" and self.chance(0.5):
                return Expr(f"({num(lo + 0.1)} + {e} * {e})" if e.text.isidentifier() else f"({num(lo + 0.1)} + ({e}) ** 2)", e.kind, lo + 0.1, lo + 0.2 + e.mag ** 2)
            mid, r = lo + 1.5, 1.4
        arg = e.text if e.mag <= 3 else f"({e} * {num(2 / e.mag)})"
        if lo == -hi and e.mag <= 4 * hi and self.chance(0.6):
            return Expr(f"({e} * {num(hi / e.mag * 0.99)})", e.kind, -hi, hi)
        f = self.pick((3, "sin"), (3, "tanh"), (1, "cos"), (1, "erf"), (1 if len(arg) < 40 and not re.search("rand|_[fr][0-9]", arg) else 0, "over"))    # what draws is another one each time
        self.count(f)
        if f == "over":
            if e.kind != "real":
                return Expr(f"({num(mid)} + {num(r * 1.99)} * {arg} / (1.0 + {arg} * {arg}))", e.kind, mid - r, mid + r)
            return Expr(f"({num(mid)} + {num(r * 0.98)} * {arg} / sqrt(1.0 + {arg} * {arg}))", e.kind, mid - r, mid + r)
        return Expr(f"({num(mid)} + {num(r * 0.98)} * {f}({arg}))", e.kind, mid - r, mid + r)

    def tame(self, e, most=8):
        return self.fit(e, -most, most) if e.mag > most else e

    def positive(self, kind, depth, lo=0.5, hi=100.0):
        return self.fit(self.value(kind, depth), lo, hi)

    # ---- values of all kinds ----

    passive = False    # the value being made has derivative zero where it is used

    rare = 0           # deeper than 0: what is made may well not be used, and reads only what others read, lest whole inputs stay without gradient

    def unsure(self, kind, depth):
        """A value of which nothing may come: one side of a choice."""
        self.rare += 1
        e = self.value(kind, depth)
        self.rare -= 1
        return e

    def other(self, a, kind, depth):
        """A value that does not look like `a`, if possible: their difference is not zero."""
        e = self.value(kind, depth)
        for _ in range(4):
            if e.text != a.text:
                break
            e = self.value(kind, max(depth, 1))
        return e

    def flat(self, kind, depth):
        saved, self.passive = self.passive, True
        e = self.value(kind, depth)
        self.passive = saved
        return e

    def value(self, kind, depth):
        if depth <= 0 or self.chance(0.08):
            e = self.leaf(kind)
        else:
            e = self.tame({"r": self.scalar, "v": self.vector, "m": self.matrix, "b": self.big}[kind[0]](kind, depth - 1))
        self.depth_seen = max(self.depth_seen, depth)
        return e

    def leaf(self, kind):
        found = self.variables(kind)
        x = self.rng.random()
        if found and x < 0.55:
            v = self.rng.choice(found)
            v["used"] = v.get("used") or not self.passive and not self.rare
            return Expr(v["name"], kind, v["lo"], v["hi"])
        e = (self.element(kind) if self.chance(0.15) else None) or (self.field_leaf(kind) if x < 0.95 else None)
        if e:
            return e
        if found:
            v = self.rng.choice(found)
            return Expr(v["name"], kind, v["lo"], v["hi"])
        if kind == "real":
            ints = self.int_variables()
            if ints and self.chance(0.4):
                self.count("cast")
                v = self.rng.choice(ints)
                return Expr(f"(real({v['name']}) * 0.2)", kind, v["lo"] * 0.2 - 0.01, v["hi"] * 0.2 + 0.01)
            c = self.rng.choice([0.5, 1.0, -0.7, 1.3, 2.0, 0.25])
            return Expr(num(c) if c > 0 else f"({num(c)})", kind, c, c)
        if kind == "big":
            e = self.leaf("real")
            self.count("construct big")
            return Expr(f"{TYPES[kind]}({e})", kind, e.lo, e.hi)
        n = int(kind[-1])
        parts = [self.leaf("real") for _ in range(n if kind[0] == "v" else n * n)]
        lo, hi = min(p.lo for p in parts), max(p.hi for p in parts)
        return Expr(self.build(kind, [str(p) for p in parts]), kind, lo, hi)

    def element(self, kind):
        """Of a local array."""
        found = [v for v in self.scope if v["kind"] == "array" and v["elem"] == kind]
        if not found:
            return None
        self.count("element of a local array")
        v = self.rng.choice(found)
        return Expr(self.at_element(v), kind, -3.2, 3.2)

    def at_element(self, v):
        return f"{v['name']}[{', '.join(self.integer(0, n - 1, 0) for n in v['sizes'])}]{v['suffix']}"

    def build(self, kind, parts):
        n = int(kind[-1])
        self.count("construct " + kind)
        if kind[0] == "v":
            return f"[{', '.join(parts)}]" if self.chance(0.2) else f"{TYPES.get(kind, kind)}({', '.join(parts)})"
        if self.chance(0.25):
            self.count("matrix of components")
            return f"{kind}({', '.join(parts)})"
        rows = ", ".join("[" + ", ".join(parts[i * n:i * n + n]) + "]" for i in range(n))
        return f"{kind}([{rows}])"

    def scalar(self, kind, d):
        make = self.pick((5, self.arithmetic), (4, self.unary), (1.5, self.binary), (1, self.powers), (1.2, self.choice), (0.7, self.steps), (2.2, self.of_vectors),
                         (1.2, self.call), (0.6, self.blends), (0.4, self.stopped),
                         (0.4, self.custom), (0.25, self.draws), (1 if self.references else 0, self.call_reference), (1 if self.vector_functions else 0, self.call_vector_function))
        return make(kind, d) or self.arithmetic(kind, d)

    pure = False       # in an `export func`, which is a function of its arguments alone

    def draws(self, kind, d):
        """A random number is constant, and the same one in each derivative."""
        if self.pure or self.plain:
            return None
        self.drawn = True
        f = self.rng.choice(["random", "randn"])
        self.count(f)
        a = self.value(kind, d)
        m = 1 if f == "random" else 9    # no sum of squares of 53-bit logarithms is beyond
        return Expr(f"({a} + 0.2 * {f}())", kind, a.lo - 0.2 * m, a.hi + 0.2 * m) if self.chance(0.5) else Expr(f"({a} * {f}())", kind, -m * a.mag, m * a.mag)

    def custom(self, kind, d):
        f = self.rng.choice(["bend", "bend", "erfc", "fma", "jn", "spin"])
        if f != "bend":
            self.count("extern func")
            a = self.fit(self.value(kind, d), -3, 3)
            if f == "erfc":
                return Expr(f"erfc({a})", kind, 0, 2)
            if f == "spin":
                k = self.integer(0, 1, 0) if self.pure else self.integer(0, 1, 1)
                return Expr(f"spin({self.fit(self.value('vec2', d - 1), -2, 2)}, {a})[{k}]", kind, -6, 6)
            if f == "jn":
                return Expr(f"jn({self.integer(0, 3, d - 1)}, {a})", kind, -1, 1)
            b, c = self.fit(self.value(kind, d - 1), -3, 3), self.value(kind, 0)
            return Expr(f"fma({a}, {b}, {c})", kind, c.lo - 9, c.hi + 9)
        self.count("custom derivative")
        a, b = self.value(kind, d), self.fit(self.value(kind, d - 1), -3, 3)
        return Expr(f"bend({a}, {b})", kind, -3, 3)

    def arithmetic(self, kind, d):
        op = self.pick((4, "*"), (4, "+"), (3, "-"), (1.5, "/"), (0.7, "neg"))
        a = self.value(kind, d)
        if op == "neg":
            self.count("neg")
            return Expr(f"(-{a})", kind, -a.hi, -a.lo)
        self.count({"*": "mul", "+": "add", "-": "sub", "/": "div"}[op])
        other = kind if kind == "real" or self.chance(0.6) else "real"
        if op == "/":
            b = self.positive(other, d - 1)
            lo, hi = imul((a.lo, a.hi), (1 / b.hi, 1 / b.lo))
            return Expr(f"({a} / {b})", kind, lo, hi)
        b = self.other(a, other, d) if op == "-" else self.value(other, d)
        if op == "*":
            lo, hi = imul((a.lo, a.hi), (b.lo, b.hi))
            if a.text == b.text:
                lo = min(lo, 0)
        elif op == "+":
            lo, hi = a.lo + b.lo, a.hi + b.hi
        else:
            lo, hi = a.lo - b.hi, a.hi - b.lo
        if other != kind and op != "/" and self.chance(0.5):
            if op == "-":
                return Expr(f"({b} - {a})", kind, -hi, -lo)
            return Expr(f"({b} {op} {a})", kind, lo, hi)
        return Expr(f"({a} {op} {b})", kind, lo, hi)

    def unary(self, kind, d):
        f = self.rng.choice(list(UNARY))
        domain, image = UNARY[f]
        a = self.value(kind, d)
        if domain:
            a = self.fit(a, *domain)
        self.count(f)
        lo, hi = image(a.lo, a.hi)
        text = f"{a}.{f}()" if self.chance(0.06) and a.text[0] == "(" else f"{f}({a})"
        return Expr(text, kind, lo - 1e-9, hi + 1e-9)

    def binary(self, kind, d):
        f = self.pick((2, "min"), (2, "max"), (1, "pow"), (1, "atan2"), (1, "hypot"), (0.7, "mod"), (0.7, "rem"), (0.2, "min of three"))
        self.count(f)
        a, b = self.value(kind, d), (self.unsure if f in ("min", "max") else self.value)(kind, d - 1)
        if f == "min of three":
            c = self.unsure(kind, 0)
            return Expr(f"{self.rng.choice(['min', 'max'])}({a}, {b}, {c})", kind, min(a.lo, b.lo, c.lo), max(a.hi, b.hi, c.hi))
        if f in ("min", "max"):
            return Expr(f"{f}({a}, {b})", kind, min(a.lo, b.lo), max(a.hi, b.hi))
        if f == "pow":
            a, b = self.fit(a, 0.4, 1.9), self.fit(b, -2, 2)
            return Expr(f"pow({a}, {b})" if self.chance(0.5) else f"({a} ** {b})", kind, 0.1, 6.5)
        if f == "atan2":
            return Expr(f"atan2({a}, {self.fit(b, 0.4, 100)})", kind, -1.6, 1.6)
        if f == "hypot":
            a, b = self.fit(a, 0.3, 100), self.fit(b, 0.3, 100)
            return Expr(f"hypot({a}, {b})", kind, 0.4, a.mag + b.mag)
        a, b = self.fit(a, 0.3, 6), self.fit(b, 1.5, 3)
        return Expr(f"mod({a}, {b})" if f == "mod" else f"({a} % {b})", kind, 0, 3)

    def powers(self, kind, d):
        self.count("powi")
        a = self.value(kind, d)
        if self.chance(0.6):
            n = self.rng.choice([2, 2, 3, 4])
            a = self.fit(a, -1.5, 1.5)
            m = a.mag ** n
            return Expr(f"({a} ** {n})", kind, -m, m)
        if self.chance(0.4):
            return Expr(f"({self.fit(a, 0.5, 1.5)} ** -{self.rng.choice([1, 2, 3])})", kind, 0, 8.1)
        self.count("powi of a run-time exponent")
        return Expr(f"({self.fit(a, -1.5, 1.5)} ** ({self.integer(0, 4, d)}))", kind, -5.1, 5.1)

    def choice(self, kind, d):
        form = self.pick((1, "select"), (1.5, "?:"), (0.7, "clamp"))
        self.count(form)
        a, b = (self.value if form == "clamp" or self.chance(0.3) else self.unsure)(kind, d), self.unsure(kind, d)
        lo, hi = min(a.lo, b.lo), max(a.hi, b.hi)
        if form == "clamp":
            w = max(a.hi - a.lo, 0.1)
            lo, hi = a.lo + 0.1 * w, a.hi - 0.2 * w
            return Expr(f"clamp({a}, {num(lo)}, {num(hi)})", kind, lo - 1e-5, hi + 1e-5)
        if form == "select":
            c = self.conditions(kind, d) if kind[0] == "v" and self.chance(0.5) else self.condition(d - 1)
            return Expr(f"select({c}, {a}, {b})", kind, lo, hi)
        return Expr(f"({self.condition(d - 1)} ? {a} : {b})", kind, lo, hi)

    def conditions(self, kind, d):
        """A vector of bool."""
        self.count("vector of bool")
        one = f"{self.flat(kind, d - 1)} {self.rng.choice(['>', '<=', '<'])} {self.flat(kind, 0)}"
        found = self.variables("mask of " + kind)
        if found and self.chance(0.6):
            a, b = self.rng.choice(found)["name"], self.rng.choice(found)["name"]
            self.count("vector of bool, a local")
            return self.rng.choice([a, f"!{a}", f"{a} {self.rng.choice(['&', '|', '^', '==', '!='])} ({one})", f"{a} | !{b}"])
        if self.chance(0.7):
            return one
        return f"({one}) {self.rng.choice('&|^')} {self.rng.choice(['', '!'])}({self.flat(kind, 0)} > {self.flat(kind, 0)})"

    def steps(self, kind, d):
        f = self.rng.choice(list(STEPS))
        self.count(f)
        a, b = self.flat(kind, d - 1), self.value(kind, d)
        lo, hi = STEPS[f](a.lo, a.hi)
        return Expr(f"({b} + 0.2 * {f}({a}))", kind, b.lo + 0.2 * lo, b.hi + 0.2 * hi)

    def blends(self, kind, d):
        f = self.pick((1, "mix"), (1, "smoothstep"), (0.5, "step"))
        self.count(f)
        a = self.value(kind, d)
        b = self.other(a, kind, d - 1)
        if f == "mix":
            t = self.fit(self.value("real", d - 1), 0, 1)
            return Expr(f"mix({a}, {b}, {t})", kind, min(a.lo, b.lo), max(a.hi, b.hi))
        if f == "smoothstep":
            return Expr(f"smoothstep(-1.5, 1.75, {self.fit(a, -1.9, 1.9)})", kind, 0, 1)
        b = self.flat(kind, d - 1)
        return Expr(f"({a} * (0.2 + step(0.1, {b})))", kind, min(1.2 * a.lo, 0.2 * a.lo), max(1.2 * a.hi, 0.2 * a.hi))

    def stopped(self, kind, d):
        self.count("stop_grad")
        a, b = self.value(kind, d), self.flat(kind, d - 1)
        f = self.rng.choice(["sign", "floor", "round"])
        lo, hi = STEPS[f](b.lo, b.hi)
        lo, hi = imul((a.lo, a.hi), (lo + 0.6, hi + 0.6))
        return Expr(f"({a} * stop_grad({f}({b}) + 0.6))", kind, lo, hi)

    def of_vectors(self, kind, d):
        form = self.pick((2, "dot"), (1, "norm"), (1, "norm_sqr"), (1, "sum"), (2, "component"), (1, "determinant"), (1, "trace"), (0.7, "cross"), (0.7, "distance"),
                         (0.7, "element"))
        self.count(form)
        n = self.pick((3, 2), (3, 3), (1.5, 4), (0.4 if form in ("dot", "norm", "norm_sqr", "sum", "component") else 0, 5))
        if n == 5 and self.chance(0.5):
            a = self.value("big", d - 1)
            if form in ("dot", "norm_sqr"):
                a, b = self.fit(a, -2, 2), self.fit(self.value("big", 0), -2, 2)
                return Expr(f"dot({a}, {b})" if form == "dot" else f"norm_sqr({a})", kind, -80, 80)
            if form == "component":
                return Expr(f"{self.named(a)}[{self.integer(0, 19, 0)}]", kind, a.lo, a.hi)
            return Expr(f"{form}({a}{', 0.3' if form == 'norm' else ''})", kind, 20 * a.lo if form == "sum" else 0, 20 * max(a.hi, 0) if form == "sum" else 5 * a.mag + 1)
        if form in ("determinant", "trace", "element"):
            m = self.value(f"mat{n}", d - 1)
            if form == "element":
                i, j = (self.integer(0, n - 1, 0) if self.chance(0.4) else self.rng.randrange(n) for _ in "ij")
                return Expr(f"{self.named(m)}[{i}, {j}]", kind, m.lo, m.hi)
            if form == "trace":
                return Expr(f"trace({m})" if self.chance(0.5) else f"{self.named(m)}.trace()", kind, n * m.lo, n * m.hi)
            m = self.fit(m, -1.2, 1.2)
            return Expr(f"determinant({m})", kind, -6 * n * m.mag ** n, 6 * n * m.mag ** n)
        if form == "cross":
            a = self.value("vec2", d)
            b = self.other(a, "vec2", d - 1)
            m = 2 * a.mag * b.mag
            return Expr(f"cross({a}, {b})", kind, -m, m)
        a = self.value(f"vec{n}", d)
        if form == "component":
            k = self.pick((1, "." + "xyzw"[self.rng.randrange(min(n, 4))]), (1, f"[{self.rng.randrange(n)}]"), (0 if re.search(r"\.[xyzw]+\)*$", a.text) else 1, f"[{self.integer(0, n - 1, 0)}]"))
            return Expr(f"{self.named(a)}{k}", kind, a.lo, a.hi)
        if form == "norm" and self.chance(0.3):
            self.count("norm without a second argument")
            a = self.fit(a, 0.3, 3)
            return Expr(self.rng.choice([f"norm({a})", f"length({a})", f"{self.named(a)}.norm()"]), kind, 0.4, 7)
        if form == "norm":
            return Expr(f"norm({a}, 0.3)" if self.chance(0.5) else f"{self.named(a)}.norm(0.3)", kind, 0.5, 2 * a.mag + 0.6)
        if form == "norm_sqr":
            a = self.fit(a, -2, 2)
            return Expr(f"norm_sqr({a})", kind, 0, n * a.mag ** 2)
        if form == "sum":
            return Expr(f"sum({a})", kind, n * a.lo, n * a.hi)
        b = self.value(f"vec{n}", d - 1)
        if form == "distance":
            a, b = self.fit(a, 1, 4), self.fit(b, -2, 0.5)
            return Expr(f"distance({a}, {b})" if self.chance(0.6) else f"length({a} - {b})", kind, 0.5, 11)
        m = n * a.mag * b.mag
        return Expr(f"dot({a}, {b})" if self.chance(0.5) else f"{self.named(a)}.dot({b})", kind, -m, m)

    def named(self, e):
        return e.text if e.text.replace(".", "").isidentifier() or e.text[0] == "(" and e.text[-1] == ")" else f"({e})"

    def vector(self, kind, d):
        form = self.pick((5, "arithmetic"), (2, "unary"), (2, "build"), (1.5, "matvec"), (1, "cross"), (0.7, "normalized"), (1, "swizzle"), (0.8, "choice"), (0.6, "binary"),
                         (0.4, "steps"), (0.5, "call"), (0.4, "blends"), (0.3, "powers"), (0.2, "stopped"), (0.4, "solve"), (0.2, "draws"), (0.4, "rectangular"), (0.4, "row"))
        n = int(kind[-1])
        if n == 5 and form in ("solve", "matvec", "swizzle", "row"):
            form = "rectangular"
        if form == "rectangular":
            return self.rectangular(kind, d)
        if form == "row":
            self.count("row of a matrix")
            m = self.value(f"mat{n}", d)
            return Expr(f"{self.named(m)}[{self.integer(0, n - 1, 0)}]", kind, m.lo, m.hi)
        if form == "build":
            if self.chance(0.15):
                self.count("construct of one scalar")
                e = self.value("real", d)
                return Expr(f"{TYPES.get(kind, kind)}({e})", kind, e.lo, e.hi)
            parts = [self.value("real", d) for _ in range(n)]
            if n == 3 and self.chance(0.3):
                two = self.value("vec2", d)
                return Expr(f"vec3({two}, {parts[0]})", kind, min(two.lo, parts[0].lo), max(two.hi, parts[0].hi))
            if n == 4 and self.chance(0.3):
                two = self.value("vec3", d)
                return Expr(f"vec4({two}, {parts[0]})", kind, min(two.lo, parts[0].lo), max(two.hi, parts[0].hi))
            return Expr(self.build(kind, [str(p) for p in parts]), kind, min(p.lo for p in parts), max(p.hi for p in parts))
        if form == "solve":
            self.count(form)
            m, v = self.fit(self.value(f"mat{n}", d - 1), -0.5, 0.5), self.value(kind, d)
            return Expr(f"solve({m} + 3.0 * identity({n}), {v})", kind, -1.01 * v.mag, 1.01 * v.mag)
        if form == "matvec":
            self.count("@")
            m, v = self.value(f"mat{n}", d), self.value(kind, d)
            b = n * m.mag * v.mag
            return Expr(f"({m} @ {v})", kind, -b, b)
        if form == "cross" and n == 3:
            self.count("cross")
            a = self.value(kind, d)
            b = self.other(a, kind, d - 1)
            m = 2 * a.mag * b.mag
            return Expr(f"cross({a}, {b})", kind, -m, m)
        if form == "normalized":
            self.count("normalized")
            if self.chance(0.3):
                return Expr(f"normalized({self.fit(self.value(kind, d), 0.3, 3)})", kind, 0, 1)
            return Expr(f"normalized({self.value(kind, d)}, 0.2)", kind, -1, 1)
        if form == "swizzle":
            self.count("swizzle")
            of = self.pick((2, 2), (2, 3), (1, 4))
            a = self.value(f"vec{of}", d)
            return Expr(f"{self.named(a)}.{''.join(self.rng.choice('xyzw'[:of]) for _ in range(n))}", kind, a.lo, a.hi)
        return getattr(self, form if form != "cross" else "arithmetic")(kind, d) or self.arithmetic(kind, d)

    def big(self, kind, d):
        """A vector of many components."""
        self.count("big vector")
        make = self.pick((3, self.arithmetic), (2, self.unary), (0.7, self.choice), (0.5, self.binary), (0.4, self.blends), (0.3, self.powers))
        return make(kind, d)

    def rectangular(self, kind, d):
        """By a matrix that is not square."""
        n, k = int(kind[-1]), self.pick((1, 2), (1, 3), (0.5, 4))
        form = self.pick((2, "rows"), (1, "left"), (0.7, "transpose"), (0.7, "outer"))
        self.count("rectangular matrix")
        v = self.value(f"vec{k}", d)
        if form == "outer":
            a, b = self.value(kind, d - 1), self.value(f"vec{k}", d - 1)
            m = k * a.mag * b.mag * v.mag
            return Expr(f"(outer_product({a}, {b}) @ {v})", kind, -m, m)
        rows = [self.value(*of) for of in ([(f"vec{k}", d - 1)] * n if form == "rows" else [(kind, d - 1)] * k)]
        m = k * v.mag * max(r.mag for r in rows)
        whole = f"[{', '.join(map(str, rows))}]"
        return Expr({"rows": f"({whole} @ {v})", "left": f"({v} @ {whole})", "transpose": f"(transpose({whole}) @ {v})"}[form], kind, -m, m)

    def matrix(self, kind, d):
        form = self.pick((4, "arithmetic"), (2, "matmul"), (1, "transpose"), (1, "outer"), (0.8, "inverse"), (1, "identity"), (0.7, "unary"), (0.5, "build"), (0.4, "choice"),
                         (0.3, "binary"))
        n = int(kind[-1])
        if form == "matmul":
            self.count("@")
            a, b = self.value(kind, d), self.value(kind, d - 1)
            m = n * a.mag * b.mag
            return Expr(f"({a} @ {b})", kind, -m, m)
        if form == "transpose":
            self.count(form)
            a = self.value(kind, d)
            return Expr(f"transpose({a})", kind, a.lo, a.hi)
        if form == "outer":
            self.count("outer_product")
            a, b = self.value(f"vec{n}", d), self.value(f"vec{n}", d - 1)
            m = a.mag * b.mag
            return Expr(f"outer_product({a}, {b})", kind, -m, m)
        if form == "inverse":
            self.count(form)
            a = self.fit(self.value(kind, d), -0.5, 0.5)
            return Expr(f"inverse({a} + 3.0 * identity({n}))", kind, -1, 1)
        if form == "identity":
            self.count(form)
            a, s = self.value(kind, d), self.value("real", d - 1)
            return Expr(f"({a} + {s} * identity({n}))", kind, a.lo - s.mag, a.hi + s.mag)
        if form == "build":
            parts = [self.value("real", d - 1) for _ in range(n * n)]
            return Expr(self.build(kind, [str(p) for p in parts]), kind, min(p.lo for p in parts), max(p.hi for p in parts))
        return getattr(self, form)(kind, d)

    # ---- integers and conditions ----

    def int_variables(self, lo=-10 ** 6, hi=10 ** 6):
        return self.variables("int", lambda v: v["lo"] >= lo and v["hi"] <= hi)

    def natural(self, d):
        """A non-negative integer: (text, largest value)."""
        found = self.int_variables(0)
        x = self.rng.random()
        rows = [v for v in self.scope if v["kind"] == "array" and v["elem"] == "int"] if x < 0.15 else []
        if rows:
            self.count("element of an integer array")
            return self.at_element(self.rng.choice(rows)), 4
        if found and x < 0.5:
            v = self.rng.choice(found)
            return v["name"], v["hi"]
        if x < 0.8:
            e = self.int_leaf()
            if e:
                return e
        if d > 0 and x < 0.95:
            a, b = self.natural(d - 1), self.natural(d - 1)
            op = self.rng.choice(["+", "*", "max", "min", "?", "&", "|", "^", "<<", ">>", "~", "ivec", "i64", "u8", "i16", "u32", "i8", "u16", "u64", "bool", "rows"])
            self.count("int " + op)
            if op == ">>":
                return f"({a[0]} >> 1)", a[1] >> 1
            if op == "~":
                return f"(~{a[0]} & 7)", 7
            if op == "ivec":
                way = self.rng.choice([".x", ".yx.y", "sum", "max"])
                text = f"(ivec2({a[0]}, {b[0]}) + ivec2(1, 0))"
                return (f"sum({text})", a[1] + b[1] + 1) if way == "sum" else (f"max({text}, ivec2({b[0]}, 2)).x", max(a[1] + 1, b[1])) if way == "max" else (text + way, a[1] + 1)
            if op == "u16":
                return f"i32(u16({a[0]}) / u16(2))", (a[1] & 65535) // 2 if a[1] < 65536 else 32767
            if op == "u64":
                return f"i32(u64({a[0]}) % u64(0x5))", 4
            if op == "bool":
                return f"(i32({self.condition(0)}) + i32(bool({b[0]})))", 2
            if op == "rows":
                n = self.rng.randint(2, 4)
                return f"({a[0]} % {self.rng.choice(['rows', 'cols'])}({self.flat(f'mat{n}', 0)}))", n - 1
            if op == "u32":
                return f"i32(u32({a[0]}) * u32(3))", a[1] * 3
            if op == "i8":
                return f"i32(i8({a[0]}) % i8(5))" if a[1] < 128 else f"({a[0]} % 5)", 4
            if op in ("i64", "u8", "i16"):
                return f"i32({op}({a[0]}))", a[1] if op != "u8" else min(a[1], 255)
            if op == "?":
                return f"({self.condition(0)} ? {a[0]} : {b[0]})", max(a[1], b[1])
            if op in ("min", "max"):
                return f"{op}({a[0]}, {b[0]})", max(a[1], b[1])
            if op == "*" and a[1] * b[1] < 1000 or op == "+":
                return f"({a[0]} {op} {b[0]})", a[1] * b[1] if op == "*" else a[1] + b[1]
            if op in ("&", "|", "^"):
                top = (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
                return f"({a[0]} {op} {b[0]})", top
            if op == "<<" and a[1] < 1000:
                return f"({a[0]} << 1)", a[1] * 2
        if d > 0 and self.chance(0.2):
            self.count("int of float")
            e = self.fit(self.value("real", 1), 0.1, 3.9)
            return f"i32({e})", 3
        if not self.pure and not self.plain and self.chance(0.15):
            self.drawn = True
            self.count("random_int")
            return self.rng.choice(["random_int(4)", "random_int(1, 4)"]), 3
        k = self.rng.randrange(4)
        return str(k), k

    def integer(self, lo, hi, d=1):
        """The text of an integer in lo .. hi."""
        found = self.int_variables(lo, hi)
        if found and self.chance(0.6):
            return self.rng.choice(found)["name"]
        if self.chance(0.15) or hi == lo:
            return str(self.rng.randint(lo, hi))
        text, top = self.natural(d)
        if top > hi - lo:
            text = f"{text} % {hi - lo + 1}" if text.isidentifier() or text[-1] in ")]" and text[0] != "i" or text.isdigit() else f"({text}) % {hi - lo + 1}"
            self.count("int %")
        else:
            text = str(text)
        return text if lo == 0 else f"({text} + {lo})" if text.isidentifier() or text.isdigit() else f"(({text}) + {lo})"

    def condition(self, d):
        x = self.rng.random()
        if d > 0 and x < 0.2:
            op = self.rng.choice(["&&", "||"])
            self.count(op)
            return f"({self.condition(d - 1)} {op} {self.condition(d - 1)})"
        if d > 0 and x < 0.27:
            self.count("!")
            return f"!({self.condition(d - 1)})"
        found = self.variables("bool")
        if found and x < 0.4:
            return self.rng.choice(found)["name"]
        if x < 0.3 and not self.pure and not self.inside:
            self.count("bool read")
            return self.rng.choice(["Q", f"yes[{self.integer(0, self.extent('N') - 1, 0)}]", f"!yes[{self.integer(0, self.extent('N') - 1, 0)}]"])
        if x < 0.6 and self.int_variables(0):
            op = self.rng.choice(["<", "==", "!=", ">=", "<=", ">"])
            self.count("int " + op)
            return f"({self.natural(0)[0]} {op} {self.natural(0)[0]})"
        if d > 0 and x > 0.93:
            f = self.rng.choice(["any", "all"])
            self.count(f)
            return f"{f}({self.conditions(self.rng.choice(['vec2', 'vec3', 'vec4', 'vec5', 'mat2']), d)})"
        if x < 0.63:
            f = self.rng.choice(["isnan", "isinf"])
            self.count(f)
            return f"!{f}({self.flat('real', 0)})"
        op = self.rng.choice(["<", ">", "<=", ">="])
        self.count("float " + op)
        return f"({self.flat('real', max(d, 0))} {op} {self.flat('real', 0)})"
