/* Checks and Jacobians use all directions of a run; one wrong direction is found. */
#include "width_checks.h"
#include "host.h"

enum { N = 5, K = 3 };

static bool wrong;

static void fill(width_checks *m)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i] = 0.3 + 0.1 * i;
        m->v.data[0][i] = 0.7 - 0.1 * i;
        m->v.data[1][i] = 1.1 + 0.2 * i;
        m->copy.data[i] = 0.4 * i - 0.5;
    }
}

static void run(void *user)
{
    width_checks *m = user;
    width_checks_outputs(m);
    width_checks_through(m);
    width_checks_step(m);
    width_checks_total(m);
}

/* y doubled by the host. */
static tk_status doubled(void *args)
{
    width_checks *m = *(width_checks **)args;
    for (int i = 0; i < N; i++)
        m->y.data[i] *= 2;
    return TK_OK;
}

static tk_status doubled_backward(void *args)
{
    width_checks *m = *(width_checks **)args;
    for (int i = 0; i < N; i++)
        m->y.grad[i] *= 2;
    return TK_OK;
}

static tk_status doubled_jvp(void *args)
{
    width_checks *m = *(width_checks **)args;
    doubled(args);
    for (int i = 0; i < N; i++)
        for (int d = 0; d < K; d++)
            m->y.dual[i][d] *= wrong && d == 2 && i == 4 ? 2.001 : 2;
    return TK_OK;
}

static void run_with_host(void *user)
{
    width_checks *m = user;
    width_checks_outputs(m);
    static const tk_triple triple = {"doubled", doubled, doubled_backward, doubled_jvp, 0};
    tk_call(m->tk.session, &triple, &m, sizeof m);
    width_checks_step(m);
    width_checks_total(m);
}

static tk_status check(width_checks *m, int directions, void (*program)(void *), tk_gradcheck_result *r)
{
    tk_field *const inputs[] = {m->x.field, m->v.field};
    const tk_gradcheck_options o = {.inputs = inputs, .ninputs = 2, .directions = directions};
    fill(m);
    return tk_gradcheck_with(m->loss.field, &o, program, m, r);
}

int main(void)
{
    width_checks *m = width_checks_create(NULL, NULL);
    CHECK(m);
    if (!m)
        return 1;
    for (int directions = 0; directions <= 7; directions += 7) {
        tk_gradcheck_result r;
        CHECK_OK(m, check(m, directions, run, &r));
        CHECK(r.has_forward && r.compared == (directions ? 7 : 3 * N));
        CHECK_OK(m, check(m, directions, run_with_host, &r));
        wrong = true;
        CHECK_STATUS(m, check(m, directions, run_with_host, &r), TK_WRONG_GRADIENT, "by forward mode");
        wrong = false;
    }
    static double forward[N][2 * N], reverse[N][2 * N];
    fill(m);
    CHECK_OK(m, tk_jacobian_forward(m->y.field, m->v.field, run, m, *forward));
    CHECK_OK(m, tk_jacobian_reverse(m->y.field, m->v.field, run, m, *reverse));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2 * N; k++)
            CHECK_NEAR(forward[i][k], reverse[i][k], 1e-13);
    CHECK(forward[3][8] != 0);
    CHECK_REFUSED(m, tk_jacobian_forward(m->y.field, m->narrow.field, run, m, *forward), "number of directions");
    CHECK(tk_field_dual(m->x.field) == NULL && tk_field_find(m->tk.session, "x.dual"));
    width_checks_destroy(m);
    return failures != 0;
}
