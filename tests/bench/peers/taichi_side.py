"""What the simulators in Taichi share: options, initial data as tkc's side left them, and answers to run.py.

A simulator makes an `Options`, fields, kernels and a function that runs an episode with its tape, and calls `serve`.
"""
import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
import taichi as ti


class Options:
    def __init__(self, **more):
        """more: of ti.init."""
        parser = argparse.ArgumentParser()
        parser.add_argument("--threads", type=int, default=1)
        parser.add_argument("--real", choices=("f32", "f64"), default="f32")
        parser.add_argument("--size", type=int, default=0)
        parser.add_argument("--steps", type=int, default=0)
        parser.add_argument("--folder", type=Path, required=True)
        parser.add_argument("--cache", default="")
        parser.add_argument("--profile", action="store_true")
        args = parser.parse_args()
        self.size, self.steps, self.folder, self.profile = args.size, args.steps, args.folder, args.profile
        self.real = ti.f64 if args.real == "f64" else ti.f32
        cache = {"offline_cache": True, "offline_cache_file_path": args.cache} if args.cache else {"offline_cache": False}
        ti.init(arch=ti.cpu, cpu_max_num_threads=args.threads, default_fp=self.real, log_level=ti.ERROR, kernel_profiler=args.profile, **cache, **more)

    def read(self, name, *shape):
        """Numbers of a field of tkc's side, of this shape; the components of vectors last."""
        return np.fromfile(self.folder / f"{name}.f64").reshape(shape).astype(np.float64 if self.real == ti.f64 else np.float32)


def _write(folder, name, grad):
    grad.to_numpy().astype(np.float64).tofile(folder / f"{name}.taichi.f64")


def serve(options, loss, parameters, episode):
    """parameters: name and field of those whose gradients are compared."""
    def run():
        start = time.perf_counter()
        episode()
        ti.sync()
        return 1e3 * (time.perf_counter() - start)

    first = run()
    for name, field in parameters.items():
        _write(options.folder, name, field.grad)
    print(f"{loss[None]:.17g} {first:.3f}", flush=True)
    if options.profile:
        ti.profiler.clear_kernel_profiler_info()
    for line in sys.stdin:
        print(" ".join(f"{run():.6f}" for _ in range(int(line))), flush=True)
    if options.profile:
        ti.profiler.print_kernel_profiler_info()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
