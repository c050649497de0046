#!/usr/bin/env python3
"""Messages, bytes and times of samples/ocean on 1, 2 and 4 processes, and a model of many: large.py OCEAN [--check] [--real BYTES] [--mpirun COMMAND] [--runs N]

OCEAN is the sample's program, built with MPI. Bytes and messages of the process that sends most are those of the formula, or the status is 1; --check, at tiny sizes, does
no more. Times are the least of the episodes of --runs runs (3), which take turns: milliseconds of a step there and back.
"""
import argparse
import math
import re
import subprocess
import sys

WIDTH, VALUES = 2, 3  # layers of ghosts; h, u and v
LATENCY, BANDWIDTH, CELL = 2e-6, 10e9, 30e-9  # of the model: seconds a message, bytes a second of a process, seconds of a cell and step there and back


def sides(processes):
    """As MPI_Dims_create: the largest first."""
    b = max(k for k in range(1, math.isqrt(processes) + 1) if processes % k == 0)
    return processes // b, b


def neighbours(k):
    """Of the part with the most of k along a side."""
    return min(k - 1, 2)


def ghosts(processes, size):
    """Messages of an exchange, and cells: of the part that sends most."""
    p, q = sides(processes)
    up, across = neighbours(p), neighbours(q)
    a, b = -(-size // p), -(-size // q)
    cells = WIDTH * (up * b + across * a) + WIDTH * WIDTH * up * across
    return up + across + up * across, cells


def run(options, processes, size, steps, iterations):
    """Traffic of an episode, and milliseconds."""
    command = [*options.mpirun.split(), "-n", str(processes), options.ocean, f"--size={size}", f"--steps={steps}", f"--iterations={iterations}", "--budget=0", "--no-picture", "--traffic"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"primal (\d+) messages, (\d+) bytes; adjoint (\d+) messages, (\d+) bytes; (\d+) agreements; ([\d.]+) ms", said)
    return [int(x) for x in found[-1][:5]], min(float(x[5]) for x in found)


def is_right(options, processes, size, steps, counts):
    messages, cells = ghosts(processes, size)
    once = [messages * (steps + 1), options.real * cells * (VALUES * steps + 1)]
    # agreements: of a tape, of begin, end and adjoint of each step, of the bottom's exchange and the sum there and back, of its sizes
    wanted = [*once, *once, 3 + 3 * steps + 5]
    if counts != wanted:
        print(f"{processes} processes, {size} cells: {counts}, by the formula {wanted}")
    return counts == wanted


def check(options):
    return all([is_right(options, p, size, 10, run(options, p, size, 10, 0)[0]) for p, size in ((1, 12), (2, 12), (4, 12), (9, 18))])


def measure(options):
    steps, cases = 10, [("strong", p, 256) for p in (1, 2, 4)] + [("weak", p, s) for p, s in ((1, 128), (2, 181), (4, 256))]
    least, right = [math.inf] * len(cases), True
    for _ in range(options.runs):
        for k, (_, processes, size) in enumerate(cases):
            counts, ms = run(options, processes, size, steps, 40)
            right = is_right(options, processes, size, steps, counts) and right
            least[k] = min(least[k], ms / steps)
    print("| | processes | cells a side | ms a step | messages | bytes |\n| --- | --- | --- | --- | --- | --- |")
    for (kind, processes, size), ms in zip(cases, least):
        messages, cells = ghosts(processes, size)
        print(f"| {kind} | {processes} | {size} | {ms:.2f} | {messages} | {options.real * VALUES * cells:,} |")
    return right


def model(options):
    """Of the part in the middle, with 8 neighbours: bytes each way, and what a step takes there and back, without an overlap."""
    print(f"\nA message: {LATENCY * 1e6:g} us, and {BANDWIDTH / 1e9:g} GB/s; a cell: {CELL * 1e9:g} ns\n")
    print("| processes | cells of each | messages | bytes | us: cells | messages | agreements | efficiency |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind, processes, a in [("weak", 10 ** k, 256) for k in (2, 3, 4, 5)] + [("strong", 10 ** k, round(25600 / math.sqrt(10 ** k))) for k in (3, 4, 5)]:
        size = options.real * VALUES * (4 * WIDTH * a + 4 * WIDTH * WIDTH)
        work, sent, agreed = CELL * a * a, 2 * (8 * LATENCY + size / BANDWIDTH), 3 * math.log2(processes) * LATENCY
        print(f"| {kind} | {processes:,} | {a}² | 8 | {size:,} | {1e6 * work:.0f} | {1e6 * sent:.0f} | {1e6 * agreed:.0f} | {100 * work / (work + sent + agreed):.0f}% |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ocean")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--real", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--mpirun", default="mpirun --bind-to none --oversubscribe")
    options = parser.parse_args()
    if options.check:
        return not check(options)
    right = measure(options)
    model(options)
    return not right


sys.exit(main())
