#include "ours.h"
#include "tool.h"

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "points"), k = tool_length(input, "centroids"),
                  kd = tool_count(input, "centroids");
    if (n < 1 || k < 1 || kd < k || kd % k != 0 || n > 1 << 24 || kd > 1 << 24) {
        tool_refuse("no points, or centroids of several lengths");
        return NULL;
    }
    kmeans_params p = kmeans_defaults();
    p.N = (int)n;
    p.K = (int)k;
    p.D = (int)(kd / k);
    ours *o = bench_zeros(sizeof *o);
    return begin(o, &p) && tool_numbers(input, "points", n * p.D, o->m->points.data) &&
                   tool_numbers(input, "centroids", kd, o->m->centres.data)
               ? o
               : NULL;
}

static json_t *value(void *p)
{
    return tool_value(((ours *)p)->cost);
}

static json_t *rows(void *p)
{
    const ours *o = p;
    return tool_rows(o->step, o->m->params.K, o->m->params.D);
}

static const tool_function functions[] = {{"cost", prepare, primal, value}, {"dir", prepare, grad, rows}, {0}};
const tool_module tool_kmeans = {"kmeans", functions};
