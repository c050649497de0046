/* libtkc: plans, parallel loops, scatters, saved-value stacks. Also built with the thread sanitizer. */
#include "meet.h"
#include "runtime_fake.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int thread_counts[] = {1, 2, 4, 7};
enum { NTHREAD_COUNTS = 4 };

/* pool 0: the library's, 1: the host's */
static tk_session *session(int threads, int pool, bool deterministic)
{
    tk_session_options opt = tk_session_defaults();
    opt.threads = threads;
    opt.parallel = pool ? pthread_hook : NULL;
    opt.deterministic = deterministic;
    tk_session *s = tk_session_create(&opt);
    assert_non_null(s);
    return s;
}

/* ---- plans ---- */

static void check_plan(int64_t n, int64_t unit, int64_t cost)
{
    const tk_plan p = tk_plan_make(n, unit, cost), q = tk_plan_make(n, unit, cost);
    assert_memory_equal(&p, &q, sizeof p);
    assert_true(p.chunk > 0 && p.nchunks >= 0 && p.nchunks <= TK_MAX_CHUNKS);
    if (n <= 0) {
        assert_int_equal(p.nchunks, 0);
        return;
    }
    assert_true(p.nchunks >= 1);
    assert_true((p.nchunks - 1) <= (n - 1) / p.chunk && p.nchunks - 1 == (n - 1) / p.chunk); /* they cover n, and none is empty */
    if (unit > 0 && p.nchunks > 1)
        assert_int_equal(p.chunk % unit, 0);
    if (p.nchunks > 1)
        assert_true((double)p.chunk * (double)(cost < 1 ? 1 : cost) >= 16384);
}

static void test_plan(void **state)
{
    (void)state;
    const int64_t ns[] = {-5, 0, 1, 2, 15, 16, 17, 255, 256, 257, 16384, 32768, 65537, 1000003, INT64_C(1) << 40, INT64_MAX - 1, INT64_MAX};
    const int64_t units[] = {0, 1, 3, 16, 512, 1000, INT64_C(1) << 33}, costs[] = {-1, 0, 1, 7, 100, 16384, 1000000, INT64_MAX};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        for (size_t j = 0; j < sizeof units / sizeof *units; j++)
            for (size_t k = 0; k < sizeof costs / sizeof *costs; k++)
                check_plan(ns[i], units[j], costs[k]);
    assert_int_equal(tk_plan_make(1 << 30, 1, 10).nchunks, TK_MAX_CHUNKS);
}

/* ---- loops ---- */

typedef struct loop {
    tk_session *s;
    tk_plan plan;
    float *partial;
    atomic_int *runs; /* per iteration */
    int64_t fail_at;
} loop;

static void loop_task(const void *args, int64_t lo, int64_t hi)
{
    const loop *a = args;
    float sum = 0;
    for (int64_t i = lo; i < hi; i++) {
        atomic_fetch_add_explicit(&a->runs[i], 1, memory_order_relaxed);
        sum += 1.0f / (float)(i + 1);
        if (i == a->fail_at)
            tk_fail(a->s, TK_BOUNDS, "at %d", (int)i);
    }
    a->partial[lo / a->plan.chunk] = sum;
}

static float reduce(tk_session *s, int64_t n, int64_t cost, int64_t fail_at)
{
    loop a = {s, tk_plan_make(n, 1, cost), NULL, calloc((size_t)n + 1, sizeof *a.runs), fail_at};
    a.partial = tk_scratch(s, (size_t)a.plan.nchunks * sizeof *a.partial);
    assert_int_equal((uintptr_t)a.partial % 64, 0);
    assert_int_equal(tk_run(s, &a.plan, loop_task, &a), fail_at < 0 ? TK_OK : TK_BOUNDS);
    float sum = 0;
    for (int64_t k = 0; k < a.plan.nchunks; k++)
        sum += a.partial[k];
    for (int64_t i = 0; i < n && fail_at < 0; i++)
        assert_int_equal(atomic_load(&a.runs[i]), 1);
    free(a.runs);
    return sum;
}

static void test_reduction(void **state)
{
    (void)state;
    const int64_t ns[] = {0, 1, 1000, 100003};
    for (int i = 0; i < 4; i++) {
        float first = 0;
        for (int pool = 0; pool < 2; pool++) {
            for (int t = 0; t < NTHREAD_COUNTS; t++) {
                tk_session *s = session(thread_counts[t], pool, false);
                const float sum = reduce(s, ns[i], 50, -1);
                if (pool == 0 && t == 0)
                    first = sum;
                assert_memory_equal(&sum, &first, sizeof sum);
                tk_session_destroy(s);
            }
        }
    }
}

