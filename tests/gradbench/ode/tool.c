#include "bench.h"
#include "ode.h"
#include "tool.h"

typedef struct data {
    int n, steps;
    double *x, *out[6], *seed, *gradient;
    void *workspace;
} data;

static void *prepare(const json_t *input)
{
    int steps;
    const int64_t n = tool_length(input, "x");
    if (n < 1 || n > 1 << 28 || !tool_integer(input, "s", 1, 1 << 20, &steps)) {
        tool_refuse("no x, or no steps");
        return NULL;
    }
    data *d = bench_zeros(sizeof *d);
    d->n = (int)n;
    d->steps = steps;
    d->x = bench_doubles(n);
    d->seed = bench_doubles(n);
    d->seed[n - 1] = 1.0;
    d->gradient = bench_doubles(n);
    for (int i = 0; i < 6; i++)
        d->out[i] = bench_doubles(n);
    d->workspace = bench_doubles((int64_t)(ode_run_grad_WORKSPACE(n, steps) / sizeof(double)) + 1);
    if (tool_numbers(input, "x", n, d->x))
        return d;
    return NULL;
}

static void primal(void *p)
{
    data *d = p;
    double *const *o = d->out;
    ode_run(d->n, d->x, d->steps, o[0], o[1], o[2], o[3], o[4], o[5]);
}

static void gradient(void *p)
{
    data *d = p;
    for (int i = 0; i < d->n; i++)
        d->gradient[i] = 0.0;
    ode_run_grad(d->n, d->x, d->steps, NULL, NULL, NULL, NULL, NULL, NULL, d->seed, NULL, NULL, NULL, NULL, NULL,
                 d->gradient, d->workspace);
}

static json_t *values(void *p)
{
    const data *d = p;
    return tool_list(d->out[0], d->n);
}

static json_t *slopes(void *p)
{
    const data *d = p;
    return tool_list(d->gradient, d->n);
}

static const tool_function functions[] = {
    {"primal", prepare, primal, values}, {"gradient", prepare, gradient, slopes}, {0}};
const tool_module tool_ode = {"ode", functions};
