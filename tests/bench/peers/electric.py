"""samples/electric in Taichi."""
import math

from sides import Case, serve, taichi_begin, taichi_work


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    steps, episodes, strength, drag, dt, inner, electrodes, soft = o.numbers[1], o.numbers[0], 7e-3, 1.0, 0.03, 64, 8, 1e-3
    vec2, decay = ti.types.vector(2, real), math.exp(-drag * dt)

    electrode = ti.Vector.field(2, real, shape=electrodes)
    goal = ti.Vector.field(2, real, shape=(steps + 1, episodes))
    goal_v = ti.Vector.field(2, real, shape=(steps + 1, episodes))
    x = ti.Vector.field(2, real, shape=(steps + 1, episodes), needs_grad=True)
    v = ti.Vector.field(2, real, shape=(steps + 1, episodes), needs_grad=True)
    hidden = ti.field(real, shape=(steps, episodes, inner), needs_grad=True)
    charge = ti.field(real, shape=(steps, episodes, electrodes), needs_grad=True)
    loss = ti.field(real, shape=(), needs_grad=True)
    w1 = ti.field(real, shape=(8, inner), needs_grad=True)
    b1 = ti.field(real, shape=inner, needs_grad=True)
    w2 = ti.field(real, shape=(inner, electrodes), needs_grad=True)
    b2 = ti.field(real, shape=electrodes, needs_grad=True)

    @ti.kernel
    def step(t: ti.i32):
        ti.loop_config(serialize=True)
        for e, j in ti.ndrange(episodes, inner):
            a, g, u, gu = x[t, e] - 0.5, goal[t, e] - 0.5, v[t, e], goal_v[t, e]
            hidden[t, e, j] = ti.tanh(b1[j] + w1[0, j] * a[0] + w1[1, j] * a[1] + w1[2, j] * u[0] + w1[3, j] * u[1]
                                      + w1[4, j] * g[0] + w1[5, j] * g[1] + w1[6, j] * gu[0] + w1[7, j] * gu[1])
        ti.loop_config(serialize=True)
        for e, k in ti.ndrange(episodes, electrodes):
            s = b2[k]
            for j in ti.static(range(inner)):
                s += w2[j, k] * hidden[t, e, j]
            charge[t, e, k] = ti.tanh(s)
        ti.loop_config(serialize=True)
        for e in range(episodes):
            pull = vec2(0.0)
            for k in ti.static(range(electrodes)):
                r = electrode[k] - x[t, e]
                pull += strength * charge[t, e, k] / r.norm(soft) ** 3 * r
            new_v = decay * v[t, e] + dt * pull
            new_x = x[t, e] + dt * new_v
            v[t + 1, e] = new_v
            x[t + 1, e] = new_x
            loss[None] += dt / episodes * (new_x - goal[t + 1, e]).norm_sqr()

    def forward():
        for t in range(steps):
            step(t)

    for name, field, shape in (("electrode", electrode, (electrodes, 2)), ("goal", goal, (steps + 1, episodes, 2)), ("goal_v", goal_v, (steps + 1, episodes, 2)),
                               ("x", x, (steps + 1, episodes, 2)), ("v", v, (steps + 1, episodes, 2)), ("w1", w1, (8, inner)), ("b1", b1, (inner,)),
                               ("w2", w2, (inner, electrodes)), ("b2", b2, (electrodes,))):
        field.from_numpy(o.read(name, *shape))
    return taichi_work(loss, {"w1": w1, "b1": b1, "w2": w2, "b2": b2}, forward)


CASE = Case(name="electric", source="samples/electric/electric.tk", inputs=("electrode", "goal", "goal_v", "x", "v", "w1", "b1", "w2", "b2"), parameters=("w1", "b1", "w2", "b2"), real="f32", threads=(1, 2),
            sizes={"8 episodes of 512 steps": (8, 512)}, tiny=(2, 12), sides={"taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
