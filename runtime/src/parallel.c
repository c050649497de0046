/* Parallel loops. */
#include "rt.h"

#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Work below which starting threads costs more than it gains, and the least work of a chunk, in rough cycles. A
 * parallel loop takes some ten microseconds to start and to end, when nothing else runs; the estimates of cycles are
 * rather high than low. */
#ifndef TK_MIN_CHUNK /* tests make it small, so that small loops have many chunks */
#define TK_MIN_PARALLEL 524288
#define TK_MIN_CHUNK 16384
#endif
enum { MIN_PARALLEL = TK_MIN_PARALLEL, MIN_CHUNK = TK_MIN_CHUNK };

int rt_all_threads(const tk_session_options *opt)
{
    long n = 1;
    if (opt->parallel)
        n = sysconf(_SC_NPROCESSORS_ONLN); /* what the host's pool has is not known */
#ifdef _OPENMP
    else
        n = omp_get_max_threads();
#endif
    return n < 1 ? 1 : n > RT_MAX_THREADS ? RT_MAX_THREADS : (int)n;
}

/* ---- denormals ---- */

#if defined(__SSE__) || defined(__x86_64__)
static unsigned read_mode(void)
{
    return __builtin_ia32_stmxcsr();
}
static void write_mode(unsigned mode)
{
    __builtin_ia32_ldmxcsr(mode);
}
enum { FLUSH = 0x8040 }; /* flush to zero, denormals are zero */
#elif defined(__aarch64__)
static unsigned read_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
static void write_mode(unsigned mode)
{
    const uint64_t wide = mode;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
}
enum { FLUSH = 1 << 24 };
#else
static unsigned read_mode(void)
{
    return 0;
}
static void write_mode(unsigned mode)
{
    (void)mode;
}
enum { FLUSH = 0 };
#endif

unsigned rt_float_mode_enter(const tk_session *s)
{
    if (!s->opt.flush_denormals)
        return 0;
    const unsigned saved = read_mode();
    write_mode(saved | FLUSH);
    return saved;
}

void rt_float_mode_leave(const tk_session *s, unsigned saved)
{
    if (s->opt.flush_denormals)
        write_mode(saved);
}

/* ---- plans ---- */

/* Of a chunk, so that its cost is MIN_CHUNK. */
static int64_t least_iterations(int64_t cost)
{
    return cost >= MIN_CHUNK ? 1 : cost < 1 ? MIN_CHUNK : (MIN_CHUNK + cost - 1) / cost;
}

tk_plan tk_plan_make(int64_t n, int64_t unit, int64_t cost)
{
    if (unit < 1)
        unit = 1;
    if (cost < 1)
        cost = 1;
    tk_plan p = {n, unit, 0, cost};
    if (n <= 0) {
        p.n = 0;
        return p;
    }
    const int64_t least = least_iterations(cost);
    int64_t chunks = n / least;
    chunks = chunks < 1 ? 1 : chunks > TK_MAX_CHUNKS ? TK_MAX_CHUNKS : chunks;
    int64_t chunk = n / chunks + (n % chunks != 0);
    /* whole units; where single iterations are short, whole cache lines of what they write */
    if (unit == 1 && least >= 64)
        unit = 16;
    const int64_t rest = chunk % unit;
    if (rest != 0)
        chunk = chunk > INT64_MAX - (unit - rest) ? INT64_MAX : chunk + (unit - rest);
    p.chunk = chunk;
    p.nchunks = n / chunk + (n % chunk != 0);
    return p;
}

tk_plan tk_plan_rows(int64_t n, int64_t row, int64_t cost)
{
    enum { ENOUGH_ROWS = 64 };
    return tk_plan_make(n, row > 0 && n / row >= ENOUGH_ROWS ? row : 1, cost);
}

/* ---- running ---- */

/* What a call from the host's pool needs beside the function. */
typedef struct hook_args {
    const tk_session *s;
    tk_task_fn fn;
    const void *args;
} hook_args;

