/* Every way to call, to nest and to misuse a triple of host functions. */
#include "triples.h"
#include "host.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

struct args {
    triples *m;
    float factor;
    float kept[4]; /* written by forward, read by backward */
};

static int calls[3];

/* y = sin(factor x), by the host, which keeps the cosines. */
static tk_status wave(void *p)
{
    args *a = static_cast<args *>(p);
    calls[0]++;
    for (int i = 0; i < 4; i++) {
        a->m->y.data[i] = std::sin(a->factor * a->m->x.data[i]);
        a->kept[i] = std::cos(a->factor * a->m->x.data[i]);
    }
    return TK_OK;
}

static tk_status wave_back(void *p)
{
    args *a = static_cast<args *>(p);
    calls[1]++;
    for (int i = 0; i < 4; i++) {
        a->m->x.grad[i] += a->factor * a->kept[i] * a->m->y.grad[i];
        a->m->y.grad[i] = 0;
    }
    return TK_OK;
}

static tk_status wave_jvp(void *p)
{
    args *a = static_cast<args *>(p);
    wave(p);
    calls[2]++;
    for (int i = 0; i < 4; i++)
        a->m->y.dual[i] = a->factor * a->kept[i] * a->m->x.dual[i];
    return TK_OK;
}

static const tk_triple wave_triple = {"wave", wave, wave_back, wave_jvp, 0};

static void fill(triples *m)
{
    for (int i = 0; i < 4; i++)
        m->x.data[i] = 0.5f + 0.25f * static_cast<float>(i);
}

/* Two calls with arguments of their own on one tape, each with what its forward kept. */
static void on_a_tape(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    fill(m);
    std::memset(calls, 0, sizeof calls);
    TK_TAPE(m, m->loss) {
        for (int k = 0; k < 2; k++) {
            args a = {m, k == 0 ? 2.0f : 3.0f, {}};
            CHECK(tk_call(s, &wave_triple, &a, sizeof a) == TK_OK);
            CHECK(a.kept[0] == 0); /* the functions had a copy */
            triples_sum(m);
        }
    }
    CHECK(calls[0] == 2 && calls[1] == 2 && calls[2] == 0);
    for (int i = 0; i < 4; i++) {
        const double x = static_cast<double>(m->x.data[i]);
        CHECK(near(m->x.grad[i], 2 * std::cos(2 * x) + 3 * std::cos(3 * x), 1e-5));
    }
    /* outside of tape and scope: forward, and nothing else */
    args a = {m, 1.0f, {}};
    CHECK(tk_call(s, &wave_triple, &a, sizeof a) == TK_OK);
    CHECK(calls[0] == 3 && calls[1] == 2);
    /* by address: what forward writes is there afterwards */
    CHECK(tk_call(s, &wave_triple, &a, 0) == TK_OK);
    CHECK(a.kept[0] != 0);
}

static void in_a_scope(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    const float seed[4] = {0, 1, 0, 0};
    tk_field *outputs[] = {m->loss.field};
    fill(m);
    std::memset(calls, 0, sizeof calls);
    m->loss.data[0] = 0;
    triples_forward_x(m, outputs, 1, seed, 4);
    args a = {m, 2.0f, {}};
    CHECK(tk_call(s, &wave_triple, &a, sizeof a) == TK_OK);
    triples_sum(m);
    CHECK(tk_forward_end(s) == TK_OK);
    CHECK(calls[0] == 1 && calls[1] == 0 && calls[2] == 1);
    CHECK(near(m->loss.dual[0], 2 * std::cos(2.0 * 0.75), 1e-5));
}

/* Launches inside are not recorded; the backward function recomputes, clears and calls adjoints. z exists once. */
static void recomputes(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    tk_triple cube = {"cube", nullptr, nullptr, nullptr, 0};
    cube.forward = [](void *p) -> tk_status {
        triples *t = static_cast<triples *>(p);
        triples_middle(t);
        return triples_from_middle(t);
    };
    cube.backward = [](void *p) -> tk_status {
        triples *t = static_cast<triples *>(p);
        triples_middle(t);
        tk_field_clear_grad(t->z.field);
        triples_from_middle_grad(t);
        return triples_middle_grad(t);
    };
    fill(m);
    TK_TAPE(m, m->loss) {
        tk_call(s, &cube, m, 0);
        cube.backward = nullptr; /* the triple was copied */
        triples_sum(m);
        std::memset(m->z.data, 0, 4 * sizeof(float)); /* nobody needs it any more */
    }
    for (int i = 0; i < 4; i++) {
        const double x = static_cast<double>(m->x.data[i]);
        CHECK(near(m->x.grad[i], 24 * x * x, 1e-5));
    }
    CHECK(triples_status(m) == TK_OK);
}

