"""The store of cases that passed: a case is not run again while all that decides its outcome is as it was.

A key is the hash of what decides the outcome. The store has a file for each key of a case that passed on this machine, in the user's cache folder. A tenth of the
known cases is run all the same, another tenth each time, so that a key that misses something is found.
"""
import datetime
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENTH = 10
DAYS = 60                # a key that no run met for so long is removed
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
SETTINGS = ("TKC_", "OMP_", "LD_", "GLIBC_", "MALLOC_", "ASAN_", "UBSAN_", "TSAN_")    # variables that change how programs run


def place():
    """The folder of the store: TKC_TESTS_STORE, or in the user's cache folder. None if that variable is empty."""
    named = os.environ.get("TKC_TESTS_STORE")
    if named is not None:
        return Path(named).absolute() if named else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tkc-tests"


def digest(*parts):
    h = hashlib.sha256()
    for p in parts:
        p = p if isinstance(p, bytes) else str(p).encode()
        h.update(len(p).to_bytes(8, "little") + p)
    return h.hexdigest()


class Files:
    """Hashes of files and folders of the tree, each read once in a run."""

    def __init__(self):
        self.hashes, self.texts, self.lock = {}, {}, threading.Lock()

    def of(self, path):
        """The hash of a file, or of all files below a folder with their names; of nothing, if there is no such path."""
        path = Path(path)
        key = str(path)
        with self.lock:
            if key in self.hashes:
                return self.hashes[key]
        if path.is_dir():
            below = sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
            found = digest(*(part for p in below for part in (p.relative_to(path), p.read_bytes())))
        else:
            found = digest(path.read_bytes()) if path.exists() else digest()
        with self.lock:
            self.hashes[key] = found
        return found

    def text(self, path):
        key = str(path)
        if key not in self.texts:
            self.texts[key] = Path(path).read_bytes()
        return self.texts[key]

    def with_includes(self, path, folders):
        """Contents of a C file and of all files that it includes by quotes, from its own folder and `folders`."""
        found, todo = {}, [Path(path)]
        while todo:
            at = todo.pop()
            if at in found:
                continue
            found[at] = self.text(at) if ROOT in at.parents else at.read_bytes()
            for name in INCLUDE.findall(found[at]):
                there = (folder / name.decode() for folder in (at.parent, *folders))
                todo += [p for p in there if p.is_file()][:1]
        return [part for p, text in sorted(found.items(), key=lambda item: (item[0].name, item[1])) for part in (p.name, text)]


FILES = Files()


@functools.cache
def tool(command):
    """What a program says of its version, and for a C compiler the C library that programs get from it; empty for a program that is not there."""
    words = shlex.split(command)
    try:
        found = [subprocess.run([*words, "--version"], stdin=subprocess.DEVNULL, capture_output=True).stdout]
        if re.search(r"gcc|g\+\+|clang|^c[c+]", Path(words[0]).name):
            for library in ("libc.so.6", "libm.so.6"):
                said = subprocess.run([*words, f"-print-file-name={library}"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.strip()
                found.append(FILES.of(said) if os.path.isabs(said) else said)
    except OSError:
        return ""
    return digest(*found)


@functools.cache
def processor():
    """Model and features of the processor, by which -march=native and the C library's functions go."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return os.uname().machine
    return digest(*sorted({line for line in lines if re.match(r"(model name|flags|Features|CPU (implementer|part|variant))\s*:", line)}))


@functools.cache
def runner():
    """The runner's own text, the settings of the user, and the machine."""
    tests = ROOT / "tests"
    own = [FILES.of(p) for p in sorted([*(tests / "runner").glob("*.py"), tests / "runtests.py"])]
    return digest(*own, processor(), *sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(SETTINGS)))


class Store:
    """Keys of cases that passed, in a folder. Without one, nothing is known."""

    def __init__(self, folder, afresh=False, rotate=True):
        self.folder, self.afresh, self.rotate = folder, afresh, rotate
        self.since = None                                  # when the first of the known cases passed
        self.turn = 0
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            self.turn = self.next_turn() if rotate else 0

    def next_turn(self):
        """The number of this run, which says which tenth is run though it is known."""
        path = self.folder / "turn"
        try:
            turn = (int(path.read_text()) + 1) % TENTH
        except (OSError, ValueError):
            turn = 0
        path.write_text(str(turn))
        return turn

    def path(self, key):
        return self.folder / key[:2] / key[2:]

    def knows(self, name, key):
        """Whether a case of that key passed before, and it is not its turn to run."""
        if not self.folder or self.afresh:
            return False
        path = self.path(key)
        try:
            when = path.stat().st_mtime
        except OSError:
            return False
        if self.rotate and int(digest(name)[:8], 16) % TENTH == self.turn:
            return False
        os.utime(path, (datetime.datetime.now().timestamp(), when))    # the time of access: the key is in use
        self.since = min(when, self.since or when)
        return True

    def add(self, name, key):
        if self.folder:
            path = self.path(key)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{name}\n")

    def prune(self):
        """Removes keys that no run met for long."""
        oldest = datetime.datetime.now().timestamp() - DAYS * 86400
        for path in self.folder.glob("??/*") if self.folder else ():
            if path.stat().st_atime < oldest:
                path.unlink(missing_ok=True)
        for path in (self.folder / "made").glob("*") if self.folder else ():
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path, ignore_errors=True)

    def date(self):
        return datetime.datetime.fromtimestamp(self.since).strftime("%Y-%m-%d %H:%M") if self.since else None
