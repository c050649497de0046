#include "validate_duals.h"
#include "host.h"

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
    CHECK_STATUS(m, validate_duals_change(m, 5), TK_OVERWRITTEN,
                 "kernel 'change' overwrites 'y.dual[1]', but the adjoint of kernel 'weigh' (launch 1 on the tape)");
    CHECK_STATUS(m, tk_tape_end(m->U.field), TK_OVERWRITTEN, "");
    begin(m);
    m->y.dual[2] = 7;
    CHECK_STATUS(m, tk_tape_end(m->U.field), TK_OVERWRITTEN, "'y.dual[2]' was changed outside of kernels");
    begin(m);
    validate_duals_other(m);
    validate_duals_change(m, 2);
    CHECK_OK(m, tk_tape_end(m->U.field));
    CHECK(m->x.grad[1] == 2 && m->x.grad[2] == 3);
    validate_duals_destroy(m);
    return failures != 0;
}
