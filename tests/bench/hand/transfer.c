/* Grid to particles, 27 nodes each. By hand: the adjoint adds to the nodes in one loop over particles, with a grid of
 * its own for each thread. */
#include <string.h>

#include "bench.h"
#include "transfer.h"

typedef struct data {
    transfer *m;
    int64_t n, side, nodes;
    float (*v)[3], (*C)[3][3], (*v_seed)[3], (*C_seed)[3][3], (*v_grad)[3], (*C_grad)[3][3], (*x_grad)[3], (*grids)[3];
} data;

BENCH_MODULE(transfer)

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    transfer_params p = transfer_defaults();
    p.N = n;
    d->side = p.G;
    d->nodes = d->side * d->side * d->side;
    d->m = new_transfer(&p);
    if (!d->m)
        return NULL;
    d->v = bench_floats(3 * n);
    d->C = bench_floats(9 * n);
    d->v_seed = bench_floats(3 * n);
    d->C_seed = bench_floats(9 * n);
    d->v_grad = bench_floats(3 * n);
    d->C_grad = bench_floats(9 * n);
    d->x_grad = bench_floats(3 * n);
    d->grids = bench_floats(3 * d->nodes * bench_options.threads);
    uint64_t seed = 1;
    for (int64_t i = 0; i < n; i++) /* cell after cell */
        for (int k = 0; k < 3; k++) {
            const int64_t at = i * 27000 / n, cell[] = {at / 900, at / 30 % 30, at % 30};
            d->m->x.data[i][k] = (float)(cell[k] < 29 ? cell[k] : 28) + 0.6f + 0.8f * bench_random(&seed);
            d->v_seed[i][k] = bench_random(&seed);
            for (int l = 0; l < 3; l++)
                d->C_seed[i][k][l] = bench_random(&seed);
        }
    for (int64_t i = 0; i < d->nodes; i++)
        for (int k = 0; k < 3; k++)
            d->m->grid.data[i][k] = bench_random(&seed);
    return d;
}

BENCH_CALL(primal, transfer_gather)

static void weights(const float *x, int *base, float *f, float w[3][3])
{
    for (int k = 0; k < 3; k++) {
        base[k] = (int)(x[k] - 0.5f);
        f[k] = x[k] - (float)base[k];
        w[0][k] = 0.5f * (1.5f - f[k]) * (1.5f - f[k]);
        w[1][k] = 0.75f - (f[k] - 1.0f) * (f[k] - 1.0f);
        w[2][k] = 0.5f * (f[k] - 0.5f) * (f[k] - 0.5f);
    }
}

static void hand_primal(void *p)
{
    const data *d = p;
    const int64_t side = d->side;
    const float(*restrict grid)[3] = (const float(*)[3])d->m->grid.data;
    const float(*restrict x)[3] = (const float(*)[3])d->m->x.data;
#pragma omp parallel for num_threads(bench_options.threads)
    for (int64_t q = 0; q < d->n; q++) {
        int base[3];
        float f[3], w[3][3], v[3] = {0}, C[3][3] = {{0}};
        weights(x[q], base, f, w);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    const float *g = grid[((base[0] + i) * side + base[1] + j) * side + base[2] + k];
                    const float t = w[i][0] * w[j][1] * w[k][2];
                    const float a[] = {(float)i - f[0], (float)j - f[1], (float)k - f[2]};
                    for (int r = 0; r < 3; r++) {
                        const float part = t * g[r];
                        v[r] += part;
                        for (int c = 0; c < 3; c++)
                            C[r][c] += part * a[c];
                    }
                }
        for (int r = 0; r < 3; r++) {
            d->v[q][r] = v[r];
            for (int c = 0; c < 3; c++)
                d->C[q][r][c] = 4.0f * C[r][c];
        }
    }
}

