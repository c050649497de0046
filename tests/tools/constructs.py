#!/usr/bin/env python3
"""Holds tests/constructs.txt against docs/language.md, the pages of docs/language/, and the tests: constructs.py ROOT [--tests]

With --tests, prints few tests that run the generated C of each construct: those of derivatives that stand for many, and of the rest what covers most.

Each construct of a page has a line `construct  |  pattern  |  value  |  derivatives  |  misuse` below `# PAGE: HEADING` of where it stands. The last three
name a test, `run/types`, whose text matches the pattern, or one of its own, `run/types: PATTERN`; or `none: why`. A page's constructs are, below each of
its headings: first cells of tables, or the names in the second ones where these are not code; paragraphs and list items, by their beginning, if they have one in bold.
"""
import collections
import re
import sys
from pathlib import Path

import pages

COLUMNS = ("value", "derivatives", "misuse")
ELSEWHERE = ("Diagnostics", "If you come from C or Python", "The pages")  # every_code.sh and habits.sh of tests/driver; links
BY_NAME = "Built-in functions"                           # where each name of a row is a construct
WORDS = ("Types", "Items", "Attributes")                               # where it may be
MANY = 10                                                # lines that a test stands for


def plain(text):
    """Text of a page without the marks of code and links."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text.replace("\\|", "|")).replace("`", "").strip()


def constructs_of(page):
    """Each (heading, name, names) of a page: the name has a line, or all of the names have."""
    heading, fenced, row = None, False, 0
    for line in page.read_text().splitlines():
        row = row + 1 if line.startswith("|") else 0
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or heading in ELSEWHERE and not line.startswith("#"):
            continue
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        elif row > 2:                                    # behind the head and the line below it
            first, second = re.split(r"(?<!\\)\|", line)[1:3]
            by_name = heading == BY_NAME and "`" not in first
            code = " ".join(re.findall(r"`([^`]+)`", second if by_name else first))
            yield heading, None if by_name else plain(first), re.findall(r"[a-z]\w+(?:\([^)]*\))?", code) if by_name or heading in WORDS else []
        elif line.startswith("- "):
            yield heading, plain(re.match(r"- ((?:`[^`]*`|[^`,.:;(])*)", line)[1]), []
        elif line.startswith("**"):
            yield heading, plain(re.match(r"\*\*(.*?)\*\*", line)[1]).rstrip("."), []


class Map:
    def __init__(self, root):
        self.root = root
        self.tests = root / "tests"
        self.pages = {}
        self.faults = []
        self.run = []                                    # of each line, the tests of derivatives and value that run generated C

    def text_of(self, name):
        """The text of a test, None if there is no such test."""
        kind, _, rest = name.partition("/")
        if name == "ops/table":
            return (self.root / "compiler" / "ir" / "ops.def").read_text()
        if kind == "docs":
            page, _, block = rest.rpartition("/")
            if page not in self.pages:
                path = pages.named(self.root, page)
                self.pages[page] = {p["name"]: p.get("tk", "") for p in pages.snippets(path)} if path.exists() else {}
            return self.pages[page].get(block)
        path = self.tests / kind / f"{rest}{ {'unit': '.c', 'driver': '.sh', 'install': '.sh'}.get(kind, '.tk')}"
        return path.read_text(errors="replace") if path.exists() else None

    def refused(self, name, pattern, text):
        """Whether a line that matches has a diagnostic."""
        diag = self.tests / f"{name}.diag"
        if not diag.exists():
            return re.search(pattern, text) is not None
        at = {int(n) for n in re.findall(r"^\S+?:(\d+):\d+: (?:error|warning): ", diag.read_text(errors="replace"), re.M)}
        return any(n in at and re.search(pattern, line) for n, line in enumerate(text.split("\n"), 1))

    def cell(self, where, column, default, cell):
        name, _, own = cell.partition(": ")
        if name == "none":
            if not own or column == "value":
                self.faults.append(f"{where}: no test of its {column}")
            return
        pattern, text = own or default, self.text_of(name)
        if text is None:
            self.faults.append(f"{where}: there is no test {name}")
        elif not (self.refused(name, pattern, text) if column == "misuse" else re.search(pattern, text, re.M)):
            self.faults.append(f"{where}: {name} has nothing like {pattern}")
        elif column == "derivatives" and name.split("/")[0] in ("ad", "parallel", "run") and not re.search(r"--real=f64|\bf64\b", text):
            self.faults.append(f"{where}: {name} is not in f64")
        elif column == "value" and name.startswith("run/") and not any((self.tests / f"{name}{e}").exists() for e in (".c", ".cpp")):
            self.faults.append(f"{where}: {name} has no host")

    def read(self, path):
        """{heading: {constructs}}"""
        found, heading = {}, None
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("# "):
                heading = line[2:]
                found[heading] = set()
            elif line and not line.startswith("//"):
                cells = re.split(r"\s{2,}\|\s+", line.strip())
                if len(cells) != 5:
                    self.faults.append(f"{path.name}:{n}: {len(cells)} columns, not 5")
                    continue
                found[heading].add(cells[0])
                self.run.append([t for t in (c.partition(": ")[0] for c in (cells[3], cells[2])) if t.split("/")[0] in ("ad", "export", "ops", "run")])
                for column, cell in zip(COLUMNS, cells[2:]):
                    self.cell(f"{path.name}:{n}: {cells[0]}", column, cells[1], cell)
        return found

    def few_tests(self):
        """Few tests that run the generated C of each construct."""
        derivatives = collections.Counter(line[0] for line in self.run if line)
        chosen = [t for t, n in derivatives.items() if n >= MANY and not t.startswith("run/")]
        left = [line for line in self.run if line and not set(line) & set(chosen)]
        while left:
            chosen.append(collections.Counter(t for line in left for t in reversed(line)).most_common(1)[0][0])
            left = [line for line in left if chosen[-1] not in line]
        return chosen

    def check(self):
        found, headings = self.read(self.tests / "constructs.txt"), []
        for page in pages.of_language(self.root):
            at, text = pages.name(self.root, page), page.read_text()
            headings += [f"{at}: {heading}" for heading in re.findall(r"^#+ (.*)$", text, re.M)]
            for heading in re.findall(r"^##+ (.*)$", text, re.M):
                if heading not in ELSEWHERE and not found.get(f"{at}: {heading}"):
                    self.faults.append(f"{at}: nothing tests '{heading}'")
            for heading, name, words in constructs_of(page):
                known = found.get(f"{at}: {heading}", set())
                if name not in known:
                    self.faults += [f"{at}: {heading}: nothing tests '{w}'" for w in words or [name] if w not in known]
        return self.faults + [f"constructs.txt: there is no '{heading}'" for heading in found if heading not in headings]


if __name__ == "__main__":
    the_map = Map(Path(sys.argv[1]).resolve())
    faults = the_map.check()
    said = the_map.few_tests() if sys.argv[2:] == ["--tests"] else faults
    print("\n".join(said), end="\n" if said else "")
    sys.exit(len(faults) > 0)
