#include "gradcheck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void reset(gradcheck *m)
{
    for (int i = 0; i < 5; i++) {
        m->x.data[i] = 0;
        m->x.data[i] += 3 + i;
        m->x.data[i] /= 4;
        m->g.data[i] = m->x.data[i];
    }
}

static void expect(gradcheck *m, const char *what, tk_status got, tk_status want, const char *message)
{
    if (got != want || gradcheck_status(m) != want || !strstr(gradcheck_error(m), message)) {
        printf("%s: %s '%s' instead of %s '%s'\n", what, tk_status_name(got), gradcheck_error(m), tk_status_name(want), message);
        failed = 1;
    }
    tk_session_clear_error(tk_module_session(&m->tk));
    for (int i = 0; i < 5; i++) {
        if (fabs((double)m->x.data[i] - (3 + i) / 4.0) > 1e-6) {
            printf("%s: x[%d] was left changed\n", what, i);
            failed = 1;
        }
    }
    reset(m);
}

static void right(void *user)
{
    gradcheck_in_place(user);
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_total(user);
}

static void overwriting(void *user) /* breaks the data rule */
{
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_in_place(user);
}

static void right_without_dual(void *user)
{
    gradcheck_only_grad(user);
}

static void wrong(void *user)
{
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_hidden(user);
}

static void unlike(void *user) /* what the host does is not differentiated */
{
    gradcheck *m = user;
    gradcheck_total(m);
    m->loss.data[0] += m->x.data[1];
}

static void wrong_without_dual(void *user)
{
    gradcheck_hidden_g(user);
}

static void nearly(void *user)
{
    gradcheck_nearly(user);
}

static void scales(void *user)
{
    gradcheck_scales(user);
}

static void underivable(void *user)
{
    gradcheck_none(user);
}

static void cubes(void *user)
{
    gradcheck_three(user);
}

static void pairs(void *user)
{
    gradcheck_first(user);
}

