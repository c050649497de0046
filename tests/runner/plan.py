"""A case as steps. Commands of tkc run at once; all further commands wait until it is clear that the case is not known.

The key of a case is the hash of all steps: what tkc said and wrote, each command with its tool's version, and the text of each file that a command reads.
"""
import dataclasses
import difflib
import functools
import re
import shlex
import signal
import threading
from pathlib import Path

import known
import process
from known import FILES, ROOT

TESTS = ROOT / "tests"


class Failure(Exception):
    """The case fails, and why."""


class Trapped(Failure):
    """A program ended by a trap of the undefined-behaviour sanitizer, which has no message."""


class Skip(Exception):
    """The case cannot run here, and why."""


@dataclasses.dataclass(frozen=True)
class Config:
    """How a part of the tests compiles."""
    name: str
    build: Path                   # the tree with tkc
    cc: str = "gcc"
    cxx: str = "g++"
    sanitize: bool = False        # generated code, checkers and hosts with address and undefined-behaviour sanitizers
    trap: bool = True             # undefined behaviour ends the program without a message, which is the quicker code
    short: bool = False           # the first of several flags, fewer sizes, -O1
    options: str = ""             # further options for generated code
    update: bool = False          # expected files are written
    stack: int = 0                # KiB of C's stack, where programs take more than usual

    @property
    def tkc(self):
        return self.build / "compiler" / "tkc"

    def untrapped(self):
        """The same, with the sanitizer's messages."""
        return dataclasses.replace(self, trap=False)

    @functools.cached_property
    def identity(self):
        return known.digest(known.runner(), FILES.of(ROOT / "runtime" / "include"), self.cc, self.cxx, self.sanitize, self.trap, self.short, self.options)


class Made:
    """Files that several cases take and that are made when the first of them runs."""

    def __init__(self, key, make):
        self.key, self.make, self.lock, self.files = key, make, threading.Lock(), None

    def get(self):
        with self.lock:
            if self.files is None:
                self.files = self.make()
        return self.files


def difference(expected, actual, name):
    return "\n".join(list(difflib.unified_diff(expected.splitlines(), actual.splitlines(), name, "actual", lineterm=""))[:60])


def died(ended, cmd):
    """Why a command that came to an end by itself has failed in any case; None if it has not."""
    if ended.stopped:
        return ended.stopped
    if ended.status < 0 or "Sanitizer" in ended.err or "runtime error:" in ended.err:
        return f"died (status {ended.status}): {shlex.join(cmd)}\n{ended.err[-3000:]}"
    return None


class Plan:
    """The steps of one case."""

    def __init__(self, config, folder):
        self.config, self.folder = config, folder
        self.parts, self.steps, self.seconds, self.took = [config.identity], [], 0.0, []
        self.folders = 0

    # ---- now ----

    def new_folder(self):
        self.folders += 1
        made = Path(self.folder, str(self.folders))
        made.mkdir()
        return made

    def note(self, *parts):
        """What decides the outcome, beside commands and files."""
        self.parts += parts

    def run(self, cmd, cwd=None, env=None, limit=process.LIMIT):
        """(status, output, messages) of a command."""
        cmd = [str(c) for c in cmd]
        larger = ["sh", "-c", f'ulimit -S -s {self.config.stack}; exec "$@"', "sh"] if self.config.stack else []
        ended = process.execute([*larger, *cmd], cwd, env, limit)
        self.seconds += ended.seconds
        self.took.append((Path(cmd[0]).name if Path(cmd[0]).suffix != ".exe" else "programs", ended.seconds))
        if ended.status in (-signal.SIGILL, -signal.SIGTRAP) and self.config.sanitize and self.config.trap:
            raise Trapped(f"a trap: {shlex.join(cmd)}")
        if why := died(ended, cmd):
            raise Failure(why)
        return ended.status, ended.out, ended.err

    def tkc(self, cmd, cwd):
        """Of tkc, with `cmd` behind its name."""
        said = self.run([self.config.tkc, *cmd], cwd=cwd)
        self.note("tkc", *map(self.named, cmd), said[0], *(s.replace(str(ROOT), "") for s in said[1:]))
        return said

    def compare(self, path, actual):
        expected = path.read_text(errors="replace") if path.exists() else ""
        if actual == expected:
            return
        if self.config.update:
            path.write_text(actual, errors="replace") if actual else path.unlink()
            return
        raise Failure(difference(expected, actual, str(path.relative_to(ROOT))))

    # ---- later ----

    def later(self, cmd, cwd=None, env=None, check=None, limit=process.LIMIT):
        """A command; `check` gets its status, output and messages, and without one it must end with status 0. An argument may be `Made`."""
        self.steps.append((cmd, cwd, env or {}, check or functools.partial(must, cmd), limit))
        self.note(*self.key_of(cmd), *sorted(f"{k}={v}" for k, v in (env or {}).items()))

    def expects(self, path):
        """An expected file, for a check."""
        self.note(FILES.of(path))

    def named(self, word):
        """A word of a command, as it is in another tree and another temporary folder."""
        return str(word).replace(self.folder, "TMP").replace(str(self.config.build), "BUILD").replace(str(ROOT), "ROOT")

    def key_of(self, cmd):
        words = [str(w) for w in cmd if not isinstance(w, Made)]
        folders = [Path(b if a == "-I" else b[2:]) for a, b in zip([""] + words, words) if a == "-I" or b.startswith("-I") and b != "-I"]
        for word in cmd:
            if isinstance(word, Made):
                yield word.key
                continue
            yield self.named(word)
            if str(word).endswith((".c", ".cpp", ".h", ".py")) and Path(word).is_file():
                yield from FILES.with_includes(Path(word), folders)
        if not words[0].startswith((self.folder, str(self.config.build), str(ROOT))):
            yield known.tool(words[0])

    def key(self):
        return known.digest(*self.parts)

    def carry_out(self):
        for cmd, cwd, env, check, limit in self.steps:
            words = [w for c in cmd for w in (c.get() if isinstance(c, Made) else [c])]
            check(*self.run(words, cwd, env, limit))


def must(cmd, status, out, err):
    """The check of a command without one of its own."""
    if status != 0:
        raise Failure(f"status {status}: {shlex.join(str(c) for c in cmd if not isinstance(c, Made))}\n{out[-2000:]}{err[-4000:]}")


def silent(status, out, err):
    """The check of a checker: it ends with status 0 and says nothing."""
    if status != 0 or out:
        raise Failure(out + err or f"status {status}")


# ---- directives of a test ----

DIRECTIVE = re.compile(rb"^(?://|#)\s*([a-z]+):[ \t]*(.*?)\s*$")


@functools.cache
def head(path):
    with open(path, "rb") as f:
        return [f.readline(4096) for _ in range(8)]


def all_directives(path, name):
    """The words of each `// name: words` among a file's first lines."""
    found = [DIRECTIVE.match(line) for line in head(path)]
    return [shlex.split(m[2].decode(errors="replace")) for m in found if m and m[1].decode() == name]


def directive(path, name):
    found = all_directives(path, name)
    return found[0] if found else []


def beside(tk):
    """The C file of that name, if there is one."""
    return [c for c in [tk.with_suffix(".c")] if c.exists()]
