"""samples/diffmpm in Taichi: the robot. Particles of all steps are kept; there is one grid, which the way back fills again for each step."""
import math
import numpy as np

from sides import Case, serve, taichi_begin, taichi_work


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    cells, steps, muscles, waves, wall = *o.numbers, 4, 4, 3
    dt, elasticity, gravity, friction, strength, omega = 0.128 / cells, 10.0, 3.8, 0.5, 6.0, 30.0
    vec2, mat2 = ti.types.vector(2, real), ti.types.matrix(2, 2, real)

    def robot():
        """Positions, and numbers of muscles or -1."""
        leg, height, wide = cells // 20, cells // 10, 3 * cells // 10
        at, kinds = [], []

        def fill(x, y, w, h, kind):
            for i in range(4 * w * h):
                at.append(((x + 0.5 * (i // (2 * h))) / cells, (y + 0.5 * (i % (2 * h))) / cells))
                kinds.append(kind)

        fill(cells // 10, 4 + height, wide, height, -1)
        for k in range(muscles):
            fill(cells // 10 + (k * leg if k < 2 else wide - (4 - k) * leg), 4, leg, height, k)
        return np.array(at), np.array(kinds, np.int32)

    positions, kinds_of = robot()
    n = len(positions)
    x = ti.Vector.field(2, real, shape=(steps + 1, n), needs_grad=True)
    v = ti.Vector.field(2, real, shape=(steps + 1, n), needs_grad=True)
    C = ti.Matrix.field(2, 2, real, shape=(steps + 1, n), needs_grad=True)
    F = ti.Matrix.field(2, 2, real, shape=(steps + 1, n), needs_grad=True)
    kind = ti.field(ti.i32, shape=n)
    grid = ti.Vector.field(3, real, shape=(cells, cells), needs_grad=True)     # momentum and mass
    flow = ti.Vector.field(2, real, shape=(cells, cells), needs_grad=True)
    weights = ti.field(real, shape=(muscles, waves + 1), needs_grad=True)
    pull = ti.field(real, shape=(steps, muscles), needs_grad=True)
    loss = ti.field(real, shape=(), needs_grad=True)

    @ti.func
    def locate(at):
        """The first cell that a particle touches, and its place in cells from there."""
        f = at * cells
        c = ti.min(ti.max(ti.cast(f - 0.5, ti.i32), 0), cells - 3)
        return c, f - c

    @ti.func
    def spline(f):
        return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]

    @ti.kernel
    def to_grid(t: ti.i32):
        for a in range(muscles):
            s = weights[a, waves]
            for j in ti.static(range(waves)):
                s += weights[a, j] * ti.sin(omega * dt * t + 0.5 * math.pi * j)
            pull[t, a] = strength * ti.tanh(s)
        for i, j in grid:
            grid[i, j] = [0.0, 0.0, 0.0]
        for k in range(n):
            c, f = locate(x[t, k])
            w = spline(f)
            affine = C[t, k]
            deformed = (ti.Matrix.identity(real, 2) + dt * affine) @ F[t, k]
            F[t + 1, k] = deformed
            a = real(0.0)
            if kind[k] >= 0:
                a = pull[t, kind[k]]
            J = deformed[0, 0] * deformed[1, 1] - deformed[0, 1] * deformed[1, 0]
            up = vec2(deformed[0, 1], deformed[1, 1])
            p, q = deformed[0, 0] + deformed[1, 1], deformed[1, 0] - deformed[0, 1]
            scale = 1.0 / ti.sqrt(p * p + q * q)
            R = mat2([[p * scale, -q * scale], [q * scale, p * scale]])
            T = elasticity * (J - 1.0) * J * ti.Matrix.identity(real, 2) + a * up.outer_product(up) + 2.0 * elasticity * (deformed - R) @ deformed.transpose()
            A = affine / cells - 4.0 * dt * cells * T
            for i, j in ti.static(ti.ndrange(3, 3)):
                share = w[i][0] * w[j][1]
                m = share * (v[t, k] + A @ (vec2(i, j) - f))
                grid[c[0] + i, c[1] + j] += ti.Vector([m[0], m[1], share])
        for i, j in grid:
            u = vec2(0.0)
            if grid[i, j][2] > 0.0:
                inverse = 1.0 / grid[i, j][2]
                u = vec2(grid[i, j][0] * inverse, grid[i, j][1] * inverse - dt * gravity)
                if (i < wall and u[0] < 0.0) or (i >= cells - wall and u[0] > 0.0):
                    u[0] = 0.0
                if (j < wall and u[1] < 0.0) or (j >= cells - wall and u[1] > 0.0):
                    into = ti.abs(u[1])
                    u[1] = 0.0
                    u *= ti.max(0.0, 1.0 - friction * into / u.norm(1e-12))
            flow[i, j] = u

    @ti.kernel
    def to_particles(t: ti.i32):
        for k in range(n):
            c, f = locate(x[t, k])
            w = spline(f)
            new_v = vec2(0.0)
            B = mat2(0.0)
            for i, j in ti.static(ti.ndrange(3, 3)):
                u = w[i][0] * w[j][1] * flow[c[0] + i, c[1] + j]
                new_v += u
                B += u.outer_product(vec2(i, j) - f)
            x[t + 1, k] = x[t, k] + dt * new_v
            v[t + 1, k] = new_v
            C[t + 1, k] = 4.0 * cells * B

    @ti.ad.grad_replaced
    def advance(t):
        to_grid(t)
        to_particles(t)

    @ti.ad.grad_for(advance)
    def advance_back(t):
        to_grid(t)
        to_particles.grad(t)
        to_grid.grad(t)     # which leaves the gradients of the grid zero, since all of it is stored in to_grid

    @ti.kernel
    def walk():
        for k in range(n):
            loss[None] -= x[steps, k][0] / n

    def forward():
        for t in range(steps):
            advance(t)
        walk()

    @ti.kernel
    def begin(at: ti.types.ndarray(dtype=real, ndim=2)):
        for k in range(n):
            x[0, k] = vec2(at[k, 0], at[k, 1])
            F[0, k] = ti.Matrix.identity(real, 2)

    begin(positions.astype(np.float64 if real == ti.f64 else np.float32))
    kind.from_numpy(kinds_of)
    weights.from_numpy(o.read("weights", muscles, waves + 1))
    return taichi_work(loss, {"weights": weights}, forward)


CASE = Case(name="diffmpm", source="samples/diffmpm/diffmpm.tk", inputs=("weights",), parameters=("weights",), real="f32", threads=(1, 2),
            sizes={"2,976 particles, 128 x 128 cells, 1024 steps": (128, 1024)}, tiny=(40, 120), sides={"taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
