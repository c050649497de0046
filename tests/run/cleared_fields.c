#include "cleared_fields.h"
#include "host.h"

static void expect(const char *what, const double *got, int n, double want)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want) <= 1e-9))
            FAIL("%s: %g, expected %g", what, got[i], want);
}

static void fill(cleared_fields *m, double x)
{
    for (int i = 0; i < 5; i++) {
        m->x.data[i] = x;
        m->x.grad[i] = 0.0;
    }
}

int main(void)
{
    cleared_fields *m = cleared_fields_create(NULL, NULL);
    if (!m)
        return 1;
    fill(m, 7.0);
    cleared_fields_gradient_behind(m);
    expect("gradient_behind", m->x.data, 5, 0.0);
    expect("gradient_behind, gradient", m->x.grad, 5, 2.0);

    fill(m, 7.0);
    cleared_fields_function_behind(m);
    expect("function_behind", m->x.data, 5, 10.0);

    fill(m, 7.0);
    cleared_fields_adjoint_behind(m);
    for (int i = 0; i < 5; i++) /* x[i] is zero in the first i + 1 of 5 adjoints, and 3 behind them */
        expect("adjoint_behind", &m->x.grad[i], 1, (4.0 - i) * 6.0);

    CHECK_OK(m, cleared_fields_status(m));
    cleared_fields_destroy(m);
    return failures != 0;
}
