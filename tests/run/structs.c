#include "structs.h"
#include "host.h"

static void expect(const structs *m, const char *what, int n, const double *want)
{
    for (int i = 0; i < n; i++)
        if ((double)m->y.data[i] != want[i])
            FAIL("%s: y[%d] = %g, expected %g", what, i, (double)m->y.data[i], want[i]);
}

int main(void)
{
    structs *m = structs_create(NULL, NULL);
    if (!m)
        return 2;
    structs_effects(m);
    expect(m, "effects", 5, (const double[]){2, -3, 6, 7, 5});
    const int order[] = {1, 2, 3, 4, 6};
    for (int i = 0; i < 5; i++)
        CHECK(m->order.data[i] == order[i]);
    structs_exchange(m);
    expect(m, "exchange", 5, (const double[]){20, 2, 10, 1, 2});
    m->x.data[0] = 4;
    m->x.data[1] = 8;
    structs_large(m);
    expect(m, "large", 5, (const double[]){6, 100, 5, 4.25, 0.5});
    m->x.data[2] = 1;
    m->y.grad[0] = 1;
    structs_constant_grad(m);
    CHECK(m->x.grad[0] == 8 && m->x.grad[1] == 0);
    memset(m->y.data, 0, 8 * sizeof *m->y.data);
    memset(m->x.grad, 0, 8 * sizeof *m->x.grad);
    m->y.grad[0] = 1;
    structs_nested(m);
    expect(m, "nested", 3, (const double[]){12, 22, 10});
    CHECK(m->x.grad[0] == 40 && m->x.grad[1] == 0);
    CHECK_OK(m, structs_status(m));
    structs_destroy(m);
    return failures != 0;
}
