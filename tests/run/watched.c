#include "watched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void expect(watched *m, const char *what, tk_status want, const char *message)
{
    if (watched_status(m) != want || !strstr(watched_error(m), message)) {
        printf("%s: %s '%s' instead of %s '%s'\n", what, tk_status_name(watched_status(m)), watched_error(m), tk_status_name(want), message);
        failed = 1;
    }
    tk_session_clear_error(tk_module_session(&m->tk));
    for (int i = 0; i < 64; i++) {
        m->x.data[i] = (float)i + 1;
        m->y.data[i] = 0.5f;
        m->to.data[i] = 63 - i;
    }
}

static void races(watched *m)
{
    expect(m, "nothing ran", TK_OK, "");
    watched_scatter_store(m);
    watched_scatter_add(m);
    watched_rows(m);
    watched_two_loops(m);
    expect(m, "a permutation", TK_OK, "");
    for (int i = 0; i < 64; i++)
        m->to.data[i] = i;
    watched_read_write(m);
    watched_add_read(m);
    watched_through_function(m);
    expect(m, "own elements", TK_OK, "");
    m->to.data[9] = 60;
    watched_scatter_store(m);
    expect(m, "two stores", TK_RACE,
           "watched.tk:11:39: in kernel 'scatter_store' one iteration of a parallel loop stores into 'y[60]', and another iteration stores into it at "
           "watched.tk:11:39: iterations are unordered");
    m->to.data[9] = 60;
    watched_scatter_add(m);
    expect(m, "additions meet", TK_OK, "");
    watched_read_write(m);
    expect(m, "read, write", TK_RACE, "watched.tk:12:43: in kernel 'read_write' one iteration of a parallel loop reads 'y[31]', and another iteration stores into it at watched.tk:12:36");
    for (int i = 0; i < 64; i++)
        m->to.data[i] = i / 32 * 32 + 31 - i % 32;
    watched_add_read(m);
    expect(m, "add, read", TK_RACE, "watched.tk:15:9: in kernel 'add_read' one iteration of a parallel loop adds to 'y[15]', and another iteration reads it at watched.tk:16:16");
    m->to.data[20] = 3;
    watched_rows(m);
    expect(m, "rows", TK_RACE, "watched.tk:23:36: in kernel 'rows' one iteration of a parallel loop stores into 'g[3] component 0'");
    watched_through_function(m);
    expect(m, "function", TK_RACE, "watched.tk:35:16: in kernel 'through_function' one iteration of a parallel loop reads 'y[31]', and another iteration stores into it at watched.tk:37:42");
}

static void numbers(watched *m)
{
    tk_session *s = tk_module_session(&m->tk);
    m->x.data[5] = -1.0f;
    watched_roots(m);
    expect(m, "not asked for", TK_OK, "");
    tk_session_stop_at_nonfinite(s, true);
    m->x.data[5] = -1.0f;
    watched_roots(m);
    expect(m, "root", TK_NOT_FINITE, "watched.tk:39:31: 'y[5]' is NaN from here on, in the kernel 'roots'");
    m->x.data[7] = INFINITY;
    watched_roots(m);
    expect(m, "host", TK_NOT_FINITE, "watched.tk:39:43: 'x[7]' is infinite when it is read, put there by the host, in the kernel 'roots'");
    m->x.data[40] = 0.0f;
    watched_logs(m);
    expect(m, "log", TK_NOT_FINITE, "'g[40] component 2' is minus infinite from here on, in the kernel 'logs'");

    m->x.data[0] = 0.0f; /* sqrt(0) is fine, its derivative is not */
    TK_TAPE(m, m->loss) {
        watched_roots(m);
        watched_sum_plain(m);
    }
    expect(m, "adjoint", TK_NOT_FINITE, "watched.tk:39:43: 'x.grad[0]' is infinite from here on, in the adjoint of kernel 'roots'");

    static const float seed[64] = {1.0f};
    tk_field *const outputs[] = {m->loss.field};
    m->x.data[0] = 0.0f;
    watched_forward_x(m, outputs, 1, seed, 64);
    watched_roots(m);
    tk_forward_end(s);
    expect(m, "JVP", TK_NOT_FINITE, "'y.dual[0]' is infinite from here on, in the JVP of kernel 'roots'");
    tk_session_stop_at_nonfinite(s, false);
    if (tk_session_stop_at_nonfinite(NULL, true) != TK_BAD_ARGUMENT)
        failed = 1;
}

int main(void)
{
    watched *m = watched_create(NULL, NULL);
    if (!m)
        return 1;
    races(m);
    numbers(m);
    watched_destroy(m);
    return failed;
}