static void test_failing_task(void **state)
{
    (void)state;
    for (int pool = 0; pool < 2; pool++) {
        tk_session *s = session(4, pool, false);
        (void)reduce(s, 100003, 50, 70000);
        assert_true(tk_failed(s));
        assert_string_equal(tk_session_error(s), "at 70000");
        tk_session_destroy(s);
    }
}

typedef struct stops {
    pthread_t launching;
    int times, last;
} stops;

static bool stop_at_last(void *user)
{
    stops *a = user;
    assert_true(pthread_equal(pthread_self(), a->launching));
    return ++a->times >= a->last;
}

/* Only the launching thread calls the function: for the first chunk, and not for each. */
static void test_stop(void **state)
{
    (void)state;
    for (int threads = 1; threads < 3; threads++) {
        tk_session *s = session(threads, 0, false);
        fake *m = fake_create(s, 100000);
        stops a = {pthread_self(), 0, 1000};
        assert_int_equal(tk_session_set_stop(s, stop_at_last, &a), TK_OK);
        assert_int_equal(fake_launch(m, K_WORK), TK_OK);
        assert_in_range(a.times, 2 - threads, 20); /* another thread may take all chunks */
        const double before = m->y.grad[0];
        assert_true(before > 0);
        a = (stops){pthread_self(), 0, 1};
        assert_int_equal(tk_session_set_threads(s, 1), TK_OK);
        assert_int_equal(tk_session_set_stop(s, stop_at_last, &a), TK_OK);
        assert_int_equal(fake_launch(m, K_WORK), TK_STOPPED);
        assert_string_equal(tk_session_error(s), "the host stopped the launch");
        assert_int_equal(a.times, 1);
        assert_true(m->y.grad[0] == before); /* it stopped in front of the first chunk */
        tk_session_clear_error(s);
        assert_int_equal(tk_session_set_stop(s, NULL, NULL), TK_OK);
        assert_int_equal(fake_launch(m, K_WORK), TK_OK);
        assert_int_equal(a.times, 1);
        fake_destroy(m);
        tk_session_destroy(s);
    }
    assert_int_equal(tk_session_set_stop(NULL, NULL, NULL), TK_BAD_ARGUMENT);
}

typedef struct outer {
    tk_session *s;
    tk_plan inner;
    atomic_int *count;
} outer;

static void inner_task(const void *args, int64_t lo, int64_t hi)
{
    atomic_fetch_add(((const outer *)args)->count, (int)(hi - lo));
}

static void outer_task(const void *args, int64_t lo, int64_t hi)
{
    const outer *a = args;
    for (int64_t i = lo; i < hi; i++)
        (void)tk_run(a->s, &a->inner, inner_task, a);
}

static void test_nested(void **state)
{
    (void)state;
    atomic_int calls = 0, count = 0;
    tk_session_options opt = tk_session_defaults();
    opt.threads = 4;
    opt.parallel = pthread_hook;
    opt.parallel_user = &calls;
    tk_session *s = tk_session_create(&opt);
    const outer a = {s, tk_plan_make(100, 1, 10000), &count};
    const tk_plan p = tk_plan_make(20, 1, 100000);
    assert_int_equal(tk_run(s, &p, outer_task, &a), TK_OK);
    assert_int_equal(count, 2000);
    assert_int_equal(calls, 1); /* loops in tasks do not start threads of their own */
    tk_session_destroy(s);
}

/* ---- processors ---- */

typedef struct crowd {
    pthread_t home;
    atomic_int foreign, now, most; /* pieces on other threads; threads at the same time */
    atomic_int complete;           /* all have come that come */
} crowd;

static void crowd_task(const void *args, int64_t lo, int64_t hi)
{
    crowd *a = (crowd *)args;
    (void)hi;
    const int now = atomic_fetch_add(&a->now, 1) + 1;
    for (int most = a->most; most < now && !atomic_compare_exchange_weak(&a->most, &most, now);)
        ;
    if (!pthread_equal(pthread_self(), a->home))
        atomic_fetch_add(&a->foreign, 1);
    if (lo == 0) {
        meet_rest();
        meet_count(&a->complete);
    }
    meet_await(&a->complete, 1);
    atomic_fetch_sub(&a->now, 1);
}

