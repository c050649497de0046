/* Tasks that scatter: several iterations add into one element of a field, or of an array of the kernel.
 *
 * Private copies: the chunks are dealt in contiguous ranges to slots. The first slot adds into the field itself, each
 * other one into zeroed copies of the target planes, or of the slabs of them that the task adds to, which are then
 * added to the field in the order of the slots.
 */
#include "rt.h"

/* Copies may take this much memory, and at most this many bytes for each cycle of work. Zeroing and summing move them
 * at some 4 bytes a cycle, so this is up to twice the work itself; an atomic addition costs tens of cycles, more when
 * threads meet. */
static const double max_copy_bytes = 256.0 * 1024 * 1024;
enum { BYTES_PER_CYCLE = 8 };

/* An atomic addition against a plain one, whose cycles are in the plan's cost. */
#ifndef TK_ATOMIC_CYCLES /* tests make it nothing, so that small loops have threads that meet */
#define TK_ATOMIC_CYCLES 40
#endif

typedef struct scatter {
    tk_session *s;
    const tk_plan *plan;
    tk_task_fn fn;
    int slots;
    unsigned char *args; /* of the slots, args_stride apart */
    size_t args_stride;
    const tk_scatter_target *targets;
    int ntargets;
    unsigned char **copies; /* [slot * ntargets + target]: of the slab; slot 0 unused */
} scatter;

/* The components that a target may be added to. */
typedef struct slab {
    size_t first, count, size; /* size: of one, bytes */
} slab;

static slab slab_of(const tk_scatter_target *t)
{
    const tk_field *f = t->field;
    if (!f)
        return (slab){0, t->count > 0 ? (size_t)t->count : 0, t->elem == TK_F32 ? sizeof(float) : sizeof(double)};
    const size_t all = tk_rt_scalars(f), size = all ? tk_field_bytes(f) / all : 0;
    slab s = {0, all, size};
    for (int d = 0; d < t->fixed; d++) {
        s.count /= (size_t)f->shape[d];
        s.first += (size_t)t->at[d] * s.count;
    }
    return s;
}

/* Subscripts out of range belong to a task that never adds, as far as its program is right. */
static bool is_inside(const tk_scatter_target *t)
{
    for (int d = 0; d < t->fixed; d++)
        if (t->at[d] < 0 || t->at[d] >= t->field->shape[d])
            return false;
    return true;
}

static size_t target_bytes(const tk_scatter_target *t)
{
    const slab s = slab_of(t);
    return s.count * s.size;
}

static size_t lines(size_t bytes)
{
    return (bytes + 63u) & ~(size_t)63u;
}

static void run_slot(const void *args, int64_t lo, int64_t hi)
{
    const scatter *sc = args;
    const tk_plan *p = sc->plan;
    for (int64_t slot = lo; slot < hi; slot++) {
        for (int t = 0; t < sc->ntargets && slot > 0; t++)
            memset(sc->copies[slot * sc->ntargets + t], 0, target_bytes(&sc->targets[t]));
        const int64_t first = slot * p->nchunks / sc->slots, last = (slot + 1) * p->nchunks / sc->slots;
        for (int64_t k = first; k < last && tk_rt_goes_on(sc->s); k++) {
            const int64_t from = k * p->chunk, to = p->n - from < p->chunk ? p->n : from + p->chunk;
            sc->fn(sc->args + (size_t)slot * sc->args_stride, from, to);
        }
    }
}

/* ---- the sum ---- */

typedef struct sum {
    const scatter *sc;
    int target;
} sum;

#define ADD_TYPE(T, t, ADD) \
    static void add_##t(void *to, const void *from, int64_t lo, int64_t hi) \
    { \
        T *restrict const a = to; \
        const T *restrict const b = from; \
        for (int64_t i = lo; i < hi; i++) \
            a[i] = ADD; \
    }
