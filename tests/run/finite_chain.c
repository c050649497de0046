#include "finite_chain.h"
#include "host.h"

#include <tkc/tkc_gen.h>

static void reset(finite_chain *m)
{
    for (int i = 0; i < 3; i++)
        m->q.data[i] = 0.3 + 0.4 * i;
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void values(finite_chain *m)
{
    reset(m);
    CHECK_OK(m, finite_chain_reach(m));
    CHECK_OK(m, finite_chain_reach_finite(m));
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(m->tip.data[1][k], m->tip.data[0][k], 1e-15);
    CHECK(m->tip.data[0][0] != 0 && m->tip.data[0][1] != 0 && m->tip.data[0][2] != 0);
}

static void gradients(finite_chain *m)
{
    double g[2][3];
    for (int finite_one = 0; finite_one < 2; finite_one++) {
        for (int i = 0; i < 3; i++) {
            m->q.grad[i] = 0;
            for (int f = 0; f < 2; f++)
                m->tip.grad[f][i] = f == finite_one ? 1 + i : 0;
        }
        CHECK_OK(m, finite_one ? finite_chain_reach_finite_grad(m) : finite_chain_reach_grad(m));
        memcpy(g[finite_one], m->q.grad, sizeof g[0]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(g[0][i] != 0);
        CHECK_NEAR(g[1][i], g[0][i], 1e-14);
    }
}

static void tangents(finite_chain *m)
{
    for (int i = 0; i < 3; i++)
        m->q.dual[i] = 1 - 0.5 * i;
    CHECK_OK(m, finite_chain_reach_jvp(m));
    CHECK_OK(m, finite_chain_reach_finite_jvp(m));
    for (int k = 0; k < 3; k++) {
        CHECK(m->tip.dual[0][k] != 0);
        CHECK_NEAR(m->tip.dual[1][k], m->tip.dual[0][k], 1e-14);
    }
}

static void jacobians(void)
{
    const double q[3] = {0.3, 0.7, 1.1};
    double y[2][3], j[2][9];
    finite_chain_arm_jac(q, y[0], j[0], 3);
    finite_chain_arm_finite_jac(q, y[1], j[1], 3);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(y[1][k], y[0][k], 1e-15);
    for (int k = 0; k < 9; k++)
        CHECK_NEAR(j[1][k], j[0][k], 1e-14);
}

/* Strict code has atan2(-0, -1) for a below zero; zeros of finite code have no sign. */
static void decisions(finite_chain *m)
{
    m->q.data[0] = -2;
    CHECK_OK(m, finite_chain_decided(m));
    const double value = m->bad.data[0];
    for (int i = 0; i < 3; i++)
        m->bad.grad[i] = 1, m->q.grad[i] = 0;
    CHECK_OK(m, finite_chain_decided_grad(m));
    CHECK(m->q.grad[0] == (value == 4 ? -4 : 3));
    CHECK(value == (m->tk.desc->nsites ? -6 : 4));
    reset(m);
}

static void expect(finite_chain *m, tk_status (*kernel)(finite_chain *), double x, const char *message)
{
    const bool stops = m->tk.desc->nsites > 0 && message;
    m->q.data[1] = x;
    CHECK_STATUS(m, kernel(m), stops ? TK_NOT_FINITE : TK_OK, stops ? message : "");
    reset(m);
}

static void stops(finite_chain *m)
{
    expect(m, finite_chain_by_inverse, 0, "finite_chain.tk:48:16: a number is NaN or infinite, but the numbers of 'inverse' are finite");
    expect(m, finite_chain_by_inverse, INFINITY, ": a number is NaN or infinite, but the numbers of");
    expect(m, finite_chain_by_root, -1, "finite_chain.tk:52:13: a number is NaN or infinite, but the numbers of 'root' are finite");
    expect(m, finite_chain_by_guard, 0, NULL);
    expect(m, finite_chain_by_array, 1e200, "finite_chain.tk:60:18: a number is NaN");
    expect(m, finite_chain_by_array, 1e308, "finite_chain.tk:59:35: a number is NaN");
    expect(m, finite_chain_by_load, INFINITY, "finite_chain.tk:67:55: a number is NaN or infinite, but the numbers of 'by_load'");
    expect(m, finite_chain_by_least, -1, NULL);
    expect(m, finite_chain_by_norm, 0, NULL);
    m->q.data[2] = 0;
    finite_chain_by_load(m);
    CHECK(m->bad.data[2] == 0);
    reset(m);
}

int main(void)
{
    finite_chain *m = finite_chain_create(NULL, NULL);
    if (!m)
        return 1;
    values(m);
    gradients(m);
    tangents(m);
    jacobians();
    decisions(m);
    stops(m);
    finite_chain_destroy(m);
    return failures != 0;
}