typedef struct crowded {
    int foreign, most;
} crowded;

static crowded run_crowd(tk_session *s)
{
    crowd a = {.home = pthread_self()};
    const tk_plan p = tk_plan_make(256, 1, 100000);
    assert_int_equal(tk_run(s, &p, crowd_task, &a), TK_OK);
    return (crowded){a.foreign, a.most};
}

static int processors(void)
{
    char *asked = getenv("OMP_NUM_THREADS");
    asked = asked ? strdup(asked) : NULL;
    unsetenv("OMP_NUM_THREADS");
    tk_session *s = session(0, 0, false);
    const int n = tk_session_threads(s);
    tk_session_destroy(s);
    if (asked)
        setenv("OMP_NUM_THREADS", asked, 1);
    free(asked);
    return n;
}

/* However many threads a session asks for. */
static void test_processors(void **state)
{
    (void)state;
    tk_session *s = session(64, 0, false);
    assert_in_range(run_crowd(s).most, 1, processors());
    tk_session_destroy(s);
}

#ifdef __linux__
/* Keeps the calling thread to the first of its processors. */
static void pin(void)
{
    cpu_set_t set[16], one[16];
    memset(one, 0, sizeof one);
    assert_int_equal(sched_getaffinity(0, sizeof set, set), 0);
    for (size_t k = 0; k < 8 * sizeof set && CPU_COUNT_S(sizeof one, one) == 0; k++)
        if (CPU_ISSET_S(k, sizeof set, set))
            CPU_SET_S(k, sizeof one, one);
    assert_int_equal(sched_setaffinity(0, sizeof one, one), 0);
}

static void *pinned(void *p)
{
    (void)p;
    pin();
    return session(0, 0, false);
}

static tk_session *pinned_session(void)
{
    pthread_t thread;
    void *s = NULL;
    assert_int_equal(pthread_create(&thread, NULL, pinned, NULL), 0);
    pthread_join(thread, &s);
    assert_non_null(s);
    return s;
}

/* A thread with one processor takes none from others. */
static void test_pinned_thread(void **state)
{
    (void)state;
    if (processors() < 2)
        skip();
    tk_session *s = session(2, 0, false), *other = pinned_session();
    assert_true(run_crowd(s).foreign > 0);
    tk_session_destroy(s);
    tk_session_destroy(other);
    other = pinned_session(); /* no other is there */
    assert_int_equal(run_crowd(other).foreign, 0);
    assert_int_equal(tk_session_set_threads(other, 2), TK_OK); /* by a thread with more */
    assert_true(run_crowd(other).foreign > 0);
    tk_session_destroy(other);
}
#endif

/* ---- scatters ---- */

enum { BINS = 37, ITERATIONS = 60000 };

typedef struct scatter_args {
    float *y;
    double *d;
    int32_t *c;
    atomic_int *atomics; /* counts chunks run by the atomic form */
} scatter_args;

static void scatter_body(const scatter_args *a, int64_t lo, int64_t hi, bool atomic)
{
    for (int64_t i = lo; i < hi; i++) {
        const int64_t bin = i * 7919 % BINS;
        TK_SCATTER(&a->y[bin], 1.0f / (float)(i + 1), atomic);
        TK_SCATTER(&a->d[bin], 1.0 / (double)(i + 1), atomic);
        TK_SCATTER(&a->c[bin], 1, atomic);
    }
}

static void scatter_plain(const void *args, int64_t lo, int64_t hi)
{
    scatter_body(args, lo, hi, false);
}

static void scatter_atomic(const void *args, int64_t lo, int64_t hi)
{
    atomic_fetch_add(((const scatter_args *)args)->atomics, 1);
    scatter_body(args, lo, hi, true);
}

typedef struct bins {
    float y[BINS];
    double d[BINS];
    int32_t c[BINS];
    int atomics;
} bins;

