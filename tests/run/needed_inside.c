#include "needed_inside.h"
#include "host.h"

static needed_inside *m;
static tk_session *s;

/* All elements of the table. */
static void point_to(int at)
{
    for (int i = 0; i < 9; i++)
        m->e.data[i] = at;
}

static void fill(void)
{
    for (int i = 0; i < 9; i++) {
        m->a.data[i] = 0.3 + 0.1 * i;
        m->b.data[i] = 0.5f;
        m->h.data[i] = 0;
        m->p.data[i].mass = 2.0;
        m->p.data[i].pos[0] = 1.0;
    }
    point_to(0);
    m->loss.data[0] = 0;
}

static void begin(void)
{
    fill();
    CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
}

#define PASSES(launch) (begin(), CHECK_OK(m, launch), CHECK(tk_tape_end(m->loss.field) == TK_OK))
#define REFUSED(table, launch, text) \
    (begin(), point_to(table), CHECK_STATUS(m, launch, TK_OVERWRITTEN, text), (void)tk_tape_drop(s))

int main(void)
{
    m = needed_inside_create(NULL, NULL);
    if (!m)
        return 1;
    s = tk_module_session(&m->tk);
    PASSES(needed_inside_table(m));
    CHECK_NEAR(m->a.grad[0], 2 * 9 * 0.3, 1e-14);
    REFUSED(1, needed_inside_table(m),
            "needed_inside.tk:16:28: kernel 'table' overwrites 'a[1]', but its adjoint needs the value that it read "
            "before, at needed_inside.tk:15:33: declare the field as saved");
    PASSES(needed_inside_stores(m, 7.0));
    REFUSED(2, needed_inside_stores(m, 7.0), "overwrites 'a[2]'");
    begin(); /* the same value as before */
    point_to(2);
    CHECK_OK(m, needed_inside_stores(m, m->a.data[2]));
    CHECK(tk_tape_end(m->loss.field) == TK_OK);
    CHECK_NEAR(m->a.grad[2], 27 * 0.25, 1e-14);
    PASSES(needed_inside_shifted(m, -1));
    PASSES(needed_inside_shifted(m, 3));
    REFUSED(0, needed_inside_shifted(m, 0), "overwrites 'a[3]'");
    REFUSED(0, needed_inside_shifted(m, 1), "overwrites 'a[4]'");
    REFUSED(0, needed_inside_shifted(m, 2), "overwrites 'a[5]'");
    PASSES(needed_inside_members(m));
    begin();
    point_to(3);
    m->p.data[3].mass = 1.0;
    CHECK_STATUS(m, needed_inside_members(m), TK_OVERWRITTEN, "overwrites 'p.mass[3]'");
    (void)tk_tape_drop(s);
    PASSES(needed_inside_filled(m));
    REFUSED(4, needed_inside_filled(m), "overwrites 'g[4]', but its adjoint needs the value that it read before, at "
                                        "needed_inside.tk:34:33: write to another scratch field");
    PASSES(needed_inside_subscripts(m));
    REFUSED(5, needed_inside_subscripts(m), "overwrites 'h[5]'");
    PASSES(needed_inside_extremes(m, 9.0f));
    REFUSED(1, needed_inside_extremes(m, 9.0f), "overwrites 'b[1]'");
    begin(); /* nothing changes */
    point_to(1);
    CHECK_OK(m, needed_inside_extremes(m, -9.0f));
    (void)tk_tape_drop(s);
    int32_t at[3] = {0, 0, 0};
    PASSES(needed_inside_given(m, 3, at));
    begin();
    point_to(1);
    at[1] = 0;
    CHECK_STATUS(m, needed_inside_given(m, 3, at), TK_OVERWRITTEN, "overwrites 'at[1]'");
    (void)tk_tape_drop(s);
    begin();
    point_to(5);
    CHECK_OK(m, needed_inside_calls(m));
    CHECK(tk_tape_end(m->loss.field) == TK_OK);
    REFUSED(2, needed_inside_calls(m), "overwrites 'a[2]'");

    fill(); /* without a tape the launch is as it was */
    point_to(1);
    CHECK_OK(m, needed_inside_table(m));
    for (int at = 0; at < 2; at++) { /* in a forward scope its JVP does */
        const double seed[9] = {1};
        fill();
        point_to(at);
        CHECK(tk_forward_begin(&m->loss.field, 1, m->a.field, seed, 9) == TK_OK);
        CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
        CHECK_STATUS(m, needed_inside_table(m), at ? TK_OVERWRITTEN : TK_OK, at ? "overwrites 'a[1]'" : "");
        (void)tk_tape_drop(s);
        (void)tk_forward_end(s);
    }
    needed_inside_destroy(m);
    return failures != 0;
}
