#include "reference_b.h"
#include "host.h"

#include <tkc/tkc_gen.h>

static int calls;
static reference_b *m;

double noted(double a)
{
    calls++;
    return exp(a);
}

void largest(const double A[4][4], double result[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            result[i][j] = 7 * A[3][3];
}

double bent(double a, int32_t i, const double v[2])
{
    return 2 * a * a + 0.5 * (v[0] * v[0] + v[1] * v[1]) + i;
}

void rotated(const double v[2], double result[2])
{
    result[0] = -v[1];
    result[1] = v[0];
}

void rotated_back(const double v[2], const double seed[2], double result[2])
{
    result[0] = seed[1];
    result[1] = -seed[0];
    (void)v;
}

static const tk_kernel *kernel_named(const char *name)
{
    const tk_kernel *k = m->tk.desc->kernels;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

static void fill(double a, double b, double c, double d)
{
    const double x[4] = {a, b, c, d};
    memcpy(m->x.data, x, sizeof x);
    memset(m->y.data, 0, sizeof x);
    m->U.data[0] = 0;
    tk_session_clear_grad(tk_module_session(&m->tk));
}

/* What is chosen when the module is created, later, and never. */
static void params(void)
{
    reference_b_params p = reference_b_defaults();
    CHECK(p.N == 20000 && p.SCALE == 2 && m->none.shape[0] == 0);
    fill(1, 2, 3, 4);
    CHECK(reference_b_scaled(m) == TK_OK && m->y.data[3] == 8);
    p.SCALE = 10;
    CHECK(reference_b_set_params(m, &p) == TK_OK && reference_b_scaled(m) == TK_OK && m->y.data[3] == 40);
    p.NONE = 1;
    CHECK(reference_b_set_params(m, &p) == TK_BAD_ARGUMENT && m->none.shape[0] == 0);
    tk_session_clear_error(tk_module_session(&m->tk));
    p.N = 7;
    p.SCALE = 3;
    reference_b *other = reference_b_create(NULL, &p);
    CHECK(other && other->sized.shape[0] == 15 && other->sized.shape[1] == 5 && other->none.shape[0] == 1);
    if (!other)
        return;
    other->x.data[3] = 5;
    CHECK(reference_b_scaled(other) == TK_OK && other->y.data[3] == 15 && m->y.data[3] == 40 && m->x.data[3] == 4);      /* memory of one module */
    reference_b_destroy(other);
    p.NONE = -1;
    CHECK(!reference_b_create(NULL, &p) && strstr(tk_error(), "negative"));
    p = reference_b_defaults();
    CHECK(reference_b_set_params(m, &p) == TK_OK);
}

/* lazy_grad and lazy_dual of an imported file. */
static void lazy(void)
{
    CHECK(tk_field_grad(m->theirs.field) && tk_field_dual(m->theirs.field) && !tk_field_grad(m->counted.field) && !tk_field_dual(m->counted.field));
    CHECK(!tk_field_grad(m->ours.field) && !tk_field_dual(m->ours.field) && !tk_field_grad(m->far.field));
    m->theirs.grad[1] = 3;
    CHECK(reference_b_theirs_doubled_grad(m) == TK_OK && m->theirs.grad[1] == 6);
}

static void arguments(void)
{
    const double v[2] = {2, 3}, A[2][2] = {{4, 5}, {6, 7}};
    const reference_b_Pair p = {8, 9, {10, 11}};
    CHECK(reference_b_kinds(m, 1, v, A, p, 12, true) == TK_OK);
    reference_b_Pair g = {0};
    fill(0, 0, 0, 0);
    m->U.grad[0] = 1;
    CHECK(reference_b_by_struct_grad(m, p, &g) == TK_OK && g.a == 16 && g.b[0] == 27 && g.b[1] == 0 && g.n == 0);
    const double a[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}}, b[3] = {0, 0, 10}, c[2] = {0, 100}, d[2] = {0, 1000};
    CHECK(reference_b_extents(m, 2, a[0], b, c, d) == TK_OK);

    double in[3] = {2, 3, 4}, out[3] = {9, 9, 9}, read[3] = {9, 9, 9}, in_grad[3] = {100, 0, 0}, out_grad[3] = {1, 2, 3}, read_grad[3] = {10, 20, 30};
    CHECK(reference_b_read_again(m, 3, in, out, read) == TK_OK && out[2] == 16 && read[0] == 9 && read[2] == 48);
    CHECK(reference_b_read_again_grad(m, 3, in, out, read, out_grad, read_grad, in_grad) == TK_OK);
    CHECK(in_grad[0] == 100 + 2 * 2 * 1 && in_grad[1] == 2 * 3 * (2 + 60 + 10) && in_grad[2] == 2 * 4 * (3 + 90));
    CHECK(out_grad[0] == 1 && out_grad[1] == 2 && out_grad[2] == 3 && read_grad[0] == 10 && read_grad[1] == 20 && read_grad[2] == 30);

    reference_b_Pair s;
    CHECK(reference_b_summary(m, 3, in, &s) == TK_OK && s.a == 9 && s.n == 3 && s.b[0] == 2 && s.b[1] == 4);
    double once[3] = {9, 9, 9};
    CHECK(reference_b_four_times(m, 3, in, once, out) == TK_OK && once[2] == 8 && out[0] == 8 && out[2] == 16);
}

static void parts(void)
{
    fill(1, 2, 3, 4);
    m->U.grad[0] = 1;
    CHECK(reference_b_in_order(m, 10) == TK_OK && m->U.data[0] == 300);
    CHECK(reference_b_in_order_grad(m, 10) == TK_OK && m->x.grad[3] == 80);
    CHECK(reference_b_launches(m) == TK_OK);
    const tk_kernel *k = kernel_named("squares");
    CHECK(k->grad && k->jvp && !k->hvp);
    k = kernel_named("second");
    CHECK(k->grad && k->jvp && k->hvp);
    k = kernel_named("no_second");
    CHECK(k->grad && !k->jvp && !k->hvp);
    k = kernel_named("functions");
    CHECK(!k->grad && !k->jvp && !k->hvp);
}

/* C functions: called again by an adjoint, not called for a result that nobody needs. */
static void externs(void)
{
    fill(1, 2, 3, 4);
    CHECK(reference_b_kept(m) == TK_OK && calls > 0);
    calls = 0;
    m->U.grad[0] = 1;
    CHECK(reference_b_kept_grad(m) == TK_OK && calls > 0 && fabs(m->x.grad[0] - 2 * exp(2)) < 1e-12);
    calls = 0;
    CHECK(reference_b_unused(m) == TK_OK && calls == 0);
    fill(1, 2, 3, 4);
    m->U.grad[0] = 1;
    CHECK(reference_b_bends(m) == TK_OK && m->U.data[0] == 2 + 6.5 + 3);
    CHECK(reference_b_bends_grad(m) == TK_OK && m->x.grad[0] == 4 && m->x.grad[1] == 2 && m->x.grad[2] == 3);
    fill(1, 2, 3, 4);
    m->U.grad[0] = 1;
    CHECK(reference_b_rotates(m) == TK_OK && m->U.data[0] == 8 && reference_b_rotates_grad(m) == TK_OK && m->x.grad[0] == 10 && m->x.grad[1] == -1);
    CHECK(reference_b_turned(m) == TK_OK);
}

static void exports(void)
{
    double y, y_dual, g = 0, g_dual = 0, one = 1, zero = 0;
    reference_b_cube_hvp(2, &one, &y, &y_dual, &one, &zero, &g, &g_dual);
    CHECK(y == 8 && g == 12 && g_dual == 12);
    reference_b_cube_less(2, &y);
    CHECK(y == 7 && reference_b_calls_export(m) == TK_OK);
    reference_b_no_derivative(3, &y);
    CHECK(y == 0.75);
    static _Alignas(8) unsigned char work[reference_b_until_grad_WORKSPACE(4) + reference_b_mixed_grad_WORKSPACE(2, 3)];
    reference_b_until(2, 4, &y);
    CHECK(y == 256);
    g = 0;
    reference_b_until_grad(2, 4, &y, &one, &g, work);
    CHECK(g == 8 * 128);
    double b[2] = {1, 2}, c[2] = {9, 9}, b_grad[2] = {1, 5}, c_grad[2] = {7, 2};
    reference_b_mixed(2, b, c, 3);
    CHECK(b[0] == 8 && b[1] == 1 && c[0] == 0 && c[1] == 7);
    b[0] = 1;
    b[1] = 2;
    reference_b_mixed_grad(2, b, c, 3, c_grad, b_grad, work);     /* of 2 b0 (2 b0 + b1), and 2 (2 b0 + b1) */
    CHECK(b_grad[0] == 8 + 4 + 4 && b_grad[1] == 2 + 2);
}

int main(void)
{
    m = reference_b_create(NULL, NULL);
    if (!m)
        return 1;
    CHECK(reference_b_constants(m) == TK_OK);
    params();
    lazy();
    CHECK(reference_b_functions(m) == TK_OK);
    CHECK(fabs(m->far.data[1] - 1.5) < 1e-15 && m->far.data[19999] == 2);
    arguments();
    CHECK(reference_b_calls_kernels(m) == TK_OK);
    parts();
    externs();
    exports();
    CHECK(m->wrong.data[0] == 0);
    CHECK_OK(m, reference_b_status(m));
    reference_b_destroy(m);
    return failures != 0;
}
