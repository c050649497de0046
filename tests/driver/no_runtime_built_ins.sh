# --no-runtime: each built-in function that an export func may call compiles under strict warnings and links with libm alone; its value and its gradient are
# the bits that it has with libtkc's headers.
# slow: 6
# inputs: compiler runtime/include
cat >make.py <<'END'
import re
import sys

table = open(sys.argv[1]).read()
REFUSED = {"assert", "print", "random", "randn", "random_int", "range", "ndrange", "grouped"}  # of kernels, or no functions
VALUES = {"x": "x", "y": "y", "lo": "-0.5", "hi": "0.75", "edge": "x", "t": "y", "eps": "0.25", "e": "x", "n": "3",
          "v": "a", "a": "a", "b": "b", "A": "M", "c": "x < y", "f": "exp"}
MANY = {"cross", "normalized", "outer_product", "identity", "transpose", "inverse", "solve", "spectral", "sym_spectral", "diag"}
COMPONENTS = {"max", "min", "mix", "mod", "select"}  # of any shape
names = []
for name, signature in re.findall(r'^BUILTIN\("(\w+)", "(.*?)", "', table, re.M):
    if name in REFUSED or name.startswith("atomic_"):
        continue
    for form, arguments in enumerate(re.findall(rf"\b{name}\(([^)]*)\)", signature)):
        arguments = [a for a in arguments.split(", ") if a != "..."]
        assert all(a in VALUES for a in arguments), f"{name}: which value has an argument of {arguments}?"
        values = [VALUES[a] for a in arguments]
        if name in ("all", "any"):
            values = ["a < b"]
        if name in COMPONENTS:
            values = [{"a": "x", "b": "y"}.get(v, v) for v in values]
        call = f"{name}({', '.join(values)})"
        lets = re.match(r"let (.*) =", signature)
        if lets:
            body = f"let {lets[1]} = {call}; return " + " + ".join(f"sum({r} * {i + 1.5})" for i, r in enumerate(lets[1].split(", ")))
        elif name in MANY:
            body = f"return sum({call}) * sum({call})"
        elif name in ("all", "any", "isinf", "isnan"):
            body = f"return x * real(i32({call}))"
        else:
            body = f"return x * real({call})"
        names.append(f"{name}_{form}_of")
        print(f"export func {names[-1]}(x: real, y: real, a: vec3, b: vec3, M: mat3) -> real {{ {body}; }}")
with open("main.c", "w") as out:
    out.write('#include "alone.h"\n#include "with.h"\n#include <stdio.h>\n#include <string.h>\n'
              "static int check(const char *name, const real *a, const real *b)\n"
              '{\n    if (memcmp(a, b, 18 * sizeof *a) == 0)\n        return 0;\n    printf("%s: %g, not %g\\n", name, (double)a[0], (double)b[0]);\n    return 1;\n}\n'
              "int main(void)\n{\n    const real x = (real)0.375, y = (real)0.625, one = 1, v[3] = {(real)0.5, (real)-1.25, 2}, w[3] = {1, (real)0.75, (real)-0.5};\n"
              "    const real A[3][3] = {{2, (real)0.25, (real)-0.5}, {(real)0.125, 3, (real)0.5}, {(real)0.75, -1, (real)1.5}};\n    real r[2][18];\n    int failed = 0;\n")
    for name in names:
        out.write("    memset(r, 0, sizeof r);\n")
        for k, module in enumerate(("alone", "with")):
            out.write(f"    {module}_{name}_grad(x, y, v, w, A, &r[{k}][0], &one, &r[{k}][1], &r[{k}][2], &r[{k}][3], &r[{k}][6], (real(*)[3])&r[{k}][9]);\n")
        out.write(f'    failed += check("{name}", r[0], r[1]);\n')
    out.write("    return failed != 0;\n}\n")
END
python3 make.py "$ROOT/compiler/lsp/words/builtins.def" >all.tk
[ "$(grep -c 'export func' all.tk)" -ge 60 ]
for real in f32 f64; do
    $TKC all.tk --real=$real --no-runtime -o alone.c --prefix=alone
    $TKC all.tk --real=$real -o with.c --prefix=with
    type=$([ $real = f32 ] && echo float || echo double)
    $CC -std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wvla -Werror -c alone.c
    $CC -std=c11 -O1 -I"$ROOT/runtime/include" -Dreal=$type main.c alone.o with.c -lm -o main
    ./main
done
