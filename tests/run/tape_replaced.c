/* A launch on a tape that changes all of what an earlier adjoint needs is refused, whoever built the module; the same values again are none of its business. */
#include "tape_replaced.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(tape_replaced *m, tk_status got, tk_status want, const char *what, const char *text)
{
    if (got != want || (text && !strstr(tape_replaced_error(m), text))) {
        printf("%s: status %d, expected %d: %s\n", what, (int)got, (int)want, tape_replaced_error(m));
        failures++;
    }
    tk_session_clear_error(m->tk.session);
}

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
            printf("%s: x.grad[%d] = %g, expected %g\n", what, i, m->x.grad[i], want);
            failures++;
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
    expect(m, tk_session_status(s), TK_OVERWRITTEN, "other values",
           "kernel 'scratch' of module 'tape_replaced' changes 'tmp[0]', but the adjoint of kernel 'scratch' (launch 1 on the tape) needs the data");
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 2);
        tape_replaced_scratch(m, 2);
    }
    check_gradient(m, 2, 2, "the same values");
    expect(m, tk_session_status(s), TK_OK, "the same values", NULL);
    TK_TAPE(m, m->loss) tape_replaced_scratch(m, 1);
    tape_replaced_scratch(m, 2);
    TK_TAPE(m, m->loss) tape_replaced_scratch(m, 3);
    check_gradient(m, 3, 0, "tapes one after the other");
    expect(m, tk_session_status(s), TK_OK, "tapes one after the other", NULL);
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch_saved(m, 1);
        tape_replaced_scratch_saved(m, 2);
    }
    check_gradient(m, 1, 2, "a saved field");
    expect(m, tk_session_status(s), TK_OK, "a saved field", NULL);
    TK_TAPE(m, m->loss) {
        tape_replaced_step(m);
        tape_replaced_tick_on_tape(m);
    }
    expect(m, tk_session_status(s), TK_OVERWRITTEN, "a subscript", "changes 't'");
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 1);
        tape_replaced_clear(m);
    }
    expect(m, tk_session_status(s), TK_OVERWRITTEN, "by a no_grad kernel", "kernel 'clear'");
    TK_TAPE(m, m->loss) {
        tape_replaced_vectors(m, 1);
        tape_replaced_vectors(m, 2);
    }
    expect(m, tk_session_status(s), TK_OVERWRITTEN, "all components", "changes 'v[0] component 0'");
    TK_TAPE(m, m->loss) {
        tape_replaced_energy(m);
        tape_replaced_advance(m);
    }
    expect(m, tk_session_status(s), TK_OVERWRITTEN, "by adding", "kernel 'advance' of module 'tape_replaced' changes 'v[0] component 0'");
    TK_TAPE(m, m->loss) {
        tape_replaced_advance(m);
        tape_replaced_energy(m);
    }
    expect(m, tk_session_status(s), TK_OK, "before it is read", NULL);
    TK_TAPE(m, m->loss) {
        tape_replaced_own(m, 1);
        tape_replaced_own(m, 2);
    }
    expect(m, tk_session_status(s), TK_OK, "an adjoint that makes them again", NULL);
    if (fabs(m->x.grad[39] - 2 * (1 + 4) * 0.4) > 1e-12) {
        printf("an adjoint that makes them again: %g\n", m->x.grad[39]);
        failures++;
    }
    double seed[40] = {1};
    tk_status st = tape_replaced_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 40);
    TK_TAPE(m, m->loss) {
        tape_replaced_scratch(m, 1);
        tape_replaced_scratch(m, 2);
    }
    expect(m, st == TK_OK ? tk_session_status(s) : st, TK_OVERWRITTEN, "in a forward scope", "changes 'tmp[0]'");
    tape_replaced_destroy(m);
    return failures != 0;
}
