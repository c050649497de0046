"""tkc beside JAX and Taichi: run.sh makes the environment that this runs in, and README.md says what is measured.

    run.py BUILD [--compiler gcc|clang] [--check] [--rounds N] [--threads 1,2] [NAME...]

A side of a case is a process that makes its data, runs the gradient once, and then runs what it is told and says how long that took. All sides of a case
live at once and take turns: some episodes of one, then some of the next.
"""
import argparse
import functools
import importlib
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
CASES = ["gmm", "lstm", "kmeans", "nbody", "wave", "smoke", "diffmpm", "billiards", "electric", "mass_spring", "volume_renderer"]
NAMES = {"tkc": "tkc", "jax": "JAX", "taichi": "Taichi"}
TOLERANCE = {"f64": 1e-9, "f32": 1e-3}  # of losses and gradients, relative: the norm of a difference over the norm
TURN_MS = 100.0                         # what a turn takes at least, if one run is not longer


class Side:
    """A process that answers with times."""
    def __init__(self, name, command, folder, env, processors):
        self.name, self.errors = name, open(folder / f"{name}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        preexec_fn=functools.partial(os.sched_setaffinity, 0, processors))
        self.loss = float(self._line()[0])
        self.counts = {}

    def _line(self):
        words = ["[Taichi]"]
        while words and words[0] == "[Taichi]":     # what it says when it starts
            words = self.process.stdout.readline().split()
        if not words:
            self.process.wait()
            self.errors.seek(0)
            sys.exit(f"{self.errors.name}: ended with status {self.process.returncode}\n" + self.errors.read()[-4000:])
        return words

    def ask(self, what, n):
        """Milliseconds of one run, those of its processors, and the loss."""
        print(what, n, file=self.process.stdin, flush=True)
        return [float(w) for w in self._line()]

    def turn(self, what, threads):
        """Of one thread the time on the processor, since others use the machine; of several that on the clock."""
        if what not in self.counts:
            self.counts[what] = max(1, round(TURN_MS / max(self.ask(what, 2)[1], 1e-3)))
        return self.ask(what, self.counts[what])[0 if threads > 1 else 1]

    def end(self):
        """The most memory that it had, in MB."""
        self.process.stdin.close()
        peak = int(self.process.stdout.read().split()[-1]) / 1024
        self.process.wait()
        self.errors.close()
        return peak


class Builder:
    """Programs and libraries of tkc's side, of which each is made once."""
    def __init__(self, build, compiler, work):
        self.build, self.compiler, self.work = build, compiler, work
        self.flags = ["-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-pthread"]
        if "clang" in compiler:
            self.flags += ["-fveclib=libmvec", "-mavx2"]

    @staticmethod
    def _run(*command):
        done = subprocess.run([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(" ".join(map(str, command)) + "\n" + done.stdout[-4000:])
        return done.stdout

    @functools.lru_cache(maxsize=None)
    def of(self, name, real):
        case = importlib.import_module(name).CASE
        out = self.work / f"{Path(self.compiler).name}-{real}"
        out.mkdir(parents=True, exist_ok=True)
        self._run(self.build / "compiler" / "tkc", f"--real={real}", f"--prefix={name}", ROOT / case.source, "-o", out / f"{name}.c")
        command = [self.compiler, *self.flags, f"-I{out}", f"-I{ROOT / 'runtime' / 'include'}", out / f"{name}.c"]
        libraries = [self.build / "runtime" / "libtkc.a", "-lm"]
        if case.is_sample:
            common, made = ROOT / "samples" / "common", out / name
            packages = self._run("pkg-config", "--cflags", "--libs", "popt", "cairo").split()
            wraps = [f"-Wl,--wrap=tk_tape_{f}" for f in ("enter", "step", "leave")]
            self._run(*command, f"-I{common}", *sorted((ROOT / case.source).parent.glob("*.c")), *(common / f"{f}.c" for f in ("draw", "picture")), HERE / "host.c", "-o", made, *libraries, *packages, *wraps)
            return made
        made, defines = out / f"{name}.so", {"HEADER": f'"{name}.h"'}
        if case.kernel:
            assignments = ", ".join(f"p.{p} = v[{k}]" for k, p in enumerate(case.params))
            defines |= {"MODULE": name, "KERNEL": case.kernel, "LOSS": case.loss, "PARAMS": assignments}
        else:
            defines["WORKSPACE"] = case.workspace
        self._run(*command, "-shared", "-fPIC", *(f"-D{k}={v}" for k, v in defines.items()), HERE / "kernel.c", "-o", made, *libraries)
        return made


def start(case, numbers, real, threads, builder):
    """The sides of a case, tkc's first: it writes the data that those of samples begin with."""
    made = builder.of(case.name, real)
    folder = builder.work / "data" / f"{case.name}-{real}"
    folder.mkdir(parents=True, exist_ok=True)
    processors = sorted(os.sched_getaffinity(0))[:threads]
    if len(processors) < threads:
        sys.exit(f"{threads} threads want as many processors")
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE), JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1" if real == "f64" else "0")
    if threads == 1:
        env["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    sides = []
    for name in (["tkc"] if case.is_sample else []) + list(case.sides):
        if name == "tkc" and case.is_sample:
            names = ",".join(dict.fromkeys(case.inputs + case.parameters))
            command = [str(made), f"--size={numbers[0]}", f"--steps={numbers[1]}", f"--threads={threads}", f"--folder={folder}", f"--dump={names}"]
        else:
            command = [sys.executable, str(HERE / f"{case.name}.py"), f"--side={name}", f"--numbers={','.join(map(str, numbers))}", f"--real={real}",
                       f"--threads={threads}", f"--folder={folder}", f"--module={made}", f"--cache={builder.work / 'cache'}"]
        sides.append(Side(name, command, folder, env, processors))
    return sides, folder


def difference(case, sides, real, folder):
    """The greatest relative difference of losses and gradients from tkc's; too great a one ends the program."""
    worst = 0.0
    for side in sides:
        found = {"loss": abs(side.loss - sides[0].loss) / abs(sides[0].loss)}
        value = side.ask("primal", 1)[2]
        found["loss without a gradient"] = abs(value - side.loss) / abs(side.loss)
        for p in case.parameters:
            ours, theirs = (np.fromfile(folder / f"{p}.{s}.f64") for s in ("tkc", side.name))
            norm = np.linalg.norm(ours)
            found[f"gradient of {p}"] = np.linalg.norm(ours - theirs) / norm if norm and np.isfinite(norm) else np.inf
        for what, d in found.items():
            if not d <= TOLERANCE[real]:
                sys.exit(f"{case.name}, {real}: {what} of {NAMES[side.name]} differs from tkc's by {d:.1e}, more than {TOLERANCE[real]:.0e}")
        worst = max(worst, *found.values())
    return worst


def measure(case, label, numbers, threads, rounds, builder, exact):
    """Prints the rows of one size. exact: what else is said of differences."""
    sides, folder = start(case, numbers, case.real, threads, builder)
    worst = difference(case, sides, case.real, folder)
    times = {what: {s.name: [] for s in sides} for what in ("primal", "gradient")}
    for what, of in times.items():
        for _ in range(rounds):
            for side in sides:
                of[side.name].append(side.turn(what, threads))
    peak = {s.name: s.end() for s in sides}
    for what, of in times.items():
        cells = [f"{statistics.median(of[s]):.4g}" if s in of else "" for s in NAMES]
        cells += [f"{statistics.median(b / a for a, b in zip(of['tkc'], of[s])):.2g}" if s in of else "" for s in ("jax", "taichi")]
        memory = ", ".join(f"{peak[s]:.0f}" if s in peak else "-" for s in NAMES)
        print(f"| {case.name} | {label} | {case.real} | {threads} | {what} | " + " | ".join(cells) + f" | {memory} | {worst:.0e}{exact} |", flush=True)


def compare(case, numbers, real, builder):
    sides, folder = start(case, numbers, real, 1, builder)
    worst = difference(case, sides, real, folder)
    for side in sides:
        side.end()
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--compiler", default=os.environ.get("CC", "clang"))
    parser.add_argument("--check", action="store_true", help="results alone, at tiny sizes, in f64 and in what is timed")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", default="1,2")
    args = parser.parse_intermixed_args()
    unknown = set(args.names) - set(CASES)
    if unknown:
        parser.error(f"no case is called {', '.join(sorted(unknown))}")
    builder = Builder(args.build.resolve(), args.compiler, args.build.resolve() / "peers")
    cases = [importlib.import_module(name).CASE for name in args.names or CASES]
    if args.check:
        for case in cases:
            for real in dict.fromkeys((case.real, "f64")):
                print(f"{case.name}, {real}: {', '.join(NAMES[s] for s in dict.fromkeys(['tkc', *case.sides]))} differ by {compare(case, case.tiny, real, builder):.0e}", flush=True)
        return
    print("| case | size | real | threads | what | tkc, ms | JAX, ms | Taichi, ms | JAX / tkc | Taichi / tkc | MB: tkc, JAX, Taichi | differ by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    threads = [int(t) for t in args.threads.split(",")]
    for case in cases:
        for label, numbers in case.sizes.items():
            exact = f", {compare(case, numbers, 'f64', builder):.0e} in f64" if case.real != "f64" else ""
            for t in threads:
                if t in case.threads:
                    measure(case, label, numbers, t, args.rounds, builder, exact)
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors", file=sys.stderr)


if __name__ == "__main__":
    main()
