/* The spline goes through its heights, its slopes meet at the knots, and its derivative by position is its slope. */
#include <math.h>
#include <stdio.h>

#include "spline.h"

enum { KNOTS = 6, POINTS = 7 };

int main(void)
{
    spline *m = spline_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < KNOTS; i++) {
        m->gap.data[i] = 0.5 + i % 3 * 0.25;
        m->height.data[i] = (i * 4 % 7 - 3) * 0.1;
    }
    spline_knots(m);
    int wrong = 0;
    double before[KNOTS];
    for (int side = 0; side < 2; side++) { /* just below the knots, then at them */
        for (int i = 1; i < KNOTS - 1; i++)
            m->where_.data[i] = m->knot.data[i] - (side ? 0 : 1e-12);
        spline_interpolate(m);
        for (int i = 1; i < KNOTS - 1; i++) {
            wrong += m->piece.data[i] != i - !side || !(fabs(m->value.data[i] - m->height.data[i]) < 1e-11);
            wrong += side && !(fabs(m->slope.data[i] - before[i]) < 1e-10);
            before[i] = m->slope.data[i];
        }
    }
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < POINTS; i++)
        m->value.grad[i] = 1;
    spline_evaluate_grad(m);
    for (int i = 1; i < KNOTS - 1; i++)
        wrong += !(fabs(m->where_.grad[i] - m->slope.data[i]) < 1e-12);
    printf("%d wrong\n%s\n", wrong, spline_error(m));
    spline_destroy(m);
    return wrong;
}
