#!/usr/bin/env python3
"""Holds prose against docs/inside/style.md: prose.py ROOT [--list FILE...] [--update]

Reads README.md, the pages below docs/, the comments of public headers, and the texts of messages and of --explain.
Headings, code blocks, code spans, quoted text and generated tables are skipped. A code span counts as one word. The
kinds of violation:

    sentence   a sentence has more than 25 words
    cell       a table cell has more than 15 words
    stand_in   a pronoun stands for a thing that has a name
    person     software acts like a person
    word       a banned word or phrase

tests/tools/prose_exceptions.txt has the number of violations per file and kind. A file with another number fails.
--update lowers numbers in that list, and never raises one. --list prints the violations of these files.

Subjects of commits since BASE have the form `area: Imperative verb and object`. Without a git history that has BASE they
are not checked.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

import pages

BASE = "c83f89bd"                                       # the first commit behind which all subjects keep the rule
SUBJECT = re.compile(r"[\w.*/+-]+(?:, [\w.*/+-]+)*: ([A-Z][a-z]+)(?: \S+)+(?<![.!])")
NO_VERB = re.compile(r"(?!(?:Bring|Embed|Exceed|Feed|Need|Proceed|Seed|Shed|Speed)$).*(?:ed|ing|[^s]s)$|An?$|The$|No$|New$|Some$|More$")
LIST = "tests/tools/prose_exceptions.txt"
SENTENCE, CELL = 25, 15
SHOWN = 10                                               # violations printed for a file and kind with too many
SOFTWARE = (r"(?:compiler|tkc|libtkc|library|runtime|checker|verifier|emitter|parser|scanner|printer|language|program|code|module|session|tape|scope|launch|kernel|function|"
            r"adjoint|primal|sweep|gradient|pass|analysis|loop|iteration|task|thread|operation|rule|test|script|runner|gcc|clang|header|macro|generator|simulation|sample)")
PHRASES = [    # (kind, pattern, advice); ^ is the beginning of a sentence
    ("stand_in", r"\b(?:that|those) of\b", "repeat the noun"),
    ("stand_in", r"\bthat (?:which|whose)\b|\bof which\b", "name the thing"),
    ("stand_in", r"\bones? (?:that|which|whose)\b", "repeat the noun"),
    ("stand_in", r"\bthose (?:that|who|which|with|without|whose|in|from|for)\b", "repeat the noun"),
    ("stand_in", r"^(?:What|Whatever|Which)\b(?!.*\?$)", "begin with the noun"),
    ("stand_in", r"\b(?:of|than|with|from|by|like|is|are|has|have) what\b(?! to\b)", "name the thing"),
    ("stand_in", r"\bthere is nothing else\b|\ball there is\b", "name the thing"),
    ("person", r"(?<!who )(?<!user )(?<!reader )(?<!caller )(?<!person )(?<!author )\b(?:asks|tells|knows|sees|wants|complains|remembers|forgets|believes|notices)\b", "say what the software does"),
    ("person", r"\b(?:is|are|was|were|be|been) (?:asked|told|looked at|looked for)\b", "say what the software does"),
    ("person", rf"\b{SOFTWARE}s? (?:looks?|ask|tell|know|see|want|complain|remember|forget|believe|notice)\b", "say what the software does"),
    ("person", r"\blooks (?:at|for|whether|itself|up|beside|into|behind)\b|\b(?:it|that|which|also|then) looks\b", "say: checks, reads, searches"),
    ("person", r"(?<!by )(?<!other )(?<!one )(?<!-)\bhand(?:s|ed|ing)? (?:\w+ ){0,2}(?:on|over|back|out|down)\b", "say: passes, returns"),
    ("person", r"\blooks? of\b|\bcares? (?:for|about|of)\b|\bminds?\b", "say what the software does"),
    ("word", r"\b(?:whoever|nobody|whosoever|no one)(?:'s)?\b", "name the person, or use the passive"),
    ("word", r"\bbe (?:they|it)\b|\bbe that as\b", "write: whether ... or ..."),
    ("word", r"\bfor want of\b", "write: without, because ... is missing"),
    ("word", r"\bof (?:its|their) own accord\b", "say what happens"),
    ("word", r"\bbut for\b|\bsave for\b|\ball but\b", "write: except"),
    ("word", r"\bwithout a word\b|\bin silence\b|\bwithout a sign\b", "write: without a message"),
    ("word", r"\bno \w+ (?:that|which|who) (?:is|are|has|have|does|do|can|could) (?:not|no)\b|\bnot? \w+ without (?:no|not)\b", "say what is"),
    ("word", r"\bnothing need\b", "write: you do not need to"),
    ("word", r"\bno more than\b|\bno less than\b|\bnothing else than\b|\bnone but\b|\bnothing but\b", "write: at most, only"),
    ("word", r"\bonce more\b|\banew\b", "write: again"),
]
PHRASES = [(kind, re.compile(pattern, re.I if not pattern.startswith("^") else 0), advice) for kind, pattern, advice in PHRASES]
ABBREVIATIONS = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|ca|approx|No)\.|\.\.\.)$")
ENDS = re.compile(r"[.!?][\"')\]]*(?=\s)")


class Text:
    """A paragraph, a list item, a cell, a comment or a message: pieces with the numbers of their lines."""
    def __init__(self, lines, cell=False):
        self.text, self.starts, self.cell = "", [], cell
        for n, line in lines:
            self.starts.append((len(self.text), n))
            self.text += line.strip() + " "

    def line(self, at):
        return max((start, n) for start, n in self.starts if start <= at)[1]

    def sentences(self):
        """(line, sentence) of each."""
        begin = 0
        for end in [m.end() for m in ENDS.finditer(self.text)] + [len(self.text)]:
            part = self.text[begin:end]
            if part.strip() and (end == len(self.text) or not ABBREVIATIONS.search(part)):
                yield self.line(begin + len(part) - len(part.lstrip())), part.strip()
                begin = end


def words(sentence):
    return sum(re.search(r"\w", w) is not None for w in sentence.split())


# ---- where texts are ----

def plain(line):
    """A line of Markdown without marks: a code span is the word CODE, a quotation the word QUOTE, a link its text."""
    line = re.sub(r"(`+)(.+?)\1", "CODE", line)
    line = re.sub(r"!\[[^]]*\]\([^)]*\)", "", line)
    for _ in range(2):
        line = re.sub(r"\[([^][]*)\]\([^()\s]*\)", r"\1", line)
    line = re.sub(r"<[^<>]*>|\*\*|(?<!\w)[*_]+|[*_]+(?!\w)", "", line)
    return re.sub(r'"[^"]*"', "QUOTE", line)


def of_page(path):
    """The texts of a page."""
    paragraph, skipped, fenced = [], False, False
    for n, line in [*enumerate(path.read_text().splitlines(), 1), (0, "")]:
        mark = line.lstrip().startswith("```")
        if re.match(r"<!-- \w+: written by ", line):
            skipped = True
        elif re.match(r"<!-- end of ", line):
            skipped = False
        ends = mark or fenced or skipped or not line.strip() or line.startswith(("#", "|", "<!--", "    ")) or re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if ends and paragraph:
            yield Text(paragraph)
            paragraph = []
        fenced ^= mark
        if fenced or mark or skipped or line.startswith(("#", "<!--", "    ")):
            continue
        if line.startswith("|"):
            row = re.sub(r"(`+)(.+?)\1", "CODE", line).replace(r"\|", "/")
            if not re.fullmatch(r"[|\s:-]+", row):
                yield from (Text([(n, plain(cell))], cell=True) for cell in row.strip().strip("|").split("|"))
        elif line.strip():
            paragraph.append((n, plain(re.sub(r"^\s*(?:[-*]|\d+\.|>) ", "", line))))


def of_header(path):
    """The texts of comments."""
    text = path.read_text()
    for m in re.finditer(r'/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"', text, re.S):
        comment = m[1] if m[1] is not None else m[2]
        if comment is None:
            continue
        paragraph, first = [], text.count("\n", 0, m.start()) + 1
        for n, line in [*enumerate(comment.splitlines(), first), (0, "")]:
            starred = re.match(r"\s*\*+(?= |$)", line)
            line = re.sub(r"^\s*\*+(?= |$)|^[*!<]+|\\$", "", line).rstrip()
            if not line.strip() or line.strip().startswith("----") or starred and line.startswith("     "):
                if paragraph:
                    yield Text(paragraph)
                paragraph = []
            else:
                if paragraph and re.match(r"\s*\S+ {2,}\S", line):    # a row of a table
                    yield Text(paragraph)
                    paragraph = []
                paragraph.append((n, plain(line)))


def string(text):
    return re.sub(r'%[-+0-9.]*l*[a-zA-Z]', "X", re.sub(r"\\(.)", r"\1", text))


def of_table(path):
    """The last string of each row of a .def file."""
    for n, line in enumerate(path.read_text().splitlines(), 1):
        if m := re.match(r'[A-Z_]+\(.*[ ,]"((?:\\.|[^"\\])+)"\)', line):
            yield Text([(n, re.sub(r"'[^']*'", "CODE", string(m[1])))])


def of_words(path):
    """The texts of --explain: a paragraph, or an item that begins with a dash. A list of writes and a formula are a word."""
    paragraph, first = "", 0
    for n, line in [*enumerate(path.read_text().splitlines(), 1), (0, "")]:
        if paragraph and (not line.startswith(" ") or line.lstrip().startswith("- ")):
            text = re.sub(r"[\w.]+ (?:\+?=|by an atomic) \(line [^)]*\)(?:,| and|(?=:))", "", paragraph)
            yield Text([(first, plain(re.sub(r"_WORKSPACE, .* bytes", "_WORKSPACE, FORMULA bytes", text)))])
            paragraph = ""
        if line.startswith(" "):
            first = first if paragraph else n
            paragraph += line.strip().removeprefix("- ") + " "


def files(root):
    """{file: its texts}"""
    found = {p: of_page for p in pages.of(root)}
    found |= {p: of_header for p in sorted((root / "runtime/include/tkc").glob("*.h"))}
    found |= {p: of_table for p in [root / "compiler/util/diag.def", *sorted((root / "compiler/ir/reasons").glob("*.def"))] if p.exists()}
    found |= {p: of_words for p in sorted((root / "tests/explain").glob("*.words"))}
    return {p.relative_to(root).as_posix(): of(p) for p, of in found.items()}


# ---- commits ----

def subjects(root):
    """(commit, subject) of each commit since BASE that is no merge; none without that history."""
    if not (root / ".git").exists():
        return []
    git = ["git", "-C", str(root)]
    if subprocess.run([*git, "merge-base", "--is-ancestor", BASE, "HEAD"], capture_output=True, check=False).returncode != 0:
        return []
    said = subprocess.run([*git, "log", "--no-merges", "--format=%h %s", f"{BASE}..HEAD"], capture_output=True, text=True, check=True)
    return [line.split(" ", 1) for line in said.stdout.splitlines()]


def wrong_subjects(commits):
    for commit, subject in commits:
        m = SUBJECT.fullmatch(subject)
        if not m or NO_VERB.match(m[1]):
            yield f"commit {commit}: '{subject}' has not the form 'area: Imperative verb and object' of docs/inside/style.md"


# ---- violations ----

def violations(texts):
    """(kind, line, what is wrong) of each."""
    for text in texts:
        if text.cell and words(text.text) > CELL:
            yield "cell", text.line(0), f"{words(text.text)} words: {text.text.strip()}"
        for n, sentence in text.sentences():
            if not text.cell and words(sentence) > SENTENCE:
                yield "sentence", n, f"{words(sentence)} words: {sentence}"
            met = []
            for kind, pattern, advice in PHRASES:
                for m in pattern.finditer(sentence):
                    if not any(m.start() < end and begin < m.end() for begin, end in met):
                        met.append(m.span())
                        yield kind, n, f"'{m[0]}' ({advice}): {sentence}"


def counted(root):
    """{file: {kind: [(line, what)]}}"""
    found = {}
    for file, texts in files(root).items():
        for kind, n, what in violations(texts):
            found.setdefault(file, {}).setdefault(kind, []).append((n, what))
    return found


def listed(root):
    """The exceptions: {file: {kind: number}}"""
    known, file = {}, None
    for line in (root / LIST).read_text().splitlines():
        if line.startswith("    "):
            kind, number = line.split()
            known[file][kind] = int(number)
        elif line and line[0] != "#":
            file = line
            known[file] = {}
    return known


def write(root, known):
    head = [line for line in (root / LIST).read_text().splitlines() if line.startswith("#")]
    lines = [line for file in sorted(known) if any(known[file].values())
             for line in (file, *(f"    {kind} {number}" for kind, number in sorted(known[file].items()) if number))]
    (root / LIST).write_text("\n".join(head + lines) + "\n")


def faults(found, known):
    for file in sorted({*found, *known}):
        for kind in sorted({*found.get(file, {}), *known.get(file, {})}):
            here, allowed = found.get(file, {}).get(kind, []), known.get(file, {}).get(kind, 0)
            if len(here) > allowed:
                yield f"{file}: {len(here)} of kind {kind}, and {allowed} in {LIST}; docs/inside/style.md has the rules"
                yield from (f"{file}:{n}: {kind}: {what}" for n, what in here[:SHOWN])
                if len(here) > SHOWN:
                    yield f"tests/tools/prose.py . --list {file} prints all of them"
            elif len(here) < allowed:
                yield f"{file}: {len(here)} of kind {kind}, and {allowed} in {LIST}; tests/tools/prose.py . --update lowers the number"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("root", type=Path)
    ap.add_argument("--list", nargs="+", metavar="FILE", help="print the violations of these files")
    ap.add_argument("--update", action="store_true", help="lower the numbers of the list")
    args = ap.parse_args()
    root = args.root.resolve()
    found = counted(root)
    if args.list:
        for file in args.list:
            lines = sorted((n, kind, what) for kind, here in found.get(file, {}).items() for n, what in here)
            print("".join(f"{file}:{n}: {kind}: {what}\n" for n, kind, what in lines), end="")
        return 0
    known = listed(root)
    if args.update:
        known = {file: {kind: min(number, len(found.get(file, {}).get(kind, []))) for kind, number in kinds.items()} for file, kinds in known.items()}
        write(root, known)
    said = [*faults(found, known), *wrong_subjects(subjects(root))]
    print("\n".join(said), end="\n" if said else "")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