static void check(gradcheck *m)
{
    tk_field *const x[] = {m->x.field}, *const g[] = {m->g.field}, *const none[] = {NULL}, *const loss[] = {m->loss.field};
    tk_gradcheck_result r;
    expect(m, "right", tk_gradcheck(m->loss.field, x, 1, right, m, 0, &r), TK_OK, "");
    if (r.compared != 5 || !r.has_forward || r.field != m->x.field || fabs(r.reverse - r.difference) > 1e-2 || fabs(r.reverse - r.forward) > 1e-4) {
        printf("right: %d compared, %g %g %g\n", (int)r.compared, r.reverse, r.forward, r.difference);
        failed = 1;
    }
    expect(m, "all fields", tk_gradcheck(m->loss.field, NULL, 0, right, m, 0, &r), TK_OK, "");
    if (r.compared != 5 + 10 + 5 + 3) {
        printf("all fields: %d compared\n", (int)r.compared);
        failed = 1;
    }
    expect(m, "no dual", tk_gradcheck(m->loss.field, g, 1, right_without_dual, m, 0, &r), TK_OK, "");
    if (r.has_forward || !isnan(r.forward))
        failed = 1;
    expect(m, "hidden", tk_gradcheck(m->loss.field, x, 1, wrong, m, 0, &r), TK_WRONG_GRADIENT, "the derivative of 'loss' by 'x[3]' is ");
    if (r.component != 3)
        failed = 1;
    expect(m, "no dual, hidden", tk_gradcheck(m->loss.field, g, 1, wrong_without_dual, m, 0, &r), TK_WRONG_GRADIENT, "the derivative of 'loss' by 'g[2]' is 0 ");
    expect(m, "nearly", tk_gradcheck(m->loss.field, x, 1, nearly, m, 0, NULL), TK_WRONG_GRADIENT, "by reverse mode");
    expect(m, "scales", tk_gradcheck(m->loss.field, x, 1, scales, m, 0, NULL), TK_OK, "");
    expect(m, "host", tk_gradcheck(m->loss.field, x, 1, unlike, m, 0, NULL), TK_WRONG_GRADIENT, "the derivative of 'loss' by 'x[1]' is ");
    expect(m, "overwriting", tk_gradcheck(m->loss.field, x, 1, overwriting, m, 0, NULL), TK_OVERWRITTEN, "kernel 'in_place' of module 'gradcheck' changes 'x[0]'");
    expect(m, "no adjoint", tk_gradcheck(m->loss.field, x, 1, underivable, m, 0, NULL), TK_NO_DERIVATIVE, "kernel 'none'");

    expect(m, "NULL input", tk_gradcheck(m->loss.field, none, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "input 0 is NULL");
    expect(m, "the loss", tk_gradcheck(m->loss.field, loss, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "input 0 is NULL, the loss");
    expect(m, "no program", tk_gradcheck(m->loss.field, x, 1, NULL, m, 0, NULL), TK_BAD_ARGUMENT, "NULL");
    expect(m, "no 0-D loss", tk_gradcheck(m->x.field, g, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "0-D");
    if (tk_gradcheck(NULL, x, 1, right, m, 0, NULL) != TK_BAD_ARGUMENT)
        failed = 1;
    TK_TAPE(m, m->loss) {
        expect(m, "open tape", tk_gradcheck(m->loss.field, x, 1, right, m, 0, NULL), TK_BAD_STATE, "while a tape is open");
    }
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void jacobians(gradcheck *m)
{
    double forward[3 * 5], reverse[3 * 5], pair_forward[10 * 5], pair_reverse[10 * 5];
    expect(m, "columns", tk_jacobian_forward(m->z.field, m->x.field, cubes, m, forward), TK_OK, "");
    expect(m, "rows", tk_jacobian_reverse(m->z.field, m->x.field, cubes, m, reverse), TK_OK, "");
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 5; k++) {
            const double x = (3 + k) / 4.0, want = k % 3 == i ? 3 * x * x * (k + 1) : 0;
            if (fabs(forward[5 * i + k] - want) > 1e-4 || fabs(reverse[5 * i + k] - want) > 1e-4) {
                printf("dz[%d]/dx[%d] is %g, %g instead of %g\n", i, k, forward[5 * i + k], reverse[5 * i + k], want);
                failed = 1;
            }
        }
    }
    expect(m, "columns of pairs", tk_jacobian_forward(m->y.field, m->x.field, pairs, m, pair_forward), TK_OK, "");
    expect(m, "rows of pairs", tk_jacobian_reverse(m->y.field, m->x.field, pairs, m, pair_reverse), TK_OK, "");
    for (int k = 0; k < 50; k++)
        failed |= fabs(pair_forward[k] - pair_reverse[k]) > 1e-5;
    failed |= fabs(pair_forward[5 * 2 + 1] - cos(1.0)) > 1e-5 || fabs(pair_forward[5 * 3 + 2] - 1.0) > 1e-5;

    expect(m, "no dual", tk_jacobian_forward(m->g.field, m->x.field, cubes, m, forward), TK_NO_DERIVATIVE, "'g' is not declared needs_dual");
    expect(m, "no adjoint", tk_jacobian_reverse(m->loss.field, m->x.field, underivable, m, reverse), TK_NO_DERIVATIVE, "kernel 'none'");
    expect(m, "no array", tk_jacobian_reverse(m->z.field, m->x.field, cubes, m, NULL), TK_BAD_ARGUMENT, "NULL");
    expect(m, "no program", tk_jacobian_forward(m->z.field, m->x.field, NULL, m, forward), TK_BAD_ARGUMENT, "NULL");
    if (tk_jacobian_forward(NULL, m->x.field, cubes, m, forward) != TK_BAD_ARGUMENT || tk_jacobian_reverse(m->x.field, NULL, cubes, m, reverse) != TK_BAD_ARGUMENT)
        failed = 1;
}

int main(void)
{
    gradcheck *m = gradcheck_create(NULL, NULL);
    if (!m)
        return 1;
    reset(m);
    check(m);
    jacobians(m);
    gradcheck_destroy(m);
    return failed;
}
