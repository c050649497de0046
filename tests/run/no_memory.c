/* Out of memory at every allocation of a program that uses all that allocates: a status, a message, nothing leaks, and
 * the session works on. */
#include "no_memory.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 5, M = 2500 };

/* As many pieces as two threads get, always in the same order. */
static void in_order(void *user, int64_t n, tk_task_fn fn, const void *args)
{
    (void)user;
    for (int64_t k = 0; k < n; k++)
        fn(args, k, k + 1);
}

/* ---- the program ---- */

static double buffer[3][N], jacobian[N * N], result[2];

static tk_status forward(void *args)
{
    no_memory *m = *(no_memory **)args;
    return no_memory_clear(m);
}

static tk_status backward(void *args)
{
    (void)args;
    return TK_OK;
}

static const tk_triple triple = {"cleared", forward, backward, forward, 0};

static void launches(void *user)
{
    no_memory *m = user;
    no_memory_clear(m);
    no_memory_start(m);
    for (int i = 0; i < 3; i++)
        no_memory_advance(m);
    no_memory_scatter(m);
    no_memory_iterate(m);
    no_memory_total(m);
}

static void fill(no_memory *m)
{
    for (int i = 0; i < N; i++)
        m->x.data[i] = 0.02 * (i + 1);
    for (int i = 0; i < M; i++)
        m->many.data[i] = 0.001 * i;
}

static tk_status tapes(no_memory *m)
{
    tk_session *s = tk_module_session(&m->tk);
    TK_TAPE(m, m->loss) {
        for (int i = 0; i < 70; i++) /* more entries than the first block has */
            tk_call(s, &triple, &m, sizeof m);
        launches(m);
    }
    result[0] = m->x.grad[3];
    tk_tape_begin(m->loss.field, TK_TAPE_SUM);
    launches(m);
    tk_tape_drop(s);
    if (m->tk.desc->nsites > 0) { /* compiled with --debug */
        tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
        launches(m);
        tk_tape_end(m->loss.field);
    }
    return no_memory_status(m);
}

static tk_status scopes(no_memory *m)
{
    tk_field *const outputs[] = {m->loss.field};
    static double seed[N] = {0, 0, 0, 1};
    m->loss.data[0] = 0;
    no_memory_forward_x(m, outputs, 1, seed, N);
    launches(m);
    result[1] = m->loss.dual[0];
    tk_forward_end(tk_module_session(&m->tk));
    double one = 1, two = 0, three = 0;
    no_memory_cube_grad(m, 2, &two);
    no_memory_cube_jvp(m, 2, &one);
    no_memory_cube_hvp(m, 2, &one, &two, &three);
    return no_memory_status(m);
}

static tk_status checks(no_memory *m)
{
    const tk_status st = tk_gradcheck(m->loss.field, &m->x.field, 1, launches, m, 0, NULL);
    if (st == TK_OK)
        tk_jacobian_forward(m->bound.field, m->x.field, launches, m, jacobian);
    if (no_memory_status(m) == TK_OK)
        tk_jacobian_reverse(m->state.field, m->x.field, launches, m, jacobian);
    return no_memory_status(m);
}

static tk_status changes(no_memory *m)
{
    no_memory_params p = m->params;
    p.gain = 1.0;
    no_memory_set_params(m, &p);
    memset(buffer, 0, sizeof buffer);
    return no_memory_bind_bound(m, buffer[0], buffer[1], buffer[2]);
}

static tk_status all(no_memory *m)
{
    fill(m);
    tk_status st = changes(m);
    if (st == TK_OK)
        st = tapes(m);
    if (st == TK_OK)
        st = scopes(m);
    return st == TK_OK ? checks(m) : st;
}

/* ---- each allocation fails once ---- */

/* It runs, or fails as it should; the one allocation of h->fails_at fails. */
static void attempt(heap *h, double expected)
{
    const int failing = (int)h->fails_at;
    tk_session_options o = tk_session_defaults();
    o.threads = 2;
    o.parallel = in_order;
    o.alloc = heap_alloc;
    o.alloc_user = h;
    tk_session *s = tk_session_create(&o);
    no_memory *m = s ? no_memory_create(s, NULL) : NULL;
    if (!m) {
        const bool told = strstr(tk_error(), "out of memory") != NULL;
        tk_session_destroy(s);
        if (!told || h->bytes != 0)
            FAIL("allocation %d, creation: %zu bytes are left, '%s'", failing, h->bytes, tk_error());
        return;
    }
    const tk_status st = all(m);
    if (st != no_memory_status(m) || (st != TK_OK && (st != TK_NO_MEMORY || !*no_memory_error(m) || h->fails_at == 0)))
        FAIL("allocation %d: %s %s", failing, tk_status_name(st), no_memory_error(m));
    if (h->fails_at > 0 && st == TK_OK && h->calls >= h->fails_at)
        FAIL("allocation %d: it went unnoticed", failing);
    /* the session is not broken: the same again, with all the memory there is */
    tk_session_clear_error(s);
    tk_tape_drop(s);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    tk_session_clear_error(s);
    h->fails_at = 0;
    if (st != TK_OK && all(m) != TK_OK)
        FAIL("allocation %d, afterwards: %s", failing, no_memory_error(m));
    if (!(fabs(result[0] - expected) <= 1e-12 * fabs(expected)) ||
        !(fabs(result[1] - expected) <= 1e-12 * fabs(expected)))
        FAIL("allocation %d: %.17g and %.17g instead of %.17g", failing, result[0], result[1], expected);
    no_memory_destroy(m);
    tk_session_destroy(s);
    if (h->bytes != 0)
        FAIL("allocation %d: it leaks", failing);
}

int main(void)
{
    heap all_go_well = {0};
    no_memory *m = no_memory_create(NULL, NULL);
    if (!m || all(m) != TK_OK) {
        printf("%s\n", m ? no_memory_error(m) : tk_error());
        return 1;
    }
    const double expected = result[0];
    no_memory_destroy(m);
    attempt(&all_go_well, expected);
    const int64_t calls = all_go_well.calls;
    for (int64_t n = 1; n <= calls + 1 && !failures; n++) {
        heap one_fails = {.fails_at = n};
        attempt(&one_fails, expected);
    }
    CHECK(calls >= 60 && expected > 0.1);
    return failures != 0;
}
