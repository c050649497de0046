"""Kernels that compute one value twice: in one expression, which tkc folds as it likes, and in steps through memory, where it sees nothing to fold. The numbers are
whole and small, so that no rounding tells the two apart. `zero` holds 1 where they differ; tools/adcheck looks that it holds none.

An identity that is wrong in launch and derivatives alike shows in no comparison of derivatives."""
from stub import Kernel

COLUMNS = 16
REAL = [(4, "({0} - {1})"), (1, "({0} - (-{1}))"), (1, "({0} + (-{1}))"), (1, "((-{0}) - {1})"), (3, "({0} + {1})"), (4, "(-{0})"), (2, "({0} * {1})"), (0.7, "({0} / 2.0)"), (0.7, "({0} * -1.0)"), (0.5, "(0.0 - {0})"), (0.5, "min({0}, {1})"), (0.5, "max({0}, {1})"),
        (0.4, "abs({0})"), (0.4, "floor({0})"), (0.4, "({0} ** 2)"), (0.6, "({0} < {1} ? {0} : {1})"), (0.4, "clamp({0}, -3.0, {1})"), (0.3, "sign({0})"), (0.3, "select({0} >= {1}, {1}, -{0})")]
WHOLE = [(3, "({0} - {1})"), (3, "({0} + {1})"), (2, "(-{0})"), (2, "({0} * {1})"), (1, "({0} / ({1} | 1))"), (1, "({0} % ({1} | 1))"), (0.7, "({0} & {1})"), (0.7, "({0} | {1})"), (0.7, "({0} ^ {1})"),
         (0.5, "(~{0})"), (0.7, "({0} << 2)"), (0.7, "({0} >> 1)"), (0.7, "min({0}, {1})"), (0.7, "max({0}, {1})"), (0.4, "abs({0})"), (1, "({0} < {1} ? {0} : {1})"),
         (0.7, "({0} > 2 && {0} > {1} ? {1} : {0})"), (0.7, "({0} <= {1} || !({0} == 3) ? 5 : {0})"), (0.5, "i32(i64({0}) * i64({1}))"), (0.4, "i32(u8({0}))"), (0.4, "mod({0}, 3)")]


def declared():
    return [f"field zv: real[N, {COLUMNS}] needs_grad needs_dual;", f"field zj: i32[N, {COLUMNS}];", "field zero: i32[N];"]


class Identities:
    """Part of a Program."""

    def identity(self):
        """Text of a kernel beside the main one."""
        whole = self.chance(0.4)
        self.count("value computed twice, " + ("of integers" if whole else "of reals"))
        steps = []

        def step(text):
            steps.append(f"    for i in zx {{ {'zj' if whole else 'zv'}[i, {len(steps)}] = {text}; }}")
            return f"{'zj' if whole else 'zv'}[i, {len(steps) - 1}]"

        def tree(room):
            """(in one expression, in steps) of at most so many operations and leaves."""
            if room <= 1 or self.chance(0.1):
                text = self.rng.choice(["idx[i]", "i", "i32(zx[i] * 8.0)", "tab[i, 1]", str(self.rng.randint(-7, 9)), "0", "1"]) if whole else self.rng.choice(
                    ["round(zx[i] * 8.0)", "round(zp[i].x * 8.0)", "floor(zp[i].y * 4.0)", f"{self.rng.randint(-4, 6)}.0", "0.0", "1.0"])
                return f"({text})" if text[0] == "-" else text, step(text)
            form = self.pick(*((n, t) for n, t in (WHOLE if whole else REAL) if room > 2 or "{1}" not in t))
            a = tree(room - 1 if "{1}" not in form else room // 2)
            b = tree(room - 1 - room // 2) if "{1}" in form else ("", "")
            return form.format(a[0], b[0]), step(form.format(a[1], b[1]))
        once, again = tree(COLUMNS)
        kernel = Kernel(self.name_new(f"{self.name}_i"), (), None, "")
        self.kernels.append(kernel)
        return [kernel, *steps, f"    for i in zx {{ zero[i] = i32({once} != {again}); loss += zt[{'abs(zj[i, 0]) % 41' if whole else '2'}] * (zx[i] + 0.31 * real(i)); }}", "}"]    # each i another share: at ties that mirror each other both sides would agree
