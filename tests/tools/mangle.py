#!/usr/bin/env python3
"""Broken programs: good ones with tokens, lines and bytes removed, doubled, swapped and replaced.

    mangle.py --tkc TKC [--cc CC] [--count N] [--seed N] FILE...

Each is refused with status 1, an error with a code at a line and column of the file, and no output file; or accepted, and then its C compiles (with --cc).
Never a crash, a hang or a sanitizer's report. A program that breaks this is printed with its number, seed and output.
"""
import argparse
import concurrent.futures
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOKEN = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*|\s+|//[^\n]*|[-+*/<>=!&|]=|\*\*|&&|\|\||.", re.S)
ODD = [b"0", b"-1", b"1e400", b"1e-400", b"99999999999999999999", b"9223372036854775807", b"2147483648", b"0.0", b"1/0", b"nan", b"\0", b"\xff\xfe", b"\xe2\x82",
       b"\xef\xbb\xbf", b"\r", b"\t", b"\\", b"\"", b"'", b"/*", b"*/", b"//", b"///", b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b"..", b"@", b"#", b"$",
       b"**", b"?", b":", b"->", b"x.grad", b"U", b"real", b"vec3", b"mat(20, 20, real)", b"bool", b"i8", b"u64", b"f64", b"break;", b"continue;", b"return;",
       b"while true {", b"for i in x {", b"serial for", b"static for", b"needs_grad", b"saved", b"stop_grad(x)", b"grouped(x)", b"ndrange(3, 3)", b"kernel", b"func"]
PLACE = re.compile(r"^g\.tk:(\d+):(\d+): error: .*\[E\d{4}\]$", re.M)
SECONDS = 60                              # of processor time; more is a hang
STRICT = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror -fsyntax-only".split()


def mangle(rnd, sources):
    """One to three faults, of one kind each, in one of the programs."""
    text = rnd.choice(sources)
    for _ in range(rnd.choice([1, 1, 1, 2, 3])):
        kind = rnd.randrange(10)
        if kind == 0:
            text = text[:rnd.randrange(len(text) + 1)]
        elif kind == 1:
            lines = text.splitlines(True)
            if lines:
                i, j = rnd.randrange(len(lines)), rnd.randrange(len(lines))
                lines[i:i + 1] = rnd.choice([[], [lines[i]] * 2, [lines[j]], [lines[i], lines[j]]])
            text = b"".join(lines)
        elif kind == 2:
            at = rnd.randrange(len(text) + 1)
            text = text[:at] + bytes([rnd.randrange(256)]) + text[at + rnd.randrange(2):]
        else:
            tokens = TOKEN.findall(text)
            if not tokens:
                continue
            words = [i for i, t in enumerate(tokens) if not t.isspace()] or [0]
            i, j = rnd.choice(words), rnd.choice(words)
            tokens[i:i + 1] = [[], [tokens[i]] * 2, [tokens[j]], [tokens[i], b" ", tokens[j]], [rnd.choice(ODD)], [rnd.choice(ODD), b" ", tokens[i]],
                               [tokens[j]]][kind - 3]
            text = b"".join(tokens)
    return text


def fault_of(args, text, tmp):
    """What is wrong with tkc's answer, or None; and whether it accepts."""
    tk, c, h = Path(tmp, "g.tk"), Path(tmp, "g.c"), Path(tmp, "g.h")
    tk.write_bytes(text)
    for f in (c, h):
        f.unlink(missing_ok=True)
    limited = ["sh", "-c", f'ulimit -S -t {SECONDS}; exec "$@"', "sh", args.tkc]
    done = subprocess.run([*limited, "g.tk", "-o", "g.c"], cwd=tmp, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode == -signal.SIGXCPU:
        return f"no end after {SECONDS} s of processor time", False
    err = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1) or "Sanitizer" in err or "runtime error:" in err:
        return f"status {done.returncode}\n{err[-3000:]}", False
    if done.returncode == 1:
        lines = text.count(b"\n") + 1
        places = [(int(m[1]), int(m[2])) for m in PLACE.finditer(err)]
        if not places or any(not (1 <= line <= lines and col >= 1) for line, col in places):
            return f"refused without a place in the file\n{err[-3000:]}", False
        if c.exists() or h.exists():
            return "refused, but wrote a file", False
        return None, False
    if not c.exists() or not h.exists():
        return "accepted, but wrote nothing", True
    if args.cc:
        cc = subprocess.run([args.cc, *STRICT, "-I", ROOT / "runtime" / "include", "g.c"], cwd=tmp, capture_output=True)
        if cc.returncode != 0:
            return f"accepted, but the C does not compile\n{cc.stderr.decode(errors='replace')[:3000]}", True
    return None, True


def run(args, sources, number):
    text = mangle(random.Random(f"{args.seed} {number}"), sources)
    with tempfile.TemporaryDirectory() as tmp:
        fault, accepted = fault_of(args, text, tmp)
    return number, text, fault, accepted


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tkc", required=True)
    ap.add_argument("--cc")
    ap.add_argument("--count", type=int, default=300)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--keep", help="folder for the programs that break a rule")
    ap.add_argument("files", nargs="+")
    args = ap.parse_args()
    args.tkc = os.path.abspath(args.tkc)
    sources = [Path(f).read_bytes() for f in args.files]
    faults = accepts = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, text, fault, accepted in pool.map(lambda n: run(args, sources, n), range(args.count)):
            accepts += accepted
            if fault:
                faults += 1
                print(f"== program {number}, seed {args.seed}: {fault}", flush=True)
                if args.keep:
                    Path(args.keep, f"mangled_{args.seed}_{number}.tk").write_bytes(text)
    print(f"{args.count} broken programs: {args.count - accepts - faults} refused, {accepts} accepted, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
