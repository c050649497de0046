"""What the cases and their sides share.

A case file has a `Case`, and functions that make a side's `Work`: its fields, its kernels, and how to run the objective and its gradient. Run as a
program it is one side of one case: it says the loss, leaves its gradients in a folder, and answers run.py (`serve`). tkc's side is here (`kernel_of_tkc`),
or host.c, where the case is a sample.
"""
import argparse
import ctypes
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Case:
    name: str
    source: str                 # the .tk file, from the root of the tree
    sizes: dict                 # what the table says: numbers, which the sides understand. Of a sample --size and --steps
    tiny: tuple                 # the same numbers, for --check
    parameters: tuple           # fields whose gradients are compared
    inputs: tuple = ()          # of a sample: fields that the peers read
    params: tuple = ()          # of a kernel: what the numbers are
    kernel: str = ""
    workspace: str = ""         # of an export func, which is no kernel: the macro that says how large its workspace is
    loss: str = "loss"
    real: str = "f64"           # what is timed; f32 is checked in f64 besides
    threads: tuple = (1,)
    sides: dict = field(default_factory=dict)   # peers' names: functions that make their work

    @property
    def is_sample(self):
        return self.source.startswith("samples/")


@dataclass
class Work:
    primal: object              # both run the objective so many times: called with a number
    gradient: object
    loss: object                # after that, the loss
    gradients: object           # after that, a dictionary of arrays


class Options:
    """What run.py tells a side."""
    def __init__(self, case):
        parser = argparse.ArgumentParser()
        parser.add_argument("--side", required=True)
        parser.add_argument("--threads", type=int, default=1)
        parser.add_argument("--real", choices=("f32", "f64"), default="f64")
        parser.add_argument("--numbers", required=True)
        parser.add_argument("--folder", type=Path, required=True)
        parser.add_argument("--module", default="")
        parser.add_argument("--cache", default="")
        args = parser.parse_args()
        self.case, self.side, self.threads, self.folder, self.module, self.cache = case, args.side, args.threads, args.folder, args.module, args.cache
        self.numbers = tuple(int(n) for n in args.numbers.split(","))
        self.dtype = np.float32 if args.real == "f32" else np.float64

    def read(self, name, *shape):
        """Numbers of a sample's field, as tkc's side left them, of this shape; the components of vectors last."""
        return np.fromfile(self.folder / f"{name}.f64").reshape(shape).astype(self.dtype)


def repeated(f):
    def run(n):
        for _ in range(n):
            f()
    return run


# ---- JAX ----

def jax_work(objective, parameters, *data):
    """objective(parameters, *data): parameters is a dictionary of arrays, by which it is differentiated."""
    import jax
    place = lambda tree: jax.tree.map(jax.numpy.asarray, tree)
    parameters, data = place(parameters), place(data)
    value, both = jax.jit(objective), jax.jit(jax.value_and_grad(objective))
    last = {}

    def primal():
        last["loss"] = value(parameters, *data).block_until_ready()

    def gradient():
        last["loss"], last["gradients"] = jax.block_until_ready(both(parameters, *data))

    return Work(repeated(primal), repeated(gradient), lambda: float(last["loss"]), lambda: last["gradients"])


# ---- Taichi ----

def taichi_begin(o, **more):
    """more: of ti.init. Returns what `real` is."""
    import taichi as ti
    cache = {"offline_cache": True, "offline_cache_file_path": o.cache} if o.cache else {"offline_cache": False}
    real = ti.f64 if o.dtype == np.float64 else ti.f32
    ti.init(arch=ti.cpu, cpu_max_num_threads=o.threads, default_fp=real, log_level=ti.ERROR, **cache, **more)
    return real


def taichi_work(loss, parameters, forward, before=lambda: None):
    """forward launches the kernels; before prepares fields, which a tape is not to see."""
    import taichi as ti

    def primal():
        before()
        loss[None] = 0.0
        forward()
        ti.sync()

    def gradient():
        before()
        with ti.ad.Tape(loss):
            forward()
        ti.sync()

    return Work(repeated(primal), repeated(gradient), lambda: loss[None], lambda: {k: f.grad.to_numpy() for k, f in parameters.items()})


# ---- tkc ----

def doubles(a):
    return a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def kernel_of_tkc(o, inputs):
    """inputs: fields by their names. The library has the module, and kernel.c."""
    lib = ctypes.CDLL(o.module)
    lib.peer_create.restype, lib.peer_error.restype, lib.peer_loss.restype = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double
    module = ctypes.c_void_p(lib.peer_create(o.threads, (ctypes.c_int64 * len(o.numbers))(*o.numbers)))
    if not module:
        sys.exit(lib.peer_error().decode())

    def moved(move, name, a):
        if move(module, name.encode(), ctypes.c_int64(a.size), doubles(a)):
            sys.exit(f"{name}: {lib.peer_error().decode()}")
        return a

    for name, a in inputs.items():
        moved(lib.peer_set, name, np.ascontiguousarray(a, np.float64))
    return Work(lambda n: lib.peer_primal(module, n), lambda n: lib.peer_gradient(module, n), lambda: lib.peer_loss(module),
                lambda: {name: moved(lib.peer_get, name, np.zeros(np.shape(inputs[name]))) for name in o.case.parameters})


# ---- the conversation with run.py ----

def serve(case):
    """Says the loss, and what gradients there are in files; then answers "primal N" and "gradient N" with milliseconds, those of the process, the loss."""
    o = Options(case)
    work = case.sides[o.side](o)
    work.gradient(1)
    for name, a in work.gradients().items():
        np.asarray(a, np.float64).tofile(o.folder / f"{name}.{o.side}.f64")
    print(f"{work.loss():.17g}", flush=True)
    for line in sys.stdin:
        what, n = line.split()
        run = work.primal if what == "primal" else work.gradient
        clock, used = time.perf_counter(), time.process_time()
        run(int(n))
        clock, used = time.perf_counter() - clock, time.process_time() - used
        print(f"{1e3 * clock / int(n):.6f} {1e3 * used / int(n):.6f} {work.loss():.17g}", flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
