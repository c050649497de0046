/* Tapes under a budget of bytes: the bits of a tape without one, for each budget that suffices, by launches that run
 * again; refused are budgets that are too small, and programs that cannot run again. */
#include "budget.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 24, STEPS = 60 };

/* ---- programs ---- */

static void fill(budget *m)
{
    for (int i = 0; i < m->tk.desc->nfields; i++) /* also after a run */
        memset(tk_field_data(&m->tk.fields[i]), 0, tk_field_bytes(&m->tk.fields[i]));
    for (int i = 0; i < N; i++) {
        m->x.data[i] = 0.02 * i;
        m->v.data[i] = 0.1;
        m->y.data[i] = 0.5 + 0.03 * i;
        m->factor.data[i] = 1.0 - 0.02 * i;
    }
    for (int i = 0; i < 8; i++)
        m->w.data[i] = 1 + 0.1 * i;
    for (int i = 0; i < 64 * N; i++)
        m->u.data[i] = m->past.data[i] = 0.001 * i;
}

static void in_place(budget *m)
{
    for (int t = 0; t < STEPS; t++) {
        budget_clear(m);
        budget_spread(m);
        budget_tick(m);
        budget_move(m);
        if (t < 5)
            budget_look(m);
        budget_keep(m, t);
    }
    budget_use(m);
    budget_total(m);
}

static void second_order(budget *m)
{
    for (int t = 0; t < STEPS; t++) {
        budget_clear(m);
        budget_spread(m);
        budget_move(m);
        budget_keep(m, t);
    }
    budget_total(m);
}

static void along_time(budget *m)
{
    budget_first(m);
    for (int t = 0; t < STEPS; t++)
        budget_step(m, t);
    budget_sum_time(m);
}

/* Rows that are written again, in part, perhaps, or read before they are written. */
static void over_time(budget *m)
{
    for (int sweep = 0; sweep < 3; sweep++) {
        budget_first(m);
        for (int t = 0; t < STEPS; t++)
            if (t % 7 == 3)
                budget_look_ahead(m, t);
            else if (t % 7 == 5)
                budget_perhaps(m, t);
            else
                budget_step_past(m, t);
        for (int t = 2; t < STEPS; t += 5)
            budget_reset(m, t, t % 2 ? N / 2 : N);
        for (int t = sweep; t < STEPS; t += 3)
            budget_change(m, t);
    }
    budget_sum_time(m);
}

static void own_adjoint(budget *m)
{
    for (int t = 0; t < STEPS; t++) {
        if (t % 10 == 0)
            budget_mark(m);
        budget_bend(m);
        if (t == STEPS / 2 + 5) /* some launches behind the last mark */
            budget_own(m);
        budget_scale(m);
    }
    budget_end(m);
}

/* What scale makes is overwritten in part before it is read. */
static void some_of_it(budget *m)
{
    for (int t = 0; t < 4 * STEPS; t++)
        if (t % 7 == 0)
            budget_scale(m);
        else
            budget_some(m, 6 + t % 4);
    budget_end(m);
}

/* What parts of a tape overwrite is the same but for one element. */
static void a_series(budget *m)
{
    for (int t = 0; t < 300; t++)
        budget_advance(m, t);
    budget_sum_series(m);
    budget_end(m);
}

/* The log is longest in the midst of the last turns. */
static void loops_in_loops(budget *m)
{
    for (int a = 0; a < 3; a++) {
        budget_scale(m);
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++) {
                budget_weigh(m);
                budget_bend(m);
                budget_some(m, b);
            }
    }
    budget_end(m);
}

/* Functions of the host on the tape: with and without footprint, with launches of their own. */
typedef struct called {
    budget *m;
    double by;
    bool launches;
} called;

static tk_status forward(void *args)
{
    called *c = args;
    if (c->launches)
        budget_mark(c->m);
    for (int i = 0; i < N; i++)
        c->m->factor.data[i] = c->by * c->m->y.data[i];
    c->by += 1.0; /* backward finds it */
    return TK_OK;
}

