"""The functions that matrices.py looks at: how .tk calls them, what mpmath says, and how well the problem is conditioned."""
import numpy as np
from mpmath import mp

INPUTS, OUTPUTS = 20, 24


class Function:
    """outputs: .tk expressions of the results; powers: of k A each is k^power times that of A; groups: how many outputs belong together, in order.
    value(x): outputs and condition of the value (None: no such value); slope_condition(x): that of the derivative, None where there is none;
    residual(a, y): instead of both, how far the results are from being a decomposition. forward: whether the JVP is compared."""

    def __init__(self, name, n, body, outputs, powers, value=None, slope_condition=None, residual=None, square=True, extra=0, groups=None, forward=True):
        self.name, self.n, self.body, self.text, self.powers, self.square, self.extra, self.forward = name, n, body, outputs, powers, square, extra, forward
        self.value, self.residual = value, residual
        self.slope_condition = slope_condition or (lambda x: None)
        self.inputs, self.outputs = (n * n if square else n) + extra, len(outputs)
        self.groups_of, at = [], 0
        for g in groups or [self.outputs]:
            self.groups_of += [slice(at, at + g)] * g
            at += g


def matrix_text(n, at=0):
    return "[" + ", ".join("[" + ", ".join(f"A[i, {at + r * n + c}]" for c in range(n)) + "]" for r in range(n)) + "]"


def vector_text(n, at=0):
    return "[" + ", ".join(f"A[i, {at + k}]" for k in range(n)) + "]"


def entries(m, n):
    return [f"{m}[{r}, {c}]" for r in range(n) for c in range(n)]


# ---- in mpmath ----

def mat(x, n):
    return mp.matrix([[x[r * n + c] for c in range(n)] for r in range(n)])


def flat(m):
    return [m[r, c] for r in range(m.rows) for c in range(m.cols)]


def det(x, n):
    if n == 1:
        return x[0]
    return sum((-1) ** c * x[c] * det([x[r * n + k] for r in range(1, n) for k in range(n) if k != c], n - 1) for c in range(n))


def norm_of(x):
    return mp.sqrt(sum(v * v for v in x))


def svd_of(x, n, rotation=False):
    u, s, v = mp.svd_r(mat(x, n))
    s = [s[k] for k in range(n)]
    if rotation and mp.re(mp.det(u) * mp.det(v)) < 0:
        u = u * mp.diag([1] * (n - 1) + [-1])
        s[-1] = -s[-1]
    return u, s, v


def over(a, b):
    return None if b == 0 else a / b


def sums(s):
    return min(s[i] + s[j] for i in range(len(s)) for j in range(i))


def gaps(s):
    return min(abs(s[i] - s[j]) for i in range(len(s)) for j in range(i))


def mp_norm(x):
    return [norm_of(x)], 1


def mp_normalized(x):
    size = norm_of(x)
    return [v / size for v in x], 1


def determinant_condition(x, n):
    d = abs(det(x, n))
    return over(norm_of(x) ** n, d)


def mp_determinant(n):
    return lambda x: ([det(x, n)], determinant_condition(x, n))


def mp_inverse(n):
    def value(x):
        b = determinant_condition(x, n)
        return (None, None) if b is None or b > 1e6 else (flat(mat(x, n) ** -1), b)
    return value


def condition(x, n):
    s = svd_of(x, n)[1]
    return None if s[-1] <= s[0] * mp.mpf(10) ** -40 else s[0] / s[-1]


def mp_solve(n):
    def value(x):
        k = condition(x[:n * n], n)
        return (None, None) if k is None or k > 1e6 else (list(mp.lu_solve(mat(x, n), mp.matrix(x[n * n:]))), k)
    return value


def mp_eig(n):
    def value(x):
        m = mat(x, n)
        w, q = mp.eigsy((m + m.T) / 2)
        k = over(norm_of(x), gaps(w))
        if k is None or k > 1e12:
            return None, None
        return list(w) + flat(q * mp.diag(range(1, n + 1)) * q.T), k
    return value


def mp_svd(n, rotation):
    def value(x):
        u, s, v = svd_of(x, n, rotation)
        k = over(norm_of(x), min(gaps([abs(v) for v in s]), sums(s)))
        # where the smallest value is zero, its vectors have any sign
        if k is None or k > 1e12 or k < 0 or not rotation and s[-1] < s[0] * mp.mpf(10) ** -6:
            return None, None
        return list(s) + flat(u * mp.diag(range(1, n + 1)) * v), k
    return value


