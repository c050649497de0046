#include "scales.h"

#include <math.h>
#include <stdio.h>

static int differs(float got, double want)
{
    if (fabs((double)got - want) <= 1e-5 * fabs(want))
        return 0;
    printf("%g, expected %g\n", (double)got, want);
    return 1;
}

int main(void)
{
    scales *m = scales_create(NULL, NULL);
    if (!m)
        return 1;
    int bad = 0;
    for (int i = 0; i < 4; i++) {
        m->x.data[i] = (float)(i + 1) * 1e-15f;
        m->w.data[i] = (float)(i + 1) * 1e17f;
        m->y.grad[i] = 1e-13f;
    }
    bad |= scales_small_grad(m) != TK_OK;
    for (int i = 0; i < 4; i++)
        m->y.grad[i] = 1e-13f;
    bad |= scales_large_grad(m) != TK_OK;
    for (int i = 0; i < 4; i++) {
        bad |= differs(m->x.grad[i], 3e-13 * 1e-20 * 1e14 * pow(0.1 * (i + 1), 2));
        bad |= differs(m->w.grad[i], 3e-13 * 1e-14 * pow(1e3 * (i + 1), 2));
    }
    scales_destroy(m);
    return bad;
}
