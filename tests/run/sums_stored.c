/* The loss is written on the tape, and the sum that an adjoint needs is kept when another launch adds to it. */
#include "sums_stored.h"
#include "host.h"

static void begin(sums_stored *m)
{
    m->sum.data[0] = m->loss.data[0] = 0.0;
    for (int i = 0; i < 4; i++)
        m->x.data[i] = 0.5 + 0.25 * i;
    CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
}

int main(void)
{
    sums_stored *m = sums_stored_create(NULL, NULL);
    if (!m)
        return 1;
    for (int again = 0; again < 2; again++) {
        begin(m);
        CHECK_OK(m, sums_stored_add(m));
        CHECK_OK(m, sums_stored_measure(m));
        if (again) /* the tape keeps what the adjoint of `measure` needs */
            CHECK_OK(m, sums_stored_add(m));
        CHECK(tk_tape_end(m->loss.field) == TK_OK);
        CHECK_NEAR(m->sum.data[0], again ? 7.0 : 3.5, 1e-12);
        for (int i = 0; i < 4; i++) /* loss = s^3 for s = 3.5 */
            CHECK_NEAR(m->x.grad[i], 3 * 3.5 * 3.5, 1e-12);
    }
    sums_stored_destroy(m);
    return failures != 0;
}