/* Fields around host arrays: the scatter looks only at their type, size and plane. */
static bins scatter(int threads, int pool, bool deterministic, int64_t cost, bool shared)
{
    bins b = {0};
    tk_session *s = session(threads, pool, deterministic);
    tk_module m = {.session = s};
    const tk_field_desc descs[] = {{"y", TK_F32, 1, 1, 0}, {"d", TK_F64, 1, 1, 0}, {"c", TK_I32, 1, 1, 0}};
    tk_field fields[3];
    void *const data[] = {b.y, b.d, b.c};
    for (int i = 0; i < 3; i++) {
        fields[i] = (tk_field){.desc = &descs[i], .module = &m, .shape = {BINS}, .count = BINS};
        fields[i].plane[TK_GRAD] = data[i];
    }
    const tk_scatter_target targets[] = {{.offset = offsetof(scatter_args, y), .field = &fields[0], .plane = TK_GRAD, .shared = false},
                                         {.offset = offsetof(scatter_args, d), .field = &fields[1], .plane = TK_GRAD, .shared = shared},
                                         {.offset = offsetof(scatter_args, c), .field = &fields[2], .plane = TK_GRAD, .shared = false}};
    atomic_int atomics = 0;
    const scatter_args a = {b.y, b.d, b.c, &atomics};
    const tk_plan p = tk_plan_make(ITERATIONS, 1, cost);
    b.y[3] = 100; /* what was there stays */
    assert_int_equal(tk_run_scatter(s, &p, scatter_plain, scatter_atomic, &a, sizeof a, targets, 3), TK_OK);
    b.atomics = atomics;
    tk_session_destroy(s);
    return b;
}

static void check_bins(const bins *b, const bins *expected)
{
    for (int i = 0; i < BINS; i++) {
        assert_true(fabsf(b->y[i] - expected->y[i]) < 1e-3f);
        assert_true(fabs(b->d[i] - expected->d[i]) < 1e-12);
        assert_int_equal(b->c[i], expected->c[i]);
    }
}

static void test_scatter(void **state)
{
    (void)state;
    const bins serial = scatter(1, 1, false, 30, false);
    assert_true(serial.y[3] > 100 && serial.atomics == 0);
    for (int pool = 0; pool < 2; pool++) {
        const bins fixed = scatter(1, 1, true, 30, false);
        for (int t = 0; t < NTHREAD_COUNTS; t++) {
            const int threads = thread_counts[t];
            bins b = scatter(threads, pool, false, 30, false); /* private copies */
            check_bins(&b, &serial);
            assert_int_equal(b.atomics, 0);
            b = scatter(threads, pool, true, 30, false);
            assert_memory_equal(b.y, fixed.y, sizeof b.y);
            assert_memory_equal(b.d, fixed.d, sizeof b.d);
            check_bins(&b, &serial);
            b = scatter(threads, pool, false, 30, true); /* shared: atomics */
            check_bins(&b, &serial);
            assert_int_equal(b.atomics > 0, threads > 1 && (pool || processors() > 1));
            b = scatter(threads, pool, true, 30, true); /* shared and deterministic: serial */
            assert_memory_equal(b.y, serial.y, sizeof b.y);
            assert_int_equal(b.atomics, 0);
        }
    }
}

typedef struct wide_args {
    double *y;
    atomic_int *atomics;
} wide_args;

static void wide_plain(const void *args, int64_t lo, int64_t hi)
{
    const wide_args *a = args;
    for (int64_t i = lo; i < hi; i++)
        a->y[i * 1000] += 1;
}

static void wide_atomic(const void *args, int64_t lo, int64_t hi)
{
    const wide_args *a = args;
    atomic_fetch_add(a->atomics, 1);
    for (int64_t i = lo; i < hi; i++)
        TK_SCATTER(&a->y[i * 1000], 1.0, true);
}

/* Few iterations into a large field: copies would cost more than the work. Of many additions, atomics cost more than
 * four threads gain. */
static void check_wide_scatter(int64_t adds, bool atomic)
{
    tk_session *s = session(4, 1, false);
    fake *m = fake_create(s, 4000000);
    atomic_int atomics = 0;
    const wide_args a = {m->y.grad, &atomics};
    const tk_scatter_target target = {.offset = offsetof(wide_args, y), .field = m->y.field, .plane = TK_GRAD, .shared = false, .adds = adds};
    const tk_plan p = tk_plan_make(4000, 1, 200);
    assert_int_equal(tk_run_scatter(s, &p, wide_plain, wide_atomic, &a, sizeof a, &target, 1), TK_OK);
    assert_int_equal(atomics, atomic ? p.nchunks : 0);
    for (int i = 0; i < 4000; i++)
        assert_true(m->y.grad[i * 1000] == 1);
    fake_destroy(m);
    tk_session_destroy(s);
}

