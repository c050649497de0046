/* The case lse. */
#include <math.h>

#include "lse.h"
#include "objective.h"
#include "hand.h"

OBJECTIVE(lse, log_sum_exp, y)

typedef struct data {
    ours o;
    double *gradient, value;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    lse *m = d->o.m = new_lse(&(lse_params){(int)n[0]});
    if (!m)
        return NULL;
    uint64_t seed = 31337;
    bench_fill(m->x.data, n[0], bench_uniform, &seed);
    d->gradient = bench_doubles(n[0]);
    return d;
}

static void hand_grad(void *p)
{
    data *d = p;
    d->value = lse_hand_grad(d->o.m->params.N, d->o.m->x.data, d->gradient);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->o.value, &d->value, 1),
                bench_difference(d->o.m->x.grad, d->gradient, d->o.m->params.N));
}

static const bench_size sizes[] = {{"n37", {37}}, {"n10000", {10000}}, {"n1280000", {1280000}}, {0}};
const bench_case bench_lse[] = {
    BENCH_CASE("lse", "kernel", "as known", sizes, create, difference, primal, grad, hand_grad), {0}};
