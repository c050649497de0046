/* libtkc: the threads of parallel loops. The library in here splits the smallest loops and takes all threads that it is asked for, however few processors
 * there are; once more with the thread sanitizer (RACE), which does not follow a fork. */
#include "meet.h"
#include "runtime_fake.h"

#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rt.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* The address sanitizer's allocator does not survive a fork while another thread is in it; and a child that ends without
 * its parent's sessions has leaked them. */
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define FORKS_BESIDE
#endif
#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define BOUNDED_SPACE /* the process works on where it gets no more memory */
#endif

static tk_session *session(int threads)
{
    tk_session_options opt = tk_session_defaults();
    opt.threads = threads;
    tk_session *s = tk_session_create(&opt);
    assert_non_null(s);
    return s;
}

/* ---- a loop whose sum tells its bits ---- */

typedef struct loop {
    tk_plan plan;
    float *partial;
    atomic_int runs;                  /* iterations */
    void (*meanwhile)(int64_t first); /* in each chunk */
} loop;

static void task(const void *args, int64_t lo, int64_t hi)
{
    loop *a = (loop *)args;
    float sum = 0;
    if (a->meanwhile)
        a->meanwhile(lo);
    for (int64_t i = lo; i < hi; i++)
        sum += 1.0f / (float)(i + 1);
    atomic_fetch_add(&a->runs, (int)(hi - lo));
    a->partial[lo / a->plan.chunk] = sum;
}

enum { N = 20011 };

static pthread_t home;     /* the thread that launches */
static atomic_int foreign; /* chunks on others */

static bool is_home(void)
{
    return pthread_equal(pthread_self(), home);
}

static float sum_with(tk_session *s, tk_status expected, void (*meanwhile)(int64_t first))
{
    float partial[TK_MAX_CHUNKS] = {0}, sum = 0;
    loop a = {tk_plan_make(N, 1, 8), partial, 0, meanwhile};
    if (tk_run(s, &a.plan, task, &a) != expected)
        return -1;
    if (expected == TK_OK && a.runs != N)
        return -2;
    for (int64_t k = 0; k < a.plan.nchunks; k++)
        sum += partial[k];
    return sum;
}

static float sum_of(tk_session *s)
{
    return sum_with(s, TK_OK, NULL);
}

static float serial_sum(void)
{
    tk_session *s = session(1);
    const float sum = sum_of(s);
    tk_session_destroy(s);
    return sum;
}

static void test_many_threads(void **state)
{
    (void)state;
    const float expected = serial_sum();
    for (int threads = 2; threads <= 64; threads *= 2) {
        tk_session *s = session(threads);
        for (int k = 0; k < 50; k++)
            assert_true(sum_of(s) == expected);
        tk_session_destroy(s);
    }
}

/* ---- beside others ---- */

static pid_t start_busy(void)
{
    const pid_t p = fork();
    if (p == 0) {
        meet_limit(); /* should the test die */
        for (volatile unsigned n = 0;; n++)
            ;
    }
    return p;
}

static void test_busy_machine(void **state)
{
    (void)state;
    const float expected = serial_sum();
    pid_t busy[3];
    for (int k = 0; k < 3; k++)
        busy[k] = start_busy();
    tk_session *s = session(4);
    for (int k = 0; k < 1000; k++)
        assert_true(sum_of(s) == expected);
    tk_session_destroy(s);
    for (int k = 0; k < 3; k++) {
        kill(busy[k], SIGKILL);
        waitpid(busy[k], NULL, 0);
    }
}

static void *many_sums(void *p)
{
    int *wrong = p;
    const float expected = serial_sum();
    tk_session *s = session(3);
    for (int k = 0; k < 500; k++)
        *wrong += sum_of(s) != expected;
    tk_session_destroy(s);
    return NULL;
}

static void test_several_sessions(void **state)
{
    (void)state;
    enum { HOSTS = 5 };
    pthread_t thread[HOSTS];
    int wrong[HOSTS] = {0};
    for (int k = 0; k < HOSTS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, many_sums, &wrong[k]), 0);
    for (int k = 0; k < HOSTS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < HOSTS; k++)
        assert_int_equal(wrong[k], 0);
}

