/* libtkc: how many threads loops learn to take, on machines that are numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt.h"

static tk_session *session(int threads)
{
    tk_session_options opt = tk_session_defaults();
    opt.threads = threads;
    tk_session *s = tk_session_create(&opt);
    assert_non_null(s);
    return s;
}

/* Two loops: they are told apart by where they are. */
static void task(const void *args, int64_t lo, int64_t hi)
{
    (void)args;
    (void)lo;
    (void)hi;
}

static void other(const void *args, int64_t lo, int64_t hi)
{
    (void)hi;
    task(args, lo, lo);
}

enum { US = 1000 };

/* What a loop takes by the number of its workers, in us. */
typedef struct machine {
    double us[8];
    double lost; /* of all loops together, compared with the best way */
    double best, now;
    int loops[8];
} machine;

static void run_loops(machine *m, tk_session *s, int most, int n)
{
    const double work = 1e6;
    for (int k = 0; k < n; k++) {
        rt_pace *p = tk_rt_pace_of(s, task, work, most);
        const int helpers = tk_rt_pace_ask(p, (int64_t)m->now);
        assert_in_range(helpers, 0, most);
        const double took = m->us[helpers] * US;
        m->now += took;
        m->lost += took - m->best * US;
        m->loops[helpers]++;
        tk_rt_pace_learn(p, work, (int64_t)m->now, (int64_t)took, m->us[0] * US);
    }
}

/* Whatever way takes least is found, and what looking for it costs stays small. */
static void check_pace(int most, machine m, int expected)
{
    tk_session *s = session(2);
    m.now = 1e9;
    m.best = m.us[expected];
    run_loops(&m, s, most, 3000);
    assert_true(m.loops[expected] > 2700);
    assert_true(m.lost < 0.1 * m.best * US * 3000);
    m.lost = 0;
    run_loops(&m, s, most, 20000);
    assert_true(m.lost < 0.01 * m.best * US * 20000);
    tk_session_destroy(s);
}

static void test_pace(void **state)
{
    (void)state;
    check_pace(1, (machine){.us = {100, 55}}, 1);
    check_pace(1, (machine){.us = {100, 110}}, 0);
    check_pace(1, (machine){.us = {100, 3000}}, 0); /* sums by atomic operations */
    check_pace(7, (machine){.us = {700, 0, 0, 230, 0, 0, 0, 110}}, 7);
    check_pace(7, (machine){.us = {700, 0, 0, 230, 0, 0, 0, 900}}, 3); /* half of the processors are others' */
    check_pace(7, (machine){.us = {100, 0, 0, 130, 0, 0, 0, 160}}, 0);
}

/* The first loop has all threads: there may be no other. */
static void test_pace_first(void **state)
{
    (void)state;
    tk_session *s = session(2);
    machine m = {.us = {1000, 100}, .now = 1e9, .best = 100};
    run_loops(&m, s, 1, 100);
    assert_int_equal(m.loops[1], 100); /* sixteen times what one thread would take have not passed */
    run_loops(&m, s, 1, 100);
    assert_int_equal(m.loops[0], 1);
    tk_session_destroy(s);
}

/* Others come, and go again: a worker off its processor in every tenth loop. */
static void test_pace_changes(void **state)
{
    (void)state;
    tk_session *s = session(2);
    machine m = {.us = {500, 260}, .now = 1e9, .best = 260};
    run_loops(&m, s, 1, 1000);
    m.us[1] = 50000; /* one slip that had nothing to do with threads */
    run_loops(&m, s, 1, 1);
    m.us[1] = 260;
    memset(m.loops, 0, sizeof m.loops);
    run_loops(&m, s, 1, 100);
    assert_true(m.loops[1] > 95);
    m.best = 500;
    m.lost = 0;
    for (int k = 0; k < 10000; k++) {
        m.us[1] = k % 10 == 0 ? 6000 : 260;
        run_loops(&m, s, 1, 1);
    }
    assert_true(m.lost < 0.1 * m.best * US * 10000);
    m.us[1] = 260;
    run_loops(&m, s, 1, 6000);
    memset(m.loops, 0, sizeof m.loops);
    run_loops(&m, s, 1, 100);
    assert_true(m.loops[1] > 95);
    tk_session_destroy(s);
}

/* The process is stopped for an hour inside a loop, whichever way that goes. That says nothing about threads. */
static void test_pace_stopped(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        tk_session *s = session(2);
        machine m = {.us = {500, 260}, .now = 1e9, .best = 260};
        run_loops(&m, s, 1, 1000);
        const int before = m.loops[way];
        m.us[way] = 3600e6;
        while (m.loops[way] == before)
            run_loops(&m, s, 1, 1);
        m.us[way] = way ? 260 : 500;
        for (const double end = m.now + 300e9; m.now < end;)
            run_loops(&m, s, 1, 1); /* minutes later */
        memset(m.loops, 0, sizeof m.loops);
        run_loops(&m, s, 1, 100);
        assert_true(m.loops[1] > 95);
        m.us[0] = 130; /* now one thread does better */
        for (const double end = m.now + 300e9; m.now < end;)
            run_loops(&m, s, 1, 1);
        memset(m.loops, 0, sizeof m.loops);
        run_loops(&m, s, 1, 100);
        assert_true(m.loops[0] > 95);
        tk_session_destroy(s);
    }
}

/* Loops of different tasks, sizes and numbers of threads learn apart. */
static void test_pace_apart(void **state)
{
    (void)state;
    tk_session *s = session(2);
    rt_pace *p = tk_rt_pace_of(s, task, 600000, 1);
    p->due = 7;
    assert_int_equal(tk_rt_pace_of(s, task, 700000, 1)->due, 7);
    assert_int_equal(tk_rt_pace_of(s, task, 1200000, 1)->due, 0);
    assert_int_equal(tk_rt_pace_of(s, task, 600000, 3)->due, 0);
    assert_int_equal(tk_rt_pace_of(s, other, 600000, 1)->due, 0);
    for (int k = 0; k < 40; k++) {
        p = tk_rt_pace_of(s, task, 600000, 10 + k);
        (void)tk_rt_pace_ask(p, 1000 + k);
        p->due = 100 + k;
    }
    for (int k = 0; k < 40; k++)
        assert_int_equal(tk_rt_pace_of(s, task, 600000, 10 + k)->due, 100 + k);
    for (int k = 0; k < 1000; k++) /* more than there is room for: the last one is there */
        (void)tk_rt_pace_ask(tk_rt_pace_of(s, task, 1e300, k), 2000 + k);
    assert_int_equal(tk_rt_pace_of(s, task, 1e300, 999)->asked, 2999);
    tk_session_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_pace_first),
        cmocka_unit_test(test_pace_changes),
        cmocka_unit_test(test_pace_stopped),
        cmocka_unit_test(test_pace_apart),
    };
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
