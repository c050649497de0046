#include "several.h"
#include "host.h"

static void swaps(several *m)
{
    for (int k = 0; k < 4; k++)
        m->x.data[k] = (several_real)k;
    several_swap(m, 1, 3);
    several_swap(m, 2, 2);
    CHECK(m->x.data[1] == 3 && m->x.data[3] == 1 && m->x.data[2] == 2 && m->x.data[0] == 0);
    several_twice(m, 1, 1);
    CHECK(m->right.data[1] == 2);
    m->i.data[2] = 3;
    several_chase(m, 2);
    CHECK(m->part.data[0] == 3 && m->i.data[2] == 7 && m->i.data[3] == 0);
}

static void parts(several *m)
{
    several_apart(m);
    CHECK(m->q.data[0].a == 5 && m->q.data[0].b[1] == 15 && m->q.data[1].a == 3 && m->q.data[1].b[0] == 4 &&
          m->q.data[1].b[1] == 10);
    CHECK(m->m.data[0][0][2] == 1 && m->m.data[0][2][0] == 1 && m->m.data[0][1][1] == 1 && m->m.data[0][0][0] == 0);
    CHECK(m->w.data[0][0][1] == 4 && m->w.data[0][2][0] == 3 && m->w.data[0][1][1] == 5);
    CHECK(m->big.data[0] == 0.1 && m->big.data[1] == 0.2);
    CHECK(m->s.data[0] == 321 && m->part.data[1] == 55 && m->part.data[2] == 2 && m->part.data[3] == 3);
}

static void fills(several *m)
{
    several_fill(m, 3);
    for (int k = 0; k < 4; k++)
        CHECK(m->x.data[k] == 3 && m->i.data[k] == 8 && m->p.a.data[k] == 3 && m->p.b.data[0][k] == 1 &&
              m->p.b.data[1][k] == 3);
    for (int k = 0; k < 16; k++)
        CHECK(m->g.data[k][0] == 0.5 && m->g.data[k][1] == 0.5);
    CHECK(m->s.data[0] == 6);
}

static void ranges(several *m)
{
    static const int seen[3][4] = {{100, 101, 1, 0}, {100, 101, 11, 10}, {0, 0, 10, 10}};
    several_ranges(m);
    CHECK(!memcmp(m->seen.data, seen, sizeof seen));
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 2; c++)
                CHECK(m->box.data[several_idx_box(m, a, b, c)] == 100 * a + 10 * b + c);
    several_named(m);
    CHECK(m->part.data[1] == 1 && m->part.data[2] == 2);
}

int main(void)
{
    several *m = several_create(NULL, NULL);
    CHECK(m != NULL);
    swaps(m);
    parts(m);
    fills(m);
    ranges(m);
    CHECK_OK(m, several_status(m));
    several_destroy(m);
    return failures != 0;
}
