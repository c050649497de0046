#include "imports.h"

int main(void)
{
    imports_params p = imports_defaults();
    p.COUNT = 4;
    imports *m = imports_create(NULL, &p);
    if (!m)
        return 1;
    imports_grow(m, 3);
    TK_TAPE(m, m->total) imports_sum_areas(m);
    const int wrong = m->total.data[0] != 4 * (4.5f + 4) || m->radius.grad[3] != 3 || m->plain.data[2] != 9;
    imports_destroy(m);
    return wrong;
}
