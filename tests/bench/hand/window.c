/* A window of 3 x 3 cells. By hand: the window written out, the adjoint as a gather over a frame of cells whose
 * gradient is zero, and nine sums. */
#include <string.h>

#include "bench.h"
#include "window.h"

typedef struct data {
    window *m;
    int64_t n;
    float *b, *u_grad, *b_grad, w_grad[9];
} data;

BENCH_MODULE(window)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    window_params p = window_defaults();
    p.N = n;
    d->m = new_window(&p);
    if (!d->m)
        return NULL;
    d->b = bench_floats(n * n);
    d->u_grad = bench_floats(n * n);
    d->b_grad = bench_floats(n * n);
    uint64_t seed = 1;
    for (int k = 0; k < 9; k++)
        d->m->weight.data[k] = bench_random(&seed);
    for (int64_t k = 0; k < n * n; k++) {
        const int64_t i = k / n, j = k % n;
        d->m->u.data[k] = bench_random(&seed);
        if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
            d->m->b.grad[k] = d->b_grad[k] = bench_random(&seed);
    }
    return d;
}

BENCH_CALL(primal, window_blur)

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n;
    const float *restrict u = d->m->u.data, *restrict w = d->m->weight.data;
    float *restrict b = d->b;
#pragma omp parallel for num_threads(bench_options.threads)
    for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
        for (int64_t j = 1; j < n - 1; j++) {
            const float *x = u + i * n + j;
            b[i * n + j] = w[0] * x[-n - 1] + w[1] * x[-n] + w[2] * x[-n + 1] + w[3] * x[-1] + w[4] * x[0] +
                           w[5] * x[1] + w[6] * x[n - 1] + w[7] * x[n] + w[8] * x[n + 1];
        }
}

/* The store takes the gradient of b: both sides find it as it was by putting it back. */
static void grad(void *p)
{
    data *d = p;
    memset(d->m->weight.grad, 0, sizeof d->w_grad);
    memcpy(d->m->b.grad, d->b_grad, (size_t)(d->n * d->n) * sizeof(float));
    window_blur_grad(d->m);
}

static void hand_grad(void *p)
{
    data *d = p;
    const int64_t n = d->n;
    const float *restrict u = d->m->u.data, *restrict w = d->m->weight.data, *restrict g = d->b_grad;
    float *restrict u_grad = d->u_grad;
    float s[9] = {0};
    memcpy(d->m->b.grad, d->b_grad, (size_t)(n * n) * sizeof(float));
#pragma omp parallel for num_threads(bench_options.threads) reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0.0F;
            if (i > 0 && j > 0 && i < n - 1 && j < n - 1) {
                const float *y = g + i * n + j, *x = u + i * n + j;
                sum = w[0] * y[n + 1] + w[1] * y[n] + w[2] * y[n - 1] + w[3] * y[1] + w[4] * y[0] + w[5] * y[-1] +
                      w[6] * y[-n + 1] + w[7] * y[-n] + w[8] * y[-n - 1];
                for (int k = 0; k < 9; k++)
                    s[k] += y[0] * x[(k / 3 - 1) * n + k % 3 - 1];
            } else {
                for (int k = 0; k < 9; k++) {
                    const int64_t r = i + 1 - k / 3, c = j + 1 - k % 3;
                    sum += r > 0 && c > 0 && r < n - 1 && c < n - 1 ? w[k] * g[r * n + c] : 0.0F;
                }
            }
            u_grad[i * n + j] += sum;
        }
    memcpy(d->w_grad, s, sizeof s);
}

static double difference(void *p)
{
    const data *d = p;
    const double a = bench_difference(d->m->u.grad, d->u_grad, d->n * d->n);
    const double b = bench_difference(d->m->weight.grad, d->w_grad, 9);
    return a > b ? a : b;
}

static const bench_size sizes[] = {
    {"9 cells a side", {9}}, {"48 cells a side", {48}}, {"1024 cells a side", {1024}}, {0}};
const bench_case bench_window[] = {
    BENCH_CASE("window of 3 x 3", NULL, "gather", sizes, create, difference, primal, grad, hand_primal, hand_grad),
    {0}};
