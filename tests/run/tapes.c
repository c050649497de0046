/* TK_TAPE_SUM adds the gradients of a tape to those before, TK_TAPE_CONTINUE takes those before for the gradients of
 * its final state. */
#include "tapes.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 3 };

static void start(tapes *m)
{
    m->w.data[0] = 2;
    for (int i = 0; i < N; i++)
        m->x.data[i] = i == 0 ? 1 : 0;
}

static tk_status episode(tapes *m, unsigned flags)
{
    start(m);
    tk_tape_begin(m->loss.field, flags);
    tapes_step(m);
    tapes_step(m);
    tapes_total(m);
    return tk_tape_end(m->loss.field);
}

/* loss = w w x: 4 by w and 4 by x in each. */
static void check_sum(tapes *m)
{
    tk_module_clear_grad(&m->tk);
    for (int n = 1; n <= 3; n++) {
        CHECK_OK(m, episode(m, TK_TAPE_SUM));
        CHECK_NEAR(m->w.grad[0], 4 * n, 1e-12);
        CHECK_NEAR(m->x.grad[0], 4 * n, 1e-12);
        CHECK_NEAR(m->loss.grad[0], 1, 1e-12);
    }
    CHECK_OK(m, episode(m, 0));
    CHECK_NEAR(m->w.grad[0], 4, 1e-12);
    /* another loss: that of the first is a gradient as any other */
    start(m);
    tk_tape_begin(m->other_loss.field, TK_TAPE_SUM);
    tapes_step(m);
    tapes_other_total(m);
    CHECK_OK(m, tk_tape_end(m->other_loss.field));
    CHECK_NEAR(m->w.grad[0], 4 + 2, 1e-12);
    CHECK_NEAR(m->loss.grad[0], 1, 1e-12);
    CHECK_NEAR(m->other_loss.grad[0], 1, 1e-12);
}

/* A field that is only added to, and never cleared. */
static void check_added(tapes *m)
{
    tk_module_clear_grad(&m->tk);
    for (int n = 1; n <= 3; n++) {
        start(m);
        memset(m->added.data, 0, tk_field_bytes(m->added.field));
        tk_tape_begin(m->loss.field, TK_TAPE_SUM);
        tapes_collect(m);
        tapes_collected(m);
        CHECK_OK(m, tk_tape_end(m->loss.field));
        CHECK_NEAR(m->w.grad[0], n, 1e-12);
        CHECK_NEAR(m->x.grad[1], 2 * n, 1e-12);
        CHECK_NEAR(m->added.grad[0], n, 1e-12);
    }
}

/* Members of structs, and elements with gaps between them. */
static void check_layouts(tapes *m)
{
    static float memory[2][2 * N];
    const int64_t apart = 2 * sizeof(float);
    CHECK_OK(m, tapes_bind_spread_strided(m, memory[0], &apart, memory[1], &apart));
    for (int i = 0; i < 2 * N; i++)
        memory[1][i] = 7;
    for (int i = 0; i < N; i++) {
        m->pairs.data[i].a = i + 1;
        m->pairs.data[i].b = 2;
        memory[0][2 * i] = 3;
        memory[1][2 * i] = 0;
    }
    tk_module_clear_grad(&m->tk);
    for (int n = 1; n <= 3; n++) {
        start(m);
        tk_tape_begin(m->loss.field, TK_TAPE_SUM);
        tapes_members(m);
        CHECK_OK(m, tk_tape_end(m->loss.field));
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(m->pairs.grad[i].a, 12 * n, 1e-12);
            CHECK_NEAR(m->pairs.grad[i].b, 6 * n * (i + 1), 1e-12);
            CHECK_NEAR(memory[1][2 * i], 4 * n * (i + 1), 1e-12);
            CHECK_NEAR(memory[1][2 * i + 1], 7, 1e-12);
        }
        CHECK_NEAR(m->w.grad[0], 36 * n, 1e-12);
    }
}

static void left(tapes *m, int how)
{
    for (;;) {
        TK_TAPE(m, m->loss) {
            if (how == 0)
                break; /* nothing was launched */
            tapes_step(m);
            if (how == 1)
                break; /* of the tape, not of the loop around it */
            if (how == 2)
                return;
            if (how == 3)
                goto out;
            if (how == 4)
                tk_tape_drop(tk_module_session(&m->tk));
            if (how == 4)
                return;
            tapes_total(m);
            if (how == 5)
                continue; /* ends it early */
            tapes_total(m);
        }
        return;
    }
out:;
}