ADD_TYPE(int8_t, i8, tk_add_i8(a[i], b[i]))
ADD_TYPE(int16_t, i16, tk_add_i16(a[i], b[i]))
ADD_TYPE(int32_t, i32, tk_add_i32(a[i], b[i]))
ADD_TYPE(int64_t, i64, tk_add_i64(a[i], b[i]))
ADD_TYPE(float, f32, a[i] + b[i])
ADD_TYPE(double, f64, a[i] + b[i])

typedef void (*add_fn)(void *to, const void *from, int64_t lo, int64_t hi);

/* NULL for a type that has no addition. */
static add_fn adder(tk_scalar t)
{
    switch (t) {
    case TK_BOOL:
        return NULL;
    case TK_I8:
    case TK_U8:
        return add_i8;
    case TK_I16:
    case TK_U16:
        return add_i16;
    case TK_I32:
    case TK_U32:
        return add_i32;
    case TK_I64:
    case TK_U64:
        return add_i64;
    case TK_F32:
        return add_f32;
    case TK_F64:
        return add_f64;
    }
    return NULL;
}

static void sum_range(const void *args, int64_t lo, int64_t hi)
{
    enum { BLOCK = 2048 }; /* stays in the first-level cache while the copies are added one after the other */
    const sum *a = args;
    const scatter *sc = a->sc;
    const tk_scatter_target *t = &sc->targets[a->target];
    const add_fn add = adder(t->field ? t->field->desc->elem : t->elem);
    const slab to = slab_of(t);
    unsigned char *start;
    memcpy(&start, sc->args + t->offset, sizeof start); /* the first slot adds into the target itself */
    start += to.first * to.size;
    for (int64_t at = lo; at < hi; at += BLOCK) {
        const int64_t end = hi - at < BLOCK ? hi : at + BLOCK;
        for (int slot = 1; slot < sc->slots; slot++)
            add(start, sc->copies[slot * sc->ntargets + a->target], at, end);
    }
}

/* ---- choosing ---- */

static double copies_bytes(const tk_scatter_target *targets, int ntargets, int slots)
{
    double bytes = 0;
    for (int t = 0; t < ntargets; t++)
        bytes += (double)target_bytes(&targets[t]);
    return bytes * (slots - 1);
}

static bool copies_pay(const tk_plan *p, const tk_scatter_target *targets, int ntargets, int slots)
{
    for (int t = 0; t < ntargets; t++)
        if (targets[t].shared ||
            !is_inside(&targets[t])) /* what the task reads or stores there would not be in the copy */
            return false;
    const double bytes = copies_bytes(targets, ntargets, slots);
    return bytes <= max_copy_bytes && bytes <= BYTES_PER_CYCLE * (double)p->n * (double)p->cost;
}

/* So many threads with atomic additions are faster than one without. */
static bool atomics_pay(const tk_plan *p, const tk_scatter_target *targets, int ntargets, int threads)
{
    double adds = 0;
    for (int t = 0; t < ntargets; t++)
        adds += (double)targets[t].adds;
    return (double)p->cost + TK_ATOMIC_CYCLES * adds < (double)p->cost * threads;
}

/* A copy of a slab, and in *base what stands for the plane's first component: usually outside of the copy's memory, so
 * it is a number here. Where there are no such low addresses, the memory begins with what is not needed. */
static unsigned char *copy_of(tk_session *s, const tk_scatter_target *t, uintptr_t *base)
{
    const slab part = slab_of(t);
    const size_t before = part.first * part.size, bytes = part.count * part.size;
    unsigned char *copy = tk_scratch(s, bytes);
    if (copy && (uintptr_t)copy < before) {
        copy = tk_scratch(s, before + bytes);
        copy = copy ? copy + before : NULL;
    }
    *base = (uintptr_t)copy - before;
    return copy;
}

