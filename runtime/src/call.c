/* Host triples: a function of the host with derivatives of its own, which tape and forward scope treat as one launch.
 */
#include "rt.h"

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

static tk_status run_function(tk_session *s, const rt_call *c, tk_host_fn fn, void *args)
{
    __attribute__((cleanup(leave_call), unused)) call_scope scope = {s, s->in_call};
    if (tk_rt_call_is_together(c)) {
        s->agree.calls++;
        if (tk_rt_agree(s, tk_rt_call_name(c), NULL, 0) != TK_OK)
            return tk_session_status(s);
    }
    s->in_call = s->in_call || s->tape.open || s->forward.open;
    RT_PAUSE(s);
    const tk_status st = fn(args);
    if (st != TK_OK && !tk_failed(s))
        tk_fail(s, st, "a function of '%s' failed (%s)", tk_rt_call_name(c), tk_status_name(st));
    return tk_session_status(s);
}

static void leave_said(tk_session **s)
{
    tk_rt_said_end(*s);
}

/* Held against its footprint. */
static void run_said(tk_session *s, const rt_call *c, tk_host_fn fn, void *args)
{
    __attribute__((cleanup(leave_said), unused)) tk_session *held = s;
    tk_rt_said_begin(s, c, s->tape.replaying);
    if (!tk_failed(s))
        run_function(s, c, fn, args);
}

static tk_status run(tk_session *s, const rt_call *c, tk_host_fn fn, void *args)
{
    if (c->nlines < 0 || s->said.call)
        return run_function(s, c, fn, args);
    run_said(s, c, fn, args);
    return tk_session_status(s);
}

typedef struct draws_scope {
    tk_session *session;
    uint64_t seed, draws, launches;
} draws_scope;

static void leave_draws(draws_scope *d)
{
    d->session->opt.seed = d->seed;
    d->session->draws = d->draws;
    if (d->session->launches < d->launches)
        d->session->launches = d->launches;
}

/* What backward launches again draws what it drew in forward. */
static tk_status backward_of(tk_session *s, rt_entry *e)
{
    __attribute__((cleanup(leave_draws), unused)) draws_scope scope = {s, s->opt.seed, s->draws, s->launches};
    s->opt.seed = e->seed;
    s->draws = e->draws;
    s->tape.first = e->first;
    s->tape.last = e->last;
    s->tape.resumed = s->launches;
    const tk_status st = tk_rt_call_before(s, e);
    return st == TK_OK ? tk_rt_call_after(s, e, run(s, e->call, e->call->triple.backward, (void *)e->args)) : st;
}

/* Under a tape: the last entry is the call's. Runs also where a C++ exception passes through, behind which the tape may
 * go on. */
static void leave_recorded(tk_session **of)
{
    tk_session *s = *of;
    rt_entry *e = &s->tape.entries[s->tape.count - 1];
    e->last = s->launches;
    if (tk_rt_call_after(s, e, tk_session_status(s)) == TK_OK)
        tk_rt_call_needs(s, e);
    tk_rt_tape_called(s, e);
}

static void forward_recorded(tk_session *s, const rt_call *c, void *args)
{
    __attribute__((cleanup(leave_recorded), unused)) tk_session *held = s;
    if (tk_rt_call_before(s, &s->tape.entries[s->tape.count - 1]) == TK_OK)
        run(s, c, c->triple.forward, args);
}

/* Launches inside of it draw the same random numbers. */
static tk_status forward_again(tk_session *s, const rt_entry *e)
{
    __attribute__((cleanup(leave_draws), unused)) draws_scope scope = {s, s->opt.seed, s->draws, s->launches};
    s->opt.seed = e->seed;
    s->draws = e->draws;
    s->launches = e->first;
    if (e->call->again_size > 0)
        memcpy((void *)e->args, (const unsigned char *)e->args + e->call->again_size, e->call->again_size);
    forward_recorded(s, e->call, (void *)e->args);
    return tk_session_status(s);
}

