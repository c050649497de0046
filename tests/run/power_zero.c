#include <math.h>
#include <stdio.h>

#include "power_zero.h"

int main(void)
{
    power_zero *m = power_zero_create(NULL, NULL);
    if (!m)
        return 1;
    m->a.data[0] = 2.0;
    m->b.data[0] = 0.0;
    m->a.dual[0] = 0.3;
    m->b.dual[0] = 1.0;
    power_zero_power_jvp(m);
    m->r.grad[0] = 1.0;
    power_zero_power_hvp(m);
    printf("%g %g\n", m->a.grad[0], m->b.grad[0]);
    printf("%.12g %.12g\n", m->a.grad_dual[0] - 1.0 / 2.0, m->b.grad_dual[0] - (log(2.0) * log(2.0) + 0.3 / 2.0));
    power_zero_destroy(m);
    return 0;
}