static void test_wide_scatter(void **state)
{
    (void)state;
    check_wide_scatter(0, true); /* not known */
    check_wide_scatter(1, true);
    check_wide_scatter(20, false);
}

/* The clock of loops: where it stands, the pieces' iterations take what is said here. */
static atomic_bool clock_stands;
static atomic_llong clock_ns;
static int64_t atomic_ns, plain_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC || !clock_stands)
        return (int)syscall(SYS_clock_gettime, clock, t);
    const long long now = atomic_fetch_add(&clock_ns, 1) + 1; /* who spins until a time comes ends */
    *t = (struct timespec){now / 1000000000, now % 1000000000};
    return 0;
}

static void timed_atomic(const void *args, int64_t lo, int64_t hi)
{
    const wide_args *a = args;
    atomic_fetch_add(a->atomics, 1);
    atomic_fetch_add(&clock_ns, atomic_ns * (hi - lo));
    for (int64_t i = lo; i < hi; i++)
        TK_SCATTER(&a->y[i * 1000], 1.0, true);
}

static void timed_plain(const void *args, int64_t lo, int64_t hi)
{
    atomic_fetch_add(&clock_ns, plain_ns * (hi - lo));
    wide_plain(args, lo, hi);
}

/* Which part of the chunks of many loops ran by atomic operations. */
static double part_by_atomics(int64_t for_atomic, int64_t for_plain)
{
    enum { RUNS = 200 };
    tk_session *s = session(2, 0, false);
    fake *m = fake_create(s, 4000000);
    atomic_int atomics = 0;
    const wide_args a = {m->y.grad, &atomics};
    const tk_scatter_target target = {.offset = offsetof(wide_args, y), .field = m->y.field, .plane = TK_GRAD, .shared = true};
    const tk_plan p = tk_plan_make(4000, 1, 200);
    atomic_ns = for_atomic;
    plain_ns = for_plain;
    clock_ns = 1000000000;
    clock_stands = true;
    for (int k = 0; k < RUNS; k++)
        assert_int_equal(tk_run_scatter(s, &p, timed_plain, timed_atomic, &a, sizeof a, &target, 1), TK_OK);
    clock_stands = false;
    for (int i = 0; i < 4000; i++)
        assert_true(m->y.grad[i * 1000] == RUNS);
    fake_destroy(m);
    tk_session_destroy(s);
    return (double)atomics / (double)(p.nchunks * RUNS);
}

/* Atomic sums that take longer, by all threads, than plain ones by one: they are found out. */
static void test_slow_atomics(void **state)
{
    (void)state;
    const double slow = part_by_atomics(100000, 1000), fast = part_by_atomics(1000, 100000);
    if (processors() < 2)
        skip();
    assert_true(slow > 0 && slow < 0.25);
    assert_true(fast > 0.75);
}

/* ---- stacks ---- */

static void test_stack(void **state)
{
    (void)state;
    counting c;
    tk_session *s = counted_session(&c);
    tk_stack *st = tk_stack_acquire(s);
    long settled = 0;
    for (int round = 0; round < 10; round++) {
        const tk_mark bottom = tk_stack_mark(st);
        unsigned char *all[200];
        for (int i = 0; i < 200; i++) {
            all[i] = tk_stack_alloc(st, i % 7 == 0 ? 5000 : i, 8);
            assert_int_equal((uintptr_t)all[i] % 16, 0);
            memset(all[i], i, i % 7 == 0 ? 40000 : (size_t)i * 8);
        }
        for (int i = 0; i < 200; i++) /* nothing moved, nothing overlaps */
            for (int k = 0; k < (i % 7 == 0 ? 40000 : i * 8); k++)
                assert_int_equal(all[i][k], i);
        const tk_mark mid = tk_stack_mark(st);
        void *a = tk_stack_alloc(st, 3, 8);
        tk_stack_reset(st, mid);
        assert_ptr_equal(tk_stack_alloc(st, 3, 8), a);
        assert_non_null(tk_stack_alloc(st, -1, 8));
        assert_non_null(tk_stack_alloc(st, 0, 24));
        tk_stack_reset(st, bottom);
        assert_true(st->segment == bottom.segment && st->top == bottom.top);
        if (round == 4)
            settled = c.calls;
    }
    assert_int_equal(c.calls, settled); /* the spare segment has grown to what a round needs */
    tk_stack_release(st);
    assert_ptr_equal(tk_stack_acquire(s), st);
    tk_stack *second = tk_stack_acquire(s);
    assert_ptr_not_equal(second, st);
    assert_null(tk_stack_alloc(st, INT64_MAX, 8));
    assert_int_equal(tk_session_status(s), TK_NO_MEMORY);
    tk_session_clear_error(s);
    c.countdown = 0;
    assert_null(tk_stack_alloc(second, 1000000, 8));
    assert_int_equal(tk_session_status(s), TK_NO_MEMORY);
    tk_session_clear_error(s);
    assert_non_null(tk_stack_alloc(second, 1000000, 8));
    tk_stack_release(NULL);
    tk_session_destroy(s); /* with two stacks in use */
    assert_int_equal(c.live, 0);
}

