/* One of several processes: where they agree, and what another one does there that has failed or is elsewhere. */
#include "agree.h"
#include "host.h"

enum { N = 4 };

/* What the others do at agreement number `at`, from 1. */
static enum { FINE, FAILED, ELSEWHERE, BROKEN } others;
static int at, count, ran;

static tk_status together(void *user, int64_t *words)
{
    CHECK(user == &others);
    count++;
    if (count != at)
        return TK_OK;
    if (others == FAILED && words[2] < TK_ASSERT)
        words[2] = TK_ASSERT;
    if (others == ELSEWHERE)
        words[1] += 1; /* theirs is less, so that its negative is more */
    return others == BROKEN ? TK_NO_MEMORY : TK_OK;
}

static tk_status runs(void *args)
{
    (void)args;
    ran++;
    return TK_OK;
}

static const tk_triple call = {"call", runs, runs, runs, TK_CALL_TOGETHER};

/* Opening, a call, closing, the call's backward, the end. */
static tk_status program(agree *m)
{
    for (int i = 0; i < N; i++)
        m->x.data[i] = i;
    count = ran = 0;
    TK_TAPE(m, m->loss) {
        agree_total(m);
        tk_call_with(m->tk.session, &call, NULL, 0, NULL, 0);
    }
    return agree_status(m);
}

static void all_points(agree *m)
{
    tk_session *s = m->tk.session;
    static const char *const place[] = {"the opening of a tape", "call", "the closing of a tape", "call",
                                        "the end of a tape"};
    static const int calls[] = {0, 0, 1, 1, 2};
    at = 0;
    CHECK_OK(m, program(m));
    CHECK(count == 5 && ran == 2 && m->x.grad[3] == 6);
    for (int what = FAILED; what <= BROKEN; what++)
        for (int k = 0; k < 5; k++) {
            others = what;
            at = k + 1;
            const tk_status want = what == FAILED ? TK_ASSERT : what == ELSEWHERE ? TK_BAD_STATE : TK_NO_MEMORY;
            if (program(m) != want || !strstr(agree_error(m), place[k]))
                FAIL("%d at %d: %s %s", what, at, tk_status_name(agree_status(m)), agree_error(m));
            CHECK(count == at && ran == calls[k] && !tk_tape_is_open(s));
            /* from here on none agrees, but to clear the error */
            CHECK(tk_tape_begin(m->loss.field, 0) == want && tk_session_agree(s, "here") == want && count == at);
            at = count + 1;
            others = ELSEWHERE;
            tk_session_clear_error(s);
            CHECK(agree_status(m) == want && count == at);
            at = 0;
            tk_session_clear_error(s);
            CHECK_OK(m, agree_status(m));
        }
    at = 0;
}

/* A failure of this process comes to its next agreement, once. */
static void own_failure(agree *m)
{
    tk_session *s = m->tk.session;
    count = at = 0;
    tk_tape_begin(m->loss.field, 0);
    CHECK(tk_call_with(s, &call, NULL, 8, NULL, 0) == TK_BAD_ARGUMENT && count == 2);
    CHECK(tk_call_with(s, &call, NULL, 0, NULL, 0) == TK_BAD_ARGUMENT && count == 2);
    CHECK(tk_tape_end(m->loss.field) == TK_BAD_ARGUMENT && count == 2);
    tk_session_clear_error(s);
    CHECK(count == 3);
    /* in a forward scope, outside of all, and inside of another call */
    const double seed[N] = {1};
    tk_field *const outputs[] = {m->loss.field};
    count = ran = 0;
    agree_forward_x(m, outputs, 1, seed, N);
    tk_call_with(s, &call, NULL, 0, NULL, 0);
    tk_forward_end(s);
    tk_call_with(s, &call, NULL, 0, NULL, 0);
    CHECK(count == 2 && ran == 2);
    tk_tape_begin(m->loss.field, 0);
    tk_tape_drop(s);
    CHECK(count == 4);
    CHECK_OK(m, agree_status(m));
}

int main(void)
{
    tk_session *s = tk_session_create(NULL);
    agree *m = agree_create(s, NULL);
    CHECK(tk_session_set_agree(NULL, 0, 1, together, NULL) == TK_BAD_ARGUMENT);
    CHECK(tk_session_agree(NULL, "here") == TK_BAD_ARGUMENT && !tk_session_agree_user(NULL, together));
    CHECK_OK(m, tk_session_agree(s, "alone"));
    CHECK_STATUS(m, tk_session_set_agree(s, 3, 3, together, NULL), TK_BAD_ARGUMENT, "process 3 of 3");
    tk_tape_begin(m->loss.field, 0);
    CHECK_STATUS(m, tk_session_set_agree(s, 0, 3, together, NULL), TK_BAD_STATE, "while a tape is open");
    tk_tape_drop(s);
    CHECK_OK(m, tk_session_set_agree(s, 1, 3, together, &others));
    CHECK_STATUS(m, tk_session_set_agree(s, 0, 3, together, NULL), TK_BAD_STATE, "has a function for that");
    CHECK_STATUS(m, tk_session_agree(s, NULL), TK_BAD_ARGUMENT, "the place is NULL");
    CHECK(tk_session_agree_user(s, together) == &others && !tk_session_agree_user(s, NULL));
    all_points(m);
    own_failure(m);
    count = 0;
    CHECK_OK(m, tk_session_set_agree(s, 0, 0, NULL, NULL));
    CHECK(count == 1 && !tk_session_agree_user(s, together));
    CHECK_OK(m, program(m));
    CHECK(count == 0);
    agree_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
