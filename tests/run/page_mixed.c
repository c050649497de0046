#include "page_mixed.h"
#include "host.h"

int main(void)
{
    page_mixed *m = page_mixed_create(NULL, NULL);
    if (!m)
        return 1;
    float squares = 0.0f;
    for (int i = 0; i < 10; i++) {
        m->x.data[i] = 0.5f + 0.25f * (float)i;
        squares += m->x.data[i] * m->x.data[i];
    }
    TK_TAPE(m, m->loss) page_mixed_differentiable_task(m);
    CHECK_OK(m, page_mixed_status(m));
    const float x1 = m->x.data[1];
    for (int i = 0; i < 10; i++) {
        float want = 2.0f * x1 * x1 * m->x.data[i];
        want += i == 0 ? 1.0f : i == 1 ? 2.0f * x1 * squares : i == 2 ? 3.0f : 0.0f;
        if (!(fabsf(m->x.grad[i] - want) < 1e-4f))
            FAIL("x.grad[%d] is %g instead of %g", i, (double)m->x.grad[i], (double)want);
    }
    page_mixed_destroy(m);
    return failures != 0;
}
