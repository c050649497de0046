#include "page_custom_kernels.h"
#include "host.h"

int main(void)
{
    page_custom_kernels *m = page_custom_kernels_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 128; i++)
        m->x.data[i] = 1.0f;
    TK_TAPE(m, m->total) {
        page_custom_kernels_forward(m, 4.0f);
    }
    CHECK(m->total.data[0] == 1024.0f);
    for (int i = 0; i < 128; i++)
        CHECK(m->x.grad[i] == 4.0f);
    m->total.grad[0] = 2.0f;
    page_custom_kernels_forward_grad(m, 3.0f);
    CHECK(m->x.grad[0] == 10.0f);
    page_custom_kernels_by_hand(m, 4.0f);
    CHECK(m->x.grad[0] == 6.0f && m->x.grad[1] == 8.0f && m->x.grad[127] == 6.0f);
    CHECK_OK(m, page_custom_kernels_status(m));
    /* It has no derivative itself. */
    tk_tape_begin(m->total.field, 0);
    CHECK(page_custom_kernels_by_hand(m, 4.0f) == TK_NO_DERIVATIVE);
    tk_tape_drop(tk_module_session(&m->tk));
    page_custom_kernels_destroy(m);
    return failures != 0;
}
