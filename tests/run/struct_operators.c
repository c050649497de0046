#include "struct_operators.h"
#include "host.h"

enum { N = 1000 };

static unsigned state = 1;

static double draw(void)
{
    state = state * 1664525u + 1013904223u;
    return 0.5 + (double)(state >> 8) / (1 << 24);
}

static void fill(struct_operators *m)
{
    struct_operators_Mixed *const both[] = {m->a.data, m->b.data};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++) {
            struct_operators_Mixed *p = &both[k][i];
            p->n = (int32_t)(100 * draw());
            for (int c = 0; c < 3; c++)
                p->inner.v[c] = draw();
            for (int c = 0; c < 4; c++)
                p->inner.A[c / 2][c % 2] = draw();
            p->wide = draw();
            p->x = draw();
        }
    for (int i = 0; i < N; i++)
        m->f.data[i] = (struct_operators_Floats){.x = (float)draw(), .w = draw()};
}

static bool same(const struct_operators_Mixed *p, const struct_operators_Mixed *q)
{
    return p->n == q->n && !memcmp(&p->inner.v, &q->inner.v, sizeof p->inner.v) &&
           !memcmp(&p->inner.A, &q->inner.A, sizeof p->inner.A) && !memcmp(&p->wide, &q->wide, sizeof p->wide) &&
           !memcmp(&p->x, &q->x, sizeof p->x);
}

static void by_members(struct_operators *m)
{
    fill(m);
    struct_operators_operators(m, 7);
    struct_operators_by_members(m, 7);
    const struct_operators_Mixed *p = m->whole.data;
    for (int i = 0; i < N; i++)
        CHECK(same(&p[i], &m->members.data[i]));
    CHECK(p[1].n == (4 * m->a.data[1].n - 6 * m->b.data[1].n) / 2 && p[1].n != 0);
    for (int up = 0; up < 2; up++) {
        struct_operators_literals(m, up);
        for (int i = 0; i < N; i++) {
            CHECK(m->wholes.data[i].w == m->separate.data[i].w);
            CHECK_NEAR(m->wholes.data[i].x, m->separate.data[i].x, 1e-6);
        }
    }
}

/* Whole numbers: sums are exact in any order. */
static void sums(struct_operators *m)
{
    double odd = 0, even = 0;
    for (int i = 0; i < N; i++) {
        m->g.data[i].u[0] = i;
        m->g.data[i].u[1] = i % 7;
        m->g.data[i].x = 2 * i;
        *(i % 2 ? &odd : &even) += i;
    }
    struct_operators_reduce(m);
    CHECK(m->total.data[0].u[0] == odd + even && m->total.data[0].x == 2 * (odd + even));
    CHECK(!memcmp(&m->total.data[0], &m->total.data[1], sizeof *m->total.data));
    struct_operators_scatter(m);
    CHECK(m->sum.u.data[0][1] == odd && m->sum.x.data[0] == 2 * even);
    CHECK(m->sums.data[1].u[0] == -2 * even && m->sums.data[0].x == -4 * odd);
}

int main(void)
{
    struct_operators *m = struct_operators_create(NULL, NULL);
    if (!m)
        return 2;
    struct_operators_once(m);
    CHECK(*m->calls.data == 6);
    for (int i = 0; i < 6; i++)
        CHECK(m->order.data[i] == i + 1);
    CHECK(m->g.data[0].u[0] == 11 && m->g.data[0].u[1] == 22 && m->g.data[0].x == 11);
    by_members(m);
    sums(m);
    CHECK_OK(m, struct_operators_status(m));
    struct_operators_destroy(m);
    return failures != 0;
}
