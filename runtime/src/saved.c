/* Saved fields: copies of what launches overwrite, and their way back. compiler/passes/derive/reverse/plan/saved.c has
 * the other half of the scheme. */
#include "needs.h"

/* For which adjoints a launch takes the data of a field; 0: for none. */
static unsigned use_of(const tk_module *m, const tk_part *a, bool on_tape)
{
    const unsigned own = (a->what & TK_BEFORE_WANTED) ? RT_FOR_ADJOINT : 0;
    const bool earlier = on_tape && (a->what & TK_SAVED) != 0 && m->fields[a->field].live_on_tape;
    if (!own)
        return earlier ? RT_FOR_EARLIER : 0;
    return own | ((a->what & TK_BEFORE_REPLAYED) ? RT_FOR_EARLIER : 0);
}

static bool keeps(const tk_module *m, const tk_kernel *k, bool on_tape)
{
    for (int i = 0; i < k->nparts; i++)
        if (use_of(m, &k->parts[i], on_tape))
            return true;
    return false;
}

/* The boxes that the launch overwrites. */
static void want(tk_module *m, const tk_kernel *k, bool on_tape, tk_plane plane)
{
    int64_t *box = m->session->tape.ends, whole[2 * DIMS_MAX];
    for (int i = 0; i < k->nparts; i++) {
        tk_field *f = &m->fields[k->parts[i].field];
        const size_t size = 2 * ((size_t)f->desc->ndim + 1);
        const unsigned use = use_of(m, &k->parts[i], on_tape);
        if (use && f->plane[plane]) {
            tk_rt_part_settle(&(rt_parts){.field = f, .box = box});
            tk_rt_needs_whole(f, whole);
            tk_rt_state_want(f, plane, memcmp(box, whole, size * sizeof *box) == 0 ? NULL : box, use);
        }
        box += size;
    }
}

tk_status tk_rt_saved_keep(tk_module *m, const tk_kernel *k, const void *args, tk_record *rec, bool on_tape, bool duals)
{
    tk_session *s = m->session;
    if (!k->saves)
        return TK_OK;
    if (!keeps(m, k, on_tape)) {
        tk_rt_saved_free(s, rec);
        return TK_OK;
    }
    if (!tk_rt_parts_compute(m, k, args, true))
        return tk_session_status(s);
    want(m, k, on_tape, TK_DATA);
    if (duals)
        want(m, k, on_tape, RT_TANGENT);
    rec->before = tk_rt_state_take(s, rec->before);
    if (!rec->before)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields that kernel '%s' overwrites", k->name);
    return TK_OK;
}

size_t tk_rt_saved_bytes(tk_module *m, const tk_kernel *k, const void *args, bool duals)
{
    if (!k->saves || !tk_rt_parts_compute(m, k, args, true))
        return 0;
    want(m, k, false, TK_DATA);
    if (duals)
        want(m, k, false, RT_TANGENT);
    return tk_rt_state_drop(m->session);
}

void tk_rt_saved_free(tk_session *s, tk_record *rec)
{
    tk_rt_states_free(s, &rec->before);
}

void tk_rt_saved_begin(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            m->fields[i].live_on_tape = false;
}

static bool is_saved(const tk_module *m, const tk_part *a)
{
    return (m->fields[a->field].desc->flags & TK_FIELD_SAVED) != 0 && a->plane == TK_DATA;
}

/* A state that no adjoint reads is not kept when it is overwritten: a field that is cleared and then filled costs one
 * copy, not two. If a launch overwrites a box of the field, the rest is still to be kept. */
void tk_rt_saved_launched(tk_module *m, const tk_kernel *k, const tk_record *rec)
{
    for (int i = 0; i < k->nparts && k->saves; i++) {
        tk_field *f = &m->fields[k->parts[i].field];
        const rt_piece *p = is_saved(m, &k->parts[i]) && (k->parts[i].what & RT_WRITES) != 0
                                ? tk_rt_state_piece(rec->before, f, TK_DATA)
                                : NULL;
        f->live_on_tape = f->live_on_tape && !(p && !p->box);
    }
    for (int i = 0; i < k->nparts && k->saves && k->grad; i++) {
        const tk_part *a = &k->parts[i];
        if (is_saved(m, a) && (a->what & TK_NEEDED) != 0 && (tk_rt_touches(k, a->field) & TK_BEFORE_WANTED) == 0)
            m->fields[a->field].live_on_tape = true;
    }
}

/* ---- the end of a tape ---- */

/* Adjoints put older data into these fields, or overwrite them: `live_on_tape`, which the way back does not use. */
static void mark_changed(const rt_entry *e)
{
    for (int i = 0; e->record.before && i < e->record.before->n; i++)
        for (int k = 0; k < e->record.before->piece[i].members; k++)
            e->record.before->piece[i].field[k].live_on_tape = true;
    for (int i = 0; e->kernel && i < e->kernel->nparts; i++)
        if ((e->kernel->parts[i].what & TK_BEFORE_REPLAYED) != 0)
            e->module->fields[e->kernel->parts[i].field].live_on_tape = true;
}

tk_status tk_rt_saved_keep_final(tk_session *s)
{
    tk_rt_saved_begin(s);
    for (size_t n = 0; n < s->tape.count; n++)
        mark_changed(&s->tape.entries[n]);
    for (tk_module *m = s->modules; m; m = m->next)
        for (int p = 0; p <= (int)s->forward.open; p++)
            for (int i = 0; i < m->desc->nfields; i++)
                if (m->fields[i].live_on_tape && m->fields[i].plane[p ? RT_TANGENT : TK_DATA])
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
    for (int i = 0; call && i < k->nparts; i++) {
        const tk_part *a = &k->parts[i];
        const tk_field *f = &m->fields[a->field];
        const bool kept = tk_rt_footprint_has(call, f, TK_STORES | TK_ACCUMULATES) &&
                          (!t->replaying || call->nlines < 0);
        if ((a->what & TK_SAVED) != 0 && (t->replaying || f->live_on_tape) && !kept)
            return tk_fail(m->session, TK_NO_DERIVATIVE,
                           "kernel '%s' overwrites the saved field '%s' inside the function '%s' of the host, whose "
                           "footprint does not say so",
                           k->name, f->desc->name, tk_rt_call_name(call));
    }
    return TK_OK;
}

bool tk_rt_saved_writes(const tk_kernel *k)
{
    for (int i = 0; i < k->nparts; i++)
        if ((k->parts[i].what & TK_SAVED) != 0)
            return true;
    return false;
}

bool tk_rt_saved_lacks(const tk_module *m, const tk_kernel *k, const tk_record *rec, bool duals)
{
    for (int i = 0; i < k->nparts; i++) {
        const tk_field *f = &m->fields[k->parts[i].field];
        if ((k->parts[i].what & TK_BEFORE_WANTED) == 0)
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
