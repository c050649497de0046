#include "scratch.h"
#include "host.h"

enum { N = 40, T = 6 };

static void begin(scratch *m)
{
    memset(m->x.data, 0, sizeof(double) * N * (T + 1));
    for (int k = 0; k < N; k++)
        m->x.data[k] = 0.5 + 0.01 * k * (k % 3);
}

static void run(void *user)
{
    scratch *m = user;
    for (int t = 0; t < T; t++)
        scratch_step(m, t);
    scratch_measure(m);
}

static void gradients(scratch *m, unsigned flags)
{
    double loss, gradient[N];
    begin(m);
    TK_TAPE_WITH(m, m->loss, flags) run(m);
    loss = m->loss.data[0];
    memcpy(gradient, m->x.grad, sizeof gradient);
    begin(m);
    scratch_clear_stored(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++)
            scratch_step_stored(m, t);
        scratch_measure(m);
    }
    CHECK(fabs(loss - m->loss.data[0]) < 1e-12 * loss && loss > 1);
    for (int k = 0; k < N; k++)
        CHECK(fabs(gradient[k] - m->x.grad[k]) < 1e-12 * (1 + fabs(gradient[k])) && gradient[k] != 0);
}

int main(void)
{
    scratch *m = scratch_create(NULL, NULL);
    tk_session *s = tk_module_session(&m->tk);
    for (int k = 0; k < 8; k++)
        m->grid.data[k] = m->seen.data[k] = 77; /* nothing of it reaches a launch */
    gradients(m, 0);
    gradients(m, TK_TAPE_VALIDATE);
    begin(m);
    tk_field *input = m->x.field;
    CHECK(tk_gradcheck(m->loss.field, &input, 1, run, m, 0, NULL) == TK_OK);
    /* The adjoint does not mind what happened to the grid since its launch, on a tape and called directly. */
    begin(m);
    double tape[N];
    TK_TAPE(m, m->loss) run(m);
    memcpy(tape, m->x.grad, sizeof tape);
    begin(m);
    run(m);
    tk_module_clear_grad(&m->tk);
    m->loss.grad[0] = 1;
    scratch_measure_grad(m);
    for (int t = T; t-- > 0;) {
        for (int k = 0; k < 8; k++)
            m->grid.data[k] = NAN;
        scratch_step_grad(m, t);
    }
    for (int k = 0; k < N; k++)
        CHECK(fabs(tape[k] - m->x.grad[k]) < 1e-12 * (1 + fabs(tape[k])));
    double sum;
    scratch_left(m, &sum);
    CHECK(sum == 0 && m->seen.data[7] == 1);
    scratch_left(m, &sum);
    CHECK(sum == 0 && m->seen.data[7] == 1 && m->grid.data[0] == 0);
    CHECK(!tk_kernel_find(s, "read", NULL) && tk_kernel_find(s, "fill", NULL));
    CHECK_OK(m, scratch_status(m));
    scratch_destroy(m);
    return failures != 0;
}
