/* The bound is the sum of a launch: the last bit decides. */
#include "debug_sums.h"

#include <math.h>
#include <stdio.h>

int main(void)
{
    debug_sums *m = debug_sums_create(NULL, NULL);
    for (int i = 0; i < m->params.N; i++)
        m->x.data[i] = (float)(0.3 + 0.0007 * ((i * 37) % 1000));
    if (debug_sums_k(m))
        return 1;
    *m->t.data = *m->acc.data; /* once more: not above it */
    *m->acc.data = *m->loss.data = 0;
    if (debug_sums_k(m))
        return 1;
    const float launched = *m->loss.data;
    *m->loss.grad = 1;
    if (debug_sums_k_grad(m))
        return 1;
    const double slope = m->x.grad[7] / (2 * m->x.data[7]);
    *m->acc.data = *m->loss.data = 0;
    m->x.dual[7] = 1;
    if (debug_sums_k_jvp(m))
        return 1;
    const int bad = launched != *m->t.data || *m->loss.data != launched || fabs(slope - 1) > 1e-6 || fabsf(*m->loss.dual - 2 * m->x.data[7]) > 1e-5f;
    if (bad)
        printf("launch %.9g, JVP %.9g, slope %g, tangent %g\n", launched, *m->loss.data, slope, *m->loss.dual);
    debug_sums_destroy(m);
    return bad;
}
