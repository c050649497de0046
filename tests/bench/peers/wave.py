"""samples/wave in Taichi."""
import taichi as ti

from taichi_side import Options, serve

options = Options()
n, steps, courant, damping = options.size, options.steps, 0.5, 0.0

initial = ti.field(options.real, shape=(n, n), needs_grad=True)
u = ti.field(options.real, shape=(steps + 1, n, n), needs_grad=True)
target = ti.field(options.real, shape=(n, n))
loss = ti.field(options.real, shape=(), needs_grad=True)


@ti.kernel
def begin():
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        u[0, i, j] = n * initial[i, j]
        u[1, i, j] = n * initial[i, j]


@ti.func
def laplacian(t, i, j):
    return u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1] - 4.0 * u[t, i, j]


@ti.kernel
def step(t: ti.i32):
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        pull = laplacian(t, i, j)
        if ti.static(damping != 0.0):
            pull += damping * (pull - laplacian(t - 1, i, j))
        u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + courant * courant * pull


@ti.kernel
def measure():
    for i, j in target:
        loss[None] += (u[steps, i, j] - target[i, j]) ** 2 / (n * n)


def episode():
    with ti.ad.Tape(loss):
        begin()
        for t in range(1, steps):
            step(t)
        measure()


initial.from_numpy(options.read("initial", n, n))
target.from_numpy(options.read("target", n, n))
serve(options, loss, {"initial": initial}, episode)
