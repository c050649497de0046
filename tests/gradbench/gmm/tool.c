#include "gmm.h"
#include "objective.h"
#include "tool.h"

OBJECTIVE(gmm, objective, loss)

static void *prepare(const json_t *input)
{
    gmm_params p = gmm_defaults();
    if (!tool_integer(input, "n", 1, 1 << 24, &p.N) || !tool_integer(input, "d", 1, 4096, &p.D) ||
        !tool_integer(input, "k", 1, 1 << 20, &p.K) || !tool_integer(input, "m", 0, 1 << 20, &p.m) ||
        !tool_numbers(input, "gamma", 1, &p.gamma))
        return NULL;
    ours *o = bench_zeros(sizeof *o);
    gmm *m = o->m = new_gmm(&p);
    const int64_t kd = (int64_t)p.K * p.D, kl = kd * (p.D - 1) / 2;
    return m && tool_numbers(input, "alpha", p.K, m->alpha.data) && tool_numbers(input, "mu", kd, m->mu.data) &&
                   tool_numbers(input, "q", kd, m->q.data) && tool_numbers(input, "l", kl, m->l.data) &&
                   tool_numbers(input, "x", (int64_t)p.N * p.D, m->x.data)
               ? o
               : NULL;
}

static json_t *value(void *p)
{
    return tool_value(((ours *)p)->value);
}

static json_t *gradient(void *p)
{
    const gmm *m = ((ours *)p)->m;
    const int64_t k = m->params.K, d = m->params.D;
    return json_pack("{s:o, s:o, s:o, s:o}", "alpha", tool_list(m->alpha.grad, k), "mu", tool_rows(m->mu.grad, k, d),
                     "q", tool_rows(m->q.grad, k, d), "l", tool_rows(m->l.grad, k, d * (d - 1) / 2));
}

static const tool_function functions[] = {
    {"objective", prepare, primal, value}, {"jacobian", prepare, grad, gradient}, {0}};
const tool_module tool_gmm = {"gmm", functions};
