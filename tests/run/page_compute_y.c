#include "page_compute_y.h"
#include "host.h"

int main(void)
{
    page_compute_y *m = page_compute_y_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = -8; i <= 8; i++) {
        const float x = 0.4f * (float)i;
        m->x.data[0] = x;
        TK_TAPE(m, m->y) page_compute_y_compute_y(m);
        CHECK(fabsf(m->x.grad[0] - cosf(x)) <= 1e-6f && fabsf(m->y.data[0] - sinf(x)) <= 1e-6f);

        tk_field *const outputs[] = {m->y.field};
        m->y.dual[0] = 5.0f; /* cleared on opening */
        tk_forward_begin(outputs, 1, m->x.field, NULL, 0);
        page_compute_y_compute_y(m);
        tk_forward_end(tk_module_session(&m->tk));
        CHECK(fabsf(m->y.dual[0] - cosf(x)) <= 1e-6f);
    }
    CHECK_OK(m, page_compute_y_status(m));
    page_compute_y_destroy(m);
    return failures != 0;
}
