#!/usr/bin/env python3
"""Plays GradBench's side of its protocol for a tool, on small inputs: evals.py TOOL [NAME...].

What comes back is held against formulas that are written here, in complex numbers: an imaginary step of 1e-30 gives a derivative to the last digit.
"""
import itertools
import json
import random
import subprocess
import sys
from cmath import cos, exp, log, sin, sqrt, tanh
from math import gamma, lgamma, pi, prod

STEP = 1e-30
ALLOWED = 1e-9


class Wrong(Exception):
    pass


# ---- derivatives ----

def gradient(f, x):
    """Of a number, by a list of numbers."""
    return [f(x[:i] + [x[i] + STEP * 1j] + x[i + 1:]).imag / STEP for i in range(len(x))]


def jacobian(f, x):
    """Of a list of numbers, row by row."""
    columns = [[y.imag / STEP for y in f(x[:i] + [x[i] + STEP * 1j] + x[i + 1:])] for i in range(len(x))]
    return [list(row) for row in zip(*columns)]


def flat(v):
    return [x for part in v for x in flat(part)] if isinstance(v, list) else [v]


def rows(v, columns):
    return [v[i:i + columns] for i in range(0, len(v), columns)] if columns else [[] for _ in v]


def times(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def apply(a, v):
    return [sum(x * y for x, y in zip(row, v)) for row in a]


def rotation(r):
    """The matrix that turns around r by its length."""
    angle = sqrt(sum(c * c for c in r))
    if angle == 0:
        return [[1, -r[2], r[1]], [r[2], 1, -r[0]], [-r[1], r[0], 1]]
    x, y, z = (c / angle for c in r)
    n = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    n2 = times(n, n)
    return [[(i == j) + sin(angle) * n[i][j] + (1 - cos(angle)) * n2[i][j] for j in range(3)] for i in range(3)]


# ---- the evaluations: for each function, inputs and what is expected ----

def normal(*shape):
    if not shape:
        return random.gauss(0.0, 1.0)
    return [normal(*shape[1:]) for _ in range(shape[0])]


def hello():
    yield "square", 3.5, 12.25
    yield "double", -1.25, -2.5


def gmm():
    for d, k, n, m in ((1, 2, 4, 0), (3, 4, 6, 2)):
        x, g = normal(n, d), 1.3
        start = {"alpha": normal(k), "mu": normal(k, d), "q": normal(k, d), "l": normal(k, d * (d - 1) // 2)}
        sizes = [len(flat(v)) for v in start.values()]

        def posterior(v):
            parts = [v[sum(sizes[:i]):sum(sizes[:i + 1])] for i in range(4)]
            alpha, (mu, q) = parts[0], (rows(p, d) for p in parts[1:3])
            below = rows(parts[3], d * (d - 1) // 2) if d > 1 else [[]] * k
            total, dof = 0, d + m + 1
            Q = []
            for c in range(k):
                order, matrix = iter(below[c]), [[0] * d for _ in range(d)]
                for j in range(d):
                    matrix[j][j] = exp(q[c][j])
                    for i in range(j + 1, d):
                        matrix[i][j] = next(order)
                Q.append(matrix)
            for i in range(n):
                likelihood = 0
                for c in range(k):
                    y = apply(Q[c], [a - b for a, b in zip(x[i], mu[c])])
                    density = exp(-0.5 * sum(t * t for t in y)) * exp(sum(q[c])) / (2 * pi) ** (d / 2)
                    likelihood += exp(alpha[c]) / sum(map(exp, alpha)) * density
                total += log(likelihood)
            multigamma = pi ** (d * (d - 1) / 4) * prod(gamma(dof / 2 - j / 2) for j in range(d))
            for c in range(k):      # Wishart, of the precision
                trace = g * g * sum(t * t for row in Q[c] for t in row)
                total += m * sum(q[c]) - 0.5 * trace - 0.5 * dof * d * log(2) + dof * d * log(g) - log(multigamma)
            return total

        point = [float(v) for part in start.values() for v in flat(part)]
        slopes = gradient(posterior, point)
        expected, at = {}, 0
        for (key, value), size in zip(start.items(), sizes):
            part, at = slopes[at:at + size], at + size
            expected[key] = part if key == "alpha" else [part[i * len(value[0]):(i + 1) * len(value[0])] for i in range(k)]
        given = {"d": d, "k": k, "n": n, "x": x, "m": m, "gamma": g, **start}
        yield "objective", given, posterior(point).real
        yield "jacobian", given, expected


def ba():
    for turned in (True, False):
        n, m, p = 3, 5, 11
        cam = ([0.3, -0.5, 0.2] if turned else [0.0, 0.0, 0.0]) + [0.1, 0.2, -5.0, 400.0, 5.0, -8.0, 0.08, 0.003]
        x, w, feat = [0.5, -0.3, 0.7], 0.42, [271.8, -83.4]

        def errors(v):
            cam, x, w = v[:11], v[11:14], v[14]
            y = apply(rotation(cam[:3]), [a - b for a, b in zip(x, cam[3:6])])
            u = [y[0] / y[2], y[1] / y[2]]
            r2 = u[0] ** 2 + u[1] ** 2
            stretch = 1 + cam[9] * r2 + cam[10] * r2 ** 2
            return [w * (cam[6] * stretch * u[i] + cam[7 + i] - feat[i]) for i in range(2)]

        point = cam + x + [w]
        block = jacobian(errors, point)
        given = {"n": n, "m": m, "p": p, "cam": cam, "x": x, "w": w, "feat": feat}
        yield "objective", given, {"reproj_error": {"elements": [e.real for e in errors(point)], "repeated": p},
                                   "w_err": {"element": 1 - w * w, "repeated": p}}
        columns = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
        starts = [15 * r if r <= 2 * p else 30 * p + r - 2 * p for r in range(3 * p + 1)]
        yield "jacobian", given, {"rows": starts[:30] + starts[-1:], "cols": columns * 2 + [11 * n + 3 * m + p - 1],
                                  "vals": flat(block) + [-2 * w]}


def lstm():
    for layers in (2, 4):
        bits, count = 14, 5
        gates, extra, state = normal(2 * layers, 4 * bits), normal(3, bits), normal(2 * layers, bits)
        text = [[float(random.random() < 0.5) for _ in range(bits)] for _ in range(count)]

        def loss(v):
            params, (inw, outw, outb) = rows(v[:8 * layers * bits], 4 * bits), rows(v[8 * layers * bits:], bits)
            hidden, cell = ([list(s) for s in state[i::2]] for i in (0, 1))
            total = 0
            for t in range(count - 1):
                y = [a * b for a, b in zip(text[t], inw)]
                for k in range(layers):
                    for i in range(bits):
                        w, b = ([p[g * bits + i] for g in range(4)] for p in params[2 * k:2 * k + 2])
                        forget, out = (1 / (1 + exp(-(y[i] * w[g] + b[g]))) for g in (0, 2))
                        into = 1 / (1 + exp(-(hidden[k][i] * w[1] + b[1])))
                        change = tanh(hidden[k][i] * w[3] + b[3])
                        cell[k][i] = cell[k][i] * forget + into * change
                        y[i] = hidden[k][i] = out * tanh(cell[k][i])
                y = [a * b + c for a, b, c in zip(y, outw, outb)]
                norm = log(2 + sum(map(exp, y)))
                total += sum(g * (a - norm) for g, a in zip(text[t + 1], y))
            return -total / (bits * (count - 1))

        point = flat(gates) + flat(extra)
        given = {"main_params": gates, "extra_params": extra, "state": state, "sequence": text}
        yield "objective", given, loss(point).real
        yield "jacobian", given, gradient(loss, point)


def ht():
    bones, vertices, count = 22, 6, 4
    parents = [-1] + [0 if (b - 1) % 4 == 0 else b - 1 for b in range(1, bones)]
    base, back = normal(bones, 4, 4), normal(bones, 4, 4)
    for m in base + back:
        m[3] = [0.0, 0.0, 0.0, 1.0]
    positions = [normal(3) + [1.0] for _ in range(vertices)]
    weights = [[random.random() if random.random() < 0.2 else 0.0 for _ in range(bones)] for _ in range(vertices)]
    triangles = [[random.randrange(vertices) for _ in range(3)] for _ in range(7)]
    theta, points, us = normal(26), normal(count, 3), normal(count, 2)
    for mirrored, complicated, still in ((False, False, False), (True, True, False), (False, False, True)):
        at = [random.randrange(7 if complicated else vertices) for _ in range(count)]
        start = [0.0] * 3 + theta[3:] if still else theta

        def errors(v):
            us, theta = rows(v[:-26], 2), v[-26:]
            absolute, transforms = [], []
            for b in range(bones):
                finger, joint = (b - 1) // 4, (b - 1) % 4
                ax = az = 0
                if 0 < b <= 20 and joint:
                    ax = theta[6 + 4 * finger + (joint if joint > 1 else 0)]
                    az = theta[7 + 4 * finger] if joint == 1 else 0
                x = [[1, 0, 0, 0], [0, cos(ax), -sin(ax), 0], [0, sin(ax), cos(ax), 0], [0, 0, 0, 1]]
                z = [[cos(az), -sin(az), 0, 0], [sin(az), cos(az), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
                relative = times(base[b], times(z, x))
                absolute.append(relative if parents[b] < 0 else times(absolute[parents[b]], relative))
                transforms.append(times(absolute[b], back[b]))
            R = [[float(i == j) for j in range(3)] for i in range(3)] if still else rotation(theta[:3])
            where = []
            for p, w in zip(positions, weights):
                images = [apply(t, p) for t in transforms]
                q = [sum(a * i[k] for a, i in zip(w, images)) for k in range(3)]
                q[0] = -q[0] if mirrored else q[0]
                where.append([a + b for a, b in zip(apply(R, q), theta[3:6])])
            if not complicated:
                return [p[k] - where[c][k] for p, c in zip(points, at) for k in range(3)]
            out = []
            for p, c, (u, v) in zip(points, at, us):
                a, b, c = (where[i] for i in triangles[c])
                out += [p[k] - (u * a[k] + v * b[k] + (1 - u - v) * c[k]) for k in range(3)]
            return out

        point = (flat(us) if complicated else []) + start
        full = jacobian(errors, point)
        if complicated:     # each point has two of its own
            full = [[row[2 * (i // 3)], row[2 * (i // 3) + 1]] + row[2 * count:] for i, row in enumerate(full)]
        given = {"theta": start, "us": us if complicated else [],
                 "data": {"correspondences": at, "points": points,
                          "model": {"bone_count": bones, "bone_names": [str(b) for b in range(bones)], "parents": parents, "base_relatives": base,
                                    "inverse_base_absolutes": back, "base_positions": positions, "weights": weights, "triangles": triangles,
                                    "is_mirrored": mirrored}}}
        yield "objective", given, [complex(e).real for e in errors(point)]
        yield "jacobian", given, full


def kmeans():
    points = normal(40, 3)
    centres = points[-5:]
    distances = [[sum((a - b) ** 2 for a, b in zip(p, c)) for c in centres] for p in points]
    nearest = [d.index(min(d)) for d in distances]
    given = {"points": points, "centroids": centres}
    yield "cost", given, sum(map(min, distances))
    own = [[p for p, k in zip(points, nearest) if k == c] for c in range(5)]
    yield "dir", given, [[c - sum(column) / len(mine) for c, column in zip(centre, zip(*mine))] for centre, mine in zip(centres, own)]


def lse():
    for scale in (1.0, 300.0):
        x = [scale * v for v in normal(23)]
        most = max(x)
        terms = [exp(v - most).real for v in x]
        yield "primal", {"x": x}, most + log(sum(terms)).real
        yield "gradient", {"x": x}, [t / sum(terms) for t in terms]


def llsq():
    n, x = 9, normal(5)
    t = [-1 + i * 2 / (n - 1) for i in range(n)]
    left = [(a > 0) - (a < 0) - sum(c * a ** j for j, c in enumerate(x)) for a in t]
    yield "primal", {"x": x, "n": n}, sum(r * r for r in left) / 2
    yield "gradient", {"x": x, "n": n}, [-sum(r * a ** j for r, a in zip(left, t)) for j in range(5)]


def ode():
    for n, s in ((1, 3), (7, 5)):
        x = normal(n)

        def solution(x):
            y, h = [0] * n, 2 / s

            def slope(y):
                return [x[i] * (y[i - 1] if i else 1) for i in range(n)]

            for _ in range(s):
                k1 = slope(y)
                k2 = slope([a + h / 2 * b for a, b in zip(y, k1)])
                k3 = slope([a + h / 2 * b for a, b in zip(y, k2)])
                k4 = slope([a + h * b for a, b in zip(y, k3)])
                y = [a + h / 6 * (p + 2 * q + 2 * r + t) for a, p, q, r, t in zip(y, k1, k2, k3, k4)]
            return y

        yield "primal", {"x": x, "s": s}, [complex(v).real for v in solution(x)]
        yield "gradient", {"x": x, "s": s}, gradient(lambda v: solution(v)[-1], x)


def determinant(a):
    if not a:
        return 1.0
    return sum((-1) ** j * a[0][j] * determinant([r[:j] + r[j + 1:] for r in a[1:]]) for j in range(len(a)))


def det():
    for n in (5, 6):
        a = normal(n, n)
        cofactors = [(-1) ** (i + j) * determinant([r[:j] + r[j + 1:] for r in a[:i] + a[i + 1:]]) for i, j in itertools.product(range(n), repeat=2)]
        yield "primal", {"A": flat(a), "ell": n}, determinant(a)
        yield "gradient", {"A": flat(a), "ell": n}, cofactors


def search(f, x):
    """The least value of f: descent whose step grows behind ten good ones, and is halved behind a bad one."""
    value, g, rate, good = f(x), gradient(f, x), 1e-5, 0
    while sum(c * c for c in g) ** 0.5 > 1e-5:
        if good == 10:
            rate, good = 2 * rate, 0
        there = [a - rate * b for a, b in zip(x, g)]
        if sum((a - b) ** 2 for a, b in zip(x, there)) ** 0.5 <= 1e-5:
            break
        if f(there) < value:
            x, value, g, good = there, f(there), gradient(f, there), good + 1
        else:
            rate, good = rate / 2, 0
    return x


def missed(v):
    x, y, u, v, w = 0.0, 8.0, 0.75, 0.0, v[0]
    while (y + 0.1 * v).real > 0:
        rays = [(x - 10, y - c) for c in (10 - w, 0)]
        force = [sum(r[k] / (r[0] ** 2 + r[1] ** 2) ** 1.5 for r in rays) for k in (0, 1)]
        x, y, u, v = x + 0.1 * u, y + 0.1 * v, u + 0.1 * force[0], v + 0.1 * force[1]
    return (x - y / v * u) ** 2


def particle():
    w = search(missed, [0.0])[0]
    for function in ("rr", "rf", "fr", "ff"):
        yield function, {"w": 0.0}, w


def saddle():
    p = search(lambda p: p[0] ** 2 + p[1] ** 2, [1.0, 1.0])     # the two searches know nothing of each other
    for function in ("rr", "rf", "fr", "ff"):
        yield function, {"start": [1.0, 1.0]}, p + p


ALL = [hello, gmm, ba, lstm, ht, kmeans, lse, llsq, ode, det, particle, saddle]

# Messages of which each is answered by an error that has this in it.
REFUSED = [
    ({"kind": "define", "module": "sorting"}, "no module 'sorting'"),
    ({"kind": "define"}, "no module ''"),
    ({"kind": "evaluate", "module": "lse", "function": "hessian", "input": {"x": [1.0]}}, "no function 'hessian' in 'lse'"),
    ({"kind": "evaluate", "module": "lse", "function": "primal"}, "x: "),
    ({"kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": []}}, "x: no numbers"),
    ({"kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [1.0, "a"]}}, "x: no list of numbers"),
    ({"kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [1e308, 1e308], "min_runs": "x"}}, None),
    ({"kind": "evaluate", "module": "hello", "function": "square", "input": {}}, "no number"),
    ({"kind": "evaluate", "module": "hello", "function": "square", "input": 1e200}, "not finite"),
    ({"kind": "evaluate", "module": "det", "function": "primal", "input": {"A": [1.0] * 9, "ell": 3}}, "ell: 3 is not from 5 to 11"),
    ({"kind": "evaluate", "module": "det", "function": "primal", "input": {"A": [1.0] * 24, "ell": 5}}, "A: 24 numbers instead of 25"),
    ({"kind": "evaluate", "module": "det", "function": "primal", "input": {"A": [1.0] * 25, "ell": 5.5}}, "ell: 5.5 is no integer"),
    ({"kind": "evaluate", "module": "lstm", "function": "objective", "input": {"main_params": [[1.0]], "sequence": [[1.0], [1.0]]}}, "2, 4 or 6 layers"),
    ({"kind": "evaluate", "module": "kmeans", "function": "dir", "input": {"points": [[1.0, 2.0]], "centroids": [[1.0]] * 2}}, "points: 2 numbers instead of 1"),
    ({"kind": "evaluate", "module": "gmm", "function": "objective", "input": {"n": 1, "d": 0, "k": 1, "m": 0, "gamma": 1.0}}, "d: 0 is not from 1"),
    ({"kind": "evaluate", "module": "ba", "function": "objective", "input": {"n": 1, "m": 1, "p": 3}}, "p: 3 is not from 10"),
]


# ---- the protocol ----

class Tool:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = 0

    def ask(self, **message):
        message["id"] = self.count
        self.count += 1
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Wrong(f"no answer to {message}")
        answer = json.loads(line)
        if answer.get("id") != message["id"]:
            raise Wrong(f"answer {answer} to message {message['id']}")
        return answer

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Wrong(f"status {self.process.returncode}")


def compare(expected, actual, path):
    """Every list relative to its greatest number."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or expected.keys() != actual.keys():
            raise Wrong(f"{path}: {actual}")
        for key in expected:
            compare(expected[key], actual[key], f"{path}.{key}")
        return
    want, have = flat(expected), flat(actual)
    if len(want) != len(have) or isinstance(expected, list) and [len(flat(v)) for v in expected] != [len(flat(v)) for v in actual]:
        raise Wrong(f"{path}: {actual} has another shape than {expected}")
    scale = max(map(abs, want), default=0.0) or 1.0
    for i, (w, h) in enumerate(zip(want, have)):
        if not abs(w - h) <= ALLOWED * scale:
            raise Wrong(f"{path}[{i}]: {h} instead of {w}")


def evaluate(tool, f):
    name = f.__name__
    if not tool.ask(kind="define", module=name)["success"]:
        raise Wrong(f"{name} is not known")
    for function, given, expected in f():
        if isinstance(given, dict):
            given = {**given, "min_runs": 2, "min_seconds": 0.0}
        answer = tool.ask(kind="evaluate", module=name, function=function, input=given, description="small")
        if not answer["success"]:
            raise Wrong(f"{name}.{function}: {answer['error']}")
        compare(expected, answer["output"], f"{name}.{function}")
        times = [t["nanoseconds"] for t in answer["timings"] if t["name"] == "evaluate"]
        if len(times) != (2 if isinstance(given, dict) else 1) or min(times) < 0:
            raise Wrong(f"{name}.{function}: timings {answer['timings']}")
        if set(tool.ask(kind="analysis", of=answer["id"], valid=True)) != {"id"}:
            raise Wrong("more than an id behind an analysis")
        print(f"{name}.{function}: right")


def refuse(tool):
    for message, why in REFUSED:
        answer = tool.ask(**message)
        if why is None:
            if not answer["success"]:
                raise Wrong(f"{message}: {answer}")
        elif answer["success"] or why not in answer["error"]:
            raise Wrong(f"{message}: {answer} instead of '{why}'")
    if set(tool.ask(kind="weather")) != {"id"}:
        raise Wrong("more than an id behind an unknown kind")


def malformed(program):
    for text in ("{\n", "[1]\n", "nonsense\n"):
        done = subprocess.run([program], input=text, capture_output=True, text=True)
        if done.returncode != 1 or done.stdout or not done.stderr.startswith("message 1: "):
            raise Wrong(f"{text!r}: status {done.returncode}, {done.stdout}{done.stderr}")


def main(program, *names):
    random.seed(1)
    tool = Tool(program)
    if tool.ask(kind="start", eval="small").get("tool") != "tkc":
        raise Wrong("no name behind start")
    for f in ALL:
        if not names or f.__name__ in names:
            evaluate(tool, f)
    refuse(tool)
    tool.end()
    malformed(program)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Wrong as e:
        sys.exit(f"WRONG {e}")
