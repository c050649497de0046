/* Particle-to-grid transfer with 3 x 3 weights. By hand: the primal scatters into private grids that are then summed;
 * the adjoint of a scatter is a gather. */
#include <string.h>

#include "bench.h"
#include "scatter.h"

typedef struct data {
    scatter *m;
    int64_t n, side;
    float (*x)[2], (*v)[2], (*x_grad)[2], (*v_grad)[2], (*grid)[3], (*grid_grad)[3], (*copies)[3];
} data;

BENCH_MODULE(scatter)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    d->side = size[1];
    scatter_params p = scatter_defaults();
    p.N = n;
    p.M = d->side;
    d->m = new_scatter(&p);
    if (!d->m)
        return NULL;
    const int64_t nodes = d->side * d->side;
    d->x = bench_floats(2 * n);
    d->v = bench_floats(2 * n);
    d->x_grad = bench_floats(2 * n);
    d->v_grad = bench_floats(2 * n);
    d->grid = bench_floats(3 * nodes);
    d->grid_grad = bench_floats(3 * nodes);
    d->copies = bench_floats(3 * nodes * bench_options.threads);
    uint64_t seed = 1;
    /* Particles in the order of their cells, as simulations sort them; the third number: in any order. */
    const int64_t per_row = d->side - 4, cells = per_row * per_row;
    for (int64_t i = 0; i < n; i++) {
        const int64_t cell = size[2] ? (int64_t)(bench_bits(&seed) % (uint64_t)cells) : i * cells / n;
        d->x[i][0] = d->m->x.data[i][0] = 1.5f + (float)(cell / per_row) + bench_random(&seed);
        d->x[i][1] = d->m->x.data[i][1] = 1.5f + (float)(cell % per_row) + bench_random(&seed);
        d->v[i][0] = d->m->v.data[i][0] = bench_random(&seed);
        d->v[i][1] = d->m->v.data[i][1] = bench_random(&seed);
    }
    for (int64_t i = 0; i < nodes; i++)
        for (int k = 0; k < 3; k++)
            d->grid_grad[i][k] = d->m->grid.grad[i][k] = bench_random(&seed);
    return d;
}

BENCH_CALL(primal, scatter_run)
BENCH_CALL(grad, scatter_run_grad)

static void weights(float f, float *w, float *dw)
{
    w[0] = 0.5f * (1.5f - f) * (1.5f - f);
    w[1] = 0.75f - (f - 1.0f) * (f - 1.0f);
    w[2] = 0.5f * (f - 0.5f) * (f - 0.5f);
    dw[0] = f - 1.5f;
    dw[1] = -2.0f * (f - 1.0f);
    dw[2] = f - 0.5f;
}

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t n = d->n, side = d->side, nodes = side * side;
    const int threads = bench_options.threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        float(*restrict grid)[3] = t == 0 ? d->grid : d->copies + nodes * t;
        if (t > 0)
            memset(grid, 0, (size_t)nodes * sizeof *grid);
        for (int64_t q = n * t / threads; q < n * (t + 1) / threads; q++) {
            const int bx = (int)(d->x[q][0] - 0.5f), by = (int)(d->x[q][1] - 0.5f);
            float wx[3], wy[3], dwx[3], dwy[3];
            weights(d->x[q][0] - (float)bx, wx, dwx);
            weights(d->x[q][1] - (float)by, wy, dwy);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) {
                    const float w = wx[a] * wy[b];
                    float *node = grid[(bx + a) * side + by + b];
                    node[0] += w * d->v[q][0];
                    node[1] += w * d->v[q][1];
                    node[2] += w;
                }
        }
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < nodes; i++)
        for (int t = 1; t < threads; t++)
            for (int k = 0; k < 3; k++)
                d->grid[i][k] += d->copies[nodes * t + i][k];
}

static void hand_grad(void *p)
{
    const data *d = p;
    const int64_t n = d->n, side = d->side;
    const float(*restrict grid_grad)[3] = (const float(*)[3])d->grid_grad;
#pragma omp parallel for num_threads(bench_options.threads)
    for (int64_t q = 0; q < n; q++) {
        const int bx = (int)(d->x[q][0] - 0.5f), by = (int)(d->x[q][1] - 0.5f);
        float wx[3], wy[3], dwx[3], dwy[3], gx = 0.0f, gy = 0.0f, gu = 0.0f, gv = 0.0f;
        weights(d->x[q][0] - (float)bx, wx, dwx);
        weights(d->x[q][1] - (float)by, wy, dwy);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                const float *g = grid_grad[(bx + a) * side + by + b];
                const float w = wx[a] * wy[b], gw = g[0] * d->v[q][0] + g[1] * d->v[q][1] + g[2];
                gu += w * g[0];
                gv += w * g[1];
                gx += gw * dwx[a] * wy[b];
                gy += gw * wx[a] * dwy[b];
            }
        d->x_grad[q][0] += gx;
        d->x_grad[q][1] += gy;
        d->v_grad[q][0] += gu;
        d->v_grad[q][1] += gv;
    }
}

static double difference(void *p)
{
    const data *d = p;
    const double x = bench_difference(&d->m->x.grad[0][0], &d->x_grad[0][0], 2 * d->n);
    const double v = bench_difference(&d->m->v.grad[0][0], &d->v_grad[0][0], 2 * d->n);
    return x > v ? x : v;
}

static const bench_size sizes[] = {
    {"9 particles", {9, 64}}, {"4096 particles", {4096, 64}}, {"2000000 particles", {2000000, 1024}}, {0}};
const bench_case bench_scatter[] = {BENCH_CASE("particle-to-grid scatter", NULL, "private grids", sizes, create,
                                               difference, primal, grad, hand_primal, hand_grad),
                                    {0}};