/* Who leaves the block behind a launch has no gradient, and is told. */
static void check_left(tapes *m)
{
    static const tk_status want[] = {TK_OK, TK_BAD_STATE, TK_BAD_STATE, TK_BAD_STATE, TK_OK, TK_OK};
    for (int how = 0; how < 6; how++) {
        start(m);
        left(m, how);
        CHECK_STATUS(m, tapes_status(m), want[how],
                     want[how] == TK_OK ? "" : "TK_TAPE was left by break, return or goto");
        CHECK(!tk_tape_is_open(tk_module_session(&m->tk)));
    }
    CHECK_NEAR(m->w.grad[0], 1, 1e-12); /* of one step */
}

/* A tape that does not come to its end leaves the sum as it was; so does a host that looks at it. */
static void check_put_back(tapes *m)
{
    tk_session *s = tk_module_session(&m->tk);
    CHECK_OK(m, episode(m, 0));
    start(m);
    tk_tape_begin(m->loss.field, TK_TAPE_SUM);
    tapes_step(m);
    tapes_total(m);
    CHECK_NEAR(m->w.grad[0], 0, 1e-12);
    tk_tape_drop(s);
    CHECK_NEAR(m->w.grad[0], 4, 1e-12);
    CHECK_NEAR(m->x.grad[0], 4, 1e-12);

    if (m->tk.desc->nsites > 0) { /* where assertions are looked at */
        tk_tape_begin(m->loss.field, TK_TAPE_SUM);
        tapes_step(m);
        tapes_fails(m);
        CHECK_STATUS(m, tk_tape_end(m->loss.field), TK_ASSERT, "");
        CHECK_NEAR(m->w.grad[0], 4, 1e-12);
        CHECK_NEAR(m->x.grad[0], 4, 1e-12);
    }

    /* a seed of the host's is the tape's */
    start(m);
    tk_tape_begin(m->loss.field, TK_TAPE_SUM);
    tapes_step(m);
    m->x.grad[0] = 10;
    CHECK_OK(m, tk_tape_end(m->loss.field));
    CHECK_NEAR(m->w.grad[0], 4 + 10, 1e-12);
    CHECK_NEAR(m->x.grad[0], 4 + 20, 1e-12);
}

static void check_flags(tapes *m)
{
    const tk_session *s = tk_module_session(&m->tk);
    CHECK_OK(m, episode(m, 0));
    static const struct {
        unsigned flags;
        const char *text;
    } bad[] = {{1, "is gone"}, {TK_TAPE_SUM | TK_TAPE_CONTINUE, "exclude each other"}, {64, "unknown flags 0x40"}};
    for (int i = 0; i < 3; i++) {
        CHECK_REFUSED(m, tk_tape_begin(m->loss.field, bad[i].flags), bad[i].text);
        CHECK(!tk_tape_is_open(s) && m->w.grad[0] == 4);
    }
    if (m->tk.desc->nsites == 0)
        return;
    CHECK_OK(m, episode(m, TK_TAPE_SUM | TK_TAPE_VALIDATE));
    CHECK_NEAR(m->w.grad[0], 8, 1e-12);
}

/* ---- segments ---- */

enum { STEPS = 12, SEGMENT = 4 };

static void first_state(tapes *m)
{
    m->w.data[0] = 1.1;
    for (int i = 0; i < N; i++)
        m->x.data[i] = 0.5 + 0.25 * i;
}

/* All steps on one tape, or in segments, the last one first. Gradients by w and x, and (with second) their duals. */
static void chain(tapes *m, int segment, bool second, double out[2][N + 1])
{
    tk_field *const outputs[] = {m->loss.field};
    const double along_w[] = {1};
    double data[STEPS][N], dual[STEPS][N];
    first_state(m);
    memset(m->x.dual, 0, tk_field_bytes(m->x.field));
    if (second)
        tapes_forward_w(m, outputs, 1, along_w, 1);
    else
        tk_module_clear_grad(&m->tk);
    for (int t = 0; t < STEPS; t++) { /* the state before each step */
        memcpy(data[t], m->x.data, sizeof data[t]);
        memcpy(dual[t], m->x.dual, sizeof dual[t]);
        tapes_bend(m);
    }
    for (int from = STEPS - segment; from >= 0; from -= segment) {
        memcpy(m->x.data, data[from], sizeof data[from]);
        memcpy(m->x.dual, dual[from], sizeof dual[from]);
        tk_tape_begin(m->loss.field, from + segment < STEPS ? TK_TAPE_CONTINUE : 0);
        for (int t = from; t < from + segment; t++)
            tapes_bend(m);
        if (from + segment == STEPS)
            tapes_squares(m);
        CHECK_OK(m, tk_tape_end(m->loss.field));
    }
    if (second)
        tk_forward_end(tk_module_session(&m->tk));
    for (int d = 0; d <= second; d++) {
        memcpy(out[d], d ? m->x.grad_dual : m->x.grad, N * sizeof(double));
        out[d][N] = d ? m->w.grad_dual[0] : m->w.grad[0];
    }
}

