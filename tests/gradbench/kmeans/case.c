/* The case kmeans: points in the unit cube. */
#include <math.h>
#include <string.h>

#include "ours.h"
#include "hand.h"

typedef struct data {
    ours o;
    kmeans_input in;
    double *step, *sums, cost;
    int *counts;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    kmeans_params p = kmeans_defaults();
    p.N = (int)n[0];
    p.K = (int)n[1];
    p.D = (int)n[2];
    if (!begin(&d->o, &p))
        return NULL;
    kmeans *m = d->o.m;
    const int64_t kd = n[1] * n[2], nd = n[0] * n[2];
    uint64_t seed = 31337;
    bench_fill(m->points.data, nd, bench_uniform, &seed);
    memcpy(m->centres.data, m->points.data + (nd - kd), (size_t)kd * sizeof(double)); /* so none is without points */
    d->in = (kmeans_input){p.N, p.K, p.D, m->points.data, m->centres.data};
    d->step = bench_doubles(kd);
    d->sums = bench_work(BENCH_HAND, kd);
    d->counts = bench_zeros(n[1] * (int64_t)sizeof(int));
    return d;
}

static void hand_grad(void *p)
{
    data *d = p;
    d->cost = kmeans_hand_step(&d->in, d->step, d->sums, d->counts);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->o.cost, &d->cost, 1),
                bench_difference(d->o.step, d->step, (int64_t)d->in.k * d->in.d));
}

static const bench_size sizes[] = {
    {"n50 k4 d3", {50, 4, 3}}, {"n10000 k10 d8", {10000, 10, 8}}, {"n10000 k100 d16", {10000, 100, 16}}, {0}};
const bench_case bench_kmeans[] = {
    BENCH_CASE("kmeans", "kernel, hvp", "as known: sums", sizes, create, difference, primal, grad, hand_grad), {0}};
