"""Derivatives of the entry points, taken by CasADi, against its own of the same functions; and Ipopt on one of them."""
import sys

import casadi as ca
import numpy as np


def step():
    s, u, p, h, n = (ca.SX.sym("v", size) for size in (4, 1, 3, 1, 1))
    q = 0.5 * s[1] * h
    r = s + h * ca.vertcat(s[2], s[3] * p[1], u / (p[0] + p[1] * ca.sin(s[1]) ** 2), -9.81 * ca.sin(s[1] + q) / p[2])
    return ca.Function("r", [s, u, p, h, n], [r, s[0] ** 2 * n + u * u])


def blend():
    a, b = ca.SX.sym("a", 2, 3), ca.SX.sym("b", 3)
    c = a @ b
    return ca.Function("r", [a, b], [ca.vertcat(ca.horzcat(c[0] * a[0, 1], c[1]), ca.horzcat(c[0], ca.sin(a[1, 2])))])


def cost():
    x, s = ca.SX.sym("x", 2), ca.SX.sym("s")
    return ca.Function("r", [x, s], [(1 - x[0]) ** 2 * s + 100 * (x[1] - x[0] ** 2) ** 2])


def derivatives(f, r, floats, second):
    """Pairs: by the entry points, by CasADi."""
    rng = np.random.default_rng(1)
    x = [ca.MX.sym("x", *f.size_in(i)) for i in range(f.n_in())]
    for own, other in zip(f.call(x), r.call(x)):
        w = rng.uniform(-1, 1, own.shape)
        for i in floats:
            yield x, ca.jacobian(own, x[i]), ca.jacobian(other, x[i])
            yield x, ca.gradient(ca.dot(w, own), x[i]), ca.gradient(ca.dot(w, other), x[i])
            if second:
                yield x, ca.hessian(ca.dot(w, own), x[i])[0], ca.hessian(ca.dot(w, other), x[i])[0]


library = sys.argv[1]
at = {"step": [[0.6, 0.7, 0.9, 1.1], 0.8, [1.2, 0.4, 0.9], 0.05, 3], "blend": [np.arange(6.0).reshape(2, 3) / 4, [0.3, -0.4, 1.5]], "cost": [[-1.2, 1.0], 0.75]}
for name, r, floats, second in (("step", step(), range(4), True), ("blend", blend(), range(2), False), ("cost", cost(), range(2), True)):
    f = ca.external(f"model_{name}_casadi", library)
    compared = 0
    for x, own, other in derivatives(f, r, floats, second):
        a, b = (np.array(v) for v in ca.Function("pair", x, [own, other]).call([ca.DM(v) for v in at[name]]))
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
        compared += 1
    assert compared >= 4, compared
x = ca.MX.sym("x", 2)
solver = ca.nlpsol("s", "ipopt", {"x": x, "f": ca.external("model_cost_casadi", library)(x, 1)}, {"ipopt.print_level": 0, "print_time": 0})
np.testing.assert_allclose(np.array(solver(x0=[-1.2, 1])["x"]).ravel(), [1, 1], rtol=1e-6)
part = ca.external("model_part_casadi", library)
try:
    ca.Function("j", [x], [ca.jacobian(part(x, 2), x)])
except RuntimeError:
    print("no derivative of part, whose matrix is not by all inputs")
else:
    raise AssertionError("a derivative of part")
