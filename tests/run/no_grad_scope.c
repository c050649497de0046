#include "no_grad_scope.h"
#include "host.h"

static void expect(const char *what, int i, double got, double want)
{
    if (!near(got, want, 1e-9))
        FAIL("%s %d: %.15g, not %.15g", what, i, got, want);
}

static const double T = 0.7;

/* What stands in y and v behind `change`: a number, and its derivative by x[i], with what change computes as a constant. */
static void model(int i, double x, double *y, double *dy, double *v, double *dv)
{
    *y = i < 2 ? T * x : i < 4 ? x * x * x + T * x : x * x * x;
    *dy = i < 2 ? 0 : 3 * x * x;
    *v = i == 3 || i == 4 ? T * x * x * x * x : x * x * x * x;
    *dv = i == 3 || i == 4 ? 0 : 4 * x * x * x;
}

static void launch(no_grad_scope *m)
{
    memset(m->loss.data, 0, sizeof(double));
    no_grad_scope_square(m);
    no_grad_scope_change(m, T);
    no_grad_scope_counts(m, T);
    no_grad_scope_total(m);
}

int main(void)
{
    no_grad_scope *m = no_grad_scope_create(NULL, NULL);
    tk_session *s = tk_module_session(&m->tk);
    tk_field *const outputs[] = {m->loss.field};
    for (int i = 0; i < 8; i++)
        m->x.data[i] = 0.3 + 0.2 * i;
    for (int k = 0; k < 8; k++) {
        double seed[8] = {0}, y, dy, v, dv;
        seed[k] = 1;
        model(k, m->x.data[k], &y, &dy, &v, &dv);
        const double slope = 2 * y * dy + 2 * v * dv, x = m->x.data[k];
        tk_forward_begin(outputs, 1, m->x.field, seed, 8);
        memset(m->loss.dual, 0, sizeof(double));
        launch(m);
        expect("dual", k, m->loss.dual[0], slope);
        tk_forward_end(s);

        tk_forward_begin(outputs, 1, m->x.field, seed, 8);
        memset(m->loss.dual, 0, sizeof(double));
        TK_TAPE(m, m->loss)
            launch(m);
        tk_forward_end(s);
        expect("dual on a tape", k, m->loss.dual[0], slope);
        expect("gradient", k, m->x.grad[k], slope);
        /* dy/dx, dv/dx and their own derivatives, the constants left alone */
        const double ddy = k < 2 ? 0 : 6 * x, ddv = k == 3 || k == 4 ? 0 : 12 * x * x;
        expect("second", k, m->x.grad_dual[k], 2 * (dy * dy + y * ddy) + 2 * (dv * dv + v * ddv));
        expect("count", k, m->n.data[0], 5);
    }
    memset(m->x.dual, 0, 8 * sizeof(double));
    double seed[8] = {1};
    for (int k = 0; k < 2; k++) {
        tk_forward_begin(outputs, 1, m->x.field, seed, 8);
        const tk_status st = k ? no_grad_scope_least(m) : no_grad_scope_reads(m);
        CHECK_STATUS(m, st, TK_NO_DERIVATIVE,
                     "it is marked no_grad, and uses duals, or sets minima or maxima of a field that has them");
        tk_forward_end(s);
        tk_session_clear_error(s);
    }
    no_grad_scope_destroy(m);
    return failures != 0;
}
