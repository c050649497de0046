#include "page_gravity.h"
#include "host.h"

enum { N = 8 };

/* dU/dx by hand: each pair is met in both orders. */
static void by_hand(const float (*x)[2], double (*g)[2])
{
    for (int i = 0; i < N; i++) {
        g[i][0] = g[i][1] = 0;
        for (int j = 0; j < N; j++) {
            const double dx = (double)x[i][0] - (double)x[j][0], dy = (double)x[i][1] - (double)x[j][1];
            const double f = 2 * pow(dx * dx + dy * dy + 1e-3, -1.5);
            g[i][0] += dx * f;
            g[i][1] += dy * f;
        }
    }
}

int main(void)
{
    page_gravity *m = page_gravity_create(NULL, NULL);
    if (!m)
        return 1;
    unsigned seed = 1;
    double v[N][2] = {{0}}, x[N][2];
    for (int k = 0; k < 2 * N; k++) {
        seed = seed * 1664525u + 1013904223u;
        m->x.data[k / 2][k % 2] = (float)(seed >> 8) / 16777216.0f;
        x[k / 2][k % 2] = (double)m->x.data[k / 2][k % 2];
    }
    for (int step = 0; step < 50; step++) {
        TK_TAPE(m, m->U) page_gravity_compute_U(m);
        double g[N][2];
        by_hand((const float(*)[2])m->x.data, g);
        for (int k = 0; k < 2 * N; k++) {
            const double got = (double)m->x.grad[k / 2][k % 2], want = g[k / 2][k % 2];
            if (!near(got, want, 1e-4))
                FAIL("step %d: %g instead of %g", step, got, want);
            v[k / 2][k % 2] -= 1e-5 * want;
            x[k / 2][k % 2] += 1e-5 * v[k / 2][k % 2];
        }
        page_gravity_advance(m);
    }
    for (int k = 0; k < 2 * N; k++)
        CHECK(fabs((double)m->x.data[k / 2][k % 2] - x[k / 2][k % 2]) < 1e-5);
    CHECK_OK(m, page_gravity_status(m));
    page_gravity_destroy(m);
    return failures != 0;
}
