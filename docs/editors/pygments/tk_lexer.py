"""A lexer of Pygments for .tk files. `pygmentize -x -l tk_lexer.py:TkLexer FILE.tk` takes it from here."""
import re

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

__all__ = ["TkLexer"]

# Written by tests/tools/editorwords.py . --update
ITEM = "import const param struct field func export extern kernel lazy_grad lazy_dual let var static serial"
CONTROL = "if else for in while break continue return"
TYPE = "bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 real vec2 vec3 vec4 ivec2 ivec3 ivec4 mat2 mat3 mat4 vec mat"
ATTRIBUTE = "needs_grad needs_dual saved distinct strided soa aos derive no_grad finite grad_for jvp_for operator out inout limit independent as"
FUNCTION = "abs acos all any asin assert atan atan2 atomic_add atomic_and atomic_max atomic_min atomic_or atomic_sub atomic_xor cbrt ceil clamp cols cos cosh cross determinant diag digamma distance dot erf erfc exp exp2 expm1 floor fract grouped hypot identity inverse isinf isnan len length lgamma log log1p log2 max min mix mod ndrange norm norm_sqr normalized outer_product polar_decompose polar_rotation pow print randn random random_int range round rows rsqrt select sigmoid sign sin sinh smoothstep softplus solve spectral sqrt step stop_grad sum svd svd_rotation sym_eig sym_spectral tan tanh trace transpose trunc"


def of(text):
    return words(tuple(text.split()), prefix=r"\b", suffix=r"\b")


class TkLexer(RegexLexer):
    name = "tk"
    aliases = ["tk"]
    filenames = ["*.tk"]
    flags = re.MULTILINE
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"///.*$", String.Doc),
            (r"//.*$", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r'"', String, "string"),
            (r"\b(kernel|func)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (r"\b(field|param|const)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Variable)),
            (r"\b(struct)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Class)),
            (r"(\.)(grad|dual|shape)\b", bygroups(Operator, Name.Attribute)),
            (r"\b\d+\.\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|\b\d+[eE][+-]?\d+\b", Number.Float),
            (r"\b0[xX][0-9A-Fa-f]+\b", Number.Hex),
            (r"\b0[bB][01]+\b", Number.Bin),
            (r"\b\d+\b", Number.Integer),
            (r"\b(true|false)\b", Keyword.Constant),
            (of(ITEM), Keyword.Declaration),
            (of(CONTROL), Keyword),
            (of(TYPE), Keyword.Type),
            (of(ATTRIBUTE), Keyword.Pseudo),
            (of(FUNCTION), Name.Builtin),
            (r"[A-Za-z_]\w*", Name),
            (r"\*\*|<<|>>|[-+*/]=|[<>=!]=|&&|\|\||->|[-+*/%@=<>!~&|^?:]", Operator),
            (r"[()\[\]{},;.]", Punctuation),
        ],
        "string": [
            (r'"|$', String, "#pop"),
            (r"\\.", String.Escape),
            (r'[^"\\\n]+|\\', String),
        ],
    }