static tk_status backward(void *args)
{
    const called *c = args;
    if (c->launches)
        budget_mark(c->m); /* overwrites what launches read */
    for (int i = 0; i < N; i++) {
        c->m->y.grad[i] += (c->by - 1.0) * c->m->factor.grad[i];
        c->m->factor.grad[i] = 0.0;
    }
    return TK_OK;
}

static const tk_triple triple = {"host", forward, backward, NULL, 0};

static void with_calls(budget *m)
{
    const tk_footprint lines[] = {{m->y.field, TK_READS, NULL}, {m->factor.field, TK_STORES, NULL}};
    for (int t = 0; t < STEPS; t++) {
        budget_scale(m);
        const called c = {m, 0.01 * t, t == 20};
        if (t == 20)
            tk_call(m->tk.session, &triple, &c, sizeof c);
        if (t == 40)
            tk_call_with(m->tk.session, &triple, &c, sizeof c, lines, 2);
        budget_weigh(m);
        budget_bend(m);
    }
    budget_end(m);
}

/* Functions of the host that run again: with launches inside that draw numbers, and arguments that forward changes. */
static int forwards;

static tk_status forward_again(void *args)
{
    called *c = args;
    forwards++;
    if (c->launches)
        budget_jitter(c->m);
    for (int i = 0; i < N; i++)
        c->m->factor.data[i] = c->by * c->m->y.data[i] + 0.1 * c->m->noise.data[i];
    c->by += 1.0;
    return TK_OK;
}

/* Without a size the arguments stay as they are. */
static tk_status forward_fixed(void *args)
{
    called *c = args;
    const tk_status st = forward_again(c);
    c->by -= 1.0;
    return st;
}

static tk_status backward_fixed(void *args)
{
    called c = *(const called *)args;
    c.by += 1.0;
    return backward(&c);
}

static const tk_triple again = {"again", forward_again, backward, NULL, TK_CALL_AGAIN};
static const tk_triple again_fixed = {"again, fixed", forward_fixed, backward_fixed, NULL, TK_CALL_AGAIN};
static const tk_triple once = {"once", forward_fixed, backward_fixed, NULL, 0};

static void with_calls_again(budget *m)
{
    static called fixed;
    const tk_footprint lines[] = {{m->y.field, TK_READS, NULL}, {m->factor.field, TK_STORES, NULL}};
    fixed = (called){m, 0.5, false};
    for (int t = 0; t < 5 * STEPS; t++) {
        const called c = {m, 0.01 * t, true};
        budget_scale(m);
        if (t % 50 == 21)
            tk_session_set_seed(m->tk.session, (uint64_t)t);
        if (t == 17)
            tk_call(m->tk.session, &again, &c, sizeof c);
        else if (t % 60 == 2)
            tk_call_with(m->tk.session, &again, &c, sizeof c, lines, 2);
        else
            tk_call_with(m->tk.session, &again_fixed, &fixed, 0, lines, 2);
        budget_weigh(m);
    }
    budget_end(m);
}

/* ---- the same bits ---- */

typedef struct result {
    unsigned char *bits; /* data, gradients, and tangents of these, of all fields */
    size_t n;
    tk_tape_report report;
    size_t most; /* bytes of the session, but for those before the tape */
    bool failed; /* an allocation */
    tk_status status;
    char message[300];
} result;

static void gather(budget *m, result *r)
{
    r->n = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (int i = 0; i < m->tk.desc->nfields; i++)
            for (int p = 0; p < TK_PLANE_COUNT; p++)
                if (m->tk.fields[i].plane[p] && !(m->tk.fields[i].desc->flags & TK_FIELD_SCRATCH) &&
                    &m->tk.fields[i] != m->spoiled.field) { /* an adjoint stores to it, which a budget puts back */
                    const size_t bytes = tk_field_bytes(&m->tk.fields[i]);
                    if (pass)
                        memcpy(r->bits + at, m->tk.fields[i].plane[p], bytes);
                    at += bytes;
                }
        if (!pass)
            r->bits = malloc(at);
        r->n = at;
    }
}

typedef void (*program_fn)(budget *m);

