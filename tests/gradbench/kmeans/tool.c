#include <stdlib.h>

#include "bench.h"
#include "kmeans.h"
#include "tool.h"

typedef struct data {
    kmeans *m;
    tk_session *s;
    double *step;
} data;

static void destroy(void *p)
{
    data *d = p;
    kmeans_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->step);
    free(d);
}

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "points"), k = tool_length(input, "centroids"),
                  kd = tool_count(input, "centroids");
    if (n < 1 || k < 1 || kd < k || kd % k != 0 || n > 1 << 24 || kd > 1 << 24) {
        tool_refuse("no points, or centroids of several lengths");
        return NULL;
    }
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    kmeans_params p = kmeans_defaults();
    p.N = (int)n;
    p.K = (int)k;
    p.D = (int)(kd / k);
    d->s = bench_session();
    d->m = kmeans_create(d->s, &p);
    d->step = bench_doubles(kd);
    if (d->m ? tool_numbers(input, "points", n * p.D, d->m->points.data) &&
                   tool_numbers(input, "centroids", kd, d->m->centres.data)
             : tool_refuse("%s", tk_error()))
        return d;
    destroy(d);
    return NULL;
}

static bool cost(void *p)
{
    data *d = p;
    d->m->cost.data[0] = 0.0;
    return kmeans_measure(d->m) == TK_OK || tool_refuse("%s", kmeans_error(d->m));
}

/* The Hessian is diagonal: its product with ones is the diagonal. */
static bool step(void *p)
{
    data *d = p;
    const int64_t kd = (int64_t)d->m->params.K * d->m->params.D;
    tk_module_clear_grad(&d->m->tk);
    tk_module_clear_dual(&d->m->tk);
    d->m->cost.grad[0] = 1.0;
    for (int64_t i = 0; i < kd; i++)
        d->m->centres.dual[i] = 1.0;
    if (kmeans_measure_hvp(d->m) != TK_OK)
        return tool_refuse("%s", kmeans_error(d->m));
    for (int64_t i = 0; i < kd; i++)
        d->step[i] = d->m->centres.grad[i] / d->m->centres.grad_dual[i];
    return true;
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

static const tool_function functions[] = {
    {"cost", prepare, cost, value, destroy}, {"dir", prepare, step, rows, destroy}, {0}};
const tool_module tool_kmeans = {"kmeans", functions};
