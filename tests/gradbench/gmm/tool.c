#include "bench.h"
#include "gmm.h"
#include "tool.h"

BENCH_MODULE(gmm)

static void *prepare(const json_t *input)
{
    gmm_params p = gmm_defaults();
    if (!tool_integer(input, "n", 1, 1 << 24, &p.N) || !tool_integer(input, "d", 1, 4096, &p.D) ||
        !tool_integer(input, "k", 1, 1 << 20, &p.K) || !tool_integer(input, "m", 0, 1 << 20, &p.m) ||
        !tool_numbers(input, "gamma", 1, &p.gamma))
        return NULL;
    gmm *m = new_gmm(&p);
    if (!m)
        return NULL;
    const int64_t kd = (int64_t)p.K * p.D, kl = kd * (p.D - 1) / 2;
    if (tool_numbers(input, "alpha", p.K, m->alpha.data) && tool_numbers(input, "mu", kd, m->mu.data) &&
        tool_numbers(input, "q", kd, m->q.data) && tool_numbers(input, "l", kl, m->l.data) &&
        tool_numbers(input, "x", (int64_t)p.N * p.D, m->x.data))
        return m;
    return NULL;
}

static void objective(void *p)
{
    gmm *m = p;
    m->loss.data[0] = 0.0;
    gmm_objective(m);
}

static void jacobian(void *p)
{
    gmm *m = p;
    tk_module_clear_grad(&m->tk);
    m->loss.grad[0] = 1.0;
    gmm_objective_grad(m);
}

static json_t *value(void *p)
{
    return tool_value(((gmm *)p)->loss.data[0]);
}

static json_t *gradient(void *p)
{
    const gmm *m = p;
    const int64_t k = m->params.K, d = m->params.D;
    return json_pack("{s:o, s:o, s:o, s:o}", "alpha", tool_list(m->alpha.grad, k), "mu", tool_rows(m->mu.grad, k, d),
                     "q", tool_rows(m->q.grad, k, d), "l", tool_rows(m->l.grad, k, d * (d - 1) / 2));
}

static const tool_function functions[] = {
    {"objective", prepare, objective, value}, {"jacobian", prepare, jacobian, gradient}, {0}};
const tool_module tool_gmm = {"gmm", functions};