static result run(program_fn program, size_t bytes, int threads, bool along, int64_t fails_at)
{
    heap h = {0};
    tk_session_options o = tk_session_defaults();
    o.threads = threads;
    o.deterministic = true;
    o.alloc = heap_alloc;
    o.alloc_user = &h;
    tk_session *s = tk_session_create(&o);
    budget *m = budget_create(s, NULL);
    fill(m);
    CHECK_OK(m, tk_tape_budget(s, bytes));
    const size_t before = h.bytes;
    h.calls = 0;
    h.fails_at = fails_at;
    h.most = h.bytes;
    static const double seed[8] = {1, 0.5, 0, -1, 0.25, 0, 0, 2};
    tk_field *const outputs[] = {m->loss.field};
    if (along)
        budget_forward_w(m, outputs, 1, seed, 8);
    TK_TAPE(m, m->loss)
    {
        program(m);
    }
    h.fails_at = 0;
    result r = {.most = h.most - before,
                .failed = fails_at > 0 && h.calls >= fails_at,
                .status = budget_status(m),
                .report = tk_tape_last_report(s)};
    snprintf(r.message, sizeof r.message, "%s", budget_error(m));
    tk_session_clear_error(s);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    CHECK(!tk_tape_is_open(s));
    gather(m, &r);
    budget_destroy(m);
    tk_session_destroy(s);
    CHECK(h.bytes == 0);
    return r;
}

/* A budget was refused: the least one of the message suffices, with the same bits, and hardly less does. */
static void try_least(const char *name, program_fn program, bool along, const result *refused, const result *plain)
{
    const char *at = strstr(refused->message, " of a tape: ");
    const size_t least = at ? strtoull(at + strlen(" of a tape: "), NULL, 10) : 0;
    if (!strstr(refused->message, "is too small for") || least == 0) {
        FAIL("%s: %s", name, refused->message);
        return;
    }
    result r = run(program, least, 1, along, 0), less = run(program, least - least / 8, 1, along, 0);
    if (r.status != TK_OK || r.n != plain->n || memcmp(r.bits, plain->bits, r.n) != 0)
        FAIL("%s, %zu bytes, the least: %s %s, or other bits", name, least, tk_status_name(r.status), r.message);
    if (less.status != TK_BAD_ARGUMENT)
        FAIL("%s, %zu bytes: %s, less than the least", name, least - least / 8, tk_status_name(less.status));
    free(r.bits);
    free(less.bits);
}

static void compare(const char *name, program_fn program, bool along)
{
    result plain = run(program, 0, 1, along, 0);
    CHECK(plain.status == TK_OK && plain.report.budget == 0 && plain.report.launches == 0);
    size_t ran = 0, again = 0, twice = 0, refused = 0;
    for (size_t bytes = 1 << 21; bytes > 2000; bytes -= bytes / 6) {
        result r = run(program, bytes, 1 + (int)(bytes % 3), along, 0);
        if (r.status == TK_BAD_ARGUMENT) {
            try_least(name, program, along, &r, &plain);
            refused++;
        } else if (r.status != TK_OK) {
            FAIL("%s, %zu bytes: %s %s", name, bytes, tk_status_name(r.status), r.message);
        } else {
            if (r.n != plain.n || memcmp(r.bits, plain.bits, r.n) != 0)
                FAIL("%s, %zu bytes: other bits", name, bytes);
            if (r.report.bytes > bytes - bytes / 16 ||
                r.report.budget != bytes) /* the rest is for stacks, and a line of the log */
                FAIL("%s, %zu bytes: %zu held", name, bytes, r.report.bytes);
            CHECK(refused == 0); /* more bytes never fail */
            ran++;
            again += r.report.again > 0;
            twice += r.report.again > r.report.launches;
        }
        free(r.bits);
    }
    if (ran < 8 || again < 4 || twice == 0 || refused == 0)
        FAIL("%s: %zu budgets ran, %zu ran launches again, %zu twice and more, %zu were refused", name, ran, again,
             twice, refused);
    free(plain.bits);
}

