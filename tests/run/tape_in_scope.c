#include "tape_in_scope.h"
#include "host.h"

/* The gradient in double, by hand: loss = sum (a x_i^2 x_j)^2, j = i + 1. */
static void gradient(const double *x, double *g)
{
    memset(g, 0, 4 * sizeof *g);
    for (int i = 0; i < 4; i++) {
        const int j = (i + 1) % 4;
        g[i] += 1.5 * 1.5 * 4 * x[i] * x[i] * x[i] * x[j] * x[j];
        g[j] += 1.5 * 1.5 * 2 * x[i] * x[i] * x[i] * x[i] * x[j];
    }
}

static void saved_gradient(const double *x, double *g)
{
    for (int i = 0; i < 4; i++)
        g[i] = 8 * pow(x[i], 7) * (1 + pow(x[(i + 1) % 4], 2)) + pow(x[(i + 3) % 4], 8) * 2 * x[i];
}

/* State in place: the tape takes data and duals back together. */
static void saved_state(tape_in_scope *m)
{
    tk_session *s = tk_module_session(&m->tk);
    tk_field *const outputs[] = {m->loss.field};
    double x[4], g[4], up[4], down[4];
    for (int i = 0; i < 4; i++) {
        x[i] = 1 + i / 8.0;
        m->x.data[i] = 1;
        m->x.data[i] += (float)i / 8;
    }
    for (int k = 0; k < 4; k++) {
        memset(m->y.data, 0, tk_field_bytes(m->y.field));
        m->y.data[k] = 1;
        tk_forward_begin(outputs, 1, m->x.field, m->y.data, 4);
        TK_TAPE(m, m->loss) {
            tape_in_scope_begin(m);
            for (int n = 0; n < 3; n++)
                tape_in_scope_square(m);
            tape_in_scope_sum(m);
        }
        saved_gradient(x, g);
        x[k] += 1e-5;
        saved_gradient(x, up);
        x[k] -= 2e-5;
        saved_gradient(x, down);
        x[k] += 1e-5;
        for (int i = 0; i < 4; i++) {
            const double want = (up[i] - down[i]) / 2e-5, got = (double)m->x.grad_dual[i];
            if (fabs((double)m->x.grad[i] - g[i]) > 1e-4 * fabs(g[i]) || fabs(got - want) > 1e-4 * (1 + fabs(want)))
                FAIL("in place: H[%d][%d] is %g instead of %g; gradient %g, %g", i, k, got, want, (double)m->x.grad[i],
                     g[i]);
        }
        const double v = pow(x[k], 8) * (1 + pow(x[(k + 1) % 4], 2)); /* the last state is there again, with its dual */
        CHECK(fabs((double)m->v.data[k] - v) <= 1e-4 * v && fabs((double)m->v.dual[k] - 8 * v / x[k]) <= 1e-3 * v &&
              m->n.data[0] == 3);
        tk_forward_end(s);
    }
    /* by hand: the launch before must have carried duals */
    tape_in_scope_square(m);
    CHECK_STATUS(m, tape_in_scope_square_hvp(m), TK_BAD_STATE,
                 "the HVP of kernel 'square' needs the record of its last JVP");
    tape_in_scope_square_jvp(m);
    CHECK(tape_in_scope_square_hvp(m) == TK_OK);
}

int main(void)
{
    tape_in_scope *m = tape_in_scope_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    tk_field *const outputs[] = {m->loss.field};
    double x[4];
    for (int i = 0; i < 4; i++) {
        m->x.data[i] = 1;
        m->x.data[i] += i;
        m->x.data[i] /= 2;
        x[i] = (i + 1) / 2.0;
    }
    for (int k = 0; k < 4; k++) {
        memset(m->y.data, 0, tk_field_bytes(m->y.field)); /* also a seed of zeros */
        m->y.data[k] = 1;
        tk_forward_begin(outputs, 1, m->x.field, m->y.data, 4);
        for (int again = 0; again < 2; again++) { /* a second tape in the scope starts afresh */
            TK_TAPE(m, m->loss) {
                tape_in_scope_squares(m, 1.5f);
                tape_in_scope_total(m);
            }
        }
        tk_forward_end(s); /* the results stay, but for the seed */
        for (int i = 0; i < 4; i++)
            CHECK(m->x.dual[i] == 0);
        double g[4], up[4], down[4];
        gradient(x, g);
        x[k] += 1e-5;
        gradient(x, up);
        x[k] -= 2e-5;
        gradient(x, down);
        x[k] += 1e-5;
        CHECK(fabs((double)m->loss.dual[0] - g[k]) <= 1e-5 * fabs(g[k]));
        for (int i = 0; i < 4; i++) {
            const double want = (up[i] - down[i]) / 2e-5;
            if (fabs((double)m->x.grad[i] - g[i]) > 1e-5 * fabs(g[i]) ||
                fabs((double)m->x.grad_dual[i] - want) > 1e-4 * (1 + fabs(want)))
                FAIL("H[%d][%d] is %g instead of %g; gradient %g, %g", i, k, (double)m->x.grad_dual[i], want,
                     (double)m->x.grad[i], g[i]);
        }
    }
    CHECK_OK(m, tape_in_scope_status(m));

    TK_TAPE(m, m->loss) {
        tape_in_scope_squares(m, 1.5f);
        tape_in_scope_total(m);
        tape_in_scope_turn(m);
    }
    CHECK_OK(m, tape_in_scope_status(m));

    memset(m->y.data, 0, tk_field_bytes(m->y.field));
    tk_forward_begin(outputs, 1, m->x.field, m->y.data, 4);
    tk_tape_begin(m->loss.field, 0);
    CHECK_STATUS(m, tape_in_scope_first_order(m), TK_NO_DERIVATIVE,
                 "kernel 'first_order' of module 'tape_in_scope' has no second-order product, which a tape inside a "
                 "forward scope needs");
    CHECK_STATUS(m, tk_forward_end(s), TK_BAD_STATE, "the tape inside the scope (on field 'loss') is still open");
    tk_tape_drop(s);
    CHECK_STATUS(m, tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE), TK_BAD_STATE, "cannot be validated");
    tk_forward_end(s);
    tk_session_clear_error(s);
    saved_state(m);
    tape_in_scope_destroy(m);
    return failures != 0;
}
