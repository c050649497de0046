/* The case llsq. */
#include <math.h>

#include "bench.h"
#include "llsq.h"
#include "hand.h"

typedef struct data {
    llsq *m;
    int n, k;
    double *gradient, *powers, y, hand_y;
} data;

BENCH_MODULE(llsq)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    llsq_params p = llsq_defaults();
    d->n = p.N = n[0];
    d->k = p.M = n[1];
    d->m = new_llsq(&p);
    d->gradient = bench_doubles(p.M);
    d->powers = bench_work(BENCH_HAND, p.M);
    if (!d->m)
        return NULL;
    uint64_t seed = 31337;
    bench_fill(d->m->x.data, p.M, bench_uniform, &seed);
    return d;
}

static void primal(void *p)
{
    data *d = p;
    d->m->y.data[0] = 0.0;
    llsq_misfit(d->m);
    d->y = d->m->y.data[0];
}

static void grad(void *p)
{
    data *d = p;
    tk_module_clear_grad(&d->m->tk);
    d->m->y.grad[0] = 1.0;
    llsq_misfit_grad(d->m);
}

static void hand_grad(void *p)
{
    data *d = p;
    d->hand_y = llsq_hand_grad(d->n, d->k, d->m->x.data, d->gradient);
}

static void hand_grad_kept(void *p)
{
    data *d = p;
    d->hand_y = llsq_hand_grad_kept(d->n, d->k, d->m->x.data, d->gradient, d->powers);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->y, &d->hand_y, 1), bench_difference(d->m->x.grad, d->gradient, d->k));
}

static const bench_size sizes[] = {{"n9 m5", {9, 5}}, {"n1024 m128", {1024, 128}}, {"n16392 m128", {16392, 128}}, {0}};
const bench_case bench_llsq[] = {
    {"llsq", "kernel", "as known", sizes, create, {primal, grad, hand_grad}, difference},
    {"llsq", "kernel", "powers kept", sizes, create, {primal, grad, hand_grad_kept}, difference},
    {0}};
