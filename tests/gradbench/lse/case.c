/* The case lse. */
#include <math.h>

#include "bench.h"
#include "lse.h"
#include "hand.h"

typedef struct data {
    lse *m;
    int n;
    double *gradient, y, hand_y;
} data;

BENCH_MODULE(lse)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    lse_params p = lse_defaults();
    d->n = p.N = n[0];
    d->m = new_lse(&p);
    d->gradient = bench_doubles(p.N);
    if (!d->m)
        return NULL;
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

static const bench_size sizes[] = {{"n37", {37}}, {"n10000", {10000}}, {"n1280000", {1280000}}, {0}};
const bench_case bench_lse[] = {{"lse", "kernel", "as known", sizes, create, {primal, grad, hand_grad}, difference},
                                {0}};
