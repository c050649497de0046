/* Sessions: options, lifetime, state checks, printing. */
#include "rt.h"

#include <stdio.h>

tk_session_options tk_session_defaults(void)
{
    const tk_session_options opt = {0};
    return opt;
}

static bool threads_in_range(int threads)
{
    return threads >= 0 && threads <= RT_MAX_THREADS;
}

tk_session *tk_session_create(const tk_session_options *opt)
{
    const tk_session_options o = opt ? *opt : tk_session_defaults();
    if (!threads_in_range(o.threads)) {
        tk_rt_thread_fail(TK_BAD_ARGUMENT, "session: %d threads are out of the range 0..%d", o.threads,
                          (int)RT_MAX_THREADS);
        return NULL;
    }
    tk_session *s = tk_rt_block_alloc(o.alloc, o.alloc_user, sizeof *s, true);
    if (!s) {
        tk_rt_thread_fail(TK_NO_MEMORY, "out of memory for a session");
        return NULL;
    }
    tk_rt_pool_join();
    s->opt = o;
    s->threads = o.threads ? o.threads : tk_rt_all_threads(&o);
    s->refs = 1;
    atomic_init(&s->inside, NULL);
    atomic_init(&s->claimed, false);
    atomic_init(&s->printed, false);
    atomic_init(&s->status, TK_OK);
    s->scratch.session = s;
    s->tape.args.session = s;
    pthread_mutex_init(&s->memory_lock, NULL); /* cannot fail with default attributes on the systems we build for */
    pthread_mutex_init(&s->stack_lock, NULL);
    pthread_mutex_init(&s->print_lock, NULL);
    tk_rt_thread_clear();
    tk_rt_profile_begin(s);
    return s;
}

void tk_rt_session_free(tk_session *s)
{
    tk_rt_profile_end(s);
    tk_rt_tape_free(s);
    tk_rt_stacks_free(s);
    tk_rt_stack_free(&s->scratch);
    tk_rt_free(s, s->files);
    pthread_mutex_destroy(&s->memory_lock);
    pthread_mutex_destroy(&s->stack_lock);
    pthread_mutex_destroy(&s->print_lock);
    tk_rt_block_free(s);
    tk_rt_pool_leave();
}

void tk_rt_session_release(tk_session *s)
{
    if (--s->refs == 0 && s->depth == 0)
        tk_rt_session_free(s);
}

void tk_session_destroy(tk_session *s)
{
    if (!s)
        return;
    RT_ENTER(s, "tk_session_destroy", );
    if (!s->released)
        tk_rt_session_release(s);
    s->released = true;
}

/* ---- one thread at a time ---- */

_Thread_local char tk_rt_this_thread;

void tk_rt_refuse(tk_session *s, const char *what)
{
    tk_fail(s, TK_BAD_STATE, "'%s' was called while another thread was inside a call of the same session", what);
}

rt_pause tk_rt_pause(tk_session *s)
{
    const rt_pause p = {s, s->depth};
    s->refs++;
    s->depth = 0;
    atomic_store_explicit(&s->inside, NULL, memory_order_release);
    return p;
}

void tk_rt_resume(rt_pause *p)
{
    while (!tk_rt_try_enter(p->session)) /* a call of another thread that was still running ends */
        sched_yield();
    p->session->depth = p->depth;
    p->session->refs--;
}

/* ---- settings ---- */

bool tk_session_is_busy(const tk_session *s)
{
    return s && (atomic_load(&s->inside) || s->in_call || s->in_program || s->tape.open || s->forward.open);
}

int tk_session_threads(const tk_session *s)
{
    return s ? s->threads : 0;
}

