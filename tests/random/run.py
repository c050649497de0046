#!/usr/bin/env python3
"""Generates random programs, compiles them and checks their derivatives with tools/adcheck.

    run.py --build DIR [-n PROGRAMS] [--from PROGRAM] [--seed S] [-j JOBS] [--keep DIR] [--stop] [--only SEED.BATCH.INDEX]

Prints what was covered and ends with `N passed, N failed`. A refused program is counted under its diagnostic code and fails only if more than 1 % are refused.
With --keep, the source and the complaint of each failed or refused program are left in DIR.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import compare
import decisions
import generate
from externs import EXTERN
from stub import stub

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(ROOT / "tests/tools"), str(ROOT / "tests/runner")]
import checkers  # noqa: E402
import layout  # noqa: E402
import process  # noqa: E402
from compile import SHOP  # noqa: E402

# The runtime and the checker, which are compiled together.
SOURCES = [*sorted((ROOT / "runtime" / "src").glob("*.c")), *checkers.sources("adcheck")]
WARN = "-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion".split()
GENERATED = ["-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
O0, ASAN = ("clang", ["-O0"], 1), ("clang", ["-O0", *SANITIZE], 1)
# The first 200 programs see all of these. Of the many, most are compiled in the quickest way: what tkc writes is the same, and compiling is nearly all of the time.
FIRST = [("clang", ["-O1"], 1), ("gcc", ["-O2"], 1), ASAN, ("clang", ["-O3"], 100), O0, ("clang", ["-O1"], 100), O0, O0]
# More for a single program.
ONLY = [(cc, ["-O3", "-march=native", f"-ffp-contract={contract}"], 1) for cc in ("gcc", "clang") for contract in ("fast", "off")]
MANY = {20: ("clang", ["-O1"], 1), 10: ASAN, 25: ("gcc", ["-O2"], 1), 40: ("clang", ["-O1"], 16384), 50: ASAN, 65: ("clang", ["-O3"], 100), 75: ("gcc", ["-O0"], 1)}
# tcc takes a tenth of clang's time; a module of which something fails with it is compiled by clang once more.
QUICK = ("tcc", ["-w"]) if shutil.which("tcc") else ("clang", ["-O0"])
CHUNKS = [1, 1, 100, 1, 16384]
BATCH = 25
# Of one batch in so many, the first programs are compared between compilers as well, at the flags of users and with larger fields.
USERS, USERS_PROGRAMS = 8, 10


def setup_of(batch):
    """(compiler, flags, iterations in a chunk) for a batch of programs."""
    if batch < len(FIRST):
        return FIRST[batch]
    return MANY.get(batch % 320) or (*QUICK, CHUNKS[batch % len(CHUNKS)])


def matrix(batch, n):
    """n more (compiler, flags, iterations in a chunk) for what decides in a batch: another rounding here or there is another decision."""
    rng = random.Random(f"flags {batch}")
    found = []
    for k in range(n):
        cc = ("gcc", "clang")[(batch + k) % 2]
        flags = [rng.choice(["-O0", "-O1", "-O2", "-O3", "-O3"]), *rng.choice([[], ["-march=native"], ["-march=native"]]), *rng.choice([[], ["-ffp-contract=off"], ["-ffp-contract=fast"], ["-ffp-contract=fast"]])]
        found.append((cc, [*flags, *(SANITIZE if cc == "clang" and rng.random() < 0.15 else [])], rng.choice([1, 100, 16384, 16384])))
    return found


def batches(args):
    return range(args.first // BATCH, (args.first + args.n + BATCH - 1) // BATCH)


def run(cmd, **kw):
    ended = process.execute(cmd, **kw)
    return (-99, ended.out, ended.stopped) if ended.stopped else ended[:3]


def broken(p, rng):
    """The program with a write, at its end, to a field that it reads; None if there is none to choose."""
    text = "\n".join(p.text)
    rows, numbers = sorted(set(re.findall(r"\b([abcd])\[", text))), sorted(set(re.findall(r"\b([stu])\b", text)))
    writes = [f"    for broken_i in {f} {{ {f}[broken_i] = 0.5 * {f}[broken_i] + 0.25; }}" for f in rows]
    writes += [f"    {f}[{i}] = 0.5 * {f}[{i}] + 0.25;" for f in rows for i in ("idx[0] % 3", "made[1] % 3", "2")]
    writes += [f"    {f} = 0.5 * {f} + 0.25;" for f in numbers]
    if not writes or p.text[-1] != "}":
        return None
    p.text = [*p.text[:-1], rng.choice(writes), "}"]
    return p


class Results:
    def __init__(self):
        self.passed = []                       # names of programs
        self.failed = []                       # (name of the program, why)
        self.refused = collections.Counter()   # by code
        self.cover = collections.Counter()
        self.deciding, self.misled = collections.Counter(), []    # programs that decide in a way; (way, name of the program) where that failed
        self.classes = collections.Counter()
        self.setups = collections.Counter()
        self.odd = []                          # passes in the end, but not at once: (name, how)
        self.users = 0                         # programs of which clang and gcc compute the same, at the flags of users
        self.taped = self.reported = 0         # validated tapes: gradients equal to the bit, and writes reported
        self.compared = self.skipped = self.all_nonzero = self.with_inputs = self.lines = self.bytes = 0
        self.depth, self.nest = collections.Counter(), collections.Counter()

    def count_passed(self):
        return len(set(self.passed) - {seed for seed, _ in self.failed})

    def count_failed(self):
        return len({seed for seed, _ in self.failed})

    def add(self, other):
        for k, v in vars(other).items():
            setattr(self, k, v if k not in vars(self) else getattr(self, k) + v)


class Runner:
    def __init__(self, args, work):
        self.args, self.work = args, Path(work)
        self.validated = set()                 # modules of which all is checked on validated tapes
        self.tkc = Path(args.build).resolve() / "compiler" / "tkc"
        self.include = ["-I", ROOT / "runtime" / "include", "-I", HERE.parent / "tools"]
        self.lock = threading.Lock()

    def lib(self, cc, flags, chunk):
        """The runtime with chunks this small, and the checker: objects, or for tcc a shared library."""
        flags = SANITIZE if SANITIZE[0] in flags else ["-O1"]    # what is generated has the others
        options = ["-std=gnu11", "-D_GNU_SOURCE", "-pthread", f"-DTK_MIN_CHUNK={chunk}", "-DTK_MIN_PARALLEL=1", "-DTK_ATOMIC_CYCLES=0", "-I", ROOT / "runtime" / "src"]
        if cc != "tcc":
            return SHOP.shared(cc, SOURCES, [*options, *flags], False).get()
        # That code is linked in no time, and what it calls may as well be fast.
        objects = SHOP.shared("clang", [*SOURCES, HERE / "tcc.c"], [*options, "-O1", "-fPIC"], False).get()
        with self.lock:
            out = self.work / f"libcheck{chunk}.so"
            if not out.exists():
                status, _, err = run(["clang", "-shared", *objects, "-pthread", "-lm", "-o", out])
                if status:
                    sys.exit(err)
        return [out]

    # ---- one batch ----

    def debug(self, module):
        return self.args.validate or self.args.broken or module in self.validated

    def checkpointed(self, programs):
        """Every third batch: what a compiler that counts costs would seldom do."""
        return int(programs[0].seed.rsplit(".", 2)[1]) % 3 == 1

    def batch(self, b, part, parts):
        """A part of a batch: the programs of one translation unit."""
        module, programs = generate.make_module(f"{self.args.seed}.{b}", BATCH)
        if b % 4 == 3:
            self.validated.add(module)
        res = Results()
        todo = programs[:max(0, self.args.first + self.args.n - b * BATCH)]
        if self.args.broken:
            rng = random.Random(f"{self.args.seed}.{b}")
            todo = [q for q in (broken(p, rng) for p in todo) if q]
        todo = todo[len(todo) * part // parts:len(todo) * (part + 1) // parts]
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            self.check(module, todo, setup_of(b), Path(tmp), res) if not self.args.decisions else None
        alone = [decisions.Alone(p) for p in todo if p.deciding]
        for p in alone:
            res.deciding.update({way for _, way in p.deciding})
        for setup in matrix(b, self.args.flags):
            with tempfile.TemporaryDirectory(dir=self.work) as tmp:
                self.check(module, alone, setup, Path(tmp), res)
        if b % USERS == USERS // 2 and part == 0 and not self.args.broken and not self.args.decisions:
            self.users(b, min(self.args.first + self.args.n - b * BATCH, USERS_PROGRAMS), res)
        return res

    def users(self, b, n, res):
        """The batch's first programs once more, with fields in which compilers see vectors: the same values from all compilers at the flags of users."""
        module, programs = generate.make_module(f"{self.args.seed}.{b}", n, wide=True)
        with tempfile.TemporaryDirectory(dir=self.work) as tmp:
            programs, _, _ = self.compile_tk(module, programs, Path(tmp), Results())
            if not programs:
                return
            Path(tmp, "stub.c").write_text(stub("rnd", programs) + EXTERN.replace("NAME", "rnd"))
            failed = dict(compare.users(self, run, programs, Path(tmp)))
        res.users += len(programs) - len(failed)
        for p, why in failed.items():
            self.fail(res, module, p, why)

    def fail(self, res, module, program, why, refused=False):
        if not refused:
            res.failed.append((program.seed, why))
            res.misled += [(way, program.seed) for name, way in program.deciding if name in why]
        if self.args.keep:
            folder = Path(self.args.keep)
            folder.mkdir(exist_ok=True)
            name = f"{'refused' if refused else 'failed'}_{program.seed.replace('.', '_')}"
            (folder / f"{name}.tk").write_text(generate.module_text(module, [program])[0])
            (folder / f"{name}.txt").write_text(why + "\n")

    def compile_tk(self, module, programs, tmp, res):
        """tkc on the programs; those that it refuses are left out. Gives what is left."""
        while programs:
            imports = int(programs[0].seed.rsplit(".", 2)[1]) % 5 == 0
            (tmp / "common.tk").write_text(module.common())
            text, starts = generate.module_text(module, programs, imports)
            (tmp / "rnd.tk").write_text(text)
            options = ["--real=f64", *module.options(), "-o", "rnd.c", "--explain-adjoint", *["--debug"] * self.debug(module), *["--checkpoints=all"] * self.checkpointed(programs)]
            status, out, err = run([self.tkc, "rnd.tk", *options], cwd=tmp)
            if status == 0 and not err:
                why = "" if self.debug(module) else self.formatted(text, options, tmp, programs[0].seed)    # whose C has columns
                if why:
                    self.fail(res, module, programs[0], why)
                for line in out.splitlines():
                    m = re.match(r"\s+\S+:\d+:\d+: \S+ \S+: (.*)", line)
                    if m:
                        res.classes[m[1]] += 1
                return programs, len(text.splitlines()), (tmp / "rnd.c").stat().st_size
            bad = {}
            for m in re.finditer(r"^rnd\.tk:(\d+):\d+: (?:error|warning): .*\[([EW]\d+)\]$", err, re.M):
                i = max(k for k, s in enumerate(starts) if s <= int(m[1])) if int(m[1]) >= starts[0] else 0
                bad.setdefault(i, (m[2], err[m.start():m.start() + 400]))
            if status in (0, 1) and bad:
                for i, (code, text) in bad.items():
                    res.refused[code] += 1
                    self.fail(res, module, programs[i], text, True)
                programs = [p for k, p in enumerate(programs) if k not in bad]
            elif len(programs) == 1:
                self.fail(res, module, programs[0], f"tkc: status {status}\n{(out[-300:] if status else '')}{err[-1500:]}")
                return [], 0, 0
            else:
                left = []
                lines = size = 0
                for p in programs:
                    ok, n, _ = self.compile_tk(module, [p], tmp, res)
                    left += ok
                programs = left
        return [], 0, 0

    def formatted(self, text, options, tmp, seed):
        """The same program with other spaces: `--format` leaves its C the same, and has nothing to do the second time. Gives what is wrong."""
        folder = tmp / "formatted"
        folder.mkdir(exist_ok=True)
        shutil.copy(tmp / "common.tk", folder)
        (folder / "laid.tk").write_text(layout.another(text, random.Random(f"layout {seed}"), lines=False))
        for once, again in (("laid.tk", "rnd.tk"), ("rnd.tk", "again.tk")):
            status, _, err = run([self.tkc, "--format", once, "-o", again], cwd=folder)
            if status or err:
                return f"--format: status {status}: {err[-1500:]}"
        status, _, err = run([self.tkc, "rnd.tk", *options], cwd=folder)
        same = status == 0 and all((folder / f"rnd.{x}").read_bytes() == (tmp / f"rnd.{x}").read_bytes() for x in "ch")
        if not same or (folder / "rnd.tk").read_bytes() != (folder / "again.tk").read_bytes():
            return f"--format: {'not idempotent' if same else f'other C: status {status}: {err[-1500:]}'}"
        return ""

    def compile_c(self, setup, tmp, warnings=True):
        """(whether it is the generated C that is at fault, what the C compiler says); (False, "") if there is an executable."""
        cc, flags, chunk = setup
        lib = self.lib(*setup)
        if cc == "tcc":
            if warnings:
                status, _, err = run(["clang", "-std=c11", "-fsyntax-only", *WARN, *GENERATED, *self.include, "rnd.c"], cwd=tmp)
                if status or err:
                    return True, err
            status, out, err = run([cc, *flags, "-include", HERE / "tcc.h", *self.include, "rnd.c", "stub.c", *lib, f"-Wl,-rpath={lib[0].parent}", "-rdynamic", "-lm",
                                    "-o", "check"], cwd=tmp)
            return False, out + err if status else ""
        status, _, err = run([cc, "-std=c11", *flags, *WARN, *GENERATED, *self.include, "-c", "rnd.c", "-o", "rnd.o"], cwd=tmp)
        if status or err:
            return True, f"{cc}: {err[:2000]}"
        status, _, err = run([cc, "-std=gnu11", *flags, *self.include, "stub.c", "rnd.o", *lib, "-pthread", "-lm", "-o", "check"], cwd=tmp)
        return False, err[:2000] if status else ""

    def check(self, module, programs, setup, tmp, res):
        """Counts what passes; a module of which something fails with tcc is checked with clang before that counts."""
        programs, lines, size = self.compile_tk(module, programs, tmp, res)
        if not programs:
            return
        cc, flags, chunk = setup
        (tmp / "stub.c").write_text(stub("rnd", programs, (tmp / "rnd.h").read_text()) + EXTERN.replace("NAME", "rnd"))
        batch = int(programs[0].seed.rsplit(".", 2)[1])
        generated, err = self.compile_c(setup, tmp, batch % 4 == 0)    # tcc warns of nothing
        if err and (generated or cc == "tcc") and len(programs) > 1:
            before = len(res.failed)
            for p in programs:
                self.check(module, [p], setup if generated else ("clang", ["-O0"], chunk), tmp, res)
            if len(res.failed) == before:
                together = f"{cc} fails on {len(programs)} programs together, and on none alone: {err}"
                if cc == "tcc" or process.TOO_LONG in err:
                    res.odd.append((programs[0].seed, together))
                else:
                    self.fail(res, module, programs[0], together)
            return
        else:
            failed = [(programs[0], err)] if err else self.execute(module, programs, setup, tmp, res)
            failed += [] if err else self.exports([p for p in programs if p not in dict(failed)], setup, tmp)
        res.lines, res.bytes = res.lines + lines, res.bytes + size
        if cc == "tcc" and failed:
            failed = self.confirm(module, programs, failed, chunk, tmp, res)
        for p, why in failed:
            self.fail(res, module, p, f"[{cc} {' '.join(flags)} chunk {chunk}] {why}")

    def confirm(self, module, programs, failed, chunk, tmp, res):
        """The same C through clang: what fails there, too, with both complaints."""
        setup, scratch = ("clang", ["-O0"], chunk), Results()
        _, err = self.compile_c(setup, tmp)
        again = [(programs[0], err)] if err else self.execute(module, programs, setup, tmp, scratch)
        again += [] if err else self.exports([p for p in programs if p not in dict(again)], setup, tmp)
        first, again = dict(failed), dict(again)
        for p in first:
            if p not in again and not err:
                res.odd.append((p.seed, f"failed with tcc and passed with clang: {first[p]}"))
                res.passed.append(p.seed)
                self.account(res, p, 0, 0, 0, 0)
        return [(p, f"{first.get(p, 'passed')}\nwith clang: {again.get(p, '')}") for p in {**first, **again} if p in again or err]

    def execute(self, module, programs, setup, tmp, res):
        """Runs the checker, once more after each kernel with which it ends early. Gives the programs that failed, with the reason."""
        cc, flags, chunk = setup
        first, batch = 0, int(programs[0].seed.rsplit(".", 2)[1])
        threads = 1 if cc == "tcc" and batch % 3 else 2 + batch % 4    # several take most of the time on a busy machine
        owners = [p for p in programs for _ in p.kernels]    # the last kernel of a program calls the others
        failed = {}
        env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "4"}
        while first < len(owners):
            status, out, err = run([tmp / "check", "--broken" if self.args.broken else "--table", str(first), str(threads), "-1.2", "1.2"], cwd=tmp, env=env)
            said = []
            for line in out.splitlines():
                m = re.match(r"kernel (\d+) (\S+) (ok|FAILED) compared (\d+) skipped (\d+) inputs (\d+) zero (\d+) taped (\d+) reported (\d+)$", line)
                if not m:
                    said.append(line)
                    continue
                p = owners[int(m[1])]
                if m[3] != "ok":
                    failed.setdefault(p, "\n".join(said))
                elif m[2] == p.name and p not in failed:
                    res.taped, res.reported = res.taped + int(m[8]), res.reported + int(m[9])
                    self.account(res, p, int(m[4]), int(m[5]), int(m[6]), int(m[7]))
                if m[2] == p.kernels[-1].name and p not in failed:
                    res.passed.append(p.seed)
                    res.setups[f"{cc} {' '.join(flags)} {'--debug' if self.debug(module) else f'chunk {chunk}'}"] += 1
                first, said = int(m[1]) + 1, []
            if status in (0, 1) and not said and first >= len(owners):
                break
            failed.setdefault(owners[min(first, len(owners) - 1)], f"status {status}: {' '.join(said)} {err[-1500:]}")
            first += 1
        return list(failed.items())

    def exports(self, programs, setup, tmp):
        """What tools/expcheck.c says of the functions for the host: programs with the complaint."""
        if not any("export " in line for p in programs for line in p.text):
            return []
        tools = HERE.parent / "tools"
        status, out, err = run([sys.executable, tools / "exports.py", tmp / "rnd.h", "3"])
        if status:
            return [(programs[0], err)]
        (tmp / "exports.c").write_text(out)
        cc, flags, chunk = setup
        lib = self.lib(*setup)
        both = ["exports.c", tools / "expcheck.c", "stub.c"]    # the library's `main` is adcheck's
        if cc == "tcc":
            both = ["-include", HERE / "tcc.h", *both, "rnd.c", *lib, f"-Wl,-rpath={lib[0].parent}", "-rdynamic"]
        else:
            both += ["rnd.o", *lib, "-pthread", "-Wl,--allow-multiple-definition"]
        status, out, err = run([cc, *flags, *self.include, *both, "-lm", "-o", "exports"], cwd=tmp)
        if status:
            return [(programs[0], err[:2000])]
        status, out, err = run([tmp / "exports", "--random", "-1.2", "1.2"], cwd=tmp, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        if status == 0:
            return []
        lines = out.splitlines() or [f"rnd_{programs[0].name}_: {status} {err[-1500:]}"]
        found = [(p, "\n".join(s for s in lines if s.startswith(f"rnd_{p.name}_"))) for p in programs]
        return [(p, why) for p, why in found if why] or [(programs[0], "\n".join(lines))]

    def account(self, res, p, compared, skipped, inputs, zero):
        res.compared += compared
        res.skipped += skipped
        if inputs:
            res.with_inputs += 1
            res.all_nonzero += zero == 0
        for k in p.cover:
            res.cover[k] += 1
        res.depth[p.depth_seen] += 1
        res.nest[p.nest_seen] += 1


def print_counts(title, counter, total):
    print(f"{title} (programs that have it):" if total else f"{title}:")
    cells = [f"{k} {v}" for k, v in sorted(counter.items(), key=lambda kv: str(kv[0]))]
    line = " "
    for c in cells:
        if len(line) + len(c) > 150:
            print(line)
            line = " "
        line += f" {c};"
    print(line)


def print_decisions(res):
    """How many programs decide by what, and which of them is the first to fail by it."""
    print("decisions (programs; that fail, the first of them):")
    number = lambda seed: tuple(int(n) for n in seed.rsplit(".", 2)[1:])
    for way, n in sorted(res.deciding.items()):
        found = sorted({seed for w, seed in res.misled if w == way}, key=number)
        print(f"  {way} {n}" + (f"; {len(found)} fail, first {found[0]}" if found else ""))


def report(res, total):
    print_counts("operations and constructs", res.cover, True)
    print_counts("depth of expressions", res.depth, True)
    print_counts("depth of nested loops", res.nest, True)
    print_counts("writes by parallel class", res.classes, False)
    print_counts("compiled with", res.setups, False)
    print_decisions(res)
    refused = sum(res.refused.values())
    print(f"refused: {refused} ({100 * refused / max(total, 1):.2f} %) {dict(res.refused)}")
    print(f"components against differences: {res.compared} compared, {res.skipped} skipped at kinks ({100 * res.skipped / max(1, res.compared + res.skipped):.2f} %)")
    print(f"programs whose active inputs all have a non-zero gradient: {res.all_nonzero} of {res.with_inputs} ({100 * res.all_nonzero / max(1, res.with_inputs):.1f} %)")
    print(f"tapes: {res.taped} with the gradient of the adjoints, {res.reported} with a write reported")
    print(f"the same values from clang and gcc at the flags of users: {res.users} programs")
    print(f"passed, but not at once: {len(res.odd)} {' '.join(seed for seed, _ in res.odd)}")
    print(f"lines of .tk {res.lines}, bytes of C {res.bytes}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("-n", type=int, default=200)
    ap.add_argument("--from", dest="first", type=int, default=0, help=f"the first of the programs, a multiple of {BATCH}: to run many in portions")
    ap.add_argument("--seed", default="1")
    ap.add_argument("-j", type=int, default=os.cpu_count())
    ap.add_argument("--validate", action="store_true", help="all programs (with --only, this one) with --debug on validated tapes, not only a quarter")
    ap.add_argument("--broken", action="store_true", help="programs with a write that may break the data-access rule: refused, reported, or right")
    ap.add_argument("--flags", type=int, default=2, help="with how many more compilers and flags what decides is compiled")
    ap.add_argument("--decisions", action="store_true", help="only what decides, not whole programs")
    ap.add_argument("--keep")
    ap.add_argument("--stop", action="store_true", help="end at the first failure")
    ap.add_argument("--only", help="check one program, SEED.BATCH.INDEX as printed, with all compilers")
    args = ap.parse_args()
    res = Results()
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(args, work)
        if args.only:
            seed, b, i = args.only.rsplit(".", 2)
            module, programs = generate.make_module(f"{seed}.{b}", int(i) + 1)
            for setup in [*FIRST, *ONLY]:
                with tempfile.TemporaryDirectory(dir=work) as tmp:
                    runner.check(module, programs[-1:], setup, Path(tmp), res)
            for seed, why in res.failed:
                print(f"FAILED {seed}: {why}")
            print(f"{res.count_passed()} passed, {res.count_failed()} failed")
            return len(res.failed) > 0
        pool = concurrent.futures.ThreadPoolExecutor(args.j)
        parts = 1 if len(batches(args)) >= args.j else 2    # a single C compiler would leave the other processors idle
        units = [(b, k) for b in batches(args) for k in range(parts)]
        slowest_first = sorted(units, key=lambda unit: setup_of(unit[0])[1] != ["-O3"])    # else one is left to a single processor at the end
        jobs = {unit: pool.submit(runner.batch, *unit, parts) for unit in slowest_first}
        done = 0
        for job in (jobs[unit] for unit in units):
            if job.cancelled():
                continue
            one = job.result()
            done += 1
            if done % 20 == 0:
                print(f"... {done * BATCH // parts} programs: {res.count_passed() + one.count_passed()} passed, {res.count_failed() + one.count_failed()} failed", flush=True)
            for seed, why in one.failed:
                print(f"FAILED {seed}: {why}", flush=True)
            for seed, how in one.odd:
                print(f"{seed}: {how}", flush=True)
            res.add(one)
            if args.stop and res.failed:
                for j in jobs.values():
                    j.cancel()
        pool.shutdown()
    total = res.count_passed() + res.count_failed() + sum(res.refused.values())
    report(res, total)
    if sum(res.refused.values()) > 0.01 * total and not args.broken:
        res.failed.append(("refused", "more than 1 %"))
        print("FAILED: more than 1 % of the programs are refused")
    print(f"{res.count_passed()} passed, {res.count_failed()} failed")
    return len(res.failed) > 0


if __name__ == "__main__":
    sys.exit(main())
