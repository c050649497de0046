#include "page_checkpoint.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { STEPS = 40, N = 9 };
typedef enum way { STORED, IN_KERNELS, IN_ONE_KERNEL, BY_THE_HOST, SAVED, WAYS } way;
static const char *const names[] = {"stored", "recomputed in kernels", "recomputed in one kernel", "recomputed by the host", "saved"};

typedef struct call {
    page_checkpoint *m;
    int t;
} call;

/* Functions, arguments, two lines with a box each. */
enum { CALL_BYTES = sizeof(tk_triple) + 24 + sizeof(call) + 2 * (sizeof(tk_footprint) + 4 * sizeof(int64_t)) };

static tk_status forward(void *args)
{
    const call *c = args;
    return page_checkpoint_step(c->m, c->t);
}

static tk_status backward(void *args)
{
    const call *c = args;
    page_checkpoint_clear(c->m, c->t);
    page_checkpoint_fill(c->m, c->t);
    page_checkpoint_gather_grad(c->m, c->t);
    page_checkpoint_fill_grad(c->m, c->t);
    return page_checkpoint_clear_grad(c->m, c->t);
}

/* The grid is filled again: backward needs the state alone. */
static void by_the_host(const call *c)
{
    static const tk_triple host = {"step", forward, backward, NULL, 0};
    const int64_t step[] = {c->t, c->t, 0, N - 1};
    const tk_footprint state[] = {{c->m->x.field, TK_NEEDED, step}, {c->m->v.field, TK_NEEDED, step}};
    tk_call_with(tk_module_session(&c->m->tk), &host, c, sizeof *c, state, 2);
}

static void steps(page_checkpoint *m, way w)
{
    if (w == IN_ONE_KERNEL)
        page_checkpoint_frugal_all(m);
    for (int t = 0; t < STEPS && w != IN_ONE_KERNEL; t++) {
        const call c = {m, t};
        if (w == STORED)
            page_checkpoint_step(m, t);
        else if (w == IN_KERNELS)
            page_checkpoint_frugal(m, t);
        else if (w == SAVED)
            page_checkpoint_saved_step(m, t);
        else
            by_the_host(&c);
    }
}

static page_checkpoint *create(int grids)
{
    page_checkpoint_params p = page_checkpoint_defaults();
    p.GRIDS = grids;
    page_checkpoint *m = page_checkpoint_create(NULL, &p);
    for (int i = 0; m && i < N; i++) {
        m->x.data[i] = 0.4 + 0.37 * i;
        m->v.data[i] = 0.5 - 0.11 * i;
    }
    return m;
}

/* The gradient of the initial state; false after a failure. */
static bool gradient(way w, bool validate, double out[2 * N], size_t *tape_bytes)
{
    page_checkpoint *m = create(w == STORED ? STEPS : 1);
    if (!m)
        return false;
    tk_tape_begin(m->loss.field, validate ? TK_TAPE_VALIDATE : 0);
    steps(m, w);
    page_checkpoint_measure(m);
    tk_tape_end(m->loss.field);
    *tape_bytes = tk_tape_bytes(tk_module_session(&m->tk));
    memcpy(out, m->x.grad, N * sizeof *out);
    memcpy(out + N, m->v.grad, N * sizeof *out);
    for (int i = 0; i < 5; i++)
        if (m->grid.grad[i][0] != 0.0 || m->grid.grad[i][1] != 0.0)
            FAIL("%s: something is left in the gradient of the grid", names[w]);
    const bool ok = page_checkpoint_status(m) == TK_OK;
    if (!ok)
        FAIL("%s: %s", names[w], page_checkpoint_error(m));
    page_checkpoint_destroy(m);
    return ok;
}

static double loss_at(int i, double moved)
{
    page_checkpoint *m = create(1);
    if (!m)
        return NAN;
    m->v.data[i] += moved;
    steps(m, IN_KERNELS);
    page_checkpoint_measure(m);
    const double loss = m->loss.data[0];
    page_checkpoint_destroy(m);
    return loss;
}

int main(void)
{
    double want[2 * N], got[2 * N];
    size_t stored, bytes;
    page_checkpoint *m = create(1);
    if (!m || !gradient(STORED, false, want, &stored))
        return 1;
    const bool debug = m->tk.desc->nsites > 0;
    for (int i = 0; i < N; i++) {
        const double difference = (loss_at(i, 1e-4) - loss_at(i, -1e-4)) / 2e-4;
        if (!(fabs(difference - want[N + i]) < 1e-6))
            FAIL("v[%d]: gradient %.10g, by differences %.10g", i, want[N + i], difference);
    }
    for (int k = 0; k < 2 * WAYS; k++) {
        const way w = (way)(k / 2);
        if ((k % 2 && !debug) || !gradient(w, k % 2, got, &bytes))
            continue;
        const size_t entry = bytes / 2; /* of a launch without arguments, if all steps are one */
        if (w == IN_ONE_KERNEL && stored != (STEPS + 1) * entry + STEPS * sizeof(int32_t))
            FAIL("a tape of %zu bytes with %zu for each launch", stored, entry);
        const size_t least = stored + (STEPS - 1) * 5 * sizeof(double[2]); /* the grids but for one, and launches alike */
        if (w == SAVED ? bytes < least : bytes > stored + STEPS * CALL_BYTES)
            FAIL("%s: a tape of %zu bytes; with stored grids it has %zu", names[w], bytes, stored);
        for (int i = 0; i < 2 * N; i++)
            if (!(fabs(got[i] - want[i]) < 1e-12))
                FAIL("%s: component %d is %.17g, stored %.17g", names[w], i, got[i], want[i]);
    }
    /* One grid, and nothing done about it. */
    if (debug) {
        tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
        steps(m, STORED);
        if (tk_tape_end(m->loss.field) != TK_OVERWRITTEN || !strstr(page_checkpoint_error(m), "overwrites 'grid[0, "))
            FAIL("one grid for all steps: %s", page_checkpoint_error(m));
    }
    page_checkpoint_destroy(m);
    return failures != 0;
}
