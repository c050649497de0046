/* Parameters that change between the launches of a tape: plain and under budgets, in scopes, of two modules, around
 * functions of the host. The bits are those of the same program whose kernels have arguments in their place. */
#include "params_on_tape.h"
#include "host.h"

#include <tkc/tkc_gen.h>

typedef params_on_tape module;
typedef params_on_tape_params params;
enum { N = 16, STEPS = 40 };

/* ---- programs ---- */

static void fill(module *m, double first)
{
    for (int i = 0; i < m->tk.desc->nfields; i++)
        memset(tk_field_data(&m->tk.fields[i]), 0, tk_field_bytes(&m->tk.fields[i]));
    for (int i = 0; i < N; i++)
        m->x.data[i] = first + 0.05 * i;
    for (int i = 0; i < 8; i++)
        m->w.data[i] = 1 + 0.1 * i;
}

/* Boxes that an adjoint needs lie on both sides of those that are overwritten. */
static params at_step(const module *m, int t, int turns)
{
    static const int place[] = {0, 2, 1, 3};
    params p = m->params;
    p.rate = 0.05 + 0.01 * (t % turns);
    p.mode = t % turns % 5;
    p.from = t < 4 ? 4 * place[t] : 2;
    p.last = p.from + 4;
    return p;
}

static void step(module *m, bool by, int t, int turns)
{
    const params p = at_step(m, t, turns);
    if (!by)
        params_on_tape_set_params(m, &p);
    by ? params_on_tape_move_by(m, p.rate) : params_on_tape_move(m);
    by ? params_on_tape_turn_by(m, p.rate, p.mode) : params_on_tape_turn(m);
    by ? params_on_tape_jolt_by(m, p.rate) : params_on_tape_jolt(m);
    by ? params_on_tape_count_by(m, p.mode) : params_on_tape_count(m);
    if (t < 4) {
        by ? params_on_tape_put_to(m, p.rate, p.from, p.last) : params_on_tape_put(m);
        by ? params_on_tape_cut_to(m, p.from, p.last) : params_on_tape_cut(m);
    }
}

static void total(module *m, bool by, double rate)
{
    params p = m->params;
    p.rate = rate;
    if (!by)
        params_on_tape_set_params(m, &p);
    by ? params_on_tape_total_by(m, rate) : params_on_tape_total(m);
}

static void steps(module *m, module *other, bool by)
{
    (void)other;
    for (int t = 0; t < STEPS; t++)
        step(m, by, t, STEPS);
    total(m, by, 0.5);
}

/* Many launches alike, and the same with other parameters. */
static void in_phases(module *m, module *other, bool by)
{
    (void)other;
    for (int t = 0; t < 4 * STEPS; t++) {
        params p = m->params;
        p.rate = 0.01 * (t / STEPS);
        if (!by)
            params_on_tape_set_params(m, &p);
        by ? params_on_tape_move_by(m, p.rate) : params_on_tape_move(m);
    }
    total(m, by, 0.5);
}

/* The other module changes later, and goes back. */
static void two_modules(module *m, module *other, bool by)
{
    for (int t = 0; t < STEPS; t++) {
        if (t % 3 == 0)
            step(m, by, t, 7);
        step(other, by, t, t < 10 ? 1 : 6);
    }
    total(other, by, 0.25);
    total(m, by, 0.5);
    other->loss.grad[0] = 2.0;
}

/* ---- functions of the host, which read the parameters ---- */

typedef struct called {
    module *m;
    bool by;
    double rate;
} called;

static tk_status forward(void *args)
{
    const called *c = args;
    c->by ? params_on_tape_count_by(c->m, (int)(100 * c->rate)) : params_on_tape_count(c->m);
    for (int i = 0; i < N; i++)
        c->m->k.data[i] = (c->by ? c->rate : c->m->params.rate) * c->m->w.data[i % 8];
    return TK_OK;
}

static tk_status backward(void *args)
{
    const called *c = args;
    for (int i = 0; i < N; i++) {
        c->m->w.grad[i % 8] += (c->by ? c->rate : c->m->params.rate) * c->m->k.grad[i];
        c->m->k.grad[i] = 0.0;
    }
    return TK_OK;
}