def mp_nearest(n, rotation, stretch):
    """Of the polar decomposition, R alone or with P."""
    def value(x):
        u, s, v = svd_of(x, n, rotation)
        k = over(norm_of(x), sums(s))
        if k is None or k > 1e12 or k < 0:
            return None, None
        # where the smallest value is zero, so is its sign
        if not rotation and (s[-1] < s[0] * mp.mpf(10) ** -6):
            return None, None
        return flat(u * v) + (flat(v.T * mp.diag(s) * v) if stretch else []), k
    return value


def second(value):
    """A derivative's condition: once that of the value, and once more."""
    def slope_condition(x):
        k = value(x)[1]
        return None if k is None else k * k
    return slope_condition


# ---- residuals, of numbers scaled to 1 ----

def scaled(a, n):
    size = np.max(np.abs(a))
    return a.reshape(n, n) / (size or 1), size or np.longdouble(1)


def apart(x, y):
    return np.max(np.abs(x - y)) if np.all(np.isfinite(x)) else np.inf


def svd_residual(n, rotation):
    def residual(a, y):
        m, size = scaled(a, n)
        u, s, v = y[:n * n].reshape(n, n), y[n * n:n * n + n] / size, y[n * n + n:].reshape(n, n)
        error = max(apart(u * s @ v.T, m), apart(u @ u.T, np.eye(n)), apart(v @ v.T, np.eye(n)))
        ordered = all(abs(s[k]) >= abs(s[k + 1]) for k in range(n - 1)) and all(s[:-1] >= 0)
        if rotation:
            ordered = ordered and np.linalg.det(u.astype(float)) > 0 and np.linalg.det(v.astype(float)) > 0
        return error if ordered and (rotation or s[-1] >= 0) else np.inf
    return residual


def eig_residual(n):
    def residual(a, y):
        m, size = scaled(a, n)
        w, q = y[:n] / size, y[n:].reshape(n, n)
        error = max(apart(q * w @ q.T, (m + m.T) / 2), apart(q @ q.T, np.eye(n)))
        return error if np.all(w[:-1] <= w[1:]) else np.inf
    return residual


def polar_residual(n, rotation):
    def residual(a, y):
        m, size = scaled(a, n)
        r, p = y[:n * n].reshape(n, n), y[n * n:].reshape(n, n) / size
        error = max(apart(r @ p, m), apart(r @ r.T, np.eye(n)), apart(p, p.T))
        if rotation:
            return error if np.linalg.det(r.astype(float)) > 0 else np.inf
        return max(error, -np.min(np.linalg.eigvalsh(p.astype(float))) / 2) if np.isfinite(error) else error
    return residual


def all_functions():
    for n in (1, 2, 3, 4):
        if n > 1:
            yield Function(f"norm, vec{n}", n, f"let r = norm({vector_text(n)});", ["r"], [1], mp_norm, lambda x: 1, square=False)
            yield Function(f"normalized, vec{n}", n, f"let r = normalized({vector_text(n)});", [f"r[{k}]" for k in range(n)], [0] * n, mp_normalized, lambda x: 1, square=False)
        else:
            yield Function("norm, vec(1)", n, "let r = norm(vec(1, real)(A[i, 0]));", ["r"], [1], mp_norm, lambda x: 1, square=False)
    yield Function("norm, mat3", 3, f"let r = norm({matrix_text(3)});", ["r"], [1], lambda x: (mp_norm(x) if any(x) else (None, None)), lambda x: 1)
    for n in (2, 3, 4):
        m = matrix_text(n)
        yield Function(f"determinant, mat{n}", n, f"let r = determinant({m});", ["r"], [n], mp_determinant(n), lambda x, n=n: determinant_condition(x, n))
        yield Function(f"inverse, mat{n}", n, f"let r = inverse({m});", entries("r", n), [-1] * n * n, mp_inverse(n), second(mp_inverse(n)))
        yield Function(f"solve, mat{n}", n, f"let r = solve({m}, {vector_text(n, n * n)});", [f"r[{k}]" for k in range(n)], [0] * n, mp_solve(n), second(mp_solve(n)), extra=n)
    for n in (2, 3):
        m = matrix_text(n)
        weighted = [f"({' + '.join(f'{k + 1}.0 * u[{r}, {k}] * v[{c}, {k}]' for k in range(n))})" for r in range(n) for c in range(n)]
        vectors = [f"w[{k}]" for k in range(n)]
        yield Function(f"sym_eig, mat{n}", n, f"let w, u = sym_eig({m});", vectors + entries("u", n), [1] * n + [0] * n * n, residual=eig_residual(n))
        yield Function(f"sym_eig, mat{n}, functions", n, f"let w, u = sym_eig({m}); let v = u;", vectors + weighted, [1] * n + [0] * n * n, mp_eig(n), second(mp_eig(n)), groups=[n, n * n])
        for rotation in (False, True):
            s, p = ("svd_rotation", "polar_rotation") if rotation else ("svd", "polar_decompose")
            yield Function(f"{s}, mat{n}", n, f"let u, w, v = {s}({m});", entries("u", n) + vectors + entries("v", n), [0] * n * n + [1] * n + [0] * n * n, residual=svd_residual(n, rotation))
            value = mp_svd(n, rotation)
            yield Function(f"{s}, mat{n}, functions", n, f"let u, w, v = {s}({m});", vectors + weighted, [1] * n + [0] * n * n, value, second(value), groups=[n, n * n])
            yield Function(f"{p}, mat{n}", n, f"let r, p = {p}({m});", entries("r", n) + entries("p", n), [0] * n * n + [1] * n * n, residual=polar_residual(n, rotation))
            value = mp_nearest(n, rotation, True)
            yield Function(f"{p}, mat{n}, functions", n, f"let r, p = {p}({m});", entries("r", n) + entries("p", n), [0] * n * n + [1] * n * n, value, second(value), groups=[n * n] * 2)
            if not rotation:
                value = mp_nearest(n, rotation, False)
                yield Function(f"U V^T of svd, mat{n}", n, f"let u, w, v = svd({m}); let r = u @ transpose(v);", entries("r", n), [0] * n * n, value, second(value), forward=False)


