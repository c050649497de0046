#include "reference_c_derivatives.h"
#include "host.h"

#include <float.h>

#include <tkc/tkc_gen.h>

typedef reference_c_derivatives module;
typedef tk_status launch(module *m);

static void set(double *p, double v)
{
    for (int i = 0; i < 4; i++)
        p[i] = v;
}

static void clear(module *m)
{
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
}

/* ---- what a launch, an adjoint and a JVP do to data, gradients and duals ---- */

static void planes(module *m)
{
    clear(m);
    set(m->x.data, 3);
    set(m->x.grad, 10);
    set(m->y.grad, 1);
    set(m->z.grad, 1);
    reference_c_derivatives_stores(m);
    set(m->y.data, 99);
    reference_c_derivatives_stores_grad(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->x.grad[i] == 15 && m->y.grad[i] == 0 && m->z.grad[i] == 1 && m->y.data[i] == 99 && m->x.data[i] == 3);
    reference_c_derivatives_stores_grad(m); /* it adds, and of y nothing is left */
    for (int i = 0; i < 4; i++)
        CHECK(m->x.grad[i] == 18 && m->z.grad[i] == 1);

    set(m->x.dual, 1);
    set(m->y.dual, 7);
    set(m->z.dual, 7);
    reference_c_derivatives_stores_jvp(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->y.dual[i] == 2 && m->z.dual[i] == 10 && m->y.data[i] == 6);

    clear(m);
    set(m->x.data, 3);
    set(m->y.grad, 1);
    reference_c_derivatives_squares_grad(m); /* an adjoint stores no values, and needs those of x only */
    for (int i = 0; i < 4; i++)
        CHECK(m->x.grad[i] == 6 && m->y.data[i] == 6);
}

static void of_planes(module *m)
{
    CHECK(tk_module_need_grad_dual(&m->tk) == TK_OK);
    clear(m);
    set(m->x.data, 3);
    set(m->x.grad, 5);
    set(m->x.dual, 2);
    set(m->x.grad_dual, 7);
    reference_c_derivatives_by_planes_jvp(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->z.data[i] == 15 && m->z.dual[i] == 3 * 7 && m->y.dual[i] == 2);
    set(m->x.grad_dual, 0);
}

/* A tangent of zero times infinity is NaN; a field that has none adds nothing. */
static void zero_tangents(module *m)
{
    clear(m);
    set(m->z.data, 0);
    set(m->plain.data, 0);
    set(m->x.dual, 1);
    reference_c_derivatives_roots_jvp(m);
    for (int i = 0; i < 4; i++)
        CHECK(isnan(m->y.dual[i]));
    reference_c_derivatives_roots_of_constants_jvp(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->y.dual[i] == 1);
}

static void casts(module *m)
{
    clear(m);
    set(m->y.grad, 0.1);
    reference_c_derivatives_cast_grad(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->x.grad[i] == (double)0.1f && m->single.grad[i] == 0.1f);
    clear(m);
    set(m->x.dual, 0.1);
    reference_c_derivatives_cast_jvp(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->y.dual[i] == (double)0.1f);
}

static void parameters(module *m)
{
    const double one = 1, two = 2;
    double b_grad = 10; /* added into */
    clear(m);
    set(m->y.grad, 1);
    reference_c_derivatives_by_parameters_grad(m, 3, 5, 7, &b_grad);
    CHECK(near(b_grad, 10 + 4 * 3 * 7, 1e-12));
    reference_c_derivatives_by_parameters_jvp(m, 3, &one, 5, &two, 7);
    for (int i = 0; i < 4; i++)
        CHECK(near(m->y.dual[i], (1 * 5 + 3 * 2) * 7, 1e-12));
}

/* Derivatives of y by x and by z, in both modes. */
static void slopes(module *m, const char *what, launch *run, launch *grad, launch *jvp, double by_x, double by_z)
{
    clear(m);
    set(m->y.grad, 1);
    run(m);
    grad(m);
    for (int i = 0; i < 4; i++)
        if (!near(m->x.grad[i], by_x, 1e-12) || !near(m->z.grad[i], by_z, 1e-12))
            FAIL("%s: gradients %g %g, not %g %g", what, m->x.grad[i], m->z.grad[i], by_x, by_z);
    for (int k = 0; k < 2; k++) {
        clear(m);
        set(k ? m->z.dual : m->x.dual, 1);
        jvp(m);
        if (!near(m->y.dual[2], k ? by_z : by_x, 1e-12))
            FAIL("%s: JVP %d is %g", what, k, m->y.dual[2]);
    }
}