static void hook_piece(const void *args, int64_t lo, int64_t hi)
{
    const hook_args *a = args;
    const unsigned mode = rt_float_mode_enter(a->s);
    a->fn(a->args, lo, hi);
    rt_float_mode_leave(a->s, mode);
}

static void run_serial(const tk_session *s, int64_t n, tk_task_fn fn, const void *args)
{
    const unsigned mode = rt_float_mode_enter(s);
    for (int64_t k = 0; k < n; k++)
        fn(args, k, k + 1);
    rt_float_mode_leave(s, mode);
}

#ifdef _OPENMP
static void run_openmp(const tk_session *s, int64_t n, tk_task_fn fn, const void *args)
{
    const int threads = n < s->threads ? (int)n : s->threads;
#pragma omp parallel num_threads(threads)
    {
        const unsigned mode = rt_float_mode_enter(s);
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < n; k++)
            fn(args, k, k + 1);
        rt_float_mode_leave(s, mode);
    }
}

static bool is_nested(void)
{
    return omp_in_parallel() != 0;
}
#else
static void run_openmp(const tk_session *s, int64_t n, tk_task_fn fn, const void *args)
{
    run_serial(s, n, fn, args);
}

static bool is_nested(void)
{
    return false;
}
#endif

void rt_for(tk_session *s, int64_t n, bool parallel, tk_task_fn fn, const void *args)
{
    if (!parallel || n < 2 || s->threads == 1 || s->in_parallel) {
        run_serial(s, n, fn, args);
        return;
    }
    if (!s->opt.parallel &&
        is_nested()) { /* the host calls from a parallel region of its own: its threads are busy already */
        run_serial(s, n, fn, args);
        return;
    }
    s->in_parallel = true;
    if (s->opt.parallel) {
        const hook_args a = {s, fn, args};
        s->opt.parallel(s->opt.parallel_user, n, hook_piece, &a);
    } else {
        run_openmp(s, n, fn, args);
    }
    s->in_parallel = false;
}

bool rt_worth_threads(const tk_session *s, const tk_plan *p)
{
    return !s->watch.serial && s->threads > 1 && p->nchunks > 1 && (double)p->n * (double)p->cost >= MIN_PARALLEL;
}

typedef struct chunk_args {
    const tk_session *s;
    const tk_plan *plan;
    tk_task_fn fn;
    const void *args;
    bool always;
} chunk_args;

static void run_chunk(const void *args, int64_t lo, int64_t hi)
{
    const chunk_args *a = args;
    const tk_plan *p = a->plan;
    for (int64_t k = lo; k < hi && (a->always || !tk_failed(a->s)); k++) {
        const int64_t from = k * p->chunk, to = p->n - from < p->chunk ? p->n : from + p->chunk;
        a->fn(a->args, from, to);
    }
}

void rt_run_chunks(tk_session *s, const tk_plan *p, bool parallel, tk_task_fn fn, const void *args, bool always)
{
    const chunk_args a = {s, p, fn, args, always};
    rt_for(s, p->nchunks, parallel, run_chunk, &a);
}

tk_status rt_too_many(tk_session *s)
{
    return tk_fail(s, TK_BAD_ARGUMENT, "a parallel loop of more iterations than an int64_t counts");
}

tk_status tk_run(tk_session *s, const tk_plan *p, tk_task_fn fn, const void *args)
{
    if (p->n == INT64_MAX)
        return rt_too_many(s);
    rt_watch_loop(s, true);
    rt_run_chunks(s, p, rt_worth_threads(s, p), fn, args, false);
    rt_watch_loop(s, false);
    return tk_session_status(s);
}

/* ---- stages ---- */

enum { CHUNKS_PER_THREAD = 4 };

/* Slabs are taken in blocks. Block k of the last stage follows block k + lag of the others; a chunk is a range of
 * blocks. What of the last stage waits for the next chunk is left to the end. */
typedef struct staged {
    const tk_session *s;
    const tk_stage *stages;
    int last;      /* stage */
    int64_t block; /* slabs */
    int64_t nblocks, lag, nchunks;
} staged;

