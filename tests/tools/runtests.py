#!/usr/bin/env python3
"""Runs the tests that are pairs of files, and the test scripts; docs/testing.md describes them.

    runtests.py --build DIR [--cc gcc] [--cxx g++] [--sanitize] [--short] [--options "-O3 ..."] [--update] [-j N] [--without WORD,...] [WORD...]

With words, only cases whose name contains one of them run. Prints a line for each failure and at the end `N passed, N failed`.
"""
import argparse
import collections
import concurrent.futures
import difflib
import functools
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import types
from pathlib import Path

import checkers
import pages

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror".split()
GENERATED = ["-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
RACE = ["-fsanitize=thread", "-g"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
DIRECTIVE = re.compile(rb"^(?://|#)\s*([a-z]+):[ \t]*(.*?)\s*$")


class Failure(Exception):
    pass


SKIPPED = 77  # status of a script that cannot run here


class Skip(Exception):
    """The case cannot run here."""


class Process(subprocess.Popen):
    """One that tells the processor time that it and its children took: wall time says little where others work as well."""
    seconds = 0.0

    def _try_wait(self, wait_flags):
        try:
            pid, status, usage = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        if pid == self.pid:
            self.seconds = usage.ru_utime + usage.ru_stime
        return pid, status


class Runner:
    def __init__(self, args):
        self.args = args
        self.build = Path(args.build).resolve()
        self.tkc = self.build / "compiler" / "tkc"
        self.include = ROOT / "runtime" / "include"
        self.prefix = None
        self.lock = threading.Lock()
        self.checkers = {}                     # objects of the checkers in tools, by name and options
        self.objects = tempfile.TemporaryDirectory()
        self.took, self.taking = collections.Counter(), threading.Lock()    # processor time by command
        self.case = threading.local()          # and of the case that a thread is at

    # ---- helpers ----

    def run(self, cmd, cwd=None, env=None, timeout=300):
        """Output of a command as (status, stdout, stderr); death by a signal and running too long are failures."""
        cmd = [str(c) for c in cmd]
        env = {**os.environ, **(env or {})}
        with Process(cmd, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                out, err = (text.decode(errors="replace") for text in process.communicate(timeout=timeout))
            except BaseException as e:
                os.killpg(process.pid, signal.SIGKILL)      # a script's own children as well: they would write into a folder that is being removed
                process.communicate()
                raise Failure(f"no end after {timeout} s: {shlex.join(cmd)}") if isinstance(e, subprocess.TimeoutExpired) else e
        self.case.seconds = getattr(self.case, "seconds", 0) + process.seconds
        with self.taking:
            self.took[Path(cmd[0]).name if Path(cmd[0]).suffix != ".exe" else "programs"] += process.seconds
        if process.returncode < 0 or "Sanitizer" in err or "runtime error:" in err:
            raise Failure(f"died (status {process.returncode}): {shlex.join(cmd)}\n{err[-3000:]}")
        return process.returncode, out, err

    def must(self, cmd, **kw):
        status, out, err = self.run(cmd, **kw)
        if status != 0:
            raise Failure(f"status {status}: {shlex.join(str(c) for c in cmd)}\n{out[-2000:]}{err[-4000:]}")
        return out, err

    def compare(self, path, actual):
        expected = path.read_text(errors="replace") if path.exists() else ""
        if actual == expected:
            return
        if self.args.update:
            path.write_text(actual, errors="replace") if actual else path.unlink()
            return
        diff = difflib.unified_diff(expected.splitlines(), actual.splitlines(), str(path.relative_to(ROOT)), "actual", lineterm="")
        raise Failure("\n".join(list(diff)[:60]))

    def some(self, choices):
        """With --short, the first of them."""
        return choices[:1] if self.args.short else choices

    def sanitize(self):
        return SANITIZE if self.args.sanitize else []

    # ---- kinds of cases ----

    def diagnostics(self, tk):
        """X.tk + X.diag: what tkc prints. Without X.diag the module is accepted in silence."""
        expected = tk.with_suffix(".diag")
        with tempfile.TemporaryDirectory() as tmp:
            status, out, err = self.run([self.tkc, tk.name, "-o", f"{tmp}/{tk.stem}.c", *directive(tk, "flags")], cwd=tk.parent)
            left = sorted(p.name for p in Path(tmp).iterdir())
        if out:
            raise Failure(f"prints on standard output:\n{out[:500]}")
        self.compare(expected, err)
        refused = bool(re.search(r"^(?:\S+: |\S+:\d+:\d+: )?error: ", err, re.M)) or '"severity":"error"' in err.replace(" ", "")
        if status != (1 if refused else 0):
            raise Failure(f"exit status {status}\n{err[:2000]}")
        if refused and left:
            raise Failure(f"left after an error: {left}")

    def tree(self, tk):
        """X.tk + X.ast or X.tokens: what --emit=ast or --emit=tokens prints, then what is on standard error."""
        for kind in ("ast", "tokens"):
            expected = tk.with_suffix(f".{kind}")
            if expected.exists():
                _, out, err = self.run([self.tkc, tk.name, f"--emit={kind}"], cwd=tk.parent)
                self.compare(expected, out + err)

    def syntax(self, tk):
        is_tree = tk.with_suffix(".ast").exists() or tk.with_suffix(".tokens").exists()
        (self.tree if is_tree else self.diagnostics)(tk)

    def dump(self, tk):
        """X.tk + X.ir: what --emit=ir prints, then what is on standard error (--dump-after)."""
        out, err = self.must([self.tkc, tk.name, "--emit=ir", *directive(tk, "flags")], cwd=tk.parent)
        if not tk.with_suffix(".ir").exists() and not self.args.update:
            raise Failure(f"{tk.stem}.ir is missing")
        self.compare(tk.with_suffix(".ir"), out + err)

    def words(self, tk):
        """explain/X.tk + X.words: what --explain prints."""
        out, err = self.must([self.tkc, tk.name, "--explain", *directive(tk, "flags")], cwd=tk.parent)
        if not tk.with_suffix(".words").exists() and not self.args.update:
            raise Failure(f"{tk.stem}.words is missing")
        self.compare(tk.with_suffix(".words"), out + err)

    def one_pass(self, ir):
        """passes/PASS/X.ir + X.out: the IR behind that pass alone, then what is on standard error. Of not_X.ir, that is the IR as it was."""
        if not ir.read_text().startswith("; "):
            raise Failure("the first line does not say what the case shows")
        as_read, _ = self.must([self.tkc, "--run-pass=lower", ir.name], cwd=ir.parent)
        status, out, err = self.run([self.tkc, f"--run-pass={ir.parent.name}", ir.name], cwd=ir.parent)
        if "internal error" in err or "invalid IR" in err or status != (1 if "error: " in err else 0):
            raise Failure(f"status {status}\n{err[:2000]}")
        if not ir.with_suffix(".out").exists() and not self.args.update:
            raise Failure(f"{ir.stem}.out is missing")
        self.compare(ir.with_suffix(".out"), out + err)
        if ir.stem.startswith("not_") and out + err != as_read:
            raise Failure("the pass did something")

    def pass_table(self, without):
        """Each row of the pipeline has cases, or stands in passes/without.txt, which says why; never both."""
        out, _ = self.must([self.tkc, "--list-passes"])
        rows = [line.split()[0] for line in out.splitlines()][1:]
        excused = dict(line.split(None, 1) for line in without.read_text().splitlines() if line and not line.startswith("#"))
        wrong = [f"{name}: no pass of that name" for name in {*excused, *(p.name for p in without.parent.iterdir() if p.is_dir())} - set(rows)]
        for name in rows:
            cases = [p.stem for p in (without.parent / name).glob("*.ir")]
            if name in excused and cases:
                wrong.append(f"{name}: has cases, and stands in {without.name}")
            elif name not in excused and (len(cases) < 5 or not any(c.startswith("not_") for c in cases)):
                wrong.append(f"{name}: {len(cases)} cases, of five at least with one in which the pass does nothing (not_X.ir)")
        left = [str(o.relative_to(TESTS)) for o in without.parent.glob("*/*.out") if not o.with_suffix(".ir").exists()]
        if wrong or left:
            raise Failure("\n".join(wrong + [f"{o} without its .ir" for o in left]))

    def generate(self, tk, flags, tmp, options=None, compiled=(), level="-O1"):
        """Generates and compiles a module strictly; its header must do in C++ as well. Gives the object."""
        name = next((f[9:] for f in flags if f.startswith("--prefix=")), tk.stem)
        c, header, obj = f"{tmp}/{name}.c", f"{tmp}/{name}.h", f"{tmp}/{name}.gen.o"
        _, err = self.must([self.tkc, tk.name, "-o", c, *flags], cwd=tk.parent)
        if err:
            raise Failure(f"unexpected warnings:\n{err}")
        include = ["-I", self.include]
        options = self.sanitize() if options is None else options
        # Optimising takes most of the time; of what is full of checks it would hide what they see.
        level = "-O0" if options else "-O1" if self.args.short else level
        self.must([self.args.cc, "-std=c11", level, *STRICT, *GENERATED, *options, *compiled, *shlex.split(self.args.options), *include, "-c", c, "-o", obj])
        if not self.args.sanitize:                          # a header has no code to be sanitized
            self.must([self.args.cxx, "-std=c++17", *STRICT, *include, "-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"])
        return obj

    def link(self, host, objects, tmp, library=None):
        exe = f"{tmp}/{host.stem}.exe"
        cxx = host.suffix == ".cpp"
        compiler, std = (self.args.cxx, "-std=c++17") if cxx else (self.args.cc, "-std=c11")
        self.must([compiler, std, "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", *self.sanitize(), "-I", tmp, "-I", host.parent, "-I", self.include,
                   host, *objects, library or self.build / "runtime" / "libtkc.a", "-pthread", "-lm", "-o", exe])
        return exe

    def checker(self, name, options):
        """The objects of tools/NAME, compiled once for all cases."""
        with self.lock:
            key = (name, *options)
            if key not in self.checkers:
                folder, sources = Path(self.objects.name, f"{name}{len(self.checkers)}"), checkers.sources(name)
                folder.mkdir()
                self.must([self.args.cc, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *options, "-I", checkers.TOOLS, "-I", self.include, "-c", *sources], cwd=folder)
                self.checkers[key] = [folder / f"{s.stem}.o" for s in sources]
            return self.checkers[key]

    def program(self, tk):
        """X.tk + X.c or X.cpp: the host program must end with status 0, and print X.out where there is one."""
        host = next((h for h in (tk.with_suffix(".c"), tk.with_suffix(".cpp")) if h.exists()), None)
        threads = directive(tk, "threads") or ["1", "4"]
        compiled = [] if self.sanitize() else self.some(all_directives(tk, "compiled"))
        every = self.some(all_directives(tk, "flags")) or [[]]
        # Further flags give the same loops, in another precision or with checks: not with each compiler's flags once more, and optimised less.
        for flags, more in itertools.chain(itertools.product(every[:1], compiled or [[]]), itertools.product(every[1:], compiled[:2] or [[]])):
            with tempfile.TemporaryDirectory() as tmp:
                objects = [self.generate(tk, flags, tmp, compiled=more, level="-O2" if flags is every[0] else "-O1")]
                if not host:
                    continue
                for other in all_directives(host, "module"):
                    objects.append(self.generate(tk.parent / other[0], other[1:], tmp))
                exe = self.link(host, objects, tmp)
                for n in threads:
                    out, err = self.must([exe], cwd=tk.parent, env={"OMP_NUM_THREADS": n})
                    if tk.with_suffix(".out").exists():
                        self.compare(tk.with_suffix(".out"), out)

    def derivatives(self, tk):
        """ad/X.tk: every kernel of the module has right derivatives, says tools/adcheck; `// range: LO HI` for the data; X.c has its extern funcs."""
        with tempfile.TemporaryDirectory() as tmp:
            self.adcheck(tk, self.generate(tk, directive(tk, "flags"), tmp), tmp)

    def adcheck(self, tk, obj, tmp):
        name, stub = tk.stem, Path(tmp, "stub.c")
        stub.write_text(f"""#include "{name}.h"
tk_module *adcheck_create(tk_session *s);
void adcheck_destroy(tk_module *m);
tk_module *adcheck_create(tk_session *s) {{ {name} *m = {name}_create(s, NULL); return m ? &m->tk : NULL; }}
void adcheck_destroy(tk_module *m) {{ {name}_destroy(({name} *)m); }}
""")
        exe = f"{tmp}/adcheck"
        self.must([self.args.cc, "-std=gnu11", "-O1", "-I", tmp, "-I", self.include, *self.sanitize(), *self.checker("adcheck", self.sanitize()), stub, obj, *beside(tk),
                   self.build / "runtime" / "libtkc.a", "-pthread", "-lm", "-o", exe])
        status, out, _ = self.run([exe, *directive(tk, "range")], env={"ASAN_OPTIONS": "detect_leaks=0"})
        if status != 0 or out:
            raise Failure(out or f"status {status}")

    def algorithm(self, tk):
        """algorithms/X.tk: tools/adcheck finds the derivatives of its kernels right on random data and on lattices, with 1 and 3 threads and a library that splits
        the smallest loops; `// data: LO HI NAME LO HI ...` has the ranges of the fields' data, `// random: NAME ...` those that are never on a lattice,
        `// decides: NAME ...` those that may have no gradient, `// within: NAME ...` kernels that are checked within others only. X.c compares results and derivatives with what it computes in another way."""
        with tempfile.TemporaryDirectory() as tmp:
            obj, library = self.generate(tk, directive(tk, "flags") or ["--real=f64"], tmp), self.small_chunks_library()
            stub = Path(tmp, "stub.c")
            stub.write_text(self.stub_of(tk))
            exe = f"{tmp}/adcheck"
            self.must([self.args.cc, "-std=gnu11", "-O1", "-I", tmp, "-I", TESTS / "tools", "-I", self.include, *self.sanitize(), *self.checker("adcheck", self.sanitize()),
                       *self.checker("addata", self.sanitize()), stub, obj, library, "-pthread", "-lm", "-o", exe])
            ranges = [w for words in all_directives(tk, "data") for w in words] or ["0.3", "1.2"]
            for word in ("random", "decides", "within"):
                names = [w for words in all_directives(tk, word) for w in words]
                ranges += [word, *names] if names else []
            environment = {"ASAN_OPTIONS": "detect_leaks=0"}
            status, out, _ = self.run([exe, "--algorithm", "3", *ranges], env=environment)
            if status != 0 or out:
                raise Failure(out or f"status {status}")
            if tk.with_suffix(".c").exists():
                host = self.link(tk.with_suffix(".c"), [obj], tmp, library)
                for n in ("1", "3"):
                    self.must([host], env={"OMP_NUM_THREADS": n})

    def stub_of(self, tk):
        """The C that hands the kernels' arguments to tools/adcheck, as it is made for random programs."""
        with self.lock:
            if str(TESTS / "random") not in sys.path:
                sys.path.append(str(TESTS / "random"))
            import stub
        text = tk.read_text()
        kernels, known = stub.read_kernels(text), re.findall(r"^(?:const|param) (\w+)", text, re.M)
        for p in [p for k in kernels for p in k.params]:
            p.dims = [d + "_" if d.isidentifier() and d not in known else d for d in p.dims]    # an underscore tells the stub that it is an argument
        return stub.stub(tk.stem, [types.SimpleNamespace(kernels=kernels)])

    def exports(self, tk):
        """export/X.tk: every export func has right derivatives, says tools/expcheck.c; `// range: LO HI` for the data, `// integer: 4` for integer arguments;
        `// kernels: yes`: its kernels as well; X.c has its extern funcs."""
        with tempfile.TemporaryDirectory() as tmp:
            obj = self.generate(tk, directive(tk, "flags") or ["--real=f64"], tmp)
            stub = Path(tmp, "stub.c")
            out, _ = self.must([sys.executable, TESTS / "tools" / "exports.py", f"{tmp}/{tk.stem}.h", *(directive(tk, "integer") or ["4"]),
                                *(["--kernels"] if directive(tk, "kernels") else [])])
            stub.write_text(out)
            exe = f"{tmp}/expcheck"
            self.must([self.args.cc, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", tmp, "-I", TESTS / "tools", "-I", self.include, *self.sanitize(),
                       *self.checker("expcheck", self.sanitize()), stub, obj, *beside(tk), self.build / "runtime" / "libtkc.a", "-pthread", "-lm", "-o", exe])
            status, out, err = self.run([exe, *directive(tk, "range")])
            if status != 0 or out:
                raise Failure(out + err or f"status {status}")

    def threads(self, tk):
        """parallel/X.tk: X.explain is what --explain-adjoint says of it; tools/parcheck.c compares 1, 2, 4 and 7 threads at the sizes of `// sizes:` (param N) and
        prints X.out; tools/adcheck checks its derivatives."""
        flags = directive(tk, "flags")
        explained, err = self.must([self.tkc, tk.name, "--explain-adjoint", *flags], cwd=tk.parent)
        self.compare(tk.with_suffix(".explain"), explained + err)
        sizes = self.args.short and directive(tk, "race") or directive(tk, "sizes")
        every = all_directives(tk, "flags") or [[]]
        for flags in self.some(every)[:1 if self.args.sanitize else None]:    # memory is the same in both precisions
            with tempfile.TemporaryDirectory() as tmp:
                obj = self.generate(tk, flags, tmp, level="-O1" if flags is every[0] else "-O0")
                said = self.parcheck(tk, obj, explained, tmp, self.sanitize(), self.small_chunks_library(), sizes)
                if sizes[-1] == directive(tk, "sizes")[-1]:
                    self.compare(tk.with_suffix(".out"), said)
                if flags is every[0]:
                    self.adcheck(tk, obj, tmp)

    def race(self, tk):
        """parallel/X.tk once more, with the thread sanitizer in the library, the module and the host; at the sizes of `// race:`, where there are many
        others."""
        explained, _ = self.must([self.tkc, tk.name, "--explain-adjoint"], cwd=tk.parent)
        with tempfile.TemporaryDirectory() as tmp:
            sizes = directive(tk, "race") or directive(tk, "sizes")
            self.parcheck(tk, self.generate(tk, directive(tk, "flags"), tmp, RACE), explained, tmp, RACE, self.race_library(), ["--race", *sizes])

    def parcheck(self, tk, obj, explained, tmp, options, library, sizes):
        name = tk.stem
        stub = Path(tmp, "stub.c")
        stub.write_text(f"""#include "{name}.h"
tk_module *parcheck_create(tk_session *s, long size);
void parcheck_destroy(tk_module *m);
tk_module *parcheck_create(tk_session *s, long size)
{{
    {name}_params p = {name}_defaults();
    p.N = (int32_t)size;
    {name} *m = {name}_create(s, &p);
    return m ? &m->tk : NULL;
}}
void parcheck_destroy(tk_module *m) {{ {name}_destroy(({name} *)m); }}
""")
        exe = f"{tmp}/parcheck"
        self.must([self.args.cc, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *options, "-I", tmp, "-I", self.include,
                   *self.checker("parcheck", options), stub, obj, library, "-pthread", "-lm", "-o", exe])
        scatters, function = [], None
        for line in explained.splitlines():
            if not line.startswith(" "):
                function = line
            elif ": scatter" in line:
                scatters.append(function)
        status, out, err = self.run([exe, *sizes], env={"PARCHECK_SCATTERS": f" {' '.join(scatters)} "})
        if status != 0:
            raise Failure(out[-3000:] + err[-3000:] or f"status {status}")
        return out

    def library_of(self, directory, options):
        """A library whose parallel loops are split however small they are."""
        sources = sorted((ROOT / "runtime" / "src").glob("*.c"))
        self.must([self.args.cc, "-std=c11", "-D_GNU_SOURCE", "-DTK_MIN_CHUNK=4", "-DTK_MIN_PARALLEL=1", "-DTK_ATOMIC_CYCLES=0", "-O1", "-pthread", *options, "-I", self.include, "-c",
                   *sources], cwd=directory)
        self.must(["ar", "rcs", "libtkc.a", *(f"{s.stem}.o" for s in sources)], cwd=directory)

    @functools.cached_property
    def small_chunks(self):
        tmp = tempfile.TemporaryDirectory()
        self.library_of(tmp.name, self.sanitize())
        return tmp

    def small_chunks_library(self):
        with self.lock:
            return f"{self.small_chunks.name}/libtkc.a"

    @functools.cached_property
    def race_tools(self):
        """A directory with a library built with the thread sanitizer, and why there is none."""
        tmp = tempfile.TemporaryDirectory()
        probe = Path(tmp.name, "probe.c")
        probe.write_text("int main(void) { return 0; }\n")
        try:
            self.must([self.args.cc, *RACE, probe, "-o", f"{tmp.name}/probe"])
            self.must([f"{tmp.name}/probe"])
        except Failure as e:
            return tmp, str(e).strip().splitlines()[-1]
        self.library_of(tmp.name, RACE)
        return tmp, None

    def race_library(self):
        with self.lock:
            tmp, why = self.race_tools
        if why:
            raise Skip(f"the thread sanitizer does not run here: {why}")
        return f"{tmp.name}/libtkc.a"

    def table(self, check):
        """The operation table, row by row: tools/optable.c writes the module, tools/opcheck.c checks it."""
        with tempfile.TemporaryDirectory() as tmp:
            tk = Path(tmp, "optable.tk")
            self.must([self.build / "tests" / "tools" / "optable", tk, f"{tmp}/optable_rows.h"])
            obj = self.generate(tk, ["--real=f64"], tmp)
            out, _ = self.must([self.link(check, [obj], tmp)])
            if out:
                raise Failure(out)

    def script(self, sh):
        """X.sh: ends with status 0, or 77 where it cannot run and says why. Finds the compiler in $TKC and, below install/, an installed tree in $PREFIX. What links with the library of a
        build with sanitizers takes $SANITIZE as well."""
        env = {"TKC": str(self.tkc), "CC": self.args.cc, "CXX": self.args.cxx, "ROOT": str(ROOT), "INCLUDE": str(self.include), "SANITIZE": " ".join(self.sanitize())}
        if self.prefix:
            pc = next(Path(self.prefix).rglob("tkc.pc")).parent
            env |= {"PREFIX": self.prefix, "PKG_CONFIG_PATH": str(pc), "LD_LIBRARY_PATH": str(pc.parent), "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory() as tmp:
            status, out, err = self.run(["sh", "-eu", sh], cwd=tmp, env=env, timeout=900)    # some build all of tkc
            if status == SKIPPED:
                raise Skip(out.strip())
            if status != 0:
                raise Failure(f"status {status}: {sh}\n{out[-3000:]}{err[-3000:]}")

    def snippet(self, parts):
        """Marked blocks of a page of docs/: a module compiles, a host program with it runs and prints what the page says."""
        with tempfile.TemporaryDirectory() as tmp:
            name = parts["name"]
            if "tk" not in parts:
                raise Failure("marked, but no ```tk block carries the name")
            tk = Path(tmp, "in", f"{name}.tk")
            tk.parent.mkdir()
            tk.write_text(parts["tk"])
            if "error" in parts["words"]:
                status, _, err = self.run([self.tkc, tk.name, "-o", f"{tmp}/{name}.c"], cwd=tk.parent)
                if status != 1:
                    raise Failure(f"status {status}, but the page says that it is an error")
                if "text" in parts and parts["text"].strip() != err.strip():
                    raise Failure(f"the page shows:\n{parts['text']}\nbut tkc says:\n{err}")
                return
            obj = self.generate(tk, ["--debug"] if "debug" in parts["words"] else [], tmp)
            if "explain" in parts["words"]:
                out, _ = self.must([self.tkc, tk.name, "--explain-adjoint", "-o", f"{tmp}/{name}.c"], cwd=tk.parent)
                if parts["text"].strip() != out.strip():
                    raise Failure(f"the page shows:\n{parts['text']}\nbut tkc says:\n{out}")
            if "words" in parts["words"]:
                out, _ = self.must([self.tkc, tk.name, "--explain"], cwd=tk.parent)
                if parts["text"].strip() not in out:
                    raise Failure(f"the page shows:\n{parts['text']}\nbut tkc says:\n{out}")
            if "python" in parts:
                self.python(tk, parts)
            if "c" not in parts:
                return
            host = tk.with_suffix(".c")
            host.write_text(parts["c"])
            if "main(" not in parts["c"]:
                self.must([self.args.cc, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-I", tmp, "-I", self.include, host])
                return
            out, _ = self.must([self.link(host, [obj], tmp)])
            if "text" in parts and parts["text"].strip() != out.strip():
                raise Failure(f"the page shows:\n{parts['text']}\nbut the program prints:\n{out}")

    def python(self, tk, parts):
        """The module that --python makes, and a program with it, which prints what the page says."""
        if self.args.sanitize:
            return                                          # the library would ask for the sanitizers' in Python
        wanted = next((w for w in ("torch", "jax") if w in parts["words"]), "numpy")
        python = next((p for p in ("python3", "/usr/bin/python3") if self.run([p, "-W", "ignore", "-c", f"import numpy, {wanted}"])[0] == 0), None)
        if not python:
            raise Skip(f"no {wanted} (python3-{wanted})" if wanted != "jax" else "no JAX (python3 -m pip install jax)")
        form = "--python" if wanted == "numpy" else f"--python={wanted}"
        debug = ["--debug"] if "debug" in parts["words"] else []
        cc = f"{self.args.cc} -I{self.include} -L{self.build}/runtime -Wl,--no-as-needed -ltkc"
        self.must([self.tkc, tk.name, form, f"--cc={cc}", *debug], cwd=tk.parent)
        program = tk.parent / "program.py"
        program.write_text(parts["python"])
        status, out, err = self.run([python, "-B", "-W", "error" if wanted == "numpy" else "ignore", program], cwd=tk.parent, env={"LD_LIBRARY_PATH": f"{self.build}/runtime"})
        if missing := re.search(r"No module named '(scipy)", err):
            raise Skip(f"no {missing[1]} (python3-{missing[1]})")
        if status != 0 or parts["text"].strip() != out.strip():
            raise Failure(f"status {status}; the page shows:\n{parts['text']}\nbut the program prints:\n{out}{err}")

    # ---- all cases ----

    def cases(self):
        for group, kind in (("syntax", self.syntax), ("check", self.diagnostics), ("rules", self.diagnostics), ("ir", self.dump), ("run", self.program),
                            ("ad", self.derivatives), ("algorithms", self.algorithm), ("export", self.exports), ("parallel", self.threads), ("explain", self.words)):
            for tk in sorted((TESTS / group).glob("*.tk")):
                if not directive(tk, "helper"):
                    yield f"{group}/{tk.stem}", kind, tk
        for tk in sorted((TESTS / "parallel").glob("*.tk")):
            if not self.args.sanitize:
                yield f"race/{tk.stem}", self.race, tk
        for ir in sorted((TESTS / "passes").glob("*/*.ir")):
            yield f"passes/{ir.parent.name}/{ir.stem}", self.one_pass, ir
        yield "passes/table", self.pass_table, TESTS / "passes" / "without.txt"
        yield "ops/table", self.table, TESTS / "tools" / "opcheck.c"
        for group in ("driver", "install"):
            for sh in sorted((TESTS / group).glob("*.sh")):
                yield f"{group}/{sh.stem}", self.script, sh
        for page in pages.of(ROOT):
            for parts in snippets(page):
                yield f"docs/{pages.name(ROOT, page)}/{parts['name']}", self.snippet, parts

    def install(self, tmp):
        self.prefix = f"{tmp}/usr"
        self.must(["meson", "install", "-C", self.build, "--no-rebuild", "--destdir", f"{tmp}/dest"])
        # A build directory keeps the prefix it was set up with: what was installed is moved, as packagers do.
        inner = next(Path(tmp, "dest").rglob("bin/tkc")).parent.parent
        os.rename(inner, self.prefix)
        for pc in Path(self.prefix).rglob("tkc.pc"):
            pc.write_text(re.sub(r"(?m)^prefix=.*$", f"prefix={self.prefix}", pc.read_text()))


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


def snippets(page):
    """Blocks behind `<!-- test: NAME [error] [explain] -->`; blocks of one name and language are joined."""
    found = {}
    text = page.read_text()
    for m in re.finditer(r"<!-- test: (\w+)((?: \w+)*) -->\n+```(\w+)\n(.*?)^```$", text, re.S | re.M):
        parts = found.setdefault(m[1], {"name": m[1], "words": set()})
        parts["words"] |= set(m[2].split())
        parts[m[3]] = parts.get(m[3], "") + m[4]
    return found.values()


def run_case(runner, case):
    name, kind, what = case
    runner.case.seconds, why = 0, None
    try:
        kind(what)
    except Failure as e:
        why = str(e)
    except Skip as e:
        why = e
    except Exception as e:  # a fault of the test itself is a failure of the test
        why = f"{type(e).__name__}: {e}"
    return name, why, runner.case.seconds


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", required=True)
    ap.add_argument("--cc", default="gcc")
    ap.add_argument("--cxx", default="g++")
    ap.add_argument("--sanitize", action="store_true", help="generated code and hosts with address and undefined-behaviour sanitizers")
    ap.add_argument("--short", action="store_true", help="the first only of several lines `// flags:` and `// compiled:`, the sizes of `// race:` in tests/parallel, and generated code at -O1")
    ap.add_argument("--options", default="", help="more options for generated code: '-O3 -march=native -ffp-contract=fast'")
    ap.add_argument("--update", action="store_true", help="rewrite the expected files")
    ap.add_argument("-j", type=int, default=os.cpu_count() + 1, help="cases at a time: one more than processors, as some wait for their threads")
    ap.add_argument("--stop", action="store_true", help="end at the first failure")
    ap.add_argument("-v", action="store_true", help="a line for each case with the processor time that it took, and the processor time that each command took")
    ap.add_argument("--without", default="", metavar="WORD,...", help="leaves out cases whose name contains one of these")
    ap.add_argument("words", nargs="*")
    args = ap.parse_args()
    runner = Runner(args)
    cases = [c for c in runner.cases() if (not args.words or any(w in c[0] for w in args.words)) and not any(w in c[0] for w in args.without.split(",") if w)]
    if args.sanitize:
        cases = [c for c in cases if not c[0].startswith("install/")]
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        if any(c[0].startswith("install/") for c in cases):
            runner.install(tmp)
        for name, why, seconds in pool.map(functools.partial(run_case, runner), cases):
            if isinstance(why, Skip):
                skipped += 1
                print(f"skipped {name}: {why}", flush=True)
            elif why is not None:
                failed += 1
                print(f"FAILED {name}: {why}", flush=True)
                if args.stop:
                    pool.shutdown(cancel_futures=True)
                    return True
            elif args.v:
                print(f"ok {seconds:6.1f} s  {name}", flush=True)
    if args.v:
        print("processor time by command:", ", ".join(f"{name} {seconds:.0f}" for name, seconds in runner.took.most_common()))
    print(f"{len(cases) - failed - skipped} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
