/* What is left of A x - b; the derivative of the logarithm of the determinant is the transposed inverse; and known results where pivots are equal. */
#include <math.h>
#include <stdio.h>

#include "lu.h"

enum { N = 4, SYSTEMS = 6 };

static double entry(const lu *m, int s, int i, int j)
{
    return m->A.data[(s * N + i) * N + j] + (i == j ? 2 : 0);
}

int main(void)
{
    lu *m = lu_create(NULL, NULL);
    if (!m)
        return 1;
    for (int k = 0; k < SYSTEMS * N * N; k++)
        m->A.data[k] = (k * 37 % 21 - 10) / 10.0;
    for (int k = 0; k < SYSTEMS * N; k++)
        m->b.data[k] = (k * 5 % 7 - 3) / 3.0;
    for (int j = 0; j < N; j++) /* a first column of ones: the first row stays in front */
        m->A.data[j * N] = j ? 1 : -1;
    lu_solve_all(m);
    int wrong = m->order.data[0] != 0;
    for (int s = 0; s < SYSTEMS; s++)
        for (int i = 0; i < N; i++) {
            double left = -m->b.data[s * N + i];
            for (int j = 0; j < N; j++)
                left += entry(m, s, i, j) * m->x.data[s * N + j];
            wrong += !(fabs(left) < 1e-10);
        }
    tk_module_clear_grad(&m->tk);
    for (int s = 0; s < SYSTEMS; s++)
        m->log_det.grad[s] = 1;
    lu_solve_all_grad(m);
    for (int s = 0; s < SYSTEMS; s++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) { /* A^T inv(A)^T = identity, with the sign of the determinant, which is 1 or -1 for all */
                double p = 0, first = 0;
                for (int k = 0; k < N; k++) {
                    p += entry(m, s, k, i) * m->A.grad[(s * N + k) * N + j];
                    first += entry(m, s, k, 0) * m->A.grad[(s * N + k) * N];
                }
                wrong += !(fabs(fabs(first) - 1) < 1e-9) || !(fabs(p - (i == j ? first : 0)) < 1e-9);
            }
    printf("%d wrong\n%s\n", wrong, lu_error(m));
    lu_destroy(m);
    return wrong;
}
