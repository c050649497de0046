/* Time and memory of a gradient through 1,000 steps in place, and with a time axis. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "in_place.h"

enum { N = 10000, T = 1000, RUNS = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(float *x, float *v)
{
    for (int i = 0; i < N; i++) {
        x[i] = 0.5f + 0.4f * sinf(0.01f * (float)i);
        v[i] = 0;
    }
}

int main(void)
{
    in_place *m = in_place_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    double best[4] = {1e9, 1e9, 1e9, 1e9}, worst = 0, size = 0;
    static float x_grad[N];
    size_t bytes[2] = {0, 0};
    for (int run = 0; run < RUNS; run++) {
        start(m->x.data, m->v.data);
        double t0 = now();
        for (int t = 0; t < T; t++)
            in_place_step(m);
        best[0] = fmin(best[0], now() - t0);
        start(m->x.data, m->v.data);
        t0 = now();
        TK_TAPE(m, m->loss)
        {
            for (int t = 0; t < T; t++)
                in_place_step(m);
            in_place_total(m);
        }
        best[1] = fmin(best[1], now() - t0);
        memcpy(x_grad, m->x.grad, sizeof x_grad); /* the next tape clears it */
        bytes[0] = tk_tape_bytes(s) + 2 * (tk_field_bytes(m->x.field) + tk_field_bytes(m->v.field));

        start(m->xt.data, m->vt.data);
        t0 = now();
        for (int t = 0; t < T; t++)
            in_place_step_t(m, t);
        best[2] = fmin(best[2], now() - t0);
        t0 = now();
        TK_TAPE(m, m->loss)
        {
            for (int t = 0; t < T; t++)
                in_place_step_t(m, t);
            in_place_total_t(m);
        }
        best[3] = fmin(best[3], now() - t0);
        bytes[1] = tk_tape_bytes(s) + 2 * (tk_field_bytes(m->xt.field) + tk_field_bytes(m->vt.field));
        for (int i = 0; i < N; i++) {
            worst = fmax(worst, fabs((double)(x_grad[i] - m->xt.grad[i])));
            size = fmax(size, fabs((double)m->xt.grad[i]));
        }
    }
    printf("%d cells, %d steps     primal    gradient   ratio   memory with gradients\n", N, T);
    printf("in place, saved       %8.4f s %8.4f s %7.2f %9.1f MB\n", best[0], best[1], best[1] / best[0],
           (double)bytes[0] / 1e6);
    printf("with a time axis      %8.4f s %8.4f s %7.2f %9.1f MB\n", best[2], best[3], best[3] / best[2],
           (double)bytes[1] / 1e6);
    printf("largest difference of the gradients %.2g, largest gradient %.2g\n", worst, size);
    const bool failed = in_place_status(m) != TK_OK;
    if (failed)
        printf("%s\n", in_place_error(m));
    in_place_destroy(m);
    return failed;
}
