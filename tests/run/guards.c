#include "guards.h"
#include "host.h"

#define ZERO(kernel) \
    do { \
        tk_module_clear_grad(&m->tk); \
        m->e.grad[0] = 1; \
        guards_##kernel(m); \
        guards_##kernel##_grad(m); \
        if (m->x.grad[0][0] != 0 || m->x.grad[0][1] != 0 || m->a.grad[0] != 0) \
            FAIL("%s: %g %g, %g", #kernel, (double)m->x.grad[0][0], (double)m->x.grad[0][1], (double)m->a.grad[0]); \
    } while (0)

int main(void)
{
    guards *m = guards_create(NULL, NULL);
    ZERO(norm_in_if);
    ZERO(norm_in_choice);
    ZERO(root);
    ZERO(direction);
    ZERO(quotient);
    ZERO(logarithm);
    ZERO(in_task);
    ZERO(nested);
    ZERO(no_trip);
    ZERO(no_trip_in_function);
    ZERO(no_trip_of_while);
    ZERO(known_in_front);
    tk_module_clear_grad(&m->tk);
    m->e.grad[0] = 1;
    guards_taken_grad(m);
    if (!isinf(m->a.grad[0]))
        FAIL("taken: %g", (double)m->a.grad[0]);
    guards_destroy(m);
    return failures != 0;
}
