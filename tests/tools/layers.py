#!/usr/bin/env python3
"""The layers of the compiler and of libtkc: who includes and calls whom. layers.py ROOT [--update]

Each folder of the compiler stands on those above it in the list and on nothing else; folders of one line know nothing of
each other. Calls between files form no circle, but for the recursions over the grammar, the IR and the tape: back_edges.txt
lists, for each function, the files that call it from further down. The list can only shrink: a call that is not in it and
closes a circle is a fault, and so is a line of it without which there is no circle. The memory layout of a field is known
to one module of the compiler and one file of libtkc (LAYOUT): all others call these. Prints each edge that goes up, each
circle, each crowded folder, each long file and each such name; status 1 if there are any. --update removes lines of the
list that are gone.
"""
import collections
import fnmatch
import re
import sys
from pathlib import Path

LAYERS = [["util"], ["syntax"], ["files"], ["ir"], ["ir/text"], ["check/base"], ["check"], ["lower"], ["passes/analysis"], ["passes/simplify"], ["passes/rules", "passes/derive", "passes/schedule"],
          ["passes"], ["codegen"], ["emit"], ["host"], ["python", "explain"], ["lsp"], ["driver"]]
INSIDE = {"lsp/words": "lsp", "lsp/names": "lsp", "ir/reasons": "ir", "check/place": "check", "check/types": "check", "passes/analysis/overlap": "passes/analysis", "passes/derive/algebra": "passes/derive", "passes/derive/footprint": "passes/derive", "passes/derive/reverse": "passes/derive", "passes/schedule/gather": "passes/schedule"}      # folders that are a part of one
LIST = "tests/tools/back_edges.txt"
MOST, LINES = 20, 700                                    # files in a folder, lines of a file
LAYOUT = {                        # names that tell layouts apart: where, and who has them; LAYOUTS: flags of field_layout.def
    r"IR_(FIELD|LAYOUT)_[A-Z]\w*|ir_field_is|ir_field_layout\w*|FIELD_LAYOUT":
        ("compiler", ["compiler/ir/ir.h", "compiler/ir/layout.*", "compiler/ir/text/text_module.c", "compiler/check/*",
                      "compiler/codegen/layout.c"]),
    r"TK_FIELD_(LAYOUTS)|tk_member|(?<=->)member|(?<=\.)member": ("runtime/src", ["runtime/src/layout.c"]),
}


def code(path):
    """Text without comments, strings and preprocessor lines but includes."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(errors="replace"), flags=re.S)
    return re.sub(r"(?m)^(?!#include)(.*)$", lambda m: "" if m[1].startswith("#") else re.sub(r'"(?:\\.|[^"\\])*"', '""', m[1]), text)


class Sources:
    def __init__(self, top, folder, layers=()):
        self.top, self.root, self.layers = top, top / folder, layers
        self.files = sorted(p for e in ("c", "h") for p in self.root.rglob(f"*.{e}"))
        self.text = {p: code(p) for p in self.files}
        self.rank = {folder: k for k, line in enumerate(layers) for folder in line}
        self.shared = set(re.findall(r"^static inline [^;{}=(]*?\b(\w+)\(", "\n".join(self.text[p] for p in self.files if p.suffix == ".h"), re.M))
        self.defined = {}
        for p in self.files:
            if p.suffix == ".c":
                for m in re.finditer(r"^(?!static|typedef|enum|struct \w+ \{|union|#|return|else|extern)[A-Za-z_][\w \*]*?\b(\w+)\([^;{}]*\)\s*\{", self.text[p], re.M):
                    self.defined[m[1]] = p

    def folder(self, path):
        name = path.parent.relative_to(self.root).as_posix()
        return INSIDE.get(name, name)

    def edges(self):
        """Each (file, file, how): by an include, or by a name that the other defines."""
        for p in self.files:
            for name in re.findall(r'^#include "([^"]+)"', self.text[p], re.M):
                if (self.root / name).exists():
                    yield p, self.root / name, f"includes {name}"
            own = {a or b for a, b in re.findall(r"^static [^;{}=(]*?\b(\w+)\(|\b(?:bool|double|int) (\w+)[ ,;)]", self.text[p], re.M)}    # and locals
            used = set(re.findall(r"(?<![.>])\b(?:[a-z]\w*(?=\()|[a-z]\w*_\w+)", self.text[p])) if p.suffix == ".c" else set()
            for name in sorted(used - own - self.shared):
                other = self.defined.get(name)
                if other and other != p:
                    yield p, other, f"uses {name}"

    def upward(self):
        for a, b, how in self.edges():
            from_, to = self.folder(a), self.folder(b)
            if from_ == to or self.rank.get(to, -1) < self.rank.get(from_, len(self.layers)):
                continue
            yield f"{a.relative_to(self.root)} {how}: {to} is not below {from_}"

    def calls(self):
        """Each (file, file, function): the first calls a function of the other."""
        return {(self.name(a), self.name(b), how.removeprefix("uses ")) for a, b, how in self.edges() if how.startswith("uses")}

    def name(self, path):
        return path.relative_to(self.top).as_posix()

    def crowded(self):
        for folder, n in collections.Counter(p.parent for p in self.files).items():
            if n > MOST and self.layers:
                yield f"{self.name(folder)}: {n} files"
        for p in self.files:
            n = p.read_bytes().count(b"\n")
            if n > LINES:
                yield f"{self.name(p)}: {n} lines"


def circles(calls):
    """Strongly connected files, by Tarjan's algorithm."""
    graph = collections.defaultdict(set)
    for a, b, _ in calls:
        graph[a].add(b)
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            one = stack[stack.index(v):]
            del stack[len(stack) - len(one):]
            if len(one) > 1:
                found.append(sorted(one))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def listed(root):
    """back_edges.txt as {(file, function)}."""
    lines = (root / LIST).read_text().splitlines()
    return {(file, line.split(":")[0]) for line in lines if line[0] != "#" for file in line.split(":")[1].split()}


