#include "long_loops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 10000000 };

typedef struct memory {
    size_t bytes, most, limit;
} memory;

static void *alloc(void *user, void *old, size_t old_size, size_t size)
{
    memory *m = user;
    if (size == 0) {
        m->bytes -= old ? old_size : 0;
        free(old);
        return NULL;
    }
    if (m->limit && m->bytes + size > m->limit)
        return NULL;
    m->bytes += size;
    m->most = m->bytes > m->most ? m->bytes : m->most;
    return malloc(size);
}

typedef tk_status (*launch)(long_loops *m, int32_t n);

/* Value, adjoint and JVP against the same recurrence in C; bytes: for each iteration at most. */
static int check(const char *name, long_loops *m, memory *mem, launch run, launch grad, launch jvp, double bytes)
{
    const double x = 0.75;
    double s = 1, ds = 0;
    for (int t = 0; t < TRIPS; t++) {
        ds = ds - 1e-7 * (s * s + 2 * x * s * ds);
        s = s - 1e-7 * x * s * s;
    }
    m->x.data[0] = x;
    m->y.data[0] = 0;
    m->x.grad[0] = 0;
    m->y.grad[0] = 1;
    m->x.dual[0] = 1;
    m->y.dual[0] = 0;
    run(m, TRIPS);
    const double value = m->y.data[0];
    const size_t before = mem->bytes;
    mem->most = before;
    grad(m, TRIPS);
    const double kept = (double)(mem->most - before) / TRIPS;
    m->y.data[0] = 0;
    jvp(m, TRIPS);
    if (fabs(value - s) < 1e-12 && fabs(m->x.grad[0] - ds) < 1e-9 && fabs(m->y.dual[0] - ds) < 1e-9 && kept <= bytes)
        return 0;
    printf("%s: %.15g, %.15g, %.15g, should be %.15g, %.15g; %g bytes an iteration\n", name, value, m->x.grad[0], m->y.dual[0], s, ds, kept);
    return 1;
}

/* Without memory the adjoint fails; afterwards it works again. */
static int check_limit(const char *name, long_loops *m, memory *mem, launch grad)
{
    mem->limit = mem->bytes + 1000000;
    const tk_status failed = grad(m, TRIPS);
    mem->limit = 0;
    tk_session_clear_error(m->tk.session);
    m->x.grad[0] = 0;
    m->y.grad[0] = 1;
    const tk_status works = grad(m, 1000);
    if (failed == TK_NO_MEMORY && works == TK_OK && m->x.grad[0] != 0)
        return 0;
    printf("%s: %s without memory, then %s\n", name, tk_status_name(failed), tk_status_name(works));
    return 1;
}

/* In a session of its own: what a thread's stack has got it keeps. */
static int with_session(const char *name, launch run, launch grad, launch jvp, double bytes)
{
    memory mem = {0};
    tk_session_options opt = tk_session_defaults();
    opt.alloc = alloc;
    opt.alloc_user = &mem;
    tk_session *s = tk_session_create(&opt);
    long_loops *m = long_loops_create(s, NULL);
    if (!m)
        return 1;
    int bad = check_limit(name, m, &mem, grad) + check(name, m, &mem, run, grad, jvp, bytes);
    if (tk_session_status(s) != TK_OK) {
        printf("%s: %s\n", name, tk_session_error(s));
        bad++;
    }
    long_loops_destroy(m);
    tk_session_destroy(s);
    if (mem.bytes) {
        printf("%s: %zu bytes are left\n", name, mem.bytes);
        bad++;
    }
    return bad;
}

#define CHECK(kernel, bytes) with_session(#kernel, long_loops_##kernel, long_loops_##kernel##_grad, long_loops_##kernel##_jvp, bytes)

int main(void)
{
    return CHECK(counted, 8.01) + CHECK(limited, 8.01) + CHECK(conditional, 33.6) + CHECK(in_task, 33.6) != 0;
}
