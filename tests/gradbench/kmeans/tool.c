#include "bench.h"
#include "kmeans.h"
#include "tool.h"

typedef struct data {
    kmeans *m;
    double *step;
} data;

BENCH_MODULE(kmeans)

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "points"), k = tool_length(input, "centroids"),
                  kd = tool_count(input, "centroids");
    if (n < 1 || k < 1 || kd < k || kd % k != 0 || n > 1 << 24 || kd > 1 << 24) {
        tool_refuse("no points, or centroids of several lengths");
        return NULL;
    }
    data *d = bench_zeros(sizeof *d);
    kmeans_params p = kmeans_defaults();
    p.N = (int)n;
    p.K = (int)k;
    p.D = (int)(kd / k);
    d->m = new_kmeans(&p);
    d->step = bench_doubles(kd);
    if (d->m && tool_numbers(input, "points", n * p.D, d->m->points.data) &&
        tool_numbers(input, "centroids", kd, d->m->centres.data))
        return d;
    return NULL;
}

static void cost(void *p)
{
    data *d = p;
    d->m->cost.data[0] = 0.0;
    kmeans_measure(d->m);
}

/* The Hessian is diagonal: its product with ones is the diagonal. */
static void step(void *p)
{
    data *d = p;
    const int64_t kd = (int64_t)d->m->params.K * d->m->params.D;
    tk_module_clear_grad(&d->m->tk);
    tk_module_clear_dual(&d->m->tk);
    d->m->cost.grad[0] = 1.0;
    for (int64_t i = 0; i < kd; i++)
        d->m->centres.dual[i] = 1.0;
    kmeans_measure_hvp(d->m);
    for (int64_t i = 0; i < kd; i++)
        d->step[i] = d->m->centres.grad[i] / d->m->centres.grad_dual[i];
}

static json_t *value(void *p)
{
    return tool_value(((data *)p)->m->cost.data[0]);
}

static json_t *rows(void *p)
{
    const data *d = p;
    return tool_rows(d->step, d->m->params.K, d->m->params.D);
}

static const tool_function functions[] = {{"cost", prepare, cost, value}, {"dir", prepare, step, rows}, {0}};
const tool_module tool_kmeans = {"kmeans", functions};
