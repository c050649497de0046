"""What the programs of a module share: fields, constants."""
import random

import decisions
import identities
import stepped
import sums
from externs import COMMON
from kinds import FLOATS, STRUCTS, TYPES, WIDE, declared_struct, members

RANGE = 1.2  # field data are drawn from -RANGE .. RANGE
CONSTANT_EXTENTS = {"K": 2, "(2 * K - 1)": 3}
DEFINED = {"C": "0.3", "K": "2", "FLAG": "true", "CV": "vec2(0.4,-0.2)"}    # constants of every module; -D may give them
OTHER = {"C": "5.5", "FLAG": "false", "CV": "vec2(1.0, 2.0)"}
WIDTHS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}
STRUCT_FIELDS = {"pr": ("Pair", ["N"]), "pt": ("Part", ["M"]), "fr": ("Frame", ["N"]), "tn": ("Tone", ["L"])}

class Field:
    def __init__(self, name, kind, dims, role="active"):
        self.name, self.kind, self.dims, self.role = name, WIDE.get(kind, kind), dims, role
        self.base, _, self.member = name.partition(".")    # the field of structs and its member
        self.single = kind if kind in WIDE else None       # its type, if it is f32 among f64
        self.saved = self.soa = self.strided = False
        self.way = None                                    # of an array of the host: in, out, inout


class Module:
    def __init__(self, seed, wide=False):
        self.rng = random.Random(seed)
        r = self.rng
        self.extent = {"N": r.randint(5, 7) + (32 if wide else 0), "M": r.randint(3, 4), "L": r.randint(2, 3)}    # wide: several vectors of any width
        self.form = {k: r.choice(["const", "param"]) for k in self.extent}
        self.computed = {"(L + 1)": self.extent["L"] + 1, "(N - M)": self.extent["N"] - self.extent["M"], "(2 * K)": 4}    # extents of fields; texts that stand anywhere
        N, M, L = "NML"
        self.fields = [Field(n, k, d) for n, k, d in (
            ("a", "real", [N]), ("b", "real", [N]), ("c", "real", [N]), ("d", "real", [M]), ("s", "real", []), ("t", "real", []), ("u", "real", []),
            ("g", "real", [N, M]), ("h", "real", [N, M]), ("w", "real", [M, N]), ("q", "real", [N, N]), ("e", "real", [L, M, L]), ("v2", "vec2", [N]), ("x2", "vec2", [M, L]),
            ("v3", "vec3", [N]), ("y3", "vec3", [M]), ("z2", "vec2", []), ("m2", "mat2", [N]), ("m3", "mat3", [M]),
            ("v4", "vec4", [M]), ("m4", "mat4", [L]), ("w5", "vec5", [N]), ("w20", "big", [L]), ("w7", "vec7", [M]), ("w1", "vec1", [N]),
            ("m23", "mat2x3", [N]), ("m32", "mat3x2", [M]), ("m42", "mat4x2", [L, M]), ("m37", "mat3x7", [L]),
            ("o1", "real", ["(L + 1)"]), ("o2", "vec2", ["(2 * K)"]), ("o3", "real", ["(N - M)", N]), ("e4", "real", [L, "(2 * K)", M, "2"]),
            ("f1", "f32", [N]), ("f2", "vec(2, f32)", [M]), ("fm", "mat(2, 2, f32)", [L]), ("f23", "mat(2, 3, f32)", [M]))]
        of_structs = [Field(n + path, k, d, "active" if k in FLOATS or k in WIDE else "table") for n, (s, d) in STRUCT_FIELDS.items() for path, k in members(s)]
        self.fields += [f for f in of_structs if f.role == "active"]
        for f in r.sample(self.fields, 6):
            f.saved = not f.member and not f.single
        for f in self.fields:
            f.soa = (f.kind != "real" or bool(f.member)) and r.random() < 0.3
        for f in self.fields:
            f.strided = bool(f.dims) and not f.member and not f.saved and not f.soa and r.random() < 0.1
        layout = {f.base: f.soa for f in self.fields}
        for f in self.fields:
            f.soa = layout[f.base]
        self.loss = Field("loss", "real", [])    # written only
        self.tables = [Field("idx", "int", [N], "table"), Field("tab", "int", [N, M], "table"), Field("cnt", "int", [], "table"), Field("made", "int", [N], "table"),
                       Field("wide", "i64", [N], "table"), Field("small", "u8", [M], "table"), Field("both", "ivec2", [L], "table"), Field("yes", "bool", [N], "table")]
        self.tables += [f for f in of_structs if f.role == "table"]
        self.cells = [Field("cell", "int", [N], "cell"), Field("cells", "int", [N, M], "cell"), Field("ticket", "int", [], "cell")]    # atomics change them
        self.cells += [Field("held", "real", [N], "cell"), Field("holds", "real", [N, M], "cell"), Field("mark", "real", [], "cell")]    # without derivatives
        self.counters = [Field("c" + k, k, [N], "counter") for k in WIDTHS] + [Field("sum8", "u8", [], "counter"), Field("sum64", "i64", [], "counter")]
        self.counted = [Field("tally.a", "i64", [N, M], "counter"), Field("tally.b", "u16", [N, M], "counter"), Field("tally.c", "i32", [N, M], "counter"),
                        Field("pile", "u8", [N], "counter")]    # components, of fields that COMMON declares
        self.constants = [Field("fix", "real", [N], "constant"), Field("fix0", "real", [], "constant")]

        self.lazy = r.sample(["grad", "dual"], r.randint(0, 2))    # where the fields without derivatives stand in another file
        self.defines = {k: v for k, v in (*DEFINED.items(), *((k, f"{v - 1}+1") for k, v in self.extent.items() if self.form[k] == "const")) if r.random() < 0.3}
        decisions.prepare(self)

    def options(self):
        """Of tkc: constants of which the text has another value."""
        return [word for k, v in self.defines.items() for word in ("-D", f"{k}={v}")]

    def constant(self, name, kind, value):
        return f"const {name}{kind} = {OTHER.get(name, value + ' + 3') if name in self.defines else value};"

    def common(self):
        """The text of common.tk."""
        return "\n".join(map(declared_struct, STRUCTS)) + COMMON + "\n".join(self.field(f) for f in self.tables + self.cells + self.counters + self.constants if not f.member) + "\n"

    def field(self, f, lazy=()):
        kind = STRUCT_FIELDS[f.base][0] if f.member else f.single or TYPES.get(f.kind, f.kind)
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
        lines += ["param P: real = 0.7;", "param F: f32 = 0.3;", "param J: i32 = 3;", "const CP: Pair = Pair(0.6, CV);",
                  "const CW: Part = Part(K / 2, C + 0.1, CP);", "const CM: mat(2, 3, real) = [[C, 0.5, 1.0], [-0.7, CP.a - 0.5, 0.2]];", "const CI = ivec2(K, 2);", "param B: u8 = 3;", "param W: i64 = 2;", "param Q: bool = true;"]
        lines += [self.constant(k, "", v) for k, v in DEFINED.items()]
        return lines + decisions.declared(self) + identities.declared() + stepped.declared() + sums.declared() + [self.field(f, lazy) for f in {f.base: f for f in [*self.fields, self.loss]}.values()]
