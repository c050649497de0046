#include "unproved.h"
#include "host.h"

int main(void)
{
    unproved *m = unproved_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    for (int i = 0; i < 9000; i++)
        m->x.data[i] = 3.0f;
    (void)tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    CHECK_OK(m, unproved_rare(m, 7542)); /* another argument */
    CHECK_STATUS(m, unproved_rare(m, 7543), TK_OVERWRITTEN,
                 "unproved.tk:10:35: kernel 'rare' overwrites 'x[1]', but the adjoint of kernel 'rare' (launch 2 on "
                 "the tape)");
    (void)tk_tape_drop(s);
    (void)tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    CHECK_STATUS(m, unproved_many(m, 0.5f), TK_OVERWRITTEN,
                 "kernel 'many' overwrites 'x[1023]', but the adjoint of kernel 'many' (launch 1 on the tape)");
    (void)tk_tape_drop(s);
    (void)tk_tape_begin(m->loss.field, 0); /* as in a release build */
    m->x.data[1023] = 3.0f;
    CHECK_STATUS(m, unproved_many(m, 0.5f), TK_OVERWRITTEN, "kernel 'many' overwrites 'x[1023]', but its adjoint");
    (void)tk_tape_drop(s);
    CHECK_STATUS(m, unproved_race(m), TK_RACE,
                 "unproved.tk:14:27: in kernel 'race' one iteration of a parallel loop stores into 'y[");
    unproved_destroy(m);
    return failures != 0;
}
