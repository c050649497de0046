#include <stdio.h>
#include "stopped.h"

static void kernel(stopped *m, int which)
{
    if (which == 0)
        stopped_expression(m);
    else if (which == 1)
        stopped_statement(m);
    else if (which == 2)
        stopped_in_function(m);
    else {
        stopped_counted(m);
        stopped_expression(m);
    }
}

int main(void)
{
    static const char *const name[] = {"expression", "statement", "in_function", "counted"};
    stopped *m = stopped_create(NULL, NULL);
    if (!m)
        return 1;
    tk_field *const outputs[] = {m->loss.field};
    const float along[] = {1, 0};
    m->x.data[0] = 3;
    m->x.data[1] = -2;
    m->y.data[0] = 5;
    m->y.data[1] = 7;
    for (int which = 0; which < 4; which++) {
        TK_TAPE(m, m->loss) kernel(m, which);
        printf("%s: %g, by x %g %g, by y %g %g", name[which], (double)m->loss.data[0], (double)m->x.grad[0], (double)m->x.grad[1],
               (double)m->y.grad[0], (double)m->y.grad[1]);
        m->loss.data[0] = 0;
        stopped_forward_x(m, outputs, 1, along, 2);
        kernel(m, which);
        if (tk_forward_end(tk_module_session(&m->tk)) == TK_OK)
            printf("; along x[0] %g\n", (double)m->loss.dual[0]);
        else
            printf("; %s\n", stopped_error(m));
    }
    printf("%d calls\n", m->calls.data[0]);
    stopped_destroy(m);
    return 0;
}