tk_status tk_rt_call_replay(tk_session *s, rt_entry *e, bool back)
{
    return back ? backward_of(s, e) : forward_again(s, e);
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

static tk_status run_with_copy(tk_session *s, const rt_call *c, tk_host_fn fn, const void *args, size_t size)
{
    if (size == 0)
        return run(s, c, fn, (void *)args);
    __attribute__((cleanup(free_args))) call_args a = {s, size > SIZE_MAX / 4 ? NULL : tk_rt_alloc(s, size, false)};
    if (!a.copy)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the arguments of '%s'", tk_rt_call_name(c));
    memcpy(a.copy, args, size);
    return run(s, c, fn, a.copy);
}

/* A module may go while a function of the host runs: what hangs on it waits until it is back. */
static void end_call(tk_session **s)
{
    tk_rt_tape_end_call(*s);
}

/* ---- the interface ---- */

static tk_status check_call(tk_session *s, const rt_call *c, const void *args, size_t size)
{
    const tk_status st = tk_session_status(s);
    if (st != TK_OK)
        return st;
    if (!c)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call: the triple is NULL");
    if (size > 0 && !args)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': the arguments are NULL, but their size is %zu",
                       tk_rt_call_name(c), size);
    if ((c->triple.flags & ~(unsigned)(TK_CALL_AGAIN | TK_CALL_TOGETHER)) != 0)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': unknown flags 0x%x", tk_rt_call_name(c), c->triple.flags);
    const tk_status said = tk_rt_footprint_check(s, c);
    return said == TK_OK ? tk_rt_check_idle(s, "tk_call") : said;
}

static tk_status missing(tk_session *s, const rt_call *c, const char *what, const char *who)
{
    return tk_fail(s, TK_NO_DERIVATIVE, "'%s' was called without a %s function, which %s needs", tk_rt_call_name(c),
                   what, who);
}

static tk_status call_checked(tk_session *s, const rt_call *c, const void *args, size_t size)
{
    const tk_status st = check_call(s, c, args, size);
    if (st != TK_OK)
        return st;
    __attribute__((cleanup(end_call), unused)) tk_session *held = s;
    const bool forward = s->forward.open && !s->in_call, tape = s->tape.open && !s->in_call;
    if (forward && tape)
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "'%s' has no second-order product, which a tape inside a forward scope needs",
                       tk_rt_call_name(c));
    if (forward)
        return c->triple.jvp ? run_with_copy(s, c, c->triple.jvp, args, size)
                             : missing(s, c, "jvp", "the open forward scope");
    if (!c->triple.forward)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': there is no forward function", tk_rt_call_name(c));
    if (!tape)
        return run_with_copy(s, c, c->triple.forward, args, size);
    if (!c->triple.backward)
        return missing(s, c, "backward", "the open tape");
    void *kept;
    const tk_status recorded = tk_rt_tape_record_call(s, c, args, size, &kept);
    if (recorded != TK_OK)
        return recorded;
    forward_recorded(s, c, kept);
    return tk_session_status(s);
}

/* A process that fails before the function meets the others, which wait in front of it. */
static tk_status call(tk_session *s, const rt_call *c, const void *args, size_t size)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_call: the session is NULL");
    RT_ENTER(s, "tk_call", TK_BAD_STATE);
    const uint64_t calls = s->agree.calls;
    const tk_status st = call_checked(s, c, args, size);
    if (!c || !tk_rt_call_is_together(c) || s->agree.calls != calls)
        return st;
    return tk_rt_agree(s, tk_rt_call_name(c), NULL, 0);
}

tk_status tk_call(tk_session *s, const tk_triple *t, const void *args, size_t size)
{
    const rt_call c = {t ? *t : (tk_triple){0}, NULL, RT_ANYTHING, 0};
    return call(s, t ? &c : NULL, args, size);
}

tk_status tk_call_with(tk_session *s, const tk_triple *t, const void *args, size_t size, const tk_footprint *footprint,
                       int nlines)
{
    const rt_call c = {t ? *t : (tk_triple){0}, footprint, nlines, 0};
    if (s && tk_session_status(s) == TK_OK && nlines < 0)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': its footprint has %d lines", tk_rt_call_name(&c), nlines);
    return call(s, t ? &c : NULL, args, size);
}
