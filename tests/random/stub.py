"""The C through which tools/adcheck calls the kernels of a random module: it knows their argument structs."""
import re

from kinds import INTEGERS, STRUCTS, TYPES, WIDE, members, size


class Param:
    """A parameter of a kernel."""

    def __init__(self, name, kind, grad=False, way=None, dims=()):
        self.name, self.kind, self.grad, self.way, self.dims = name, kind, grad, way, list(dims)

    def __str__(self):
        kind = TYPES.get(self.kind, self.kind)
        array = f"[{', '.join(self.dims)}]" if self.way else ""
        return f"{self.name}: {self.way + ' ' if self.way else ''}{kind}{array}{' needs_grad' if self.grad else ''}"


class Kernel:
    """What the host sees of one."""

    def __init__(self, name, params=(), result=None, derive=""):
        self.name, self.params, self.result, self.derive = name, list(params), result, derive

    def head(self):
        result = f" -> {TYPES.get(self.result, self.result)}" if self.result else ""
        return f"kernel {self.name}({', '.join(map(str, self.params))}){result}{self.derive} {{"

    def has(self, what):
        return what in self.derive if "derive(" in self.derive else what != "hvp"


def read_kernels(text):
    """The kernels of a module, from their heads."""
    names = {v: k for k, v in TYPES.items()}
    kernels = []
    for m in re.finditer(r"^kernel (\w+)\(((?:[^()]|\([^()]*\))*)\)(?: -> (\w+(?:\([^()]*\))?))?([^{}]*) \{$", text, re.M):
        params = []
        for name, way, kind, dims, grad in re.findall(r"(\w+): (?:(inout|in|out) )?((?:vec|mat)\([^()]*\)|\w+)(?:\[([^\]]*)\])?( needs_grad)?", m[2]):
            params.append(Param(name, names.get(kind, kind), bool(grad), way or None, dims.split(", ") if dims else ()))
        kernels.append(Kernel(m[1], params, names.get(m[3], m[3]), m[4]))
    return kernels


def declared(kind, name):
    if kind in STRUCTS:
        return f"struct {kind} {name};"
    if kind in INTEGERS:
        return f"{INTEGERS[kind]} {name};"
    return f"{'float' if kind in WIDE else 'double'} {name}[{size(kind)}];"


def number(kind):
    return f".ncomp = {size(kind)}" + (", .single = true" if kind in WIDE else "")


def of_floats(kind):
    return any(k not in INTEGERS for _, k in members(kind))


def kernel_stub(kernel):
    """The C of its argument structs, and the rows of the table: none if the descriptor tells all."""
    k, values = kernel.name, [p for p in kernel.params if not p.way]
    rows = []
    extents = dict.fromkeys(d for p in kernel.params for d in p.dims if "_" in d)    # the others are the module's
    args = [f"int64_t {n};" for n in extents] + [f"tk_array {p.name};" if p.way else declared(p.kind, p.name) for p in kernel.params]
    real = kernel.result and kernel.result not in INTEGERS
    forms = [f for f, there in (("", True), ("_dual", real and kernel.has("jvp")), ("_grad", real and kernel.has("grad")), ("_grad_dual", real and kernel.has("hvp"))) if there]
    args += [f"void *result{f};" for f in forms] if kernel.result else []
    grads = [declared(p.kind, p.name + "_grad") for p in values if p.grad]
    seconds = [declared(p.kind, p.name + "_grad_dual") for p in values if p.grad]
    tangents = [declared(p.kind, p.name + "_dual") for p in values if of_floats(p.kind)]
    for p in values:
        for path, kind in members(p.kind):
            at = f"offsetof(struct {k}_a, {p.name}{path})"
            if kind in INTEGERS:
                rows.append(f"{{.offset = {at}, .gradient = -1, .second = -1, .integer_size = sizeof({INTEGERS[kind]}), .integer = {1 if kind == 'bool' else 3}}}")
                continue
            grad, second = ((f"(long)offsetof(struct {k}_h, {p.name}{f}{path})" if p.grad else "-1") for f in ("_grad", "_grad_dual"))
            rows.append(f"{{.offset = {at}, .tangent = offsetof(struct {k}_j, {p.name}_dual{path}), .gradient = {grad}, .second = {second}, {number(kind)}}}")
    at = {f: f"offsetof(struct {k}_a, result{f})" for f in forms}
    for path, kind in members(kernel.result) if real else ():
        if kind not in INTEGERS:
            inside = f".inside = offsetof(struct {kernel.result}, {path[1:]}), " if path else ""
            rows.append(f"{{.offset = {at['']}, .tangent = {at.get('_dual', 0)}, .gradient = (long){at.get('_grad', 0)}, .second = (long){at.get('_grad_dual', 0)}, "
                        f"{inside}{number(kind)}, .result = true}}")
    if not rows:
        return "", rows
    text = (f"struct {k}_a {{ {' '.join(args)} }}; struct {k}_j {{ struct {k}_a primal; {' '.join(tangents)} }}; "
            f"struct {k}_h {{ {' '.join(grads + seconds) or 'int none;'} }};\n"
            f"static const adcheck_param {k}_p[] = {{{', '.join(rows)}}};")
    return text, rows


def binds(name, header):
    """The C that gives fields memory of the host, by the functions that the header has, and the step of the data at ties."""
    out = ["void adcheck_bind(tk_module *m, const char *field, void *const *given)\n{", "    (void)m, (void)field, (void)given;"]
    for field, params in re.findall(rf"^tk_status {name}_bind_(\w+)\({name} \*m, ([^;]*)\);", header, re.M):
        planes = [re.search(r"\*(data|grad|dual)\b", p) for p in params.split(", ")]
        if all(planes):    # else it is the function for strides
            given = ", ".join(f"given[{['data', 'grad', 'dual'].index(p[1])}]" for p in planes)
            out.append(f'    if (!strcmp(field, "{field}"))\n        {name}_bind_{field}(({name} *)m, {given});')
    out.append("}")
    if re.search(r"^    double DX;", header, re.M):
        out.append(f"double adcheck_step(void) {{ return {name}_defaults().DX; }}")
    return "\n".join(out)


def stub(name, programs, header=""):
    """Instance and parameters of the kernels of module NAME, for adcheck; with the text of its header, memory for its fields."""
    out = [f'#include <stddef.h>\n#include "{name}.h"\n#include "adcheck.h"\n#include <string.h>',
           f"tk_module *adcheck_create(tk_session *s) {{ {name} *m = {name}_create(s, NULL); return m ? &m->tk : NULL; }}",
           f"void adcheck_destroy(tk_module *m) {{ {name}_destroy(({name} *)m); }}"]
    out += [f"struct {s} {{ {' '.join(declared(k, n) for n, k in parts)} }};" for s, parts in STRUCTS.items()]
    found = []
    for k in [one for p in programs for one in p.kernels]:
        text, rows = kernel_stub(k)
        if rows:
            out.append(text)
            found.append(f'    if (!strcmp(kernel, "{k.name}")) {{ *n = {len(rows)}; return {k.name}_p; }}')
    out += ["const adcheck_param *adcheck_params(const char *kernel, int *n)\n{", *found, "    (void)kernel;\n    *n = 0;\n    return NULL;\n}"]
    own = re.findall(r"grad_for\((\w+)\)", " ".join(k.derive for p in programs for k in p.kernels))
    out += ["bool adcheck_own_adjoint(const char *kernel)\n{", *(f'    if (!strcmp(kernel, "{k}"))\n        return true;' for k in own), "    (void)kernel;\n    return false;\n}"]
    return "\n".join([*out, binds(name, header)]) + "\n"
