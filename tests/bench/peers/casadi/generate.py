"""Writes the C of CasADi for the functions of models.tk: generate.py FOLDER. Each function has two forms, with sparse and with dense matrices."""
import os
import sys

import casadi as ca


def cart_rate(x, u, p):
    s, c, total = ca.sin(x[2]), ca.cos(x[2]), p[0] + p[1]
    temp = (u + p[1] * p[2] * x[3] * x[3] * s) / total
    acc = (p[3] * s - c * temp) / (p[2] * (4.0 / 3.0 - p[1] * c * c / total))
    return ca.vertcat(x[1], temp - p[1] * p[2] * acc * c / total, x[3], acc)


def quad_rate(x, u, f):
    mass, arm, i, drag = f[0], f[1], f[2:5], f[5]
    cr, sr, cp, sp, cy, sy = ca.cos(x[6]), ca.sin(x[6]), ca.cos(x[7]), ca.sin(x[7]), ca.cos(x[8]), ca.sin(x[8])
    thrust, p, q, r = (u[0] + u[1] + u[2] + u[3]) / mass, x[9], x[10], x[11]
    t = [arm * (u[1] - u[3]), arm * (u[2] - u[0]), drag * (u[0] - u[1] + u[2] - u[3])]
    return ca.vertcat(x[3], x[4], x[5], thrust * (cr * sp * cy + sr * sy), thrust * (cr * sp * sy - sr * cy), thrust * cr * cp - 9.81,
                      p + (q * sr + r * cr) * sp / cp, q * cr - r * sr, (q * sr + r * cr) / cp,
                      (t[0] + (i[1] - i[2]) * q * r) / i[0], (t[1] + (i[2] - i[0]) * p * r) / i[1], (t[2] + (i[0] - i[1]) * p * q) / i[2])


def step(rate, x, h):
    k1 = rate(x)
    k2 = rate(x + 0.5 * h * k1)
    k3 = rate(x + 0.5 * h * k2)
    k4 = rate(x + h * k3)
    return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


# ---- the arm ----

def turn(q, cosine, sine):
    c, s = ca.cos(q), ca.sin(q)
    return ca.vertcat(ca.horzcat(c, -s * cosine, s * sine), ca.horzcat(s, c * cosine, -c * sine), ca.horzcat(0.0, sine, cosine))


def outward(m, R, v, acc, p):
    w = R.T @ (m[0] + ca.vertcat(0, 0, v))
    dw = R.T @ (m[1] + ca.vertcat(0, 0, acc) + ca.cross(m[0], ca.vertcat(0, 0, v)))
    return w, dw, ca.cross(dw, p) + ca.cross(w, ca.cross(w, p)) + R.T @ m[2]


def arm(q, v, acc):
    twists = [(0, 1), (1, 0), (0, -1), (0, 1), (0, -1), (1, 0)]
    ends = [ca.DM(p) for p in ([0, 0, 0], [0.4318, 0, 0], [0.0203, -0.15005, 0], [0, 0.4318, 0], [0, 0, 0], [0, 0, 0])]
    masses = [0, 17.4, 4.8, 0.82, 0.34, 0.09]
    centres = [ca.DM(c) for c in ([0, 0, 0], [-0.3638, 0.006, 0.2275], [-0.0203, -0.0141, 0.07], [0, 0.019, 0], [0, 0, 0], [0, 0, 0.032])]
    inertias = [ca.DM(i) for i in ([0, 0.35, 0], [0.13, 0.524, 0.539], [0.066, 0.086, 0.0125], [0.0018, 0.0013, 0.0018], [0.0003, 0.0004, 0.0003], [0.00015, 0.00015, 0.00004])]
    R = [turn(q[i], *twists[i]) for i in range(6)]
    motion, moves = (ca.DM.zeros(3), ca.DM.zeros(3), ca.DM([0, 0, 9.81])), []
    for i in range(6):
        motion = outward(motion, R[i], v[i], acc[i], ends[i])
        moves.append(motion)
    f, n, torques = ca.DM.zeros(3), ca.DM.zeros(3), [None] * 6
    for i in reversed(range(6)):
        (w, dw, a), p, c = moves[i], ends[i], centres[i]
        if masses[i]:
            force = masses[i] * (a + ca.cross(dw, c) + ca.cross(w, ca.cross(w, c)))
            n = n + ca.cross(p, f) + ca.cross(p + c, force) + inertias[i] * dw + ca.cross(w, inertias[i] * w)
            f = force + f
        else:    # the base link: it turns about one axis
            n = n + inertias[i] * dw
        f, n = R[i] @ f, R[i] @ n
        torques[i] = n[2]
    return ca.vertcat(*torques)


# ---- C ----

def write(name, by, others, y, hessian):
    z = ca.vertcat(*by)
    weights = ca.SX.sym("weights", y.numel())
    outputs = {"jac": ([y, ca.jacobian(y, z)], [])}
    if hessian:
        H, g = ca.hessian(ca.dot(weights, y), z)
        outputs["hess"] = ([y, g, H], [weights])
    generator = ca.CodeGenerator(f"{name}_casadi.c")
    for form, (values, more) in outputs.items():
        for kind, shape in (("sparse", lambda m: m), ("dense", ca.densify)):
            f = ca.Function(f"{name}_{form}_{kind}", [*by, *others, *more], ca.cse([*values[:-1], shape(values[-1])]))
            generator.add(f)
            print(f"{f.name()}: {f.n_instructions()} instructions")
    generator.generate()


os.chdir(sys.argv[1])
h = ca.SX.sym("h")
x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u"), ca.SX.sym("p", 4)
write("cart", [x, u], [p, h], step(lambda s: cart_rate(s, u, p), x, h), True)
x, u, p = ca.SX.sym("x", 12), ca.SX.sym("u", 4), ca.SX.sym("f", 6)
write("quad", [x, u], [p, h], step(lambda s: quad_rate(s, u, p), x, h), True)
q, v, acc = ca.SX.sym("q", 6), ca.SX.sym("v", 6), ca.SX.sym("acc", 6)
write("arm", [q, v], [acc], arm(q, v, acc), False)
