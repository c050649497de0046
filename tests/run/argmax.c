/* The parallel loops of argmax.tk against the serial ones, bit by bit: with ties, infinities, NaN, empty loops. */
#include "argmax.h"
#include "host.h"

static unsigned state = 1;

static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

static void compare(int n, double start, int values, double special)
{
    argmax_params p = argmax_defaults();
    p.N = n;
    argmax *m = argmax_create(NULL, &p);
    CHECK(m);
    m->start.data[0] = (argmax_real)start;
    for (int i = 0; i < n; i++) {
        m->a.data[i] = (argmax_real)((double)draw((unsigned)values) - values / 2);
        m->n.data[i] = draw(9) < 6 ? 0 : draw(12);
        if (draw(5) == 0)
            m->a.data[i] = (argmax_real)special;
    }
    CHECK_OK(m, argmax_tasks(m));
    CHECK_OK(m, argmax_loops(m));
    CHECK(memcmp(m->got.data, m->want.data, sizeof *m->got.data * 10) == 0);
    CHECK(memcmp(m->got_at.data, m->want_at.data, sizeof *m->got_at.data * 12) == 0);
    CHECK(memcmp(m->got_n.data, m->want_n.data, sizeof *m->got_n.data * 2) == 0);
    argmax_destroy(m);
}

int main(void)
{
    static const int sizes[] = {0, 1, 2, 9, 700, 9000};
    static const double starts[] = {0.0, -1e30, 1e30, -INFINITY, INFINITY, NAN},
                        specials[] = {0.0, -0.0, NAN, -INFINITY, INFINITY};
    for (int i = 0; i < 6; i++)
        for (int s = 0; s < 6; s++)
            for (int k = 0; k < 5; k++) {
                compare(sizes[i], starts[s], 3, specials[k]);
                compare(sizes[i], starts[s], 1000, specials[k]);
            }
    return failures != 0;
}
