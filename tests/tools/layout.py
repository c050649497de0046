"""The same program with other spaces between its tokens, with comments, and with other line breaks where they may differ."""
import re

PIECE = re.compile(r'(?P<gap>(?:\s|//[^\n]*|/\*.*?\*/|\ufeff)+)|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|(?:\d|\.\d)(?:[eE][+-]|[\w.])*|->|\*\*|<<|>>|[-+*/<>=!]=|&&|\|\||.', re.S)
SPACES = ["", "", " ", "  ", "\t", " /**/ ", "\t \t", " /***/\t"]
BREAKS = ["\n", "\n\n", "\n\n\n", " // c\n", "\t//\n  ", "\r\n", "\n/* d */\n", " /* a\n b */", " /* a\n */ // e\n  "]

NEGATION = re.compile(r"(?<=[-+*/] )\((-[\w.]+)\)(?! *(?:\*\*|[.\[]))")    # x - (-y), and no (-y) ** 2


def pieces(text):
    return [m[0] for m in PIECE.finditer(text)]


def another(text, rng, lines=True):
    """Without `lines` each token stays in its line."""
    out, gap = [], ""
    for m in PIECE.finditer(NEGATION.sub(r"\1", text)):
        if m["gap"]:
            gap = m[0]
            continue
        if lines or not re.search("[\n/]", gap):
            gap = rng.choice(BREAKS if lines and rng.random() < 0.1 else SPACES) if rng.random() < 0.7 else gap
        if not gap and out and (pieces(out[-1] + m[0]) != [out[-1], m[0]] or out[-1] == m[0] and m[0] in "+-"):
            gap = " "
        out += [gap, m[0]] if gap else [m[0]]
        gap = ""
    return "".join(out) + gap