static const tk_triple once = {"once", forward, backward, NULL, 0}, again = {"again", forward, backward, NULL, TK_CALL_AGAIN};

static void with_calls(module *m, module *other, bool by)
{
    (void)other;
    for (int t = 0; t < STEPS; t++) {
        params p = m->params;
        p.rate = 0.05 + 0.01 * (t % 9);
        p.mode = (int)(100 * p.rate);
        if (!by)
            params_on_tape_set_params(m, &p);
        const called c = {m, by, p.rate};
        by ? params_on_tape_move_by(m, p.rate) : params_on_tape_move(m);
        if (t % 10 != 3) {
            const tk_footprint lines[] = {{m->w.field, TK_READS, NULL}, {m->k.field, TK_STORES, NULL}, {m->steps.field, TK_READS | TK_STORES, NULL}};
            tk_call_with(m->tk.session, t % 20 == 13 ? &once : &again, &c, sizeof c, lines, 3);
        } else {
            tk_call(m->tk.session, &again, &c, sizeof c);
        }
        by ? params_on_tape_weigh_by(m, p.rate) : params_on_tape_weigh(m);
    }
    total(m, by, 0.5);
}

/* A function that may write anything, and writes what launches with other parameters need. */
static tk_status store(void *args)
{
    module *m = *(module **)args;
    for (int i = 0; i < 12; i++)
        m->c.data[i] += 0.1 * i;
    return TK_OK;
}

static tk_status store_back(void *args)
{
    (void)args;
    return TK_OK;
}

static void call_beside(module *m, module *other, bool by)
{
    const tk_triple storing = {"storing", store, store_back, NULL, TK_CALL_AGAIN};
    (void)other;
    for (int i = 0; i < N; i++)
        m->c.data[i] = 0.1 * i;
    for (int t = 0; t < 4; t++) {
        const params p = at_step(m, t, STEPS);
        if (!by)
            params_on_tape_set_params(m, &p);
        if (t == 3)
            tk_call(m->tk.session, &storing, &m, sizeof m);
        by ? params_on_tape_put_to(m, p.rate, p.from, p.last) : params_on_tape_put(m);
        by ? params_on_tape_cut_to(m, p.from, p.last) : params_on_tape_cut(m);
        by ? params_on_tape_look_at(m, p.from, p.last) : params_on_tape_look(m);
    }
    for (int t = 4; t < STEPS; t++)
        step(m, by, t, STEPS);
    total(m, by, 0.5);
}

/* ---- the same bits ---- */

typedef struct result {
    unsigned char bits[40000];
    size_t n;
    tk_tape_report report;
    tk_status status;
    char message[200];
} result;

static void gather(const module *m, result *r)
{
    for (int i = 0; i < m->tk.desc->nfields; i++)
        for (int p = 0; p < TK_PLANE_COUNT; p++)
            if (m->tk.fields[i].plane[p]) {
                memcpy(r->bits + r->n, m->tk.fields[i].plane[p], tk_field_bytes(&m->tk.fields[i]));
                r->n += tk_field_bytes(&m->tk.fields[i]);
            }
}

typedef void (*program_fn)(module *m, module *other, bool by);

static bool same_params(const module *m, const params *p)
{
    return m->params.rate == p->rate && m->params.from == p->from && m->params.last == p->last && m->params.mode == p->mode;
}

