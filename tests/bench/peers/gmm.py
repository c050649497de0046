"""A Gaussian mixture model, tests/gradbench/gmm: the logarithm of its posterior, by its parameters."""
import math

import numpy as np

from sides import Case, jax_work, kernel_of_tkc, serve


def data(o):
    n, d, k = o.numbers
    draw = np.random.default_rng(31337)
    return {"x": draw.normal(size=(n, d)), "alpha": draw.normal(size=k), "mu": draw.uniform(size=(k, d)), "q": draw.normal(size=(k, d)),
            "l": draw.normal(size=(k, d * (d - 1) // 2))}


def in_tkc(o):
    return kernel_of_tkc(o, data(o))


def in_jax(o):
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp
    n, d, k = o.numbers
    inputs = data(o)
    x = inputs.pop("x")
    column, row = np.triu_indices(d, 1)     # l has Q below its diagonal, column by column
    prior_constant = k * ((d + 1) * d * math.log(1.0 / math.sqrt(2.0)) - 0.25 * d * (d - 1) * math.log(math.pi)
                          - sum(math.lgamma(0.5 * (d + 1) - 0.5 * j) for j in range(d)))

    def objective(p, x):
        diagonal = jnp.exp(p["q"])
        Q = jnp.zeros((k, d, d)).at[:, row, column].set(p["l"]) + jnp.eye(d) * diagonal[:, None, :]
        # One product of matrices for all components: faster than a batch of small ones, of x - mu.
        Qx = (x @ Q.transpose(2, 0, 1).reshape(d, k * d)).reshape(n, k, d) - jnp.einsum("krc,kc->kr", Q, p["mu"])
        beta = p["alpha"] + p["q"].sum(1) - 0.5 * (Qx ** 2).sum(2)
        prior = -0.5 * (diagonal ** 2).sum() - 0.5 * (p["l"] ** 2).sum()
        return logsumexp(beta, axis=1).sum() - n * (0.5 * d * math.log(2.0 * math.pi) + logsumexp(p["alpha"])) + prior + prior_constant

    return jax_work(objective, inputs, x)


CASE = Case(name="gmm", source="tests/gradbench/gmm/gmm.tk", params=("N", "D", "K"), kernel="objective", parameters=("alpha", "mu", "q", "l"),
            sizes={"1000 points, d10 K25": (1000, 10, 25), "1000 points, d64 K50": (1000, 64, 50)}, tiny=(7, 3, 4), sides={"tkc": in_tkc, "jax": in_jax})

if __name__ == "__main__":
    serve(CASE)
