#include "validate_duals.h"
#include <stdio.h>
#include <string.h>

static int failed;

static void expect(validate_duals *m, tk_status got, tk_status want, const char *text)
{
    if (got != want || !strstr(validate_duals_error(m), text)) {
        printf("%s: '%s' instead of %s\n", tk_status_name(got), validate_duals_error(m), tk_status_name(want));
        failed = 1;
    }
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void begin(validate_duals *m)
{
    for (int i = 0; i < 3; i++)
        m->y.dual[i] = (float)i + 1;
    tk_tape_begin(m->U.field, TK_TAPE_VALIDATE);
    validate_duals_weigh(m);
}

int main(void)
{
    validate_duals *m = validate_duals_create(NULL, NULL);
    if (!m)
        return 1;
    begin(m);
    expect(m, validate_duals_change(m, 5), TK_OVERWRITTEN, "kernel 'change' overwrites 'y.dual[1]', but the adjoint of kernel 'weigh' (launch 1 on the tape)");
    expect(m, tk_tape_end(m->U.field), TK_OVERWRITTEN, "");
    begin(m);
    m->y.dual[2] = 7;
    expect(m, tk_tape_end(m->U.field), TK_OVERWRITTEN, "'y.dual[2]' was changed outside of kernels");
    begin(m);
    validate_duals_other(m);
    validate_duals_change(m, 2);
    expect(m, tk_tape_end(m->U.field), TK_OK, "");
    if (m->x.grad[1] != 2 || m->x.grad[2] != 3)
        failed = 1;
    validate_duals_destroy(m);
    return failed;
}
