/* 7-point stencil. By hand: the adjoint as a gather (each element of x.grad collects from its neighbours), boundary
 * cells with tests, and y.grad is cleared behind it. */
#include <string.h>

#include "bench.h"
#include "stencil.h"

typedef struct data {
    stencil *m;
    int64_t n;
    float *x, *y, *x_grad, *y_grad;
} data;

BENCH_MODULE(stencil)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    stencil_params p = stencil_defaults();
    p.N = n;
    d->m = new_stencil(&p);
    if (!d->m)
        return NULL;
    const int64_t cells = n * n * n;
    d->x = bench_floats(cells);
    d->y = bench_floats(cells);
    d->x_grad = bench_floats(cells);
    d->y_grad = bench_floats(cells);
    uint64_t seed = 1;
    for (int64_t i = 0; i < cells; i++) {
        d->x[i] = d->m->x.data[i] = bench_random(&seed);
        d->y_grad[i] = d->m->y.grad[i] = bench_random(&seed);
    }
    /* y.grad on the boundary belongs to nobody: the kernel does not write y there. */
    return d;
}

BENCH_CALL(primal, stencil_run)
BENCH_CALL(grad, stencil_run_grad)

static const float C = 0.1f;

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n, s = n, t = n * n;
    const float *restrict x = d->x;
    float *restrict y = d->y;
#pragma omp parallel for num_threads(bench_options.threads)
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
#pragma omp simd
            for (int64_t k = 1; k < n - 1; k++) {
                const int64_t c = i * t + j * s + k;
                y[c] = x[c] + C * (x[c - t] + x[c + t] + x[c - s] + x[c + s] + x[c - 1] + x[c + 1] - 6.0f * x[c]);
            }
}

static inline float term(const float *g, int64_t n, int64_t i, int64_t j, int64_t k)
{
    const bool inside = i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0 && k < n - 1;
    return inside ? g[(i * n + j) * n + k] : 0.0f;
}

static float collect(const float *g, int64_t n, int64_t i, int64_t j, int64_t k)
{
    return term(g, n, i, j, k) * (1.0f - 6.0f * C) +
           C * (term(g, n, i - 1, j, k) + term(g, n, i + 1, j, k) + term(g, n, i, j - 1, k) + term(g, n, i, j + 1, k) +
                term(g, n, i, j, k - 1) + term(g, n, i, j, k + 1));
}

static void gather_plane(const data *d, int64_t i)
{
    const int64_t n = d->n, s = n, t = n * n;
    const float *restrict g = d->y_grad;
    float *restrict x_grad = d->x_grad;
    for (int64_t j = 0; j < n; j++) {
        const bool inside = i > 1 && i < n - 2 && j > 1 && j < n - 2;
        const int64_t from = inside ? 2 : n, to = inside ? n - 2 : n;
        for (int64_t k = 0; k < (from < n ? from : n); k++)
            x_grad[i * t + j * s + k] += collect(g, n, i, j, k);
#pragma omp simd
        for (int64_t k = from; k < to; k++) {
            const int64_t c = i * t + j * s + k;
            x_grad[c] += g[c] * (1.0f - 6.0f * C) +
                         C * (g[c - t] + g[c + t] + g[c - s] + g[c + s] + g[c - 1] + g[c + 1]);
        }
        for (int64_t k = to; k < n; k++)
            x_grad[i * t + j * s + k] += collect(g, n, i, j, k);
    }
}

/* What the contract of a plain store asks for: its gradient is taken. */
static void clear_plane(const data *d, int64_t i)
{
    const int64_t n = d->n;
    if (i < 1 || i >= n - 1)
        return;
    for (int64_t j = 1; j < n - 1; j++)
        memset(d->y_grad + (i * n + j) * n + 1, 0, (size_t)(n - 2) * sizeof *d->y_grad);
}

/* A plane is cleared as soon as the next one has been gathered; those where threads meet, at the end. */
static void hand_grad(void *p)
{
    const data *d = p;
    const int64_t n = d->n, threads = bench_options.threads;
#pragma omp parallel for num_threads(bench_options.threads) schedule(static, 1)
    for (int64_t k = 0; k < threads; k++) {
        const int64_t from = n * k / threads, to = n * (k + 1) / threads;
        for (int64_t i = from; i < to; i++) {
            gather_plane(d, i);
            if (i > from + 1 || from == 0)
                clear_plane(d, i - 1);
        }
    }
    for (int64_t k = 1; k < threads; k++) {
        clear_plane(d, n * k / threads - 1);
        clear_plane(d, n * k / threads);
    }
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(d->m->x.grad, d->x_grad, d->n * d->n * d->n);
}

static const bench_size sizes[] = {
    {"9 cells a side", {9}}, {"24 cells a side", {24}}, {"256 cells a side", {256}}, {0}};
const bench_case bench_stencil[] = {
    BENCH_CASE("7-point stencil", NULL, "gather", sizes, create, difference, primal, grad, hand_primal, hand_grad),
    {0}};
