/* A computed Jacobian, one product for each colour of columns, against assembly by hand: a nonlinear diffusion on a
 * square, whose rows have five entries. Both sides zero the matrix, and compute residuals and values. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "cases.h"
#include "diffusion.h"

typedef struct data {
    diffusion *m;
    tk_sparse *p;
    int64_t side, n;
    const int32_t *start;
    double *ours, *hand, *c, *r;
} data;

BENCH_MODULE(diffusion)

static void free_pattern(void *p)
{
    tk_sparse_free(p);
}

static void ours(void *p)
{
    data *d = p;
    memset(d->ours, 0, (size_t)d->n * sizeof *d->ours);
    diffusion_residuals_jac(d->m, d->p, d->ours, (size_t)d->n);
}

static void by_hand(void *p)
{
    data *d = p;
    const int64_t side = d->side, near[4] = {-side, -1, 1, side};
    const double *u = d->m->u.data;
    memset(d->hand, 0, (size_t)d->n * sizeof *d->hand);
    for (int64_t i = 0; i < side * side; i++)
        d->c[i] = 1 + u[i] * u[i];
    for (int64_t i = 1; i < side - 1; i++)
        for (int64_t at = i * side + 1; at < (i + 1) * side - 1; at++) {
            double *row = d->hand + d->start[at], sum = 0, own = 0;
            for (int k = 0; k < 4; k++) {
                const int64_t w = at + near[k];
                const double mean = 0.5 * (d->c[at] + d->c[w]), step = u[w] - u[at];
                sum += mean * step;
                own += u[at] * step - mean;
                row[k < 2 ? k : k + 1] += mean + u[w] * step;
            }
            row[2] += own;
            d->r[at] = sum;
        }
}

static void pattern(void *p)
{
    data *d = p;
    tk_sparse *other = NULL;
    diffusion_residuals_jac_pattern(d->m, NULL, &other);
    tk_sparse_free(other);
}

static double difference(void *p)
{
    data *d = p;
    return fmax(bench_difference(d->ours, d->hand, d->n), bench_difference(d->m->r.data, d->r, d->side * d->side));
}

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    diffusion_params p = diffusion_defaults();
    p.N = (int32_t)size[0];
    d->m = new_diffusion(&p);
    if (!d->m)
        return NULL;
    d->side = size[0];
    for (int64_t i = 0; i < d->side * d->side; i++)
        d->m->u.data[i] = sin(0.01 * (double)i) + 0.3;
    if (diffusion_residuals_jac_pattern(d->m, NULL, &d->p) != TK_OK)
        return NULL;
    bench_keep(d->p, free_pattern);
    d->n = (int64_t)tk_sparse_values(d->p);
    d->start = tk_sparse_starts(d->p);
    d->ours = bench_doubles(d->n);
    d->hand = bench_doubles(d->n);
    d->c = bench_doubles(d->side * d->side);
    d->r = bench_doubles(d->side * d->side);
    return d;
}

enum { OURS, HAND, PATTERN };

void print_diffusion(const bench_row *r)
{
    const bench_times *t = &r->times;
    const data *d = r->data;
    const double ns = 1e9 / (double)(d->side * d->side);
    printf("| %s | %s | %.0f | %.0f | | %.2f | | %.1f | | %.0e |\n", r->of->name, r->size->name,
           ns * bench_median(t, OURS), ns * bench_median(t, HAND), bench_ratio(t, OURS, HAND),
           bench_ratio(t, PATTERN, OURS), r->difference);
}

static const bench_size sizes[] = {{"64 cells", {8}}, {"10,000", {100}}, {"1,000,000", {1000}}, {NULL, {0}}};
const bench_case cases_of_diffusion[] = {
    BENCH_CASE("diffusion (computed)", NULL, NULL, sizes, create, difference, ours, by_hand, pattern), {.name = NULL}};
