"""Sums into one element, by loops that read other elements of its field. Such a sum leaves its loop where no trip reads its own element: in parallel loops none does,
in serial ones a third do, in their first trip, in their last one, or between."""
from stub import Kernel

COLUMNS = 12


def declared():
    return [f"field zq: vec2[N, {COLUMNS}] needs_grad needs_dual;"]


class Sums:
    """Part of a Program."""

    def sum_beside(self):
        """Text of a kernel beside the main one."""
        body = []
        for _ in range(self.rng.randint(1, 3)):
            way = self.pick((2, "parallel"), (2, "serial"), (2, "in an iteration"))
            step, trips = self.rng.choice([1, 1, -1, 2]), self.rng.randint(1, 4)
            first = self.rng.randint(0, 2)
            read = [step * t for t in range(first, first + trips)]
            shift = self.rng.randint(-min(read), COLUMNS - 1 - max(read))
            read = [r + shift for r in read]
            near = [a for a in (read[0] - 1, read[0], read[-1], read[-1] + 1, self.rng.choice(read)) if 0 <= a < COLUMNS]
            meets = way != "parallel" and self.chance(0.33)
            target = self.rng.choice([a for a in near if meets or a not in read] or [a for a in range(COLUMNS) if a not in read])
            mine, other = ("x", "y") if self.chance(0.2) else ("x", "x")
            row = "i" if way == "in an iteration" else "0"
            at = f"{'' if step == 1 else f'{step} * '}tt {'-' if shift < 0 else '+'} {abs(shift)}"
            term = f"0.3 * zq[{row}, {at}].{other} + 0.1 * zt[tt]"
            term = f"({term}) * (tt == {first} ? 0.5 : 1.5)" if self.chance(0.3) else term
            line = f"zq[{row}, {target}].{mine} += {term};"
            line = f"if zt[tt] > 0.0 {{ {line} }}" if self.chance(0.3) else line
            loop = f"{'serial ' if way == 'serial' else ''}for tt in range({first}, {first + trips}) {{ {line} }}"
            body.append(f"    for i in zx {{ {loop} }}" if way == "in an iteration" else f"    {loop}")
            self.count(f"sum beside what its loop reads, {way}{', meets' if target in read and mine == other else ''}")
        kernel = Kernel(self.name_new(f"{self.name}_s"), (), None, "")
        self.kernels.append(kernel)
        used = " + ".join(f"zq[i, {c}].{'xy'[c % 2]} * {0.2 + 0.1 * c:.1f}" for c in range(COLUMNS)) + " + zq[i, 0].y - zq[i, 1].x"
        return [kernel, *body, f"    for i in zx {{ loss += sin(0.1 * ({used})) * (zx[i] + 0.31 * real(i)); }}", "}"]
