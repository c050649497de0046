/* The tape: which launches ran, and their adjoints in reverse. */
#include "budget.h"

#include "params.h"

const rt_call *tk_rt_tape_call(const tk_session *s)
{
    const rt_tape *t = &s->tape;
    return t->open && s->in_call ? t->entries[t->replaying ? t->at : t->count - 1].call : NULL;
}

/* Around a function without footprint all that adjoints need is compared in any case. */
tk_status tk_rt_tape_inside(tk_module *m, const tk_kernel *k, const void *args, bool jvp, struct rt_kept **kept)
{
    const rt_call *call = tk_rt_tape_call(m->session);
    *kept = NULL;
    if (m->session->tape.budget && !tk_rt_image_beside(m, k, args))
        return tk_session_status(m->session);
    return call && call->nlines >= 0 ? tk_rt_needs_before(m, k, args, jvp, false, kept) : TK_OK;
}

tk_status tk_rt_tape_inside_end(tk_module *m, const tk_kernel *k, tk_status st, struct rt_kept **kept)
{
    rt_tape *t = &m->session->tape;
    if (!*kept)
        return st;
    return tk_rt_needs_after(m->session, (rt_writer){m, k, NULL}, st, kept,
                             t->replaying ? &t->scratch
                                          : &t->entries[t->count - 1].changes); /* there the last entry is the call's */
}

static tk_status refuse_grad_args(tk_module *m, const tk_kernel *k)
{
    return tk_fail(m->session, TK_NO_DERIVATIVE,
                   "kernel '%s' of module '%s' has needs_grad parameters, whose gradient a tape cannot return: "
                   "make them fields (bound to your memory), or call '%s_grad'",
                   k->name, m->desc->name, k->name);
}

/* A kernel that a tape may hold. */
static tk_status launch(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    rt_logged line;
    tk_status st = s->tape.budget ? tk_rt_budget_launch(m, k, args) : TK_OK;
    const tk_mark mark = tk_stack_mark(&s->tape.args);
    if (st == TK_OK)
        st = s->tape.budget ? tk_rt_log_launch(m, k, args, &line) : tk_rt_line_make(m, k, args, &line);
    if (st != TK_OK)
        return st;
    tk_rt_record_free(s, &m->last[k->index]); /* what a direct call of the adjoint would go by is now out of date */
    const int64_t began = s->tape.budget ? tk_rt_now() : 0;
    if (!s->tape.budget || !s->tape.budget->over) {
        tk_rt_tape_count(s, line.args ? tk_rt_args_size(s, k) : 0);
        st = tk_rt_entry_record(s, &line);
    } else {
        st = tk_rt_line_run(s, &line);
        tk_stack_reset(&s->tape.args, mark);
    }
    if (s->tape.budget)
        tk_rt_log_spent(s, began);
    return st;
}

/* Inside a forward scope the launch is the JVP, and its derivative the JVP of the adjoint. */
static tk_status launch_second_order(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    if (!k->jvp || (!k->hvp && (k->grad || k->no_grad)))
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "kernel '%s' of module '%s' has no %s, which a tape inside a forward scope needs: %s", k->name,
                       m->desc->name, k->jvp ? "second-order product" : "JVP",
                       k->jvp || !k->no_jvp ? "declare it derive(grad, jvp, hvp)" : k->no_jvp);
    if (k->grad_args)
        return refuse_grad_args(m, k);
    tk_status st = tk_rt_arrays_refuse_results(m, k, "a tape");
    if (st == TK_OK)
        st = tk_module_need_grad_dual(m);
    return st == TK_OK ? launch(m, k, args) : st;
}

static tk_status launch_first_order(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    const bool is_zero = !k->grad && !k->no_grad; /* by intent */
    if (tk_rt_leaves_no_entry(k))
        return s->tape.budget ? launch(m, k, args) : tk_rt_run_unrecorded(m, k, args, NULL);
    if (k->grad && k->no_grad)
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "kernel '%s' of module '%s' has no adjoint that a tape could run: %s; call '%s_grad'", k->name,
                       m->desc->name, k->no_grad, k->name);
    if (!k->grad && !is_zero)
        return tk_fail(s, TK_NO_DERIVATIVE, "kernel '%s' of module '%s' has no adjoint, which a tape needs: %s",
                       k->name, m->desc->name, k->no_grad);
    const tk_status st = k->grad_args ? refuse_grad_args(m, k)
                         : is_zero    ? TK_OK
                                      : tk_rt_arrays_refuse_results(m, k, "a tape");
    return st == TK_OK ? launch(m, k, args) : st;
}

