/* Borders written into the loop over all cells, against the plain form of the same equation, also generated: what
 * conditions, periodic subscripts and bounds cost. The plain form's field has a border of its own, which a small loop
 * fills where it is not zero. */
#include <stdlib.h>

#include "bench.h"
#include "border.h"

enum { STEPS = 256 };

typedef tk_status run_fn(border *m);

typedef struct data {
    border *m;
    tk_session *s;
    int64_t n;
    run_fn *run[4];
} data;

static void destroy(void *p)
{
    data *d = p;
    border_destroy(d->m);
    tk_session_destroy(d->s);
    free(d);
}

static float *cell(float *plain, int64_t n, int64_t t, int64_t i, int64_t j)
{
    return &plain[(t * (n + 2) + i + 1) * (n + 2) + j + 1];
}

static data *create(int64_t n, int threads)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->n = n;
    d->s = bench_session(threads);
    border_params p = border_defaults();
    p.N = (int32_t)n;
    p.T = STEPS;
    d->m = border_create(d->s, &p);
    if (!d->m) {
        destroy(d);
        return NULL;
    }
    uint32_t seed = 1;
    for (int64_t t = 0; t < STEPS + 2; t++) {
        for (int64_t k = 0; k < n * n && (t < 2 || t > STEPS); k++) {
            float *to = t < 2 ? d->m->u.data : d->m->u.grad, *plain = t < 2 ? d->m->plain.data : d->m->plain.grad;
            to[t * n * n + k] = *cell(plain, n, t, k / n, k % n) = bench_random(&seed);
        }
    }
    return d;
}

static void *with(data *d, run_fn *run, run_fn *grad, run_fn *plain, run_fn *plain_grad)
{
    run_fn *const all[] = {run, grad, plain, plain_grad};
    for (int k = 0; d && k < 4; k++)
        d->run[k] = all[k];
    return d;
}

static void *create_zero(int64_t n, int threads)
{
    return with(create(n, threads), border_zero, border_zero_grad, border_plain_zero, border_plain_zero_grad);
}

static void *create_around(int64_t n, int threads)
{
    return with(create(n, threads), border_around, border_around_grad, border_plain_around, border_plain_around_grad);
}

static void *create_held(int64_t n, int threads)
{
    return with(create(n, threads), border_held, border_held_grad, border_plain_held, border_plain_held_grad);
}

static void primal(void *p)
{
    ((data *)p)->run[0](((data *)p)->m);
}

static void grad(void *p)
{
    ((data *)p)->run[1](((data *)p)->m);
}

static void plain_primal(void *p)
{
    ((data *)p)->run[2](((data *)p)->m);
}

static void plain_grad(void *p)
{
    ((data *)p)->run[3](((data *)p)->m);
}

static double difference(void *p)
{
    const data *d = p;
    float *plain = bench_floats(2 * d->n * d->n);
    if (!plain)
        return 1.0;
    for (int64_t k = 0; k < 2 * d->n * d->n; k++) {
        const int64_t at = k % (d->n * d->n);
        plain[k] = *cell(d->m->plain.grad, d->n, k / (d->n * d->n), at / d->n, at % d->n);
    }
    const double top = bench_difference(d->m->u.grad, plain, 2 * d->n * d->n);
    free(plain);
    return top;
}

const bench_case bench_border_zero = {"border: loads under conditions",
                                      "plain form",
                                      {48, 256},
                                      "cells a side",
                                      create_zero,
                                      primal,
                                      grad,
                                      plain_primal,
                                      plain_grad,
                                      difference,
                                      destroy};
const bench_case bench_border_around = {"border: around the end",
                                        "plain form",
                                        {48, 256},
                                        "cells a side",
                                        create_around,
                                        primal,
                                        grad,
                                        plain_primal,
                                        plain_grad,
                                        difference,
                                        destroy};
const bench_case bench_border_held = {"border: held at the edge",
                                      "plain form",
                                      {48, 256},
                                      "cells a side",
                                      create_held,
                                      primal,
                                      grad,
                                      plain_primal,
                                      plain_grad,
                                      difference,
                                      destroy};
