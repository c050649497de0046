#!/usr/bin/env python3
"""Times samples of tkc against the same simulators in Taichi, which lie beside this file.

    run.py --work DIR [--rounds N] [--threads 1,2] [--only NAME,...] [--no-f64] [--cc CC]

Wants an installed tkc (PATH, PKG_CONFIG_PATH). DIR, outside of the tree, gets a virtual environment with Taichi from PyPI, what is built, and
data: later runs use it again. Both sides start with the same data, which tkc's side writes. Episodes (forward and backward) alternate, some of
one side, then some of the other. Prints a table; README.md says what is in it.
"""
import argparse
import array
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
TAICHI = "taichi==1.7.4"
# size and steps as the sample has them; inputs: fields that Taichi's side reads; parameters: fields whose gradients are compared
Row = namedtuple("Row", "name what size steps inputs parameters")
ROWS = [
    Row("wave", "256 x 256 points, 256 steps", 256, 256, ("target",), ("initial",)),
    Row("smoke", "128 x 128 cells, 100 steps, 10 sweeps", 128, 100, ("begun", "target"), ("push",)),
    Row("billiards", "11 balls, 1024 steps", 1, 1024, ("x", "goal"), ("x0", "v0")),
    Row("electric", "8 episodes of 512 steps", 8, 512, ("electrode", "goal", "goal_v", "x", "v"), ("w1", "b1", "w2", "b2")),
    Row("mass_spring", "a robot of 4, 682 steps", 1, 682, ("x", "ends", "rest", "goal"), ("of_time", "of_point", "of_goal", "bias", "out_weight", "out_bias")),
    Row("diffmpm", "2,976 particles, 128 x 128 cells, 1024 steps", 128, 1024, (), ("weights",)),
    Row("volume_renderer", "48 x 48 x 48 voxels, 7 images of 80 x 80", 48, 6, ("target",), ("raw",)),
]
BATCH_MS = 300.0    # a batch is about so long, or one episode


class Side:
    """A process that answers with the times of episodes."""
    def __init__(self, name, command, folder, env):
        self.errors = open(folder / f"{name}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.times = []
        words = self._line()
        self.loss, self.first = float(words[0]), float(words[1])

    def _line(self):
        words = ["[Taichi]"]
        while words and words[0] == "[Taichi]":     # what it says when it starts
            words = self.process.stdout.readline().split()
        if not words:
            self.process.wait()
            self.errors.seek(0)
            sys.exit(f"{self.errors.name}: ended with status {self.process.returncode}\n" + self.errors.read()[-4000:])
        return words

    def episodes(self, n):
        print(n, file=self.process.stdin, flush=True)
        return [float(t) for t in self._line()]

    def batch(self, n):
        self.times.append(statistics.median(self.episodes(n)))

    def end(self):
        """The most memory that it had, in MB."""
        self.process.stdin.close()
        peak = int(self.process.stdout.read().split()[-1]) / 1024
        self.process.wait()
        self.errors.close()
        return peak


def quietly(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stdout[-4000:])
    return done.stdout


def make_environment(work):
    python, ready = work / "venv" / "bin" / "python3", work / "venv" / "ready"
    if not ready.exists():
        quietly([sys.executable, "-m", "venv", str(work / "venv")])
        quietly([str(python), "-m", "pip", "install", "--quiet", TAICHI, "numpy"])
        ready.touch()
    return python


def copy_samples(work):
    """All of them, since they import from each other, with host.c in place of what has their main."""
    shutil.copytree(ROOT / "samples", work / "samples", dirs_exist_ok=True, ignore=shutil.ignore_patterns("build-*", "*.png", "*.state"))
    shutil.copy2(HERE / "host.c", work / "samples" / "common" / "sample.c")


def build(row, real, work, cc):
    folder = work / "samples" / row.name
    quietly(["make", "-C", str(folder), f"CC={cc}", "CFLAGS=-march=native", f"REAL={real}"])
    return folder / (row.name if real == "f32" else f"{row.name}-f64")


def commands(row, program, python, real, threads, folder, work):
    names = ",".join(row.inputs + row.parameters)
    size = [f"--size={row.size}", f"--steps={row.steps}", f"--threads={threads}", f"--folder={folder}"]
    tkc = [str(program), *size, f"--dump={names}"]
    return tkc, [str(python), str(HERE / f"{row.name}.py"), *size, f"--real={real}", f"--cache={work / 'cache'}"]


def numbers(path):
    values = array.array("d")
    values.frombytes(path.read_bytes())
    return values


def gradients_differ(row, folder):
    """Norm of the difference over the norm."""
    square = difference = 0.0
    for name in row.parameters:
        mine, theirs = numbers(folder / f"{name}.grad.f64"), numbers(folder / f"{name}.taichi.f64")
        square += sum(g * g for g in mine)
        difference += sum((g - h) ** 2 for g, h in zip(mine, theirs, strict=True))
    return math.sqrt(difference / square)


def compare(row, python, work, args, env):
    """Relative differences of loss and gradient in f64."""
    folder = work / "data" / f"{row.name}-f64"
    folder.mkdir(parents=True, exist_ok=True)
    tkc, taichi = commands(row, build(row, "f64", work, args.cc), python, "f64", 1, folder, work)
    a = Side("tkc", tkc, folder, env)
    a.end()
    b = Side("taichi", taichi, folder, env)
    b.end()
    return abs(a.loss - b.loss) / abs(a.loss), gradients_differ(row, folder)


def measure(row, program, python, threads, work, rounds, env):
    folder = work / "data" / row.name
    folder.mkdir(parents=True, exist_ok=True)
    tkc, taichi = commands(row, program, python, "f32", threads, folder, work)
    sides = [Side("tkc", tkc, folder, env), Side("taichi", taichi, folder, env)]
    counts = [max(1, round(BATCH_MS / statistics.median(s.episodes(2)))) for s in sides]
    for _ in range(rounds):
        for side, count in zip(sides, counts):
            time.sleep(0.05)    # threads of the other side that wait a while come to rest
            side.batch(count)
    return [(statistics.median(s.times), min(s.times), s.first, s.end()) for s in sides]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-f64", action="store_true")
    parser.add_argument("--cc", default="clang")
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    python, env = make_environment(work), dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    copy_samples(work)
    threads = [int(t) for t in args.threads.split(",")]
    print("| simulator | size | threads | tkc, ms | Taichi, ms | Taichi / tkc | least of both, ms | tkc, MB | Taichi, MB | loss differs by | gradient by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in ROWS:
        if args.only and row.name not in args.only.split(","):
            continue
        program = build(row, "f32", work, args.cc)
        differ = (math.nan, math.nan) if args.no_f64 else compare(row, python, work, args, env)
        for t in threads:
            a, b = measure(row, program, python, t, work, args.rounds, env)
            print(f"| {row.name} | {row.what} | {t} | {a[0]:.4g} | {b[0]:.4g} | {b[0] / a[0]:.2g} | {a[1]:.4g}, {b[1]:.4g} | {a[3]:.0f} | {b[3]:.0f}"
                  f" | {differ[0]:.0e} | {differ[1]:.0e} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
