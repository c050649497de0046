"""A recurrent network, tests/gradbench/lstm: its loss over a text, by its weights."""
import ctypes

import numpy as np

from sides import Case, Work, doubles, jax_work, repeated, serve

LAYERS, BITS = 2, 14    # as in lstm.tk


def data(o):
    draw = np.random.default_rng(1024)
    return {"gates": draw.uniform(size=(LAYERS, 2, 4, BITS)), "extra": draw.uniform(size=(3, BITS)), "state": draw.uniform(size=(LAYERS, 2, BITS)),
            "text": draw.integers(0, 2, size=(o.numbers[0], BITS)).astype(np.float64)}


def in_tkc(o):
    lib = ctypes.CDLL(o.module)
    lib.peer_workspace.restype = ctypes.c_size_t
    length = ctypes.c_int64(o.numbers[0])
    workspace = np.zeros(lib.peer_workspace(length) // 8 + 1)
    inputs = data(o)
    gradients = {name: np.zeros(inputs[name].shape) for name in o.case.parameters}
    loss, one = np.zeros(1), np.ones(1)
    arrays = [doubles(a) for a in inputs.values()]
    outputs = [doubles(a) for a in gradients.values()]
    out, seed, space = doubles(loss), doubles(one), doubles(workspace)

    def gradient():
        for a in gradients.values():
            a.fill(0.0)
        lib.lstm_loss_grad(length, *arrays, out, seed, *outputs, None, None, space)

    return Work(repeated(lambda: lib.lstm_loss(length, *arrays, out)), repeated(gradient), lambda: loss[0], lambda: gradients)


def in_jax(o):
    import jax
    import jax.numpy as jnp
    inputs = data(o)

    def objective(p, state, text):
        w, b = p["gates"][:, 0], p["gates"][:, 1]

        def character(carried, letter):
            hidden, cell, y = [], [], letter * p["extra"][0]
            for l, (h, c) in enumerate(zip(*carried)):
                forget = jax.nn.sigmoid(y * w[l, 0] + b[l, 0])
                ingate = jax.nn.sigmoid(h * w[l, 1] + b[l, 1])
                outgate = jax.nn.sigmoid(y * w[l, 2] + b[l, 2])
                change = jnp.tanh(h * w[l, 3] + b[l, 3])
                cell.append(c * forget + ingate * change)
                y = outgate * jnp.tanh(cell[l])
                hidden.append(y)
            return (tuple(hidden), tuple(cell)), y

        # What follows the last layer, for all characters at once: a third less time than in the loop.
        _, y = jax.lax.scan(character, (tuple(state[:, 0]), tuple(state[:, 1])), text[:-1])
        y = y * p["extra"][1] + p["extra"][2]
        scores = text[1:] * (y - jnp.log(2.0 + jnp.exp(y).sum(1, keepdims=True)))
        return -scores.sum() / (BITS * (text.shape[0] - 1))

    return jax_work(objective, {k: inputs[k] for k in ("gates", "extra")}, inputs["state"], inputs["text"])


CASE = Case(name="lstm", source="tests/gradbench/lstm/lstm.tk", workspace="lstm_loss_grad_WORKSPACE", parameters=("gates", "extra"),
            sizes={"1024 characters": (1024,), "4096 characters": (4096,)}, tiny=(7,), sides={"tkc": in_tkc, "jax": in_jax})

if __name__ == "__main__":
    serve(CASE)
