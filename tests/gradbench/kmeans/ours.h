/* kmeans by tkc: the cost, and a Newton step by one product with the Hessian, which is diagonal. */
#ifndef KMEANS_OURS_H
#define KMEANS_OURS_H

#include "bench.h"
#include "kmeans.h"

typedef struct ours {
    kmeans *m;
    double cost, *step;
} ours;

BENCH_MODULE(kmeans)

static bool begin(ours *o, const kmeans_params *p)
{
    o->m = new_kmeans(p);
    o->step = bench_doubles((int64_t)p->K * p->D);
    return o->m;
}

static void primal(void *p)
{
    ours *o = p;
    o->m->cost.data[0] = 0.0;
    kmeans_measure(o->m);
    o->cost = o->m->cost.data[0];
}

/* The Hessian's product with ones is its diagonal. */
static void grad(void *p)
{
    ours *o = p;
    kmeans *m = o->m;
    const int64_t kd = (int64_t)m->params.K * m->params.D;
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    m->cost.grad[0] = 1.0;
    for (int64_t i = 0; i < kd; i++)
        m->centres.dual[i] = 1.0;
    kmeans_measure_hvp(m);
    for (int64_t i = 0; i < kd; i++)
        o->step[i] = m->centres.grad[i] / m->centres.grad_dual[i];
}

#endif