static void test_destroyed_beside(void **state)
{
    (void)state;
    pthread_t thread;
    int wrong = 0;
    const float expected = serial_sum();
    assert_int_equal(pthread_create(&thread, NULL, many_sums, &wrong), 0);
    for (int k = 0; k < 100; k++) {
        tk_session *s = session(2 + k % 5);
        assert_true(sum_of(s) == expected);
        tk_session_destroy(s);
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
}

static pthread_key_t of_thread;
static pid_t ids[4];
static atomic_int marked, all_marked, ended, closed;
static pid_t closer;
static int threads_before, latest;

static void mark_thread(int64_t first)
{
    if (!is_home() && !pthread_getspecific(of_thread)) {
        pid_t *id = &ids[atomic_fetch_add(&marked, 1) % 4];
        *id = meet_self();
        pthread_setspecific(of_thread, id);
        meet_await(&all_marked, 1);
    } else if (first == 0) {
        meet_rest();
        meet_count(&all_marked);
    }
}

/* The last of a thread: one lasts until the others have ended and somebody waits for it. */
static void end_thread(void *p)
{
    int older = 0;
    for (int k = 0; k < 4; k++)
        older += ids[k] < *(const pid_t *)p;
    if (older == latest) {
        while (!closed && meet_threads(true) > threads_before + 1)
            sched_yield();
        meet_sleep(closer);
    }
    atomic_fetch_add(&ended, !closed);
}

/* With the last session, so that the library may be unloaded. */
static void test_threads_end(void **state)
{
    (void)state;
    threads_before = meet_threads(false);
    home = pthread_self();
    closer = meet_self();
    for (latest = 0; latest < 4; latest++) {
        tk_session *first = session(5), *second = session(2);
        marked = all_marked = ended = closed = 0;
        assert_int_equal(pthread_key_create(&of_thread, end_thread), 0);
        (void)sum_with(first, TK_OK, mark_thread);
        assert_int_equal(meet_threads(false), threads_before + 4);
        tk_session_destroy(first);
        (void)sum_of(second);
        assert_int_equal(meet_threads(false), threads_before + 4);
        tk_session_destroy(second);
        closed = 1;
        assert_int_equal(marked, 4);
        assert_int_equal(ended, 4);
        assert_int_equal(meet_threads(false), threads_before);
        pthread_key_delete(of_thread);
    }
}

static void no_piece(const void *args, int64_t lo, int64_t hi)
{
    (void)args, (void)lo, (void)hi;
}

/* Threads that fall asleep while a loop asks for them are not passed over. */
static void test_all_asked(void **state)
{
    (void)state;
    for (int k = 0; k < 400; k++) {
        tk_session *s = session(8);
        assert_int_equal(tk_rt_pool_run(16, 7, no_piece, NULL).helpers, 7);
        tk_session_destroy(s);
    }
}

static atomic_int all_come;
static int come;

/* Each thread waits in its first one. */
static void held_first(const void *args, int64_t lo, int64_t hi)
{
    (void)args, (void)hi;
    if (!is_home()) {
        atomic_fetch_add(&foreign, 1);
        meet_await(&all_come, 1);
    } else if (lo == 0) {
        meet_rest();
        come = foreign;
        meet_count(&all_come);
    }
}

/* Two threads are awake, and wake the others: also those that the loop has not asked yet. */
static void test_all_come(void **state)
{
    (void)state;
    tk_session *s = session(8);
    home = pthread_self();
    for (int k = 0; k < 300; k++) {
        foreign = all_come = 0;
        (void)tk_rt_pool_run(3, 2, no_piece, NULL);
        assert_int_equal(tk_rt_pool_run(16, 7, held_first, NULL).helpers, 7);
        assert_int_equal(come, 7);
        meet_rest();
    }
    tk_session_destroy(s);
}

/* ---- inside of loops ---- */

static tk_session *other;

/* The first chunk is held until no other thread has anything to do: then all that come have come. */
static void note_thread(int64_t first)
{
    if (!is_home())
        atomic_fetch_add(&foreign, 1);
    else if (first == 0)
        meet_rest();
}

static int foreign_chunks(tk_session *s)
{
    home = pthread_self();
    foreign = 0;
    assert_true(sum_with(s, TK_OK, note_thread) > 0);
    return foreign;
}

static void test_threads_take_part(void **state)
{
    (void)state;
    tk_session *s = session(3);
    assert_true(foreign_chunks(s) > 0);
    meet_rest();
    assert_true(foreign_chunks(s) > 0); /* threads that sleep are woken */
    assert_int_equal(tk_session_set_threads(s, 1), TK_OK);
    assert_int_equal(foreign_chunks(s), 0);
    tk_session_destroy(s);
}

/* ---- who is let go, and when ---- */

/* A loop of three pieces, one of which ends last, and another loop meanwhile. */
typedef struct two_loops {
    int last;
    atomic_int begun, other_begun, ended, ran[3], other_ran[40], wrong;
} two_loops;

static void held_piece(const void *args, int64_t lo, int64_t hi)
{
    two_loops *a = (two_loops *)args;
    if (lo > 2 || hi != lo + 1) {
        atomic_fetch_add(&a->wrong, 1);
        return;
    }
    atomic_fetch_add(&a->ran[lo], 1);
    meet_count(&a->begun);
    meet_await(&a->begun, 3);
    if (lo == a->last)
        meet_await(&a->other_begun, 1);
}

static void *held_loop(void *p)
{
    two_loops *a = p;
    if (tk_rt_pool_run(3, 2, held_piece, a).helpers != 2)
        atomic_fetch_add(&a->wrong, 1);
    meet_count(&a->ended);
    return NULL;
}

static void other_piece(const void *args, int64_t lo, int64_t hi)
{
    two_loops *a = (two_loops *)args;
    (void)hi;
    atomic_fetch_add(&a->other_ran[lo], 1);
    meet_count(&a->other_begun);
    meet_await(&a->ended, 1);
}

/* A worker is let go when none of its loop's is running: one that is would look for pieces in its share, and find those
 * of another loop that has it by then. */
static void test_let_go(void **state)
{
    (void)state;
    tk_session *s = session(3);
    for (int round = 0; round < 10; round++) {
        two_loops a = {.last = round % 3};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, held_loop, &a), 0);
        meet_rest(); /* one is in its piece, the others are through */
        const int begun = a.begun, helpers = tk_rt_pool_run(40, 1, other_piece, &a).helpers;
        meet_count(&a.other_begun);
        for (int k = begun; k < 3; k++)
            meet_count(&a.begun); /* or the loop never ends */
        pthread_join(thread, NULL);
        assert_int_equal(begun, 3);
        assert_int_equal(a.wrong, 0);
        for (int k = 0; k < 3; k++)
            assert_int_equal(a.ran[k], 1);
        for (int k = 0; k < 40; k++)
            assert_int_equal(a.other_ran[k], helpers > 0);
    }
    tk_session_destroy(s);
}

