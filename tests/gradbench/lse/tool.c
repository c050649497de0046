#include "bench.h"
#include "lse.h"
#include "tool.h"

static void destroy(void *p)
{
    lse *m = p;
    tk_session *s = tk_module_session(&m->tk);
    lse_destroy(m);
    tk_session_destroy(s);
}

static void *prepare(const json_t *input)
{
    const int64_t n = tool_length(input, "x");
    if (n < 1 || n > 1 << 30) {
        tool_refuse("x: no numbers");
        return NULL;
    }
    lse_params p = {(int)n};
    tk_session *s = bench_session();
    lse *m = lse_create(s, &p);
    if (!m) {
        tool_refuse("%s", tk_error());
        tk_session_destroy(s);
        return NULL;
    }
    if (tool_numbers(input, "x", n, m->x.data))
        return m;
    destroy(m);
    return NULL;
}

static bool primal(void *p)
{
    lse *m = p;
    m->y.data[0] = 0.0;
    return lse_log_sum_exp(m) == TK_OK || tool_refuse("%s", lse_error(m));
}

static bool gradient(void *p)
{
    lse *m = p;
    tk_module_clear_grad(&m->tk);
    m->y.grad[0] = 1.0;
    return lse_log_sum_exp_grad(m) == TK_OK || tool_refuse("%s", lse_error(m));
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
    {"primal", prepare, primal, value, destroy}, {"gradient", prepare, gradient, slopes, destroy}, {0}};
const tool_module tool_lse = {"lse", functions};
