/* The gradient is a softmax: each of its components to the last digits. */
#include "log_sum_exp.h"
#include "host.h"

int main(void)
{
    log_sum_exp *m = log_sum_exp_create(NULL, NULL);
    const int n = m->params.N;
    long double all = 0;
    for (int i = 0; i < n; i++) {
        m->x.data[i] = 700 + sin(1.7 * i);
        all += expl(m->x.data[i] - 700);
    }
    *m->loss.grad = 1;
    if (log_sum_exp_log_sum_exp(m) || log_sum_exp_log_sum_exp_grad(m))
        return 1;
    const double value = (double)(700 + logl(all));
    if (!(fabs(*m->loss.data - value) <= 1e-13 * value))
        FAIL("the value is %.17g, not %.17g", *m->loss.data, value);
    for (int i = 0; i < n; i++) {
        const double want = (double)(expl(m->x.data[i] - 700) / all);
        if (!(fabs(m->x.grad[i] - want) <= 1e-13 * want))
            FAIL("x.grad[%d] is %.17g, not %.17g", i, m->x.grad[i], want);
        m->x.dual[i] = cos(0.3 * i);
    }
    double reverse = 0;
    for (int i = 0; i < n; i++)
        reverse += m->x.grad[i] * m->x.dual[i];
    if (log_sum_exp_log_sum_exp_jvp(m) || !(fabs(*m->loss.dual - reverse) <= 1e-13))
        FAIL("the tangent is %.17g, by the gradient %.17g", *m->loss.dual, reverse);
    log_sum_exp_destroy(m);
    return failures != 0;
}