static void run_block(const staged *g, int stage, int64_t k)
{
    const tk_stage *t = &g->stages[stage];
    const int64_t from = k * g->block, to = t->slabs - from < g->block ? t->slabs : from + g->block;
    if (t->slab > 0 && from < to && !tk_failed(g->s))
        t->fn(t->args, from * t->slab, to * t->slab);
}

static int64_t first_block(const staged *g, int64_t chunk)
{
    return chunk * (g->nblocks / g->nchunks) + (chunk < g->nblocks % g->nchunks ? chunk : g->nblocks % g->nchunks);
}

/* The first block of the last stage that the chunk cannot run itself. */
static int64_t first_left(const staged *g, int64_t chunk)
{
    const int64_t first = first_block(g, chunk), end = first_block(g, chunk + 1);
    return end == g->nblocks ? end : end - first < g->lag ? first : end - g->lag;
}

static void run_stages_chunk(const void *args, int64_t lo, int64_t hi)
{
    const staged *g = args;
    for (int64_t chunk = lo; chunk < hi; chunk++) {
        const int64_t end = first_block(g, chunk + 1), left = first_left(g, chunk);
        int64_t next = first_block(g, chunk); /* of the last stage */
        for (int64_t k = next; k < end; k++) {
            for (int stage = 0; stage < g->last; stage++)
                run_block(g, stage, k);
            if (k - g->lag >= next)
                run_block(g, g->last, next++);
        }
        while (next < left)
            run_block(g, g->last, next++);
    }
}

static void run_left(const void *args, int64_t lo, int64_t hi)
{
    const staged *g = args;
    for (int64_t chunk = lo; chunk < hi; chunk++)
        for (int64_t k = first_left(g, chunk); k < first_block(g, chunk + 1); k++)
            run_block(g, g->last, k);
}

/* Watched code numbers the iterations of a loop: one stage after the other. */
static void run_apart(tk_session *s, const tk_stage *stages, int nstages)
{
    for (int k = 0; k < nstages; k++) {
        rt_watch_loop(s, true);
        const tk_plan all = {stages[k].slabs * stages[k].slab, stages[k].slabs * stages[k].slab,
                             stages[k].slabs * stages[k].slab > 0, 1};
        rt_run_chunks(s, &all, false, stages[k].fn, stages[k].args, false);
        rt_watch_loop(s, false);
    }
}

tk_status tk_run_stages(tk_session *s, const tk_stage *stages, int nstages, int64_t cost)
{
    for (int k = 0; k < nstages; k++)
        if (tk_extents(stages[k].slabs, stages[k].slab) == INT64_MAX)
            return rt_too_many(s);
    if (s->watch.serial) {
        run_apart(s, stages, nstages);
        return tk_session_status(s);
    }
    staged g = {.s = s, .stages = stages, .last = nstages - 1};
    int64_t slabs = 0, slab = 1;
    for (int k = 0; k < nstages; k++) {
        slabs = stages[k].slabs > slabs ? stages[k].slabs : slabs;
        slab = stages[k].slab > slab ? stages[k].slab : slab;
    }
    g.block = least_iterations(cost) / slab + 1;
    g.nblocks = slabs / g.block + (slabs % g.block != 0);
    g.lag = (slabs - stages[g.last].slabs + g.block - 1) / g.block;
    const double slab_cost = (double)slab * (double)cost;
    const bool parallel = s->threads > 1 && g.nblocks > 1 && (double)slabs * slab_cost >= MIN_PARALLEL;
    g.nchunks = !parallel ? 1 : g.nblocks < s->threads * CHUNKS_PER_THREAD ? g.nblocks : s->threads * CHUNKS_PER_THREAD;
    if (g.nblocks > 0) {
        rt_for(s, g.nchunks, parallel, run_stages_chunk, &g);
        rt_for(s, g.nchunks - 1, (double)((g.nchunks - 1) * g.lag * g.block) * slab_cost >= MIN_PARALLEL, run_left, &g);
    }
    return tk_session_status(s);
}
