"""Two calls that build operations in one argument list: C leaves open which comes first, and so is the order of the operations.

    argument_order.py FOLDER

prints each such call with its line, and fails if there is one.
"""
import pathlib
import re
import sys

CALL = re.compile(r"\b[a-z_]\w*\(")
# A builder is the first argument: `b`, `in`, `&in`, `x->b`.
BUILDS = re.compile(r"\b[a-z_]\w*\(\s*&?(?:\w+(?:->|\.))*(?:b|in|out|builder)\s*,")


def without_words(text):
    """The text with comments and literals blank, of the same length."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", blank, text, flags=re.S)


def arguments(text, at):
    """The arguments of the call whose parenthesis opens before `at`."""
    depth, start, found = 0, at, []
    for i in range(at, len(text)):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}" and depth:
            depth -= 1
        elif c in ")]}" or (c == "," and not depth):
            found.append(text[start:i])
            start = i + 1
            if c != ",":
                break
    return found


def main():
    bad = 0
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.c")):
        text = without_words(path.read_text())
        for m in CALL.finditer(text):
            building = [a for a in arguments(text, m.end()) if BUILDS.search(a)]
            if len(building) > 1:
                bad += 1
                print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: arguments of {m.group()[:-1]}: {' | '.join(a.strip() for a in building)}")
    return bad > 0


sys.exit(main())
