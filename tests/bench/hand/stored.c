/* A value that the launch stored and its adjoint reads: by hand in one loop that reads the rates, too. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "stored.h"

enum { D = 32 };

typedef struct data {
    stored *m;
    int64_t n;
    float *rate, w_grad[D], loss;
} data;

BENCH_MODULE(stored)

static void primal(void *p)
{
    data *d = p;
    d->m->loss.data[0] = 0.0F;
    stored_fit(d->m);
}

static void hand_primal(void *p)
{
    data *d = p;
    const float *x = d->m->X.data, *w = d->m->w.data;
    float loss = 0.0F;
#pragma omp parallel for num_threads(bench_options.threads) reduction(+ : loss)
    for (int64_t i = 0; i < d->n; i++) {
        float s = 0.0F;
#pragma omp simd reduction(+ : s)
        for (int k = 0; k < D; k++)
            s += x[i * D + k] * w[k];
        d->rate[i] = expf(s);
        const float apart = d->rate[i] - d->m->y.data[i];
        loss += apart * apart;
    }
    d->loss = loss;
}

static void grad(void *p)
{
    data *d = p;
    memset(d->m->w.grad, 0, D * sizeof(float));
    d->m->loss.grad[0] = 1.0F;
    stored_fit_grad(d->m);
}

static void hand_grad(void *p)
{
    data *d = p;
    const float *restrict x = d->m->X.data, *restrict rate = d->rate, *restrict y = d->m->y.data;
    float sum[D] = {0};
#pragma omp parallel for num_threads(bench_options.threads) reduction(+ : sum)
    for (int64_t i = 0; i < d->n; i++) {
        const float g = 2.0F * (rate[i] - y[i]) * rate[i];
#pragma omp simd
        for (int k = 0; k < D; k++)
            sum[k] += g * x[i * D + k];
    }
    memcpy(d->w_grad, sum, sizeof sum);
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(d->m->w.grad, d->w_grad, D);
}

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    d->rate = bench_floats(n);
    stored_params p = stored_defaults();
    p.N = (int32_t)n;
    d->m = new_stored(&p);
    if (!d->m)
        return NULL;
    uint64_t seed = 1;
    for (int64_t k = 0; k < n * D; k++)
        d->m->X.data[k] = bench_random(&seed) - 0.5F;
    for (int64_t i = 0; i < n; i++)
        d->m->y.data[i] = 2.0F * bench_random(&seed);
    for (int k = 0; k < D; k++)
        d->m->w.data[k] = bench_random(&seed) - 0.5F;
    return d;
}

static const bench_size sizes[] = {{"9 rows", {9}}, {"1024 rows", {1024}}, {"131072 rows", {131072}}, {0}};
const bench_case bench_stored[] = {BENCH_CASE("stored: Poisson regression", NULL, "reads the rates", sizes, create,
                                              difference, primal, grad, hand_primal, hand_grad),
                                   {0}};
