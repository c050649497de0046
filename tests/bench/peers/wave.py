"""The wave equation, samples/wave: 256 steps, by the first height."""
from sides import Case, jax_work, serve, taichi_begin, taichi_work

COURANT = 0.5


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    n, steps = o.numbers

    initial = ti.field(real, shape=(n, n), needs_grad=True)
    u = ti.field(real, shape=(steps + 1, n, n), needs_grad=True)
    target = ti.field(real, shape=(n, n))
    loss = ti.field(real, shape=(), needs_grad=True)

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
            u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + COURANT * COURANT * laplacian(t, i, j)

    @ti.kernel
    def measure():
        for i, j in target:
            loss[None] += (u[steps, i, j] - target[i, j]) ** 2 / (n * n)

    def forward():
        begin()
        for t in range(1, steps):
            step(t)
        measure()

    initial.from_numpy(o.read("initial", n, n))
    target.from_numpy(o.read("target", n, n))
    return taichi_work(loss, {"initial": initial}, forward)


def in_jax(o):
    import jax
    import jax.numpy as jnp
    n, steps = o.numbers

    def objective(p, target):
        first = jnp.pad(n * p["initial"][1:-1, 1:-1], 1)

        def step(heights, _):
            before, now = heights
            around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
            inner = now[1:-1, 1:-1]
            after = 2.0 * inner - before[1:-1, 1:-1] + COURANT * COURANT * (around - 4.0 * inner)
            return (now, jnp.pad(after, 1)), None

        (_, last), _ = jax.lax.scan(step, (first, first), length=steps - 1)
        return ((last - target) ** 2).mean()

    return jax_work(objective, {"initial": o.read("initial", n, n)}, o.read("target", n, n))


CASE = Case(name="wave", source="samples/wave/wave.tk", inputs=("initial", "target"), parameters=("initial",), real="f32", threads=(1, 2),
            sizes={"256 x 256 points, 256 steps": (256, 256)}, tiny=(16, 12), sides={"jax": in_jax, "taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
