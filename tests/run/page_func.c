#include "page_func.h"
#include "host.h"

int main(void)
{
    page_func *m = page_func_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 16; i++)
        m->x.data[i] = (float)i;
    m->loss.grad[0] = 1.0f;
    m->loss2.grad[0] = 1.0f;
    page_func_both(m);
    page_func_both_grad(m);
    CHECK_OK(m, page_func_status(m));
    for (int i = 0; i < 16; i++) {
        if (m->x.grad[i] != (float)(2 * i + 1))
            FAIL("x.grad[%d] is %g", i, (double)m->x.grad[i]);
    }
    page_func_destroy(m);
    return failures != 0;
}
