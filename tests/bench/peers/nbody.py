"""Bodies under their gravity, tests/bench/hand/nbody.tk: the energy of all ordered pairs, by the positions."""
import numpy as np

from sides import Case, jax_work, kernel_of_tkc, serve, taichi_begin, taichi_work

EPS = 1e-3


def data(o):
    return {"x": np.random.default_rng(7).uniform(-1.0, 1.0, size=(o.numbers[0], 2))}


def in_tkc(o):
    return kernel_of_tkc(o, data(o))


def in_jax(o):
    import jax
    import jax.numpy as jnp

    def objective(p):
        x, y = p["x"].T

        @jax.checkpoint     # and 64 rows at a time: a table of all pairs does not fit into the cache, and takes eight times as long
        def pulls(a, b):
            return (1.0 / jnp.sqrt((a - x) ** 2 + (b - y) ** 2 + EPS)).sum()

        return -jax.lax.map(lambda at: pulls(*at), (x, y), batch_size=64).sum()

    return jax_work(objective, data(o))


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    n = o.numbers[0]
    x = ti.Vector.field(2, real, shape=n, needs_grad=True)
    energy = ti.field(real, shape=(), needs_grad=True)

    @ti.kernel
    def run():
        for i, j in ti.ndrange(n, n):
            energy[None] += -1.0 / (x[i] - x[j]).norm(EPS)

    x.from_numpy(data(o)["x"])
    return taichi_work(energy, {"x": x}, run)


CASE = Case(name="nbody", source="tests/bench/hand/nbody.tk", params=("N",), kernel="run", loss="U", parameters=("x",), threads=(1, 2),
            sizes={"256 bodies": (256,), "4096 bodies": (4096,)}, tiny=(20,), sides={"tkc": in_tkc, "jax": in_jax, "taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