static void run(result *r, program_fn program, bool by, size_t bytes, bool along, int64_t fails_at)
{
    heap h = {0};
    tk_session_options o = tk_session_defaults();
    o.threads = 1 + (int)(bytes % 3);
    o.deterministic = true;
    o.alloc = heap_alloc;
    o.alloc_user = &h;
    tk_session *s = tk_session_create(&o);
    module *m = params_on_tape_create(s, NULL), *other = params_on_tape_create(s, NULL);
    const params first = m->params;
    fill(m, 0.3);
    fill(other, 0.6);
    tk_tape_budget(s, bytes);
    h.calls = 0;
    h.fails_at = fails_at;
    static const double seed[8] = {1, 0.5, 0, -1, 0.25, 0, 0, 2};
    tk_field *const outputs[] = {m->loss.field};
    params last = first, last_other = first;
    if (along)
        params_on_tape_forward_w(m, outputs, 1, seed, 8);
    for (int sum = 0; sum < 2; sum++)
        TK_TAPE_WITH(m, m->loss, sum ? TK_TAPE_SUM : 0) {
            program(m, other, by);
            last = m->params;
            last_other = other->params;
        }
    h.fails_at = 0;
    *r = (result){.status = tk_session_status(s), .report = tk_tape_last_report(s)};
    snprintf(r->message, sizeof r->message, "%s", tk_session_error(s));
    CHECK(same_params(m, &last) && same_params(other, &last_other));
    CHECK(by == same_params(m, &first) || r->status != TK_OK);
    tk_session_clear_error(s);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    gather(m, r);
    gather(other, r);
    params_on_tape_destroy(m);
    params_on_tape_destroy(other);
    tk_session_destroy(s);
    CHECK(h.bytes == 0);
}

static result wanted, got;

static void compare(const char *name, program_fn program, bool along)
{
    run(&wanted, program, true, 0, along, 0);
    CHECK(wanted.status == TK_OK);
    int ran = 0, again_ran = 0, refused = 0;
    for (size_t bytes = 1 << 19; bytes > 4000; bytes -= bytes / 6) {
        run(&got, program, false, ran == 0 ? 0 : bytes, along, 0); /* the first tape has no budget */
        if (ran > 0 && got.status == TK_BAD_ARGUMENT && strstr(got.message, "is too small")) {
            refused++;
        } else if (got.status != TK_OK) {
            FAIL("%s, %zu bytes: %s %s", name, bytes, tk_status_name(got.status), got.message);
        } else if (got.n != wanted.n || memcmp(got.bits, wanted.bits, got.n) != 0) {
            FAIL("%s, %zu bytes: other bits", name, bytes);
        }
        ran++;
        again_ran += got.report.again > 0 && got.status == TK_OK;
    }
    if (ran < 8 || again_ran < 3 || refused == 0)
        FAIL("%s: %d budgets ran, %d ran launches again, %d were refused", name, ran, again_ran, refused);
}

static void out_of_memory(program_fn program, size_t bytes)
{
    int64_t n = 1;
    run(&wanted, program, true, 0, false, 0);
    for (bool ends = false; !ends && !failures; n += 1 + n / 30) {
        run(&got, program, false, bytes, false, n);
        ends = got.status == TK_OK;
        if (ends ? memcmp(got.bits, wanted.bits, got.n) != 0 : got.status != TK_NO_MEMORY)
            FAIL("allocation %d: %s %s", (int)n, tk_status_name(got.status), got.message);
    }
    CHECK(n > 5);
}

/* ---- memory, misuse, failures ---- */

/* Values that come back take no memory, and launches that repeat themselves with them neither. */
static void to_and_fro(tk_session *s, module *m)
{
    fill(m, 0.3);
    tk_tape_budget(s, 60000);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < 8000; t++) {
            params p = m->params;
            p.rate = t % 2 ? 0.01 : 0.02;
            CHECK_OK(m, params_on_tape_set_params(m, &p));
            params_on_tape_move(m);
        }
        params_on_tape_total(m);
    }
    CHECK_OK(m, params_on_tape_status(m));
    CHECK(tk_tape_last_report(s).launches == 8001 && tk_tape_last_report(s).again > 8000 && m->params.rate == 0.01);
    tk_tape_budget(s, 0);
}

static tk_status sets(void *args)
{
    module *m = *(module **)args;
    params p = m->params;
    p.rate += 1.0;
    return params_on_tape_set_params(m, &p);
}

static tk_status fails(void *args)
{
    (void)args;
    return TK_BAD_ARGUMENT;
}

