/* The case lse. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "lse.h"
#include "hand.h"

typedef struct data {
    lse *m;
    tk_session *s;
    int n;
    double *gradient, y, hand_y;
} data;

static void destroy(void *p)
{
    data *d = p;
    lse_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->gradient);
    free(d);
}

static void *create(const int *n)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    lse_params p = lse_defaults();
    d->n = p.N = n[0];
    d->s = bench_session();
    d->m = lse_create(d->s, &p);
    d->gradient = bench_doubles(p.N);
    if (!d->m) {
        destroy(d);
        return NULL;
    }
    uint64_t seed = 31337;
    bench_fill(d->m->x.data, p.N, bench_uniform, &seed);
    return d;
}

static void primal(void *p)
{
    data *d = p;
    d->m->y.data[0] = 0.0;
    lse_log_sum_exp(d->m);
    d->y = d->m->y.data[0];
}

static void grad(void *p)
{
    data *d = p;
    tk_module_clear_grad(&d->m->tk);
    d->m->y.grad[0] = 1.0;
    lse_log_sum_exp_grad(d->m);
}

static void hand_grad(void *p)
{
    data *d = p;
    d->hand_y = lse_hand_grad(d->n, d->m->x.data, d->gradient);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->y, &d->hand_y, 1), bench_difference(d->m->x.grad, d->gradient, d->n));
}

const bench_case bench_lse = {
    "lse", "kernel",  "as known", {"n37", {37}}, {{"n10000", {10000}}, {"n1280000", {1280000}}}, create, primal,
    grad,  hand_grad, difference, destroy};
