"""Smoke, samples/smoke, with sweeps of Jacobi's method: 100 steps, by the first velocities."""
import numpy as np

from sides import Case, jax_work, serve, taichi_begin, taichi_work

SWEEPS = 10


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    n, steps = o.numbers
    vec2, vec3 = ti.types.vector(2, real), ti.types.vector(3, real)

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
        for k in ti.static(range(SWEEPS)):
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

    def forward():
        begin()
        pressure()
        project(0)
        for t in range(steps):
            advect(t)
            pressure()
            project(t + 1)
        measure()

    push.from_numpy(o.read("push", n, n, 2))
    begun.from_numpy(o.read("begun", n, n))
    target.from_numpy(o.read("target", n, n))
    return taichi_work(loss, {"push": push}, forward)


def in_jax(o):
    import jax
    import jax.numpy as jnp
    n, steps = o.numbers
    rows, columns = np.indices((n, n))

    def after(a, axis):     # its neighbours to the right, or above
        return jnp.roll(a, -1, axis)

    def before(a, axis):
        return jnp.roll(a, 1, axis)

    def carried(a, wind_x, wind_y):
        from_x, from_y = rows - wind_x, columns - wind_y
        low_x, low_y = jnp.floor(from_x), jnp.floor(from_y)
        fx, fy = from_x - low_x, from_y - low_y
        i, j = low_x.astype(int) & (n - 1), low_y.astype(int) & (n - 1)
        i1, j1 = (i + 1) & (n - 1), (j + 1) & (n - 1)
        low, high = a[i, j] * (1.0 - fx) + a[i1, j] * fx, a[i, j1] * (1.0 - fx) + a[i1, j1] * fx
        return low * (1.0 - fy) + high * fy

    def advect(u, v, s):
        u_there = 0.25 * (u + after(u, 0) + before(u, 1) + after(before(u, 1), 0))
        v_there = 0.25 * (v + before(v, 0) + after(v, 1) + before(after(v, 1), 0))
        return carried(u, u, v_there), carried(v, u_there, v), carried(s, 0.5 * (u + after(u, 0)), 0.5 * (v + after(v, 1)))

    def project(u, v):
        div, press = after(u, 0) - u + after(v, 1) - v, jnp.zeros_like(u)
        for _ in range(SWEEPS):
            press = 0.25 * (before(press, 0) + after(press, 0) + before(press, 1) + after(press, 1) - div)
        return u - (press - before(press, 0)), v - (press - before(press, 1))

    def objective(p, begun, target):
        @jax.checkpoint     # keeps q alone: as fast, in half of the memory
        def step(q, _):
            u, v, s = advect(*q)
            return (*project(u, v), s), None

        first = (n / steps) * p["push"]
        (_, _, smoke), _ = jax.lax.scan(step, (*project(first[..., 0], first[..., 1]), begun), length=steps)
        return ((smoke - target) ** 2).mean()

    return jax_work(objective, {"push": o.read("push", n, n, 2)}, o.read("begun", n, n), o.read("target", n, n))


CASE = Case(name="smoke", source="samples/smoke/smoke.tk", inputs=("begun", "target", "push"), parameters=("push",), real="f32", threads=(1, 2),
            sizes={"128 x 128 cells, 100 steps, 10 sweeps": (128, 100)}, tiny=(16, 4), sides={"jax": in_jax, "taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
