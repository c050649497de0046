/* Tapes whose gradients are added to those that are there: these are set aside when the tape opens, so that its
 * adjoints do not take them for gradients of its final state, and added when it closes. */
#include "states.h"

bool tk_rt_plane_is_zero(const tk_field *f, tk_plane plane)
{
    const size_t n = tk_rt_is_dense(f, plane) ? tk_field_bytes(f) : 0;
    uint64_t word;
    for (size_t i = 0; i < n; i += sizeof word) {
        word = 0;
        memcpy(&word, (const unsigned char *)f->plane[plane] + i, n - i < sizeof word ? n - i : sizeof word);
        if (word != 0)
            return false;
    }
    for (int64_t k = 0; !tk_rt_is_dense(f, plane) && k < (int64_t)tk_rt_scalars(f); k++)
        if (tk_rt_scalar_get(f, plane, k) != 0.0)
            return false;
    return true;
}

static void forget(tk_session *s)
{
    tk_rt_states_free(s, &s->tape.before);
    s->tape.sum = false;
}

tk_status tk_rt_sum_begin(const tk_field *loss)
{
    tk_session *s = loss->module->session;
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < TK_PLANE_COUNT; p++) {
                tk_field *f = &m->fields[i];
                if (f != loss && tk_rt_is_adjoint(p) && f->plane[p] && !tk_rt_plane_is_zero(f, (tk_plane)p))
                    tk_rt_state_want(f, (tk_plane)p, NULL, (unsigned)i + 1); /* field by field */
            }
    s->tape.before = tk_rt_state_take(s, NULL);
    s->tape.sum = s->tape.before != NULL;
    if (!s->tape.sum)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the gradients that a tape is to be added to");
    return TK_OK;
}

void tk_rt_sum_add(tk_session *s)
{
    tk_rt_state_add(s, s->tape.before);
    forget(s);
}

void tk_rt_sum_put_back(tk_session *s)
{
    if (!s->tape.sum)
        return;
    tk_rt_clear_session(s, RT_ADJOINT);
    tk_rt_state_restore(s->tape.before, 0);
    forget(s);
}
