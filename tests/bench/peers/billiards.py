"""samples/billiards in Taichi."""
from sides import Case, serve, taichi_begin, taichi_work


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o, ad_stack_size=64)    # with the size that Taichi 1.7.4 finds, the gradient of step crashes
    steps, balls, dt, radius, elasticity = o.numbers[1], 11, 0.003, 0.03, 0.8
    vec2 = ti.types.vector(2, real)

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

    def forward():
        begin()
        for t in range(steps):
            step(t)
        measure()

    x.from_numpy(o.read("x", steps + 1, balls, 2))
    x0.from_numpy(o.read("x0", 2))
    v0.from_numpy(o.read("v0", 2))
    goal.from_numpy(o.read("goal", 2))
    return taichi_work(loss, {"x0": x0, "v0": v0}, forward)


CASE = Case(name="billiards", source="samples/billiards/billiards.tk", inputs=("x", "goal", "x0", "v0"), parameters=("x0", "v0"), real="f32", threads=(1, 2),
            sizes={"11 balls, 1024 steps": (1, 1024)}, tiny=(1, 1024), sides={"taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
