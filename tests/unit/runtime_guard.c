/* The fake module for a C++ program that cannot include cmocka's and the generated side's headers. */
#include "runtime_fake.h"

typedef struct fake guard_module;
guard_module *guard_create(void);
void guard_destroy(guard_module *m);
tk_module *guard_module_of(guard_module *m);
tk_field *guard_loss(guard_module *m);
tk_status guard_square(guard_module *m);
double guard_gradient(guard_module *m);

guard_module *guard_create(void)
{
    fake *m = fake_create(NULL, 1);
    m->y.data[0] = 3;
    return m;
}

void guard_destroy(guard_module *m)
{
    fake_destroy(m);
}

tk_module *guard_module_of(guard_module *m)
{
    return &m->tk;
}

tk_field *guard_loss(guard_module *m)
{
    return m->U.field;
}

tk_status guard_square(guard_module *m)
{
    return fake_square(m, 1);
}

double guard_gradient(guard_module *m)
{
    return m->y.grad[0];
}
