/* Entries of a tape: launches with what their adjoints need of them, and these adjoints. */
#include "budget.h"

#include "params.h"

static bool grow_entries(tk_session *s)
{
    rt_tape *t = &s->tape;
    const size_t cap = t->cap ? 2 * t->cap : 64;
    rt_entry *entries = cap > SIZE_MAX / 4 / sizeof *entries ? NULL : tk_rt_alloc(s, cap * sizeof *entries, false);
    if (!entries)
        return false;
    if (t->count > 0)
        memcpy(entries, t->entries, t->count * sizeof *entries);
    tk_rt_free(s, t->entries);
    t->entries = entries;
    t->cap = cap;
    return true;
}

bool tk_rt_entry_reserve(tk_session *s, const char *what, const char *name)
{
    if (s->tape.count < s->tape.cap || grow_entries(s))
        return true;
    tk_fail(s, TK_NO_MEMORY, "out of memory for launch %zu of a tape (%s '%s')", s->tape.count + 1, what, name);
    return false;
}

static bool push_call(tk_session *s, const rt_logged *l)
{
    if (!tk_rt_entry_reserve(s, "call of", tk_rt_call_name(l->call)))
        return false;
    s->tape.entries[s->tape.count++] = (rt_entry){.args = l->args,
                                                  .call = l->call,
                                                  .params = l->params,
                                                  .draws = l->key,
                                                  .first = l->launch,
                                                  .last = l->last,
                                                  .seed = l->seed};
    return true;
}

/* The entry is there while forward runs. */
static tk_status run_call(tk_session *s, const rt_logged *l)
{
    if (push_call(s, l))
        tk_rt_call_replay(s, &s->tape.entries[s->tape.count - 1], false);
    tk_rt_entries_drop(s);
    return tk_session_status(s);
}

/* Under a budget, before a launch: an entry of it alone, without its old values. 0: it leaves none, or runs again. */
static size_t alone_bytes(const rt_logged *l)
{
    const tk_session *s = l->module->session;
    if (!s->tape.budget || s->again || tk_rt_leaves_no_entry(l->kernel))
        return 0;
    return sizeof(rt_entry) + l->kernel->record_size + tk_rt_args_size(s, l->kernel) +
           tk_rt_saved_bytes(l->module, l->kernel, l->args, s->forward.open);
}

tk_status tk_rt_line_run(tk_session *s, const rt_logged *l)
{
    if (l->call)
        return run_call(s, l);
    tk_record rec = {.key = l->key, .launch = l->launch};
    tk_status st = tk_rt_record_alloc(s, l->kernel, &rec);
    const size_t alone = alone_bytes(l);
    if (st == TK_OK)
        st = tk_rt_run(l->module, l->kernel, s->forward.open ? l->kernel->jvp : l->kernel->run, l->args, NULL, &rec);
    if (alone > 0)
        tk_rt_budget_sized(s, alone + tk_rt_records_bytes(&rec));
    tk_rt_record_free(s, &rec);
    return st;
}

/* An entry with room for the record, or NULL after failing the session. */
static rt_entry *push_entry(const rt_logged *l)
{
    tk_module *m = l->module;
    const tk_kernel *k = l->kernel;
    tk_session *s = m->session;
    rt_tape *t = &s->tape;
    if (!tk_rt_entry_reserve(s, "kernel", k->name))
        return NULL;
    rt_entry e = {
        .module = m, .kernel = k, .args = l->args, .params = l->params, .record = {.key = l->key, .launch = l->launch}};
    if (tk_rt_record_alloc(s, k, &e.record) != TK_OK ||
        tk_rt_saved_keep(m, k, l->args, &e.record, true, s->forward.open) != TK_OK) {
        tk_rt_record_free(s, &e.record);
        return NULL;
    }
    t->bytes += sizeof e + e.record.size + tk_rt_states_bytes(e.record.before);
    t->entries[t->count] = e;
    return &t->entries[t->count++];
}

/* jvp: the launch is a JVP, which writes duals as well. */
static tk_status run_recorded(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, rt_entry *e, bool jvp)
{
    struct rt_kept *kept;
    tk_status st = tk_rt_needs_before(m, k, e->args, jvp, true, &kept);
    if (st != TK_OK)
        return st;
    st = tk_rt_run(m, k, fn, e->args, NULL, &e->record);
    m->session->tape.bytes += tk_rt_records_bytes(&e->record);
    return tk_rt_needs_after(m->session, (rt_writer){m, k, NULL}, st, &kept, &e->changes);
}

