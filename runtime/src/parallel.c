/* Parallel loops. */
#include "rt.h"

/* Work below which starting threads costs more than it gains, and the least work of a chunk, in rough cycles. A worker
 * that sleeps comes after 5 to 50 microseconds, one that spins after one; the estimates of cycles are rather high than
 * low. Where a loop turns out to be too small all the same, pace.c leaves it to the caller. */
#ifndef TK_MIN_CHUNK /* tests make it small, so that small loops have many chunks */
#define TK_MIN_PARALLEL 131072
#define TK_MIN_CHUNK 16384
#endif
enum { MIN_PARALLEL = TK_MIN_PARALLEL, MIN_CHUNK = TK_MIN_CHUNK };

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
    if (n < 2 * MIN_CHUNK && cost < 2 * MIN_CHUNK && n * cost < 2 * MIN_CHUNK) {
        p.chunk = n; /* one chunk, without divisions: they are a fifth of a tiny launch */
        p.nchunks = 1;
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
    const bool inside = tk_rt_pool_enter(true);
    const unsigned mode = tk_rt_float_mode_enter(a->s);
    a->fn(a->args, lo, hi);
    tk_rt_float_mode_leave(a->s, mode);
    tk_rt_pool_enter(inside);
}

static void run_serial(const tk_session *s, const rt_loop *l)
{
    const void *args = l->serial_args ? l->serial_args : l->args;
    const unsigned mode = tk_rt_float_mode_enter(s);
    for (int64_t k = 0; k < l->n; k++)
        l->fn(args, k, k + 1);
    tk_rt_float_mode_leave(s, mode);
}

/* Whether the host calls from a parallel region of OpenMP's: its threads are busy already. Only hosts that link with
 * OpenMP have the function. */
#if defined(__ELF__) && defined(__GNUC__)
int omp_in_parallel(void) __attribute__((weak));
static bool is_nested(void)
{
    return omp_in_parallel && omp_in_parallel();
}
#else
static bool is_nested(void)
{
    return false;
}
#endif

static void run_hook(tk_session *s, const rt_loop *l)
{
    const hook_args a = {s, l->fn, l->args};
    s->in_parallel = true;
    s->opt.parallel(s->opt.parallel_user, l->n, hook_piece, &a);
    s->in_parallel = false;
}

/* False if no other thread was to be had; then nothing ran. */
static bool run_threads(tk_session *s, const rt_loop *l, int helpers, rt_times *r)
{
    const unsigned mode = tk_rt_float_mode_enter(s);
    s->in_parallel = true;
    *r = tk_rt_pool_run(l->n, helpers, l->fn, l->args);
    s->in_parallel = false;
    tk_rt_float_mode_leave(s, mode);
    if (r->forked)
        tk_fail(s, TK_BAD_STATE, "the process was forked inside a parallel loop, whose other threads it lost");
    return r->helpers > 0;
}

static void run_pool(tk_session *s, const rt_loop *l)
{
    rt_times r;
    const int most = (l->n < s->threads ? (int)l->n : s->threads) - 1;
    if (RT_ALL_THREADS && run_threads(s, l, most, &r))
        return;
    rt_pace *pace = tk_rt_pace_of(s, l->task, l->work, most);
    const int64_t began = tk_rt_now();
    const int helpers = tk_rt_pace_ask(pace, began);
    if (helpers > 0 && run_threads(s, l, helpers, &r)) {
        /* what this thread would have taken alone, as far as its pieces tell */
        const double solo = r.own && !l->serial_args ? (double)(r.solo_ns - r.invited) * (double)l->n / r.own : 0;
        tk_rt_pace_learn(pace, l->work, r.ended, r.ended - began, solo);
        return;
    }
    run_serial(s, l);
    if (helpers == 0) {
        const int64_t ended = tk_rt_now();
        tk_rt_pace_learn(pace, l->work, ended, ended - began, 0);
    }
}

void tk_rt_for(tk_session *s, const rt_loop *l)
{
    if (l->work <= 0 || l->n < 2 || s->threads == 1 || s->in_parallel || tk_rt_pool_inside())
        run_serial(s, l);
    else if (s->opt.parallel)
        run_hook(s, l);
    else if (l->n > RT_MAX_PIECES || is_nested())
        run_serial(s, l);
    else
        run_pool(s, l);
}

double tk_rt_work(const tk_session *s, const tk_plan *p)
{
    const double work = (double)p->n * (double)p->cost;
    return !s->watch.serial && s->threads > 1 && p->nchunks > 1 && work >= MIN_PARALLEL ? work : 0;
}

typedef struct chunk_args {
    tk_session *s;
    const tk_plan *plan;
    tk_task_fn fn;
    const void *args;
    bool always;
} chunk_args;

static void run_chunk(const void *args, int64_t lo, int64_t hi)
{
    const chunk_args *a = args;
    const tk_plan *p = a->plan;
    for (int64_t k = lo; k < hi && (a->always || tk_rt_goes_on(a->s)); k++) {
        const int64_t from = k * p->chunk, to = p->n - from < p->chunk ? p->n : from + p->chunk;
        a->fn(a->args, from, to);
    }
}

