#!/usr/bin/env python3
"""How generated C and compile time grow with the program.

    growth.py --tkc TKC [--cc clang] [--check] [FAMILY...]

Prints for each family of programs, at growing sizes: lines of .tk, bytes of C, their growth per unit of size, CPU time of tkc and of `cc -O1 -c`.
With --check small sizes, no times, and status 1 if bytes (without blanks) grow more than linearly.
"""
import argparse
import resource
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FIELDS = "lazy_grad;\nparam N: i32 = 8;\nfield x: real[N];\nfield y: real[N];\nfield n: i32[N];\n"


def long_kernel(size):
    """One kernel of so many lines."""
    body = ["let v0 = x[i];", "var s = v0;"]
    for k in range(1, size - 3):
        body.append([f"let v{k} = sin(v{k - 1}) * s + {k}.5;", f"s += v{k - 1} * v{max(k - 7, 0)};", f"let v{k} = v{k - 1} * 0.25 + x[i] / (2.0 + s * s);",
                     f"if v{k - 1} > {k}.0 {{ s = s * v{k - 1}; }}"][k % 4])
        if body[-1][:3] != "let":
            body[-1] += f" let v{k} = v{k - 1} * s;"
    return FIELDS + "kernel k() {\n    for i in x {\n" + "".join(f"        {line}\n" for line in body) + "        y[i] = s;\n    }\n}\n"


def kernel_level(size):
    """One kernel of so many parallel loops, with a sum in every other."""
    body = ["var s = 0.0;"]
    for k in range(size):
        body.append(f"for i in x {{ s += x[i] * sin(x[i] * {k}.5); }}" if k % 2 else f"for i in x {{ y[i] += x[i] * x[i] * {k}.0; }}")
    return FIELDS + "field t: real;\nkernel k() {\n" + "".join(f"    {line}\n" for line in body) + "    t = s * s;\n}\n"


def module(size):
    """A module of so many lines: functions, fields and kernels."""
    out, k = [FIELDS], 0
    while sum(part.count("\n") for part in out) < size:
        out.append(f"""
/// Field {k}
field pos{k}: vec2[N];

func force{k}(p: real, q: real) -> real {{
    var s = p;
    for j in range(3) {{
        s = s * q + sin(s);
    }}
    return s * q;
}}

kernel step{k}(dt: real) {{
    for i in x {{
        let r = pos{k}[i] * dt;
        if r.x > 0.5 {{
            y[i] += force{k}(r.x, r.y) * {k}.0;
        }} else {{
            y[i] += r.norm(0.25);
        }}
    }}
}}
""")
        k += 1
    return "".join(out)


def calls(size):
    """Functions that call the one before twice."""
    out = [FIELDS, "func level0(p: real) -> real {\n    return sin(p) * p + 0.5;\n}\n"]
    out += [f"func level{k}(p: real) -> real {{\n    let q = level{k - 1}(p * 0.5) * p;\n    return level{k - 1}(q) + q * q;\n}}\n" for k in range(1, size + 1)]
    return "".join(out) + f"kernel k() {{\n    for i in x {{\n        y[i] = level{size}(x[i]);\n    }}\n}}\n"


def levels(size, opens, closes):
    """A kernel of so many levels, one inside another: the text in front of what is inside, by depth, and the text behind it."""
    out = [FIELDS, "kernel k() {\n    for i in x {\n        var s = x[i];\n        var t = 1.0;\n"]
    out += [textwrap.indent(opens(d), "    " * (d + 2)) for d in range(size)]
    out += [textwrap.indent(closes, "    " * (d + 2)) for d in reversed(range(size))]
    return "".join(out) + "        y[i] = s * t;\n    }\n}\n"


def nests(size):
    """Nested loops, with carried values that each level changes non-linearly."""
    return levels(size, lambda d: f"for j{d} in range(n[i] + {d}) {{\n    s = sin(s) * t;\n    t = t * 0.5 + s * s;\n", "    t = t * cos(s * t);\n}\n")


def branches(size):
    """Nested branches, with values that each level changes non-linearly."""
    return levels(size, lambda d: f"if s * t > {d}.5 {{\n    s = sin(s) * t;\n", "} else {\n    t = t * cos(s * t);\n}\n")


def whiles(size):
    """Nested loops with a condition, a break in each."""
    return levels(size, lambda d: f"while s * t < {d}.5 {{\n    s = sin(s) * t + 1.5;\n    if t > 3.0 {{ break; }}\n", "    t = t * cos(s * t) + 0.5;\n}\n")


def returns(size):
    """A function with so many early returns."""
    body = "".join(f"    if s > {k}.5 {{ return s * {k}.0; }}\n    s = s * sin(s);\n" for k in range(size))
    return FIELDS + "func f(p: real) -> real {\n    var s = p;\n" + body + "    return s;\n}\nkernel k() {\n    for i in x {\n        y[i] = f(x[i]);\n    }\n}\n"


def else_ifs(size):
    """A chain of `else if`s."""
    chain = " else ".join(f"if n[i] == {d} {{\n            s = sin(s) * {d}.5;\n        }}" for d in range(size))
    return FIELDS + f"kernel k() {{\n    for i in x {{\n        var s = x[i];\n        {chain}\n        y[i] = s * s;\n    }}\n}}\n"


def products(size, kind, element):
    """A chain of products of matrices."""
    out = [FIELDS, f"field a: {kind}[N];\nkernel k() {{\n    for i in x {{\n        let m0 = a[i];\n"]
    out += [f"        let m{k} = m{k - 1} @ a[i];\n" for k in range(1, size + 1)]
    return "".join(out) + f"        y[i] = m{size}[2, 3] * m{size}[{element}];\n    }}\n}}\n"


