/* A launch on a tape that changes all of what an earlier adjoint needs is refused, whoever built the module; the same values again are none of its business. */
#include "tape_replaced.h"
#include "host.h"

static void fill(tape_replaced *m)
{
    for (int i = 0; i < 40; i++)
        m->x.data[i] = 0.01 * (i + 1);
}

/* d/dx of the sum over launches of sin(a x)^2. */
static void check_gradient(tape_replaced *m, double first, double second, const char *what)
{
    for (int i = 0; i < 40; i++) {
        const double x = m->x.data[i], want = first * sin(2 * first * x) + second * sin(2 * second * x);
        if (fabs(m->x.grad[i] - want) > 1e-12) {
            FAIL("%s: x.grad[%d] = %g, expected %g", what, i, m->x.grad[i], want);
            return;
        }
    }
}

int main(void)
{
    tape_replaced *m = tape_replaced_create(NULL, NULL);
    if (!m)
        return 2;
    tk_session *s = m->tk.session;
    fill(m);
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 1);
        tape_replaced_scratch(m, 2);
    }
    /* other values */
    CHECK_STATUS(m, tk_session_status(s), TK_OVERWRITTEN,
                 "kernel 'scratch' of module 'tape_replaced' changes 'tmp[0]', but the adjoint of kernel 'scratch' "
                 "(launch 1 on the tape) needs the data");
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 2);
        tape_replaced_scratch(m, 2);
    }
    check_gradient(m, 2, 2, "the same values");
    CHECK_OK(m, tape_replaced_status(m)); /* the same values */
    TK_TAPE(m, m->loss) tape_replaced_scratch(m, 1);
    tape_replaced_scratch(m, 2);
    TK_TAPE(m, m->loss) tape_replaced_scratch(m, 3);
    check_gradient(m, 3, 0, "tapes one after the other");
    CHECK_OK(m, tape_replaced_status(m)); /* tapes one after the other */
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch_saved(m, 1);
        tape_replaced_scratch_saved(m, 2);
    }
    check_gradient(m, 1, 2, "a saved field");
    CHECK_OK(m, tape_replaced_status(m)); /* a saved field */
    TK_TAPE(m, m->loss) {
        tape_replaced_step(m);
        tape_replaced_tick_on_tape(m);
    }
    CHECK_STATUS(m, tk_session_status(s), TK_OVERWRITTEN, "changes 't'"); /* a subscript */
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 1);
        tape_replaced_clear(m);
    }
    CHECK_STATUS(m, tk_session_status(s), TK_OVERWRITTEN, "kernel 'clear'"); /* by a no_grad kernel */
    TK_TAPE(m, m->loss) {
        tape_replaced_vectors(m, 1);
        tape_replaced_vectors(m, 2);
    }
    CHECK_STATUS(m, tk_session_status(s), TK_OVERWRITTEN, "changes 'v[0] component 0'"); /* all components */
    TK_TAPE(m, m->loss) {
        tape_replaced_energy(m);
        tape_replaced_advance(m);
    }
    /* by adding */
    CHECK_STATUS(m, tk_session_status(s), TK_OVERWRITTEN,
                 "kernel 'advance' of module 'tape_replaced' changes 'v[0] component 0'");
    TK_TAPE(m, m->loss) {
        tape_replaced_advance(m);
        tape_replaced_energy(m);
    }
    CHECK_OK(m, tape_replaced_status(m)); /* before it is read */
    TK_TAPE(m, m->loss) {
        tape_replaced_own(m, 1);
        tape_replaced_own(m, 2);
    }
    CHECK_OK(m, tape_replaced_status(m)); /* an adjoint that makes them again */
    CHECK(fabs(m->x.grad[39] - 2 * (1 + 4) * 0.4) <= 1e-12);
    double seed[40] = {1};
    tk_status st = tape_replaced_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 40);
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 1);
        tape_replaced_scratch(m, 2);
    }
    /* in a forward scope */
    CHECK_STATUS(m, st == TK_OK ? tk_session_status(s) : st, TK_OVERWRITTEN, "changes 'tmp[0]'");
    tape_replaced_destroy(m);
    return failures != 0;
}