tk_status tk_rt_tape_launch(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    if (s->forward.open)
        return launch_second_order(m, k, args);
    tk_status st = s->tape.validate ? tk_rt_watch_check(m, k) : TK_OK;
    if (st != TK_OK)
        return st;
    s->watch.writes = s->tape.validate;
    st = launch_first_order(m, k, args);
    s->watch.writes = false;
    return st;
}

tk_status tk_rt_tape_record_call(tk_session *s, const rt_call *c, const void *args, size_t size, void **kept)
{
    rt_tape *t = &s->tape;
    *kept = (void *)args; /* of size 0: the caller's own */
    if (t->budget && tk_rt_budget_call(s, c) != TK_OK)
        return tk_session_status(s);
    if (!tk_rt_entry_reserve(s, "call of", tk_rt_call_name(c)))
        return tk_session_status(s);
    const rt_call *same = t->budget && size == 0 ? tk_rt_log_call_of(s, c) : NULL;
    rt_call *copy = same ? NULL : tk_rt_call_copy(s, c);
    const int64_t copies = t->budget && tk_rt_call_runs_again(c) ? 2 : 1;
    if (copy && size > 0)
        *kept = tk_stack_alloc(&t->args, copies, size);
    if ((!copy && !same) || (size > 0 && !*kept))
        return tk_session_status(s);
    for (int64_t i = 0; i < copies && size > 0; i++)
        memcpy((unsigned char *)*kept + (size_t)i * size, args, size);
    if (copy)
        copy->again_size = copies > 1 ? size : 0;
    t->bytes += sizeof *t->entries;
    tk_rt_tape_count(s, (size_t)copies * size);
    if (t->budget)
        t->budget->call_began = tk_rt_now();
    t->entries[t->count++] = (rt_entry){.args = *kept,
                                        .call = same ? same : copy,
                                        .params = t->params,
                                        .draws = s->draws,
                                        .first = s->launches,
                                        .seed = s->opt.seed};
    return TK_OK;
}

void tk_rt_tape_called(tk_session *s, const rt_entry *e)
{
    const rt_logged line = {.args = e->args,
                            .call = e->call,
                            .key = e->draws,
                            .launch = e->first,
                            .last = e->last,
                            .seed = e->seed,
                            .params = e->params};
    struct rt_budget *u = s->tape.budget;
    if (!u || s->tape.replaying || s->again || tk_rt_log_call(s, &line) != TK_OK)
        return;
    tk_rt_log_spent(s, u->call_began);
    if (u->over)
        tk_rt_entries_drop(s);
}

void tk_rt_tape_end_call(tk_session *s)
{
    s->watch.stretch++;
    if (s->tape.doomed && !s->in_call)
        tk_rt_tape_close(s);
}

/* All data as they were at the end of the tape. */
static void redo_changes(rt_tape *t)
{
    for (size_t i = 0; i < t->count && t->undone; i++)
        tk_rt_states_redo(&t->entries[i].changes);
    t->undone = false;
}

static void put_final(tk_session *s)
{
    tk_rt_state_restore(s->tape.final, 0);
    tk_rt_states_free(s, &s->tape.final);
}

void tk_rt_tape_close(tk_session *s)
{
    rt_tape *t = &s->tape;
    tk_rt_needs_drop(s, &t->call_kept); /* if an exception of the host's passed through */
    tk_rt_sum_put_back(s);
    tk_rt_states_put_back(s, &t->scratch);
    redo_changes(t);
    put_final(s);
    tk_rt_entries_free(s);
    tk_rt_budget_close(s);
    t->start = 0;
    if (t->validate)
        tk_rt_watch_forget(s);
    t->open = t->validate = false;
    t->loss = NULL;
    t->failed = TK_OK;
    t->replaying = false;
    t->doomed = t->all = false;
    tk_rt_params_close(s);
    tk_rt_stack_clear(&t->args);
}

void tk_rt_tape_free(tk_session *s)
{
    tk_rt_tape_close(s);
    tk_rt_stack_free(&s->tape.args);
    tk_rt_free(s, s->tape.entries);
    tk_rt_free(s, s->tape.ends);
    tk_rt_free(s, s->wants.piece);
    s->tape.entries = NULL;
    s->tape.ends = NULL;
    s->tape.cap = 0;
    s->tape.nends = 0;
}

