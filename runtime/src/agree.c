/* Agreement of processes that run one program: where one has failed, or is elsewhere, all fail, and none waits.
 *
 * Each agreement is one call of the host's function in each process, in the same order. A process that has failed comes
 * to its next one early; then all have failed. From there to the clearing of the error, or the end of the processes'
 * time together, none agrees on anything. */
#include "rt.h"

enum { HEAD = 3 /* words of the runtime's own: the place, its negative, the status */ };

static int64_t number_of(const char *place)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *place; place++)
        h = (h ^ (unsigned char)*place) * 1099511628211u;
    return (int64_t)(h >> 2);
}

/* Returns the largest status of all; TK_BAD_STATE where they are at several places, or one agrees for the last time. */
static tk_status ask_all(tk_session *s, const char *place, int64_t own, int64_t *words, int n)
{
    int64_t all[TK_AGREE_WORDS] = {number_of(place), -number_of(place), own};
    for (int i = 0; i < n; i++)
        all[HEAD + i] = words[i];
    const tk_status st = s->agree.fn(s->agree.user, all);
    for (int i = 0; i < n; i++)
        words[i] = all[HEAD + i];
    if (st != TK_OK || all[2] == TK_OK)
        return st != TK_OK ? st : all[0] == -all[1] ? TK_OK : TK_BAD_STATE;
    return all[2] < TK_AGREE_ENDED ? (tk_status)all[2] : TK_BAD_STATE;
}

tk_status tk_rt_agree(tk_session *s, const char *place, int64_t *words, int n)
{
    if (!s->agree.fn || s->agree.over)
        return tk_session_status(s);
    const tk_status own = tk_session_status(s), st = ask_all(s, place, own, words, n);
    s->agree.over = st != TK_OK;
    if (st == TK_BAD_STATE)
        tk_fail(s, st, "this process came to %s, and another one failed (%s) or is at another place of the program",
                place, tk_status_name(st));
    else if (st != TK_OK)
        tk_fail(s, st, "another process failed (%s) before this one came to %s", tk_status_name(st), place);
    return tk_session_status(s);
}

/* All clear the error that they have agreed on; false: one does not. */
static bool clear_together(tk_session *s)
{
    if (s->agree.over && ask_all(s, "the clearing of an error", TK_OK, NULL, 0) == TK_OK)
        s->agree.over = false;
    return !s->agree.over;
}

int64_t tk_rt_agree_most(tk_session *s, const char *place, int64_t x)
{
    tk_rt_agree(s, place, &x, 1);
    return x;
}

/* ---- the interface ---- */

void tk_session_clear_error(tk_session *s)
{
    if (!s || !tk_rt_try_enter(s))
        return;
    __attribute__((cleanup(tk_rt_leave), unused)) tk_session *const entered = s;
    const tk_status status = tk_session_status(s);
    if (s->running ||
        status == TK_OK) /* without a status, the thread that has claimed the message may still write it */
        return;
    if (!clear_together(s))
        return;
    if (s->tape.open && !s->tape.failed)
        s->tape.failed = status;
    if (s->forward.open && !s->forward.failed)
        s->forward.failed = status;
    atomic_store(&s->status, TK_OK);
    atomic_store(&s->claimed, false);
}

tk_status tk_session_set_agree(tk_session *s, int rank, int ranks, tk_agree_fn agree, void *user)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_set_agree: the session is NULL");
    RT_ENTER(s, "tk_session_set_agree", TK_BAD_STATE);
    if (agree && (ranks < 1 || rank < 0 || rank >= ranks))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_session_set_agree: process %d of %d", rank, ranks);
    if (agree && s->agree.fn)
        return tk_fail(s, TK_BAD_STATE, "tk_session_set_agree: the session has a function for that");
    const tk_status st = tk_rt_check_outside(s, "setting the function of agreements");
    if (st != TK_OK)
        return st;
    if (agree && s->tape.open)
        return tk_rt_check_no_tape(s, "setting the function of agreements");
    if (s->agree.fn)
        ask_all(s, "the end of agreements", TK_AGREE_ENDED, NULL, 0);
    s->agree = (rt_agree){.fn = agree, .user = user, .rank = rank, .ranks = ranks};
    return TK_OK;
}

void *tk_session_agree_user(const tk_session *s, tk_agree_fn agree)
{
    return s && agree && s->agree.fn == agree ? s->agree.user : NULL;
}

tk_status tk_session_agree(tk_session *s, const char *place)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_agree: the session is NULL");
    RT_ENTER(s, "tk_session_agree", TK_BAD_STATE);
    if (!place)
        tk_fail(s, TK_BAD_ARGUMENT, "tk_session_agree: the place is NULL");
    return tk_rt_agree(s, place ? place : "no place", NULL, 0);
}
