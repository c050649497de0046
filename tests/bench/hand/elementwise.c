/* y = exp(x) sin(x). By hand: fused, one loop, three transcendental functions an element. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "elementwise.h"

typedef struct data {
    elementwise *m;
    tk_session *s;
    int64_t n;
    int threads;
    float *x, *y, *x_grad, *y_grad;
} data;

static void destroy(void *p)
{
    data *d = p;
    elementwise_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->x);
    free(d->y);
    free(d->x_grad);
    free(d->y_grad);
    free(d);
}

static void *create(int64_t n, int threads)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->n = n;
    d->threads = threads;
    d->s = bench_session(threads);
    elementwise_params p = elementwise_defaults();
    p.N = n;
    d->m = elementwise_create(d->s, &p);
    d->x = bench_floats(n);
    d->y = bench_floats(n);
    d->x_grad = bench_floats(n);
    d->y_grad = bench_floats(n);
    if (!d->m || !d->x || !d->y || !d->x_grad || !d->y_grad) {
        destroy(d);
        return NULL;
    }
    uint32_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        d->x[i] = d->m->x.data[i] = bench_random(&seed);
        d->y_grad[i] = d->m->y.grad[i] = bench_random(&seed);
    }
    return d;
}

static void primal(void *p)
{
    elementwise_run(((data *)p)->m);
}

static void grad(void *p)
{
    elementwise_run_grad(((data *)p)->m);
}

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n;
    const float *restrict x = d->x;
    float *restrict y = d->y;
#pragma omp parallel for simd num_threads(d->threads)
    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]) * sinf(x[i]);
}

static void hand_grad(void *p)
{
    const data *d = p;
    const int64_t n = d->n;
    const float *restrict x = d->x;
    float *restrict y_grad = d->y_grad, *restrict x_grad = d->x_grad;
#pragma omp parallel for simd num_threads(d->threads)
    for (int64_t i = 0; i < n; i++) {
        const float g = y_grad[i];
        y_grad[i] = 0.0f;
        x_grad[i] += g * expf(x[i]) * (sinf(x[i]) + cosf(x[i]));
    }
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(d->m->x.grad, d->x_grad, d->n);
}

const bench_case bench_elementwise = {"element-wise exp(x)*sin(x)",
                                      "fused",
                                      {4096, 8000000},
                                      "elements",
                                      create,
                                      primal,
                                      grad,
                                      hand_primal,
                                      hand_grad,
                                      difference,
                                      destroy};
