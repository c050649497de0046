#include "bench.h"
#include "llsq.h"
#include "tool.h"

BENCH_MODULE(llsq)

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
    llsq *m = new_llsq(&p);
    if (!m)
        return NULL;
    if (tool_numbers(input, "x", n, m->x.data))
        return m;
    return NULL;
}

static void primal(void *p)
{
    llsq *m = p;
    m->y.data[0] = 0.0;
    llsq_misfit(m);
}

static void gradient(void *p)
{
    llsq *m = p;
    tk_module_clear_grad(&m->tk);
    m->y.grad[0] = 1.0;
    llsq_misfit_grad(m);
}

static json_t *value(void *p)
{
    return tool_value(((llsq *)p)->y.data[0]);
}

static json_t *slopes(void *p)
{
    const llsq *m = p;
    return tool_list(m->x.grad, m->params.M);
}

static const tool_function functions[] = {
    {"primal", prepare, primal, value}, {"gradient", prepare, gradient, slopes}, {0}};
const tool_module tool_llsq = {"llsq", functions};
