#include "functions_far.h"
#include "host.h"

#include <float.h>

#include <tkc/tkc_gen.h>

static functions_far *m;

static void expect(const char *what, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want) || (isinf(want) && got == want)))
        FAIL("%s: %.17g, not %.17g", what, got, want);
}

typedef struct result {
    double y, da, db, jvp, second; /* jvp, second: along the first operand */
} result;

static const tk_kernel *kernel_named(const char *name)
{
    const tk_kernel *k = m->tk.desc->kernels;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

static result at(const char *name, double a, double b)
{
    const tk_kernel *k = kernel_named(name);
    result r;
    tk_session_clear_grad(m->tk.session);
    tk_session_clear_dual(m->tk.session);
    tk_module_need_grad_dual(&m->tk);
    m->a.data[0] = a, m->b.data[0] = b, m->p.data[0] = (float)a, m->q.data[0] = (float)b;
    m->a.grad_dual[0] = m->p.grad_dual[0] = m->y.grad_dual[0] = m->z.grad_dual[0] = 0;
    m->a.dual[0] = m->p.dual[0] = 1;
    tk_launch_jvp(&m->tk, k, NULL);
    const bool single = strstr(name, "32") != NULL;
    r.jvp = single ? m->z.dual[0] : m->y.dual[0];
    m->y.grad[0] = m->z.grad[0] = 1;
    tk_launch_hvp(&m->tk, k, NULL, NULL);
    r.second = single ? m->p.grad_dual[0] : m->a.grad_dual[0];
    tk_session_clear_grad(m->tk.session);
    tk_launch(&m->tk, k, NULL);
    r.y = single ? m->z.data[0] : m->y.data[0];
    m->y.grad[0] = m->z.grad[0] = 1;
    tk_launch_grad(&m->tk, k, NULL, NULL);
    r.da = single ? m->p.grad[0] : m->a.grad[0];
    r.db = single ? m->q.grad[0] : m->b.grad[0];
    return r;
}

static void below(const char *what, double y, double b)
{
    if (!(y >= 0 && y < b))
        FAIL("%s: %.17g is not in [0, %.17g)", what, y, b);
}

static void remainders(void)
{
    below("mod(0.41, 0.01)", at("modulo", 0.41, 0.01).y, 0.01);
    below("mod(-1e-20, 1)", at("modulo", -1e-20, 1).y, 1);
    below("mod in f32", at("modulo32", 977149.06, 0.013884872).y, 0.013884872);
    expect("mod(1, inf)", at("modulo", 1, INFINITY).y, 1, 0);
    expect("mod(0.03, 0.01) by b", at("modulo", 0.03, 0.01).db, -floor(0.03 / 0.01 - 0.5), 0); /* 0.03 is less than 3 * 0.01 */
    expect("0.03 % 0.01 by b", at("remainder_", 0.03, 0.01).db, -2, 0);
}

static void slopes(void)
{
    expect("atan2 near zero", at("angle32", 1e-20, 1e-20).da, 5e19, 1e-6);
    expect("atan2 far away", at("angle32", 1e20, 1e20).da, 5e-21, 1e-6);
    expect("tanh(9)' in f32", at("tanh32", 9, 0).da, 6.0919977e-8, 1e-6);
    expect("tanh(9)'' in f32", at("tanh32", 9, 0).second, -1.2183982e-7, 1e-6);
    expect("tanh(60)' in f32", at("tanh32", 60, 0).second, 0, 0);
    expect("expm1(-20)'", at("expm1_", -20, 0).jvp, 2.0611536224385578e-9, 1e-15);
    expect("expm1(-20)''", at("expm1_", -20, 0).second, 2.0611536224385578e-9, 1e-15);
    expect("asin(1e-30)''", at("asin_", 1e-30, 0).second, 1e-30, 1e-15);
    expect("lgamma(-1e-20)'", at("lgamma_", -1e-20, 0).da, 1e20, 1e-14);
    expect("lgamma(1e-20 - 2)'", at("lgamma_", -2.0000000000000004, 0).da, 1 / 4.440892098500626e-16 + 0.92, 1e-14);
    expect("atan2 at infinity", at("angle32", INFINITY, 1).da, 0, 0);
    expect("atan2 at infinity, by b", at("angle32", INFINITY, 1).db, 0, 0);
    if (!isnan(at("erf_", NAN, 0).da) || !isnan(at("erf_", NAN, 0).jvp) || at("erf_", 50, 0).da != 0)
        FAIL("erf': a NaN is lost, or 50 is not far away");
    expect("lgamma(-1e-20)''", at("lgamma_", -1e-20, 0).second, 1e40, 1e-14);
}

static void powers(void)
{
    m->n.data[0] = INT32_MIN;
    expect("1 ** least", at("power", 1, 0).y, 1, 0);
    expect("(1 ** least)'", at("power", 1, 0).da, -2147483648.0, 0);
    expect("(1 ** least)''", at("power", 1, 0).second, 2147483648.0 * 2147483649.0, 1e-15);
    m->l.data[0] = (INT64_C(1) << 53) + 1; /* as a double it is even */
    expect("(-1) ** odd", at("long_power", -1, 0).y, -1, 0);
    m->n.data[0] = 1001;
    expect("1.001 ** 1001", at("power", 1.001, 0).y, pow(1.001, 1001), 1e-15);
    tk_session_clear_dual(m->tk.session);
    m->c.data[0] = 1e-200, m->b.data[0] = -1.5, m->b.dual[0] = 1; /* the power is 1e300, one less in the exponent is beyond */
    functions_far_along_jvp(m);
    expect("pow along its exponent", m->y.dual[0], 1e300 * log(1e-200), 1e-13);
    functions_far_folded(m);
    expect("u64(3) ** (2^63 + 1)", (double)m->u.data[0], 3, 0); /* the order of 3 divides 2^62 */
    expect("u64(2) ** greatest", (double)m->u.data[1], 0, 0);
    expect("greatest ** odd", (double)m->u.data[2], (double)UINT64_MAX, 0);
}

int main(void)
{
    m = functions_far_create(NULL, NULL);
    if (!m) {
        printf("%s\n", tk_error());
        return 1;
    }
    remainders();
    slopes();
    powers();
    functions_far_destroy(m);
    return failures != 0;
}
