"""samples/smoke in Taichi, with sweeps of Jacobi's method."""
import taichi as ti

from taichi_side import Options, serve

options = Options()
n, steps, sweeps = options.size, options.steps, 10
real, vec2, vec3 = options.real, ti.types.vector(2, options.real), ti.types.vector(3, options.real)

push = ti.Vector.field(2, real, shape=(n, n), needs_grad=True)
begun = ti.field(real, shape=(n, n))
q = ti.Vector.field(3, real, shape=(steps + 1, n, n), needs_grad=True)
carried = ti.Vector.field(3, real, shape=(n, n), needs_grad=True)
div = ti.field(real, shape=(n, n), needs_grad=True)
press = ti.field(real, shape=(2, n, n), needs_grad=True)
target = ti.field(real, shape=(n, n))
loss = ti.field(real, shape=(), needs_grad=True)


@ti.func
def wrap(i):
    return i & (n - 1)


@ti.kernel
def advect(t: ti.i32):
    for i, j in carried:
        l, r, d, u = wrap(i - 1), wrap(i + 1), wrap(j - 1), wrap(j + 1)
        x, y = q[t, i, j][0], q[t, i, j][1]
        wind = ti.Matrix([[x, 0.25 * (y + q[t, l, j][1] + q[t, i, u][1] + q[t, l, u][1])],
                          [0.25 * (x + q[t, r, j][0] + q[t, i, d][0] + q[t, r, d][0]), y],
                          [0.5 * (x + q[t, r, j][0]), 0.5 * (y + q[t, i, u][1])]])
        for c in ti.static(range(3)):
            from_x, from_y = i - wind[c, 0], j - wind[c, 1]
            a, b = ti.floor(from_x, ti.i32), ti.floor(from_y, ti.i32)
            fx, fy = from_x - a, from_y - b
            a0, a1, b0, b1 = wrap(a), wrap(a + 1), wrap(b), wrap(b + 1)
            low = q[t, a0, b0][c] * (1.0 - fx) + q[t, a1, b0][c] * fx
            high = q[t, a0, b1][c] * (1.0 - fx) + q[t, a1, b1][c] * fx
            carried[i, j][c] = low * (1.0 - fy) + high * fy


@ti.kernel
def pressure():
    for i, j in div:
        div[i, j] = carried[wrap(i + 1), j][0] - carried[i, j][0] + carried[i, wrap(j + 1)][1] - carried[i, j][1]
    for i, j in div:
        press[0, i, j] = 0.0
    for k in ti.static(range(sweeps)):
        for i, j in div:
            around = press[k % 2, wrap(i - 1), j] + press[k % 2, wrap(i + 1), j] + press[k % 2, i, wrap(j - 1)] + press[k % 2, i, wrap(j + 1)]
            press[1 - k % 2, i, j] = 0.25 * (around - div[i, j])


@ti.kernel
def project(t: ti.i32):
    for i, j in carried:
        slope_x, slope_y = press[0, i, j] - press[0, wrap(i - 1), j], press[0, i, j] - press[0, i, wrap(j - 1)]
        q[t, i, j] = carried[i, j] - vec3(slope_x, slope_y, 0.0)


@ti.kernel
def begin():
    for i, j in carried:
        carried[i, j] = vec3(n / steps * push[i, j][0], n / steps * push[i, j][1], begun[i, j])


@ti.kernel
def measure():
    for i, j in target:
        loss[None] += (q[steps, i, j][2] - target[i, j]) ** 2 / (n * n)


def episode():
    with ti.ad.Tape(loss):
        begin()
        pressure()
        project(0)
        for t in range(steps):
            advect(t)
            pressure()
            project(t + 1)
        measure()


push.from_numpy(options.read("push", n, n, 2))
begun.from_numpy(options.read("begun", n, n))
target.from_numpy(options.read("target", n, n))
serve(options, loss, {"push": push}, episode)
