/* The case det. */
#include <math.h>

#include "bench.h"
#include "det.h"
#include "hand.h"

typedef struct data {
    int n;
    double *A, *gradient, *hand, value, hand_value;
    void *workspace;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t count = (int64_t)n[0] * n[0];
    uint64_t seed = 31337;
    d->n = n[0];
    d->A = bench_doubles(count);
    d->gradient = bench_doubles(count);
    d->hand = bench_doubles(count);
    d->workspace = bench_work(BENCH_OURS, (int64_t)((d->n == 5   ? det_of5_grad_WORKSPACE
                                                     : d->n == 7 ? det_of7_grad_WORKSPACE
                                                                 : det_of9_grad_WORKSPACE) /
                                                    sizeof(double)) +
                                              1);
    bench_fill(d->A, count, bench_uniform, &seed);
    return d;
}

static void primal(void *p)
{
    data *d = p;
    (d->n == 5 ? det_of5 : d->n == 7 ? det_of7 : det_of9)(d->A, &d->value);
}

static void grad(void *p)
{
    data *d = p;
    const double one = 1.0;
    for (int i = 0; i < d->n * d->n; i++)
        d->gradient[i] = 0.0;
    (d->n == 5 ? det_of5_grad : d->n == 7 ? det_of7_grad : det_of9_grad)(d->A, NULL, &one, d->gradient, d->workspace);
}

static void hand_cofactors(void *p)
{
    data *d = p;
    d->hand_value = det_hand_cofactors(d->n, d->A, d->hand);
}

static void hand_walk(void *p)
{
    data *d = p;
    d->hand_value = det_hand_walk(d->n, d->A, d->hand);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->value, &d->hand_value, 1),
                bench_difference(d->gradient, d->hand, (int64_t)d->n * d->n));
}

static const bench_size sizes[] = {{"l5", {5}}, {"l7", {7}}, {"l9", {9}}, {0}};
const bench_case bench_det[] = {
    {"det", "export func", "as known: cofactors", sizes, create, {primal, grad, hand_cofactors}, difference},
    {"det", "export func", "one walk", sizes, create, {primal, grad, hand_walk}, difference},
    {0}};