static tk_status limited(module *m) { return reference_c_derivatives_limited(m, 3); }
static tk_status limited_grad(module *m) { return reference_c_derivatives_limited_grad(m, 3); }
static tk_status limited_jvp(module *m) { return reference_c_derivatives_limited_jvp(m, 3); }
static tk_status taken(module *m) { return reference_c_derivatives_taken_elements(m, 1); }
static tk_status taken_grad(module *m) { return reference_c_derivatives_taken_elements_grad(m, 1); }
static tk_status taken_jvp(module *m) { return reference_c_derivatives_taken_elements_jvp(m, 1); }

static void constructs(module *m)
{
    set(m->x.data, 1.5);
    set(m->z.data, 2);
    slopes(m, "replaced", reference_c_derivatives_replaced, reference_c_derivatives_replaced_grad, reference_c_derivatives_replaced_jvp, 2 * 1.5, 2 * 2 * 2);
    slopes(m, "limited", limited, limited_grad, limited_jvp, 3 * 1.5 * 1.5, 0);
    CHECK(near(m->y.data[0], 1.5 * 1.5 * 1.5, 1e-12));
    slopes(m, "taken", taken, taken_grad, taken_jvp, 1000, 1 + 10 * 3); /* z[i] + 10 * 3 z[i] + 1000 x[i] */
}

/* ---- decompositions where they have no derivatives ---- */

static void set3(module *m, double a, double b, double c)
{
    const double s[3] = {a, b, c};
    for (int i = 0; i < 9; i++)
        m->A3.data[0][i / 3][i % 3] = i % 4 ? 0 : s[i / 3];
}

static double least, most; /* of what the gradient of A3 has */

static void gradient3(module *m)
{
    least = INFINITY;
    most = 0;
    for (int i = 0; i < 9; i++) {
        const double g = fabs(m->A3.grad[0][i / 3][i % 3]);
        if (!isfinite(g))
            most = INFINITY;
        least = fmin(least, g);
        most = fmax(most, g);
    }
}

/* The gradient of R[i, j]. */
static double turned(module *m, tk_status (*run)(module *, int32_t, int32_t), tk_status (*grad)(module *, int32_t, int32_t), int i, int j)
{
    clear(m);
    run(m, i, j);
    m->e.grad[0] = 1;
    grad(m, i, j);
    gradient3(m);
    return m->A3.grad[0][i][j];
}
#define POLAR(i, j) turned(m, reference_c_derivatives_polar3, reference_c_derivatives_polar3_grad, i, j)
#define ROTATION(i, j) turned(m, reference_c_derivatives_rotation3, reference_c_derivatives_rotation3_grad, i, j)

static double slope2(module *m, double a, double b, double more)
{
    double worst = 0;
    clear(m);
    m->A2.data[0][0][0] = a;
    m->A2.data[0][0][1] = m->A2.data[0][1][0] = 0;
    m->A2.data[0][1][1] = b;
    reference_c_derivatives_almost_alone(m, more);
    m->e.grad[0] = 1;
    reference_c_derivatives_almost_alone_grad(m, more);
    for (int i = 0; i < 4; i++)
        worst = fmax(worst, fabs(m->A2.grad[0][i / 2][i % 2]));
    return worst;
}

static void singular(module *m)
{
    static const double flat[2][2] = {{1, 2}, {2, 4}};
    clear(m);
    memcpy(m->A2.data, flat, sizeof flat);
    reference_c_derivatives_solved(m);
    m->e.grad[0] = 1;
    reference_c_derivatives_solved_grad(m);
    CHECK(!isfinite(m->e.data[0]));
    for (int i = 0; i < 4; i++)
        CHECK(!isfinite(m->A2.grad[0][i / 2][i % 2]));

    clear(m);
    memset(m->A2.data, 0, sizeof flat);
    m->e.grad[0] = 1;
    reference_c_derivatives_polar2_grad(m);
    CHECK(!(fabs(m->A2.grad[0][0][1]) < 1e10));

    set3(m, 2, 0, 0);
    POLAR(1, 2);
    CHECK(isnan(m->A3.grad[0][1][2]));
    /* of diag(s), R[i, j] has the derivative 1 / (s[i] + s[j]) by A[i, j], also where values agree or one of them is zero */
    set3(m, 2, 2, 1);
    CHECK(near(POLAR(0, 1), 0.25, 1e-12) && most < 1);
    CHECK(near(ROTATION(0, 1), 0.25, 1e-12) && near(ROTATION(1, 2), 1.0 / 3, 1e-12));
    set3(m, 2, 1, 0);
    CHECK(near(POLAR(1, 2), 1, 1e-12));
    CHECK(near(ROTATION(1, 2), 1, 1e-12) && near(ROTATION(0, 2), 0.5, 1e-12));
    /* rotations: the least value has the sign of the determinant, and where it is the opposite of the next one they jump */
    set3(m, 2, 1, -0.5);
    CHECK(near(ROTATION(1, 2), 1 / (1 - 0.5), 1e-12));
    set3(m, 2, 1, -1);
    CHECK(!(fabs(ROTATION(1, 2)) < 1e10));
    CHECK(near(fabs(POLAR(0, 1)), 1.0 / 3, 1e-12) && most < 1); /* with reflections nothing happens there */
}

