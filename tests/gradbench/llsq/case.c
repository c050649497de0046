/* The case llsq. */
#include <math.h>

#include "llsq.h"
#include "objective.h"
#include "hand.h"

OBJECTIVE(llsq, misfit, y)

typedef struct data {
    ours o;
    int n, k;
    double *gradient, *powers, value;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    llsq_params p = llsq_defaults();
    d->n = p.N = (int)n[0];
    d->k = p.M = (int)n[1];
    d->o.m = new_llsq(&p);
    if (!d->o.m)
        return NULL;
    uint64_t seed = 31337;
    bench_fill(d->o.m->x.data, d->k, bench_uniform, &seed);
    d->gradient = bench_doubles(d->k);
    d->powers = bench_work(BENCH_HAND, d->k);
    return d;
}

static void hand_grad(void *p)
{
    data *d = p;
    d->value = llsq_hand_grad(d->n, d->k, d->o.m->x.data, d->gradient);
}

static void hand_grad_kept(void *p)
{
    data *d = p;
    d->value = llsq_hand_grad_kept(d->n, d->k, d->o.m->x.data, d->gradient, d->powers);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->o.value, &d->value, 1), bench_difference(d->o.m->x.grad, d->gradient, d->k));
}

static const bench_size sizes[] = {{"n9 m5", {9, 5}}, {"n1024 m128", {1024, 128}}, {"n16392 m128", {16392, 128}}, {0}};
const bench_case bench_llsq[] = {
    BENCH_CASE("llsq", "kernel", "as known", sizes, create, difference, primal, grad, hand_grad),
    BENCH_CASE("llsq", "kernel", "powers kept", sizes, create, difference, primal, grad, hand_grad_kept),
    {0}};
