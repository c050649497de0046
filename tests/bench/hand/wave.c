/* Wave equation, leapfrog, all steps stored. By hand: the adjoint of a step as a gather, and what is left of it (the
 * older step's share, clearing) some rows behind; each thread has a range of rows. */
#include <omp.h>
#include <string.h>

#include "bench.h"
#include "wave.h"

enum { BLOCK = 8 };

typedef struct data {
    wave *m;
    int64_t n, steps;
    float *u, *u_grad;
} data;

BENCH_MODULE(wave)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0], steps = d->steps = size[1];
    wave_params p = wave_defaults();
    p.N = n;
    p.T = steps;
    d->m = new_wave(&p);
    if (!d->m)
        return NULL;
    const int64_t cells = n * n;
    d->u = bench_floats((steps + 2) * cells);
    d->u_grad = bench_floats((steps + 2) * cells);
    uint64_t seed = 1;
    for (int64_t i = 0; i < 2 * cells; i++)
        d->u[i] = d->m->u.data[i] = bench_random(&seed);
    for (int64_t i = (steps + 1) * cells; i < (steps + 2) * cells; i++)
        d->u_grad[i] = d->m->u.grad[i] = bench_random(&seed);
    return d;
}

BENCH_CALL(primal, wave_run)
BENCH_CALL(grad, wave_run_grad)

static const float C = 0.1f;

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n, s = n * n;
#pragma omp parallel num_threads(bench_options.threads)
    for (int64_t t = 1; t <= d->steps; t++) {
        const float *restrict u = d->u + t * s, *restrict old = u - s;
        float *restrict next = d->u + (t + 1) * s;
#pragma omp for schedule(static)
        for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
            for (int64_t j = 1; j < n - 1; j++) {
                const int64_t c = i * n + j;
                next[c] = 2.0f * u[c] - old[c] + C * (u[c - n] + u[c + n] + u[c - 1] + u[c + 1] - 4.0f * u[c]);
            }
    }
}

/* g[i, j] where the step wrote it, else 0. */
static inline float term(const float *g, int64_t n, int64_t i, int64_t j)
{
    return i > 0 && i < n - 1 && j > 0 && j < n - 1 ? g[i * n + j] : 0.0f;
}

static void collect(const float *restrict g, float *restrict to, int64_t n, int64_t i, int64_t from, int64_t end)
{
    for (int64_t j = from; j < end; j++)
        to[i * n + j] += (2.0f - 4.0f * C) * term(g, n, i, j) + C * (term(g, n, i - 1, j) + term(g, n, i + 1, j) +
                                                                     term(g, n, i, j - 1) + term(g, n, i, j + 1));
}

static void gather_row(const float *restrict g, float *restrict to, int64_t n, int64_t i)
{
    if (i < 2 || i >= n - 2) {
        collect(g, to, n, i, 0, n);
        return;
    }
    collect(g, to, n, i, 0, 2);
#pragma omp simd
    for (int64_t j = 2; j < n - 2; j++) {
        const int64_t c = i * n + j;
        to[c] += (2.0f - 4.0f * C) * g[c] + C * (g[c - n] + g[c + n] + g[c - 1] + g[c + 1]);
    }
    collect(g, to, n, i, n - 2, n);
}

static void rest_row(float *restrict g, float *restrict old, int64_t n, int64_t i)
{
    if (i < 1 || i >= n - 1)
        return;
#pragma omp simd
    for (int64_t c = i * n + 1; c < i * n + n - 1; c++) {
        old[c] -= g[c];
        g[c] = 0.0f;
    }
}

static void hand_grad(void *p)
{
    const data *d = p;
    const int64_t n = d->n, s = n * n;
#pragma omp parallel num_threads(bench_options.threads)
    {
        const int64_t k = omp_get_thread_num(), from = n * k / bench_options.threads,
                      to = n * (k + 1) / bench_options.threads;
        for (int64_t t = d->steps; t >= 1; t--) {
            float *const g = d->u_grad + (t + 1) * s, *const u = g - s, *const old = u - s;
            int64_t done = from + 1; /* rows from here on wait for the rest */
            for (int64_t i = from; i < to; i++) {
                gather_row(g, u, n, i);
                if (i - done >= BLOCK || i == to - 1)
                    for (; done < i; done++)
                        rest_row(g, old, n, done);
            }
#pragma omp barrier
            rest_row(g, old, n, from);
            if (to - 1 > from)
                rest_row(g, old, n, to - 1);
        }
    }
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(d->m->u.grad, d->u_grad, 2 * d->n * d->n);
}

static const bench_size sizes[] = {
    {"9 cells a side", {9, 256}}, {"48 cells a side", {48, 256}}, {"512 cells a side", {512, 256}}, {0}};
const bench_case bench_wave[] = {BENCH_CASE("wave equation, 256 steps", NULL, "gather", sizes, create, difference,
                                            primal, grad, hand_primal, hand_grad),
                                 {0}};
