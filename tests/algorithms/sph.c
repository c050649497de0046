/* Densities and forces against all pairs; and a tape of many steps of state in place against differences. */
#include <math.h>
#include <stdio.h>

#include "sph.h"

enum { N = 14, STEPS = 20 };

static void place(sph *m, double moved)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i][0] = i % 4 * 0.25 + (i == 5 ? moved : 0);
        m->x.data[i][1] = i / 4 * 0.25 + i % 3 * 0.1;
        m->v.data[i][0] = i % 3 - 1;
        m->v.data[i][1] = i % 2 * 0.5;
        ((double *)m->mass.data)[i] = 1 + i % 3 * 0.1;
    }
    m->stiffness.data[0] = 0.75;
    m->energy.data[0] = 0;
}

static double square(double x)
{
    return x * x;
}

int main(void)
{
    sph *m = sph_create(NULL, NULL);
    if (!m)
        return 1;
    int wrong = 0;
    place(m, 0);
    sph_find(m);
    sph_densities(m);
    for (int i = 0; i < N; i++) {
        double rho = 0.5;
        for (int j = 0; j < N; j++) {
            const double q = 0.25 - square(m->x.data[i][0] - m->x.data[j][0]) - square(m->x.data[i][1] - m->x.data[j][1]);
            rho += q > 0 ? ((const double *)m->mass.data)[j] * q * q * q * 20 : 0;
        }
        wrong += !(fabs(rho - m->rho.data[i]) < 1e-12);
    }
    double energy[2];
    for (int side = 0; side < 2; side++) {
        place(m, side ? 1e-6 : -1e-6);
        for (int t = 0; t < STEPS; t++)
            sph_step(m, 0.02);
        energy[side] = m->energy.data[0];
    }
    place(m, 0);
    TK_TAPE(m, m->energy) {
        for (int t = 0; t < STEPS; t++)
            sph_step(m, 0.02);
    }
    const double got = m->x.grad[5][0], want = (energy[1] - energy[0]) / 2e-6;
    wrong += !(fabs(got - want) < 1e-6 * (1 + fabs(want)));
    printf("%d wrong; %.10g, by differences %.10g\n%s\n", wrong, got, want, sph_error(m));
    sph_destroy(m);
    return wrong;
}
