/* Sparse Hessians against analytic blocks by hand, one thread: a neo-Hookean membrane of triangles. All sides zero the
 * matrix and the gradient, and compute value, gradient and the lower triangle in compressed rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cases.h"
#include "membrane.h"

enum { LANES = 8, ROWS = 9, PAIRS = 3 };

typedef struct data {
    membrane *m;
    tk_sparse *p;
    int64_t vertices, triangles, n;
    const int32_t *start;
    double *ours, *scalar, *lanes, (*grad)[3];
    int32_t (*offset)[PAIRS]; /* of a pair's columns in its row */
    double energy[3];
} data;

static const double mu = 0.7, la = 1.3;
static int64_t pattern_bytes;

BENCH_MODULE(membrane)

static void free_pattern(void *p)
{
    tk_sparse_free(p);
}

/* ---- the mesh: a square of n x n cells ---- */

static int32_t vertex(int64_t n, int64_t i, int64_t j)
{
    return (int32_t)(j * (n + 1) + i);
}

static void put(data *d, int64_t n, int64_t t, const int32_t *v)
{
    double u[3][2];
    for (int k = 0; k < 3; k++) {
        d->m->tri.data[t][k] = v[k];
        u[k][0] = (double)(v[k] % (n + 1)) / (double)n;
        u[k][1] = (double)(v[k] / (n + 1)) / (double)n;
    }
    const double a = u[1][0] - u[0][0], b = u[2][0] - u[0][0], c = u[1][1] - u[0][1], e = u[2][1] - u[0][1],
                 det = a * e - b * c;
    double(*r)[2] = d->m->rest.data[t];
    r[0][0] = e / det;
    r[0][1] = -b / det;
    r[1][0] = -c / det;
    r[1][1] = a / det;
    d->m->area.data[t] = 0.5 * fabs(det);
}

static void make_mesh(data *d, int64_t n)
{
    for (int64_t j = 0; j <= n; j++)
        for (int64_t i = 0; i <= n; i++) {
            const double u = (double)i / (double)n, v = (double)j / (double)n;
            double *x = d->m->x.data[vertex(n, i, j)];
            x[0] = 1.02 * u;
            x[1] = v + 0.02 * sin(7 * u);
            x[2] = 0.05 * sin(9 * u) * cos(8 * v);
        }
    for (int64_t j = 0, t = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++, t += 2) {
            put(d, n, t, (int32_t[]){vertex(n, i, j), vertex(n, i + 1, j), vertex(n, i + 1, j + 1)});
            put(d, n, t + 1, (int32_t[]){vertex(n, i, j), vertex(n, i + 1, j + 1), vertex(n, i, j + 1)});
        }
}

/* ---- by hand: where values are ---- */

/* The columns of vertex `low` in front of entry `at` of the row of `high`. */
static int32_t offset_of(const data *d, const int32_t *column, int32_t high, int32_t low)
{
    int32_t at = d->start[3 * high];
    while (column[at] != 3 * low)
        at++;
    return at - d->start[3 * high];
}

static void make_offsets(data *d)
{
    const int32_t *column = tk_sparse_indices(d->p);
    for (int64_t t = 0; t < d->triangles; t++)
        for (int a = 1, pair = 0; a < 3; a++)
            for (int b = 0; b < a; b++, pair++) {
                const int32_t v = d->m->tri.data[t][a], w = d->m->tri.data[t][b];
                d->offset[t][pair] = offset_of(d, column, v > w ? v : w, v > w ? w : v);
            }
}

/* Adds the lower triangle of an element, `step` numbers apart. */
static inline void scatter(const data *d, int64_t t, const double *H, int step, double *values)
{
    const int32_t *v = d->m->tri.data[t], *start = d->start;
    for (int a = 0; a < 3; a++)
        for (int r = 0; r < 3; r++) {
            double *to = values + start[3 * v[a] + r + 1] - 1 - r;
            for (int c = 0; c <= r; c++)
                to[c] += H[((3 * a + r) * (3 * a + r + 1) / 2 + 3 * a + c) * step];
        }
    for (int a = 1, pair = 0; a < 3; a++)
        for (int b = 0; b < a; b++, pair++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    const double h = H[((3 * a + r) * (3 * a + r + 1) / 2 + 3 * b + c) * step];
                    if (v[a] > v[b])
                        values[start[3 * v[a] + r] + d->offset[t][pair] + c] += h;
                    else
                        values[start[3 * v[b] + c] + d->offset[t][pair] + r] += h;
                }
}

/* ---- by hand: an element, of `step` that lie side by side ---- */

