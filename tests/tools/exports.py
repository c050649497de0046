"""Writes the stub through which expcheck.c calls the export funcs of a module, and its kernels that take arrays, from the prototypes in its header.

usage: exports.py MODULE.h INTEGER [--kernels] > stub.c    INTEGER: what every integer argument gets
Kernels: all arrays and numbers of floats are needs_grad, and fields hold nothing that derivatives pass through.
"""
import re
import sys

SCALARS = {"bool", "float", "double", "void", "int", *(f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64))}
ARRAY = 64  # elements of an array of the host: more than any test's extents need


class Arg:
    """One parameter of a C prototype."""

    def __init__(self, text, structs):
        m = re.fullmatch(r"(const )?(\w+) (\*|\(\*)?(?:restrict )?(\w+)(\))?((?:\[\d+\])*)", text.strip())
        self.const, self.type, self.name = bool(m[1]), m[2], m[4]
        self.dense = bool(m[3])  # an array of the host whose extent is an argument
        self.pointer = self.dense or (not self.const and bool(m[6]))
        self.members = structs.get(self.type)
        self.real = self.type in ("float", "double") or self.members is not None
        self.count = 1 if not self.members else sum(type in ("float", "double") for _, type in self.members)
        for n in re.findall(r"\[(\d+)\]", m[6]):
            self.count *= int(n)
        self.by_value = not m[3] and not m[6]


    def singles(self):
        """Of its numbers, which are f32."""
        one = [type == "float" for _, type in self.members if type in ("float", "double")] if self.members else [self.type == "float"]
        return one * (self.count // len(one) if one else 0)

    def reals(self):
        return [path for path, type in self.members if type in ("float", "double")]

    def has_integers(self):
        return any("int" in type and "[" not in path for path, type in self.members or [("", self.type)])


def members(text):
    """Of each struct: what it is made of, as (".link.pos[1]", "float")."""
    structs = {}
    for m in re.finditer(r"^typedef struct (\w+) \{\n(.*?)\n\} \1;", text, re.M | re.S):
        parts = []
        for type, name, extents in re.findall(r"^    (\w+) (\w+)((?:\[\d+\])*);", m[2], re.M):
            paths = [f".{name}"]
            for n in re.findall(r"\[(\d+)\]", extents):
                paths = [f"{p}[{k}]" for p in paths for k in range(int(n))]
            parts += [(p + inner, t) for p in paths for inner, t in structs.get(type, [("", type)])]
        if all(t in SCALARS for _, t in parts):  # else the module object
            structs[m[1]] = parts
    return structs


def prototypes(text):
    structs, externs = members(text), set(re.findall(r"^/\*\* Extern func (\w+) ", text, re.M))
    for m in re.finditer(r"^void (\w+)\(([^;]*)\);", text, re.M):
        if m[1] in externs:
            continue
        args = [] if m[2] == "void" else [Arg(a, structs) for a in m[2].split(",")]
        if all(a.type in SCALARS or a.members for a in args):  # else a function of the module object
            yield m[1], args


def kernels(text):
    """Without the module object in front."""
    structs, names = members(text), re.findall(r"^/\*\* Kernel (\w+) ", text, re.M)
    for m in re.finditer(r"^tk_status ((\w+?)_(\w+))\(\2 \*m_?(?:, ([^;]*))?\);", text, re.M):
        if any(m[3] == n + s for n in names for s in FORMS):
            yield m[1], [Arg(a, structs) for a in (m[4] or "").split(",") if a]


FORMS = ("", "_grad", "_jvp", "_hvp", "_jac", "_hess")


class Function:
    def __init__(self, name, args, forms, integer, kernel, columns):
        self.name, self.forms, self.integer, self.kernel = name, forms, integer, kernel
        self.params = [a for a in args if not a.name.startswith("result")]
        self.results = [a for a in args if a.name.startswith("result")]
        for a in self.params:
            if a.dense:
                a.count *= ARRAY
        grad = {a.name: a for a in forms.get("_grad", [])}
        for a in self.params:  # an `out` array comes out of the gradient, too, which reads an `inout` one only
            seed = grad.get(f"{a.name}_grad")
            a.only_out = a.pointer and not a.const and a.name in grad and (bool(seed and seed.const) if kernel else not grad[a.name].const)
        self.ins = [a for a in self.params if a.real and not a.only_out]
        self.outs = [a for a in self.params if a.real and not a.const and a.pointer] + [a for a in self.results if a.real]
        self.byname = {a.name: a for a in self.params + self.results}
        self.columns = {form: [self.offset(self.ins, self.byname[n]) + k for n in names for k in range(self.byname[n].count)] for form, names in columns.items()}

    def by(self, form):
        """Of each number of the inputs, whether that derivative is by it; None: it is by all."""
        names = {a.name for a in self.forms.get(form, [])}
        flags = [f"{a.name}{'_grad' if form == '_grad' else '_dual'}" in names for a in self.ins for _ in range(a.count)]
        return None if self.kernel or not names or all(flags) else flags

    def offset(self, group, arg):
        at = 0
        for a in group:
            if a is arg:
                return at
            at += a.count
        return None

    def split(self, name):
        """The parameter or result that an argument of a derivative belongs to, and the suffix."""
        if name.startswith("lambda"):  # of the results, in their order
            return self.byname["result" + name.removeprefix("lambda").removeprefix("_result")], "_lambda"
        for suffix in ("_grad_dual", "_grad", "_dual", ""):
            stem = name[:len(name) - len(suffix)] if suffix else name
            if name.endswith(suffix) and stem in self.byname:
                return self.byname[stem], suffix
        raise SystemExit(f"{self.name}: argument {name}")

    def structs(self, a, p, source, before):
        """An array of structs."""
        n, size = len(p.reals()), p.count // len(p.reals())
        before.append(f"    {p.type} {a.name}_[{size}];\n    for (int e = 0; e < {size}; e++) {{")
        before += [f"        {a.name}_[e]{path} = {'true' if type == 'bool' else f'({type})({self.integer} - e % 2)'};"
                   for path, type in p.members if type not in ("float", "double")]
        before += [f"        {a.name}_[e]{path} = ({dict(p.members)[path]}){source.replace('+ k', f'+ e * {n} + {k}')};" for k, path in enumerate(p.reals())]
        before.append("    }")

    def struct(self, a, p, source, before):
        before.append(f"    {p.type} {a.name}_;")
        before += [f"    {a.name}_{path} = {'true' if type == 'bool' else self.integer};" for path, type in p.members if type not in ("float", "double")]
        before += [f"    {a.name}_{path} = ({dict(p.members)[path]}){source.replace('+ k', f'+ {k}')};" for k, path in enumerate(p.reals())]

    def matrix(self, form, a, before, call, after):
        """With rows that are farther apart than they are long."""
        name, n = self.name + form, len(self.columns[form])
        if a.name == "ld":
            call.append(f"{name}_COLS + 3")
        elif a.name == "grad":
            before.append(f"    {a.type} grad_[{n}];")
            call.append("grad_")
            after.append(f"    for (int k = 0; k < {n}; k++)\n        g[k] = (double)grad_[k];")
        else:
            before.append(f"    static {a.type} matrix_[{name}_ROWS * ({name}_COLS + 3)];\n    for (int k = 0; k < {name}_ROWS * ({name}_COLS + 3); k++)\n"
                          f"        matrix_[k] = -77;")
            call.append("matrix_")
            after += [f"    for (int i = 0; i < {name}_ROWS; i++)\n        for (int j = 0; j < {name}_COLS + 3; j++)\n            if (j < {name}_COLS)\n"
                      f"                matrix[i * {name}_COLS + j] = (double)matrix_[i * ({name}_COLS + 3) + j];\n"
                      f"            else if (matrix_[i * ({name}_COLS + 3) + j] != -77)\n                exit(3);",
                      f'    expcheck_pattern("{name}", matrix, {name}_ROWS, {name}_COLS, {name}_NNZ, {name}_row, {name}_col);']

    def wrapper(self, form):
        """x, v: inputs and their tangents; y, dy: outputs; w: seeds; g, dg: gradients of inputs and their tangents."""
        params = {"": "const double *x, double *y", "_grad": "const double *x, double *y, const double *w, double *g",
                  "_jvp": "const double *x, const double *v, double *y, double *dy",
                  "_hvp": "const double *x, const double *v, double *y, double *dy, const double *w, double *g, double *dg",
                  "_jac": "const double *x, double *y, double *matrix", "_hess": "const double *x, double *y, const double *w, double *g, double *matrix"}[form]
        before, call, after = [], ["module()"] if self.kernel else [], []
        back = self.kernel and form in ("_grad", "_hvp")  # the adjoint of a kernel finds what the launch left
        if back:
            before.append(f"    {self.name}_flat(x, y);" if form == "_grad" else f"    {self.name}_jvp_flat(x, v, y, dy);")
        for a in self.forms[form]:
            if a.name == "workspace":
                ints = [f"{p.name}_" if p.members else str(self.integer) for p in self.params if p.by_value and p.has_integers()]
                size = f"{self.name}{form}_WORKSPACE" + (f"({', '.join(ints)})" if ints else "")
                before.append(f"    void *const workspace = malloc({size});")  # of exactly that size: sanitizers watch it
                call.append("workspace")
                after.append("    free(workspace);")
                continue
            if a.name in ("jac", "hess", "ld") or (a.name == "grad" and form == "_hess"):
                self.matrix(form, a, before, call, after)
                continue
            p, suffix = self.split(a.name)
            if not p.real:
                before.append(f"    const {p.type} {a.name} = {self.integer if p.type != 'bool' else 'true'};" if p.by_value else
                              f"    {p.type} {a.name}[{p.count}];\n    for (int k = 0; k < {p.count}; k++)\n        {a.name}[k] = ({p.type})({self.integer} - k % 2);")
                call.append(a.name if p.by_value else f"(void *){a.name}")
                continue
            i, o = self.offset(self.ins, p), self.offset(self.outs, p)
            source, sink, start = {"": (f"x[{i} + k]", "y", 0), "_dual": (f"v[{i} + k]", "dy", 0), "_grad": (f"w[{o} + k]", "g", 1), "_lambda": (f"w[{o} + k]", "", 0),
                                   "_grad_dual": ("0.0", "dg", 1)}[suffix]
            gradient = suffix.startswith("_grad") or suffix == "_lambda"
            if gradient and o is None:
                source = "1.0"  # gradients are added to what is there
            elif not gradient and i is None:
                source = "-99.0" if suffix == "" or p in self.results else "0.0"  # what lies behind an array has no tangent
            if back and not gradient and o is not None:
                source = {"": f"y[{o} + k]", "_dual": f"dy[{o} + k]"}[suffix]
            array = p.members and p in self.params and not p.by_value
            if array:
                self.structs(a, p, source, before)
            elif p.members:
                self.struct(a, p, source, before)
            else:
                before.append(f"    {p.type} {a.name}_[{p.count}];\n    for (int k = 0; k < {p.count}; k++)\n        {a.name}_[k] = ({p.type}){source};")
            call.append(f"{a.name}_" if array else f"{'&' if p.members and not a.by_value else '' if p.members else '(void *)'}{a.name}_" if p.members or not a.by_value else f"{a.name}_[0]")
            if suffix == "" and a.const and o is not None and not self.kernel:  # `inout`: the new values do not come along
                values, sinks = ("", ["y"]) if form == "_grad" else ("_jvp", ["y", "dy"])
                news = [f"new_{s}" for s in sinks]
                args = ", ".join((["x"] if form == "_grad" else ["x", "v"]) + news)
                after.append("    {\n" + "".join(f"        double {s}[{sum(b.count for b in self.outs)}];\n" for s in news) +
                             f"        {self.name}{values}_flat({args});\n        for (int k = {o}; k < {o + p.count}; k++) {{\n" +
                             "".join(f"            {s}[k] = new_{s}[k];\n" for s in sinks) + "        }\n    }")
            if not a.const and not a.by_value:
                at = i if gradient else o
                if at is None:
                    continue
                minus = " - 1.0" if gradient and o is None else ""
                if array:
                    n = len(p.reals())
                    after += [f"    for (int e = 0; e < {p.count // n}; e++)\n        {sink}[{at} + e * {n} + {k}] = (double){a.name}_[e]{path}{minus};" for k, path in enumerate(p.reals())]
                elif p.members:
                    after += [f"    {sink}[{at + k}] = (double){a.name}_{path}{minus};" for k, path in enumerate(p.reals())]
                else:
                    after.append(f"    for (int k = 0; k < {p.count}; k++)\n        {sink}[{at} + k] = (double){a.name}_[k]{minus};")
        launch = f"{self.name}{form}({', '.join(call)})"
        body = "\n".join([*before, f"    launched({launch});" if self.kernel else f"    {launch};", *after])
        unused = "".join(f"    (void){n};\n" for n in re.findall(r"\*(\w+)", params))
        return f"static void {self.name}{form}_flat({params})\n{{\n{unused}{body}\n}}\n"


MODULE = """
static NAME *module(void)
{
    static NAME *m;
    if (!m && !(m = NAME_create(NULL, NULL)))
        exit(2);
    return m;
}

static void launched(tk_status s)
{
    if (s == TK_OK)
        return;
    puts(NAME_error(module()));
    exit(1);
}
"""


def main():
    header, integer, with_kernels = sys.argv[1], int(sys.argv[2]), "--kernels" in sys.argv
    with open(header) as f:
        text = f.read()
    found, of_kernels = dict(prototypes(text)), dict(kernels(text)) if with_kernels else {}
    found.update(of_kernels)
    funcs, columns = [], {}
    for m in re.finditer(r"^/\*\* The (?:Jacobian|Hessian) of \w+ by ([\w, ]+?)(?:, of the sum of its results, each times its lambda)?:.*?^void (\w+)\(", text, re.M | re.S):
        columns[m[2]] = m[1].split(", ")
    for name, args in found.items():
        if any(name.endswith(s) and name[:-len(s)] in found for s in FORMS[1:]):
            continue
        forms = {s: found[name + s] for s in FORMS if name + s in found}
        funcs.append(Function(name, args, forms, integer, name in of_kernels, {s: columns[name + s] for s in FORMS if name + s in columns}))
    print(f'#include <stdio.h>\n#include <stdlib.h>\n\n#include "expcheck.h"\n#include "{header.rsplit("/", 1)[-1]}"\n')
    if of_kernels:
        print(MODULE.replace("NAME", header.rsplit("/", 1)[-1].removesuffix(".h")))
    for f in funcs:
        for form in f.forms:
            print(f.wrapper(form))
    single = {}
    for f in funcs:
        for way, group in (("in", f.ins), ("out", f.outs)):
            flags = [one for a in group for one in a.singles()]
            single[f.name, way] = any(flags)
            if single[f.name, way]:
                print(f"static const bool {f.name}_single_{way}[] = {{{', '.join('true' if one else 'false' for one in flags)}}};")
    by = {(f.name, form[1:]): f.by(form) for f in funcs for form in ("_grad", "_jvp", "_hvp")}
    for (name, form), flags in by.items():
        if flags is not None:
            print(f"static const bool {name}_by_{form}[] = {{{', '.join('true' if one else 'false' for one in flags)}}};")
    for f in funcs:
        for form, at in f.columns.items():
            print(f"static const int {f.name}{form}_columns[] = {{{', '.join(map(str, at))}}};")
    print("const expcheck_func expcheck_funcs[] = {")
    for f in funcs:
        total = [sum(a.count for a in group) for group in (f.ins, f.outs)]
        members = "".join(f", .{form[1:] or 'run'} = {f.name}{form}_flat" for form in f.forms)
        members += "".join(f", .{form[1:]}_columns = {f.name}{form}_columns, .{form[1:]}_ncolumns = {len(at)}" for form, at in f.columns.items())
        members += "".join(f", .single_{way} = {f.name}_single_{way}" for way in ("in", "out") if single[f.name, way])
        members += "".join(f", .by_{form} = {f.name}_by_{form}" for form in ("grad", "jvp", "hvp") if by[f.name, form] is not None)
        print(f'    {{.name = "{f.name}", .nin = {total[0]}, .nout = {total[1]}{members}}},')
    print(f"}};\nconst int expcheck_count = {len(funcs)};")


if __name__ == "__main__":
    main()
