#include "page_forward.h"
#include "host.h"

int main(void)
{
    page_forward *m = page_forward_create(NULL, NULL);
    if (!m)
        return 1;
    m->x.data[0] = 0.3f;
    m->x.data[1] = -1.1f;
    tk_field *const outputs[] = {m->y.field};
    for (int j = 0; j < 2; j++) {
        const float seed[2] = {j == 0 ? 1.0f : 0.0f, j == 1 ? 1.0f : 0.0f};
        page_forward_forward_x(m, outputs, 1, seed, 2);
        page_forward_compute_y(m);
        tk_forward_end(tk_module_session(&m->tk));
        for (int i = 0; i < 5; i++) {
            const float want = (float)i * cosf(m->x.data[j]);
            if (!(fabsf(m->y.dual[i] - want) < 1e-5f))
                FAIL("y.dual[%d] by x[%d] is %g instead of %g", i, j, (double)m->y.dual[i], (double)want);
        }
    }
    CHECK_OK(m, page_forward_status(m));
    page_forward_destroy(m);
    return failures != 0;
}
