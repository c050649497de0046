#include "page_outside.h"

#include <math.h>
#include <stdio.h>

int main(void)
{
    page_outside *m = page_outside_create(NULL, NULL);
    if (!m)
        return 1;
    m->x.data[0] = 0.0f;
    TK_TAPE(m, m->loss) {
        m->loss.data[0] += sinf(m->x.data[0]) + 1.0f; /* the value counts, the derivative does not */
        page_outside_manipulation_in_kernel(m);
        page_outside_differentiable_task(m);
    }
    printf("%.1f %.1f\n", (double)m->loss.data[0], (double)m->x.grad[0]);
    m->x.grad[0] = 0.0f;
    printf("%.1f\n", (double)m->x.grad[0]);
    const tk_status s = page_outside_status(m);
    page_outside_destroy(m);
    return s != TK_OK;
}