static void check_segments(tapes *m)
{
    double want[2][N + 1], got[2][N + 1];
    for (int second = 0; second < 2; second++) {
        chain(m, STEPS, second, want);
        for (int segment = SEGMENT; segment > 0; segment /= 2) {
            chain(m, segment, second, got);
            for (int d = 0; d <= second; d++)
                if (memcmp(got[d], want[d], sizeof got[d]) != 0)
                    FAIL("segments of %d steps: w.grad%s %.17g instead of %.17g", segment, d ? "_dual" : "", got[d][N],
                         want[d][N]);
        }
    }
    CHECK(want[0][N] != 0 && want[1][N] != 0);
}

/* Hessian times direction, over episodes. */
static void check_second_sum(tapes *m)
{
    tk_field *const outputs[] = {m->loss.field};
    const double along_w[] = {1};
    tapes_forward_w(m, outputs, 1, along_w, 1);
    for (int n = 1; n <= 3; n++) {
        memset(m->x.dual, 0, tk_field_bytes(m->x.field));
        CHECK_OK(m, episode(m, n > 1 ? TK_TAPE_SUM : 0));
        CHECK_NEAR(m->w.grad[0], 4 * n, 1e-12);
        CHECK_NEAR(m->w.grad_dual[0], 2 * n, 1e-12);
        CHECK_NEAR(m->x.grad_dual[0], 4 * n, 1e-12);
    }
    tk_forward_end(tk_module_session(&m->tk));
}

/* ---- several modules ---- */

static tk_status backward(void *args)
{
    return tapes_step_grad(*(tapes **)args);
}

static tk_status forward(void *args)
{
    return tapes_step(*(tapes **)args);
}

static void check_modules(void)
{
    static const tk_triple call = {"step of the other", forward, backward, NULL, 0};
    tk_session *s = tk_session_create(NULL);
    tapes *a = tapes_create(s, NULL), *b = tapes_create(s, NULL), *gone = tapes_create(s, NULL);
    for (int n = 1; n <= 3; n++) {
        start(b);
        start(a);
        tk_tape_begin(a->loss.field, TK_TAPE_SUM);
        tk_call(s, &call, &b, sizeof b);
        b->x.grad[0] = 5;
        tapes_step(a);
        tapes_total(a);
        if (n == 2)
            tapes_destroy(gone);
        else if (n == 1)
            gone->w.grad[0] = 3; /* kept by the next tape, with which it goes */
        CHECK_OK(a, tk_tape_end(a->loss.field));
        CHECK_NEAR(a->w.grad[0], n, 1e-12);
        CHECK_NEAR(b->w.grad[0], 5 * n, 1e-12);
        CHECK_NEAR(b->x.grad[0], 10 * n, 1e-12);
    }
    /* a module that is on the tape goes: the others have theirs back */
    start(a);
    tk_tape_begin(a->loss.field, TK_TAPE_SUM);
    tapes_step(a);
    start(b);
    tapes_step(b);
    tapes_destroy(a);
    CHECK_NEAR(b->w.grad[0], 15, 1e-12);
    tapes_destroy(b);
    tk_session_destroy(s);
}

int main(void)
{
    tapes *m = tapes_create(NULL, NULL);
    if (!m)
        return 1;
    check_sum(m);
    check_added(m);
    check_layouts(m);
    check_left(m);
    check_put_back(m);
    check_flags(m);
    check_segments(m);
    check_second_sum(m);
    CHECK_OK(m, tapes_status(m));
    tapes_destroy(m);
    check_modules();
    return failures != 0;
}
