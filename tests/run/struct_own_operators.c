#include "struct_own_operators.h"
#include "host.h"

static void expect(struct_own_operators *m, int i, double re, double im)
{
    CHECK(m->z.data[i].re == (float)re && m->z.data[i].im == (float)im);
}

int main(void)
{
    struct_own_operators *m = struct_own_operators_create(NULL, NULL);
    if (!m)
        return 2;
    struct_own_operators_compute(m);
    expect(m, 0, -3 + 2, 4 + 3);
    expect(m, 1, 14.5, 2.25);
    expect(m, 2, -2, 1);
    expect(m, 3, 3, 0);
    CHECK(m->x.data[0] == 10.5f);
    const int n[] = {1, 7, 1, 3, 2};
    for (int i = 0; i < 5; i++)
        CHECK(m->n.data[i] == n[i]);
    for (int i = 0; i < 4; i++) {
        m->z.data[i].re = (float)i;
        m->z.data[i].im = 1;
    }
    struct_own_operators_squares(m);
    expect(m, 3, 8.5, 6);
    CHECK_OK(m, struct_own_operators_status(m));
    struct_own_operators_destroy(m);
    return failures != 0;
}