/* A call inside a call belongs to the outer one. */
static void nested(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    tk_triple outer = {"outer", nullptr, nullptr, nullptr, 0};
    outer.forward = [](void *p) -> tk_status {
        triples *t = static_cast<triples *>(p);
        args a = {t, 2.0f, {}};
        return tk_call(tk_module_session(&t->tk), &wave_triple, &a, sizeof a);
    };
    outer.backward = [](void *p) -> tk_status {
        triples *t = static_cast<triples *>(p);
        for (int i = 0; i < 4; i++) {
            t->x.grad[i] += 7 * t->y.grad[i];
            t->y.grad[i] = 0;
        }
        return TK_OK;
    };
    fill(m);
    std::memset(calls, 0, sizeof calls);
    TK_TAPE(m, m->loss) {
        tk_call(s, &outer, m, 0);
        triples_sum(m);
    }
    CHECK(calls[0] == 1 && calls[1] == 0);
    CHECK(m->x.grad[0] == 7);
}

static void misuse(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    args a = {m, 2.0f, {}};
    tk_triple only_forward = {"only_forward", wave, nullptr, nullptr, 0}, nothing = {nullptr, nullptr, nullptr, nullptr, 0};

    CHECK(tk_call(nullptr, &wave_triple, &a, sizeof a) == TK_BAD_ARGUMENT && std::strstr(tk_error(), "session"));
    CHECK_REFUSED(m, tk_call(s, nullptr, &a, sizeof a), "the triple is NULL");
    CHECK_REFUSED(m, tk_call(s, &wave_triple, nullptr, 8), "'wave'");
    CHECK_REFUSED(m, tk_call(s, &nothing, &a, sizeof a), "'unnamed'");
    CHECK_STATUS(m, tk_call(s, &wave_triple, &a, SIZE_MAX), TK_NO_MEMORY, "'wave'");

    CHECK(tk_call(s, &only_forward, &a, sizeof a) == TK_OK); /* a derivative is asked for where it is needed */
    std::memset(calls, 0, sizeof calls);
    tk_tape_begin(m->loss.field, 0);
    CHECK_STATUS(m, tk_call(s, &only_forward, &a, sizeof a), TK_NO_DERIVATIVE,
                 "'only_forward' was called without a backward function");
    CHECK(calls[0] == 0);
    CHECK(tk_tape_end(m->loss.field) == TK_NO_DERIVATIVE); /* a launch is missing on it */
    tk_session_clear_error(s);
    tk_field *outputs[] = {m->loss.field};
    tk_forward_begin(outputs, 1, m->loss.field, nullptr, 0);
    CHECK_STATUS(m, tk_call(s, &only_forward, &a, sizeof a), TK_NO_DERIVATIVE, "without a jvp function");
    CHECK(tk_forward_end(s) == TK_NO_DERIVATIVE);
    tk_session_clear_error(s);

    /* what a function inside may not do */
    tk_triple closes = {"closes", nullptr, wave_back, nullptr, 0};
    closes.forward = [](void *p) -> tk_status { return tk_tape_end(static_cast<triples *>(p)->loss.field); };
    tk_tape_begin(m->loss.field, 0);
    CHECK_STATUS(m, tk_call(s, &closes, m, 0), TK_BAD_STATE, "closing a tape");
    closes.forward = [](void *p) -> tk_status { return tk_tape_drop(tk_module_session(&static_cast<triples *>(p)->tk)); };
    CHECK_STATUS(m, tk_call(s, &closes, m, 0), TK_BAD_STATE, "dropping a tape");
    closes.forward = [](void *p) -> tk_status { return tk_tape_begin(static_cast<triples *>(p)->loss.field, 0); };
    CHECK_STATUS(m, tk_call(s, &closes, m, 0), TK_BAD_STATE, "opening a tape");
    closes.forward = [](void *p) -> tk_status { return tk_field_clear_grad(static_cast<triples *>(p)->x.field); };
    CHECK_STATUS(m, tk_call(s, &closes, m, 0), TK_BAD_STATE, "clearing");
    CHECK(tk_tape_is_open(s));
    tk_tape_drop(s);

    /* a failure of their own, forward and backward */
    tk_triple fails = {"fails", nullptr, nullptr, nullptr, 0};
    fails.forward = [](void *) -> tk_status { return TK_BAD_ARGUMENT; };
    CHECK_REFUSED(m, tk_call(s, &fails, nullptr, 0), "a function of 'fails' failed (TK_BAD_ARGUMENT)");
    fails.forward = [](void *) -> tk_status { return TK_OK; };
    fails.backward = [](void *) -> tk_status { return TK_NO_MEMORY; };
    tk_tape_begin(m->loss.field, 0);
    tk_call(s, &wave_triple, &a, sizeof a);
    tk_call(s, &fails, nullptr, 0);
    std::memset(calls, 0, sizeof calls);
    CHECK_STATUS(m, tk_tape_end(m->loss.field), TK_NO_MEMORY, "a function of 'fails' failed");
    CHECK(calls[1] == 0 && !tk_tape_is_open(s));
    /* one that hides it */
    fails.backward = [](void *p) -> tk_status {
        tk_session *t = static_cast<tk_session *>(p);
        tk_call(t, nullptr, nullptr, 0);
        tk_session_clear_error(t);
        return TK_OK;
    };
    tk_tape_begin(m->loss.field, 0);
    tk_call(s, &fails, s, 0);
    CHECK(tk_tape_end(m->loss.field) == TK_BAD_ARGUMENT);
    CHECK(tk_session_status(s) == TK_OK);
}

