/* The adjoint and the second-order product with respect to x, against a recurrence by hand. */
#include "cleared.h"
#include "host.h"

enum { N = 31, K = 16 };

/* s after the trips, its derivative, and the derivative of that. */
static void by_hand(const cleared *m, int p, double d[3])
{
    const double x = m->x.data[p];
    d[0] = x;
    d[1] = 1;
    d[2] = 0;
    for (int j = 0; j < K; j++) {
        d[2] = 0.5 * (2 * d[1] + d[2] * x);
        d[1] = 0.5 * (d[0] + d[1] * x);
        d[0] = 0.5 * d[0] * x + m->a.data[j];
    }
}

static void expect(const char *what, int p, double got, double want)
{
    if (!near(got, want, 1e-5))
        FAIL("%s %d: %g, expected %g", what, p, got, want);
}

int main(void)
{
    cleared *const m = cleared_create(NULL, NULL);
    if (!m)
        return 1;
    for (int second = 0; second < 2; second++) {
        for (int j = 0; j < 40; j++)
            m->a.data[j] = 1;
        for (int p = 0; p < N; p++) {
            m->x.data[p] = 1;
            m->x.dual[p] = 1;
            m->x.grad[p] = 0;
            m->y.grad[p] = m->z.grad[p] = m->w.grad[p] = 1;
        }
        if ((second ? cleared_scaled_hvp(m) : cleared_scaled_grad(m)) != TK_OK)
            return 1;
        for (int p = 0; p < N; p++) {
            double d[3];
            by_hand(m, p, d);
            expect("gradient", p, (double)m->x.grad[p], d[1]);
            if (second)
                expect("second-order product", p, (double)m->x.grad_dual[p], d[2]);
            expect("cleared", p, (double)(m->y.grad[p] + m->z.grad[p] + m->w.grad[p]), 0);
        }
    }
    cleared_destroy(m);
    return failures != 0;
}