void tk_rt_run_chunks(tk_session *s, const tk_plan *p, double work, tk_task_fn fn, const void *args, bool always)
{
    const chunk_args a = {s, p, fn, args, always};
    tk_rt_for(s, &(rt_loop){p->nchunks, work, fn, run_chunk, &a, NULL});
}

void tk_rt_run_either(tk_session *s, const tk_plan *p, double work, tk_task_fn fn, tk_task_fn serial, const void *args)
{
    const chunk_args a = {s, p, fn, args, false}, one = {s, p, serial, args, false};
    tk_rt_for(s, &(rt_loop){p->nchunks, work, fn, run_chunk, &a, &one});
}

tk_status tk_rt_too_many(tk_session *s)
{
    return tk_fail(s, TK_BAD_ARGUMENT, "a parallel loop of more iterations than an int64_t counts");
}

tk_status tk_run(tk_session *s, const tk_plan *p, tk_task_fn fn, const void *args)
{
    if (p->n == INT64_MAX)
        return tk_rt_too_many(s);
    tk_rt_watch_loop(s, true);
    tk_rt_run_chunks(s, p, tk_rt_work(s, p), fn, args, false);
    tk_rt_watch_loop(s, false);
    return tk_session_status(s);
}

/* ---- stages ---- */

enum { CHUNKS_PER_THREAD = 4 };

/* Slabs are taken in blocks. Block k of the last stage follows block k + lag of the others; a chunk is a range of
 * blocks. What of the last stage waits for the next chunk is left to the end. */
typedef struct staged {
    tk_session *s;
    const tk_stage *stages;
    int last;      /* stage */
    int64_t block; /* slabs */
    int64_t nblocks, lag, nchunks;
    int64_t behind; /* slabs of the last stage that follow all of the others */
} staged;

static void run_block(const staged *g, int stage, int64_t k)
{
    const tk_stage *t = &g->stages[stage];
    const int64_t slabs = t->slabs - (stage == g->last ? g->behind : 0);
    const int64_t from = k * g->block, to = slabs - from < g->block ? slabs : from + g->block;
    if (t->slab > 0 && from < to && tk_rt_goes_on(g->s))
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

/* What goes around the end. */
static void run_behind(const staged *g)
{
    const tk_stage *t = &g->stages[g->last];
    const int64_t from = t->slabs < g->behind ? 0 : t->slabs - g->behind;
    if (t->slab > 0 && from < t->slabs && tk_rt_goes_on(g->s))
        t->fn(t->args, from * t->slab, t->slabs * t->slab);
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
        tk_rt_watch_loop(s, true);
        const tk_plan all = {stages[k].slabs * stages[k].slab, stages[k].slabs * stages[k].slab,
                             stages[k].slabs * stages[k].slab > 0, 1};
        tk_rt_run_chunks(s, &all, 0, stages[k].fn, stages[k].args, false);
        tk_rt_watch_loop(s, false);
    }
}

tk_status tk_run_stages(tk_session *s, const tk_stage *stages, int nstages, int64_t cost)
{
    for (int k = 0; k < nstages; k++)
        if (tk_extents(stages[k].slabs, stages[k].slab) == INT64_MAX)
            return tk_rt_too_many(s);
    if (s->watch.serial) {
        run_apart(s, stages, nstages);
        return tk_session_status(s);
    }
    staged g = {.s = s, .stages = stages, .last = nstages - 1};
    int64_t slabs = 0, slab = 1, lag = 0;
    for (int k = 0; k < nstages; k++) {
        const int64_t more = stages[k].slabs - stages[g.last].slabs + stages[k].around;
        lag = more > lag ? more : lag;
        slabs = stages[k].slabs > slabs ? stages[k].slabs : slabs;
        slab = stages[k].slab > slab ? stages[k].slab : slab;
        g.behind = stages[k].around > g.behind ? stages[k].around : g.behind;
    }
    g.block = least_iterations(cost) / slab + 1;
    g.nblocks = slabs / g.block + (slabs % g.block != 0);
    g.lag = (lag + g.block - 1) / g.block;
    const double slab_cost = (double)slab * (double)cost;
    const double work = (double)slabs * slab_cost;
    const bool parallel = s->threads > 1 && g.nblocks > 1 && work >= MIN_PARALLEL;
    g.nchunks = !parallel ? 1 : g.nblocks < s->threads * CHUNKS_PER_THREAD ? g.nblocks : s->threads * CHUNKS_PER_THREAD;
    if (g.nblocks > 0) {
        /* worth less: threads are awake behind the loop above */
        const double left = (double)(g.nchunks - 1) * (double)(g.lag * g.block) * slab_cost;
        tk_rt_for(s, &(rt_loop){g.nchunks, parallel ? work : 0, stages[0].fn, run_stages_chunk, &g, NULL});
        tk_rt_for(
            s, &(rt_loop){g.nchunks - 1, left >= MIN_PARALLEL / 4 ? left : 0, stages[g.last].fn, run_left, &g, NULL});
        if (g.behind > 0)
            run_behind(&g);
    }
    return tk_session_status(s);
}
