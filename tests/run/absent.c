#include "absent.h"

#include <stdio.h>

typedef tk_status launch(absent *m);

static int run(absent *m, const char *what, launch *const *fn, int n)
{
    for (int i = 0; i < n; i++) {
        if (fn[i](m) != TK_OK) {
            printf("%s %d: %s\n", what, i, absent_error(m));
            return 1;
        }
    }
    return 0;
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
    int failed = run(m, "primal", primal, 6) || run(m, "grad", grad, 6) || run(m, "jvp", jvp, 6) || run(m, "hvp", hvp, 6);
    for (int i = 0; i < 6; i++)
        failed |= m->y.data[i] != 0.0 || m->x.grad[i] != 0.0;
    absent_destroy(m);
    return failed;
}
