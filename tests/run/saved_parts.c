/* Parts of saved fields that launches overwrite: gradients by differences and by forward mode; afterwards the data are
 * those of the last launch; the memory of a tape is that of the parts. */
#include "saved_parts.h"
#include "host.h"

enum { N = 12 };

static void start(saved_parts *m)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i] = 0.3 + 0.07 * i;
        m->k.data[i] = 1.1 - 0.05 * i;
        m->b.data[i] = (saved_parts_Body){{0.1 * i, 0.5 - 0.06 * i}, {0.3 - 0.02 * i, 0.1 + 0.03 * i}, 1.0 + 0.1 * i};
    }
}

static void parts(void *user)
{
    saved_parts *m = user;
    saved_parts_add(m);
    saved_parts_left(m, 5);
    saved_parts_one(m, 3);
    saved_parts_right(m, 7);
    saved_parts_add(m);
    saved_parts_none(m, 4);
    saved_parts_one(m, 11);
    saved_parts_one(m, 0);
    saved_parts_right(m, 3);
    saved_parts_left(m, N);
    saved_parts_right(m, N);
    saved_parts_add(m);
    saved_parts_one(m, 2);
}

static void bodies(void *user)
{
    saved_parts *m = user;
    saved_parts_energy(m);
    for (int i = 0; i < 4; i++) {
        saved_parts_move(m, 3 * i + 2);
        saved_parts_turn(m);
        saved_parts_move(m, N);
    }
    saved_parts_energy(m);
    saved_parts_mixed(m);
    saved_parts_energy(m);
    saved_parts_mixed(m);
    saved_parts_turn(m);
}

static void check(saved_parts *m, void (*run)(void *))
{
    static double x[2][N];
    static saved_parts_Body b[2][N];
    tk_gradcheck_result r;
    start(m);
    CHECK(tk_gradcheck(m->loss.field, NULL, 0, run, m, 1e-7, &r) == TK_OK && r.has_forward && r.compared > N);
    for (int taped = 0; taped < 2; taped++) {
        start(m);
        if (!taped)
            run(m);
        else
            TK_TAPE(m, m->loss)
            {
                run(m);
            }
        memcpy(x[taped], m->x.data, sizeof x[0]);
        memcpy(b[taped], m->b.data, sizeof b[0]);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(b[0], b[1], sizeof b[0]) == 0);
}

/* Of 20 launches that overwrite n elements. */
static size_t bytes_of(saved_parts *m, int n)
{
    size_t bytes = 0;
    start(m);
    TK_TAPE(m, m->loss)
    {
        for (int i = 0; i < 20; i++)
            saved_parts_left(m, n);
        saved_parts_add(m);
        bytes = tk_tape_bytes(tk_module_session(&m->tk));
    }
    return bytes;
}

int main(void)
{
    saved_parts *m = saved_parts_create(NULL, NULL);
    if (!m)
        return 1;
    check(m, parts);
    check(m, bodies);
    CHECK(bytes_of(m, N - 1) - bytes_of(m, 1) >= 20 * (N - 3) * sizeof(double));
    CHECK(saved_parts_status(m) == TK_OK);
    saved_parts_destroy(m);
    return 0;
}
