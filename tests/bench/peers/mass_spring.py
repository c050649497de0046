"""samples/mass_spring in Taichi: the robot that it has by default."""
import math
import numpy as np

from sides import Case, serve, taichi_begin, taichi_work

PARAMETERS = ("of_time", "of_point", "of_goal", "bias", "out_weight", "out_bias")


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    steps, inner, sines, omega = o.numbers[1], 32, 10, 10.0
    dt, stiffness, damping, drag, gravity, friction, ground, strength = 4e-3, 3e3, 20.0, 10.0, 2.0, 1.0, 0.1, 0.15
    ends_of = o.read("ends", -1, 2).astype(np.int32)
    springs, points, decay = len(ends_of), int(ends_of.max()) + 1, math.exp(-dt * drag)
    vec2, vec4 = ti.types.vector(2, real), ti.types.vector(4, real)

    x = ti.Vector.field(2, real, shape=(steps + 1, points), needs_grad=True)
    v = ti.Vector.field(2, real, shape=(steps + 1, points), needs_grad=True)
    u = ti.Vector.field(2, real, shape=(steps, points), needs_grad=True)
    centre = ti.Vector.field(2, real, shape=steps, needs_grad=True)
    ends = ti.Vector.field(2, ti.i32, shape=springs)
    rest = ti.field(real, shape=springs)
    act = ti.field(real, shape=(steps, springs), needs_grad=True)
    hidden = ti.field(real, shape=(steps, inner), needs_grad=True)
    of_time = ti.field(real, shape=(inner, sines), needs_grad=True)
    of_point = ti.Vector.field(4, real, shape=(inner, points), needs_grad=True)
    of_goal = ti.Vector.field(2, real, shape=inner, needs_grad=True)
    bias = ti.field(real, shape=inner, needs_grad=True)
    out_weight = ti.field(real, shape=(springs, inner), needs_grad=True)
    out_bias = ti.field(real, shape=springs, needs_grad=True)
    goal = ti.Vector.field(2, real, shape=())
    loss = ti.field(real, shape=(), needs_grad=True)

    # All loops are serial: they are too short for threads. Sums are unrolled: Taichi 1.7.4 crashes on the gradient of a sum by a loop here.
    @ti.kernel
    def advance(t: ti.i32):
        ti.loop_config(serialize=True)
        for i in range(points):
            centre[t] += x[t, i] / points
        ti.loop_config(serialize=True)
        for j in range(inner):
            s = bias[j] + of_goal[j].dot(goal[None] - centre[t])
            for k in ti.static(range(sines)):
                s += of_time[j, k] * ti.sin(omega * dt * t + 2.0 * math.pi / sines * k)
            for i in ti.static(range(points)):
                at = x[t, i] - centre[t]
                s += of_point[j, i].dot(vec4(at[0], at[1], v[t, i][0], v[t, i][1]))
            hidden[t, j] = ti.tanh(s)
        ti.loop_config(serialize=True)
        for k in range(springs):
            s = out_bias[k]
            for j in ti.static(range(inner)):
                s += out_weight[k, j] * hidden[t, j]
            act[t, k] = ti.tanh(s)
        ti.loop_config(serialize=True)
        for i in range(points):
            u[t, i] = decay * v[t, i] - dt * vec2(0.0, gravity)
        ti.loop_config(serialize=True)
        for k in range(springs):
            a, b = ends[k][0], ends[k][1]
            along = x[t, b] - x[t, a]
            length = along.norm()
            n = along / length
            force = stiffness * (length - rest[k] * (1.0 + strength * act[t, k])) + damping * n.dot(v[t, b] - v[t, a])
            u[t, a] += dt * force * n
            u[t, b] -= dt * force * n
        ti.loop_config(serialize=True)
        for i in range(points):
            w = u[t, i]
            after = w
            before = real(0.0)
            if w[1] < 0.0 and x[t, i][1] + dt * w[1] < ground:
                before = (ground - x[t, i][1]) / w[1]
                slide = real(0.0)
                if w[0] > -friction * w[1]:
                    slide = w[0] + friction * w[1]
                elif w[0] < friction * w[1]:
                    slide = w[0] - friction * w[1]
                after = vec2(slide, 0.0)
            v[t + 1, i] = after
            x[t + 1, i] = x[t, i] + before * w + (dt - before) * after

    @ti.kernel
    def measure():
        for i in range(points):
            loss[None] -= (x[steps, i][0] - x[0, i][0]) / points

    def forward():
        for t in range(steps):
            advance(t)
        measure()

    for name, field, shape in (("x", x, (steps + 1, points, 2)), ("rest", rest, (springs,)), ("of_time", of_time, (inner, sines)),
                               ("of_point", of_point, (inner, points, 4)), ("of_goal", of_goal, (inner, 2)), ("bias", bias, (inner,)),
                               ("out_weight", out_weight, (springs, inner)), ("out_bias", out_bias, (springs,)), ("goal", goal, (2,))):
        field.from_numpy(o.read(name, *shape))
    ends.from_numpy(ends_of)
    return taichi_work(loss, dict(zip(PARAMETERS, (of_time, of_point, of_goal, bias, out_weight, out_bias))), forward, before=lambda: centre.fill(0.0))


CASE = Case(name="mass_spring", source="samples/mass_spring/mass_spring.tk", inputs=("x", "ends", "rest", "goal", *PARAMETERS), parameters=PARAMETERS, real="f32", threads=(1, 2),
            sizes={"a robot of 4, 682 steps": (1, 682)}, tiny=(1, 40), sides={"taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