/* Exceptions leave a session that works. */
static void throws(triples *m)
{
    tk_session *s = tk_module_session(&m->tk);
    tk_triple t = {"throws", nullptr, nullptr, nullptr, 0};
    t.forward = [](void *) -> tk_status { throw std::runtime_error("forward"); };
    t.backward = [](void *) -> tk_status { throw std::runtime_error("backward"); };
    args a = {m, 1.0f, {}};
    int caught = 0;
    try {
        TK_TAPE(m, m->loss) tk_call(s, &t, &a, sizeof a);
    } catch (const std::runtime_error &e) {
        caught += std::strcmp(e.what(), "forward") == 0;
    }
    CHECK(!tk_tape_is_open(s));
    try {
        tk_call(s, &t, &a, sizeof a);
    } catch (const std::runtime_error &) {
        caught++;
    }
    t.forward = [](void *) -> tk_status { return TK_OK; };
    try {
        TK_TAPE(m, m->loss) tk_call(s, &t, &a, sizeof a);
    } catch (const std::runtime_error &e) {
        caught += std::strcmp(e.what(), "backward") == 0;
    }
    CHECK(caught == 3 && !tk_tape_is_open(s));
    try {
        TK_TAPE(m, m->loss) {
            triples_square(m);
            throw std::runtime_error("behind a launch");
        }
    } catch (const std::runtime_error &) {
        caught++;
        while (!tk_tape_is_open(s)) {
            TK_TAPE(m, m->loss) {
                triples_square(m);
                break;
            }
            break;
        }
    }
    CHECK(caught == 4 && !tk_tape_is_open(s) && tk_session_status(s) == TK_BAD_STATE);
    tk_session_clear_error(s);
    on_a_tape(m);
}

/* A module that goes inside takes the tape with it, not the process. */
static void destroys(tk_session *s)
{
    triples *m = triples_create(s, nullptr);
    tk_triple t = {"destroys", nullptr, wave_back, nullptr, 0};
    t.forward = [](void *p) -> tk_status {
        triples_destroy(static_cast<triples *>(p));
        return TK_OK;
    };
    tk_tape_begin(m->loss.field, 0);
    triples_square(m);
    CHECK(tk_call(s, &t, m, 0) == TK_BAD_STATE && tk_session_status(s) == TK_BAD_STATE);
    CHECK(std::strstr(tk_session_error(s), "was destroyed while a tape"));
    tk_session_clear_error(s);
    CHECK(!tk_tape_is_open(s));
}

int main()
{
    tk_session *s = tk_session_create(nullptr);
    triples *m = triples_create(s, nullptr);
    if (!m)
        return 1;
    on_a_tape(m);
    in_a_scope(m);
    recomputes(m);
    nested(m);
    misuse(m);
    throws(m);
    destroys(s);
    CHECK_OK(m, triples_status(m));
    triples_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
