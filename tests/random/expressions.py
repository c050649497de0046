"""Random expressions, each with an interval that its value is sure to lie in, so that every operation stays in its domain."""
import math
import re

from kinds import TYPES, matrix_kind, size

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
            return Expr(self.literal(c) if c > 0 else f"({num(c)})", kind, c, c)
        if kind == "big":
            e = self.leaf("real")
            self.count("construct big")
            return Expr(f"{TYPES[kind]}({e})", kind, e.lo, e.hi)
        if size(kind) > 16:
            return self.outer(kind, 0)
        parts = [self.leaf("real") for _ in range(size(kind))]
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

    def scalar(self, kind, d):
        make = self.pick((5, self.arithmetic), (4, self.unary), (1.5, self.binary), (1, self.powers), (1.2, self.choice), (0.7, self.steps), (2.2, self.of_vectors), (0.6, self.varied),
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

    def arithmetic(self, kind, d):
        op = self.pick((4, "*"), (4, "+"), (3, "-"), (1.5, "/"), (0.7, "neg"))
        a = self.value(kind, d)
        if op == "neg":
            self.count("neg")
            if self.chance(0.1):
                self.count("unary plus")
                return Expr(f"(+{a})", kind, a.lo, a.hi)
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
        if f == "sign":    # at zero it is another number than on both sides: what is multiplied by it has a derivative there that no rule gives
            a = f"{a} - 0.0371"
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
            if self.chance(0.25):
                return self.varied_integer(a, b)
            op = self.rng.choice(["+", "*", "max", "min", "?", "&", "|", "^", "<<", ">>", "~", "ivec", "i64", "u8", "i16", "u32", "i8", "u16", "u64", "bool", "rows", "vec", "mat"])
            call = self.call_of("int", 1) if self.chance(0.3) else None
            if call:
                return call, 4
            self.count("int " + op)
            if op == ">>":
                return f"({a[0]} >> 1)", a[1] >> 1
            if op == "~":
                return f"(~{a[0]} & 7)", 7
            if op == "ivec":
                way = self.rng.choice([".x", ".yx.y", "sum", "max"])
                text = f"(ivec2({a[0]}, {b[0]}) + ivec2(1, 0))"
                return (f"sum({text})", a[1] + b[1] + 1) if way == "sum" else (f"max({text}, ivec2({b[0]}, 2)).x", max(a[1] + 1, b[1])) if way == "max" else (text + way, a[1] + 1)
            if op == "vec":
                kind, k = self.rng.choice(["i64", "u8", "i16", "u32"]), self.natural(0)
                text = f"vec(3, {kind})({kind}({a[0]}), {kind}(2), {kind}({b[0]}))"
                return f"(i32(({text} {self.rng.choice('+*&')} {kind}(3))[{k[0]} % 3]) % 5)" if kind != "i16" else f"(i32(({text} & {kind}(7))[{k[0]} % 3]) % 5)", 4
            if op == "mat":
                return f"((mat(2, 3, i32)({a[0]}, 1, 2, 0, {b[0]}, 1) @ ivec3(1, {b[0]}, 2))[{self.natural(0)[0]} % 2] % 7)", 6
            if op == "u16":
                return f"i32(u16({a[0]}) / u16(2))", (a[1] & 65535) // 2 if a[1] < 65536 else 32767
            if op == "u64":
                return f"i32(u64({a[0]}) % u64(0x5))", 4
            if op == "bool":
                return f"(i32({self.condition(0)}) + i32(bool({b[0]})))", 2
            if op == "rows":
                n, m = self.rng.randint(2, 4), self.rng.randint(2, 4)
                of = self.rng.choice(["rows", "cols"])
                return f"({a[0]} % {of}({self.flat(matrix_kind(n, m), 0)}))", (n if of == "rows" else m) - 1
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
        return self.pick((8, str(k)), (1, hex(k)), (1, bin(k))), k

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
        if d > 0 and x < 0.23:
            return self.varied_condition(d - 1)
        if d > 0 and x < 0.27:
            self.count("!")
            return f"!({self.condition(d - 1)})"
        call = self.call_of("bool", 1) if d > 0 and self.chance(0.1) else None
        if call:
            return call
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
            return f"{f}({self.conditions(self.rng.choice(['vec2', 'vec3', 'vec4', 'vec5', 'vec7', 'mat2', 'mat2x3']), d)})"
        if x < 0.63:
            f = self.rng.choice(["isnan", "isinf"])
            self.count(f)
            return f"!{f}({self.flat('real', 0)})"
        op = self.rng.choice(["<", ">", "<=", ">="])
        self.count("float " + op)
        return f"({self.flat('real', max(d, 0))} {op} {self.flat('real', 0)})"
