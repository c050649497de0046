"""samples/billiards in Taichi."""
import taichi as ti

from taichi_side import Options, serve

options = Options(ad_stack_size=64)    # with the size that Taichi 1.7.4 finds, the gradient of step crashes
steps, balls, dt, radius, elasticity = options.steps, 11, 0.003, 0.03, 0.8
real, vec2 = options.real, ti.types.vector(2, options.real)

x = ti.Vector.field(2, real, shape=(steps + 1, balls), needs_grad=True)
v = ti.Vector.field(2, real, shape=(steps + 1, balls), needs_grad=True)
x0 = ti.Vector.field(2, real, shape=(), needs_grad=True)
v0 = ti.Vector.field(2, real, shape=(), needs_grad=True)
goal = ti.Vector.field(2, real, shape=())
loss = ti.field(real, shape=(), needs_grad=True)


@ti.kernel
def begin():
    x[0, 0] = x0[None]
    v[0, 0] = v0[None]


@ti.kernel
def step(t: ti.i32):
    ti.loop_config(serialize=True)      # faster than its threads: so few balls
    for i in range(balls):
        push = vec2(0.0)
        shift = vec2(0.0)
        for j in range(balls):
            apart = (x[t, i] + dt * v[t, i]) - (x[t, j] + dt * v[t, j])
            if j != i and apart.norm_sqr() < 4.0 * radius * radius:
                distance = apart.norm()
                n = apart / distance
                speed = n.dot(v[t, i] - v[t, j])
                if speed < 0.0:
                    impulse = -0.5 * (1.0 + elasticity) * speed * n
                    since = (distance - 2.0 * radius) / ti.min(speed, -1e-3)
                    push += impulse
                    shift += ti.min(since - dt, 0.0) * impulse
        v[t + 1, i] = v[t, i] + push
        x[t + 1, i] = x[t, i] + dt * (v[t, i] + push) + shift


@ti.kernel
def measure():
    loss[None] += (x[steps, balls - 1] - goal[None]).norm_sqr()


def episode():
    with ti.ad.Tape(loss):
        begin()
        for t in range(steps):
            step(t)
        measure()


x.from_numpy(options.read("x", steps + 1, balls, 2))
x0.from_numpy(options.read("x0", 2))
v0.from_numpy(options.read("v0", 2))
goal.from_numpy(options.read("goal", 2))
serve(options, loss, {"x0": x0, "v0": v0}, episode)
