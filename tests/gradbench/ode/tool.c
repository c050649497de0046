#include "ours.h"
#include "tool.h"

static void *prepare(const json_t *input)
{
    int steps;
    const int64_t n = tool_length(input, "x");
    if (n < 1 || n > 1 << 28 || !tool_integer(input, "s", 1, 1 << 20, &steps)) {
        tool_refuse("no x, or no steps");
        return NULL;
    }
    ours *o = bench_zeros(sizeof *o);
    begin(o, (int)n, steps);
    o->seed[n - 1] = 1.0;
    return tool_numbers(input, "x", n, o->x) ? o : NULL;
}

static json_t *values(void *p)
{
    const ours *o = p;
    return tool_list(o->out[0], o->n);
}

static json_t *slopes(void *p)
{
    const ours *o = p;
    return tool_list(o->gradient, o->n);
}

static const tool_function functions[] = {
    {"primal", prepare, primal, values}, {"gradient", prepare, grad, slopes}, {0}};
const tool_module tool_ode = {"ode", functions};