tk_status tk_rt_run_unrecorded(tk_module *m, const tk_kernel *k, const void *args, const rt_logged *line)
{
    tk_session *s = m->session;
    rt_tape *t = &s->tape;
    struct rt_kept *kept;
    rt_entry e = {.module = m, .kernel = k, .params = s->tape.in_force};
    tk_status st = tk_rt_needs_before(m, k, args, false, false, &kept);
    if (st != TK_OK)
        return st;
    if (kept && !tk_rt_entry_reserve(s, "kernel", k->name))
        st = tk_session_status(s);
    if (st == TK_OK)
        st = line ? tk_rt_line_run(s, line) : tk_rt_run_primal(m, k, args);
    st = tk_rt_needs_after(s, (rt_writer){m, k, NULL}, st, &kept, &e.changes);
    if (e.changes)
        t->entries[t->count++] = e;
    return st;
}

bool tk_rt_leaves_no_entry(const tk_kernel *k)
{
    return !k->grad && !k->no_grad && !tk_rt_saved_writes(k);
}

static tk_status record(const rt_logged *l)
{
    tk_module *m = l->module;
    tk_session *s = m->session;
    const tk_kernel *k = l->kernel;
    const size_t alone = alone_bytes(l);
    rt_entry *e = push_entry(l);
    if (!e)
        return tk_session_status(s);
    tk_rt_saved_launched(m, k, &e->record);
    s->watch.reads = s->tape.validate;
    const tk_status ran = run_recorded(m, k, s->forward.open ? k->jvp : k->run, e, s->forward.open);
    s->watch.reads = false;
    if (alone > 0)
        tk_rt_budget_sized(s, alone + tk_rt_records_bytes(&e->record));
    if (s->tape.validate && ran == TK_OK)
        e->arrays = tk_rt_arrays_hash(m, k, e->args);
    return ran;
}

tk_status tk_rt_entry_record(tk_session *s, const rt_logged *l)
{
    if (l->kernel)
        return tk_rt_leaves_no_entry(l->kernel) && !s->forward.open
                   ? tk_rt_run_unrecorded(l->module, l->kernel, l->args, l)
                   : record(l);
    if (push_call(s, l) && tk_rt_call_runs_again(l->call)) {
        s->tape.bytes += sizeof *s->tape.entries;
        tk_rt_call_replay(s, &s->tape.entries[s->tape.count - 1], false);
    }
    return tk_session_status(s);
}

void tk_rt_entries_free(tk_session *s)
{
    rt_tape *t = &s->tape;
    for (size_t i = 0; i < t->count; i++) {
        tk_rt_record_free(s, &t->entries[i].record);
        tk_rt_states_free(s, &t->entries[i].changes);
    }
    t->count = t->listed = 0;
}

void tk_rt_entries_drop(tk_session *s)
{
    tk_rt_entries_free(s);
    tk_rt_needs_forget(s);
    s->tape.bytes = 0;
    s->tape.undone = false;
    s->tape.replaying = false;
}

void tk_rt_entries_restart(tk_session *s, size_t start)
{
    tk_rt_entries_drop(s);
    tk_rt_saved_begin(s);
    s->tape.start = start;
    s->tape.all = false;
}

/* ---- the adjoints ---- */

/* It may overwrite what adjoints of earlier launches need: that is put back behind it. */
static tk_status run_own_adjoint(rt_entry *e)
{
    struct rt_kept *kept = NULL;
    tk_status st = e->module->session->tape.budget && !tk_rt_image_beside(e->module, e->kernel->back, e->args)
                       ? tk_session_status(e->module->session)
                       : tk_rt_needs_before(e->module, e->kernel->back, e->args, false, false, &kept);
    if (st == TK_OK)
        st = tk_rt_run(e->module, e->kernel, e->kernel->grad, e->args, NULL, &e->record);
    return tk_rt_needs_after(e->module->session, (rt_writer){e->module, e->kernel->back, NULL}, st, &kept,
                             &e->module->session->tape.scratch);
}

tk_status tk_rt_entries_back(tk_session *s)
{
    rt_tape *t = &s->tape;
    tk_status st = TK_OK;
    t->replaying = true;
    for (size_t i = t->count; i-- > 0 && st == TK_OK;) {
        rt_entry *e = &t->entries[i];
        t->at = i;
        tk_rt_params_use(s, e->params);
        tk_rt_state_restore(e->record.before, RT_FOR_ADJOINT);
        if (e->call)
            st = tk_rt_call_replay(s, e, true);
        else if (e->kernel->back)
            st = run_own_adjoint(e);
        else if (e->kernel->grad)
            st = tk_rt_run(e->module, e->kernel, s->forward.open ? e->kernel->hvp : e->kernel->grad, e->args, NULL,
                           &e->record);
        tk_rt_state_restore(e->record.before, RT_FOR_EARLIER);
        tk_rt_states_put_back(s, &t->scratch);
        tk_rt_states_undo(e->changes);
        t->undone = t->undone || e->changes;
        if (st == TK_OK)
            st = t->failed; /* a function of the host's may have cleared the error */
    }
    return st;
}
