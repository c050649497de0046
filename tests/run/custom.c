#include <stdio.h>
#include <string.h>
#include "custom.h"

static void show(const char *what, const custom *m)
{
    printf("%s: loss %g, x.grad %g %g %g\n", what, (double)m->loss.data[0], (double)m->x.grad[0], (double)m->x.grad[1], (double)m->x.grad[2]);
}

/* What nothing can be the derivative of. */
static void refused(custom *m, tk_status got)
{
    printf("%s: %s\n", tk_status_name(got), custom_error(m));
    tk_session_clear_error(tk_module_session(&m->tk));
}

int main(void)
{
    custom *m = custom_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    const float x[3] = {0.75f, -1.25f, 2.0f}, seed[3] = {1, 0, 0};
    const int32_t b[2] = {5, 7};
    memcpy(m->x.data, x, sizeof x);

    TK_TAPE(m, m->loss) custom_straight(m);
    show("straight through", m);
    TK_TAPE(m, m->loss) custom_clipped(m, 3.0f);
    show("clipped", m);
    TK_TAPE(m, m->loss) custom_clipped(m, -0.25f);
    show("not clipped", m);
    TK_TAPE(m, m->loss) {
        custom_through(m);
        custom_nothing(m);
        custom_sum(m, 2.0, b, 1.5f);
    }
    show("kernels", m);

    /* called directly */
    tk_session_clear_grad(s);
    m->loss.grad[0] = 1;
    custom_sum_grad(m, 0.0, b, 1.0f);
    custom_through_grad(m);
    show("directly", m);

    tk_field *outputs[] = {m->loss.field};
    m->loss.data[0] = 0;
    custom_forward_x(m, outputs, 1, seed, 3);
    custom_straight(m);
    tk_forward_end(s);
    printf("dual of rounded %g\n", (double)m->loss.dual[0]);
    const double one_dual = 3;
    const float three_dual = 1;
    tk_session_clear_dual(s);
    custom_sum_jvp(m, 0.0, &one_dual, b, 1.0f, &three_dual);
    printf("dual of sum by its parameters %g\n", (double)m->loss.dual[0]);

    tk_tape_begin(m->loss.field, 0);
    refused(m, custom_through_back(m));
    tk_tape_drop(s);
    custom_forward_x(m, outputs, 1, seed, 3);
    refused(m, custom_sum_dual(m, 0, b, 0, 0, 0));
    tk_forward_end(s);
    tk_session_clear_error(s);
    custom_forward_x(m, outputs, 1, seed, 3);
    refused(m, custom_through(m));
    tk_forward_end(s);
    tk_session_clear_error(s);
    custom_through_back(m); /* an ordinary kernel otherwise */
    printf("%s\n", tk_status_name(custom_status(m)));
    custom_destroy(m);
    return 0;
}