static void misuse(tk_session *s, module *m)
{
    const tk_triple setting = {"setting", sets, fails, NULL, 0}, failing = {"failing", fails, fails, NULL, 0};
    params p = m->params;
    p.rate = 0.1;
    CHECK_OK(m, params_on_tape_set_params(m, &p));
    TK_TAPE(m, m->loss) {
        tk_call(s, &setting, &m, sizeof m);
    }
    CHECK_STATUS(m, params_on_tape_status(m), TK_BAD_STATE, "inside a function of tk_call while a tape is open: change them between launches");
    CHECK(m->params.rate == 0.1);
    for (int drops = 0; drops < 2; drops++) {
        tk_tape_begin(m->loss.field, 0);
        params_on_tape_move(m);
        p.rate = 0.2;
        CHECK_OK(m, params_on_tape_set_params(m, &p));
        p.N++;
        CHECK_REFUSED(m, params_on_tape_set_params(m, &p), "N sizes a field");
        p.N--;
        tk_tape_drop(s);
        tk_tape_begin(m->loss.field, 0);
        params_on_tape_move(m);
        p.rate = 0.3;
        CHECK_OK(m, params_on_tape_set_params(m, &p));
        params_on_tape_move(m);
        if (drops) {
            tk_tape_drop(s);
        } else { /* after a failure, too, the program has what it sets */
            CHECK_STATUS(m, tk_call(s, &failing, NULL, 0), TK_BAD_ARGUMENT, "a function of 'failing' failed");
            p.rate = 0.4;
            CHECK_OK(m, params_on_tape_set_params(m, &p));
            params_on_tape_move(m);
            CHECK_STATUS(m, tk_tape_end(m->loss.field), TK_BAD_ARGUMENT, "something failed since the tape was opened");
        }
        CHECK(m->params.rate == (drops ? 0.3 : 0.4) && !tk_tape_is_open(s));
    }
    /* a module that goes, on whose parameters no launch depends */
    module *other = params_on_tape_create(s, NULL);
    fill(m, 0.3);
    tk_tape_begin(m->loss.field, 0);
    for (int t = 0; t < 3; t++) {
        p.rate = 0.1 * t;
        CHECK_OK(m, params_on_tape_set_params(m, &p));
        CHECK_OK(m, other ? params_on_tape_set_params(other, &p) : TK_OK);
        params_on_tape_move(m);
        if (t == 1) {
            params_on_tape_destroy(other);
            other = NULL;
        }
    }
    params_on_tape_total(m);
    CHECK_OK(m, tk_tape_end(m->loss.field));
    CHECK(m->params.rate == 0.2);
}

/* Each run of the program begins with the parameters that the check found. */
static void changes(void *user)
{
    module *m = user;
    for (int t = 0; t < 5; t++) {
        params p = m->params;
        p.rate *= 1.5;
        params_on_tape_set_params(m, &p);
        params_on_tape_move(m);
    }
    params_on_tape_total(m);
}

static void checked(module *m)
{
    static double by[2][N], jacobian[N];
    params p = m->params;
    p.rate = 0.125;
    params_on_tape_set_params(m, &p);
    fill(m, 0.3);
    tk_gradcheck_result found;
    CHECK_OK(m, tk_gradcheck(m->loss.field, &m->x.field, 1, changes, m, 0, &found));
    CHECK(m->params.rate == 0.125);
    CHECK_OK(m, tk_jacobian_reverse(m->loss.field, m->x.field, changes, m, by[0]));
    CHECK(m->params.rate == 0.125);
    CHECK_OK(m, tk_jacobian_forward(m->loss.field, m->x.field, changes, m, jacobian));
    CHECK(m->params.rate == 0.125);
    for (int i = 0; i < N; i++)
        CHECK_NEAR(by[0][i], jacobian[i], 1e-12);
}

int main(void)
{
    compare("steps", steps, false);
    compare("second order", steps, true);
    compare("two modules", two_modules, false);
    compare("two modules, second order", two_modules, true);
    compare("phases", in_phases, false);
    compare("calls", with_calls, false);
    compare("a call beside", call_beside, false);
    out_of_memory(steps, 0);
    out_of_memory(two_modules, 90000);
    tk_session *s = tk_session_create(NULL);
    module *m = params_on_tape_create(s, NULL);
    to_and_fro(s, m);
    misuse(s, m);
    checked(m);
    params_on_tape_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
