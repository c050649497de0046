#include "func_gradients.h"
#include "host.h"

static void same(const char *what, double got, double expected)
{
    if (!near(got, expected, sizeof(func_gradients_real) == 8 ? 1e-9 : 2e-4))
        FAIL("%s: %.10g, not %.10g", what, got, expected);
}

static void check_forces(func_gradients *m)
{
    for (int i = 0; i < m->x.shape[0]; i++) {
        m->x.data[i][0] = (func_gradients_real)(0.01 * i);
        m->x.data[i][1] = (func_gradients_real)(1 - 0.02 * i);
    }
    func_gradients_forces(m);
    for (int i = 0; i < m->x.shape[0]; i++) {
        const double x = (double)m->x.data[i][0], y = (double)m->x.data[i][1];
        same("force x", (double)m->force.data[i][0], -(2 * x + y));
        same("force y", (double)m->force.data[i][1], -(2 * y + x));
        m->force.grad[i][0] = 1;
        m->force.grad[i][1] = 3;
    }
    func_gradients_forces_grad(m);
    same("pull-back of a force, x", (double)m->x.grad[5][0], -5);
    same("pull-back of a force, y", (double)m->x.grad[5][1], -7);
}

static void check_numbers(func_gradients *m)
{
    func_gradients_real four[4], two[2], matrix[2][2];
    func_gradients_Body body;
    func_gradients_in_conditions(m);
    for (int i = 0; i < 100; i++) {
        const double t = 0.1 * i - 3;
        if (fabs(t) > 1e-5 && fabs(t - 0.5) > 1e-5)
            same("in a condition", (double)m->mixed.data[i], t < 0 ? -10 : t > 0.5 ? 2 * t : 10);
    }
    same("trips", m->steps.data[0], 14);
    func_gradients_numbers(m, four);
    same("generic, first", (double)four[0], 30);
    same("generic, second", (double)four[1], 9);
    same("of an expression", (double)four[2], 2 * 1 * 4);
    same("of an expression, second", (double)four[3], 1);
    func_gradients_bodies(m, &body);
    same("pos.x", (double)body.pos[0], 105);
    same("pos.y", (double)body.pos[1], 70);
    same("mass", (double)body.mass, 42);
    same("an integer", body.id, 0);
    same("a bool", body.big, 0);
    func_gradients_matrices(m, matrix);
    same("a b", (double)matrix[0][0] * 10 + (double)matrix[0][1], 8 * 10 - 6);
    same("c d", (double)matrix[1][0] * 10 + (double)matrix[1][1], -4 * 10 + 2);
    func_gradients_along(m, four);
    same("along a struct", (double)four[0], 0);
    same("along a vector", (double)four[1], 3 * (2 + 2) + 4 * (4 + 1));
    same("along numbers of two precisions", (double)four[2], 4 + 0.5 * 12);
    same("generic, along", (double)four[3], 30 + 90);
    func_gradients_in_order(m, two);
    same("arguments before tangents", (double)two[0], 2 * 3 * 2 + 3 * 3);
    func_gradients_precisions(m, two);
    same("f32", (double)two[0], 4);
    same("f64", (double)two[1], 12);
}

static double p(const double *c, double t, int derivative)
{
    return derivative == 0   ? ((c[0] * t + c[1]) * t + c[2]) * t + c[3]
           : derivative == 1 ? (3 * c[0] * t + 2 * c[1]) * t + c[2]
           : derivative == 2 ? 6 * c[0] * t + 2 * c[1]
                             : 6 * c[0];
}

static void check_nested(func_gradients *m, const double *c)
{
    func_gradients_real four[4];
    func_gradients_nested(m, (func_gradients_real)0.7, four);
    same("a gradient inside a gradient", (double)four[0], 4 * 0.7);
    same("and of a field's values", (double)four[1], 4 * 0.7 * p(c, 0.7, 1));
    same("linear and constant", (double)four[2], 3);
    double t = 0.7, d = 1;
    for (; t < 100; t = t * t * 0.5 + t)
        d *= t + 1;
    same("without a bound", (double)four[3], d);
}

static void check_newton(func_gradients *m, const double *c)
{
    m->at.data[0] = 1;
    func_gradients_newton(m);
    double expected[4] = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const double t = (1 + sqrt(7)) / 3, bend = p(c, t, 2);
        same("an extremum", (double)m->found.data[k], t);
        expected[0] -= 3 * t * t / bend;
        expected[1] -= 2 * t / bend;
        expected[2] -= 1 / bend;
        m->found.grad[k] = 1;
    }
    tk_module_clear_grad(&m->tk);
    for (int k = 0; k < 3; k++)
        m->found.grad[k] = 1;
    func_gradients_newton_grad(m);
    for (int k = 0; k < 4; k++)
        same("by a coefficient", (double)m->c.grad[k], expected[k]);
    same("by the start", (double)m->at.grad[0], 0);

    tk_module_clear_grad(&m->tk);
    m->at.grad[0] = 2;
    func_gradients_by_fields_grad(m);
    same("a field that f reads", (double)m->c.grad[0], 2 * 3 * 0.25);
    same("another element", (double)m->c.grad[1], 2 * 2 * 0.5);
    same("the constant term", (double)m->c.grad[3], 0);
}

int main(void)
{
    static const double c[4] = {1, -1, -2, 0.25};
    func_gradients *m = func_gradients_create(NULL, NULL);
    if (!m)
        return 1;
    for (int k = 0; k < 4; k++)
        m->c.data[k] = (func_gradients_real)c[k];
    check_forces(m);
    check_numbers(m);
    check_nested(m, c);
    check_newton(m, c);
    CHECK_OK(m, func_gradients_status(m));
    func_gradients_destroy(m);
    return failures != 0;
}
