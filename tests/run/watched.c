#include "watched.h"
#include "host.h"

static void reset(watched *m)
{
    for (int i = 0; i < 64; i++) {
        m->x.data[i] = (float)i + 1;
        m->y.data[i] = 0.5f;
        m->to.data[i] = 63 - i;
    }
}

#define EXPECT(m, want, text) (CHECK_STATUS(m, watched_status(m), want, text), reset(m))

static void races(watched *m)
{
    EXPECT(m, TK_OK, ""); /* nothing ran */
    watched_scatter_store(m);
    watched_scatter_add(m);
    watched_rows(m);
    watched_two_loops(m);
    EXPECT(m, TK_OK, ""); /* a permutation */
    for (int i = 0; i < 64; i++)
        m->to.data[i] = i;
    watched_read_write(m);
    watched_add_read(m);
    watched_through_function(m);
    EXPECT(m, TK_OK, ""); /* own elements */
    m->to.data[9] = 60;
    watched_scatter_store(m);
    EXPECT(m, TK_RACE,
           "watched.tk:11:39: in kernel 'scatter_store' one iteration of a parallel loop stores into 'y[60]', and "
           "another iteration stores into it at watched.tk:11:39: iterations are unordered");
    m->to.data[9] = 60;
    watched_scatter_add(m);
    EXPECT(m, TK_OK, ""); /* additions meet */
    watched_read_write(m);
    EXPECT(m, TK_RACE,
           "watched.tk:12:55: in kernel 'read_write' one iteration of a parallel loop reads 'y[31]', and another "
           "iteration stores into it at watched.tk:12:48");
    for (int i = 0; i < 64; i++)
        m->to.data[i] = i / 32 * 32 + 31 - i % 32;
    watched_add_read(m);
    EXPECT(m, TK_RACE,
           "watched.tk:15:9: in kernel 'add_read' one iteration of a parallel loop adds to 'y[15]', and another "
           "iteration reads it at watched.tk:16:16");
    m->to.data[20] = 3;
    watched_rows(m);
    EXPECT(m, TK_RACE,
           "watched.tk:23:36: in kernel 'rows' one iteration of a parallel loop stores into 'g[3] component 0'");
    watched_through_function(m);
    EXPECT(m, TK_RACE,
           "watched.tk:35:16: in kernel 'through_function' one iteration of a parallel loop reads 'y[31]', and another "
           "iteration stores into it at watched.tk:37:54");
}

static void numbers(watched *m)
{
    tk_session *s = tk_module_session(&m->tk);
    m->x.data[5] = -1.0f;
    watched_roots(m);
    EXPECT(m, TK_OK, ""); /* not asked for */
    tk_session_stop_at_nonfinite(s, true);
    m->x.data[5] = -1.0f;
    watched_roots(m);
    EXPECT(m, TK_NOT_FINITE, "watched.tk:39:31: 'y[5]' is NaN from here on, in the kernel 'roots'");
    m->x.data[7] = INFINITY;
    watched_roots(m);
    EXPECT(m, TK_NOT_FINITE,
           "watched.tk:39:43: 'x[7]' is infinite when it is read, put there by the host, in the kernel 'roots'");
    m->x.data[40] = 0.0f;
    watched_logs(m);
    EXPECT(m, TK_NOT_FINITE, "'g[40] component 2' is minus infinite from here on, in the kernel 'logs'");

    m->x.data[0] = 0.0f; /* sqrt(0) is fine, its derivative is not */
    TK_TAPE(m, m->loss) {
        watched_roots(m);
        watched_sum_plain(m);
    }
    EXPECT(m, TK_NOT_FINITE,
           "watched.tk:39:43: 'x.grad[0]' is infinite from here on, in the adjoint of kernel 'roots'");

    static const float seed[64] = {1.0f};
    tk_field *const outputs[] = {m->loss.field};
    m->x.data[0] = 0.0f;
    watched_forward_x(m, outputs, 1, seed, 64);
    watched_roots(m);
    tk_forward_end(s);
    EXPECT(m, TK_NOT_FINITE, "'y.dual[0]' is infinite from here on, in the JVP of kernel 'roots'");
    tk_session_stop_at_nonfinite(s, false);
    CHECK(tk_session_stop_at_nonfinite(NULL, true) == TK_BAD_ARGUMENT);
}

int main(void)
{
    watched *m = watched_create(NULL, NULL);
    if (!m)
        return 1;
    races(m);
    numbers(m);
    watched_destroy(m);
    return failures != 0;
}
