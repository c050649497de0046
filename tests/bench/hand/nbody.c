/* N-body energy over all ordered pairs. By hand: the mechanical adjoint (what differentiating the loop gives: both ends
 * of each ordered pair receive), and one that uses the symmetry (each pair's two terms are equal, so i receives twice
 * and j nothing). */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "nbody.h"

typedef struct data {
    nbody *m;
    int64_t n;
    float (*x)[2], (*x_grad)[2], *copies, U, U_grad;
} data;

BENCH_MODULE(nbody)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    nbody_params p = nbody_defaults();
    p.N = n;
    d->m = new_nbody(&p);
    if (!d->m)
        return NULL;
    d->x = bench_floats(2 * n);
    d->x_grad = bench_floats(2 * n);
    d->copies = bench_floats(2 * n * bench_options.threads);
    uint64_t seed = 1;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            d->x[i][k] = d->m->x.data[i][k] = bench_random(&seed);
    d->U_grad = d->m->U.grad[0] = 1.0f;
    return d;
}

BENCH_CALL(primal, nbody_run)
BENCH_CALL(grad, nbody_run_grad)

static const float EPS = 1e-3f;

static void hand_primal(void *p)
{
    data *d = p;
    const int64_t n = d->n;
    const float(*restrict x)[2] = (const float(*)[2])d->x;
    float U = 0.0f;
#pragma omp parallel for num_threads(bench_options.threads) reduction(+ : U)
    for (int64_t i = 0; i < n; i++) {
        float u = 0.0f;
#pragma omp simd reduction(+ : u)
        for (int64_t j = 0; j < n; j++) {
            const float rx = x[i][0] - x[j][0], ry = x[i][1] - x[j][1];
            u += -1.0f / sqrtf(rx * rx + ry * ry + EPS);
        }
        U += u;
    }
    d->U += U;
}

static void hand_grad_mechanical(void *p)
{
    data *d = p;
    const int64_t n = d->n;
    const float(*restrict x)[2] = (const float(*)[2])d->x;
    const float g = d->U_grad;
    const int threads = bench_options.threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        float(*restrict mine)[2] = (float(*)[2])(void *)(d->copies + 2 * n * t);
        memset(mine, 0, (size_t)n * sizeof *mine);
        for (int64_t i = n * t / threads; i < n * (t + 1) / threads; i++) {
            float gx = 0.0f, gy = 0.0f;
#pragma omp simd reduction(+ : gx, gy)
            for (int64_t j = 0; j < n; j++) {
                const float rx = x[i][0] - x[j][0], ry = x[i][1] - x[j][1];
                const float inv = 1.0f / sqrtf(rx * rx + ry * ry + EPS), f = g * inv * inv * inv;
                gx += f * rx;
                gy += f * ry;
                mine[j][0] -= f * rx;
                mine[j][1] -= f * ry;
            }
            mine[i][0] += gx;
            mine[i][1] += gy;
        }
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < n; i++)
        for (int t = 0; t < threads; t++)
            for (int k = 0; k < 2; k++)
                d->x_grad[i][k] += d->copies[2 * (n * t + i) + k];
}

static void hand_grad_symmetric(void *p)
{
    data *d = p;
    const int64_t n = d->n;
    const float(*restrict x)[2] = (const float(*)[2])d->x;
    const float g = 2.0f * d->U_grad;
#pragma omp parallel for num_threads(bench_options.threads)
    for (int64_t i = 0; i < n; i++) {
        float gx = 0.0f, gy = 0.0f;
#pragma omp simd reduction(+ : gx, gy)
        for (int64_t j = 0; j < n; j++) {
            const float rx = x[i][0] - x[j][0], ry = x[i][1] - x[j][1];
            const float inv = 1.0f / sqrtf(rx * rx + ry * ry + EPS), f = g * inv * inv * inv;
            gx += f * rx;
            gy += f * ry;
        }
        d->x_grad[i][0] += gx;
        d->x_grad[i][1] += gy;
    }
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(&d->m->x.grad[0][0], &d->x_grad[0][0], 2 * d->n);
}

static const bench_size sizes[] = {{"9 bodies", {9}}, {"256 bodies", {256}}, {"4096 bodies", {4096}}, {0}};
const bench_case bench_nbody[] = {BENCH_CASE("N-body energy", NULL, "mechanical", sizes, create, difference, primal,
                                             grad, hand_primal, hand_grad_mechanical),
                                  BENCH_CASE("N-body energy", NULL, "symmetry", sizes, create, difference, primal, grad,
                                             hand_primal, hand_grad_symmetric),
                                  {0}};
