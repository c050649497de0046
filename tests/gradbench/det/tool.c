#include "ours.h"
#include "tool.h"

static void *prepare(const json_t *input)
{
    int n;
    if (!tool_integer(input, "ell", LEAST, MOST, &n))
        return NULL;
    ours *o = bench_zeros(sizeof *o);
    begin(o, n);
    return tool_numbers(input, "A", n * n, o->A) ? o : NULL;
}

static json_t *value(void *p)
{
    return tool_value(((ours *)p)->value);
}

static json_t *slopes(void *p)
{
    const ours *o = p;
    return tool_list(o->gradient, o->n * o->n);
}

static const tool_function functions[] = {{"primal", prepare, primal, value}, {"gradient", prepare, grad, slopes}, {0}};
const tool_module tool_det = {"det", functions};
