#!/usr/bin/env python3
"""Makes a failing program small: reduce.py --build DIR PROGRAM.tk > SMALLER.tk

Takes away blocks, lines and parts of expressions as long as the program is accepted and adcheck (or the C compiler, or tkc) still complains in the same words.
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

from externs import EXTERN
from run import GENERATED, ROOT, SOURCES, WARN, run
from stub import read_kernels, stub


class Reducer:
    def __init__(self, args, tmp):
        self.tkc = Path(args.build).resolve() / "compiler" / "tkc"
        self.tmp, self.chunk, self.threads, self.flags = Path(tmp), args.chunk, args.threads, args.flags.split()
        include = ["-I", ROOT / "runtime" / "include", "-I", ROOT / "tests" / "tools"]
        self.include = include
        self.objects = []
        for s in SOURCES:
            o = self.tmp / f"lib_{s.parent.name}_{s.stem}.o"
            status, _, err = run([args.cc, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-pthread", f"-DTK_MIN_CHUNK={args.chunk}", "-DTK_MIN_PARALLEL=1", "-DTK_ATOMIC_CYCLES=0",
                                  '-DTK_VERSION="test"', *include, "-I", ROOT / "runtime" / "src", "-c", s, "-o", o])
            if status:
                sys.exit(err)
            self.objects.append(o)
        self.cc, self.out = args.cc, args.out
        # a shared library: linking is half of a step
        status, _, err = run([args.cc, "-shared", *self.objects, "-pthread", "-lm", "-Wl,-z,nodelete", "-o", self.tmp / "libcheck.so"])
        if not status:
            self.objects = [self.tmp / "libcheck.so"]

    def complaint(self, text):
        """The kind of complaint; None if there is none, or if the program is not a legal one."""
        t = self.tmp
        (t / "rnd.tk").write_text(text)
        status, _, err = run([self.tkc, "rnd.tk", *self.options, "-o", "rnd.c"], cwd=t)
        if status == 1:
            return None
        if status:
            return "tkc " + (re.search(r"[\w./]+\.c:\d+", err) or [str(status)])[0]
        program = type("P", (), {"kernels": read_kernels(text)})()
        (t / "stub.c").write_text(stub("rnd", [program], (t / "rnd.h").read_text()) + EXTERN.replace("NAME", "rnd"))
        status, _, err = run([self.cc, "-std=c11", *self.flags, *WARN, *GENERATED, *self.include, "-c", "rnd.c", "-o", "rnd.o"], cwd=t)
        if status or err:
            return "cc " + (re.search(r"(\[-W[\w-]*\]|error: [\w ]+)", err) or ["?"])[0]
        status, _, err = run([self.cc, "-std=gnu11", *self.flags, *self.include, "stub.c", "rnd.o", *self.objects, "-pthread", "-lm", "-o", "check"], cwd=t)
        if status:
            return None
        status, out, err = run([t / "check", "--table", "0", str(self.threads), "-1.2", "1.2"], cwd=t)
        if status not in (0, 1):
            return f"died {status}"
        words = {m[1] for m in re.finditer(r"^\w+: ([A-Za-z ,-]+):", out, re.M)}
        return (sorted(words)[0] + (" NaN" if "nan" in out.lower() else "")) if words else None

    def reduce(self, text):
        self.options = re.match(r"// flags: (.*)", text)[1].split()
        self.want = self.complaint(text)
        if not self.want:
            sys.exit("nothing to complain about")
        print(f"# {self.want}", file=sys.stderr)
        while True:
            before = text
            text = self.blocks(text)
            text = self.expressions(text)
            if text == before:
                return text

    def same(self, text):
        if self.complaint(text) != self.want:
            return False
        if self.out:
            Path(self.out).write_text(text)
        return True

    def blocks(self, text):
        lines = text.splitlines()
        size = max(1, len(lines) // 2)
        while size >= 1:
            i = 0
            while i < len(lines):
                part = lines[i:i + size]
                depth = sum(s.count("{") - s.count("}") for s in part)
                if depth == 0 and any(part):
                    new = lines[:i] + lines[i + size:]
                    if self.same("\n".join(new) + "\n"):
                        lines = new
                        continue
                i += 1
            size = size // 2 if size > 1 else 0
        for i in range(len(lines)):    # blocks of lines and their wrappings
            if i < len(lines) and lines[i].rstrip().endswith("{"):
                j, depth = i, 0
                while j < len(lines):
                    depth += lines[j].count("{") - lines[j].count("}")
                    if j > i and lines[j].lstrip().startswith("}") and depth + lines[j].count("{") <= 0:
                        break
                    j += 1
                for new in (lines[:i] + lines[j + 1:], lines[:i] + lines[i + 1:j] + lines[j + 1:]):
                    if self.same("\n".join(new) + "\n"):
                        lines = new
                        break
        return "\n".join(lines) + "\n"

    def expressions(self, text):
        i = 0
        while i < len(text):
            if text[i] not in "([" or text[:i].rstrip().endswith(("func", "kernel")):
                i += 1
                continue
            depth, j = 0, i
            while j < len(text):
                depth += (text[j] in "([") - (text[j] in ")]")
                if depth == 0:
                    break
                j += 1
            inner = text[i + 1:j]
            parts, depth, last = [], 0, 0
            for k, ch in enumerate(inner):
                depth += (ch in "([") - (ch in ")]")
                if depth == 0 and (ch == "," or inner[k:k + 3] in (" + ", " * ", " - ", " / ", " @ ", " ? ", " : ", " % ", " < ", " > ") or inner[k:k + 4] in (" && ", " || ", " ** ")):
                    parts.append(inner[last:k].strip())
                    last = k + (1 if ch == "," else 4 if inner[k + 3:k + 4] == " " and inner[k + 2] in "&|*" else 3)
            parts.append(inner[last:].strip())
            start = i
            while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_."):
                start -= 1
            tries = []
            for p in [*parts, "0.5", "1", "i32(1)"]:
                tries.append((start, p))
                if start != i:
                    tries.append((i, f"({p})" if text[i] == "(" else f"[{p}]"))
            for at, p in tries:
                new = text[:at] + p + text[j + 1:]
                if len(new) < len(text) and self.same(new):
                    text = new
                    i = at - 1
                    break
            i += 1
        return text


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("--cc", default="clang")
    ap.add_argument("--flags", default="-O0")
    ap.add_argument("--chunk", type=int, default=1)
    ap.add_argument("--threads", type=int, default=3)
    ap.add_argument("--out", help="file for the smallest so far")
    ap.add_argument("program")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        print(Reducer(args, tmp).reduce(Path(args.program).read_text()), end="")


if __name__ == "__main__":
    main()