/* Scratch memory for arguments and copies; false after failing the session. */
static bool prepare(tk_session *s, scatter *sc, const void *args, size_t args_size)
{
    const size_t slots = (size_t)sc->slots, ntargets = (size_t)sc->ntargets;
    sc->args_stride = lines(args_size);
    sc->args = tk_scratch(s, slots * sc->args_stride);
    sc->copies = tk_scratch(s, slots * ntargets * sizeof *sc->copies);
    if (!sc->args || !sc->copies)
        return false;
    for (size_t slot = 0; slot < slots; slot++) {
        unsigned char *const own = sc->args + slot * sc->args_stride;
        memcpy(own, args, args_size);
        for (size_t t = 0; t < ntargets && slot > 0; t++) {
            uintptr_t base;
            unsigned char *copy = copy_of(s, &sc->targets[t], &base);
            if (!copy)
                return false;
            sc->copies[slot * ntargets + t] = copy;
            memcpy(own + sc->targets[t].offset, &base, sizeof base);
        }
    }
    return true;
}

static tk_status run_private(tk_session *s, scatter *sc, const void *args, size_t args_size)
{
    const tk_mark mark = tk_scratch_mark(s);
    if (prepare(s, sc, args, args_size)) {
        tk_rt_for(s, &(rt_loop){sc->slots, tk_rt_work(s, sc->plan), sc->fn, run_slot, sc, NULL});
        for (int t = 0; t < sc->ntargets && !tk_failed(s); t++) {
            const sum a = {sc, t};
            const tk_plan p = tk_plan_make((int64_t)slab_of(&sc->targets[t]).count, 1, sc->slots);
            tk_rt_run_chunks(s, &p, tk_rt_work(s, &p), sum_range, &a, false);
        }
    }
    tk_scratch_reset(s, mark);
    return tk_session_status(s);
}

static tk_status run_serial(tk_session *s, const tk_plan *p, tk_task_fn plain, const void *args)
{
    tk_rt_watch_loop(s, true);
    tk_rt_run_chunks(s, p, 0, plain, args, false);
    tk_rt_watch_loop(s, false);
    return tk_session_status(s);
}

tk_status tk_run_scatter(tk_session *s, const tk_plan *p, tk_task_fn plain, tk_task_fn atomic, const void *args,
                         size_t args_size, const tk_scatter_target *targets, int ntargets)
{
    for (int t = 0; t < ntargets; t++)
        if (targets[t].field && (!adder(targets[t].field->desc->elem) || !targets[t].field->plane[targets[t].plane]))
            return tk_fail(s, TK_MISMATCH, "field '%s' cannot be scattered into", targets[t].field->desc->name);
    if (p->n == INT64_MAX)
        return tk_rt_too_many(s);
    /* fixed: the plan alone decides. A launch that runs again has the same bits; with a fixed number of slots, they are
     * the same for any number of threads */
    const bool fixed = s->opt.deterministic || (s->tape.open && s->tape.budget);
    int slots = s->opt.deterministic ? RT_FIXED_SLOTS : s->threads;
    if (slots > p->nchunks)
        slots = (int)p->nchunks;
    bool aligned = true; /* atomic operations do not work elsewhere */
    for (int t = 0; t < ntargets; t++)
        aligned = aligned && (!targets[t].field || tk_rt_is_aligned(targets[t].field, targets[t].plane));
    if (!aligned || slots <= 1 || s->in_parallel || s->watch.serial || (!fixed && tk_rt_work(s, p) <= 0))
        return run_serial(s, p, plain, args);
    if (copies_pay(p, targets, ntargets, slots)) {
        scatter sc = {s, p, plain, slots, NULL, 0, targets, ntargets, NULL};
        return run_private(s, &sc, args, args_size);
    }
    if (fixed || !atomics_pay(p, targets, ntargets, slots))
        return run_serial(s, p, plain, args);
    tk_rt_run_either(s, p, tk_rt_work(s, p), atomic, plain, args);
    return tk_session_status(s);
}
