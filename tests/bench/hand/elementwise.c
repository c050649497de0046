/* y = exp(x) sin(x). By hand: fused, one loop, three transcendental functions an element. */
#include <math.h>

#include "bench.h"
#include "elementwise.h"

typedef struct data {
    elementwise *m;
    int64_t n;
    float *x, *y, *x_grad, *y_grad;
} data;

BENCH_MODULE(elementwise)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    elementwise_params p = elementwise_defaults();
    p.N = n;
    d->m = new_elementwise(&p);
    if (!d->m)
        return NULL;
    d->x = bench_floats(n);
    d->y = bench_floats(n);
    d->x_grad = bench_floats(n);
    d->y_grad = bench_floats(n);
    uint64_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        d->x[i] = d->m->x.data[i] = bench_random(&seed);
        d->y_grad[i] = d->m->y.grad[i] = bench_random(&seed);
    }
    return d;
}

BENCH_CALL(primal, elementwise_run)
BENCH_CALL(grad, elementwise_run_grad)

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n;
    const float *restrict x = d->x;
    float *restrict y = d->y;
#pragma omp parallel for simd num_threads(bench_options.threads)
    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]) * sinf(x[i]);
}

static void hand_grad(void *p)
{
    const data *d = p;
    const int64_t n = d->n;
    const float *restrict x = d->x;
    float *restrict y_grad = d->y_grad, *restrict x_grad = d->x_grad;
#pragma omp parallel for simd num_threads(bench_options.threads)
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

static const bench_size sizes[] = {
    {"9 elements", {9}}, {"4096 elements", {4096}}, {"8000000 elements", {8000000}}, {0}};
const bench_case bench_elementwise[] = {BENCH_CASE("element-wise exp(x)*sin(x)", NULL, "fused", sizes, create,
                                                   difference, primal, grad, hand_primal, hand_grad),
                                        {0}};
