/* The case det. */
#include <math.h>

#include "ours.h"
#include "hand.h"

typedef struct data {
    ours o;
    double *gradient, value;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    uint64_t seed = 31337;
    begin(&d->o, (int)n[0]);
    bench_fill(d->o.A, n[0] * n[0], bench_uniform, &seed);
    d->gradient = bench_doubles(n[0] * n[0]);
    return d;
}

static void hand_cofactors(void *p)
{
    data *d = p;
    d->value = det_hand_cofactors(d->o.n, d->o.A, d->gradient);
}

static void hand_walk(void *p)
{
    data *d = p;
    d->value = det_hand_walk(d->o.n, d->o.A, d->gradient);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->o.value, &d->value, 1),
                bench_difference(d->o.gradient, d->gradient, (int64_t)d->o.n * d->o.n));
}

static const bench_size sizes[] = {{"l5", {5}}, {"l7", {7}}, {"l9", {9}}, {0}};
const bench_case bench_det[] = {
    BENCH_CASE("det", "export func", "as known: cofactors", sizes, create, difference, primal, grad, hand_cofactors),
    BENCH_CASE("det", "export func", "one walk", sizes, create, difference, primal, grad, hand_walk),
    {0}};
