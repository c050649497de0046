"""Clusters, tests/gradbench/kmeans: squared distances to the nearest centre, by the centres. (GradBench wants the Hessian's diagonal as well.)"""
import numpy as np

from sides import Case, jax_work, kernel_of_tkc, serve, taichi_begin, taichi_work


def data(o):
    n, k, d = o.numbers
    points = np.random.default_rng(31337).uniform(size=(n, d))
    return {"points": points, "centres": points[n - k:]}


def in_tkc(o):
    return kernel_of_tkc(o, data(o))


def in_jax(o):
    import jax.numpy as jnp
    inputs = data(o)

    def objective(p, points):
        centres = p["centres"]
        squares = (points ** 2).sum(1)[:, None] + (centres ** 2).sum(1) - 2.0 * points @ centres.T
        return squares.min(1).sum()

    return jax_work(objective, {"centres": inputs["centres"]}, inputs["points"])


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    n, k, d = o.numbers
    inputs = data(o)
    points = ti.Vector.field(d, real, shape=n)
    centres = ti.Vector.field(d, real, shape=k, needs_grad=True)
    nearest = ti.field(ti.i32, shape=n)
    cost = ti.field(real, shape=(), needs_grad=True)

    @ti.kernel
    def find():
        for i in points:
            least, at = real(1e300), 0
            for c in range(k):
                square = (points[i] - centres[c]).norm_sqr()
                if square < least:
                    least, at = square, c
            nearest[i] = at

    @ti.kernel
    def measure():
        for i in points:
            cost[None] += (points[i] - centres[nearest[i]]).norm_sqr()

    points.from_numpy(inputs["points"])
    centres.from_numpy(inputs["centres"])
    # find is not on the tape: which centre it is has no derivative. A minimum that a loop carries gets a wrong gradient in Taichi 1.7.4, or a crash.
    return taichi_work(cost, {"centres": centres}, measure, before=find)


CASE = Case(name="kmeans", source="tests/gradbench/kmeans/kmeans.tk", params=("N", "K", "D"), kernel="measure", loss="cost", parameters=("centres",),
            sizes={"10000 points, k10 d8": (10000, 10, 8), "10000 points, k100 d16": (10000, 100, 16)}, tiny=(50, 4, 3),
            sides={"tkc": in_tkc, "jax": in_jax, "taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
