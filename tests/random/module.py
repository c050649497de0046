"""What the programs of a module share: fields, constants, functions."""
import random

from stub import TYPES

RANGE = 1.2  # field data are drawn from -RANGE .. RANGE
CONSTANT_EXTENTS = {"K": 2, "2 * K - 1": 3}
DEFINED = {"C": "0.3", "K": "2", "FLAG": "true", "CV": "vec2(0.4,-0.2)"}    # constants of every module; -D may give them
OTHER = {"C": "5.5", "FLAG": "false", "CV": "vec2(1.0, 2.0)"}
WIDTHS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}
SINGLES = {"f1": "f32", "f2": "vec(2, f32)", "fm": "mat(2, 2, f32)"}

# For all programs of a module: functions with derivatives of their own, C functions (of libm), a struct. In a file of their own or not.
COMMON = """
extern func erfc(al: f64) -> f64 grad(-1.1283791670955126 * exp(-al * al));
extern func fma(al: f64, be: f64, ga: f64) -> f64 grad(be, al, 1.0);
extern func jn(n: i32, al: f64) -> f64 grad(0.5 * (jn(n - 1, al) - jn(n + 1, al)));
struct Pair { a: real, b: vec2 }
struct Part { n: i32, w: real, p: Pair }
struct Tally { a: i64, b: u16, c: ivec2 }
field tally: Tally[N, M];
field pile: vec(3, u8)[N];
extern func spin(v: vec2, k: f64) -> vec2;
func spin_back(v: vec2, k: f64, gp: vec2) -> (vec2, f64) grad_for(spin) {
    return [gp.x * cos(k) + gp.y * sin(k), gp.y - 2.0 * v.y * gp.x], v.x * (gp.y * cos(k) - gp.x * sin(k));
}
func spin_jvp(v: vec2, k: f64, dv: vec2, dk: f64) -> (vec2, vec2) jvp_for(spin) {
    return spin(v, k), [dv.x * cos(k) - v.x * sin(k) * dk - 2.0 * v.y * dv.y, dv.x * sin(k) + v.x * cos(k) * dk + dv.y];
}
func turned(p: Pair) -> Pair { return Pair(p.b.y, [p.a, p.b.x]); }
func bend(al: real, be: real) -> real { return sin(al) * be; }
func bend_back(al: real, be: real, gp: real) -> (real, real) grad_for(bend) { return gp * cos(al) * be, gp * sin(al); }
func bend_jvp(al: real, be: real, dal: real, dbe: real) -> (real, real) jvp_for(bend) { return sin(al) * be, cos(al) * dal * be + sin(al) * dbe; }
func blend(al: real, n: i32, be: vec2) -> (real, vec2) { return sin(al) * be.x, al * be + be * real(n); }
func blend_back(al: real, n: i32, be: vec2, gp: real, gq: vec2) -> (real, vec2) grad_for(blend) {
    return gp * cos(al) * be.x + dot(gq, be), [gp * sin(al), 0.0] + gq * al + gq * real(n);
}
func blend_jvp(al: real, n: i32, be: vec2, dal: real, dbe: vec2) -> (real, vec2, real, vec2) jvp_for(blend) {
    return sin(al) * be.x, al * be + be * real(n), cos(al) * dal * be.x + sin(al) * dbe.x, dal * be + al * dbe + dbe * real(n);
}
"""

# The extern func that no library has.
EXTERN = """
#include <math.h>

void spin(const double v[2], double k, double result[2])
{
    result[0] = v[0] * cos(k) - v[1] * v[1];
    result[1] = v[0] * sin(k) + v[1];
}
"""


class Field:
    def __init__(self, name, kind, dims, role="active"):
        self.name, self.kind, self.dims, self.role = name, kind, dims, role
        self.base, _, self.member = name.partition(".")    # the field of structs and its member
        self.single = SINGLES.get(self.base)               # its type, if it is f32 among f64
        self.saved = self.soa = self.strided = False
        self.way = None                                    # of an array of the host: in, out, inout


