#include "reference_c_debug.h"

#include <stdio.h>

int main(void)
{
    reference_c_debug *m = reference_c_debug_create(NULL, NULL);
    if (!m)
        return 2;
    m->x.data[0] = 3;
    reference_c_debug_effects(m);
    printf("%g\n", (double)m->y.data[0]);
    m->y.grad[0] = 1;
    m->y.data[0] = 99;
    m->x.data[0] = -3; /* the assertion would fail now */
    reference_c_debug_effects_grad(m);
    printf("%g %g %s\n", (double)m->y.data[0], (double)m->x.grad[0], tk_status_name(reference_c_debug_status(m)));
    reference_c_debug_effects(m);
    printf("%s\n", tk_status_name(reference_c_debug_status(m)));
    reference_c_debug_destroy(m);
    return 0;
}