/* in: 9 coordinates, rest, area. H: lower triangle of 9 x 9. S is the second Piola-Kirchhoff stress, N = F C^-1. */
static inline __attribute__((always_inline)) void element(const double *in, int step, double *H, double *G, double *E)
{
    double F[3][2], N[3][2], M[3][3], g[3][2];
    const double r00 = in[9 * step], r01 = in[10 * step], r10 = in[11 * step], r11 = in[12 * step], A = in[13 * step];
    for (int i = 0; i < 3; i++) {
        const double a = in[(3 + i) * step] - in[i * step], b = in[(6 + i) * step] - in[i * step];
        F[i][0] = a * r00 + b * r10;
        F[i][1] = a * r01 + b * r11;
    }
    g[1][0] = r00, g[1][1] = r01, g[2][0] = r10, g[2][1] = r11;
    g[0][0] = -r00 - r10, g[0][1] = -r01 - r11;
    const double c00 = F[0][0] * F[0][0] + F[1][0] * F[1][0] + F[2][0] * F[2][0],
                 c01 = F[0][0] * F[0][1] + F[1][0] * F[1][1] + F[2][0] * F[2][1],
                 c11 = F[0][1] * F[0][1] + F[1][1] * F[1][1] + F[2][1] * F[2][1], det = c00 * c11 - c01 * c01,
                 L = log(det), d00 = c11 / det, d01 = -c01 / det, d11 = c00 / det, s = 0.5 * la * L - mu;
    *E = A * (0.5 * mu * (c00 + c11 - 2 - L) + 0.125 * la * L * L);
    for (int i = 0; i < 3; i++) {
        N[i][0] = F[i][0] * d00 + F[i][1] * d01;
        N[i][1] = F[i][0] * d01 + F[i][1] * d11;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] = s * A * (N[i][0] * F[j][0] + N[i][1] * F[j][1]);
    double n[3][3];
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < 3; i++) {
            n[v][i] = N[i][0] * g[v][0] + N[i][1] * g[v][1];
            G[(3 * v + i) * step] = A * (mu * (F[i][0] * g[v][0] + F[i][1] * g[v][1]) + s * n[v][i]);
        }
    for (int v = 0; v < 3; v++)
        for (int w = 0; w <= v; w++) {
            const double gg = mu * A * (g[v][0] * g[w][0] + g[v][1] * g[w][1]),
                         c = g[v][0] * (d00 * g[w][0] + d01 * g[w][1]) + g[v][1] * (d01 * g[w][0] + d11 * g[w][1]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < (v == w ? i + 1 : 3); j++)
                    H[((3 * v + i) * (3 * v + i + 1) / 2 + 3 * w + j) * step] = (i == j ? gg + A * s * c : 0) +
                                                                                A * (la * n[v][i] * n[w][j] -
                                                                                     s * n[w][i] * n[v][j]) -
                                                                                M[i][j] * c;
        }
}

static inline void load(const data *d, int64_t t, double *in, int step)
{
    const membrane *m = d->m;
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < 3; i++)
            in[(3 * v + i) * step] = m->x.data[m->tri.data[t][v]][i];
    for (int k = 0; k < 4; k++)
        in[(9 + k) * step] = m->rest.data[t][k / 2][k % 2];
    in[13 * step] = m->area.data[t];
}

static inline void add(data *d, int64_t t, const double *H, const double *G, int step, double *values)
{
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < 3; i++)
            d->grad[d->m->tri.data[t][v]][i] += G[(3 * v + i) * step];
    scatter(d, t, H, step, values);
}

/* ---- sides ---- */

static void zero(const data *d, double *values, double (*grad)[3])
{
    memset(values, 0, (size_t)d->n * sizeof *values);
    memset(grad, 0, (size_t)d->vertices * sizeof *grad);
}

static void ours(void *p)
{
    data *d = p;
    zero(d, d->ours, d->m->x.grad);
    *d->m->E.data = 0;
    membrane_elastic_hess(d->m, mu, la, d->p, d->ours, (size_t)d->n);
    d->energy[0] = *d->m->E.data;
}

static void by_scalars(void *p)
{
    data *d = p;
    zero(d, d->scalar, d->grad);
    double in[14], H[ROWS * (ROWS + 1) / 2], G[ROWS], E, sum = 0;
    for (int64_t t = 0; t < d->triangles; t++) {
        load(d, t, in, 1);
        element(in, 1, H, G, &E);
        sum += E;
        add(d, t, H, G, 1, d->scalar);
    }
    d->energy[1] = sum;
}

