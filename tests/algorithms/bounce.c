/* Balls that are dropped bounce as the closed form says, and so do their derivatives; of two that are as far the first one counts. */
#include <math.h>
#include <stdio.h>

#include "bounce.h"

static double height(double y, double e, double t)
{
    const double fall = sqrt(2 * y / 10), u = t - fall;
    return u < 0 ? y - 5 * t * t : e * 10 * fall * u - 5 * u * u;
}

int main(void)
{
    bounce *m = bounce_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 5; i++) {
        m->position.data[i][0] = 1;
        m->position.data[i][1] = 0.3 + 0.2 * i;
        m->velocity.data[i][0] = 0;
    }
    m->restitution.data[0] = 0.75;
    bounce_advance(m, 0.1); /* 0.6 s in all */
    int wrong = 0;
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < 5; i++)
        m->position.grad[i][1] = 1;
    double by_dt = 0, by_e = 0;
    bounce_advance_grad(m, 0.1, &by_dt);
    for (int i = 0; i < 5; i++) {
        const double y = 0.3 + 0.2 * i, h = 1e-6, slope = (height(y + h, 0.75, 0.6) - height(y - h, 0.75, 0.6)) / (2 * h);
        wrong += !(fabs(m->position.data[i][1] - height(y, 0.75, 0.6)) < 1e-12) || !(fabs(m->position.grad[i][1] - slope) < 1e-6);
        by_dt -= (height(y, 0.75, 0.6 + h) - height(y, 0.75, 0.6 - h)) / (2 * h);
        by_e += (height(y, 0.75 + h, 0.6) - height(y, 0.75 - h, 0.6)) / (2 * h);
    }
    wrong += !(fabs(by_dt) < 1e-6) || !(fabs(m->restitution.grad[0] - by_e) < 1e-6);
    tk_module_clear_grad(&m->tk); /* two are as far: the first one has the derivative */
    for (int i = 0; i < 5; i++) {
        m->position.data[i][0] = i == 1 || i == 3 ? 0.3 : 0.1;
        m->position.data[i][1] = 0.1;
    }
    m->reach.grad[0] = 1;
    bounce_furthest(m);
    bounce_furthest_grad(m);
    for (int i = 0; i < 5; i++)
        wrong += m->position.grad[i][0] != (i == 1);
    printf("%d wrong, %d hits of the lowest\n%s\n", wrong, (int)m->hits.data[0], bounce_error(m));
    bounce_destroy(m);
    return wrong;
}
