#!/usr/bin/env python3
"""What pages show of a module's way through the compiler, against what tkc prints: dumps.py ROOT TKC [--update]

A block behind `<!-- dump: NAME OPTION... -->` is what `tkc OPTION... NAME.tk` prints; NAME is a module of the same page, `<!-- test: NAME -->`. Behind a bar stands which
part of that is shown, `<!-- dump: NAME OPTION... | TEXT | TEXT > TEXT -->`: the first line that has TEXT, or the first one with the last TEXT behind those with the others;
where it opens a block, all of it. Dots stand between parts that are not neighbours. With --update, the pages' blocks are written anew.
"""
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pages

BEGINS = re.compile(r"^<!-- dump: ", re.M)
MARK = re.compile(r"^<!-- dump: (\w+)((?: -\S+)+)((?: \| .+?)?) -->\n+(```\w+\n)(.*?)^```$", re.S | re.M)


class Fault(Exception):
    pass


def indent(line):
    return len(line) - len(line.lstrip())


def part(lines, text):
    """First and last line of what TEXT, or TEXT > TEXT, names."""
    first = -1
    for step in text.split(" > "):
        first = next((k for k, line in enumerate(lines) if k > first and step in line), None)
        if first is None:
            raise Fault(f"nothing has '{step}', of '{text}'")
    code = re.sub(r"\s+(/\*.*\*/|@\d+:\d+)$", "", lines[first])
    if not code.endswith("{") and lines[first + 1:first + 2] != ["{"]:
        return first, first
    return first, next(k for k, line in enumerate(lines) if k > first and line.strip() == "}" and indent(line) == indent(lines[first]))


def excerpt(printed, texts):
    lines = printed.splitlines()
    spans = [part(lines, t) for t in texts] or [(0, len(lines) - 1)]
    less = min(indent(line) for first, last in spans for line in lines[first:last + 1] if line)
    shown = []
    for k, (first, last) in enumerate(spans):
        if k and first != spans[k - 1][1] + 1:
            shown.append("...")
        shown += [line[less:] for line in lines[first:last + 1]]
    return "\n".join(shown) + "\n"


class Printer:
    def __init__(self, tkc):
        self.tkc = tkc
        self.known = {}

    def run(self, name, source, options):
        """What tkc prints of the module, on both streams."""
        if (name, source, *options) not in self.known:
            with tempfile.TemporaryDirectory() as tmp:
                Path(tmp, f"{name}.tk").write_text(source)
                done = subprocess.run([self.tkc, *options, f"{name}.tk"], cwd=tmp, capture_output=True, text=True)
            if done.returncode:
                raise Fault(done.stderr)
            self.known[name, source, *options] = done.stdout + done.stderr
        return self.known[name, source, *options]


def shown(page, printer):
    """The text of the page with the dumps as they are now."""
    text, modules = page.read_text(), {p["name"]: p["tk"] for p in pages.snippets(page) if "tk" in p}
    if len(MARK.findall(text)) != len(BEGINS.findall(text)):
        raise Fault("a mark that cannot be read, or has no block behind it")

    def one(m):
        if m[1] not in modules:
            raise Fault(f"the page has no module '{m[1]}'")
        now = excerpt(printer.run(m[1], modules[m[1]], m[2].split()), m[3].split(" | ")[1:])
        return text[m.start():m.start(5)] + now + "```"
    return MARK.sub(one, text)


def main():
    root, tkc = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    printer, bad, dumps = Printer(tkc), 0, 0
    for page in pages.of(root):
        old = page.read_text()
        dumps += len(BEGINS.findall(old))
        try:
            new = shown(page, printer)
        except Fault as fault:
            new, bad = old, bad + 1
            print(f"{page.relative_to(root)}: {fault}")
        if new != old and "--update" in sys.argv:
            page.write_text(new)
        elif new != old:
            bad += 1
            print("\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), str(page.relative_to(root)), "what tkc prints", lineterm="")))
            print("tests/tools/dumps.py . TKC --update writes the pages' dumps anew")
    if not dumps:
        sys.exit("no page has a dump")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
