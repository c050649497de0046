/* The case kmeans: points in the unit cube, and a Newton step by one product with the Hessian, which is diagonal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kmeans.h"
#include "hand.h"

typedef struct data {
    kmeans *m;
    tk_session *s;
    kmeans_input in;
    double *step, *hand_step, *sums, cost, hand_cost;
    int *counts;
} data;

static void destroy(void *p)
{
    data *d = p;
    kmeans_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->step);
    free(d->hand_step);
    free(d->sums);
    free(d->counts);
    free(d);
}

static void *create(const int *n)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    kmeans_params p = kmeans_defaults();
    p.N = n[0];
    p.K = n[1];
    p.D = n[2];
    const int64_t kd = (int64_t)p.K * p.D, nd = (int64_t)p.N * p.D;
    d->s = bench_session();
    d->m = kmeans_create(d->s, &p);
    d->counts = calloc((size_t)p.K, sizeof(int));
    d->step = bench_doubles(kd);
    d->hand_step = bench_doubles(kd);
    d->sums = bench_work(BENCH_HAND, kd);
    if (!d->m || !d->counts) {
        destroy(d);
        return NULL;
    }
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

const bench_case bench_kmeans = {"kmeans",
                                 "kernel, hvp",
                                 "as known: sums",
                                 {"n50 k4 d3", {50, 4, 3}},
                                 {{"n10000 k10 d8", {10000, 10, 8}}, {"n10000 k100 d16", {10000, 100, 16}}},
                                 create,
                                 primal,
                                 grad,
                                 hand_grad,
                                 difference,
                                 destroy};
