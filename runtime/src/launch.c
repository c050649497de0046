/* Launches: the dispatcher between plain runs, the tape and forward scopes. */
#include "rt.h"

/* suffix: of the function that was called. */
static tk_status no_module(const tk_kernel *k, const char *suffix)
{
    return tk_rt_thread_fail(TK_BAD_ARGUMENT, "launching '%s%s': the module is NULL", k->name, suffix);
}

#define ENTER_LAUNCH(suffix) \
    if (!m || !m->session) \
        return no_module(k, suffix); \
    RT_ENTER(m->session, k->name, TK_BAD_STATE)

static tk_status check_launch(tk_module *m, const tk_kernel *k)
{
    tk_session *s = m->session;
    const tk_status st = tk_session_status(s);
    if (st != TK_OK)
        return st;
    if (s->running)
        return tk_fail(s, TK_BAD_STATE,
                       "kernel '%s' of module '%s' was launched while a kernel of the session is running", k->name,
                       m->desc->name);
    return TK_OK;
}

static tk_status no_derivative(tk_module *m, const tk_kernel *k, const char *what, const char *why)
{
    return tk_fail(m->session, TK_NO_DERIVATIVE, "kernel '%s' of module '%s' has no %s: %s", k->name, m->desc->name,
                   what, why ? why : "it was not asked for (derive)");
}

/* The kernel's JVP; what it keeps for an adjoint is the module's. */
static tk_status run_jvp(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_record *rec = &m->last[k->index];
    tk_rt_record_number(m->session, k, rec);
    const tk_status st = tk_rt_saved_keep(m, k, args, rec, false, k->hvp != NULL);
    return st == TK_OK ? tk_rt_run(m, k, k->jvp, args, NULL, rec) : st;
}

/* With zero tangents of its arguments. */
static tk_status launch_forward(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    if (!k->jvp)
        return no_derivative(m, k, "JVP, which a forward scope needs", k->no_jvp);
    const tk_status st = tk_rt_arrays_refuse_results(m, k, "a forward scope");
    if (st != TK_OK)
        return st;
    if (k->jvp_args_size == 0)
        return run_jvp(m, k, NULL);
    void *all = tk_scratch(s, k->jvp_args_size);
    if (!all)
        return tk_session_status(s);
    memset(all, 0, k->jvp_args_size);
    if (k->args_size > 0)
        memcpy(all, args, k->args_size);
    return run_jvp(m, k, all);
}

tk_status tk_launch(tk_module *m, const tk_kernel *k, const void *args)
{
    ENTER_LAUNCH("");
    const tk_status st = check_launch(m, k);
    if (st != TK_OK)
        return st;
    if (m->session->in_call) {
        const tk_status kept = tk_rt_saved_check_call(m, k);
        if (kept != TK_OK)
            return kept;
        m->session->watch.writes = m->session->tape.validate && !m->session->tape.replaying;
        struct rt_kept *needed;
        tk_status ran = tk_rt_tape_inside(m, k, args, false, &needed);
        if (ran == TK_OK)
            ran = tk_rt_tape_inside_end(m, k, tk_rt_run_primal(m, k, args), &needed);
        m->session->watch.writes = false;
        return ran;
    }
    if (m->session->tape.open)
        return tk_rt_tape_launch(m, k, args);
    if (m->session->forward.open)
        return launch_forward(m, k, args);
    return tk_rt_run_primal(m, k, args);
}

/* A derivative called directly: nothing can differentiate it once more from outside. */
static tk_status check_derivative(tk_module *m, const tk_kernel *k, const char *what, bool in_scope)
{
    const tk_status st = check_launch(m, k);
    if (st != TK_OK || m->session->in_call)
        return st;
    if (m->session->tape.open)
        return tk_fail(
            m->session, TK_NO_DERIVATIVE,
            "a tape is open, and the %s of kernel '%s' itself has no derivative: call it before or after the tape",
            what, k->name);
    if (m->session->forward.open && !in_scope)
        return tk_fail(m->session, TK_NO_DERIVATIVE,
                       "the %s of kernel '%s' does not carry duals, which the open forward scope needs: call its HVP "
                       "outside of the scope",
                       what, k->name);
    return TK_OK;
}

/* The record that a direct call of an adjoint goes by. */
static tk_status find_record(tk_module *m, const tk_kernel *k, bool duals, tk_record **rec)
{
    *rec = &m->last[k->index];
    const rt_tape *t = &m->session->tape;
    const uint64_t n = (*rec)->launch;
    if ((k->draws || k->records) && t->replaying && (n <= t->first || (n > t->last && n <= t->resumed)))
        return tk_fail(m->session, TK_BAD_STATE,
                       "the adjoint of kernel '%s' inside a function of tk_call would not go by its launch there "
                       "(random numbers, old values): launch it again first",
                       k->name);
    if ((*rec)->size < k->record_size || ((k->draws || k->records) && n == 0) || tk_rt_saved_lacks(m, k, *rec, duals))
        return tk_fail(m->session, TK_BAD_STATE,
                       "the %s of kernel '%s' needs the record of its last %s, and there is none: none was launched "
                       "outside of a tape",
                       duals ? "HVP" : "adjoint", k->name, duals ? "JVP" : "launch");
    return TK_OK;
}

tk_status tk_launch_grad(tk_module *m, const tk_kernel *k, const void *args, void *out)
{
    ENTER_LAUNCH("_grad");
    tk_status st = check_derivative(m, k, "adjoint", false);
    tk_record *rec;
    if (st == TK_OK && !k->grad)
        st = no_derivative(m, k, "adjoint", k->no_grad);
    if (st == TK_OK)
        st = find_record(m, k, false, &rec);
    struct rt_kept *needed = NULL;
    if (st == TK_OK && m->session->in_call && k->back)
        st = tk_rt_tape_inside(m, k->back, args, false, &needed);
    return st == TK_OK ? tk_rt_tape_inside_end(m, k, tk_rt_saved_run(m, k, k->grad, args, out, rec), &needed) : st;
}

tk_status tk_launch_jvp(tk_module *m, const tk_kernel *k, const void *args)
{
    ENTER_LAUNCH("_jvp");
    tk_status st = check_derivative(m, k, "JVP", true);
    if (st == TK_OK && !k->jvp)
        st = no_derivative(m, k, "JVP", k->no_jvp);
    struct rt_kept *needed = NULL;
    if (st == TK_OK && m->session->in_call)
        st = tk_rt_saved_check_call(m, k);
    if (st == TK_OK && m->session->in_call)
        st = tk_rt_tape_inside(m, k, args, true, &needed);
    return st == TK_OK ? tk_rt_tape_inside_end(m, k, run_jvp(m, k, args), &needed) : st;
}

tk_status tk_launch_hvp(tk_module *m, const tk_kernel *k, const void *args, void *out)
{
    ENTER_LAUNCH("_hvp");
    tk_status st = check_derivative(m, k, "HVP", true);
    tk_record *rec;
    if (st == TK_OK && !k->hvp)
        st = no_derivative(m, k, "HVP", NULL);
    if (st == TK_OK)
        st = find_record(m, k, true, &rec);
    if (st == TK_OK)
        st = tk_module_need_grad_dual(m);
    return st == TK_OK ? tk_rt_saved_run(m, k, k->hvp, args, out, rec) : st;
}