void tk_rt_tape_forget(tk_module *m)
{
    tk_session *s = m->session;
    bool used = s->tape.open && s->tape.loss->module == m;
    for (size_t i = 0; s->tape.open && i < s->tape.count; i++) {
        rt_entry *e = &s->tape.entries[i];
        used = used || e->module == m || (e->call && tk_rt_footprint_names(e->call, m));
        tk_rt_states_forget(e->changes, m);
    }
    tk_rt_states_forget(s->tape.scratch, m);
    tk_rt_states_forget(s->tape.before, m);
    tk_rt_states_forget(s->tape.final, m);
    used = (s->tape.budget && tk_rt_budget_forget(m)) || used;
    tk_rt_kept_forget(s, &s->tape.call_kept, m);
    tk_rt_said_forget(s, m);
    tk_rt_params_forget(m);
    if (used) {
        if (s->in_call) {
            redo_changes(&s->tape);
            for (size_t i = 0; i < s->tape.count; i++)
                tk_rt_states_free(s, &s->tape.entries[i].changes);
            s->tape.doomed = true;
            s->tape.failed = TK_BAD_STATE;
        } else {
            tk_rt_tape_close(s);
        }
        tk_fail(s, TK_BAD_STATE, "module '%s' was destroyed while a tape that uses it was open", m->desc->name);
    }
    if (s->forward.open && s->forward.param->module == m) {
        s->forward = (rt_forward){0};
        tk_fail(s, TK_BAD_STATE, "module '%s' was destroyed while a forward scope of its field was open",
                m->desc->name);
    }
}

/* ---- the interface ---- */

static void set_scalar(tk_field *f, tk_plane plane, double value)
{
    if (f->desc->elem == TK_F32)
        *(float *)f->plane[plane] = (float)value;
    else
        *(double *)f->plane[plane] = value;
}

static tk_status open_tape(tk_field *loss)
{
    tk_session *s = loss->module->session;
    const tk_status st = tk_rt_budget_open(s);
    if (st != TK_OK)
        return st;
    tk_rt_saved_begin(s);
    s->tape.open = true;
    s->tape.loss = loss;
    s->tape.bytes = 0;
    tk_rt_needs_forget(s);
    return TK_OK;
}

static tk_status check_flags(tk_session *s, unsigned flags)
{
    const unsigned known = TK_TAPE_VALIDATE | TK_TAPE_SUM | TK_TAPE_CONTINUE;
    if ((flags & 1) != 0)
        return tk_fail(s, TK_BAD_ARGUMENT,
                       "tk_tape_begin: the flag 0x1 (TK_TAPE_KEEP_GRAD) is gone: TK_TAPE_SUM adds the gradients of "
                       "this tape to those before, "
                       "TK_TAPE_CONTINUE takes those before for the gradients of its final state");
    if ((flags & ~known) != 0)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_tape_begin: unknown flags 0x%x", flags);
    if ((flags & TK_TAPE_SUM) != 0 && (flags & TK_TAPE_CONTINUE) != 0)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_tape_begin: TK_TAPE_SUM and TK_TAPE_CONTINUE exclude each other");
    return TK_OK;
}

static tk_status begin(tk_session *s, tk_field *loss, unsigned flags)
{
    const tk_field_desc *d = loss->desc;
    tk_status st = tk_rt_check_no_tape(s, "opening a tape");
    if (st == TK_OK && s->forward.open)
        st = tk_rt_check_outside(s, "opening a tape");
    if (st == TK_OK)
        st = check_flags(s, flags);
    if (st != TK_OK)
        return st;
    if (d->ndim != 0 || d->ncomp != 1 || !tk_rt_is_float(loss))
        return tk_fail(s, TK_BAD_ARGUMENT, "the loss of a tape must be a 0-D field of one float; '%s' is not", d->name);
    if (tk_rt_wide(loss, TK_GRAD))
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "field '%s' cannot be the loss of a tape: its gradient has several directions", d->name);
    if (!loss->plane[TK_GRAD])
        return tk_fail(s, TK_NO_DERIVATIVE, "field '%s' cannot be the loss of a tape: it is not declared needs_grad",
                       d->name);
    if ((flags & TK_TAPE_VALIDATE) != 0 && s->forward.open)
        return tk_fail(s, TK_BAD_STATE,
                       "a tape inside a forward scope cannot be validated: validate the same launches outside of it");
    if ((flags & TK_TAPE_VALIDATE) != 0 && s->tape_budget > 0)
        return tk_fail(s, TK_BAD_STATE,
                       "a tape under a budget cannot be validated: validate the same launches without a budget "
                       "(tk_tape_budget of 0)");
    if ((flags & TK_TAPE_SUM) != 0)
        st = tk_rt_sum_begin(loss);
    if (st == TK_OK && (st = open_tape(loss)) != TK_OK)
        tk_rt_sum_put_back(s);
    if (st != TK_OK)
        return st;
    s->tape.continues = (flags & TK_TAPE_CONTINUE) != 0;
    if (!s->tape.continues)
        tk_rt_clear_session(s, TK_GRAD);
    set_scalar(loss, TK_DATA, 0.0);
    if (s->forward.open && loss->plane[TK_DUAL])
        set_scalar(loss, TK_DUAL, 0.0);
    s->tape.validate = (flags & TK_TAPE_VALIDATE) != 0;
    return TK_OK;
}

