/* Status codes and messages. */
#include "rt.h"

#include <stdio.h>

static _Thread_local char thread_message[512];
static _Thread_local tk_status thread_status;

const char *tk_status_name(tk_status s)
{
    switch (s) {
    case TK_OK:
        return "TK_OK";
    case TK_NO_MEMORY:
        return "TK_NO_MEMORY";
    case TK_BAD_ARGUMENT:
        return "TK_BAD_ARGUMENT";
    case TK_BAD_STATE:
        return "TK_BAD_STATE";
    case TK_NO_DERIVATIVE:
        return "TK_NO_DERIVATIVE";
    case TK_MISMATCH:
        return "TK_MISMATCH";
    case TK_ASSERT:
        return "TK_ASSERT";
    case TK_BOUNDS:
        return "TK_BOUNDS";
    case TK_OVERWRITTEN:
        return "TK_OVERWRITTEN";
    case TK_RACE:
        return "TK_RACE";
    case TK_WRONG_GRADIENT:
        return "TK_WRONG_GRADIENT";
    case TK_NOT_FINITE:
        return "TK_NOT_FINITE";
    case TK_DIVERGED:
        return "TK_DIVERGED";
    case TK_UNDECIDED:
        return "TK_UNDECIDED";
    case TK_STOPPED:
        return "TK_STOPPED";
    case TK_FILE:
        return "TK_FILE";
    }
    return "unknown status";
}

const char *tk_error(void)
{
    return thread_message;
}

tk_status tk_error_status(void)
{
    return thread_status;
}

tk_status tk_rt_thread_fail(tk_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(thread_message, sizeof thread_message, fmt, ap);
    va_end(ap);
    return thread_status = status;
}

void tk_rt_thread_clear(void)
{
    thread_message[0] = '\0';
    thread_status = TK_OK;
}

/* The status is published after the message, so that whoever sees the one may read the other. A task that fails second
 * leaves without waiting: the loop's end orders both before the host looks. */
tk_status tk_fail(tk_session *s, tk_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!s) {
        vsnprintf(thread_message, sizeof thread_message, fmt, ap);
        thread_status = status;
    } else if (!atomic_exchange(&s->claimed, true)) {
        vsnprintf(s->message, sizeof s->message, fmt, ap);
        atomic_store_explicit(&s->status, (int)status, memory_order_release);
    }
    va_end(ap);
    return status;
}

bool tk_failed(const tk_session *s)
{
    return atomic_load_explicit(&s->status, memory_order_acquire) != TK_OK;
}

tk_status tk_session_status(const tk_session *s)
{
    return s ? (tk_status)atomic_load_explicit(&s->status, memory_order_acquire) : TK_BAD_ARGUMENT;
}

const char *tk_session_error(const tk_session *s)
{
    if (!s)
        return thread_message;
    return tk_failed(s) ? s->message : "";
}
