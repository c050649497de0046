#include "unproved.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void expect(unproved *m, const char *what, tk_status want, const char *message)
{
    if (unproved_status(m) != want || !strstr(unproved_error(m), message)) {
        printf("%s: %s '%s' instead of %s '%s'\n", what, tk_status_name(unproved_status(m)), unproved_error(m), tk_status_name(want), message);
        failed = 1;
    }
    tk_session_clear_error(tk_module_session(&m->tk));
}

int main(void)
{
    unproved *m = unproved_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    for (int i = 0; i < 9000; i++)
        m->x.data[i] = 3.0f;
    (void)tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    unproved_rare(m, 7542);
    expect(m, "another argument", TK_OK, "");
    unproved_rare(m, 7543);
    expect(m, "the argument", TK_OVERWRITTEN, "unproved.tk:10:35: kernel 'rare' overwrites 'x[1]', but the adjoint of kernel 'rare' (launch 2 on the tape)");
    (void)tk_tape_drop(s);
    (void)tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    unproved_many(m, 0.5f);
    expect(m, "the last of many", TK_OVERWRITTEN, "kernel 'many' overwrites 'x[1023]', but the adjoint of kernel 'many' (launch 1 on the tape)");
    (void)tk_tape_drop(s);
    unproved_race(m);
    expect(m, "iterations that are far apart", TK_RACE, "unproved.tk:14:27: in kernel 'race' one iteration of a parallel loop stores into 'y[");
    unproved_destroy(m);
    return failed;
}
