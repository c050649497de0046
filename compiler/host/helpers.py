"""Takes tkc_math.h apart: a C table of its functions, macros expanded, for code that is to stand alone (tkc --no-runtime), and of what that has of tkc_loops.h.

usage: helpers.py tkc_math.h tkc_loops.h helpers.c
"""
import re
import sys


def macros(text):
    """Name -> (parameters, body) of the function-like macros that define functions."""
    found = {}
    for m in re.finditer(r"^#define (TK_\w+_)\((.*?)\) *\\\n((?:.*\\\n)*.*\n)", text, re.M):
        body = "\n".join(line.rstrip().removesuffix("\\").rstrip() for line in m[3].splitlines())
        found[m[1]] = ([p.strip() for p in m[2].split(",")], body)
    return found


def expand(defs, name, args):
    params, body = defs[name]
    for p, a in zip(params, args):
        body = re.sub(rf"##{p}\b(?!##)", a, body)
        body = re.sub(rf"(?<![\w#]){p}##", a, body)
        body = re.sub(rf"##{p}##", a, body)
        body = re.sub(rf"(?<!#)#{p}\b", f'"{a}"', body)
        body = re.sub(rf"(?<![\w#]){p}\b(?!##)", a, body)
    return expand_all(defs, body)


def expand_all(defs, text):
    """The text with each use of such a macro, which stands on lines of its own, expanded."""
    return re.sub(r"^ *(TK_\w+_)\(((?:[^()]|\([^()]*\))*)\)$",
                  lambda m: expand(defs, m[1], split(m[2])) if m[1] in defs else m[0], text, flags=re.M)


def split(args):
    """Arguments, which may have commas in parentheses."""
    return [a.strip() for a in re.findall(r"(?:^|,)((?:[^,()]|\([^()]*\))*)", args)]


def functions(text):
    """Name and text of each function, in the order of the file."""
    for m in re.finditer(r"^( *)static (?:inline|TK_NOINLINE_EXACT) [\w ]*?\b(tk_\w+)\(", text, re.M):
        depth, at = 0, text.index("{", m.end())
        for at in range(at, len(text)):
            depth += (text[at] == "{") - (text[at] == "}")
            if depth == 0:
                break
        lines = text[m.start():at + 1].splitlines()
        yield m[2], "\n".join(line.removeprefix(m[1]) for line in lines)


def block_of(text, name):
    """The block of conditions that defines a macro, with the comment in front of it."""
    at = re.search(rf"^#define {name}\b", text, re.M).start()
    begin = text.rindex("\n/*", 0, at) + 1
    return text[begin:text.index("\n#endif\n", at)] + "\n#endif"


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    with open(sys.argv[2]) as f:
        loops = f.read()
    defs = macros(text)
    for d in defs:
        text = re.sub(rf"^#define {d}\(.*?\) *\\\n(?:.*\\\n)*.*\n", "", text, flags=re.M)
    text = re.sub(r"\bTK_OF_\(\w+, \w+, (\w+)\)", r"\1", text)  # there are no functions of lanes
    table = dict(functions(expand_all(defs, text)))
    table = {name: body for name, body in table.items() if "scatter" not in name}
    special = {name: block_of(text, name) for name in ("TK_HIDE", "TK_ROUNDED", "TK_NOINLINE_EXACT")}
    special["TK_WHOLE_LOOPS"] = block_of(loops, "TK_WHOLE_LOOPS")
    last = {name: block_of(loops, name) for name in ("TK_IN_ORDER", "TK_NO_LANES")}
    with open(sys.argv[3], "w") as out:
        out.write('#include "host/helpers.h"\n\n')
        for i, body in enumerate([*special.values(), *table.values(), *last.values()]):
            data = ", ".join(str(b) for b in body.encode())
            out.write(f"static const char text{i}[] = {{{data}, 0}};\n")
        out.write("\nconst emit_helper emit_helpers[] = {\n")
        for i, name in enumerate([*special, *table, *last]):
            out.write(f'    {{"{name}", text{i}}},\n')
        out.write("};\nconst int emit_nhelpers = (int)(sizeof emit_helpers / sizeof *emit_helpers);\n")


if __name__ == "__main__":
    main()