static void test_scratch(void **state)
{
    (void)state;
    counting c;
    tk_session *s = counted_session(&c);
    assert_non_null(tk_scratch(s, 0));
    const size_t before = c.live;
    for (int i = 0; i < 1000; i++) {
        const tk_mark m = tk_scratch_mark(s);
        void *p = tk_scratch(s, 100001);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 1, 100001);
        tk_scratch_reset(s, m);
    }
    assert_true(c.live < before + 300000);
    assert_null(tk_scratch(s, SIZE_MAX));
    assert_int_equal(tk_session_status(s), TK_NO_MEMORY);
    tk_session_destroy(s);
    assert_int_equal(c.live, 0);
}

/* ---- one session on several threads ---- */

typedef struct intruder {
    tk_session *s;
    fake *m;
} intruder;

static void run_nothing(void *user)
{
    (void)user;
}

static tk_status call_nothing(void *args)
{
    (void)args;
    return TK_OK;
}

/* Each call changes nothing and gives a status, while another thread is inside. */
static void *intrude(void *ctx)
{
    const intruder *in = ctx;
    tk_session *s = in->s;
    fake *m = in->m;
    tk_field *U = m->U.field, *y = m->y.field;
    double x[4] = {0};
    void *const planes[3] = {x, x, x};
    const tk_triple t = {.name = "nothing", .forward = call_nothing};
    tk_module *of;
    const tk_status all[] = {
        fake_square(m, 1.0), fake_launch_grad(m, K_WORK), tk_launch_jvp(&m->tk, &fake_desc.kernels[K_WORK], NULL),
        tk_launch_hvp(&m->tk, &fake_desc.kernels[K_SQUARE], NULL, NULL), tk_tape_begin(U, 0), tk_tape_end(U), tk_tape_drop(s),
        tk_call(s, &t, NULL, 0), tk_forward_begin(&U, 1, U, NULL, 0), tk_forward_end(s), tk_field_clear_grad(y), tk_field_clear_dual(y),
        tk_module_clear_grad(&m->tk), tk_module_clear_dual(&m->tk), tk_session_clear_grad(s), tk_session_clear_dual(s), tk_field_bind(y, x, x, x),
        tk_field_bind_structs(y, planes[0], planes[1], planes[2]), tk_field_get(y, TK_DATA, 0, 1, x), tk_field_set(y, TK_DATA, 0, 1, x),
        tk_session_set_threads(s, 3), tk_session_set_seed(s, 7), tk_session_set_draws(s, 7), tk_session_profile(s, true), tk_session_profile_write(s, NULL, NULL),
        tk_session_stop_at_nonfinite(s, true), tk_gradcheck(U, NULL, 0, run_nothing, NULL, 0, NULL), tk_jacobian_forward(U, y, run_nothing, NULL, x),
        tk_jacobian_reverse(U, y, run_nothing, NULL, x), tk_module_need_grad_dual(&m->tk), tk_module_set_params(&m->tk, x, x, sizeof *x),
        tk_kernel_launch(&m->tk, &fake_desc.kernels[K_WORK], NULL, 0)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != TK_BAD_STATE)
            return (void *)(i + 1);
    if (fake_create(s, 2) || tk_module_done(&m->tk) || tk_field_find(s, "y") || tk_field_next(s, NULL) || tk_kernel_find(s, "work", &of))
        return (void *)100;
    tk_session_destroy(s);
    tk_session_clear_error(s);
    return NULL;
}

