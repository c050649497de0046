/* The threads that parallel loops run on beside the one that asks. One pool for all sessions of the process, so that
 * several of them do not have more threads than there are processors.
 *
 * A machine may run other things, so nobody here waits for a thread that the system does not run, as far as that can
 * be:
 *   - The caller begins at once, and takes chunks as every worker does. Each has a share of neighbouring chunks, the
 *     same in the next loop, since what they touch may still be in its caches; who is through with its own takes from
 *     the end of others' shares. The share of a worker that has not come yet is just taken.
 *   - In the end the caller takes back the invitations that nobody has followed, and waits for chunks that are being
 *     run, for nothing else. What that costs, pace.c looks at.
 *   - Waiting is a short spin, which ends when a processor is seen to be shared, and then sleep.
 *
 * A worker is one word, `state`, with the bits below. Everything else of it belongs to whoever has CLAIMED it, or to
 * itself while RUNNING. A claimed worker is let go when none of the loop's workers is running any more: one that is
 * looks at the shares of all the others.
 */
#include "rt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum {
    CLAIMED = 1, /* by a caller */
    INVITED = 2, /* to its loop, and free to begin */
    RUNNING = 4, /* has begun */
    ASLEEP = 8,  /* or about to be: whoever invites it wakes it */
    AWAITED = 16 /* the caller sleeps until it is not RUNNING */,
    LEAVING = 32 /* to end */
};

/* Of a thread without work, and of a caller whose last chunks others run, before it sleeps. Waking takes 5 to 50 us. */
enum { SPIN_NS = 20000, SHARED_NS = 50000, SHARED_FOR_NS = 20000000 };

typedef struct job job;

typedef struct worker {
    _Alignas(64) atomic_int state; /* workers do not share cache lines */
    atomic_uint share;             /* what is left of it: the first chunk, and 65536 times the one behind the last */
    job *job;
    int place; /* in the job, from 1 */
    pthread_t thread;
} worker;

struct job {
    tk_task_fn fn;
    const void *args;
    unsigned mode; /* of floating-point arithmetic: the caller's, rounding included */
    int helpers;
    unsigned forks;    /* before it */
    atomic_uint share; /* the caller's */
    uint16_t who[RT_MAX_THREADS];
};

static worker workers[RT_MAX_THREADS];
static atomic_int count;                                 /* workers that are there */
static atomic_int busy;                                  /* threads in loops, or claimed for one */
static atomic_int processors = 1;                        /* the most that a session saw */
static atomic_llong shared_until;                        /* processors are shared with others: nobody spins */
static atomic_uint forks;                                /* of which this process is the outcome */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* sessions, and threads coming and going */
static int sessions;
static _Thread_local bool inside; /* a chunk is running here */

/* ---- waiting ---- */

