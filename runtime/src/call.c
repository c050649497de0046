/* Host triples: a function of the host with derivatives of its own, which tape and forward scope treat as one launch.
 */
#include "rt.h"

static const char *name_of(const tk_triple *t)
{
    return t->name ? t->name : "unnamed";
}

/* ---- one function of a triple, nothing of which is recorded or differentiated ---- */

typedef struct call_scope {
    tk_session *session;
    bool outer;
} call_scope;

/* Runs also where a C++ exception passes through. */
static void leave_call(call_scope *c)
{
    c->session->in_call = c->outer;
}

static tk_status run(tk_session *s, const tk_triple *t, tk_host_fn fn, void *args)
{
    __attribute__((cleanup(leave_call), unused)) call_scope scope = {s, s->in_call};
    s->in_call = s->in_call || s->tape.open || s->forward.open;
    const tk_status st = fn(args);
    if (st != TK_OK && !tk_failed(s))
        tk_fail(s, st, "a function of '%s' failed (%s)", name_of(t), tk_status_name(st));
    return tk_session_status(s);
}

typedef struct draws_scope {
    tk_session *session;
    uint64_t draws;
} draws_scope;

static void leave_draws(draws_scope *d)
{
    d->session->draws = d->draws;
}

/* What backward launches again draws what it drew in forward. */
tk_status tk_rt_call_backward(tk_session *s, const rt_entry *e)
{
    __attribute__((cleanup(leave_draws), unused)) draws_scope scope = {s, s->draws};
    s->draws = e->draws;
    s->tape.first = e->first;
    s->tape.last = e->last;
    s->tape.resumed = s->launches;
    return run(s, e->triple, e->triple->backward, (void *)e->args);
}

/* ---- arguments ---- */

/* A copy that lives as long as the call. */
typedef struct call_args {
    tk_session *session;
    void *copy;
} call_args;

static void free_args(call_args *a)
{
    tk_rt_free(a->session, a->copy);
}

static tk_status run_with_copy(tk_session *s, const tk_triple *t, tk_host_fn fn, const void *args, size_t size)
{
    if (size == 0)
        return run(s, t, fn, (void *)args);
    __attribute__((cleanup(free_args))) call_args a = {s, size > SIZE_MAX / 4 ? NULL : tk_rt_alloc(s, size, false)};
    if (!a.copy)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the arguments of '%s'", name_of(t));
    memcpy(a.copy, args, size);
    return run(s, t, fn, a.copy);
}

/* A module or the session may go while a function of the host runs: what hangs on them waits until it is back. */
static void leave_session(tk_session **s)
{
    tk_rt_tape_end_call(*s);
    tk_rt_session_release(*s);
}

/* ---- the interface ---- */

static tk_status check_call(tk_session *s, const tk_triple *t, const void *args, size_t size)
{
    const tk_status st = tk_session_status(s);
    if (st != TK_OK)
        return st;
    if (!t)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call: the triple is NULL");
    if (size > 0 && !args)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': the arguments are NULL, but their size is %zu", name_of(t),
                       size);
    return tk_rt_check_idle(s, "tk_call");
}

static tk_status missing(tk_session *s, const tk_triple *t, const char *what, const char *who)
{
    return tk_fail(s, TK_NO_DERIVATIVE, "'%s' was called without a %s function, which %s needs", name_of(t), what, who);
}

tk_status tk_call(tk_session *s, const tk_triple *t, const void *args, size_t size)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_call: the session is NULL");
    const tk_status st = check_call(s, t, args, size);
    if (st != TK_OK)
        return st;
    tk_rt_session_retain(s);
    __attribute__((cleanup(leave_session))) tk_session *held = s;
    (void)held;
    const bool forward = s->forward.open && !s->in_call, tape = s->tape.open && !s->in_call;
    if (forward && tape)
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "'%s' has no second-order product, which a tape inside a forward scope needs", name_of(t));
    if (forward)
        return t->jvp ? run_with_copy(s, t, t->jvp, args, size) : missing(s, t, "jvp", "the open forward scope");
    if (!t->forward)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': there is no forward function", name_of(t));
    if (!tape)
        return run_with_copy(s, t, t->forward, args, size);
    if (!t->backward)
        return missing(s, t, "backward", "the open tape");
    void *kept;
    const tk_status recorded = tk_rt_tape_record_call(s, t, args, size, &kept);
    if (recorded != TK_OK)
        return recorded;
    const tk_status ran = run(s, t, t->forward, kept);
    s->tape.entries[s->tape.count - 1].last = s->launches;
    return ran;
}
