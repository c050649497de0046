"""Matrices and vectors for matrices.py."""
import numpy as np


def turned(values, rng):
    """A matrix with these singular values."""
    n = len(values)
    q, r = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    return q @ np.diag(values) @ r


def square(n, rng, count):
    """(name, matrix) of size n."""
    for _ in range(count):
        m = rng.uniform(-1, 1, (n, n))
        yield "random", m
        yield "symmetric", m + m.T
        yield "diagonal", np.diag(rng.uniform(-1, 1, n))
        yield "graded", m * (10.0 ** -rng.permutation(n))[:, None]
        yield "upper", np.triu(m)
        s = 1 + np.sort(rng.uniform(0, 2, n))[::-1]
        s[1] = s[0]
        yield "equal values", turned(s, rng)
        s[1] = s[0] * (1 - 10.0 ** -rng.integers(2, 6))
        yield "nearly equal values", turned(s, rng)
        s[-1] = 10.0 ** -rng.integers(1, 6)
        yield "nearly singular", turned(s, rng)
        yield "rank 1", np.outer(rng.integers(-4, 5, n), rng.integers(-4, 5, n)).astype(float)
        yield "single entry", np.where(np.arange(n * n).reshape(n, n) == rng.integers(n * n), -3.0, 0.0)
        yield "negative", turned(s, rng) @ np.diag([1.0] * (n - 1) + [-1.0])
    yield "identity", np.eye(n)
    yield "mirror", np.diag([1.0] * (n - 1) + [-1.0])
    yield "zero", np.zeros((n, n))
    yield "large and small", np.diag([2.0 ** 60, 2.0 ** -60, 1, 1][:n])
    yield "rows large and small", np.diag([2.0 ** 40, 2.0 ** -40, 1, 2.0 ** 20][:n]) @ (np.eye(n) + rng.integers(-1, 2, (n, n)) * 0.25)
    for bad in (np.nan, np.inf, -np.inf):
        m = rng.uniform(-1, 1, (n, n))
        m[rng.integers(n), rng.integers(n)] = bad
        yield "not finite", m


def vectors(n, rng, count):
    for _ in range(3 * count):
        v = rng.uniform(-1, 1, n)
        yield "random", v
        yield "graded", v * 10.0 ** -rng.permutation(n)
        yield "single entry", np.where(np.arange(n) == rng.integers(n), v, 0.0)
    yield "large and small", np.array([1.0, 2.0 ** -100, 0, 2.0 ** -10])[:n]
    for bad in (np.nan, np.inf):
        yield "not finite", np.append(rng.uniform(-1, 1, n)[1:], bad)


def matrices(f, rng, kind, count):
    """(name, components) of f's inputs, as numbers of the type."""
    for name, m in square(f.n, rng, count) if f.square else vectors(f.n, rng, count):
        a = m.reshape(-1)
        if f.extra:
            a = np.append(a, rng.uniform(-1, 1, f.extra))
        yield name, a.astype(kind)


def exponents(bottom, top, size, count):
    """Powers of two that bring the largest entry to the ends of the type's range, and between."""
    at = int(np.floor(np.log2(size))) if size > 0 else 0
    return [round(bottom - at + (top - bottom) * k / (count - 1)) for k in range(count)]