/* st: how opening a tape went; all processes open it, or none. */
static tk_status begin_together(tk_session *s, tk_status st)
{
    if (!s->agree.fn)
        return st;
    const tk_status all = tk_rt_agree(s, "the opening of a tape", NULL, 0);
    if (st == TK_OK && all != TK_OK)
        tk_rt_tape_close(s);
    return all;
}

tk_status tk_tape_begin(tk_field *loss, unsigned flags)
{
    if (!loss)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_tape_begin: the loss is NULL");
    tk_session *s = loss->module->session;
    RT_ENTER(s, "tk_tape_begin", TK_BAD_STATE);
    return begin_together(s, begin(s, loss, flags));
}

tk_status tk_rt_tape_record(tk_field *output)
{
    tk_session *s = output->module->session;
    tk_status st = tk_rt_check_closed(s, "opening a tape");
    if (st == TK_OK) {
        tk_rt_clear_session(s, TK_GRAD);
        st = open_tape(output);
    }
    return begin_together(s, st);
}

static tk_status run_adjoints(tk_session *s)
{
    tk_status st;
    if (s->tape.budget && s->tape.budget->over) {
        st = tk_rt_budget_back(s);
    } else {
        st = tk_rt_saved_keep_final(s);
        st = st == TK_OK ? tk_rt_entries_back(s) : st;
        redo_changes(&s->tape);
    }
    put_final(s);
    return st;
}

/* Runs also where a C++ exception passes through. */
static void leave_tape(tk_session **s)
{
    tk_rt_tape_close(*s);
}

tk_status tk_rt_tape_play(tk_session *s, tk_status st, const double *loss_grad)
{
    __attribute__((cleanup(leave_tape), unused)) tk_session *held = s;
    tk_field *loss = s->tape.loss;
    if (st == TK_OK && s->tape.validate)
        st = tk_rt_watch_compare(s);
    if (st == TK_OK && s->tape.budget)
        st = tk_rt_budget_check(s);
    if (s->agree.fn)
        st = tk_rt_agree(s, "the closing of a tape", NULL, 0);
    if (st == TK_OK && loss_grad) {
        set_scalar(loss, TK_GRAD, *loss_grad);
        if (loss->plane[TK_GRAD_DUAL])
            set_scalar(loss, TK_GRAD_DUAL, 0.0);
    }
    if (st == TK_OK)
        st = run_adjoints(s);
    if (s->agree.fn && st != TK_OK && !tk_failed(s))
        tk_fail(s, st, "an adjoint failed (%s, cleared since)", tk_status_name(st));
    if (s->agree.fn)
        st = tk_rt_agree(s, "the end of a tape", NULL, 0);
    if (st == TK_OK && s->tape.sum)
        tk_rt_sum_add(s);
    return st;
}

static bool may_write(const rt_entry *e, const tk_field *loss)
{
    return e->call || /* a function of the host's: nothing is known */
           (e->module == loss->module &&
            (tk_rt_touches(e->kernel, (int)(loss - loss->module->fields)) & RT_WRITES) != 0);
}

/* Launches, none of which writes the loss, and nobody has set another gradient: all would be zero, without a word. A
 * tape without a launch is a program that ran no step. The gradients that a segment is handed may all be zero, and who
 * gives the loss none has set others. */
