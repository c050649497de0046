/* Saved fields: copies of what launches overwrite, and their way back. compiler/passes/derive/reverse/plan/saved.c has
 * the other half of the scheme. */
#include "state.h"

/* For which adjoints a launch takes the data of a field; 0: for none. */
static unsigned use_of(const tk_module *m, const tk_access *a, bool on_tape)
{
    const unsigned own = (a->what & TK_BEFORE_WANTED) ? RT_FOR_ADJOINT : 0;
    const bool earlier = on_tape && (a->what & TK_SAVED) != 0 && m->fields[a->field].current;
    if (!own)
        return earlier ? RT_FOR_EARLIER : 0;
    return own | ((a->what & TK_BEFORE_REPLAYED) ? RT_FOR_EARLIER : 0);
}

tk_status tk_rt_saved_keep(tk_module *m, const tk_kernel *k, tk_record *rec, bool on_tape, bool duals)
{
    tk_session *s = m->session;
    for (int p = 0; p <= (int)duals; p++)
        for (int i = 0; i < k->naccess; i++) {
            tk_field *f = &m->fields[k->access[i].field];
            const tk_plane plane = p ? RT_TANGENT : TK_DATA;
            const unsigned use = use_of(m, &k->access[i], on_tape);
            if (use && f->plane[plane])
                tk_rt_state_want(f, plane, NULL, use);
        }
    if (tk_rt_state_wanted(s) == 0) {
        tk_rt_saved_free(s, rec);
        return TK_OK;
    }
    rec->before = tk_rt_state_take(s, rec->before);
    if (!rec->before)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields that kernel '%s' overwrites", k->name);
    return TK_OK;
}

void tk_rt_saved_free(tk_session *s, tk_record *rec)
{
    tk_rt_states_free(s, &rec->before);
}

void tk_rt_saved_begin(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            m->fields[i].current = false;
}

/* A state that no adjoint reads is not kept when it is overwritten: a field that is cleared and then filled costs one
 * copy, not two. */
void tk_rt_saved_launched(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; i < k->naccess; i++) {
        const tk_access *a = &k->access[i];
        bool *current = &m->fields[a->field].current;
        if ((a->what & (TK_STORES | TK_ACCUMULATES)) != 0)
            *current = false;
        if (k->grad && (a->what & TK_NEEDED) != 0 && (a->what & TK_BEFORE_WANTED) == 0)
            *current = true;
    }
}

/* ---- the end of a tape ---- */

/* Adjoints put older data into these fields, or overwrite them: `current`, which the way back does not use. */
static void mark_changed(const rt_entry *e)
{
    for (int i = 0; e->record.before && i < e->record.before->n; i++)
        for (int k = 0; k < e->record.before->piece[i].members; k++)
            e->record.before->piece[i].field[k].current = true;
    for (int i = 0; e->kernel && i < e->kernel->naccess; i++)
        if ((e->kernel->access[i].what & TK_BEFORE_REPLAYED) != 0)
            e->module->fields[e->kernel->access[i].field].current = true;
}

tk_status tk_rt_saved_keep_final(tk_session *s)
{
    tk_rt_saved_begin(s);
    for (size_t n = 0; n < s->tape.count; n++)
        mark_changed(&s->tape.entries[n]);
    for (tk_module *m = s->modules; m; m = m->next)
        for (int p = 0; p <= (int)s->forward.open; p++)
            for (int i = 0; i < m->desc->nfields; i++)
                if (m->fields[i].current && m->fields[i].plane[p ? RT_TANGENT : TK_DATA])
                    tk_rt_state_want(&m->fields[i], p ? RT_TANGENT : TK_DATA, NULL, 0);
    if (tk_rt_state_wanted(s) == 0)
        return TK_OK;
    s->tape.final = tk_rt_state_take(s, NULL);
    if (!s->tape.final)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields while a tape is closed");
    return TK_OK;
}

/* ---- adjoints called directly, launches inside functions of the host ---- */

tk_status tk_rt_saved_check_call(tk_module *m, const tk_kernel *k)
{
    const rt_tape *t = &m->session->tape;
    const rt_call *call = tk_rt_tape_call(m->session);
    for (int i = 0; call && i < k->naccess; i++) {
        const tk_access *a = &k->access[i];
        const tk_field *f = &m->fields[a->field];
        const bool kept = tk_rt_footprint_has(call, f, TK_STORES | TK_ACCUMULATES) &&
                          (!t->replaying || call->nlines < 0);
        if ((a->what & TK_SAVED) != 0 && (t->replaying || f->current) && !kept)
            return tk_fail(m->session, TK_NO_DERIVATIVE,
                           "kernel '%s' overwrites the saved field '%s' inside the function '%s' of the host, whose "
                           "footprint does not say so",
                           k->name, f->desc->name, tk_rt_call_name(call));
    }
    return TK_OK;
}

bool tk_rt_saved_writes(const tk_kernel *k)
{
    for (int i = 0; i < k->naccess; i++)
        if ((k->access[i].what & TK_SAVED) != 0)
            return true;
    return false;
}

bool tk_rt_saved_lacks(const tk_module *m, const tk_kernel *k, const tk_record *rec, bool duals)
{
    for (int i = 0; i < k->naccess; i++) {
        const tk_field *f = &m->fields[k->access[i].field];
        if ((k->access[i].what & TK_BEFORE_WANTED) == 0)
            continue;
        if (!tk_rt_state_piece(rec->before, f, TK_DATA) ||
            (duals && f->plane[RT_TANGENT] && !tk_rt_state_piece(rec->before, f, RT_TANGENT)))
            return true;
    }
    return false;
}

tk_status tk_rt_saved_run(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args, void *out,
                          tk_record *rec)
{
    tk_session *s = m->session;
    struct rt_state *now = rec->before ? tk_rt_state_take_again(s, rec->before) : NULL;
    if (rec->before && !now)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields that kernel '%s' overwrites", k->name);
    tk_rt_state_restore(rec->before, 0); /* the adjoint may overwrite them */
    const tk_status st = tk_rt_run(m, k, fn, args, out, rec);
    tk_rt_state_restore(now, 0);
    tk_rt_states_free(s, &now);
    return st;
}
