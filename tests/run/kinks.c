/* What docs/autodiff/numbers.md says about kinks, number by number. */
#include "kinks.h"
#include "host.h"

enum { N = 8 };
typedef tk_status launch(kinks *);

typedef struct row {
    const char *name;
    launch *run, *grad, *jvp, *hvp;
    double a, b;
    double value;
    double da, db;   /* adjoint */
    double ta, tb;   /* JVP along a and along b: the same number, except where the other operand's zero tangent meets an infinite derivative */
    double second;   /* of the adjoint by a, along a */
    bool all_second;
    double mixed, second_b; /* if all_second: by the other operand; by b, along b */
} row;

#define ROW_T(k, a, b, value, da, db, ta, tb, second) \
    {#k, kinks_##k, kinks_##k##_grad, kinks_##k##_jvp, kinks_##k##_hvp, a, b, value, da, db, ta, tb, second, false, 0, 0}
#define ROW_SECOND(k, a, b, value, da, db, second, mixed, second_b) \
    {#k, kinks_##k, kinks_##k##_grad, kinks_##k##_jvp, kinks_##k##_hvp, a, b, value, da, db, da, db, second, true, mixed, second_b}
#define ROW(k, a, b, value, da, db, second) ROW_T(k, a, b, value, da, db, da, db, second)

static const row rows[] = {
    ROW(abs_, 0, 0, 0, 0, 0, 0),
    ROW(abs_, -0.0, 0, 0, 0, 0, 0),
    ROW(abs_, -2, 0, 2, -1, 0, 0),
    ROW(abs_, NAN, 0, NAN, 0, 0, 0),
    ROW(sign_, 0, 0, 0, 0, 0, 0),
    ROW(sign_, -3, 0, -1, 0, 0, 0),
    ROW(sign_, NAN, 0, 0, 0, 0, 0),

    /* the second operand, unless the first is certainly the one */
    ROW(min_, 1, 1, 1, 0, 1, 0),
    ROW(min_, 1, 2, 1, 1, 0, 0),
    ROW(min_, 2, 1, 1, 0, 1, 0),
    ROW(min_, NAN, 1, 1, 0, 1, 0),
    ROW(min_, 1, NAN, NAN, 0, 1, 0),
    ROW(max_, 1, 1, 1, 0, 1, 0),
    ROW(max_, 1, 2, 2, 0, 1, 0),
    ROW(max_, 2, 1, 2, 1, 0, 0),
    ROW(max_, NAN, 1, 1, 0, 1, 0),
    ROW(max_, 1, NAN, NAN, 0, 1, 0),
    ROW(select_, 1, 1, 3, 0, 3, 0),
    ROW(select_, 2, 1, 4, 2, 0, 0),

    ROW(clamp_, -1, 0, -1, 0, 0, 0),
    ROW(clamp_, 1, 0, 1, 0, 0, 0),
    ROW(clamp_, 0.5, 0, 0.5, 1, 0, 0),
    ROW(clamp_, 2, 0, 1, 0, 0, 0),
    ROW(clamp_, NAN, 0, -1, 0, 0, 0),
    ROW(smoothstep_, NAN, 0, 0, 0, 0, 0),
    ROW(step_, NAN, 0.5, 1, 0, 0, 0),
    ROW(clamp_low, 1, 1, 1, 0, 1, 0),
    ROW(clamp_high, 1, 1, 1, 0, 1, 0),
    ROW(step_, 1, 1, 1, 0, 0, 0),
    ROW(step_, 1, 2, 0, 0, 0, 0),
    ROW(smoothstep_, 0, 0, 0, 0, 0, 0),
    ROW(smoothstep_, 0.5, 0, 0.5, 1.5, 0, 0),
    ROW(smoothstep_, 1, 0, 1, 0, 0, 0),

    ROW(floor_, 1, 0, 1, 0, 0, 0),
    ROW(ceil_, 1, 0, 1, 0, 0, 0),
    ROW(round_, 0.5, 0, 1, 0, 0, 0),
    ROW(round_, -0.5, 0, -1, 0, 0, 0),
    ROW(trunc_, 1, 0, 1, 0, 0, 0),
    ROW(fract_, 1, 0, 0, 1, 0, 0),
    ROW(fract_, -0.25, 0, 0.75, 1, 0, 0),
    ROW(cast_, 2, 3, 6, 0, 2, 0),
    ROW(rem_, 4, 2, 0, 1, -2, 0),
    ROW(mod_, 4, 2, 0, 1, -2, 0),
    ROW(mod_, -4, 2, 0, 1, 2, 0),

    ROW(pow_, 0, 0, 1, 0, -INFINITY, 0),
    ROW_SECOND(pow_, 0, 1, 0, 1, 0, 0, -INFINITY, 0),
    ROW_SECOND(pow_, 0, 1.5, 0, 0, 0, INFINITY, 0, 0),
    ROW_SECOND(pow_, 0, 2, 0, 0, 0, 2, 0, 0),
    ROW_SECOND(pow_, 0, 3, 0, 0, 0, 0, 0, 0),
    ROW_SECOND(pow_, 4, 0.5, 2, 0.25, 2.7725887222397811, -0.03125, 0.84657359027997264, 3.843624111345611),
    ROW(pow_, 2, 0, 1, 0, 0.69314718055994531, 0),
    ROW(pow_, 0, 0.5, 0, INFINITY, 0, -INFINITY),
    ROW(pow_, -2, 2, 4, -4, NAN, 2),
    ROW(pow_half, 0, 0, 0, 0, 0, INFINITY),
    ROW(zeroth, 0, 0, 1, 0, 0, 0),
    ROW(first, 0, 0, 0, 1, 0, 0),
    ROW(square, 0, 0, 0, 0, 0, 2),
    ROW(square, -3, 0, 9, -6, 0, 2),
    ROW(integer, 0, 0, 1, 0, 0, 0),
    ROW(integer, 0, 1, 0, 1, 0, 0),
    ROW(integer, 0, 2, 0, 0, 0, 2),
    ROW(integer, -2, 3, -8, 12, 0, -12),
    ROW_T(sqrt_, 0, 0, 0, INFINITY, 0, INFINITY, NAN, -INFINITY), /* a factor of two terms, of which one is 0 */
    ROW_T(cbrt_, 0, 0, 0, INFINITY, 0, INFINITY, NAN, NAN),
    ROW(hypot_, 0, 0, 0, 0, 0, 0),
    ROW(hypot_, 0, 2, 2, 0, 1, 0.5),
    ROW(atan2_, 0, 0, 0, NAN, NAN, NAN),
    ROW(norm_, 0, 0, 0, 0, 0, 0),
    ROW(norm_, 3, 4, 5, 0.6, 0.8, 0.128),
    ROW(norm_of_three, 0, 0, 0, 0, 0, 0),
    ROW(length_, 0, 0, 0, 0, 0, 0),
    ROW(distance_, 0, 0, 0, 0, 0, 0),
    ROW(distance_, 2, 2, 0, 0, 0, 0),
    ROW(norm_grad, 0, 0, 0, 0, 0, 0),
    ROW(norm_grad, 0, 2, 2, 1, 0, -0.5),
    ROW(normalized_, 0, 0, 0, 0, 0, 0),
    ROW(normalized_, 0, 2, 0, 0.5, 0, 0),
    ROW(norm_eps, 0, 0, 1e-3, 0, 0, 1e3),

    ROW(if_, 0, 0, 0, 2, 0, 0),
    ROW(if_, -1, 0, -2, 2, 0, 0),
    ROW(if_, 4, 0, 2, 0.25, 0, -0.03125),
    ROW(choice, 0, 0, 0, 2, 0, 0),
    ROW(choice, -1, 0, -2, 2, 0, 0),
    ROW(choice, 1, 0, 0, 1, 0, -3),
    ROW(loop, 0, 0, 0, 8, 0, 0),
    ROW(loop, -1, 0, -8, 8, 0, 0),
    ROW(both, 0, 0, 0, 2, 0, 0),
    ROW(both, -1, 0, -2, 2, 0, 0),
    ROW(both, 4, 0, 2, 0.25, 0, -0.03125),

    /* where the exponential is infinite */
    ROW(logistic_, -1000, 0, 0, 0, 0, 0),
    ROW(logistic_, 1000, 0, 1, 0, 0, 0),
    ROW(logistic_, 1, 0, 0.73105857863000487, 0.19661193324148185, 0, -0.090857747672948409),
    ROW_SECOND(swish_, -1000, 3, 0, 0, 0, 0, 0, 0),
    ROW_SECOND(swish_, 1, 2, 1.4621171572600097, 0.3932238664829637, 0.73105857863000487, -0.18171549534589682, 0.19661193324148185, 0),

    ROW(behind, 0, 0, 0, 0, 0, 0),
    ROW(behind, -1, 0, 0, 0, 0, 0),
    ROW(behind, 4, 0, 4, 0.5, 0, -0.0625),
    ROW(behind_two, 0, 0, 0, 0, 0, 0),
    ROW(behind_two, 0, 2, 0, 0, 0, 0),
    ROW(behind_two, 4, 0, 4, 0.5, 0, -0.0625),
    ROW(behind_two, 4, 2, 6, 0.75, 0, -0.09375),
    ROW(behind_else, 0, 0, 0, 0, 0, 0),
    ROW(behind_else, 4, 0, 2, 0.25, 0, -0.03125),
    ROW(behind_else, 0.25, 0, 1, 2, 0, -4),
    ROW(behind_chain, 0, 3, 3, 0, 1, 0),
    ROW(behind_chain, 4, 2, 5, -0.375, 2.5, 0.140625),
    ROW(behind_nested, 0, 0, 0, 0, 1, 0),
    ROW(behind_nested, 0, 1, 2, 0, 1, 0),
    ROW(behind_nested, 4, 1, 3, 0.25, 1, -0.03125),
    ROW(behind_known, 0, 1, 2, 0, 2, 0),
    ROW(behind_known, 4, 1, 4, 0.25, 2, -0.03125),
    ROW(behind_in_loop, 0, 3, 3, 0, 1, 0),
    ROW(behind_in_loop, 4, 3, 12, 3, 4, 0),
    ROW(behind_loop, 0, 3, 3, 0, 1, 0),
    ROW(behind_loop, 4, 2, 54, 13.5, 27, 0.5625),
    ROW(behind_max, 0, 0, 2.5, 0, 0, 0),
    ROW(behind_max, -1, 0, -0.5, -1, 0, -2),
    ROW(behind_quotient, 0, 3, 3, 0, 1, 0),
    ROW(behind_quotient, 2, 3, 1.5, -0.75, 0.5, 0.75),
    ROW(behind_exp, 1000, 0, 1000, 1, 0, 0),
    ROW(behind_exp, 0, 0, 0.69314718055994531, 0.5, 0, 0.25),
    ROW(behind_return, 0, 3, 3, 0, 1, 0),
    ROW(behind_return, 4, 3, 8, 1, 2, -0.125),
    ROW(behind_gradient, 0, 3, 1, 0, 0, 0),
    ROW(behind_gradient, 4, 3, 3, 0.125, 0.25, 0.015625),
    ROW(behind_call, 0, 3, 3, 0, 1, 0),
    ROW(behind_call, -1, 3, 3, 0, 1, 0),
};

static bool same(double got, double want)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return near(got, want, 1e-14);
}

/* All elements are alike, so that vectorised code runs and gives one result. */
static void expect(const row *q, const char *what, const double *got, double want)
{
    for (int i = 0; i < N; i++)
        if (!same(got[i], want)) {
            FAIL("%s at (%g, %g): %s[%d] is %g, must be %g", q->name, q->a, q->b, what, i, got[i], want);
            return;
        }
}

static void fill(double *p, double v)
{
    for (int i = 0; i < N; i++)
        p[i] = v;
}

static void check(kinks *m, const row *q)
{
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    fill(m->a.data, q->a);
    fill(m->b.data, q->b);
    fill(m->r.grad, 1);
    q->run(m);
    q->grad(m);
    expect(q, "value", m->r.data, q->value);
    expect(q, "a.grad", m->a.grad, q->da);
    expect(q, "b.grad", m->b.grad, q->db);

    fill(m->a.dual, 1);
    q->jvp(m);
    expect(q, "JVP along a", m->r.dual, q->ta);
    fill(m->a.dual, 0);
    fill(m->b.dual, 1);
    q->jvp(m);
    expect(q, "JVP along b", m->r.dual, q->tb);

    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    fill(m->a.dual, 1);
    fill(m->r.grad, 1);
    q->hvp(m);
    expect(q, "second order", m->a.grad_dual, q->second);
    if (!q->all_second)
        return;
    expect(q, "second order, mixed", m->b.grad_dual, q->mixed);
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    fill(m->b.dual, 1);
    fill(m->r.grad, 1);
    q->hvp(m);
    expect(q, "second order along b, mixed", m->a.grad_dual, q->mixed);
    expect(q, "second order along b", m->b.grad_dual, q->second_b);
}

/* Which element gets the gradient; -1: the initial value. In both modes. */
static void check_winner(kinks *m, const char *name, launch *run, launch *grad, launch *jvp, const double *a, double initial, int winner)
{
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    for (int i = 0; i < N; i++) {
        m->a.data[i] = a[i];
        m->a.dual[i] = i;
    }
    m->b.data[0] = initial;
    m->b.dual[0] = -1;
    m->s.grad[0] = 1;
    run(m);
    grad(m);
    jvp(m);
    bool ok = m->s.dual[0] == winner && m->b.grad[0] == (winner == -1);
    for (int i = 0; i < N; i++)
        ok &= m->a.grad[i] == (winner == i);
    if (!ok)
        FAIL("%s: element %d must win; the JVP says %g", name, winner, m->s.dual[0]);
}
#define WINNER(k, a, initial, winner) check_winner(m, #k, kinks_##k, kinks_##k##_grad, kinks_##k##_jvp, a, initial, winner)

int main(void)
{
    kinks *m = kinks_create(NULL, NULL);
    if (!m) {
        printf("%s\n", tk_error());
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(m, &rows[i]);

    static const double ties[N] = {2, 1, 2, 1, 2, 1, 2, 1}, nans[N] = {NAN, NAN, 2, 1, NAN, 1, 2, NAN};
    WINNER(least, ties, 9, 1);
    WINNER(least, ties, 1, -1);
    WINNER(most, ties, 0, 0);
    WINNER(most, ties, 2, -1);
    WINNER(least, nans, 9, 3);
    WINNER(most, nans, 0, 2);
    static const double poles[N] = {1, 0, 1, 2, 1, 0, 2, 1}; /* where the root that does not win is 0, or no number */
    WINNER(most_root, poles, 0, 3);
    WINNER(most_root_atomic, poles, 0, 3);
    WINNER(least_in_order, ties, 9, 7);
    WINNER(least_in_order, ties, 1, 7);

    CHECK_OK(m, kinks_status(m));
    kinks_destroy(m);
    return failures != 0;
}