/* Rows that are replaced before they are read take no memory, and nothing runs again. */
static void time_is_free(void)
{
    const size_t bytes = 32000;
    result plain = run(along_time, 0, 1, false, 0), r = run(along_time, bytes, 1, false, 0);
    CHECK(r.status == TK_OK && r.report.again == 0 && r.report.images == 1); /* of the loss */
    CHECK(memcmp(r.bits, plain.bits, r.n) == 0);
    free(plain.bits);
    free(r.bits);
}

/* Every allocation fails once. */
static void out_of_memory(program_fn program, size_t bytes)
{
    result plain = run(program, 0, 1, false, 0);
    int64_t n = 1;
    for (bool ends = false; !ends && !failures; n += 1 + n / 40) {
        result r = run(program, bytes, 1, false, n);
        ends = !r.failed;
        if (r.status == TK_OK && memcmp(r.bits, plain.bits, r.n) != 0)
            FAIL("allocation %d went unnoticed", (int)n);
        if (r.status != TK_OK && r.status != TK_NO_MEMORY)
            FAIL("allocation %d: %s %s", (int)n, tk_status_name(r.status), r.message);
        free(r.bits);
    }
    CHECK(n > 20);
    free(plain.bits);
}

/* ---- what is refused, what is found ---- */

static int said;

static void count_print(void *user, const char *text)
{
    (void)user;
    said += strstr(text, "step") != NULL;
}

static void misuse(void)
{
    tk_session_options o = tk_session_defaults();
    o.on_print = count_print;
    tk_session *s = tk_session_create(&o);
    budget *m = budget_create(s, NULL);
    CHECK(tk_tape_budget(NULL, 1) == TK_BAD_ARGUMENT && tk_tape_last_report(NULL).bytes == 0);
    fill(m);
    tk_tape_begin(m->loss.field, 0);
    CHECK_STATUS(m, tk_tape_budget(s, 1 << 20), TK_BAD_STATE,
                 "setting the budget of tapes is not possible while a tape is open");
    tk_tape_drop(s);
    tk_tape_budget(s, 12000);
    CHECK_STATUS(m, tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE), TK_BAD_STATE,
                 "a tape under a budget cannot be validated");
    TK_TAPE(m, m->loss)
    {
        budget_seeds(m);
    }
    CHECK_STATUS(m, budget_status(m), TK_NO_DERIVATIVE, "accesses derivatives of field 'y'");
    int32_t numbers[N];
    TK_TAPE(m, m->loss)
    {
        budget_out_of(m, numbers);
    }
    CHECK_STATUS(m, budget_status(m), TK_NO_DERIVATIVE, "accesses the written array 'a'");
    /* what the host stores between launches that run again */
    for (int stores = 0; stores < 2; stores++) {
        fill(m);
        TK_TAPE(m, m->loss)
        {
            for (int t = 0; t < STEPS; t++) {
                budget_scale(m);
                if (stores)
                    m->z.data[3] = 0.1 * t;
            }
            budget_end(m);
        }
        CHECK(tk_tape_last_report(s).again > 0);
        if (stores)
            CHECK_STATUS(m, budget_status(m), TK_OVERWRITTEN, "ran again, and left other data in field");
        else
            CHECK_OK(m, budget_status(m));
    }
    /* launches that repeat themselves take no memory of the log */
    fill(m);
    tk_tape_budget(s, 60000);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < 20000; t++)
            budget_scale(m);
        budget_end(m);
    }
    CHECK_OK(m, budget_status(m));
    CHECK(tk_tape_last_report(s).launches == 20001 && tk_tape_last_report(s).again > 20000);
    /* launches print once */
    fill(m);
    tk_tape_budget(s, 24000);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < STEPS; t++) {
            budget_say(m);
            budget_tick(m);
            budget_scale(m);
        }
        budget_end(m);
    }
    CHECK_OK(m, budget_status(m));
    CHECK(said == STEPS && tk_tape_last_report(s).again > 0);
    tk_tape_budget(s, 0);
    budget_destroy(m);
    tk_session_destroy(s);
}