def shrink(root, gone):
    """Removes these (file, function) from back_edges.txt."""
    lines = []
    for line in (root / LIST).read_text().splitlines():
        function, _, files = line.partition(":")
        left = [f for f in files.split() if (f, function) not in gone]
        lines += [line] if line[0] == "#" else [f"{function}: {' '.join(left)}"] if left else []
    (root / LIST).write_text("\n".join(lines) + "\n")


def recursions(calls, back):
    """The circles that remain without the calls in the list, each as a text, and the part of the list that closes none."""
    down = {c for c in calls if (c[0], c[2]) not in back}
    found = []
    for circle in circles(down):
        inside = sorted({f"{a} calls {f} of {b}" for a, b, f in down if a in circle and b in circle})
        found.append("\n    ".join([f"a circle: {' '.join(circle)}", *inside]))
    below = collections.defaultdict(set)
    for a, b, _ in down:
        below[a].add(b)

    def reaches(a, b):
        seen, todo = set(), [a]
        while todo:
            v = todo.pop()
            todo += below[v] - seen
            seen |= below[v]
        return b in seen

    return found, {(a, f) for a, f in back if not any(reaches(to, a) for x, to, g in calls if (x, g) == (a, f))}


def layouts(root):
    flags = "|".join(re.findall(r'"TK_FIELD_(\w+)"', (root / "compiler/ir/field_layout.def").read_text()))
    for names, (folder, known) in LAYOUT.items():
        for path in sorted(p for e in ("c", "h") for p in (root / folder).rglob(f"*.{e}")):
            name = path.relative_to(root).as_posix()
            if not any(fnmatch.fnmatch(name, k) for k in known):
                pattern = rf"\b(?:{names})\b".replace("LAYOUTS", flags)
                for found in sorted({m[0] for m in re.finditer(pattern, code(path))}):
                    yield f"{name} has {found}: only the layout module knows how a field's elements lie"


def main():
    root = Path(sys.argv[1]).resolve()
    compiler, runtime = Sources(root, "compiler", LAYERS), Sources(root, "runtime/src")
    faults = [f for s in (compiler, runtime) for f in s.crowded()] + list(compiler.upward()) + list(layouts(root))
    found, gone = recursions(compiler.calls() | runtime.calls(), listed(root))
    if "--update" in sys.argv:
        shrink(root, gone)
        gone = set()
    faults += found + [f"{LIST}: the call of {f} in {a} closes no circle" for a, f in sorted(gone)]
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
