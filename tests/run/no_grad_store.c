/* A plain store in a no_grad kernel takes the gradient of what it overwrites; an accumulation passes it on. */
#include "no_grad_store.h"
#include "host.h"

static void check(no_grad_store *m, tk_status (*middle)(no_grad_store *), double want)
{
    m->x.data[0] = 2.0;
    TK_TAPE(m, m->l)
    {
        no_grad_store_a(m);
        middle(m);
        no_grad_store_c(m);
    }
    if (no_grad_store_status(m) != TK_OK || m->x.grad[0] != want)
        FAIL("%g, expected %g %s", m->x.grad[0], want, no_grad_store_error(m));
}

int main(void)
{
    no_grad_store *m = no_grad_store_create(NULL, NULL);
    if (!m)
        return 2;
    check(m, no_grad_store_b, 0.0);
    check(m, no_grad_store_b_by_function, 0.0);
    check(m, no_grad_store_b_by_own, 0.0);
    check(m, no_grad_store_add, 2.0 * 10.0 * 4.0); /* y = 4 + 6: dl/dy dy/dx, the 6 counts as a constant */
    no_grad_store_destroy(m);
    return failures != 0;
}
