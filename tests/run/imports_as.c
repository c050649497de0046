#include "imports_as.h"
#include "host.h"

int main(void)
{
    imports_as_params p = imports_as_defaults();
    CHECK(p.lib_COUNT == 3);
    imports_as *m = imports_as_create(NULL, &p);
    if (!m)
        return 1;
    for (int i = 0; i < 6; i++)
        m->x.data[i] = (float)(i + 1);
    for (int i = 0; i < 3; i++)
        m->lib_x.data[i] = (float)(i + 1);

    /* 2 * 91 + 6 * 7, 10 * 6, 3 + 8 + 9 + 20 */
    TK_TAPE(m, m->loss) imports_as_energy(m, 7);
    CHECK_NEAR(m->loss.data[0], 224 + 60 + 40, 0);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(m->x.grad[i], 4 * (i + 1), 0);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(m->lib_x.grad[i], 10, 0);

    TK_TAPE(m, m->lib_loss) imports_as_both(m);
    CHECK_NEAR(m->lib_loss.data[0], 56, 0);
    CHECK_NEAR(m->lib_x.grad[2], 24, 0);
    imports_as_lib_energy(m, 1);
    CHECK_NEAR(m->lib_loss.data[0], 56 + 28, 0);
    m->lib_loss.data[0] = 0;
    imports_as_applied(m, 0.5f);
    CHECK_NEAR(m->lib_loss.data[0], 10.5, 0);

    m->loss.data[0] = 0;
    TK_TAPE(m, m->loss) imports_as_stopped(m);
    CHECK_NEAR(m->loss.data[0], 1 + 8 + 27, 0);
    CHECK_NEAR(m->x.grad[2], 9, 0);
    CHECK_NEAR(m->lib_x.grad[2], 0, 0);

    float value = 0, x_grad = 0;
    const float one = 1;
    imports_as_lib_cube_grad(3, &value, &one, &x_grad);
    CHECK_NEAR(value, 27, 0);
    CHECK_NEAR(x_grad, 27, 0);

    imports_as_others(m);
    const imports_as_lib_Ball *b = m->lib_balls.data;
    CHECK(m->slope.data[0] == 12 && b[2].mass == 3 && b[2].pos[1] == 5 && m->lib_x.data[1] == 7);
    CHECK_OK(m, imports_as_status(m));
    imports_as_destroy(m);
    return failures != 0;
}