static bool in_region;
int omp_in_parallel(void);
int omp_in_parallel(void)
{
    return in_region;
}

static void test_host_openmp(void **state)
{
    (void)state;
    tk_session *s = session(3);
    in_region = true;
    assert_int_equal(foreign_chunks(s), 0);
    in_region = false;
    assert_true(foreign_chunks(s) > 0);
    tk_session_destroy(s);
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* a session is for one thread at a time */
static atomic_int left_home;

static void inner_chunk(const void *args, int64_t lo, int64_t hi)
{
    (void)hi;
    if (!pthread_equal(pthread_self(), *(const pthread_t *)args))
        atomic_fetch_add(&left_home, 1);
    else if (lo == 0)
        meet_rest(); /* others would come now */
}

static void launch_other(int64_t first)
{
    if (first > 1000)
        return;
    const pthread_t self = pthread_self();
    const tk_plan p = tk_plan_make(20, 1, 1000);
    pthread_mutex_lock(&one_at_a_time);
    (void)tk_run(other, &p, inner_chunk, &self);
    pthread_mutex_unlock(&one_at_a_time);
}

/* A loop that is reached inside a chunk of another session stays on its thread. */
static void test_nested_sessions(void **state)
{
    (void)state;
    tk_session *s = session(2);
    other = session(8);
    (void)sum_of(other); /* there are threads that have nothing to do */
    left_home = 0;
    assert_true(sum_with(s, TK_OK, launch_other) > 0);
    assert_int_equal(left_home, 0);
    tk_session_destroy(other);
    tk_session_destroy(s);
}

/* Also where the host's pool runs the one or the other. */
static void test_nested_hooks(void **state)
{
    (void)state;
    for (int k = 1; k < 4; k++) {
        tk_session_options opt = tk_session_defaults();
        atomic_int calls = 0;
        opt.threads = 8;
        opt.parallel = k & 1 ? pthread_hook : NULL;
        opt.parallel_user = &calls;
        tk_session *s = tk_session_create(&opt);
        opt.parallel = k & 2 ? pthread_hook : NULL;
        other = tk_session_create(&opt);
        (void)sum_of(other);
        calls = 0;
        left_home = 0;
        assert_true(sum_with(s, TK_OK, launch_other) > 0);
        assert_int_equal(left_home, 0);
        assert_int_equal(calls, k & 1);
        assert_true(foreign_chunks(other) > 0);
        tk_session_destroy(other);
        tk_session_destroy(s);
    }
}

/* The caller's rounding is that of all its threads. */
static void test_rounding(void **state)
{
    (void)state;
    tk_session *one = session(1), *four = session(4);
    const float nearest = sum_of(one);
    fesetround(FE_UPWARD);
    const float up = sum_of(one);
    home = pthread_self();
    foreign = 0;
    const float other_up = sum_with(four, TK_OK, note_thread);
    fesetround(FE_TONEAREST);
    assert_true(up > nearest && other_up == up);
    assert_true(foreign > 0);
    foreign = 0;
    assert_true(sum_with(four, TK_OK, note_thread) == nearest); /* threads that are there already */
    assert_true(foreign > 0);
    tk_session_destroy(one);
    tk_session_destroy(four);
}

/* ---- failures ---- */

static tk_session *failing;
static atomic_int chunks, failed;

static void fail_soon(int64_t first)
{
    atomic_fetch_add(&chunks, 1);
    if (first == 0) {
        meet_rest(); /* the others are in their first chunks */
        tk_fail(failing, TK_ASSERT, "an assertion at %lld", (long long)first);
        meet_count(&failed);
    }
    meet_await(&failed, 1);
}

/* Chunks that have not begun when one fails never run, and the session works on. */
static void test_failure_stops(void **state)
{
    (void)state;
    const float expected = serial_sum();
    for (int k = 0; k < 20; k++) {
        failing = session(4);
        chunks = failed = 0;
        (void)sum_with(failing, TK_ASSERT, fail_soon);
        assert_int_equal(tk_session_status(failing), TK_ASSERT);
        assert_string_equal(tk_session_error(failing), "an assertion at 0");
        assert_int_equal(chunks, 4);
        tk_session_clear_error(failing);
        assert_true(sum_of(failing) == expected);
        tk_session_destroy(failing);
    }
}

typedef struct resting {
    pid_t caller;
    atomic_int through; /* the caller, with its piece */
} resting;

static void resting_piece(const void *args, int64_t lo, int64_t hi)
{
    resting *a = (resting *)args;
    (void)hi;
    if (!is_home()) {
        atomic_fetch_add(&foreign, 1);
        meet_await(&a->through, 1);
        meet_sleep(a->caller);
    } else if (lo == 0) {
        meet_rest();
        meet_count(&a->through);
    }
}

/* Threads without work sleep, and so does a caller whose last pieces others run. */
static void test_sleep(void **state)
{
    (void)state;
    tk_session *s = session(4);
    (void)sum_of(s);
    meet_rest();
    assert_true(meet_stillness());
    resting a = {.caller = meet_self()};
    home = pthread_self();
    foreign = 0;
    (void)tk_rt_pool_run(3, 2, resting_piece, &a);
    assert_int_equal(foreign, 2);
    tk_session_destroy(s);
}

static atomic_int in_pieces, begun, leaving, left_early;
static pid_t home_id;
static atomic_int home_left;

/* Each thread is in its first chunk when the caller leaves, and stays there until the caller waits for it. */
static void leave_for_good(int64_t first)
{
    atomic_fetch_add(&in_pieces, 1);
    atomic_fetch_add(&begun, 1);
    if (first == 0) {
        meet_rest();
        atomic_fetch_sub(&in_pieces, 1);
        meet_count(&leaving);
        pthread_exit(NULL); /* unwinds, as an exception does */
    }
    meet_await(&leaving, 1);
    meet_sleep(home_id);
    atomic_fetch_add(&left_early, atomic_load(&home_left));
    atomic_fetch_sub(&in_pieces, 1);
}

static void note_left(void *p)
{
    (void)p;
    atomic_store(&home_left, 1);
}

static void *leaving_thread(void *p)
{
    home_id = meet_self();
    pthread_cleanup_push(note_left, NULL);
    (void)sum_with(p, TK_OK, leave_for_good);
    pthread_cleanup_pop(0);
    return NULL;
}

/* How many chunks of a loop begin whose caller leaves in its first one. */
static int begun_without_caller(tk_session *left)
{
    pthread_t thread;
    begun = leaving = home_left = 0;
    assert_int_equal(pthread_create(&thread, NULL, leaving_thread, left), 0);
    pthread_join(thread, NULL);
    assert_int_equal(in_pieces, 0);
    assert_int_equal(left_early, 0);
    return begun;
}

/* The caller's stack unwinds inside a loop: pieces that are being run end first, others never begin. The caller may
 * sleep on the way to where it waits, and pieces then begin: only where that happens each time is it a fault. */
static void test_unwinding(void **state)
{
    (void)state;
    enum { TIMES = 100 };
    tk_session *s = session(4);
    int then = 0;
    for (int k = 0; k < TIMES && then != 4; k++) {
        tk_session *left = session(4);
        then = begun_without_caller(left);
        assert_true(sum_of(s) == serial_sum());
        assert_true(foreign_chunks(s) > 0);
        assert_int_equal(begun, then);
        tk_session_destroy(left);
    }
    assert_int_equal(then, 4);
    tk_session_destroy(s);
}

/* ---- the library's threads ---- */

static atomic_int wrong_masks, small_stacks;

static void look_at_thread(int64_t first)
{
    if (!is_home()) {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        const int ours[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGWINCH};
        const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
        for (int k = 0; k < 6; k++)
            wrong_masks += !sigismember(&blocked, ours[k]) || sigismember(&blocked, faults[k]);
#ifdef __GLIBC__
        pthread_attr_t attr;
        size_t stack = 0;
        if (pthread_getattr_np(pthread_self(), &attr) == 0) {
            pthread_attr_getstacksize(&attr, &stack);
            pthread_attr_destroy(&attr);
            small_stacks += stack < 1900000;
        }
#endif
    }
    note_thread(first);
}

/* They take no signals but faults and SIGPROF, and have a stack of 2 MiB where the system's is small. */
static void test_signals_and_stacks(void **state)
{
    (void)state;
    tk_session *s = session(4);
#ifdef __GLIBC__
    pthread_attr_t small;
    assert_int_equal(pthread_attr_init(&small), 0);
    size_t usual = 0;
    pthread_attr_getstacksize(&small, &usual);
    pthread_attr_setstacksize(&small, 1 << 17);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
#endif
    home = pthread_self();
    foreign = 0;
    assert_true(sum_with(s, TK_OK, look_at_thread) > 0);
    assert_true(foreign > 0);
    assert_int_equal(wrong_masks, 0);
    assert_int_equal(small_stacks, 0);
#ifdef __GLIBC__
    pthread_attr_setstacksize(&small, usual);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    pthread_attr_destroy(&small);
#endif
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT)); /* the caller's own are as they were */
    tk_session_destroy(s);
}

