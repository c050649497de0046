#include "rotations.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* m becomes Q1 diag(s) Q2: rotations about each axis in turn. */
static void turned(double m[3][3], const double *s)
{
    memset(m, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++)
        m[k][k] = s[k];
    for (int k = 0; k < 6; k++) {
        const double angle = 3 * uniform(), co = cos(angle), si = sin(angle);
        const int p = k % 3, q = (k + 1) % 3;
        for (int i = 0; i < 3; i++) {
            double *x = k < 3 ? &m[p][i] : &m[i][p], *y = k < 3 ? &m[q][i] : &m[i][q];
            const double old = *x;
            *x = co * old - si * *y;
            *y = si * old + co * *y;
        }
    }
}

int main(void)
{
    rotations_params p = rotations_defaults();
    rotations *m = rotations_create(NULL, &p);
    if (!m) {
        puts(tk_error());
        return 1;
    }
    const int single = sizeof m->y.data[0] == sizeof(float);
    m->tolerance.data[0] = single ? 1e-5f : 1e-14f;
    for (int i = 0; i < p.N; i++) {
        /* a third of them with values that agree, all of them with determinants of either sign */
        const double s[3] = {2 + uniform(), i % 3 ? 1 : 1.5 + 0.4 * uniform(), i % 2 ? -1 : 1};
        double a[3][3];
        turned(a, s);
        for (int k = 0; k < 9; k++)
            m->a3.data[i][k / 3][k % 3] = a[k / 3][k % 3];
        for (int k = 0; k < 4; k++)
            m->a2.data[i][k / 2][k % 2] = uniform();
        if (i % 5 == 0)
            m->a2.data[i][1][0] = m->a2.data[i][0][1], m->a2.data[i][1][1] = -m->a2.data[i][0][0];
    }
    rotations_compare(m);
    printf("%d decompositions are wrong\n", m->wrong.data[0]);

    int apart = 0;
    const double gap = single ? 1e-6 : 2e-15;
    for (int k = 0; k < 9; k++)
        m->c.data[0][k / 3][k % 3] = uniform();
    for (int i = 0; i < p.N; i++) {
        const double s[3] = {2, 1 + gap, 1};
        double a[3][3];
        turned(a, s);
        for (int k = 0; k < 9; k++)
            m->a.data[i][k / 3][k % 3] = a[k / 3][k % 3];
        m->y.grad[i] = 1;
    }
    double by_svd[1000][9];
    rotations_by_svd_grad(m);
    for (int i = 0; i < p.N; i++)
        for (int k = 0; k < 9; k++)
            by_svd[i][k] = m->a.grad[i][k / 3][k % 3];
    memset(m->a.grad, 0, (size_t)p.N * sizeof m->a.grad[0]);
    for (int i = 0; i < p.N; i++)
        m->y.grad[i] = 1;
    rotations_by_polar_grad(m);
    for (int i = 0; i < p.N; i++) {
        double most = 0, size = 0;
        for (int k = 0; k < 9; k++) {
            most = fmax(most, fabs(by_svd[i][k] - m->a.grad[i][k / 3][k % 3]));
            size = fmax(size, fabs(by_svd[i][k]));
        }
        apart += !(most <= (single ? 1e-5 : 1e-13) * size);
    }
    printf("%d gradients are apart\n", apart);
    const int failed = apart || m->wrong.data[0];
    rotations_destroy(m);
    return failed;
}
