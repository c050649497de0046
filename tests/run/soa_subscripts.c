#include "soa_subscripts.h"
#include "host.h"

/* Every element of a plane its own number, in the order of memory. */
static void number(double *data, int n, double from)
{
    for (int i = 0; i < n; i++)
        data[i] = from + i;
}

int main(void)
{
    soa_subscripts *g = soa_subscripts_create(NULL, NULL);
    if (!g)
        return 1;
    number(g->x.data[0], 12, 0.0);       /* component, element */
    number(g->m.data[0][0], 64, 1000.0); /* component, i, j */
    number(g->p.b.data[0], 8, 2000.0);
    number(g->y.data[0], 12, 3000.0);    /* element, component */
    soa_subscripts_choose(g, 1.5);
    const double want[] = {8.0 + 2, 4.0 + 1, 8.0 + 1, 1032.0 + 4, 2004.0 + 1, 3005.0, 8.0 + 3, 3011.0, 1032.0 + 7};
    for (int i = 0; i < 9; i++)
        if (g->out.data[i] != want[i])
            FAIL("out[%d] is %g, not %g", i, g->out.data[i], want[i]);
    CHECK(g->x.data[2][0] == 108.0);
    TK_TAPE(g, g->loss) {
        soa_subscripts_choose(g, 1.5);
        soa_subscripts_sum(g);
    }
    CHECK_OK(g, soa_subscripts_status(g));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++) {
            const double grad = (k == 1 && i == 1) + (k == 2 && i > 0 && i < 4); /* out[1]; out[2], out[0], out[6] */
            if (g->x.grad[k][i] != grad)
                FAIL("x.grad[%d] of component %d is %g", i, k, g->x.grad[k][i]);
        }
    soa_subscripts_destroy(g);
    return failures != 0;
}
