/* Runs of a kernel's functions: their records, and work around each. */
#include "rt.h"

tk_status tk_rt_record_alloc(tk_session *s, const tk_kernel *k, tk_record *rec)
{
    rec->data = NULL;
    rec->size = 0;
    if (k->record_size == 0)
        return TK_OK;
    rec->data = tk_rt_alloc(s, k->record_size, true);
    if (!rec->data)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the record of a launch (kernel '%s')", k->name);
    rec->size = k->record_size;
    return TK_OK;
}

void tk_rt_record_free(tk_session *s, tk_record *rec)
{
    tk_rt_free(s, rec->data);
    rec->data = NULL;
    rec->size = 0;
    rec->launch = 0;
    tk_rt_records_free(s, rec);
    tk_rt_saved_free(s, rec);
    tk_rt_decisions_free(s, rec);
}

void tk_rt_record_number(tk_session *s, const tk_kernel *k, tk_record *rec)
{
    if (rec->olds)
        tk_rt_records_free(s, rec);
    if (k->draws || k->records)
        rec->launch = ++s->launches;
    if (k->draws)
        rec->key = tk_random_u64(s->opt.seed, s->draws++, 0);
}

tk_status tk_rt_run(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args, void *out, tk_record *rec)
{
    tk_session *s = m->session;
    const bool marks = k->marks && s->tape.open && !s->tape.validate; /* a validated tape sees more */
    if (s->said.call)
        tk_rt_said_launch(s);
    s->running = true;
    m->key = rec->key;
    const int64_t began = tk_rt_profile_enter(s);
    const unsigned mode = tk_rt_float_mode_enter(s);
    tk_rt_watch_begin(s, m, k, fn, rec);
    tk_status st = tk_rt_arrays_bind(m, k, fn, args);
    if (st == TK_OK && marks)
        st = tk_rt_marks_begin(m, k, fn);
    if (st == TK_OK)
        st = fn(m, args, out, rec);
    if (marks)
        tk_rt_marks_end(m, k);
    if (k->narrays > 0)
        tk_rt_arrays_unbind(m, k);
    tk_rt_watch_end(s);
    tk_rt_float_mode_leave(s, mode);
    tk_rt_profile_leave(m, k, fn, began);
    s->running = false;
    if (s->said.expected)
        tk_rt_said_launched(s);
    if (s->stacks)
        tk_rt_stacks_reclaim(s);
    tk_rt_stack_clear(&s->scratch);
    if (st != TK_OK && !tk_failed(s))
        tk_fail(s, st, "kernel '%s' of module '%s' failed", k->name, m->desc->name);
    if (s->stop && atomic_exchange_explicit(&s->printed, false, memory_order_relaxed))
        tk_rt_poll(s, true);
    return tk_session_status(s);
}

tk_status tk_rt_run_primal(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_record *rec = &m->last[k->index];
    if (rec->data)
        tk_rt_free(m->session, rec->data);
    tk_rt_record_number(m->session, k, rec);
    tk_status st = tk_rt_record_alloc(m->session, k, rec);
    if (st == TK_OK)
        st = tk_rt_saved_keep(m, k, args, rec, false, false);
    return st == TK_OK ? tk_rt_run(m, k, k->run, args, NULL, rec) : st;
}
