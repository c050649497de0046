/* Walls at both ends keep the water: the derivative of its sum by each depth is one, by the bed and the momentum none. */
#include <math.h>
#include <stdio.h>

#include "shallow.h"

enum { N = 8 };

int main(void)
{
    shallow *m = shallow_create(NULL, NULL);
    if (!m)
        return 1;
    double water = 0;
    for (int i = 0; i < N; i++) {
        m->start.data[i][0] = i == 2 ? 0 : i * 3 % 5 / 4.0;
        m->start.data[i][1] = (i * 2 % 3 - 1) * 0.1;
        m->bed.data[i] = i * 5 % 4 * 0.1;
        water += m->start.data[i][0];
    }
    shallow_run(m, 0.5);
    int wrong = !(fabs(m->total.data[0][0] - water) < 1e-12);
    tk_module_clear_grad(&m->tk);
    m->total.grad[0][0] = 1;
    shallow_run_grad(m, 0.5);
    for (int i = 0; i < N; i++) { /* an empty cell: the maximum of two zeros takes the second, which is constant */
        wrong += !(fabs(m->start.grad[i][0] - (m->start.data[i][0] > 0)) < 1e-12) || !(fabs(m->start.grad[i][1]) < 1e-12);
        wrong += !(fabs(m->bed.grad[i]) < 1e-12);
    }
    printf("%d wrong\n%s\n", wrong, shallow_error(m));
    shallow_destroy(m);
    return wrong;
}