static void by_lanes(void *p)
{
    data *d = p;
    zero(d, d->lanes, d->grad);
    double in[14][LANES], H[ROWS * (ROWS + 1) / 2][LANES], G[ROWS][LANES], E[LANES], sum = 0;
    for (int64_t t = 0; t < d->triangles; t += LANES) {
        const int n = d->triangles - t < LANES ? (int)(d->triangles - t) : LANES;
        for (int l = 0; l < LANES; l++)
            load(d, t + (l < n ? l : 0), &in[0][l], LANES);
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            element(&in[0][l], LANES, &H[0][l], &G[0][l], &E[l]);
        for (int l = 0; l < n; l++) {
            sum += E[l];
            add(d, t + l, &H[0][l], &G[0][l], LANES, d->lanes);
        }
    }
    d->energy[2] = sum;
}

static void pattern(void *p)
{
    data *d = p;
    tk_sparse *other = NULL;
    membrane_elastic_hess_pattern(d->m, mu, la, NULL, &other);
    tk_sparse_free(other);
}

static double difference(void *p)
{
    data *d = p;
    const double a = bench_difference(d->ours, d->scalar, d->n), b = bench_difference(d->lanes, d->scalar, d->n),
                 g = bench_difference(&d->m->x.grad[0][0], &d->grad[0][0], 3 * d->vertices),
                 e = bench_difference(d->energy, &d->energy[1], 1);
    return fmax(fmax(a, b), fmax(g, e));
}

static void *counted(void *user, void *old, size_t old_size, size_t size)
{
    (void)user;
    pattern_bytes += (int64_t)size - (old ? (int64_t)old_size : 0);
    return size ? realloc(old, size) : (free(old), NULL);
}

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    membrane_params p = membrane_defaults();
    p.V = (int32_t)((size[0] + 1) * (size[0] + 1));
    p.T = (int32_t)(2 * size[0] * size[0]);
    bench_options.alloc = counted;
    d->m = new_membrane(&p);
    if (!d->m)
        return NULL;
    d->vertices = p.V;
    d->triangles = p.T;
    make_mesh(d, size[0]);
    const int64_t before = pattern_bytes;
    if (membrane_elastic_hess_pattern(d->m, mu, la, NULL, &d->p) != TK_OK)
        return NULL;
    pattern_bytes -= before;
    bench_keep(d->p, free_pattern);
    d->n = (int64_t)tk_sparse_values(d->p);
    d->start = tk_sparse_starts(d->p);
    d->ours = bench_doubles(d->n);
    d->scalar = bench_doubles(d->n);
    d->lanes = bench_doubles(d->n);
    d->grad = bench_zeros(d->vertices * (int64_t)sizeof *d->grad);
    d->offset = bench_zeros(d->triangles * (int64_t)sizeof *d->offset);
    make_offsets(d);
    return d;
}

enum { OURS, SCALAR, BY_LANES, PATTERN };

static void print(const bench_row *r)
{
    if (r->of == cases_of_diffusion) {
        print_diffusion(r);
        return;
    }
    const bench_times *t = &r->times;
    const data *d = r->data;
    const double ns = 1e9 / (double)d->triangles, indices = 4.0 * (double)(d->n + 3 * d->vertices + 1);
    printf("| %s | %s | %.0f | %.0f | %.0f | %.2f | %.2f | %.1f | %.1f | %.0e |\n", r->of->name, r->size->name,
           ns * bench_median(t, OURS), ns * bench_median(t, SCALAR), ns * bench_median(t, BY_LANES),
           bench_ratio(t, OURS, SCALAR), bench_ratio(t, OURS, BY_LANES), bench_ratio(t, PATTERN, OURS),
           ((double)pattern_bytes - indices) / (double)d->triangles, r->difference);
}

static const bench_size sizes[] = {{"72 triangles", {6}}, {"20,000", {100}}, {"999,698", {707}}, {NULL, {0}}};
static const bench_case cases_of_meshes[] = {
    BENCH_CASE("membrane", NULL, NULL, sizes, create, difference, ours, by_scalars, by_lanes, pattern), {.name = NULL}};
static const bench_case *const cases[] = {cases_of_meshes, cases_of_diffusion, NULL};

int main(int argc, char **argv)
{
    const bench_suite suite = {
        .about = "f64; ns an element",
        .head =
            "| matrix | size | ours | by hand | in lanes by hand | ours / by hand | ours / lanes | pattern / ours | "
            "bytes an element beside indices | difference |\n|---|---|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_THREAD_CPUTIME_ID, 9, 0.02},
        .allowed = 1e-9,
        .threads = 1,
        .cases = cases,
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
