"""Fields of integers of every width, which atomics and plain writes change."""
from module import WIDTHS


class Counters:
    """Part of a Program."""

    counters = ()     # of the running task: (field, subscripts of the iteration's own element, or None and the only operation)

    def counter_free(self, f):
        return f.name not in self.frozen | self.hidden and (self.locked is None or f.name in self.locked) and not self.plain

    def choose_counters(self, at, dims):
        """For a task whose iterations have elements `at` of their own among those of extents `dims` (None: they have none)."""
        found = [f for f in [*self.module.counters, *self.module.counted] if self.counter_free(f)]
        self.rng.shuffle(found)
        if dims and self.chance(0.7):
            found = [f for f in found if f.dims == dims]
        chosen = []
        for f in found[:self.pick((4, 0), (3, 1), (1, 2))]:
            if f.dims == dims and self.chance(0.85):
                chosen.append((f, at, None))
            else:
                chosen.append((f, None, self.rng.choice([["add", "sub"], ["min"], ["max"], ["or"], ["and"], ["xor"]])))
        return chosen

    def counter_element(self, f, subs):
        at = self.at(f, subs)
        return at + (self.pick((1, ".x"), (1, f"[{self.integer(0, 1, 0)}]")) if f.name in ("pile", "tally.c") else "")

    def counter_value(self, f, d=1):
        """Converts to the type, or nearly fills it."""
        if self.chance(0.25):
            bits = WIDTHS[f.kind] - (f.kind[0] == "i")
            return self.rng.choice([str(2 ** bits - 1), str(2 ** (bits - 1) + 3), hex(2 ** bits - 5), "0b101"])
        text = self.integer(0, 4, d)
        return text if f.kind in ("i32", "i64") and self.chance(0.7) else f"{f.kind}({text})"

    def counter(self):
        """An atomic, whose old value counts where no other iteration touches the element; or a plain write."""
        f, subs, ops = self.rng.choice(self.counters)
        value = self.counter_value(f)
        if subs is None:
            op = self.rng.choice(ops)
            self.count(f"atomic_{op} of integers, many into one")
            self.count(f"atomics of {f.kind}, many into one")
            at = self.counter_element(f, self.subscripts(f))
            plain = {"add": "+=", "sub": "-="}.get(op)
            return self.emit(f"{at} {plain} {value};" if plain and self.chance(0.5) else f"atomic_{op}({at}, {value});")
        at = self.counter_element(f, subs)
        if self.chance(0.25):
            op = self.rng.choice(["=", "+=", "-=", "*=", "/="])
            self.count(f"{f.kind} {'changed' if len(op) > 1 else 'stored'}")
            return self.emit(f"{at} {op} {self.rng.choice('357')};" if op in ("*=", "/=") else f"{at} {op} {value};")
        return self.old_value(f, at, subs, value)

    def old_value(self, f, at, subs, value):
        op = self.rng.choice(["add", "sub", "min", "max", "and", "or", "xor"])
        self.count(f"old value of atomic_{op} of integers")
        self.count(f"old value of an atomic of {f.kind}" + (", in a loop" if self.looping else ""))
        n, call = self.name_new("l"), f"atomic_{op}({at}, {value})"
        if len(f.dims) == 1 and f.name != "pile" and self.chance(0.15):
            self.count("old value of an atomic in a function that is given the field")
            name, w, i, al = f"{self.name}_w{len(self.function_lines)}", *(self.name_new("p") for _ in "wia")
            self.function_lines.append(f"func {name}({w}, {i}, {al}: {f.kind}) {{ return atomic_{op}({w}[{i}], {al}); }}")
            call = f"{name}({f.base}, {subs}, {value})"
        if self.chance(0.15):
            return self.emit(f"if ({self.condition(1)}) {{ atomic_{op}({at}, {value}); }}")
        self.emit(f"let {n} = {call};")
        self.scope.append({"name": f"(i32({n}) & 7)", "kind": "int", "lo": 0, "hi": 7, "mutable": False})
        return None

    def counter_alone(self):
        """At kernel level."""
        found = [f for f in [*self.module.counters, *self.module.counted] if self.counter_free(f)]
        if not found:
            return
        f = self.rng.choice(found)
        subs = ", ".join(str(self.rng.randrange(self.extent(d))) for d in f.dims)
        self.hidden = self.hidden | {f.name}
        value = self.counter_value(f)
        self.old_value(f, self.counter_element(f, subs), subs, value)
        self.hidden = self.hidden - {f.name}

    def counter_leaf(self):
        """The value of one, which nothing changes from then on."""
        found = [f for f in [*self.module.counters, *self.module.counted] if f.name not in self.hidden and (self.locked is None or f.name not in self.locked)]
        if self.pure or self.inside or not found:
            return None
        f = self.rng.choice(found)
        self.frozen.add(f.name)
        self.count(f"counter of {f.kind} read")
        return f"(i32({self.counter_element(f, self.subscripts(f, 0))}) & 7)", 7