/* Calls that run again, and repeat themselves, take no memory; and they are counted. */
static void calls_run_again(void)
{
    tk_session *s = tk_session_create(NULL);
    budget *m = budget_create(s, NULL);
    const tk_footprint lines[] = {{m->y.field, TK_READS, NULL}, {m->factor.field, TK_STORES, NULL}};
    called c = {m, 0.5, false};
    enum { MANY = 3000 };
    for (int which = 0; which < 2; which++) {
        fill(m);
        tk_tape_budget(s, 40000);
        forwards = 0;
        TK_TAPE(m, m->loss)
        {
            for (int t = 0; t < MANY; t++) {
                budget_scale(m);
                tk_call_with(s, which ? &again_fixed : &once, &c, 0, lines, 2);
                budget_weigh(m);
            }
            budget_end(m);
        }
        if (which) {
            CHECK_OK(m, budget_status(m));
            const tk_tape_report r = tk_tape_last_report(s);
            CHECK(r.launches == 3 * MANY + 1 && forwards > 2 * MANY && r.again > (size_t)(forwards - MANY));
        } else {
            CHECK_STATUS(m, budget_status(m), TK_BAD_ARGUMENT, "is too small for");
        }
    }
    /* one that does not compute the same again */
    fill(m);
    tk_tape_budget(s, 60000);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < 3 * STEPS; t++) {
            budget_scale(m);
            tk_call_with(s, &(tk_triple){"moving", forward_again, backward, NULL, TK_CALL_AGAIN}, &c, 0, lines, 2);
            budget_weigh(m);
        }
    }
    CHECK_STATUS(m, budget_status(m), TK_OVERWRITTEN, "ran again, and left other data in field");
    CHECK_STATUS(m, tk_call(s, &(tk_triple){"wrong", forward_again, backward, NULL, 64}, &c, sizeof c), TK_BAD_ARGUMENT,
                 "tk_call of 'wrong': unknown flags 0x40");
    budget_destroy(m);
    tk_session_destroy(s);
}

/* A launch of a thousand times the cost of others runs again less often than they do. */
static double heavy_work;

static tk_status forward_heavy(void *args)
{
    for (int i = 1; i < 200000; i++)
        heavy_work += sqrt((double)i);
    return forward_fixed(args);
}

static const tk_triple heavy = {"heavy", forward_heavy, backward_fixed, NULL, TK_CALL_AGAIN};

static void costs_count(void)
{
    enum { TURNS = 20, LIGHT = 29 };
    tk_session *s = tk_session_create(NULL);
    budget *m = budget_create(s, NULL);
    const tk_footprint lines[] = {{m->y.field, TK_READS, NULL}, {m->factor.field, TK_STORES, NULL}};
    called c = {m, 0.5, false};
    fill(m);
    tk_tape_budget(s, 12000);
    forwards = 0;
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < TURNS; t++) {
            tk_call_with(s, &heavy, &c, 0, lines, 2);
            for (int i = 0; i < LIGHT; i++)
                budget_scale(m);
            budget_weigh(m);
        }
        budget_end(m);
    }
    CHECK_OK(m, budget_status(m));
    const double all = (double)tk_tape_last_report(s).again, heavy_ones = forwards - TURNS;
    const double light = (all - heavy_ones) / (LIGHT + 1);
    CHECK(heavy_ones > TURNS && heavy_ones < 0.75 * light);
    budget_destroy(m);
    tk_session_destroy(s);
}

int main(void)
{
    costs_count();
    compare("in place", in_place, false);
    compare("second order", second_order, true);
    compare("along time", along_time, false);
    compare("over time", over_time, false);
    compare("over time, second order", over_time, true);
    compare("an adjoint of one's own", own_adjoint, false);
    compare("some elements", some_of_it, false);
    compare("a series", a_series, false);
    compare("loops in loops", loops_in_loops, false);
    time_is_free();
    compare("calls", with_calls, false);
    compare("calls that run again", with_calls_again, false);
    calls_run_again();
    out_of_memory(in_place, 60000);
    out_of_memory(with_calls, 140000);
    out_of_memory(with_calls_again, 160000);
    misuse();
    return failures != 0;
}
