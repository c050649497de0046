/* Out of memory at every allocation of a program that uses all that allocates: a status, a message, nothing leaks, and the session works on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "no_memory.h"
#include <tkc/tkc_gen.h>

enum { N = 5, M = 2500 };

/* ---- an allocator that fails once ---- */

typedef struct memory {
    long calls, fail_at; /* 0: never */
    long long held;
} memory;

static void *allocate(void *user, void *old, size_t old_size, size_t size)
{
    memory *a = user;
    if (size == 0) {
        a->held -= (long long)old_size;
        free(old);
        return NULL;
    }
    if (++a->calls == a->fail_at)
        return NULL;
    a->held += (long long)size;
    return malloc(size);
}

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

static const tk_triple triple = {"cleared", forward, backward, forward};

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

static int fail(const memory *a, const char *what, const char *text)
{
    printf("allocation %ld: %s %s\n", a->fail_at, what, text);
    return 1;
}

/* 0: it ran, or failed as it should. */
static int attempt(memory *a, double *expected)
{
    tk_session_options o = tk_session_defaults();
    o.threads = 2;
    o.parallel = in_order;
    o.alloc = allocate;
    o.alloc_user = a;
    tk_session *s = tk_session_create(&o);
    no_memory *m = s ? no_memory_create(s, NULL) : NULL;
    if (!m) {
        const bool told = strstr(tk_error(), "out of memory") != NULL;
        tk_session_destroy(s);
        return !told ? fail(a, "creation:", tk_error()) : a->held != 0 ? fail(a, "creation leaks", "") : 0;
    }
    int bad = 0;
    const tk_status st = all(m);
    if (st != no_memory_status(m) || (st != TK_OK && (st != TK_NO_MEMORY || !*no_memory_error(m) || a->fail_at == 0)))
        bad = fail(a, tk_status_name(st), no_memory_error(m));
    if (a->fail_at > 0 && st == TK_OK && a->calls >= a->fail_at)
        bad = fail(a, "it went unnoticed", "");
    /* the session is not broken: the same again, with all the memory there is */
    tk_session_clear_error(s);
    tk_tape_drop(s);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    tk_session_clear_error(s);
    a->fail_at = 0;
    if (st != TK_OK && all(m) != TK_OK)
        bad = fail(a, "afterwards", no_memory_error(m));
    if (!(fabs(result[0] - expected[0]) <= 1e-12 * fabs(expected[0])) || !(fabs(result[1] - expected[0]) <= 1e-12 * fabs(expected[0]))) {
        printf("%.17g and %.17g instead of %.17g\n", result[0], result[1], expected[0]);
        bad = 1;
    }
    no_memory_destroy(m);
    tk_session_destroy(s);
    return a->held != 0 ? fail(a, "it leaks", "") : bad;
}

int main(void)
{
    memory a = {0};
    double expected = NAN;
    no_memory *m = no_memory_create(NULL, NULL);
    if (!m || all(m) != TK_OK) {
        printf("%s\n", m ? no_memory_error(m) : tk_error());
        return 1;
    }
    expected = result[0];
    no_memory_destroy(m);
    if (attempt(&a, &expected))
        return 1;
    const long calls = a.calls;
    for (long n = 1; n <= calls + 1; n++) {
        memory b = {.fail_at = n};
        if (attempt(&b, &expected))
            return 1;
    }
    if (calls < 60 || !(expected > 0.1))
        printf("%ld allocations, %g\n", calls, expected);
    return calls < 60 || !(expected > 0.1);
}
