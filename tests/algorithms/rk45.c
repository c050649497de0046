/* Against Runge and Kutta's own method with very small steps, whose derivative is close to that of the adaptive one; some steps must be rejected. */
#include <math.h>
#include <stdio.h>

#include "rk45.h"

enum { RUNS = 4, STEPS = 20000 };

static void rate(const double *y, double mu, double *out)
{
    out[0] = y[1];
    out[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
}

static void exact(const double *from, double mu, double last, double *y)
{
    const double h = last / STEPS;
    y[0] = from[0];
    y[1] = from[1];
    for (int s = 0; s < STEPS; s++) {
        double k[4][2], at[2];
        const double part[] = {0, 0.5, 0.5, 1};
        for (int q = 0; q < 4; q++) {
            for (int c = 0; c < 2; c++)
                at[c] = y[c] + (q ? h * part[q] * k[q - 1][c] : 0);
            rate(at, mu, k[q]);
        }
        for (int c = 0; c < 2; c++)
            y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
}

int main(void)
{
    rk45 *m = rk45_create(NULL, NULL);
    if (!m)
        return 1;
    for (int r = 0; r < RUNS; r++) {
        m->start.data[r][0] = 0.5 + r * 0.25;
        m->start.data[r][1] = r / 3.0;
        m->mu.data[r] = r * 0.75;
    }
    m->target.data[0][0] = 0.25;
    TK_TAPE(m, m->misfit) {
        rk45_integrate(m, 4);
        rk45_compare(m);
    }
    int wrong = 0, rejected = 0;
    for (int r = 0; r < RUNS; r++) {
        double y[3][2];
        for (int k = 0; k < 3; k++)
            exact(m->start.data[r], 1 + m->mu.data[r] + (k - 1) * 1e-5, 6, y[k]);
        double by_mu = 0;
        for (int c = 0; c < 2; c++) {
            wrong += !(fabs(y[1][c] - m->end.data[r][c]) < 1e-3);
            by_mu += 2 * (m->end.data[r][c] - m->target.data[0][c]) * (y[2][c] - y[0][c]) / 2e-5;
        }
        wrong += !(fabs(by_mu - m->mu.grad[r]) < 1e-2 * (1 + fabs(by_mu)));
        rejected += m->rejected.data[r];
    }
    printf("%d wrong, %d steps rejected\n%s\n", wrong, rejected, rk45_error(m));
    rk45_destroy(m);
    return wrong || !rejected;
}
