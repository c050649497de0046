/* A module with one kernel, or an export func, as sides.py calls it: what is inline, a macro, or has types of its own
 * in the headers that tkc writes. run.py defines HEADER, and MODULE, KERNEL, LOSS, PARAMS (assignments to p from v) or
 * WORKSPACE. */
#include HEADER

#ifdef WORKSPACE
size_t peer_workspace(int64_t n)
{
    return WORKSPACE(n);
}
#else
#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)

MODULE *peer_create(int threads, const int64_t *v)
{
    tk_session_options so = tk_session_defaults();
    so.threads = threads;
    so.flush_denormals = true; /* as JAX and Taichi do */
    tk_session *s = tk_session_create(&so);
    GLUE(MODULE, params) p = GLUE(MODULE, defaults)();
    PARAMS;
    return s ? GLUE(MODULE, create)(s, &p) : NULL;
}

const char *peer_error(void)
{
    return tk_error();
}

/* Of a field: its data are set, its gradient is read. */
tk_status peer_set(MODULE *m, const char *name, int64_t n, const double *values)
{
    return tk_field_set(tk_field_find(tk_module_session(&m->tk), name), TK_DATA, 0, n, values);
}

tk_status peer_get(MODULE *m, const char *name, int64_t n, double *values)
{
    return tk_field_get(tk_field_find(tk_module_session(&m->tk), name), TK_GRAD, 0, n, values);
}

double peer_loss(const MODULE *m)
{
    return (double)m->LOSS.data[0];
}

void peer_primal(MODULE *m, int n)
{
    for (; n > 0; n--) {
        m->LOSS.data[0] = 0;
        GLUE(MODULE, KERNEL)(m);
    }
}

void peer_gradient(MODULE *m, int n)
{
    for (; n > 0; n--) {
        TK_TAPE(m, m->LOSS) GLUE(MODULE, KERNEL)(m);
    }
}
#endif
