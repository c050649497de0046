"""The types that random programs have: `kind` is how the generator calls one, TYPES how it is written where that is another name."""

STRUCTS = {"Pair": [("a", "real"), ("b", "vec2")], "Part": [("n", "int"), ("w", "real"), ("p", "Pair")], "Frame": [("r", "mat2x3"), ("o", "vec2"), ("i", "u8")],
           "Tone": [("z", "f32"), ("q", "vec(2, f32)"), ("x", "real")]}
INTEGERS = {"int": "int32_t", "i64": "int64_t", "u8": "uint8_t", "i16": "int16_t", "bool": "bool"}
WIDE = {"f32": "real", "vec(2, f32)": "vec2", "mat(2, 2, f32)": "mat2", "mat(2, 3, f32)": "mat2x3"}    # of f32: what they are computed in
SQUARE = ("mat2", "mat3", "mat4")
OBLONG = ("mat2x3", "mat3x2", "mat4x2", "mat1x3", "mat3x7")    # the last one is an array in C
VECTORS = ("vec1", "vec2", "vec3", "vec4", "vec5", "vec7", "big")
FLOATS = ("real", *VECTORS, *SQUARE, *OBLONG)
TYPES = {"int": "i32", "big": "vec(20, real)"}    # so long that it is an array in C, too


def length(kind):
    """Of a vector."""
    return 20 if kind == "big" else int(kind[3:])


def shape(kind):
    """Rows and columns."""
    n, _, m = kind[3:].partition("x")
    return int(n), int(m or n)


def matrix_kind(n, m):
    return f"mat{n}" if n == m and n in (2, 3, 4) else f"mat{n}x{m}"


def size(kind):
    """Numbers in a value."""
    kind = WIDE.get(kind, kind)
    if kind in STRUCTS:
        return sum(size(k) for _, k in STRUCTS[kind])
    n, m = (length(kind), 1) if kind[0] in "vb" else shape(kind) if kind[0] == "m" else (1, 1)
    return n * m


TYPES.update({k: f"vec({length(k)}, real)" for k in ("vec1", "vec5", "vec7")})
TYPES.update({f"mat{n}x{m}": f"mat({n}, {m}, real)" for n in range(1, 8) for m in range(1, 8)})


def members(kind, path=""):
    """Of a struct: (".p.a", "real") and so on; of anything else, itself."""
    if kind not in STRUCTS:
        return [(path, kind)]
    return [one for name, k in STRUCTS[kind] for one in members(k, f"{path}.{name}")]


def declared_struct(name):
    return f"struct {name} {{ {', '.join(f'{n}: {TYPES.get(k, k)}' for n, k in STRUCTS[name])} }}"
