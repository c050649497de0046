#!/usr/bin/env python3
"""Holds tests/sentences.txt against docs/language.md, the pages of docs/language/, and the tests: sentences.py ROOT [--missing]

Each sentence of a page, and each row of its tables, has a line `HASH its beginning  |  test  |  test...` below `# PAGE: HEADING` of where it stands. HASH is of its
words: a sentence that is written anew is held by nothing until somebody has looked which test does. A test is `run/types: PATTERN`, where a file of that test has
what the pattern matches, or `none: why` for a sentence that claims nothing. What stands on the page of diagnostics is held by tests/driver/every_code.sh.
With --missing, prints the lines that are to be filled in, below their headings.
"""
import hashlib
import re
import sys
from pathlib import Path

import constructs
import pages
import runtests

WORDS = 8                                                # of the beginning
ENDINGS = {"model": [".py"], "driver": [".sh"], "install": [".sh"], "unit": [".c"], "random": [".py"]}
PAIR = [".tk", ".c", ".cpp", ".diag", ".ast", ".tokens", ".ir", ".out", ".explain"]
END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[)\"']?\s+(?=[A-Z`*(\[0-9])")


def blocks_of(page):
    """Each (heading, text) of a page: paragraphs, list items and rows, without code and comments."""
    heading, fenced, row, lines = None, False, 0, []

    def ended():
        text = " ".join(lines)
        lines.clear()
        return [(heading, text)] if text else []

    for line in page.read_text().splitlines() + [""]:
        row = row + 1 if line.startswith("|") else 0
        if line.startswith("```"):
            fenced = not fenced
        if fenced or heading in constructs.ELSEWHERE and not line.startswith("#"):
            continue
        if not line.strip() or line.startswith(("#", "|", "<!--", "```", "    ")):
            yield from ended()
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif row > 2:
            yield heading, line
        elif line.strip() and row == 0 and not line.startswith(("<!--", "```", "    ")):
            if line.startswith("- "):
                yield from ended()
            lines.append(line.removeprefix("- ").strip())


def sentences_of(page):
    """Each (heading, hash, beginning) of a page."""
    for heading, text in blocks_of(page):
        whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)    # what is code ends no sentence
        for sentence in [whole] if text.startswith("|") else END.split(whole):
            said = " ".join(constructs.plain(sentence.replace("\0", " ")).replace("**", "").split())
            words = said.strip("| ").split()
            yield heading, hashlib.sha256(said.encode()).hexdigest()[:6], " ".join(words[:WORDS]).replace("|", "/")


class Map(constructs.Map):
    def text_of(self, name):
        """All text of a test; None if there is no such test."""
        kind, _, rest = name.partition("/")
        if kind == "docs":
            page, _, block = rest.rpartition("/")
            path = pages.named(self.root, page)
            parts = [p for p in runtests.snippets(path) if p["name"] == block] if path.exists() else []
            return "\n".join(v for p in parts for v in p.values() if isinstance(v, str)) or None
        if name == "ops/table":
            return super().text_of(name)
        files = [Path(f"{self.tests / kind / rest}{e}") for e in ENDINGS.get(kind, PAIR)]
        texts = [f.read_text(errors="replace") for f in files if f.exists()]
        return "\n".join(texts) if texts else None

    def cells(self, where, cells):
        for cell in cells:
            name, _, pattern = cell.partition(": ")
            if not pattern:
                self.faults.append(f"{where}: {name} without what it has to have")
            elif name != "none":
                text = self.text_of(name)
                if text is None:
                    self.faults.append(f"{where}: there is no test {name}")
                elif not re.search(pattern, text, re.M):
                    self.faults.append(f"{where}: {name} has nothing like {pattern}")

    def read(self, path):
        """{heading: {hashes}}"""
        found, heading = {}, None
        for n, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            if line.startswith("# "):
                heading = line[2:]
                found[heading] = set()
            elif line and not line.startswith("//"):
                sentence, *cells = re.split(r"\s{2,}\|\s+", line.strip())
                found.setdefault(heading, set()).add(sentence.split()[0])
                if not cells:
                    self.faults.append(f"{path.name}:{n}: {sentence}: no test")
                self.cells(f"{path.name}:{n}: {sentence}", cells)
        return found

    def missing(self):
        """Lines of sentences that the list does not have; faults of lines that no page has."""
        found = self.read(self.tests / "sentences.txt")
        at, lines, seen = None, [], {heading: set() for heading in found}
        for page in pages.of_language(self.root):
            for heading, mark, beginning in sentences_of(page):
                heading = f"{pages.name(self.root, page)}: {heading}"
                seen.setdefault(heading, set()).add(mark)
                if mark in found.get(heading, set()):
                    continue
                if heading != at:
                    lines.append(f"# {heading}")
                    at = heading
                lines.append(f"{mark} {beginning}")
        self.faults += [f"sentences.txt, {heading}: no sentence has the mark {mark}" for heading in found for mark in sorted(found[heading] - seen[heading])]
        return lines


if __name__ == "__main__":
    the_map = Map(Path(sys.argv[1]).resolve())
    lines = the_map.missing()
    if sys.argv[2:] == ["--missing"]:
        print("\n".join(lines))
        sys.exit(0)
    faults = the_map.faults + [f"language: nothing holds '{line}'" for line in lines if not line.startswith("# ")]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(len(faults) > 0)
