#!/usr/bin/env python3
"""Times a tool against the programs by hand of a checkout of GradBench, on the same inputs: against.py GRADBENCH TOOL [NAME...].

Builds tools/manual there (g++, nlohmann-json3-dev), in a folder of its own. Both sides take turns, and count the time of their thread; the least counts, as other
programs may run.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 3
RUNS = {"min_runs": 10, "min_seconds": 0.2}


def normal(*shape):
    return [normal(*shape[1:]) for _ in range(shape[0])] if shape else random.gauss(0.0, 1.0)


def uniform(*shape):
    return [uniform(*shape[1:]) for _ in range(shape[0])] if shape else random.random()


def gmm():
    for d, k in ((2, 5), (10, 25), (32, 25), (64, 50)):
        yield f"d{d} K{k}", "jacobian", {"d": d, "k": k, "n": 1000, "x": normal(1000, d), "m": 0, "gamma": 1.0, "alpha": normal(k), "mu": uniform(k, d),
                                         "q": normal(k, d), "l": normal(k, d * (d - 1) // 2)}


def ba():
    camera = [-0.76, -1.11, -0.85, 34.6, 39.7, 53.9, 419.2, 5.9, -8.5, 0.088, 0.0027]
    for n, m, p in ((49, 7776, 31843), (372, 47423, 204472)):
        yield f"n{n} m{m} p{p}", "jacobian", {"n": n, "m": m, "p": p, "cam": camera, "x": [7.2, 0.0, 3.0], "w": 0.42, "feat": [271.8, 834.2]}


def lstm():
    text = [[float(random.random() < 0.5) for _ in range(14)] for _ in range(1024)]
    yield "l2 c1024", "jacobian", {"main_params": uniform(4, 56), "extra_params": uniform(3, 14), "state": uniform(4, 14), "sequence": text}


def ht():
    bones, vertices = 22, 544
    matrices = [normal(bones, 4, 4) for _ in range(2)]
    for m in matrices[0] + matrices[1]:
        m[3] = [0.0, 0.0, 0.0, 1.0]
    weights = [[random.random() if random.random() < 0.12 else 0.0 for _ in range(bones)] for _ in range(vertices)]
    model = {"bone_count": bones, "bone_names": [str(b) for b in range(bones)], "parents": [-1] + [0 if b % 4 == 1 else b - 1 for b in range(1, bones)],
             "base_relatives": matrices[0], "inverse_base_absolutes": matrices[1], "base_positions": [normal(3) + [1.0] for _ in range(vertices)],
             "weights": weights, "triangles": [[v, (v + 1) % vertices, (v + 2) % vertices] for v in range(vertices)], "is_mirrored": False}
    for us in ([], uniform(vertices, 2)):
        yield "complicated" if us else "simple", "jacobian", {
            "theta": normal(26), "us": us, "data": {"correspondences": list(range(vertices)), "points": normal(vertices, 3), "model": model}}


def kmeans():
    for k, d in ((10, 8), (100, 16)):
        points = uniform(10000, d)
        yield f"n10000 k{k} d{d}", "dir", {"points": points, "centroids": points[-k:]}


def lse():
    yield "n100000", "gradient", {"x": uniform(100000)}


def llsq():
    yield "n16392 m128", "gradient", {"x": uniform(128), "n": 16392}


def det():
    for n in (7, 9):
        yield f"l{n}", "gradient", {"A": uniform(n * n), "ell": n}


ALL = [gmm, ba, lstm, ht, kmeans, lse, llsq, det]     # ode has the formula of its solution there


# Stands before each program: its steady_clock is the time of the thread.
CLOCK = """#include <chrono>
#include <time.h>
namespace std::chrono {
struct thread_clock {
    using duration = nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<thread_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept
    {
        timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return time_point(seconds(t.tv_sec) + nanoseconds(t.tv_nsec));
    }
};
}
#define steady_clock thread_clock
"""


def build(gradbench, name, folder):
    """One program by hand. The JSON library is the system's, where GradBench loads it from the network."""
    (folder / "json.hpp").write_text("#include <nlohmann/json.hpp>\n")
    (folder / "clock.hpp").write_text("#include <mutex>\n#include <condition_variable>\n#include <thread>\n" + CLOCK)
    source = Path(gradbench).resolve() / "tools/manual" / f"{name}.cpp"
    command = ["g++", "-std=c++17", "-O3", "-march=native", "-Wno-unknown-pragmas", "-include", str(folder / "clock.hpp"), f"-I{folder}", f"-I{Path(gradbench).resolve()}/cpp", "-o", str(folder / name), str(source), "-lm"]
    subprocess.run(command, check=True)


def ask(tool, name, function, given):
    tool.stdin.write(json.dumps({"id": 0, "kind": "evaluate", "module": name, "function": function, "input": given}) + "\n")
    tool.stdin.flush()
    answer = json.loads(tool.stdout.readline())
    if not answer["success"]:
        sys.exit(f"{name}: {answer['error']}")
    return answer["output"], [t["nanoseconds"] for t in answer["timings"]]


def by_hand(program, function, file):
    lines = subprocess.run([program, file, function], capture_output=True, text=True, check=True).stdout.splitlines()
    timings = [json.loads(line) for line in lines[1:]]
    return json.loads(lines[0]), [t["nanoseconds"] for t in timings if t["name"] == "evaluate"]


def flat(v):
    if isinstance(v, dict):
        return [x for key in sorted(v) for x in flat(v[key])]
    return [x for part in v for x in flat(part)] if isinstance(v, list) else [float(v)]


def main(gradbench, program, *names):
    random.seed(1)
    tool = subprocess.Popen([program, "--cpu"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("| evaluation | size | ours, ms | GradBench's by hand, ms | ours / by hand | difference |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for f in ALL:
            if names and f.__name__ not in names:
                continue
            build(gradbench, f.__name__, folder)
            for size, function, given in f():
                given |= RUNS
                (folder / "input").write_text(json.dumps(given))
                ours, theirs = [], []
                for _ in range(ROUNDS):
                    a, times = ask(tool, f.__name__, function, given)
                    ours += times
                    b, times = by_hand(folder / f.__name__, function, folder / "input")
                    theirs += times
                a, b = flat(a), flat(b)
                difference = max(abs(x - y) for x, y in zip(a, b, strict=True)) / max(map(abs, b))
                print(f"| {f.__name__} | {size} | {min(ours) / 1e6:.3f} | {min(theirs) / 1e6:.3f} | {min(ours) / min(theirs):.2f} | {difference:.0e} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