static bool is_for_nothing(const tk_session *s, const tk_field *loss, double loss_grad)
{
    if (s->tape.continues || loss_grad == 0 || (s->tape.budget && tk_rt_budget_writes(s, loss)))
        return false;
    for (size_t i = 0; i < s->tape.count; i++)
        if (may_write(&s->tape.entries[i], loss))
            return false;
    for (const tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            if (&m->fields[i] != loss && m->fields[i].plane[TK_GRAD] && !tk_rt_plane_is_zero(&m->fields[i], TK_GRAD))
                return false;
    return s->tape.count > 0 || (s->tape.budget && s->tape.budget->n > 0);
}

tk_status tk_tape_end_with(tk_field *loss, double loss_grad)
{
    if (!loss)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_tape_end: the loss is NULL");
    tk_session *s = loss->module->session;
    RT_ENTER(s, "tk_tape_end", TK_BAD_STATE);
    tk_status st = tk_rt_check_outside(s, "closing a tape");
    if (st != TK_OK)
        return st;
    st = tk_session_status(s);
    if (!s->tape.open)
        return st != TK_OK ? st : tk_fail(s, TK_BAD_STATE, "tk_tape_end: no tape is open");
    if (st == TK_OK && s->tape.failed)
        st = tk_fail(s, s->tape.failed,
                     "tk_tape_end: something failed since the tape was opened (%s, cleared since), so no adjoint runs",
                     tk_status_name(s->tape.failed));
    if (st == TK_OK && loss != s->tape.loss)
        st = tk_fail(s, TK_BAD_ARGUMENT, "tk_tape_end: the tape was opened on field '%s', not '%s'",
                     s->tape.loss->desc->name, loss->desc->name);
    if (st == TK_OK && is_for_nothing(s, loss, loss_grad))
        st = tk_fail(s, TK_BAD_ARGUMENT,
                     "tk_tape_end: none of the launches on the tape writes to the loss '%s', so all gradients would be "
                     "zero (what ran before the tape was opened is not on it)",
                     loss->desc->name);
    return tk_rt_tape_play(s, st, &loss_grad);
}

tk_status tk_tape_end(tk_field *loss)
{
    return tk_tape_end_with(loss, 1.0);
}

tk_status tk_tape_drop(tk_session *s)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_tape_drop: the session is NULL");
    RT_ENTER(s, "tk_tape_drop", TK_BAD_STATE);
    const tk_status st = tk_rt_check_outside(s, "dropping a tape");
    if (st == TK_OK && s->tape.open) {
        tk_rt_agree(s, "the dropping of a tape", NULL, 0);
        tk_rt_tape_close(s);
    }
    return st;
}

bool tk_tape_is_open(const tk_session *s)
{
    return s && s->tape.open;
}

size_t tk_tape_bytes(const tk_session *s)
{
    return !s ? 0 : s->report.budget > 0 && !s->tape.open ? s->report.bytes : s->tape.bytes;
}

/* ---- TK_TAPE ---- */

enum { GUARD_CLOSED, GUARD_OPEN, GUARD_IN_BLOCK };

tk_tape_guard tk_tape_enter(tk_module *m, tk_field *loss, unsigned flags)
{
    tk_tape_guard g = {loss, GUARD_CLOSED};
    if (!m || !loss)
        tk_rt_thread_fail(TK_BAD_ARGUMENT, "TK_TAPE: the module or the loss is NULL");
    else if (loss->module->session != m->session)
        tk_fail(m->session, TK_BAD_ARGUMENT, "TK_TAPE: field '%s' belongs to another session than module '%s'",
                loss->desc->name, m->desc->name);
    else if (tk_tape_begin(loss, flags) == TK_OK)
        g.state = GUARD_OPEN;
    return g;
}

bool tk_tape_step(tk_tape_guard *g)
{
    if (g && g->state == GUARD_OPEN) {
        g->state = GUARD_IN_BLOCK;
        return true;
    }
    if (g && g->state == GUARD_IN_BLOCK) {
        g->state = GUARD_CLOSED;
        (void)tk_tape_end(g->loss); /* the failure sticks */
    }
    return false;
}

void tk_tape_leave(tk_tape_guard *g)
{
    if (!g || g->state == GUARD_CLOSED)
        return;
    tk_session *s = g->loss->module->session;
    RT_ENTER(s, "TK_TAPE", );
    if (s->tape.open && s->tape.count > 0)
        (void)tk_fail(s, TK_BAD_STATE,
                      "TK_TAPE was left by break, return or goto, so that what was launched in it has no gradient: "
                      "`continue` ends it early, tk_tape_drop drops it");
    tk_tape_unwind(g);
}

void tk_tape_unwind(tk_tape_guard *g)
{
    if (!g || g->state == GUARD_CLOSED)
        return;
    g->state = GUARD_CLOSED;
    (void)tk_tape_drop(g->loss->module->session);
}