/* Values that agree: the derivative for the vectors that were returned. */
static void equal_values(module *m)
{
    set3(m, 2, 2, 2);
    clear(m);
    reference_c_derivatives_singular_value(m);
    m->e.grad[0] = 1;
    reference_c_derivatives_singular_value_grad(m);
    for (int i = 0; i < 9; i++)
        CHECK(near(m->A3.grad[0][i / 3][i % 3], m->kept3.data[0][i / 3][1] * m->kept3.data[1][i % 3][1], 1e-12));
    clear(m);
    reference_c_derivatives_eigenvalue(m);
    m->e.grad[0] = 1;
    reference_c_derivatives_eigenvalue_grad(m);
    for (int i = 0; i < 9; i++)
        CHECK(near(m->A3.grad[0][i / 3][i % 3], m->kept3.data[0][i / 3][1] * m->kept3.data[0][i % 3][1], 1e-12));
    for (int k = 0; k < 3; k++) {
        set3(m, 2, k > 0 ? 2 : 1, k > 1 ? 2 : 1);
        clear(m);
        m->e.grad[0] = 1;
        reference_c_derivatives_one_vector_grad(m);
        gradient3(m);
        CHECK(isfinite(most));
    }
    /* a turn that is asked for by no more than 16 units in the last place is none */
    CHECK(slope2(m, 1 + 2 * DBL_EPSILON, 1, 0) < 2);
    CHECK(slope2(m, 1 + 2 * DBL_EPSILON, 1, 8 * DBL_EPSILON) < 2);
    CHECK(slope2(m, 1 + 2 * DBL_EPSILON, 1, 100 * DBL_EPSILON) > 10);
    CHECK(slope2(m, 1, 1, 0.5) < 2);
}

static void turns(module *m)
{
    static const double twice[2][2] = {{2, 0}, {0, 2}};
    memcpy(m->A2.data, twice, sizeof twice);
    clear(m);
    m->e.grad[0] = 1;
    reference_c_derivatives_stretch_of_equal_grad(m);
    CHECK(near(m->A2.grad[0][0][1], 0.5, 1e-12) && near(m->A2.grad[0][1][0], 0.5, 1e-12));
    clear(m);
    m->e.grad[0] = 1;
    reference_c_derivatives_turn_of_equal_grad(m);
    CHECK(isfinite(m->A2.grad[0][0][1]) && fabs(m->A2.grad[0][0][1] - 0.5) > 0.1);
}

static void powers(module *m)
{
    for (int k = -40; k <= 40; k++) {
        for (int i = 0; i < 4; i++) {
            m->x.data[i] = 1.1 * i - 2;
            m->single.data[i] = (float)m->x.data[i];
        }
        if (k >= -7 && k <= 7)
            continue;
        reference_c_derivatives_powers_of_f64(m, k);
        for (int i = 0; i < 4; i++) {
            const double x = 1.1 * i - 2;
            CHECK(m->single.data[i] == (float)pow((double)(float)x, k) && m->y.data[i] == pow(x, k) && m->z.data[i] == pow(x, 65));
        }
    }
}

int main(void)
{
    module *m = reference_c_derivatives_create(NULL, NULL);
    if (!m)
        return 2;
    reference_c_derivatives_in_order(m);
    reference_c_derivatives_inside(m);
    CHECK(m->y.data[0] == 58 && m->y.data[3] == 58);
    planes(m);
    of_planes(m);
    zero_tangents(m);
    casts(m);
    parameters(m);
    constructs(m);
    singular(m);
    equal_values(m);
    turns(m);
    powers(m);
    CHECK(m->wrong.data[0] == 0);
    CHECK_OK(m, reference_c_derivatives_status(m));
    reference_c_derivatives_destroy(m);
    return failures != 0;
}