/* ---- forks ---- */

#ifndef RACE
/* In a child: 0 if its loops are right, with threads of its own. */
static int sums_in_child(tk_session *s, float expected)
{
    for (int k = 0; k < 50; k++)
        if (sum_of(s) != expected)
            return 1;
    return meet_threads(false) == 4 ? 0 : 2;
}

static void expect_child(pid_t child);

#ifdef BOUNDED_SPACE
/* In a child: 0 if loops are right where the system gives no threads, and have some as soon as it does. */
static int sums_without_threads(tk_session *s, float expected)
{
    struct rlimit space, none;
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!f || fscanf(f, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &space) != 0)
        return 3;
    fclose(f);
    none = space;
    none.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (16 << 20);
    pthread_attr_t large;
    if (pthread_attr_init(&large) != 0 || pthread_attr_setstacksize(&large, 256 << 20) != 0 ||
        pthread_setattr_default_np(&large) != 0 || setrlimit(RLIMIT_AS, &none) != 0)
        return 4;
    for (int k = 0; k < 10; k++)
        if (sum_of(s) != expected)
            return 1;
    if (meet_threads(false) != 1)
        return 2;
    if (setrlimit(RLIMIT_AS, &space) != 0)
        return 3;
    return sums_in_child(s, expected);
}

