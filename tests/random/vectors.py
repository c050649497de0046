"""Random expressions of vectors and matrices, and scalars made of them."""
import re

from expressions import Expr
from kinds import OBLONG, SQUARE, TYPES, VECTORS, length, matrix_kind, shape


class Vectors:
    """Part of a Program."""

    def build(self, kind, parts):
        self.count("construct " + kind)
        if kind[0] == "v":
            return f"[{', '.join(parts)}]" if self.chance(0.2) else f"{TYPES.get(kind, kind)}({', '.join(parts)})"
        if self.chance(0.25) and kind != "mat1x1":
            self.count("matrix of components")
            return f"{TYPES.get(kind, kind)}({', '.join(parts)})"
        n, m = shape(kind)
        rows = ", ".join("[" + ", ".join(parts[i * m:i * m + m]) + "]" for i in range(n))
        return f"{TYPES.get(kind, kind)}([{rows}])"

    def of_vectors(self, kind, d):
        form = self.pick((2, "dot"), (1, "norm"), (1, "norm_sqr"), (1, "sum"), (2, "component"), (1, "determinant"), (1, "trace"), (0.7, "cross"), (0.7, "distance"),
                         (0.7, "element"))
        self.count(form)
        n = self.pick((3, 2), (3, 3), (1.5, 4), (0.6 if form in ("dot", "norm", "norm_sqr", "sum", "component") else 0, self.rng.choice([1, 5, 7, 20])))
        if n == 20:
            a = self.value("big", d - 1)
            if form in ("dot", "norm_sqr"):
                a, b = self.fit(a, -2, 2), self.fit(self.value("big", 0), -2, 2)
                return Expr(f"dot({a}, {b})" if form == "dot" else f"norm_sqr({a})", kind, -80, 80)
            if form == "component":
                return Expr(f"{self.named(a)}[{self.integer(0, 19, 0)}]", kind, a.lo, a.hi)
            return Expr(f"{form}({a}{', 0.3' if form == 'norm' else ''})", kind, 20 * a.lo if form == "sum" else 0, 20 * max(a.hi, 0) if form == "sum" else 5 * a.mag + 1)
        if form in ("determinant", "trace", "element"):
            m = self.value(f"mat{n}" if form != "element" or self.chance(0.4) else self.rng.choice(OBLONG), d - 1)
            if form == "element":
                i, j = (self.integer(0, n - 1, 0) if self.chance(0.4) else self.rng.randrange(n) for n in shape(m.kind))
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
                         (0.4, "steps"), (0.5, "call"), (0.4, "blends"), (0.3, "powers"), (0.2, "stopped"), (0.4, "solve"), (0.2, "draws"), (0.4, "rectangular"), (0.4, "row"),
                         (0.5, "varied"))
        n = length(kind)
        if n not in (2, 3, 4) and form in ("solve", "swizzle"):
            form = "rectangular"
        if form == "rectangular":
            return self.rectangular(kind, d)
        if form == "row":
            self.count("row of a matrix")
            k = n if self.chance(0.4) else self.rng.choice([2, 3, 4])
            m = self.value(matrix_kind(k, n), d)
            return Expr(f"{self.named(m)}[{self.integer(0, k - 1, 0)}]", kind, m.lo, m.hi)
        if form == "build":
            if self.chance(0.15):
                self.count("construct of one scalar")
                e = self.value("real", d)
                return Expr(f"{TYPES.get(kind, kind)}({e})", kind, e.lo, e.hi)
            if n in (5, 7) and self.chance(0.6):
                self.count("vector joined of vectors")
                k = self.rng.randint(2, 3)
                two, three = self.value(f"vec{k}", d), self.value(f"vec{n - k}", d)
                return Expr(f"{TYPES[kind]}({two}, {three})", kind, min(two.lo, three.lo), max(two.hi, three.hi))
            parts = [self.value("real", d if n < 5 else 0) for _ in range(n)]
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
            k, left = n if self.chance(0.4) else self.rng.choice([1, 2, 2, 3, 3, 4]), self.chance(0.3)
            m, v = self.value(matrix_kind(k, n) if left else matrix_kind(n, k), d), self.value(f"vec{k}", d)
            b = k * m.mag * v.mag
            return Expr(f"({v} @ {m})" if left else f"({m} @ {v})", kind, -b, b)
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
        n, k = length(kind), self.pick((1, 2), (1, 3), (0.5, 4))
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

    def outer(self, kind, d):
        self.count("outer_product")
        n, m = shape(kind)
        a, b = self.value(f"vec{n}", d), self.value(f"vec{m}", d - 1)
        m = a.mag * b.mag
        return Expr(f"outer_product({a}, {b})", kind, -m, m)

    def matrix(self, kind, d):
        form = self.pick((4, "arithmetic"), (2, "matmul"), (1, "transpose"), (1, "outer"), (0.8, "inverse"), (1, "identity"), (0.7, "unary"), (0.5, "build"), (0.4, "choice"),
                         (0.3, "binary"))
        n, m = shape(kind)
        if form in ("inverse", "identity") and kind not in SQUARE:
            form = "matmul"
        if form == "matmul":
            k = n if n == m and self.chance(0.5) else self.rng.choice([1, 2, 2, 3, 3, 4])
            self.count("@" if k == n == m else "@ of matrices that are not square")
            a, b = self.value(matrix_kind(n, k), d), self.value(matrix_kind(k, m), d - 1)
            most = k * a.mag * b.mag
            return Expr(f"({a} @ {b})", kind, -most, most)
        if form == "transpose":
            self.count(form if n == m else "transpose of a matrix that is not square")
            a = self.value(matrix_kind(m, n), d)
            return Expr(f"transpose({a})", kind, a.lo, a.hi)
        if form == "outer":
            return self.outer(kind, d)
        if form == "inverse":
            self.count(form)
            a = self.fit(self.value(kind, d), -0.5, 0.5)
            return Expr(f"inverse({a} + 3.0 * identity({n}))", kind, -1, 1)
        if form == "identity":
            self.count(form)
            a, s = self.value(kind, d), self.value("real", d - 1)
            return Expr(f"({a} + {s} * identity({n}))", kind, a.lo - s.mag, a.hi + s.mag)
        if form == "build":
            if n * m > 16:
                return self.outer(kind, d)
            parts = [self.value("real", d - 1) for _ in range(n * m)]
            return Expr(self.build(kind, [str(p) for p in parts]), kind, min(p.lo for p in parts), max(p.hi for p in parts))
        return getattr(self, form)(kind, d)
