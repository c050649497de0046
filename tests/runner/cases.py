"""All cases of a configuration, and which of them a word means."""
import dataclasses
import fnmatch
import sys
from pathlib import Path

import programs
import scripts
import texts
from known import ROOT
from plan import TESTS, Config, directive

sys.path.append(str(TESTS / "tools"))
import pages  # noqa: E402

PROGRAMS = {"run": programs.program, "ad": programs.derivatives, "algorithms": programs.algorithm, "export": programs.exports, "parallel": programs.threads}
TEXTS = {"syntax": texts.syntax, "check": texts.diagnostics, "rules": texts.diagnostics, "explain": texts.words, "plan": texts.plan}
SECONDS = {"run": 3, "ad": 3, "algorithms": 4, "export": 3, "parallel": 4, "race": 3, "driver": 3, "install": 8, "docs": 1}    # of a case, where nothing else is known


@dataclasses.dataclass
class Case:
    """A test: a kind is called with a plan and `what`."""
    name: str                     # run/types
    kind: object
    what: object
    config: Config
    keyed: bool                   # it is not run again while its key is known
    seconds: float = 0.1          # of processor time, roughly: the slow ones begin first
    then: object = None           # called behind a case that passed: gives further cases

    @property
    def label(self):
        return f"{self.config.name}: {self.name}"

    @property
    def group(self):
        return self.name.split("/")[0]


def tests_of(group, ending):
    return [p for p in sorted(TESTS.glob(f"{group}/*.{ending}")) if not directive(p, "helper")]


def slow(path, group):
    """Seconds of processor time that a case takes, by its line `slow: N`."""
    return float((directive(path, "slow") or [SECONDS.get(group, 0.1)])[0])


def all_cases(config):
    def case(name, kind, what, keyed=False, path=None):
        return Case(name, kind, what, config, keyed, slow(path or ROOT / "README.md", name.split("/")[0]))

    for group, kind in TEXTS.items():
        yield from (case(f"{group}/{tk.stem}", kind, tk) for tk in tests_of(group, "tk"))
    for group, kind in PROGRAMS.items():
        yield from (case(f"{group}/{tk.stem}", kind, tk, True, tk) for tk in tests_of(group, "tk"))
        yield from (case(f"ir_text/{group}-{tk.stem}", texts.ir_text, tk, True) for tk in tests_of(group, "tk"))
    if not config.sanitize:
        yield from (case(f"race/{tk.stem}", programs.race, tk) for tk in tests_of("parallel", "tk"))
    for kind, ending in ((texts.one_pass, "ir"), (texts.behind, "tk")):
        yield from (case(f"passes/{p.parent.name}/{p.stem}", kind, p) for p in tests_of("passes/*", ending))
    yield case("passes/table", texts.pass_table, TESTS / "passes" / "without.txt")
    yield case("ops/table", programs.operations, TESTS / "tools" / "opcheck.c", True)
    for group in ("driver", "install"):
        yield from (case(f"{group}/{sh.stem}", scripts.script, sh, scripts.has_inputs(sh), sh) for sh in tests_of(group, "sh") if group == "driver" or not config.sanitize)
    for page in pages.of(ROOT):
        yield from (case(f"docs/{pages.name(ROOT, page)}/{parts['name']}", scripts.snippet, parts, True) for parts in pages.snippets(page))


def unit_cases(config, keyed):
    return [Case(f"unit/{name}", scripts.unit, what, config, keyed, 3) for name, what in scripts.units(config.build).items()]


def same_bytes(config, other):
    """Cases that hold this configuration's tkc against another build's, on all programs."""
    samples = []
    for makefile in sorted((ROOT / "samples").glob("*/Makefile")):
        name = next((line.split("=")[1].strip() for line in makefile.read_text().splitlines() if line.startswith("NAME = ")), None)
        samples += [makefile.parent / f"{name}.tk"] if name else sorted(makefile.parent.glob("*.tk"))    # of samples that are one program, other files are parts
    programs_ = [*samples, *(tk for group in PROGRAMS for tk in sorted((TESTS / group).glob("*.tk"))), *sorted(TESTS.glob("bench/*/*.tk"))]
    return [Case(f"bytes/{tk.parent.name}-{tk.stem}", texts.same_bytes, (tk, other), config, True, 1) for tk in programs_]


def matches(name, word):
    """Whether whole components of a name are those of a word, one after the other: ad/ (a folder), run/types, driver/ir_*."""
    at, wanted = name.split("/")[:-1 if word.endswith("/") else None], word.rstrip("/").split("/")
    return any(all(fnmatch.fnmatchcase(a, w) for a, w in zip(at[i:], wanted)) for i in range(len(at) - len(wanted) + 1))


def chosen(cases, words, without=()):
    return [c for c in cases if (not words or any(matches(c.name, w) for w in words)) and not any(matches(c.name, w) for w in without)]
