#include "func_gradients_checked.h"
#include "host.h"

typedef func_gradients_checked module;

/* Fails where it should, and is right where it should not. */
static void expect(module *m, const char *what, tk_status got, int fails, double value)
{
    const int ok = fails ? got != TK_OK : got == TK_OK && (double)m->y.data[0] == value;
    if (!ok)
        FAIL("%s: %s, %g: %s", what, tk_status_name(got), (double)m->y.data[0], func_gradients_checked_error(m));
    tk_session_clear_error(tk_module_session(&m->tk));
}

int main(void)
{
    module *m = func_gradients_checked_create(NULL, NULL);
    if (!m)
        return 1;
    m->x.data[2] = 5;
    expect(m, "assert holds", func_gradients_checked_assertion(m, 3), 0, 6);
    expect(m, "assert", func_gradients_checked_assertion(m, -3), 1, 0);
    expect(m, "in a loop, holds", func_gradients_checked_assertion_loop(m, 2, 2), 0, 32);
    expect(m, "in a loop", func_gradients_checked_assertion_loop(m, 50, 2), 1, 0);
    expect(m, "field", func_gradients_checked_field_subscript(m, 3, 2), 0, 30);
    expect(m, "field, outside", func_gradients_checked_field_subscript(m, 3, 4), 1, 0);
    expect(m, "array", func_gradients_checked_array_subscript(m, 3, 2), 0, 12);
    expect(m, "array, outside", func_gradients_checked_array_subscript(m, 3, 3), 1, 0);
    expect(m, "vector", func_gradients_checked_vector_subscript(m, 3, 1), 0, 12);
    expect(m, "vector, outside", func_gradients_checked_vector_subscript(m, 3, 3), 1, 0);
    expect(m, "no_grad", func_gradients_checked_passive(m, 2), 0, 32);
    m->y.grad[0] = 4;
    func_gradients_checked_passive_grad(m, 2);
    CHECK(m->y.grad[0] == 0); /* a no_grad kernel takes the gradient of what it stores over */
    func_gradients_checked_destroy(m);
    return failures != 0;
}
