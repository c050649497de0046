#!/usr/bin/env python3
"""The layers of the compiler: who includes and calls whom. layers.py ROOT

Each folder stands on those above it in the list and on nothing else; folders of one line know nothing of each other. Files that call each other in a circle are
one module, which stands in MODULES with what it is. How the elements of a field lie is known to one module of the
compiler and one file of libtkc (LAYOUT): others ask these, and for no layout by its name. Prints each edge that goes up,
each circle and each such name; status 1 if there are any.
"""
import collections
import fnmatch
import re
import sys
from pathlib import Path

LAYERS = [["util"], ["syntax"], ["files"], ["ir"], ["ir/text"], ["check/base"], ["check"], ["lower"], ["passes/analysis"], ["passes/simplify"], ["passes/rules", "passes/derive", "passes/schedule"],
          ["passes"], ["codegen"], ["emit"], ["host"], ["python", "explain"], ["lsp"], ["driver"]]
INSIDE = {"check/place": "check", "check/types": "check", "passes/analysis/overlap": "passes/analysis", "passes/derive/algebra": "passes/derive", "passes/derive/parts": "passes/derive", "passes/derive/reverse": "passes/derive", "passes/schedule/gather": "passes/schedule"}      # folders that are a part of one
MOST = 20                                                # files in a folder
MODULES = {                                              # each a recursion over a tree that is too long for one file
    "the parser's errors": ["syntax/feed.c", "syntax/message.c"],
    "the checker": ["check/*"],
    "lowering": ["lower/*"],
    "forward mode": ["passes/derive/forward*"],
    "reverse mode": ["passes/derive/reverse/*"],
    "subscripts of gathers": ["passes/schedule/gather/gather_steps.c", "passes/schedule/gather/gather_choice.c"],
    "the emitter": ["emit/*"],
}
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
    def __init__(self, root):
        self.root = root / "compiler"
        self.files = sorted(p for e in ("c", "h") for p in self.root.rglob(f"*.{e}"))
        self.text = {p: code(p) for p in self.files}
        self.rank = {folder: k for k, line in enumerate(LAYERS) for folder in line}
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
            if from_ == to or self.rank.get(to, -1) < self.rank.get(from_, len(LAYERS)):
                continue
            yield f"{a.relative_to(self.root)} {how}: {to} is not below {from_}"

    def circles(self):
        """Strongly connected files, by Tarjan's algorithm."""
        graph = collections.defaultdict(set)
        for a, b, how in self.edges():
            if how.startswith("uses"):
                graph[a].add(b)
        index, low, stack, found = {}, {}, [], []

        def visit(v):
            index[v] = low[v] = len(index)
            stack.append(v)
            for w in graph[v]:
                if w not in index:
                    visit(w)
                    low[v] = min(low[v], low[w])
                elif w in stack:
                    low[v] = min(low[v], index[w])
            if low[v] == index[v]:
                one = stack[stack.index(v):]
                del stack[len(stack) - len(one):]
                if len(one) > 1:
                    found.append(sorted(p.relative_to(self.root).as_posix() for p in one))

        for p in self.files:
            if p not in index:
                visit(p)
        return found

    def crowded(self):
        for folder, n in collections.Counter(p.parent for p in self.files).items():
            if n > MOST:
                yield f"{folder.relative_to(self.root)}: {n} files"


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
    s = Sources(root)
    faults = list(s.upward()) + list(s.crowded()) + list(layouts(root))
    for circle in s.circles():
        if not any(all(any(fnmatch.fnmatch(f, pattern) for pattern in files) for f in circle) for files in MODULES.values()):
            faults.append(f"a circle: {' '.join(circle)}")
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
