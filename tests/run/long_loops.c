#include "long_loops.h"
#include "host.h"

enum { TRIPS = 10000000 };

typedef tk_status (*launch)(long_loops *m, int32_t n);

/* Value, adjoint and JVP against the same recurrence in C; bytes: for each iteration at most. */
static void check(const char *name, long_loops *m, heap *mem, launch run, launch grad, launch jvp, double bytes)
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
    if (!(fabs(value - s) < 1e-12 && fabs(m->x.grad[0] - ds) < 1e-9 && fabs(m->y.dual[0] - ds) < 1e-9 && kept <= bytes))
        FAIL("%s: %.15g, %.15g, %.15g, should be %.15g, %.15g; %g bytes an iteration", name, value, m->x.grad[0],
             m->y.dual[0], s, ds, kept);
}

/* Without memory the adjoint fails; afterwards it works again. */
static void check_limit(const char *name, long_loops *m, heap *mem, launch grad)
{
    mem->limit = mem->bytes + 1000000;
    const tk_status failed = grad(m, TRIPS);
    mem->limit = 0;
    tk_session_clear_error(m->tk.session);
    m->x.grad[0] = 0;
    m->y.grad[0] = 1;
    const tk_status works = grad(m, 1000);
    if (failed != TK_NO_MEMORY || works != TK_OK || m->x.grad[0] == 0)
        FAIL("%s: %s without memory, then %s", name, tk_status_name(failed), tk_status_name(works));
}

/* In a session of its own: what a thread's stack has got it keeps. */
static void with_session(const char *name, launch run, launch grad, launch jvp, double bytes)
{
    heap mem = {0};
    tk_session *s = heap_session(&mem);
    long_loops *m = long_loops_create(s, NULL);
    if (!m)
        exit(1);
    check_limit(name, m, &mem, grad);
    check(name, m, &mem, run, grad, jvp, bytes);
    if (tk_session_status(s) != TK_OK)
        FAIL("%s: %s", name, tk_session_error(s));
    long_loops_destroy(m);
    tk_session_destroy(s);
    if (mem.bytes)
        FAIL("%s: %zu bytes are left", name, mem.bytes);
}

#define KERNEL(kernel, bytes) \
    with_session(#kernel, long_loops_##kernel, long_loops_##kernel##_grad, long_loops_##kernel##_jvp, bytes)

int main(void)
{
    KERNEL(counted, 8.01);
    KERNEL(limited, 8.01);
    KERNEL(conditional, 33.6);
    KERNEL(in_task, 33.6);
    return failures != 0;
}
