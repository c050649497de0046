/* The log of a tape under a budget: nested loops of launches, whose arguments and random numbers advance, take the
 * memory of a few launches, and run again with the bits of a plain tape. */
#include "budget_log.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { OUTPUTS = 8 };

typedef void (*program_fn)(budget_log *m);

/* Three loops, the innermost with a launch that differs in the middle. */
static void nested(budget_log *m)
{
    int t = 0;
    for (int e = 0; e < 400; e++) {
        budget_log_kick(m, e);
        for (int i = 0; i < 50; i++, t++)
            budget_log_step(m, t, t * INT64_C(1000000007), i == 3);
        if (e % 10 == 9)
            budget_log_measure(m, e, 0.5);
    }
    budget_log_measure(m, -1, 1.0);
}

/* Downwards, through zero, and beyond the ends of i16. */
static void downwards(budget_log *m)
{
    for (int t = 10000; t > -10000; t--) {
        budget_log_back(m, t, (int16_t)(t * 3));
        budget_log_step(m, -t, INT64_C(1) << 40 | t, false);
    }
    budget_log_measure(m, 0, 1.0);
}

/* A loop whose number of turns differs from time to time; some of them have none. */
static void uneven(budget_log *m)
{
    for (int e = 0; e < 1400; e++) {
        for (int i = 0; i < e % 7; i++)
            budget_log_step(m, i, e, false);
        budget_log_kick(m, e);
        if (e % 2 == 0)
            budget_log_measure(m, e, 0.25);
    }
}

/* Nothing repeats itself. */
static void irregular(budget_log *m)
{
    uint32_t h = 1;
    for (int t = 0; t < 2000; t++) {
        h = h * 1664525u + 1013904223u;
        if (h >> 30 == 0)
            budget_log_kick(m, (int)(h >> 8 & 15));
        else
            budget_log_step(m, (int)(h >> 4 & 1023), (int64_t)h << 20, (h >> 12 & 1) != 0);
    }
    budget_log_measure(m, 1, 1.0);
}

/* Each launch clears and fills the grid of 32,000 bytes, but for `kept` cells at its end. */
static void refills(budget_log *m)
{
    for (int t = 0; t < 600; t++)
        budget_log_refill(m, t);
    budget_log_measure(m, 1, 1.0);
}

typedef struct result {
    double at[OUTPUTS + 1];
    tk_tape_report report;
    size_t most; /* bytes of the session, but for those before the tape */
    tk_status status;
} result;

static int kept;

static result run(program_fn program, size_t bytes, bool along)
{
    tk_session_options o = tk_session_defaults();
    heap h = {0};
    o.threads = 1;
    o.alloc = heap_alloc;
    o.alloc_user = &h;
    tk_session *s = tk_session_create(&o);
    budget_log_params p = budget_log_defaults();
    p.TO -= kept;
    budget_log *m = budget_log_create(s, &p);
    result r = {.status = TK_OK};
    for (int i = 0; i < 4; i++) {
        m->w.data[i] = 0.3 + 0.1 * i;
        m->x.data[i] = 1 + i;
    }
    CHECK_OK(m, tk_tape_budget(s, bytes));
    const double seed[4] = {1, -2, 0.5, 3};
    const size_t before = h.bytes;
    h.most = before;
    if (along)
        CHECK_OK(m, tk_forward_begin((tk_field *[]){m->loss.field}, 1, m->w.field, seed, 4));
    TK_TAPE(m, m->loss)
    {
        program(m);
    }
    r.status = budget_log_status(m);
    r.most = h.most - before;
    for (int i = 0; i < 4; i++) {
        r.at[2 * i] = along ? m->w.grad_dual[i] : m->w.grad[i];
        r.at[2 * i + 1] = along ? m->x.grad_dual[i] : m->x.grad[i];
    }
    r.at[OUTPUTS] = *m->loss.data;
    r.report = tk_tape_last_report(s);
    if (along)
        tk_forward_end(s);
    budget_log_destroy(m);
    tk_session_destroy(s);
    return r;
}

static void same_bits(const char *name, program_fn program, const size_t *budgets, bool along)
{
    const result plain = run(program, 0, along);
    CHECK(plain.status == TK_OK && plain.at[0] != 0);
    for (; *budgets > 0; budgets++) {
        const result r = run(program, *budgets, along);
        if (r.status != TK_OK || memcmp(r.at, plain.at, sizeof r.at) != 0)
            FAIL("%s, %zu bytes: %s, or other bits", name, *budgets, tk_status_name(r.status));
        CHECK(r.report.bytes <= *budgets && r.report.again >= r.report.launches && r.report.slots >= 2);
        const double planned = (double)r.report.planned, again = (double)r.report.again;
        CHECK(planned >= 0.6 * again && planned <= 1.5 * again && r.report.predicted > 0 && r.report.seconds > 0);
    }
}

int main(void)
{
    /* 20,440 launches and more, of which one takes 200 bytes of a log */
    same_bits("nested", nested, (size_t[]){200000, 60000, 0}, false);
    same_bits("nested, second order", nested, (size_t[]){100000, 0}, true);
    same_bits("downwards", downwards, (size_t[]){200000, 60000, 0}, false);
    same_bits("uneven", uneven, (size_t[]){200000, 0}, false);
    same_bits("irregular", irregular, (size_t[]){600000, 0}, false);
    CHECK(run(irregular, 100000, false).status == TK_BAD_ARGUMENT);
    /* beside the last data and one record, images of the state alone */
    same_bits("refills", refills, (size_t[]){140000, 0}, false);
    const size_t slots = run(refills, 200000, false).report.slots;
    kept = 1;
    CHECK(run(refills, 200000, false).report.slots < slots);
    same_bits("refills in part", refills, (size_t[]){1000000, 0}, false);
    /* all memory that the tape takes */
    kept = 0;
    for (size_t bytes = 3000000; bytes < 5000000; bytes += 400000) {
        const result r = run(refills, bytes, false);
        CHECK(r.status == TK_OK && r.most >= r.report.bytes && r.most <= bytes);
    }
    return failures != 0;
}
