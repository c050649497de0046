#include "page_custom_kernels.h"

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
    if (m->total.data[0] != 1024.0f)
        return 2;
    for (int i = 0; i < 128; i++)
        if (m->x.grad[i] != 4.0f)
            return 3;
    m->total.grad[0] = 2.0f;
    page_custom_kernels_forward_grad(m, 3.0f);
    if (m->x.grad[0] != 10.0f)
        return 4;
    page_custom_kernels_by_hand(m, 4.0f);
    if (m->x.grad[0] != 6.0f || m->x.grad[1] != 8.0f || m->x.grad[127] != 6.0f || page_custom_kernels_status(m) != TK_OK)
        return 5;
    /* It has no derivative itself. */
    tk_tape_begin(m->total.field, 0);
    if (page_custom_kernels_by_hand(m, 4.0f) != TK_NO_DERIVATIVE)
        return 6;
    tk_tape_drop(tk_module_session(&m->tk));
    page_custom_kernels_destroy(m);
    return 0;
}
