#include "llsq.h"
#include "objective.h"
#include "tool.h"

OBJECTIVE(llsq, misfit, y)

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "x");
    if (n < 1 || n > 1 << 30) {
        tool_refuse("x: no numbers");
        return NULL;
    }
    llsq_params p = llsq_defaults();
    p.M = (int)n;
    if (!tool_integer(input, "n", 2, 1 << 30, &p.N))
        return NULL;
    ours *o = bench_zeros(sizeof *o);
    o->m = new_llsq(&p);
    return o->m && tool_numbers(input, "x", n, o->m->x.data) ? o : NULL;
}

static json_t *value(void *p)
{
    return tool_value(((ours *)p)->value);
}

static json_t *slopes(void *p)
{
    const ours *o = p;
    return tool_list(o->m->x.grad, o->m->params.M);
}

static const tool_function functions[] = {{"primal", prepare, primal, value}, {"gradient", prepare, grad, slopes}, {0}};
const tool_module tool_llsq = {"llsq", functions};
