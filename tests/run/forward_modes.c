/* For each kernel: JVP against differences, adjoint against JVP, second-order product against differences of the
 * adjoint. */
#include "forward_modes.h"
#include "host.h"

enum { N = 12, A = 4 * N };
typedef tk_status kernel(forward_modes *);

static void set(forward_modes *m, const double *x)
{
    memcpy(m->x.data, x, N * sizeof(double));
    memset(m->y.data, 0, N * sizeof(double));
    memset(m->a.data, 0, A * sizeof(double));
}

static void clear(forward_modes *m)
{
    memset(m->x.grad, 0, N * sizeof(double));
    memset(m->y.grad, 0, N * sizeof(double));
    memset(m->a.grad, 0, A * sizeof(double));
    memset(m->x.dual, 0, N * sizeof(double));
    memset(m->y.dual, 0, N * sizeof(double));
    memset(m->a.dual, 0, A * sizeof(double));
}

static void value(forward_modes *m, kernel *k, const double *x, const double *v, double h, double *y)
{
    double moved[N];
    for (int i = 0; i < N; i++)
        moved[i] = x[i] + h * v[i];
    set(m, moved);
    k(m);
    memcpy(y, m->y.data, N * sizeof(double));
}

static void adjoint(forward_modes *m, kernel *k, kernel *grad, const double *x, const double *v, double h, const double *w, double *g)
{
    double y[N];
    value(m, k, x, v, h, y);
    clear(m);
    memcpy(m->y.grad, w, sizeof y);
    grad(m);
    memcpy(g, m->x.grad, N * sizeof(double));
}

static void expect(const char *name, const char *what, const double *got, const double *want, double tolerance)
{
    for (int i = 0; i < N; i++)
        if (!near(got[i], want[i], tolerance))
            FAIL("%s: %s[%d] is %.12g, must be %.12g", name, what, i, got[i], want[i]);
}

static void difference(const double *up, const double *down, double h, double *d)
{
    for (int i = 0; i < N; i++)
        d[i] = (up[i] - down[i]) / (2 * h);
}

static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        s += a[i] * b[i];
    return s;
}

static void check(forward_modes *m, const char *name, kernel *k, kernel *grad, kernel *jvp, kernel *hvp)
{
    const double h = 1e-5;
    double x[N], v[N], w[N], up[N], down[N], want[N], tangent[N], g[N];
    for (int i = 0; i < N; i++) {
        x[i] = 1.3 * sin(1.7 * i + 0.4);
        v[i] = cos(2.3 * i);
        w[i] = sin(0.9 * i + 1.0);
        m->n.data[i] = i % 5;
    }
    value(m, k, x, v, h, up);
    value(m, k, x, v, -h, down);
    difference(up, down, h, want);
    set(m, x);
    clear(m);
    memcpy(m->x.dual, v, sizeof v);
    memset(m->y.dual, 7, sizeof v); /* plain stores replace what is there */
    jvp(m);
    memcpy(tangent, m->y.dual, sizeof tangent);
    expect(name, "y.dual", tangent, want, 1e-7);

    adjoint(m, k, grad, x, v, 0, w, g);
    const double left = dot(tangent, w), right = dot(v, g);
    if (!(fabs(left - right) <= 1e-12 * (sqrt(dot(tangent, tangent) * dot(w, w)) + 1)))
        FAIL("%s: <Jv, w> is %.15g, <v, J'w> is %.15g", name, left, right);

    adjoint(m, k, grad, x, v, h, w, up);
    adjoint(m, k, grad, x, v, -h, w, down);
    difference(up, down, h, want);
    set(m, x);
    clear(m);
    memcpy(m->x.dual, v, sizeof v);
    jvp(m); /* duals of what the adjoint reads again */
    memcpy(m->y.grad, w, sizeof w);
    hvp(m);
    expect(name, "x.grad", m->x.grad, g, 1e-12);
    expect(name, "x.grad.dual", m->x.grad_dual, want, 1e-6);
    memset(m->x.grad_dual, 0, N * sizeof(double));
    memset(m->y.grad_dual, 0, N * sizeof(double));
    memset(m->a.grad_dual, 0, A * sizeof(double));
}

int main(void)
{
    forward_modes *m = forward_modes_create(NULL, NULL);
    if (!m) {
        printf("%s\n", tk_error());
        return 1;
    }
#define KERNEL(k) \
    check(m, #k, forward_modes_##k, forward_modes_##k##_grad, forward_modes_##k##_jvp, forward_modes_##k##_hvp)
    KERNEL(pure);
    KERNEL(carried);
    KERNEL(loops);
    KERNEL(calls);
    KERNEL(reductions);
    KERNEL(arrays);
    KERNEL(steps);
    KERNEL(accumulated);
    KERNEL(chains);
    KERNEL(nested);
    CHECK_OK(m, forward_modes_status(m));
    forward_modes_destroy(m);
    return failures != 0;
}