static void test_no_threads(void **state)
{
    (void)state;
    const float expected = serial_sum();
    tk_session *s = session(4);
    const pid_t child = fork();
    if (child == 0) {
        meet_limit();
        _exit(sums_without_threads(s, expected));
    }
    expect_child(child);
    tk_session_destroy(s);
}
#endif

static void expect_child(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_fork(void **state)
{
    (void)state;
    const float expected = serial_sum();
    tk_session *s = session(4);
    assert_true(sum_of(s) == expected); /* the parent has threads */
    for (int k = 0; k < 5; k++) {
        const pid_t child = fork();
        if (child == 0) {
            meet_limit();
            _exit(sums_in_child(s, expected));
        }
        assert_true(sum_of(s) == expected);
        expect_child(child);
    }
    tk_session_destroy(s);
}

#ifdef FORKS_BESIDE
/* While loops of another thread run: their workers do not exist in the child. */
static void test_fork_beside(void **state)
{
    (void)state;
    const float expected = serial_sum();
    tk_session *s = session(4);
    pthread_t thread;
    int wrong = 0;
    assert_int_equal(pthread_create(&thread, NULL, many_sums, &wrong), 0);
    for (int k = 0; k < 10; k++) {
        const pid_t child = fork();
        if (child == 0) {
            meet_limit();
            _exit(sums_in_child(s, expected));
        }
        expect_child(child);
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
    tk_session_destroy(s);
}
#endif

static pid_t inner_child;
static atomic_int forked;

/* The others are in a chunk when that happens. */
static void fork_once(int64_t first)
{
    if (first == 0) {
        meet_rest();
        inner_child = fork();
        if (inner_child != 0)
            meet_count(&forked);
    } else if (!is_home()) {
        atomic_fetch_add(&foreign, 1);
        meet_await(&forked, 1);
    }
}

/* In the child of a fork inside a loop, pieces of it are missing: that is said. */
static void test_fork_inside(void **state)
{
    (void)state;
    tk_session *s = session(4);
    home = pthread_self();
    forked = foreign = 0;
    float partial[TK_MAX_CHUNKS] = {0};
    loop a = {tk_plan_make(N, 1, 8), partial, 0, fork_once};
    const tk_status st = tk_run(s, &a.plan, task, &a);
    if (inner_child == 0)
        _exit(st == TK_BAD_STATE ? 0 : 1);
    assert_int_equal(st, TK_OK);
    assert_true(foreign > 0);
    expect_child(inner_child);
    tk_session_destroy(s);
}

#ifdef FORKS_BESIDE
static atomic_int worker_child; /* -1: none yet, -2: about to be */

static void fork_elsewhere(int64_t first)
{
    int none = -1;
    if (!is_home() && atomic_compare_exchange_strong(&worker_child, &none, -2)) {
        const pid_t child = fork();
        if (child != 0)
            worker_child = child;
    } else {
        note_thread(first);
    }
}

/* The child of a worker has no host's thread: it ends, or nobody ends the wait for it. */
static void test_fork_on_worker(void **state)
{
    (void)state;
    const float expected = serial_sum();
    tk_session *s = session(4);
    home = pthread_self();
    worker_child = -1;
    fflush(NULL);
    assert_true(sum_with(s, TK_OK, fork_elsewhere) == expected);
    expect_child(worker_child);
    assert_true(sum_of(s) == expected);
    tk_session_destroy(s);
}
#endif
#endif

/* ---- how many ---- */

static void test_environment(void **state)
{
    (void)state;
    char *before = getenv("OMP_NUM_THREADS");
    before = before ? strdup(before) : NULL;
    unsetenv("OMP_NUM_THREADS");
    tk_session *s = session(0);
    assert_int_equal(tk_session_threads(s), tk_rt_processors());
    const struct {
        const char *text;
        int threads;
    } cases[] = {{"3", 3}, {"5,2", 5}, {" 2 ", 2}, {"100000", 1024}, {"0", tk_rt_processors()}, {"-1", tk_rt_processors()}, {"many", tk_rt_processors()}, {"", tk_rt_processors()}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setenv("OMP_NUM_THREADS", cases[k].text, 1);
        assert_int_equal(tk_session_set_threads(s, 0), TK_OK);
        assert_int_equal(tk_session_threads(s), cases[k].threads);
    }
    tk_session_destroy(s);
    if (before)
        setenv("OMP_NUM_THREADS", before, 1);
    else
        unsetenv("OMP_NUM_THREADS");
    free(before);
}

static void write_text(const char *root, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int quota_with(const char *root, const char *groups)
{
    char path[256];
    write_text(root, "groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return tk_rt_quota(path, root);
}

static void test_quota(void **state)
{
    (void)state;
    char root[] = "/tmp/tkc_quota_XXXXXX", clean[64];
    assert_non_null(mkdtemp(root));
    assert_int_equal(quota_with(root, "0::/\n"), INT_MAX);
    write_text(root, "a/cpu.max", "max 100000\n");
    write_text(root, "a/b/cpu.max", "250000 100000\n");
    assert_int_equal(quota_with(root, "0::/a\n"), INT_MAX);
    assert_int_equal(quota_with(root, "0::/a/b\n"), 3);   /* two and a half */
    assert_int_equal(quota_with(root, "0::/a/b/c\n"), 3); /* the group's name outside of the container */
    write_text(root, "cpu.max", "50000 100000\n");
    assert_int_equal(quota_with(root, "0::/a/b\n"), 1); /* the least on the way up */
    write_text(root, "cpu/x/cpu.cfs_quota_us", "-1\n");
    write_text(root, "cpu/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota_with(root, "5:cpuset:/x\n4:cpuacct,cpu:/x\n"), INT_MAX);
    write_text(root, "cpu/x/cpu.cfs_quota_us", "200000\n");
    assert_int_equal(quota_with(root, "5:cpuset:/x\n4:cpuacct,cpu:/x\n"), 2);
    assert_int_equal(quota_with(root, "5:cpuset:/x\n"), INT_MAX);
    assert_int_equal(quota_with(root, "nonsense\n:\n\n7\n"), INT_MAX);
    assert_int_equal(tk_rt_quota("/nowhere/groups", root), INT_MAX);
    snprintf(clean, sizeof clean, "rm -r %s", root);
    assert_int_equal(system(clean), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_busy_machine),
        cmocka_unit_test(test_several_sessions),
        cmocka_unit_test(test_destroyed_beside),
        cmocka_unit_test(test_threads_end),
        cmocka_unit_test(test_all_asked),
        cmocka_unit_test(test_all_come),
        cmocka_unit_test(test_threads_take_part),
        cmocka_unit_test(test_let_go),
        cmocka_unit_test(test_host_openmp),
        cmocka_unit_test(test_nested_sessions),
        cmocka_unit_test(test_nested_hooks),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_failure_stops),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_unwinding),
        cmocka_unit_test(test_signals_and_stacks),
#ifndef RACE
#ifdef BOUNDED_SPACE
        cmocka_unit_test(test_no_threads),
#endif
        cmocka_unit_test(test_fork),
#ifdef FORKS_BESIDE
        cmocka_unit_test(test_fork_beside),
#endif
        cmocka_unit_test(test_fork_inside),
#ifdef FORKS_BESIDE
        cmocka_unit_test(test_fork_on_worker),
#endif
#endif
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_quota),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
