/* The case llsq. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "llsq.h"
#include "hand.h"

typedef struct data {
    llsq *m;
    tk_session *s;
    int n, k;
    double *gradient, *powers, y, hand_y;
} data;

static void destroy(void *p)
{
    data *d = p;
    llsq_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->gradient);
    free(d->powers);
    free(d);
}

static void *create(const int *n)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    llsq_params p = llsq_defaults();
    d->n = p.N = n[0];
    d->k = p.M = n[1];
    d->s = bench_session();
    d->m = llsq_create(d->s, &p);
    d->gradient = bench_doubles(p.M);
    d->powers = bench_work(BENCH_HAND, p.M);
    if (!d->m) {
        destroy(d);
        return NULL;
    }
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

#define SIZES \
    {"n9 m5", {9, 5}}, \
    { \
        {"n1024 m128", {1024, 128}}, \
        { \
            "n16392 m128", \
            { \
                16392, 128 \
            } \
        } \
    }

const bench_case bench_llsq = {"llsq", "kernel", "as known", SIZES,      create,
                               primal, grad,     hand_grad,  difference, destroy};
const bench_case bench_llsq_kept = {"llsq", "kernel", "powers kept",  SIZES,      create,
                                    primal, grad,     hand_grad_kept, difference, destroy};