class Module:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        r = self.rng
        self.extent = {"N": r.randint(5, 7), "M": r.randint(3, 4), "L": r.randint(2, 3)}
        self.form = {k: r.choice(["const", "param"]) for k in self.extent}
        N, M, L = "NML"
        self.fields = [Field(n, k, d) for n, k, d in (
            ("a", "real", [N]), ("b", "real", [N]), ("c", "real", [N]), ("d", "real", [M]), ("s", "real", []), ("t", "real", []), ("u", "real", []),
            ("g", "real", [N, M]), ("h", "real", [N, M]), ("w", "real", [M, N]), ("q", "real", [N, N]), ("e", "real", [L, M, L]), ("v2", "vec2", [N]), ("x2", "vec2", [M, L]),
            ("v3", "vec3", [N]), ("y3", "vec3", [M]), ("z2", "vec2", []), ("m2", "mat2", [N]), ("m3", "mat3", [M]),
            ("v4", "vec4", [M]), ("m4", "mat4", [L]), ("w5", "vec5", [N]), ("w20", "big", [L]), ("pr.a", "real", [N]), ("pr.b", "vec2", [N]), ("f1", "real", [N]), ("f2", "vec2", [M]), ("fm", "mat2", [L]))]
        for f in r.sample(self.fields, 5):
            f.saved = not f.member and not f.single
        for f in self.fields:
            f.soa = (f.kind != "real" or bool(f.member)) and r.random() < 0.3
        for f in self.fields:
            f.strided = bool(f.dims) and not f.member and not f.saved and not f.soa and r.random() < 0.1
        first, second = (f for f in self.fields if f.member)
        second.soa = first.soa
        self.loss = Field("loss", "real", [])    # written only
        self.tables = [Field("idx", "int", [N], "table"), Field("tab", "int", [N, M], "table"), Field("cnt", "int", [], "table"), Field("made", "int", [N], "table"),
                       Field("wide", "i64", [N], "table"), Field("small", "u8", [M], "table"), Field("both", "ivec2", [L], "table"), Field("yes", "bool", [N], "table")]
        self.cells = [Field("cell", "int", [N], "cell"), Field("cells", "int", [N, M], "cell"), Field("ticket", "int", [], "cell")]    # atomics change them
        self.cells += [Field("held", "real", [N], "cell"), Field("holds", "real", [N, M], "cell"), Field("mark", "real", [], "cell")]    # without derivatives
        self.counters = [Field("c" + k, k, [N], "counter") for k in WIDTHS] + [Field("sum8", "u8", [], "counter"), Field("sum64", "i64", [], "counter")]
        self.counted = [Field("tally.a", "i64", [N, M], "counter"), Field("tally.b", "u16", [N, M], "counter"), Field("tally.c", "i32", [N, M], "counter"),
                        Field("pile", "u8", [N], "counter")]    # components, of fields that COMMON declares
        self.constants = [Field("fix", "real", [N], "constant"), Field("fix0", "real", [], "constant")]

        self.lazy = r.sample(["grad", "dual"], r.randint(0, 2))    # where the fields without derivatives stand in another file
        self.defines = {k: v for k, v in (*DEFINED.items(), *((k, f"{v - 1}+1") for k, v in self.extent.items() if self.form[k] == "const")) if r.random() < 0.3}

    def options(self):
        """Of tkc: constants of which the text has another value."""
        return [word for k, v in self.defines.items() for word in ("-D", f"{k}={v}")]

    def constant(self, name, kind, value):
        return f"const {name}{kind} = {OTHER.get(name, value + ' + 3') if name in self.defines else value};"

    def common(self):
        """The text of common.tk."""
        return COMMON + "\n".join(self.field(f) for f in self.tables + self.cells + self.counters + self.constants) + "\n"

    def field(self, f, lazy=()):
        kind = "Pair" if f.member else f.single or TYPES.get(f.kind, f.kind)
        return f"field {f.base}: {kind}{'[' + ', '.join(f.dims) + ']' if f.dims else ''}{self.attributes(f, lazy)};"

    def attributes(self, f, lazy):
        active = [f"needs_{w}" for w in ("grad", "dual") if f.role == "active" and w not in lazy]
        return "".join(f" {w}" for w in [*active, *(w for w in ("saved", "soa", "strided") if getattr(f, w))])

    def head(self, imports):
        lines = [f"// flags: {' '.join(['--real=f64', *self.options()])}", *(['import "common.tk";'] if imports else self.common().splitlines())]
        lazy = self.lazy if imports else []
        lines += [f"lazy_{w};" for w in lazy]
        for k, v in self.extent.items():
            lines.append(self.constant(k, ": i32", str(v)) if self.form[k] == "const" else f"param {k}: i32 = {v};")
        lines += ["param P: real = 0.7;", "param F: f32 = 0.3;", "param J: i32 = 3;", "const CP: Pair = Pair(0.6, CV);", "param W: i64 = 2;", "param Q: bool = true;"]
        lines += [self.constant(k, "", v) for k, v in DEFINED.items()]
        return lines + [self.field(f, lazy) for f in [*self.fields, self.loss] if f.member != "b"]
