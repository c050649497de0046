/* Which elements a running sum on a lattice reads: the gradients of all of them, with the sums that C makes in order. */
#include <math.h>
#include <stdio.h>

#include "sampling.h"

enum { N = 9, STEPS = 8, TEXELS = 32 };

int main(void)
{
    sampling *m = sampling_create(NULL, NULL);
    if (!m)
        return 1;
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N * STEPS; i++)
            m->sequence.data[i] = round % 2 ? (1 + (i * 7 + round * 5) % 9) * 0.1 : (1 + (i * 7 + round * 5) % 3) / 3.0;
        for (int k = 0; k < TEXELS; k++)
            m->tex.data[k] = (k * 5 % 11 - 5) * 0.1;
        sampling_walk(m);
        tk_module_clear_grad(&m->tk);
        for (int i = 0; i < N; i++)
            m->read.grad[i] = 1;
        sampling_walk_grad(m);
        double want[TEXELS] = {0};
        for (int i = 0; i < N; i++) {
            double all = 0, s = 0;
            for (int q = 0; q < STEPS; q++)
                all += m->sequence.data[i * STEPS + q];
            for (int q = 0; q < STEPS; q++) {
                const double d = m->sequence.data[i * STEPS + q];
                s += d;
                const volatile double thrice = s * 3;
                wrong += m->running.data[i * STEPS + q] != s;
                want[(int)thrice] += all * d * m->tex.data[(int)s];
                want[(int)s] += all * d * m->tex.data[(int)thrice];
            }
        }
        for (int k = 0; k < TEXELS; k++)
            wrong += !(fabs(want[k] - m->tex.grad[k]) < 1e-11);
    }
    printf("%d wrong\n%s\n", wrong, sampling_error(m));
    sampling_destroy(m);
    return wrong > 0;
}
