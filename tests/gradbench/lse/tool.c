#include "bench.h"
#include "lse.h"
#include "tool.h"

BENCH_MODULE(lse)

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "x");
    if (n < 1 || n > 1 << 30) {
        tool_refuse("x: no numbers");
        return NULL;
    }
    lse_params p = {(int)n};
    lse *m = new_lse(&p);
    if (!m)
        return NULL;
    if (tool_numbers(input, "x", n, m->x.data))
        return m;
    return NULL;
}

static void primal(void *p)
{
    lse *m = p;
    m->y.data[0] = 0.0;
    lse_log_sum_exp(m);
}

static void gradient(void *p)
{
    lse *m = p;
    tk_module_clear_grad(&m->tk);
    m->y.grad[0] = 1.0;
    lse_log_sum_exp_grad(m);
}

static json_t *value(void *p)
{
    return tool_value(((lse *)p)->y.data[0]);
}

static json_t *slopes(void *p)
{
    const lse *m = p;
    return tool_list(m->x.grad, m->params.N);
}

static const tool_function functions[] = {
    {"primal", prepare, primal, value}, {"gradient", prepare, gradient, slopes}, {0}};
const tool_module tool_lse = {"lse", functions};
