#include "winners_tape.h"
#include "host.h"

static void simulate(void *user)
{
    winners_tape *m = user;
    for (int t = 0; t < 5; t++) {
        winners_tape_step(m, t);
        winners_tape_settle(m, t);
    }
    winners_tape_total(m);
}

int main(void)
{
    winners_tape *m = winners_tape_create(NULL, NULL);
    if (!m)
        return 2;
    for (int i = 0; i < m->params.N; i++) {
        m->x.data[i] = 0.3 + 0.9 * ((i * 37 + 5) % 41) / 41;
        m->w.data[i] = 0.4 + 0.7 * ((i * 23 + 11) % 43) / 43;
    }
    for (int k = 0; k < m->params.K; k++)
        m->floor_.data[k] = 0.1 * k;
    tk_field *const inputs[] = {m->x.field, m->w.field, m->floor_.field};
    tk_gradcheck_result r;
    CHECK_OK(m, tk_gradcheck(m->loss.field, inputs, 3, simulate, m, 0, &r));

    /* which is no comparison of zeros */
    TK_TAPE(m, m->loss) simulate(m);
    for (int i = 0; i < m->params.N; i++)
        CHECK(m->x.grad[i] != 0.0 && m->w.grad[i] != 0.0);
    CHECK(m->floor_.grad[1] != 0.0);
    winners_tape_destroy(m);
    return failures != 0;
}
