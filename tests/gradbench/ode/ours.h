/* ode by tkc: y in out[0], and the gradient of the sum of seed[i] y[i]. */
#ifndef ODE_OURS_H
#define ODE_OURS_H

#include "bench.h"
#include "ode.h"

typedef struct ours {
    int n, steps;
    double *x, *out[6], *seed, *gradient;
    void *workspace;
} ours;

static void begin(ours *o, int n, int steps)
{
    o->n = n;
    o->steps = steps;
    o->x = bench_doubles(n);
    o->seed = bench_doubles(n);
    o->gradient = bench_doubles(n);
    for (int i = 0; i < 6; i++)
        o->out[i] = bench_doubles(n);
    o->workspace = bench_workspace(ode_run_grad_WORKSPACE(n, steps));
}

static void primal(void *p)
{
    ours *o = p;
    double *const *out = o->out;
    ode_run(o->n, o->x, o->steps, out[0], out[1], out[2], out[3], out[4], out[5]);
}

static void grad(void *p)
{
    ours *o = p;
    for (int i = 0; i < o->n; i++)
        o->gradient[i] = 0.0;
    ode_run_grad(o->n, o->x, o->steps, NULL, NULL, NULL, NULL, NULL, NULL, o->seed, NULL, NULL, NULL, NULL, NULL,
                 o->gradient, o->workspace);
}

#endif
