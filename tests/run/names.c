#include "names.h"
#include "host.h"

typedef __typeof__(*((names *)0)->x.data) real;

static void check_exports(void)
{
    real x[3] = {1, 2, 3}, x_grad[3] = {0}, scale_grad = 0, a_grad = 0, b_grad = 0, value = 0;
    const real one = 1;
    names_step(3, 5, &value);
    CHECK_NEAR(value, 45, 0);
    names_step_grad(3, 5, &value, &one, &a_grad, &b_grad);
    CHECK_NEAR(value, 45, 0);
    CHECK_NEAR(a_grad, 30, 0);
    CHECK_NEAR(b_grad, 9, 0);
    names_smooth(3, x, 2, &value);
    CHECK_NEAR(value, 28, 0);
    names_smooth_grad(3, x, 2, &value, &one, x_grad, &scale_grad);
    CHECK_NEAR(value, 28, 0);
    CHECK_NEAR(x_grad[2], 12, 0);
    CHECK_NEAR(scale_grad, 14, 0);
}

int main(void)
{
    names *m = names_create(NULL, NULL);
    if (!m)
        return 1;
    check_exports();
    for (int i = 0; i < 4; i++)
        m->x.data[i] = (real)(i + 1);

    /* y = 2 * 3 = 6; 36 * (1 + 2 + 3 + 4) */
    names_norm(m, 3, 2);
    CHECK_NEAR(m->loss.data[0], 360, 0);
    m->loss.grad[0] = 1;
    real slope = 0;
    names_norm_grad(m, 3, 2, &slope);
    CHECK_NEAR(slope, 240, 1e-6);

    /* with s = 3 x^2: 2 (s + 1) + 1 + s + 1 */
    m->loss.data[0] = 0;
    TK_TAPE(m, m->loss) names_elements(m);
    CHECK_NEAR(m->loss.data[0], 9.0 * 30 + 16, 1e-6);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(m->x.grad[i], 18 * (i + 1), 1e-6);

    real in[2] = {1, 3}, out[2];
    names_host_arrays(m, 2, in, out);
    CHECK_NEAR(out[0], 2 + 10, 0);
    CHECK_NEAR(out[1], 6 + 18, 0);

    names_built_in(m);
    const double want[] = {13, 20, 5, 10, 0.6};
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(m->values.data[i], want[i], 1e-6);
    CHECK_OK(m, names_status(m));
    names_destroy(m);
    return failures != 0;
}