def matrices(size):
    """A chain of products of 9x9 matrices."""
    return products(size, "mat(9, 9, real)", "4, 1")


def small_matrices(size):
    """A chain of products of 4x4 matrices, which are scalars each."""
    return products(size, "mat4", "1, 1")


def decompositions(size):
    """Places that call svd."""
    out = [FIELDS, "field a: mat3[N];\nkernel k() {\n    for i in x {\n        var s = 0.0;\n"]
    out += [f"        let p{k}, q{k}, r{k} = svd(a[i] + {k}.5 * identity(3));\n        s += p{k}[0, 1] * q{k}.x * r{k}[2, 2];\n" for k in range(size)]
    return "".join(out) + "        y[i] = s;\n    }\n}\n"


def layers(size):
    """Layers of 40 to 32 to 40 neurons in local arrays, weights in fields."""
    out = [FIELDS, "field w: real[32, 40];\nfield v: real[40, 32];\nkernel k() {\n    for i in x {\n",
           "        var a: real[40];\n        for j in range(40) { a[j] = x[i] * real(j); }\n"]
    for k in range(size):
        out.append(f"""        var h{k}: real[32];
        for r in range(32) {{
            var s = 0.0;
            for j in range(40) {{ s += w[r, j] * a[j]; }}
            h{k}[r] = tanh(s + {k}.5);
        }}
        for r in range(40) {{
            var s = 0.0;
            for j in range(32) {{ s += v[r, j] * h{k}[j]; }}
            a[r] = tanh(s);
        }}
""")
    return "".join(out) + "        y[i] = a[0] * a[39];\n    }\n}\n"


def sized(size):
    """Local arrays whose size is a param."""
    out = [FIELDS, "kernel k() {\n    for i in x {\n        var s = x[i];\n"]
    for k in range(size):
        out.append(f"        var a{k}: real[N];\n        for j in range(N) {{ a{k}[j] = s * real(j); }}\n")
        out.append(f"        s = a{k}[n[i]] * sin(a{k}[0] + s);\n")
    return "".join(out) + "        y[i] = s;\n    }\n}\n"


def expression(size):
    """One expression of so many terms."""
    return FIELDS + "kernel k() {\n    for i in x {\n        y[i] = " + "\n            + ".join(f"sin(x[i] * {k}.5) * x[i]" for k in range(size)) + ";\n    }\n}\n"


# Sizes measured, sizes checked: `matrices` and `layers` where no body in lanes stands twice any more, as those of up to 24 loops do.
FAMILIES = {
    long_kernel: ([500, 1000, 2000, 4000], [100, 200, 300]),
    kernel_level: ([50, 100, 200, 400], [10, 20, 30]),
    module: ([1000, 2500, 5000, 10000], [100, 300, 500]),
    calls: ([2, 4, 8, 12, 24], [20, 50, 80]),
    nests: ([2, 4, 8, 12, 16], [4, 6, 8]),
    branches: ([2, 4, 8, 16], [8, 12, 16]),
    returns: ([10, 20, 40, 80], [8, 16, 24]),
    else_ifs: ([25, 50, 100, 200], [20, 40, 60]),
    whiles: (list(range(1, 9)), [4, 6, 8]),
    matrices: (list(range(1, 9)), [10, 12, 14]),
    small_matrices: (list(range(1, 9)), [4, 6, 8]),
    decompositions: ([1, 2, 5, 10, 20], [2, 4, 6]),
    layers: ([1, 2, 4, 8, 16], [8, 10, 12]),
    sized: ([4, 8, 16, 32], [4, 8, 12]),
    expression: ([50, 100, 200, 400], [10, 20, 30]),
}


def cpu_time(command):
    """Of one run, in seconds: other load on the machine counts little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(args, text, tmp):
    tk, c = Path(tmp, "g.tk"), Path(tmp, "g.c")
    tk.write_text(text)
    tkc = min(cpu_time([args.tkc, tk, "-o", c]) for _ in range(1 if args.check else 5))
    cc = 0.0
    if not args.check and not args.no_cc:
        cc = cpu_time([args.cc, "-std=c11", "-O1", "-w", "-I", ROOT / "runtime" / "include", "-c", c, "-o", Path(tmp, "g.o")])
    text = c.read_bytes()
    return len(b"".join(text.split()) if args.check else text), tkc, cc


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tkc", required=True)
    ap.add_argument("--cc", default="clang")
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--no-cc", action="store_true", help="do not time the C compiler")
    ap.add_argument("families", nargs="*")
    args = ap.parse_args()
    worse = 0
    for family, (measured, checked) in FAMILIES.items():
        if args.families and family.__name__ not in args.families:
            continue
        if not args.check:
            print(f"\n{family.__name__}: {family.__doc__}\n{'size':>8}{'lines':>8}{'bytes of C':>12}{'per size':>10}{'tkc, ms':>10}{'cc -O1, s':>11}")
        rows = []
        for size in checked if args.check else measured:
            text = family(size)
            with tempfile.TemporaryDirectory() as tmp:
                c, tkc, cc = measure(args, text, tmp)
            step = (c - rows[-1][1]) / (size - rows[-1][0]) if rows else 0
            rows.append((size, c, step))
            if not args.check:
                print(f"{size:8}{text.count(chr(10)):8}{c:12}{step:10.0f}{tkc * 1e3:10.1f}{cc:11.2f}", flush=True)
        # Without blanks, because indentation grows with nesting; names get longer.
        if args.check and rows[-1][2] > 1.2 * rows[1][2]:
            print(f"{family.__name__}: {rows[1][2]:.0f} bytes of C per unit of size at first, {rows[-1][2]:.0f} at last: {rows}")
            worse = 1
    return worse


if __name__ == "__main__":
    sys.exit(main())
