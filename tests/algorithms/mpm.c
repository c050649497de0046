/* The scatter against plain loops in C; mass and momentum are conserved, and so are their derivatives. */
#include <math.h>
#include <stdio.h>

#include "mpm.h"

enum { N = 60000, G = 6 };

int main(void)
{
    mpm_params params = mpm_defaults();
    params.N = N;
    mpm *m = mpm_create(NULL, &params);
    static double mass[G][G][G];
    if (!m)
        return 1;
    m->stiffness.data[0] = 0;
    double total = 0, momentum[3] = {0};
    for (int p = 0; p < N; p++) {
        m->mass.data[p] = 1 + p % 4 * 0.25;
        total += m->mass.data[p];
        for (int c = 0; c < 3; c++) {
            m->x.data[p][c] = 0.5 + (p * 3 + c * 2) % 5 * 0.1;
            m->v.data[p][c] = (p * 2 + c) % 5 - 2;
            momentum[c] += m->mass.data[p] * m->v.data[p][c];
        }
    }
    for (int k = 0; k < 8; k++)
        mpm_to_grid(m, 0.1);
    for (int p = 0; p < N; p++) {
        int base[3];
        double w[3][3];
        for (int c = 0; c < 3; c++) {
            base[c] = (int)floor(m->x.data[p][c] / 0.25 - 0.5);
            const double f = m->x.data[p][c] / 0.25 - base[c];
            w[0][c] = 0.5 * (1.5 - f) * (1.5 - f);
            w[1][c] = 0.75 - (f - 1) * (f - 1);
            w[2][c] = 0.5 * (f - 0.5) * (f - 0.5);
        }
        for (int k = 0; k < 27; k++)
            mass[base[0] + k / 9][base[1] + k / 3 % 3][base[2] + k % 3] += m->mass.data[p] * w[k / 9][0] * w[k / 3 % 3][1] * w[k % 3][2];
    }
    int wrong = 0;
    double sum = 0, flow[3] = {0};
    for (int e = 0; e < G * G * G; e++) {
        wrong += !(fabs(m->grid_m.data[e] - ((double *)mass)[e]) < 1e-12 * total);
        sum += m->grid_m.data[e];
        for (int c = 0; c < 3; c++)
            flow[c] += m->grid_p.data[e][c];
    }
    wrong += !(fabs(sum - total) < 1e-12 * total);
    tk_module_clear_grad(&m->tk);
    for (int e = 0; e < G * G * G; e++)
        m->grid_p.grad[e][1] = 1;
    mpm_to_grid_grad(m, 0.1);
    for (int p = 0; p < N; p++) {
        wrong += !(fabs(m->v.grad[p][1] - m->mass.data[p]) < 1e-12) || !(fabs(m->mass.grad[p] - m->v.data[p][1]) < 1e-12);
        for (int c = 0; c < 3; c++)
            wrong += !(fabs(m->x.grad[p][c]) < 1e-10);
    }
    for (int c = 0; c < 3; c++)
        wrong += !(fabs(flow[c] - momentum[c]) < 1e-12 * total);
    printf("%d wrong\n%s\n", wrong, mpm_error(m));
    mpm_destroy(m);
    return wrong;
}
