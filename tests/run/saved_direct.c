/* `_jvp`, `_hvp` and `_grad` of kernels that overwrite saved fields, called directly in every order: each gives the
 * derivative of the last launch, and leaves data and duals as that launch left them. */
#include "saved_direct.h"
#include "host.h"

enum { N = 5, CALLS = 4 };

static char trail[64]; /* the calls so far */

static void expect(const char *what, int i, double got, double want)
{
    if (!near(got, want, 1e-12))
        FAIL("%s: %s[%d] is %.15g, must be %.15g", trail, what, i, got, want);
}

static void expect_status(const char *what, tk_status got, tk_status want)
{
    if (got != want)
        FAIL("%s: %s is %s, must be %s", trail, what, tk_status_name(got), tk_status_name(want));
}

/* x, its tangent, and the seeds: gradient of the result and its tangent. */
static double x(int i) { return 0.7 + 0.2 * i; }
static double dx(int i) { return 1.0 - 0.3 * i; }
static double seed(int i) { return 2.0 + 0.5 * i; }
static double dseed(int i) { return 0.4 * i - 1.0; }

typedef tk_status kernel(saved_direct *);

/* s = s^power */
typedef struct one {
    const char *name;
    double power;
    kernel *run, *grad, *jvp, *hvp;
} one;
#define ONE(k, power) {#k, power, saved_direct_##k, saved_direct_##k##_grad, saved_direct_##k##_jvp, saved_direct_##k##_hvp}
static const one kernels[] = {ONE(square, 2), ONE(fourth, 4)};

static void start(saved_direct *m)
{
    for (int i = 0; i < N; i++) {
        m->s.data[i] = x(i);
        m->s.dual[i] = dx(i);
    }
}

static void check_state(const saved_direct *m, const one *k, bool duals)
{
    for (int i = 0; i < N; i++) {
        expect("s", i, m->s.data[i], pow(x(i), k->power));
        expect("s.dual", i, m->s.dual[i], duals ? k->power * pow(x(i), k->power - 1) * dx(i) : dx(i));
    }
}

static void check_derivative(saved_direct *m, const one *k, bool hvp)
{
    const double p = k->power;
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < N; i++) {
        m->s.grad[i] = seed(i);
        if (hvp)
            m->s.grad_dual[i] = dseed(i);
    }
    expect_status(hvp ? "hvp" : "grad", (hvp ? k->hvp : k->grad)(m), TK_OK);
    for (int i = 0; i < N; i++) {
        const double first = p * pow(x(i), p - 1), second = p * (p - 1) * pow(x(i), p - 2) * dx(i);
        expect("s.grad", i, m->s.grad[i], first * seed(i));
        if (hvp)
            expect("s.grad_dual", i, m->s.grad_dual[i], second * seed(i) + first * dseed(i));
    }
}

/* After the JVP: all sequences of products and adjoints. */
static void check_orders(saved_direct *m, const one *k)
{
    for (unsigned order = 0; order < 1u << CALLS; order++) {
        start(m);
        snprintf(trail, sizeof trail, "%s: jvp", k->name);
        expect_status("jvp", k->jvp(m), TK_OK);
        check_state(m, k, true);
        for (int c = 0; c < CALLS; c++) {
            const bool hvp = (order >> c & 1) != 0;
            strcat(trail, hvp ? ", hvp" : ", grad");
            check_derivative(m, k, hvp);
            check_state(m, k, true);
        }
    }
}

/* A launch without duals has what the adjoint wants, not what the product does. */
static void check_launch(saved_direct *m, const one *k)
{
    start(m);
    snprintf(trail, sizeof trail, "%s: run", k->name);
    expect_status("run", k->run(m), TK_OK);
    for (int c = 0; c < 2; c++) {
        check_derivative(m, k, false);
        check_state(m, k, false);
    }
    expect_status("hvp", k->hvp(m), TK_BAD_STATE);
    tk_session_clear_error(tk_module_session(&m->tk));
    check_state(m, k, false);
}

/* One behind the other, each product once, last launch first: y = (s^4)^3. */
static void check_chain(saved_direct *m)
{
    snprintf(trail, sizeof trail, "fourth, cube");
    start(m);
    tk_module_clear_grad(&m->tk);
    saved_direct_fourth_jvp(m);
    saved_direct_cube_jvp(m);
    for (int i = 0; i < N; i++) {
        expect("y.dual", i, m->y.dual[i], 12 * pow(x(i), 11) * dx(i));
        m->y.grad[i] = 1;
    }
    saved_direct_cube_hvp(m);
    saved_direct_fourth_hvp(m);
    for (int i = 0; i < N; i++) {
        expect("s.grad", i, m->s.grad[i], 12 * pow(x(i), 11));
        expect("s.grad_dual", i, m->s.grad_dual[i], 132 * pow(x(i), 10) * dx(i));
    }
    saved_direct_cube_jvp(m); /* from the duals that are there now */
    for (int i = 0; i < N; i++)
        expect("y.dual again", i, m->y.dual[i], 12 * pow(x(i), 11) * dx(i));
}

/* Two saved fields, one of them of integers and so without a dual. */
static void check_indices(saved_direct *m)
{
    snprintf(trail, sizeof trail, "turn");
    for (int twice = 0; twice < 2; twice++) {
        start(m);
        for (int i = 0; i < N; i++) {
            m->at.data[i] = i;
            m->y.data[i] = 1.5 + i;
            m->y.dual[i] = 0.5 - i;
        }
        saved_direct_turn_jvp(m);
        for (int again = 0; again <= twice; again++) {
            tk_module_clear_grad(&m->tk);
            for (int i = 0; i < N; i++)
                m->s.grad[i] = seed(i);
            expect_status("hvp", saved_direct_turn_hvp(m), TK_OK);
            for (int i = 0; i < N; i++) {
                const double v = 1.5 + i, dv = 0.5 - i;
                expect("y.grad", i, m->y.grad[i], seed(i) * x(i));
                expect("y.grad_dual", i, m->y.grad_dual[i], seed(i) * dx(i));
                expect("s.grad", i, m->s.grad[i], seed(i) * v);
                expect("s.grad_dual", i, m->s.grad_dual[i], seed(i) * dv);
                expect("s", i, m->s.data[i], x(i) * v);
                expect("s.dual", i, m->s.dual[i], x(i) * dv + dx(i) * v);
                expect("at", i, m->at.data[i], N - 1 - i);
            }
        }
    }
}

int main(void)
{
    saved_direct *m = saved_direct_create(NULL, NULL);
    if (!m)
        return 1;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        check_orders(m, &kernels[k]);
        check_launch(m, &kernels[k]);
    }
    check_chain(m);
    check_indices(m);
    expect_status("at the end", saved_direct_status(m), TK_OK);
    saved_direct_destroy(m);
    return failures != 0;
}