ALL = list(all_functions())


def module():
    lines = ["// Written by tests/model/matrices.py.", "param N: i32 = 1;", "lazy_grad;", "lazy_dual;", f"field A: real[N, {INPUTS}];", f"field W: real[N, {OUTPUTS}];",
             f"field Y: real[N, {OUTPUTS}];", "field L: real[N];"]
    for k, f in enumerate(ALL):
        lines += [f"// {f.name}", f"kernel k{k}() derive(grad, jvp) {{", "    for i in L {", f"        {f.body}"]
        lines += [f"        let y{j} = {text};\n        Y[i, {j}] = y{j};" for j, text in enumerate(f.text)]
        lines += ["        L[i] = " + " + ".join(f"W[i, {j}] * y{j}" for j in range(f.outputs)) + ";", "    }", "}"]
    return "\n".join(lines) + "\n"


def host():
    table = ",\n".join(f"    {{m_k{k}_grad, m_k{k}_jvp}}" for k in range(len(ALL)))
    return f"""#include "m.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {{ tk_status (*grad)(m *), (*jvp)(m *); }} kernels[] = {{
{table}
}};

int main(int argc, char **argv)
{{
    m_params p = m_defaults();
    if (argc != 3)
        return 2;
    p.N = atoi(argv[2]);
    m *x = m_create(NULL, &p);
    FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
    if (!x || !in || !out)
        return 2;
    const int k = atoi(argv[1]);
    for (int i = 0; i < p.N; i++) {{
        double row[{2 * INPUTS + OUTPUTS}];
        if (fread(row, sizeof row, 1, in) != 1)
            return 2;
        for (int j = 0; j < {INPUTS}; j++) {{
            x->A.data[i * {INPUTS} + j] = row[j];
            x->A.dual[i * {INPUTS} + j] = row[{INPUTS} + j];
        }}
        for (int j = 0; j < {OUTPUTS}; j++)
            x->W.data[i * {OUTPUTS} + j] = row[{2 * INPUTS} + j];
    }}
    if (kernels[k].jvp(x))
        return 2;
    for (int i = 0; i < p.N; i++)
        x->L.grad[i] = 1;
    if (kernels[k].grad(x))
        return 2;
    for (int i = 0; i < p.N; i++) {{
        double row[{2 * OUTPUTS + INPUTS}];
        for (int j = 0; j < {OUTPUTS}; j++) {{
            row[j] = x->Y.data[i * {OUTPUTS} + j];
            row[{OUTPUTS} + j] = x->Y.dual[i * {OUTPUTS} + j];
        }}
        for (int j = 0; j < {INPUTS}; j++)
            row[{2 * OUTPUTS} + j] = x->A.grad[i * {INPUTS} + j];
        fwrite(row, sizeof row, 1, out);
    }}
    m_destroy(x);
    return fclose(out) != 0;
}}
"""