int64_t tk_rt_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* While *word has that value; may return early. */
#if defined(SYS_futex) && !defined(TK_NO_FUTEX)
enum { WAIT_PRIVATE = 128, WAKE_PRIVATE = 129 }; /* as in linux/futex.h, which not every C library has beside it */
static void sleep_while(atomic_int *word, int value)
{
    syscall(SYS_futex, word, WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void wake(atomic_int *word)
{
    syscall(SYS_futex, word, WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void wake_after_fork(void)
{
}
#else
static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sleep_end = PTHREAD_COND_INITIALIZER;
static void sleep_while(atomic_int *word, int value)
{
    pthread_mutex_lock(&sleep_lock);
    if (atomic_load(word) == value)
        pthread_cond_wait(&sleep_end, &sleep_lock);
    pthread_mutex_unlock(&sleep_lock);
}
static void wake(atomic_int *word)
{
    (void)word;
    pthread_mutex_lock(&sleep_lock);
    pthread_cond_broadcast(&sleep_end);
    pthread_mutex_unlock(&sleep_lock);
}
static void wake_after_fork(void)
{
    pthread_mutex_init(&sleep_lock, NULL);
    pthread_cond_init(&sleep_end, NULL);
}
#endif

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until a bit of `bits` is as wanted, for a while; gives the state. Who is off its processor meanwhile learns
 * that somebody else wants it. */
static int spin(worker *w, int bits, bool set, int64_t ns)
{
    enum { LOOKS = 32 };
    int64_t last = tk_rt_now();
    const int64_t end = last + (last < atomic_load_explicit(&shared_until, memory_order_relaxed) ? 0 : ns);
    for (;;) {
        for (int k = 0; k < LOOKS; k++) {
            const int state = atomic_load_explicit(&w->state, memory_order_acquire);
            if (((state & bits) != 0) == set)
                return state;
            pause_briefly();
        }
        const int64_t now = tk_rt_now();
        if (now - last > SHARED_NS)
            atomic_store_explicit(&shared_until, now + SHARED_FOR_NS, memory_order_relaxed);
        if (now >= end || now - last > SHARED_NS)
            return atomic_load_explicit(&w->state, memory_order_acquire);
        last = now;
    }
}

/* ---- chunks ---- */

static unsigned share_of(int64_t n, int place, int of)
{
    const unsigned first = (unsigned)(n * place / of), end = (unsigned)(n * (place + 1) / of);
    return first | end << 16;
}

static int take_first(atomic_uint *share)
{
    unsigned s = atomic_load_explicit(share, memory_order_relaxed);
    while ((s & 0xffff) < s >> 16)
        if (atomic_compare_exchange_weak_explicit(share, &s, s + 1, memory_order_relaxed, memory_order_relaxed))
            return (int)(s & 0xffff);
    return -1;
}

static int take_last(atomic_uint *share)
{
    unsigned s = atomic_load_explicit(share, memory_order_relaxed);
    while ((s & 0xffff) < s >> 16)
        if (atomic_compare_exchange_weak_explicit(share, &s, s - 0x10000, memory_order_relaxed, memory_order_relaxed))
            return (int)(s >> 16) - 1;
    return -1;
}

static atomic_uint *share_at(job *j, int place)
{
    return place == 0 ? &j->share : &workers[j->who[place - 1]].share;
}

/* Gives how many chunks ran. */
static int run_chunks(job *j, int place)
{
    int done = 0;
    for (int64_t k; (k = take_first(share_at(j, place))) >= 0; done++)
        j->fn(j->args, k, k + 1);
    for (int next = 1; next <= j->helpers; next++) {
        atomic_uint *other = share_at(j, (place + next) % (j->helpers + 1));
        for (int64_t k; (k = take_last(other)) >= 0; done++)
            j->fn(j->args, k, k + 1);
    }
    return done;
}

/* Many are woken as a tree: each wakes two. */
static void wake_next(const job *j, int place)
{
    for (int next = 2 * place + 1; next <= 2 * place + 2 && next <= j->helpers; next++) {
        atomic_int *state = &workers[j->who[next - 1]].state;
        if (atomic_load(state) & ASLEEP)
            wake(state);
    }
}

/* ---- workers ---- */

/* The state, once it is INVITED or LEAVING. */
static int await_invitation(worker *w)
{
    int state = spin(w, INVITED | LEAVING, true, SPIN_NS);
    while (!(state & (INVITED | LEAVING))) {
        if ((state & ASLEEP) || atomic_compare_exchange_weak(&w->state, &state, state | ASLEEP)) {
            sleep_while(&w->state, state | ASLEEP);
            state = atomic_load(&w->state);
        }
    }
    return state;
}

static void *work(void *p)
{
    worker *w = p;
    const unsigned born = atomic_load(&forks);
    inside = true;
    for (int state; !((state = await_invitation(w)) & LEAVING);) {
        if (!atomic_compare_exchange_strong(&w->state, &state, CLAIMED | RUNNING))
            continue; /* taken back meanwhile */
        job *j = w->job;
        wake_next(j, w->place);
        tk_rt_float_mode_set(j->mode);
        (void)run_chunks(j, w->place);
        if (atomic_fetch_and(&w->state, ~(RUNNING | AWAITED)) & AWAITED)
            wake(&w->state);
        if (atomic_load(&forks) != born)
            return NULL; /* a piece forked, and nobody else is in this child */
    }
    return NULL;
}

/* The host's signal handlers are not for these threads, but for faults and profilers. */
#ifdef _WIN32 /* signals of threads are faults alone */
static bool create(worker *w, const pthread_attr_t *attr)
{
    return pthread_create(&w->thread, attr, work, w) == 0;
}
#else
static bool create(worker *w, const pthread_attr_t *attr)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        sigdelset(&all, own[k]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&w->thread, attr, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
#endif

static bool start(worker *w)
{
    enum { LEAST_STACK = 2 << 20 }; /* musl's is 128 KiB by itself */
    pthread_attr_t attr;
    size_t stack = 0;
    if (pthread_attr_init(&attr) != 0)
        return false;
    if (pthread_attr_getstacksize(&attr, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attr, LEAST_STACK);
    atomic_store(&w->state, 0);
    const bool started = create(w, &attr);
    pthread_attr_destroy(&attr);
    return started;
}

/* So many workers, if the system gives them. */
static void grow(int wanted)
{
    if (wanted <= atomic_load_explicit(&count, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    for (int n; (n = atomic_load(&count)) < wanted && start(&workers[n]);)
        atomic_store(&count, n + 1);
    pthread_mutex_unlock(&lock);
}

/* ---- sessions ---- */

#ifdef _WIN32
static void watch_forks(void)
{
    (void)wake_after_fork; /* there is no fork */
}
#else
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The child has the thread that forked, and nobody else. */
static void in_child(void)
{
    wake_after_fork();
    for (int k = 0; k < RT_MAX_THREADS; k++)
        atomic_store(&workers[k].state, 0);
    atomic_store(&count, 0);
    atomic_store(&busy, 0);
    atomic_fetch_add(&forks, 1);
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}
#endif

void tk_rt_pool_join(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    if (sessions++ == 0)
        atomic_store(&processors, 1);
    pthread_mutex_unlock(&lock);
    tk_rt_pool_look();
}

/* A thread that may use a few of the processors only does not take them from other threads' sessions. */
void tk_rt_pool_look(void)
{
    const int n = tk_rt_processors();
    pthread_mutex_lock(&lock);
    if (n > atomic_load(&processors))
        atomic_store(&processors, n);
    pthread_mutex_unlock(&lock);
}

/* With the last session all threads end: the library may be unloaded then. */
void tk_rt_pool_leave(void)
{
    pthread_mutex_lock(&lock);
    if (--sessions == 0) {
        const int n = atomic_exchange(&count, 0);
        for (int k = 0; k < n; k++)
            if (atomic_fetch_or(&workers[k].state, LEAVING) & ASLEEP)
                wake(&workers[k].state);
        for (int k = 0; k < n; k++)
            pthread_join(workers[k].thread, NULL);
    }
    pthread_mutex_unlock(&lock);
}

bool tk_rt_pool_inside(void)
{
    return inside;
}

bool tk_rt_pool_enter(bool now)
{
    const bool before = inside;
    inside = now;
    return before;
}

/* ---- loops ---- */

/* Up to so many workers that do nothing, the same ones as in the last loop where nobody else came. */
static void claim(job *j, int most)
{
    const int n = atomic_load(&count);
    j->helpers = 0;
    for (int k = 0; k < n && j->helpers < most; k++) {
        int state = atomic_load_explicit(&workers[k].state, memory_order_relaxed);
        bool taken = false; /* again where it fell asleep meanwhile */
        while (!taken && !(state & ~ASLEEP))
            taken = atomic_compare_exchange_weak(&workers[k].state, &state, state | CLAIMED);
        if (taken)
            j->who[j->helpers++] = (uint16_t)k;
    }
    atomic_fetch_add(&busy, j->helpers);
}

static void invite(job *j, int64_t n)
{
    const int all = j->helpers + 1;
    atomic_store_explicit(&j->share, share_of(n, 0, all), memory_order_relaxed);
    for (int place = 1; place < all; place++) {
        worker *w = &workers[j->who[place - 1]];
        w->job = j;
        w->place = place;
        atomic_store_explicit(&w->share, share_of(n, place, all), memory_order_relaxed);
    }
    for (int k = j->helpers; k-- > 0;) /* whoever begins finds those invited that it wakes */
        atomic_fetch_or(&workers[j->who[k]].state, INVITED);
    wake_next(j, 0);
}

static void await_end(worker *w)
{
    int state = atomic_load(&w->state);
    if (state & RUNNING)
        state = spin(w, RUNNING, false, SPIN_NS);
    while (state & RUNNING) {
        if (atomic_compare_exchange_weak(&w->state, &state, state | AWAITED)) {
            sleep_while(&w->state, state | AWAITED);
            state = atomic_load(&w->state);
        }
    }
}

/* Runs also where an exception of the host's passes through: then there are chunks left, which nobody is to run. */
static void end_job(job *j)
{
    inside = false;
    if (atomic_load(&forks) != j->forks)
        return; /* the workers are another process's */
    for (int place = 0; place <= j->helpers; place++)
        atomic_store_explicit(share_at(j, place), 0, memory_order_relaxed);
    for (int k = 0; k < j->helpers; k++)
        atomic_fetch_and(&workers[j->who[k]].state, ~INVITED);
    for (int k = 0; k < j->helpers; k++)
        await_end(&workers[j->who[k]]);
    for (int k = 0; k < j->helpers; k++)
        atomic_fetch_and(&workers[j->who[k]].state, ~CLAIMED);
    atomic_fetch_sub(&busy, j->helpers + 1);
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Threads beyond the processors would only wait for each other, whosever they are. */
static int room(int helpers)
{
    const int left = RT_ALL_THREADS ? helpers : atomic_load(&processors) - atomic_load(&busy);
    return left < 0 ? 0 : min(helpers, left);
}

rt_times tk_rt_pool_run(int64_t n, int helpers, tk_task_fn fn, const void *args)
{
    rt_times r = {.began = tk_rt_now()};
    const unsigned before = atomic_load(&forks);
    {
        __attribute__((cleanup(end_job))) job j = {.fn = fn, .args = args, .mode = tk_rt_float_mode(), .forks = before};
        atomic_fetch_add(&busy, 1);
        inside = true;
        const int most = room(min(helpers, (int)n - 1));
        grow(most);
        claim(&j, most);
        r.helpers = j.helpers;
        if (j.helpers > 0) {
            invite(&j, n);
            r.invited = tk_rt_now();
            r.own = run_chunks(&j, 0);
            r.solo_ns = tk_rt_now();
        }
    }
    r.ended = tk_rt_now();
    r.forked = atomic_load(&forks) != before;
    return r;
}
