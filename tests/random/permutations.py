"""Elements by the numbers of fields that are declared distinct: such as are an iteration's own, and such as only look so.

Each access knows which element it is, for any data. So what --explain-adjoint says can be held against data: two iterations never have one element of what is
called their own, whatever is in the fields of which no launch looks that they are distinct.
"""
import random
import re

M, SHIFT = 5, 2    # of all modules
SIZES = [1, 12, 31, 32, 33, 41, 64, 95]
SMALL = 12         # elements, where all kinds of data are tried


def wrapped(value, bits, signed):
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class Numbers:
    """A field of integers."""

    def __init__(self, name, elem, extents, distinct=True):
        self.name, self.elem, self.extents, self.distinct = name, elem, extents, distinct
        self.bits, self.signed = int(elem[1:]), elem[0] == "i"

    def count(self, n):
        rows = eval(self.extents[0], {"N": n})
        return rows * (M if len(self.extents) > 1 else 1)

    def declared(self):
        return f"field {self.name}: {self.elem}[{', '.join(self.extents)}]{' distinct' if self.distinct else ''};"

    def checkers_data(self, n):
        """As tools/adcheck fills it (tools/distinct.h)."""
        count = self.count(n)
        if not self.distinct:
            return [(j * 7 + 3) % 5 for j in range(count)]
        step = count * 5 // 8
        while gcd(count, step) != 1:
            step += 1
        return [(i * step + count // 3) % count for i in range(count)]

    def any_data(self, rng, n, distinct, wide):
        """wide: numbers that are the same where some of their bits are cut off."""
        count = self.count(n)
        if wide:
            cut = rng.choice([b for b in (8, 16, 32) if b < self.bits] or [self.bits - 3])
            some = [(k, r) for k in range(max(2, count // 3)) for r in range(4)]
            return [wrapped(k + (r << cut), self.bits, self.signed) for k, r in (rng.sample(some, count) if count <= len(some) else rng.choices(some, k=count))]
        return rng.sample(range(count), count) if distinct else [rng.randrange(count) for _ in range(count)]


def gcd(a, b):
    return gcd(b, a % b) if b else a


FIELDS = {f.name: f for f in (
    Numbers("order", "i32", ["N"]), Numbers("other", "i64", ["N + 1"]), Numbers("back", "u16", ["N + 2"]), Numbers("pairs", "u32", ["2 * N + 3"]),
    Numbers("box", "i64", ["N", str(M)]), Numbers("many", "i32", ["N"], False))}
WIDER = {"order": ["order", "other", "back", "pairs", "many"], "other": ["back", "pairs"], "back": ["pairs"], "many": ["order", "other", "many"]}    # have an element for each number of it


class Sub:
    """A subscript. at(data, i, j): the number, None where it is none; own: True if it tells i, in a form that the language page names."""

    def __init__(self, text, at, own, elem="i32", loads=0):
        self.text, self.at, self.own, self.elem, self.loads = text, at, own, elem, loads

    def becomes(self, text, f, own=True, elem=None):
        def at(data, i, j):
            k = self.at(data, i, j)
            return None if k is None else f(k, data)
        return Sub(text.replace("@", self.text), at, own and self.own, elem or self.elem, self.loads)


I, J = Sub("i", lambda data, i, j: i, True), Sub("j", lambda data, i, j: j, False)


def element(name, *subs):
    def at(data, i, j):
        k = [s.at(data, i, j) for s in subs]
        if None in k or (len(k) > 1 and not 0 <= k[1] < M):
            return None
        k = k[0] * M + k[1] if len(k) > 1 else k[0]
        return data[name][k] if 0 <= k < len(data[name]) else None
    loads = max(s.loads for s in subs) + 1
    own = FIELDS[name].distinct and subs[0].own and loads <= 4 and len(subs) == 1
    return Sub(f"{name}[{', '.join(s.text for s in subs)}]", at, own, FIELDS[name].elem, loads)


def signed(e):
    """For arithmetic with numbers of other types."""
    return e.becomes("i64(@)", lambda k, d: k, True, "i64") if e.elem == "u32" else e


class Access:
    """An element that a loop's iterations touch. name: of the field; subs: its subscripts."""

    def __init__(self, name, subs, extents):
        self.name, self.subs, self.extents = name, subs, extents
        self.text = f"{name}[{', '.join(s.text for s in subs)}]"

    def elements(self, data, loop, rows):
        """(element, iteration) as they come; elements beyond the field are none."""
        limits = [eval(e, {"N": data["N"]}) for e in self.extents]
        for i, j in loop.trips(data["N"]):
            at = tuple(s.at(data, i, j) for s in self.subs)
            yield (at if all(k is not None and 0 <= k < n for k, n in zip(at, limits)) else None), (i if rows or not loop.both else (i, j))


class Loop:
    """head: of the loop; both: its iterations have an i and a j; inner: j is of a loop inside."""

    def __init__(self, rng):
        self.both = rng.random() < 0.2
        self.inner = not self.both and rng.random() < 0.25
        self.lo, self.hi = rng.choice([("0", "N")] * 4 + [("1", "N - 1"), ("0", "N / 2")])
        bounds = self.hi if self.lo == "0" else f"{self.lo}, {self.hi}"
        self.head = f"for i, j in ndrange(({self.lo}, {self.hi}), {M}) {{" if self.both else rng.choice(["for i in x {", "for i in range(N) {"]) if bounds == "N" else f"for i in range({bounds}) {{"

    def trips(self, n):
        lo, hi = (eval(e.replace("/", "//"), {"N": n}) for e in (self.lo, self.hi))
        return [(i, j) for i in range(lo, hi) for j in range(M if self.both or self.inner else 1)]


def meet(accesses, data, loop, rows=False):
    """An element that two iterations touch, or None."""
    owner = {}
    for a in accesses:
        for at, who in a.elements(data, loop, rows):
            if at is not None and owner.setdefault(at, who) != who:
                return at
    return None


class Kernel(list):
    """The lines of a kernel, and what is known of it."""
    loop, accesses, loose = None, (), False    # loose: its sums may be made in any order


class Permutations:
    def __init__(self, number, rng):
        self.r = rng
        self.elem = ["f64", "f32"][number % 2]
        self.n = rng.choice(SIZES)
        self.comps = rng.choice([1, 1, 3])
        self.struct, self.soa, self.saved = rng.random() < 0.25, rng.random() < 0.4, rng.random() < 0.6
        self.data = {"N": self.n, **{f.name: f.checkers_data(self.n) for f in FIELDS.values()}}

    def __str__(self):
        return f"permutations, {self.n} x {self.comps} {self.elem}{' struct' * self.struct}{' soa' * self.soa}{' saved' * self.saved}"

    def head(self):
        kind, saved = "real" if self.comps == 1 else f"vec({self.comps}, real)", " saved" * self.saved
        soa = " soa" * (self.soa and (self.struct or self.comps > 1))
        wide = ["struct Part { a: %s, k: i32, b: real }" % kind] if self.struct else []
        return ["lazy_grad; lazy_dual;", f"param N: i32 = {self.n};", f"param shift: i32 = {SHIFT};", *(f.declared() for f in FIELDS.values()), *wide,
                "field x: real[N];", "field c: real[4 * N + 40];", f"field w: {kind}[4 * N + 40]{soa if not self.struct else ''};",
                f"field y: {'Part' if self.struct else kind}[4 * N + 40]{soa}{saved};", f"field z: real[4 * N + 40]{saved};",
                f"field A: real[4 * N + 40, {M}]{saved};", f"field flat: real[{M} * N + 40]{saved};", "field loss: real;", "func at(i: i32) -> i32 { return order[i]; }"]

    # ---- subscripts ----

    def number(self, depth=0):
        """An element of a field of integers, or of one by such an element."""
        pick = self.r.random()
        if pick < 0.45 or depth > 4:
            name = self.r.choice(["order", "order", "other", "back"])
            sub = self.r.choice([I, I, I, I, I.becomes("N - 1 - @", lambda k, d: d["N"] - 1 - k)])
            return element(name, sub)
        if pick < 0.5:
            return Sub("at(i)", element("order", I).at, True, "i32", 1)
        if pick < 0.65:
            step, more = self.r.choice([("2 * @", lambda k, d: 2 * k), ("2 * @ + 1", lambda k, d: 2 * k + 1), ("@ + 1", lambda k, d: k + 1), ("@", lambda k, d: k)])
            return element("pairs", I.becomes(step, more))
        if pick < 0.7:
            return element("many", I)
        if pick < 0.74:
            return element("order", self.r.choice([I.becomes("@ / 2", lambda k, d: k // 2, False), element("many", I)]))
        inner = self.number(depth + 1)
        name = re.match(r"(\w+)\[", inner.text)
        wider = WIDER.get(name[1] if name else "order")
        return element(self.r.choice(wider), inner) if wider else inner

    def changed(self, e):
        """One-to-one operations, and some that look like it."""
        narrow = e.elem == "i32" or None    # else a product may wrap
        pick = self.r.random()
        if pick < 0.6:
            return e
        e = signed(e)
        if pick < 0.9:
            return self.r.choice([
                lambda: e.becomes("@ + 3", lambda k, d: k + 3), lambda: e.becomes("7 + @", lambda k, d: k + 7), lambda: e.becomes("@ + shift", lambda k, d: k + SHIFT),
                lambda: e.becomes("N + 1 - @", lambda k, d: d["N"] + 1 - k), lambda: e.becomes("2 * @ + 1", lambda k, d: 2 * k + 1, narrow),
                lambda: e.becomes("@ * 3", lambda k, d: 3 * k, narrow), lambda: e.becomes("i64(@) + 1", lambda k, d: k + 1, True, "i64"), lambda: e.becomes("40 - -@", lambda k, d: 40 + k, None) if e.elem != "u16" else e,
                lambda: e.becomes("(@ ^ 1)", lambda k, d: k ^ 1, None)])()
        cast = self.r.choice([("u8", 8, False), ("u16", 16, False), ("i32", 32, True)])
        return self.r.choice([
            lambda: e.becomes("@ / 2", lambda k, d: int(k / 2), False), lambda: e.becomes("@ % 7", lambda k, d: abs(k) % 7, False), lambda: e.becomes("(@ & 6)", lambda k, d: k & 6, False),
            lambda: e.becomes("(@ >> 1)", lambda k, d: k >> 1, False), lambda: e.becomes("min(@, 9)", lambda k, d: min(k, 9), False),
            lambda: e.becomes(f"{cast[0]}(@)", lambda k, d: wrapped(k, *cast[1:]), None, cast[0]), lambda: self.with_other(e)])()

    def with_other(self, e):
        o = self.r.choice([element("many", I), element("other", I), I])
        def at(data, i, j):
            a, b = e.at(data, i, j), o.at(data, i, j)
            return None if a is None or b is None else a + b
        return Sub(f"{e.text} + {o.text}", at, False, e.elem, e.loads)

    def group(self):
        """Subscripts of one target."""
        e = self.changed(self.number())
        if self.r.random() < 0.7:
            return [e]
        a = self.r.choice([element("order", I), element("other", I), signed(e)])
        narrow = a.elem == "i32" or None
        return self.r.choice([
            lambda: [a, I], lambda: [a, a.becomes("@ + 1", lambda k, d: k + 1)], lambda: [a, element("back", I)], lambda: [element("pairs", I.becomes("2 * @", lambda k, d: 2 * k)),
             element("pairs", I.becomes("2 * @ + 1", lambda k, d: 2 * k + 1))], lambda: [element("pairs", I), element("pairs", I.becomes("@ + 1", lambda k, d: k + 1))],
            lambda: [a.becomes("2 * @", lambda k, d: 2 * k, narrow), a.becomes("2 * @ + 1", lambda k, d: 2 * k + 1, narrow)], lambda: [a, a.becomes("@ + N", lambda k, d: k + d["N"])]])()

    # ---- statements ----

    def place(self, name, sub, loop):
        """The access to an element of field `name` by a subscript, None where that has no such elements."""
        if name == "A":
            column = J if loop.both or loop.inner else self.r.choice([Sub("2", lambda d, i, j: 2, False), element("many", I)])
            a = Access("A", [sub, column], ["4 * N + 40", str(M)])
        elif name == "flat" and (loop.both or loop.inner):
            at = sub.at
            row = Sub(f"i64({sub.text}) * {M} + j", lambda d, i, j: None if at(d, i, j) is None else at(d, i, j) * M + j, None, "i64", sub.loads)
            if self.r.random() < 0.3:
                row = element("box", I, J)
            a = Access("flat", [row], [f"{M} * N + 40"])
        else:
            a = Access(name, [sub], ["N"] if name == "x" else [f"{M} * N + 40"] if name == "flat" else ["4 * N + 40"])
        return a if all(at is not None for at, _ in a.elements(self.data, loop, False)) else None

    def component(self, a):
        text = a.text + (self.r.choice([".a", ".b"]) if a.name == "y" and self.struct else "")
        return text + f".{self.r.choice('xyz')}" if self.comps > 1 and a.name in "wy" and not text.endswith(".b") else text

    def read(self, k, loop):
        """A number that is read, of a field that no loop writes."""
        for _ in range(20):
            name = self.r.choice(["x", "c", "c", "c", "w"])
            a = self.place(name, I if name == "x" else self.changed(self.number()), loop)
            if a:
                k.accesses.append(a)
                return self.component(a)
        k.accesses.append(Access("x", [I], ["N"]))
        return "x[i]"

    def value(self, k, loop):
        a, b = self.read(k, loop), self.r.choice(["0.5", "-0.75", self.read(k, loop)])
        k.loose |= (pick := self.r.random()) < 0.1
        return f"sin({a}) * {b}" if pick < 0.1 else self.r.choice([f"{a} * {b}", f"{a} ** 2", f"{a} + {b}", f"{b} * {a} * {a}", a])

    def writes(self, k, loop):
        name = self.r.choice(["y", "y", "z", "z", "A", "flat"])
        if any(a.name == name for a in k.accesses):
            return []
        places = [self.place(name, s, loop) for s in self.group()]
        if None in places:
            return []
        k.accesses += places
        apart = meet(places, self.data, loop) is None and not loop.inner
        lines = []
        for a in places * self.r.choice([1, 1, 2]):
            target = self.component(a)
            if a.name == "y" and self.comps > 1 and self.r.random() < 0.3:
                lines.append(f"{a.text}{'.a' * self.struct} {self.r.choice(['=', '+='] if apart else ['+=', '-='])} {self.value(k, loop)} * vec{self.comps}(0.5, x[i], 0.25);")
            elif apart and self.saved and self.r.random() < 0.3:
                lines.append(self.r.choice([f"{target} = 0.9 * {target} + {self.value(k, loop)};", f"{target} = {target} * {target} * 0.5;", f"{target} *= {self.value(k, loop)};"]))
            else:
                lines.append(f"{target} {self.r.choice(['=', '+='] if apart else ['+=', '+=', '-='])} {self.value(k, loop)};")
        if self.r.random() < 0.25:
            head = self.r.choice(["i % 3 == 0", f"{self.read(k, loop)} > 0.1", "order[i] % 2 == 0", "many[i] > 1"])
            lines = [f"if {head} {{", *lines, *(["} else {", *lines] if self.r.random() < 0.4 else []), "}"]
        return lines

    def second(self):
        return ", hvp" * (self.r.random() < 0.35)

    def kernel(self, name):
        while True:
            k, loop = Kernel(), Loop(self.r)
            k.loop, k.accesses = loop, []
            body = [line for _ in range(self.r.randint(1, 3)) for line in self.writes(k, loop)]
            if self.r.random() < 0.2:
                body.append(f"loss += {self.value(k, loop)};")
                k.loose = True
            if body:
                break
        inner = [f"for j in range({M}) {{"] if loop.inner else []
        k += [f"kernel {name}() derive(grad, jvp{self.second()}) {{", loop.head, *inner, *body, "}" * len(inner) + "} }"]
        return k

    # ---- what is said of them ----

    def wrong(self, kernels, starts, explained):
        """[(kernel, complaint)]. starts: the lines on which they begin, explained: what --explain-adjoint says."""
        rng, found = random.Random(1), []
        for block in re.split(r"\n(?=\w)", explained):
            name = block.split("\n", 1)[0]
            at = re.match(r"k(\d+)", name)
            k = next((n for n, one in enumerate(kernels) if at and one[0].startswith(f"kernel {at[0]}(")), None)
            if k is None:
                continue
            why = self.wrong_function(kernels[k], starts[k], block, rng)
            if why:
                found.append((k, f"{name}: {why}"))
        return found

    def wrong_function(self, k, start, block, rng):
        looks = re.findall(r"^  (\w+) is distinct: each launch looks", block, re.M)
        own = {}    # by plane, rows, part (with soa each has memory of its own) and, of what is stored, the text: accesses
        for line, column, plane, how, what in re.findall(r"^  m\.tk:(\d+):(\d+): (\S+) (\+?=): (.*)$", block, re.M):
            text = k[int(line) - start][int(column) - 1:]
            a = max((a for a in k.accesses if text.startswith(a.text)), key=lambda a: len(a.text), default=None)
            if a and what.startswith("own element") and (how == "+=" or a.subs[0].own):
                part = re.match(r"(\.[abxyz])*", text[len(a.text):])[0] if self.soa else ""
                own.setdefault((plane, "of a row" in what, part, a.text if how == "=" else ""), []).append(a)
            if a and "scatter" in what and how == "+=" and not (k.loop.both or k.loop.inner) and a.subs[0].own and {b.text for b in k.accesses if b.name == a.name} == {a.text}:
                return f"{plane} {how} is an iteration's own by {a.text}: {what}"
        for trial in range(12):
            wide = rng.choice(list(FIELDS)) if trial % 2 else None
            data = {"N": SMALL, **{f.name: f.any_data(rng, SMALL, f.name in looks, f.name == wide) for f in FIELDS.values()}}
            for (plane, rows, *_), accesses in own.items():
                at = meet(accesses, data, k.loop, rows)
                if at is not None:
                    return f"{plane}: {', '.join(sorted({a.text for a in accesses}))} is called an iteration's own{f', where {looks} are looked at' if looks else ''}; several have {at} with {data}"
        return None
