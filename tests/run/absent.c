#include "absent.h"
#include "host.h"

typedef tk_status launch(absent *m);

static void run(absent *m, const char *what, launch *const *fn)
{
    for (int i = 0; i < 6; i++)
        if (fn[i](m) != TK_OK)
            FAIL("%s %d: %s", what, i, absent_error(m));
}

int main(void)
{
    static launch *const primal[] = {absent_branch, absent_branch_around_loop, absent_no_iteration, absent_read_in_none, absent_inner_none, absent_serial_none};
    static launch *const grad[] = {absent_branch_grad,       absent_branch_around_loop_grad, absent_no_iteration_grad,
                                   absent_read_in_none_grad, absent_inner_none_grad,         absent_serial_none_grad};
    static launch *const jvp[] = {absent_branch_jvp,       absent_branch_around_loop_jvp, absent_no_iteration_jvp,
                                  absent_read_in_none_jvp, absent_inner_none_jvp,         absent_serial_none_jvp};
    static launch *const hvp[] = {absent_branch_hvp,       absent_branch_around_loop_hvp, absent_no_iteration_hvp,
                                  absent_read_in_none_hvp, absent_inner_none_hvp,         absent_serial_none_hvp};
    absent *m = absent_create(NULL, NULL);
    if (!m)
        return 1;
    run(m, "primal", primal);
    run(m, "grad", grad);
    run(m, "jvp", jvp);
    run(m, "hvp", hvp);
    for (int i = 0; i < 6; i++)
        CHECK(m->y.data[i] == 0.0 && m->x.grad[i] == 0.0);
    absent_destroy(m);
    return failures != 0;
}
