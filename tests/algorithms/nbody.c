/* Forces are the gradient of the potential; all pairs give the same; and a tape of many steps against differences. */
#include <math.h>
#include <stdio.h>

#include "nbody.h"

enum { N = 8, STEPS = 12 };

static void place(nbody *m, double moved)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++) {
            m->x.data[c][i] = (i >> c) % 2 * 0.75 + (i * 3 + c) % 5 * 0.1 + (i == 2 && c == 1 ? moved : 0);
            m->v.data[c][i] = (i * 5 + c * 2) % 7 * 0.25 - 0.75;
            m->f.data[c][i] = 0;
        }
    m->strength.data[0] = 1.25;
    m->potential.data[0] = 0;
}

int main(void)
{
    nbody *m = nbody_create(NULL, NULL);
    if (!m)
        return 1;
    int wrong = 0, pairs = 0;
    place(m, 0);
    nbody_collect(m);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            double r2 = 0;
            for (int c = 0; c < 3; c++) {
                double d = m->x.data[c][i] - m->x.data[c][j];
                d -= 3 * round(d / 3);
                r2 += d * d;
            }
            pairs += r2 < 1.25 * 1.25;
        }
    wrong += pairs != m->pairs.data[0] || pairs < N;
    nbody_interact(m);
    tk_module_clear_grad(&m->tk);
    m->potential.grad[0] = 1;
    nbody_interact_grad(m);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            wrong += !(fabs(m->x.grad[c][i] + m->f.data[c][i]) < 1e-12);
    double energy[2];
    for (int side = 0; side < 2; side++) {
        place(m, side ? 1e-6 : -1e-6);
        for (int t = 0; t < STEPS; t++)
            nbody_verlet(m, 0.05);
        energy[side] = m->potential.data[0];
    }
    place(m, 0);
    TK_TAPE(m, m->potential) {
        for (int t = 0; t < STEPS; t++)
            nbody_verlet(m, 0.05);
    }
    const double got = m->x.grad[1][2], want = (energy[1] - energy[0]) / 2e-6;
    wrong += !(fabs(got - want) < 1e-6 * (1 + fabs(want)));
    printf("%d wrong; %.10g, by differences %.10g\n%s\n", wrong, got, want, nbody_error(m));
    nbody_destroy(m);
    return wrong;
}