/* Runs the tasks while another thread calls. */
static void hook_with_intruder(void *user, int64_t n, tk_task_fn fn, const void *args)
{
    pthread_t other;
    void *found = NULL;
    assert_int_equal(pthread_create(&other, NULL, intrude, user), 0);
    fn(args, 0, 1);
    assert_int_equal(pthread_join(other, &found), 0);
    assert_null(found);
    for (int64_t k = 1; k < n; k++)
        fn(args, k, k + 1);
}

static void test_intruder(void **state)
{
    (void)state;
    intruder in = {0};
    tk_session_options opt = tk_session_defaults();
    opt.threads = 4;
    opt.parallel = hook_with_intruder;
    opt.parallel_user = &in;
    in.s = tk_session_create(&opt);
    in.m = fake_create(in.s, 4);
    assert_int_equal(fake_launch(in.m, K_WORK), TK_BAD_STATE);
    assert_non_null(strstr(tk_session_error(in.s), "another thread"));
    tk_session_clear_error(in.s);
    tk_session_set_threads(in.s, 1);
    in.m->y.data[0] = 2;
    TK_TAPE(in.m, in.m->U) { fake_square(in.m, 1.0); }
    assert_int_equal(tk_session_status(in.s), TK_OK);
    assert_true(in.m->y.grad[0] == 4 && !tk_tape_is_open(in.s));
    fake_destroy(in.m);
    tk_session_destroy(in.s);
}

/* A function of the host's has its launches from another thread, and destroys what it runs on. */
static void *square_there(void *ctx)
{
    return (void *)(intptr_t)fake_square(ctx, 1.0);
}

static tk_status hand_over(void *args)
{
    pthread_t other;
    void *st;
    if (pthread_create(&other, NULL, square_there, *(fake **)args) || pthread_join(other, &st))
        return TK_NO_MEMORY;
    return (tk_status)(intptr_t)st;
}

static void hand_over_program(void *user)
{
    (void)hand_over(&user);
}

static void test_handed_over(void **state)
{
    (void)state;
    fake *m = fake_create(NULL, 4);
    tk_session *s = tk_module_session(&m->tk);
    const tk_triple t = {.name = "there", .forward = hand_over, .backward = hand_over};
    m->y.data[0] = 2;
    TK_TAPE(m, m->U) { tk_call(s, &t, &m, sizeof m); }
    assert_true(m->U.data[0] == 8); /* forward and backward */
    assert_int_equal(tk_session_status(s), TK_OK);
    assert_int_equal(tk_gradcheck(m->U.field, &m->y.field, 1, hand_over_program, m, 0, NULL), TK_OK);
    fake_destroy(m);
}

enum { CROWD = 4, ROUNDS = 400 };

/* No call may be lost without a status, and nothing may break. */
static void *jostle(void *ctx)
{
    fake *m = ctx;
    tk_session *s = tk_module_session(&m->tk);
    for (int i = 0; i < ROUNDS; i++) {
        const tk_status began = tk_tape_begin(m->U.field, 0);
        const tk_status st = fake_launch(m, K_RECORD);
        if ((st != TK_OK && st != TK_BAD_STATE) || (began != TK_OK && began != TK_BAD_STATE && began != TK_ASSERT))
            return (void *)1;
        (void)tk_tape_drop(s);
        (void)tk_module_clear_grad(&m->tk);
        tk_session_clear_error(s);
    }
    return NULL;
}

static void test_crowd(void **state)
{
    (void)state;
    counting c;
    tk_session *s = counted_session(&c);
    fake *m = fake_create(s, 64);
    pthread_t all[CROWD];
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&all[i], NULL, jostle, m), 0);
    for (int i = 0; i < CROWD; i++) {
        void *bad;
        assert_int_equal(pthread_join(all[i], &bad), 0);
        assert_null(bad);
    }
    (void)tk_tape_drop(s);
    tk_session_clear_error(s);
    assert_int_equal(fake_launch(m, K_RECORD), TK_OK);
    fake_destroy(m);
    tk_session_destroy(s);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intruder),
        cmocka_unit_test(test_handed_over),
        cmocka_unit_test(test_crowd),
#ifdef __linux__
        cmocka_unit_test(test_pinned_thread),
#endif
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_plan),   cmocka_unit_test(test_reduction),    cmocka_unit_test(test_failing_task), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_scatter), cmocka_unit_test(test_wide_scatter), cmocka_unit_test(test_slow_atomics), cmocka_unit_test(test_stack),        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
