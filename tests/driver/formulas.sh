# Workspaces as --explain writes them are those of the header's macros, for sizes of all kinds.
cp "$ROOT/tests/explain/formulas.tk" .
"$TKC" --no-runtime formulas.tk -o formulas.c
"$TKC" --no-runtime formulas.tk --explain >said
cat >compare.py <<'END'
import re
from fractions import Fraction
from math import ceil, floor

text = re.sub(r"\n +(?!- )", " ", open("said").read())
header = open("formulas.h").read()
found = dict(re.findall(r"caller: (\w+_WORKSPACE), (.*?)(?: bytes)?\.(?=\s)", text))
macros = re.findall(r"#define (\w+_WORKSPACE)(?:\(([\w, ]*)\))? ", header)
assert len(macros) >= 9 and {name for name, _ in macros} == set(found), (macros, found)
assert found.pop("formulas_wraps_grad_WORKSPACE") == "a formula in the header"
assert any("ceil" in f for f in found.values()) and any("max" in f for f in found.values()) and any("floor" in f for f in found.values())
lines = ['#include "formulas.h"', "#include <stdio.h>", "int main(void)", "{"]
names = "nm"
for name, parameters in macros:
    if name not in found:
        continue
    formula = re.sub(r"(\d|\)) (?=[a-z(])", r"\1 * ", found[name]).replace("^", "**")
    integers = [p.strip() for p in (parameters or "").split(",") if p.strip()]
    for n in range(7):
        for m in range(5):
            for steps in (0, 1, 3):
                have = {"n": Fraction(n), "m": Fraction(m), "steps": Fraction(steps)}
                value = eval(formula, {"ceil": ceil, "floor": floor, "min": min, "max": max}, have)
                assert value == int(value), (name, formula, have)
                call = name + (f"({', '.join(str(have[p]) for p in integers)})" if integers else "")
                lines.append(f'    if ({call} != {int(value)}) {{ printf("{name} n {n} m {m} steps {steps}: %zu, and not {int(value)}\\n", {call}); return 1; }}')
lines += ["    return 0;", "}"]
open("main.c", "w").write("\n".join(lines) + "\n")
END
python3 compare.py
"$CC" -std=c11 -w -O0 -o main main.c
./main
