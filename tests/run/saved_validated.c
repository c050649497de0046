#include "saved_validated.h"
#include "host.h"

static void run(saved_validated *m, int what, tk_status want)
{
    tk_session *s = tk_module_session(&m->tk);
    for (int i = 0; i < 4; i++)
        m->x.data[i] = m->y.data[i] = 2;
    tk_status st = tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    saved_validated_squares(m);
    saved_validated_shrink(m);
    saved_validated_squares(m);
    if (what == 1)
        saved_validated_spoil(m);
    if (what == 2)
        m->x.data[0] = 7;
    st = tk_tape_end(m->loss.field);
    if (st != want)
        FAIL("%d: %s: %s", what, tk_status_name(st), tk_session_error(s));
    tk_session_clear_error(s);
    /* x' = x^2 / 2: 4 x^2 + 4 x'^2, by x: 8 x + 8 x' x */
    CHECK(want != TK_OK || (m->x.grad[1] > 47.9f && m->x.grad[1] < 48.1f));
}

int main(void)
{
    saved_validated *m = saved_validated_create(NULL, NULL);
    if (!m)
        return 1;
    run(m, 0, TK_OK);
    run(m, 1, TK_OVERWRITTEN);
    run(m, 2, TK_OVERWRITTEN);
    run(m, 0, TK_OK);
    saved_validated_destroy(m);
    return failures != 0;
}