tk_status tk_session_set_threads(tk_session *s, int threads)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_set_threads: the session is NULL");
    RT_ENTER(s, "tk_session_set_threads", TK_BAD_STATE);
    if (!threads_in_range(threads))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_session_set_threads: %d threads are out of the range 0..%d", threads,
                       (int)RT_MAX_THREADS);
    const tk_status st = tk_rt_check_idle(s, "changing the number of threads");
    if (st != TK_OK)
        return st;
    s->threads = threads ? threads : tk_rt_all_threads(&s->opt);
    tk_rt_pool_look();
    return TK_OK;
}

tk_status tk_session_set_seed(tk_session *s, uint64_t seed)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_set_seed: the session is NULL");
    RT_ENTER(s, "tk_session_set_seed", TK_BAD_STATE);
    const tk_status st = tk_rt_check_idle(s, "changing the seed");
    if (st != TK_OK)
        return st;
    s->opt.seed = seed;
    s->draws = 0;
    return TK_OK;
}

uint64_t tk_session_draws(const tk_session *s)
{
    return s ? s->draws : 0;
}

tk_status tk_session_set_draws(tk_session *s, uint64_t draws)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_set_draws: the session is NULL");
    RT_ENTER(s, "tk_session_set_draws", TK_BAD_STATE);
    const tk_status st = tk_rt_check_idle(s, "setting the number of the next draw");
    if (st == TK_OK)
        s->draws = draws;
    return st;
}

tk_status tk_session_set_stop(tk_session *s, bool (*stop)(void *user), void *user)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_set_stop: the session is NULL");
    RT_ENTER(s, "tk_session_set_stop", TK_BAD_STATE);
    const tk_status st = tk_rt_check_idle(s, "setting the function that stops launches");
    if (st != TK_OK)
        return st;
    s->stop = stop;
    s->stop_user = user;
    s->next_poll = 0;
    return TK_OK;
}

void tk_rt_poll(tk_session *s, bool urgent)
{
    enum { EVERY = 100000000 }; /* ns */
    const int64_t now = tk_rt_now();
    if (now < s->next_poll && !urgent)
        return;
    s->next_poll = now + EVERY;
    if (s->stop(s->stop_user))
        tk_fail(s, TK_STOPPED, "the host stopped the launch");
}

tk_status tk_rt_check_idle(tk_session *s, const char *what)
{
    if (s->running)
        return tk_fail(s, TK_BAD_STATE, "%s is not possible while a kernel of the session is running", what);
    return TK_OK;
}

tk_status tk_rt_check_outside(tk_session *s, const char *what)
{
    if (s->in_call)
        return tk_fail(s, TK_BAD_STATE, "%s is not possible inside a function of tk_call that it called", what);
    return tk_rt_check_idle(s, what);
}

tk_status tk_rt_check_no_tape(tk_session *s, const char *what)
{
    tk_status st = tk_session_status(s);
    if (st == TK_OK)
        st = tk_rt_check_idle(s, what);
    if (st != TK_OK)
        return st;
    if (s->tape.open)
        return tk_fail(s, TK_BAD_STATE, "%s is not possible while a tape is open (on field '%s')", what,
                       s->tape.loss->desc->name);
    return TK_OK;
}

tk_status tk_rt_check_closed(tk_session *s, const char *what)
{
    const tk_status st = tk_rt_check_no_tape(s, what);
    if (st == TK_OK && s->forward.open)
        return tk_fail(s, TK_BAD_STATE, "%s is not possible while a forward scope is open (of field '%s')", what,
                       s->forward.param->desc->name);
    return st;
}

void tk_print(tk_session *s, const char *text)
{
    if (s->again || (s->stop && tk_failed(s)))
        return;
    pthread_mutex_lock(&s->print_lock);
    if (s->opt.on_print)
        s->opt.on_print(s->opt.print_user, text);
    else
        fputs(text, stdout);
    pthread_mutex_unlock(&s->print_lock);
    if (!s->stop)
        return;
    atomic_store_explicit(&s->printed, true, memory_order_relaxed);
    if (atomic_load_explicit(&s->inside, memory_order_relaxed) == &tk_rt_this_thread)
        tk_rt_poll(s, true);
}