/* The stores take the gradients: both sides find them put back. */
static void grad(void *p)
{
    data *d = p;
    memcpy(d->m->v.grad, d->v_seed, (size_t)d->n * sizeof *d->v_seed);
    memcpy(d->m->C.grad, d->C_seed, (size_t)d->n * sizeof *d->C_seed);
    transfer_gather_grad(d->m);
}

/* One particle: f, w and their like by axis; what the node gets is w * (v + C a), and its value times that goes to the
 * weight. */
static void pull_back(const data *d, int64_t q, float (*restrict grid_grad)[3])
{
    static const float second[3] = {1.0f, -2.0f, 1.0f}, shift[3] = {-1.5f, 2.0f, -0.5f}; /* of the weights' slopes */
    const int64_t side = d->side;
    const float(*restrict grid)[3] = (const float(*)[3])d->m->grid.data;
    int base[3];
    float f[3], w[3][3], w_grad[3][3] = {{0}}, f_grad[3] = {0}, v[3], C[3][3];
    weights(d->m->x.data[q], base, f, w);
    for (int r = 0; r < 3; r++) {
        v[r] = d->v_grad[q][r];
        d->v_grad[q][r] = 0.0f;
        for (int c = 0; c < 3; c++) {
            C[r][c] = 4.0f * d->C_grad[q][r][c];
            d->C_grad[q][r][c] = 0.0f;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const float wij = w[i][0] * w[j][1];
            float wij_grad = 0.0f;
            for (int k = 0; k < 3; k++) {
                const int64_t at = ((base[0] + i) * side + base[1] + j) * side + base[2] + k;
                const float t = wij * w[k][2], a[] = {(float)i - f[0], (float)j - f[1], (float)k - f[2]};
                float t_grad = 0.0f;
                for (int r = 0; r < 3; r++) {
                    const float u = v[r] + C[r][0] * a[0] + C[r][1] * a[1] + C[r][2] * a[2];
                    grid_grad[at][r] += t * u;
                    t_grad += grid[at][r] * u;
                    for (int c = 0; c < 3; c++)
                        f_grad[c] -= t * grid[at][r] * C[r][c];
                }
                wij_grad += t_grad * w[k][2];
                w_grad[k][2] += t_grad * wij;
            }
            w_grad[i][0] += wij_grad * w[j][1];
            w_grad[j][1] += wij_grad * w[i][0];
        }
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            f_grad[c] += w_grad[i][c] * (second[i] * f[c] + shift[i]);
    for (int c = 0; c < 3; c++)
        d->x_grad[q][c] += f_grad[c];
}

static void hand_grad(void *p)
{
    const data *d = p;
    const int threads = bench_options.threads;
    memcpy(d->v_grad, d->v_seed, (size_t)d->n * sizeof *d->v_seed);
    memcpy(d->C_grad, d->C_seed, (size_t)d->n * sizeof *d->C_seed);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        float(*grid)[3] = d->grids + d->nodes * t;
        if (t > 0)
            memset(grid, 0, (size_t)d->nodes * sizeof *grid);
        for (int64_t q = d->n * t / threads; q < d->n * (t + 1) / threads; q++)
            pull_back(d, q, grid);
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < d->nodes; i++)
        for (int t = 1; t < threads; t++)
            for (int k = 0; k < 3; k++)
                d->grids[i][k] += d->grids[d->nodes * t + i][k];
}

static double difference(void *p)
{
    const data *d = p;
    const double a = bench_difference(d->m->x.grad[0], d->x_grad[0], 3 * d->n);
    const double b = bench_difference(d->m->grid.grad[0], d->grids[0], 3 * d->nodes);
    return a > b ? a : b;
}

static const bench_size sizes[] = {
    {"9 particles", {9}}, {"4096 particles", {4096}}, {"200000 particles", {200000}}, {0}};
const bench_case bench_transfer[] = {BENCH_CASE("grid to particles, 27 nodes", NULL, "private grids", sizes, create,
                                                difference, primal, grad, hand_primal, hand_grad),
                                     {0}};
