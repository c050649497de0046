"""samples/volume_renderer in Taichi."""
from sides import Case, serve, taichi_begin, taichi_work


def in_taichi(o):
    import taichi as ti
    real = taichi_begin(o)
    n, views = o.numbers[0], o.numbers[1] + 1
    pixels = samples = n * 5 // 3
    smooth_weight, distance, reach, width = 1e-5, 2.2, 0.75, 0.46
    vec2, vec3 = ti.types.vector(2, real), ti.types.vector(3, real)

    raw = ti.field(real, shape=(n, n, n), needs_grad=True)
    density = ti.field(real, shape=(n, n, n), needs_grad=True)
    through = ti.field(real, shape=(views, pixels, pixels, samples + 1), needs_grad=True)   # in a field: a variable that a loop changes would want a stack
    image = ti.Vector.field(3, real, shape=(views, pixels, pixels), needs_grad=True)
    target = ti.Vector.field(3, real, shape=(views, pixels, pixels))
    loss = ti.field(real, shape=(), needs_grad=True)

    @ti.kernel
    def positive():
        for i, j, k in raw:
            density[i, j, k] = ti.log(1.0 + ti.exp(raw[i, j, k]))

    @ti.func
    def density_at(p):
        q = p * n - 0.5
        cell = ti.floor(q)
        total = real(0.0)
        if cell.min() >= 0.0 and cell.max() <= n - 2:
            c = ti.cast(cell, ti.i32)
            f = q - cell
            for i, j, k in ti.static(ti.ndrange(2, 2, 2)):
                share = (f[0] if i else 1.0 - f[0]) * (f[1] if j else 1.0 - f[1]) * (f[2] if k else 1.0 - f[2])
                total += share * density[c[0] + i, c[1] + j, c[2] + k]
        return total

    @ti.func
    def smoothstep(a, b, x):
        t = ti.min(ti.max((x - a) / (b - a), 0.0), 1.0)
        return t * t * (3.0 - 2.0 * t)

    @ti.func
    def glow(p):
        t = smoothstep(0.25, 0.75, p[0])
        return (vec3(1.0, 0.42, 0.2) * (1.0 - t) + vec3(0.2, 0.62, 1.0) * t) * smoothstep(-0.1, 0.75, p[1])

    @ti.func
    def camera(v, i, j):
        """Where the ray of a pixel begins, and its direction."""
        turn = 6.2831853 * v / views
        toward = vec3(-0.9 * ti.sin(turn), -0.435889894, -0.9 * ti.cos(turn))
        right = vec3(ti.cos(turn), 0.0, -ti.sin(turn))
        at = width * ((vec2(j, i) + 0.5) / pixels - 0.5)
        return vec3(0.5) - distance * toward, (toward + at[0] * right - at[1] * right.cross(toward)).normalized()

    @ti.kernel
    def render():
        for v, i, j in image:
            through[v, i, j, 0] = 1.0
        for v, i, j in image:
            for k in range(samples):
                eye, ray = camera(v, i, j)
                ds = 2.0 * reach / samples
                p = eye + (distance - reach + (k + 0.5) * ds) * ray
                left = through[v, i, j, k] * ti.exp(-ds * density_at(p))
                through[v, i, j, k + 1] = left
                image[v, i, j] += (through[v, i, j, k] - left) * glow(p)

    @ti.kernel
    def compare():
        for p in ti.grouped(image):
            loss[None] += (image[p] - target[p]).norm_sqr() / (3 * views * pixels * pixels)

    @ti.kernel
    def smooth():
        for i, j, k in ti.ndrange(n - 1, n - 1, n - 1):
            d = vec3(density[i + 1, j, k], density[i, j + 1, k], density[i, j, k + 1]) - density[i, j, k]
            loss[None] += smooth_weight * d.norm_sqr() / (n * n * n)

    def forward():
        positive()
        render()
        compare()
        smooth()

    raw.from_numpy(o.read("raw", n, n, n))
    target.from_numpy(o.read("target", views, pixels, pixels, 3))
    return taichi_work(loss, {"raw": raw}, forward, before=lambda: image.fill(0.0))


CASE = Case(name="volume_renderer", source="samples/volume_renderer/volume_renderer.tk", inputs=("target", "raw"), parameters=("raw",), real="f32", threads=(1, 2),
            sizes={"48 x 48 x 48 voxels, 7 images of 80 x 80": (48, 6)}, tiny=(12, 1), sides={"taichi": in_taichi})

if __name__ == "__main__":
    serve(CASE)
