/* The case kmeans: points in the unit cube, and a Newton step by one product with the Hessian, which is diagonal. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "kmeans.h"
#include "hand.h"

typedef struct data {
    kmeans *m;
    kmeans_input in;
    double *step, *hand_step, *sums, cost, hand_cost;
    int *counts;
} data;

BENCH_MODULE(kmeans)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    kmeans_params p = kmeans_defaults();
    p.N = n[0];
    p.K = n[1];
    p.D = n[2];
    const int64_t kd = (int64_t)p.K * p.D, nd = (int64_t)p.N * p.D;
    d->m = new_kmeans(&p);
    d->counts = bench_zeros(p.K * (int64_t)sizeof(int));
    d->step = bench_doubles(kd);
    d->hand_step = bench_doubles(kd);
    d->sums = bench_work(BENCH_HAND, kd);
    if (!d->m)
        return NULL;
    uint64_t seed = 31337;
    bench_fill(d->m->points.data, nd, bench_uniform, &seed);
    memcpy(d->m->centres.data, d->m->points.data + (nd - kd),
           (size_t)kd * sizeof(double)); /* so none is without points */
    d->in = (kmeans_input){p.N, p.K, p.D, d->m->points.data, d->m->centres.data};
    return d;
}

static void primal(void *p)
{
    data *d = p;
    d->m->cost.data[0] = 0.0;
    kmeans_measure(d->m);
    d->cost = d->m->cost.data[0];
}

static void grad(void *p)
{
    data *d = p;
    const int64_t kd = (int64_t)d->in.k * d->in.d;
    tk_module_clear_grad(&d->m->tk);
    tk_module_clear_dual(&d->m->tk);
    d->m->cost.grad[0] = 1.0;
    for (int64_t i = 0; i < kd; i++)
        d->m->centres.dual[i] = 1.0;
    kmeans_measure_hvp(d->m);
    for (int64_t i = 0; i < kd; i++)
        d->step[i] = d->m->centres.grad[i] / d->m->centres.grad_dual[i];
}

static void hand_grad(void *p)
{
    data *d = p;
    d->hand_cost = kmeans_hand_step(&d->in, d->hand_step, d->sums, d->counts);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(&d->cost, &d->hand_cost, 1),
                bench_difference(d->step, d->hand_step, (int64_t)d->in.k * d->in.d));
}

static const bench_size sizes[] = {
    {"n50 k4 d3", {50, 4, 3}}, {"n10000 k10 d8", {10000, 10, 8}}, {"n10000 k100 d16", {10000, 100, 16}}, {0}};
const bench_case bench_kmeans[] = {
    {"kmeans", "kernel, hvp", "as known: sums", sizes, create, {primal, grad, hand_grad}, difference}, {0}};
