/* The elements of a sweep, batch after batch: a launch stores them in the stage, and threads add them to the matrix,
 * the gradient and the energy.
 *
 * Threads own rows. Each goes through all elements of the batch, and adds what belongs to its own rows: a value is the
 * sum of its elements in their order, and its bits do not depend on threads or batches. The places are those of the
 * pattern, so that other subscripts of today do no harm. */
#include "sparse.h"

/* Elements of a batch: their numbers stay in the second-level cache of a thread, and threads have enough to do. */
enum { STAGE_BYTES = 160 * 1024, SHARED_ELEMENTS = 8192, LEAST_ELEMENTS = 32 };
/* Neighbouring rows of blocks have one owner, 1 << ROW_GROUP of them. */
enum { ROW_GROUP = RT_ALL_THREADS ? 0 : 6, SUMMED = 256 };

/* ---- the stage ---- */

static int64_t numbers_of(const tk_sparse_run *run)
{
    const tk_sparse *p = run->p;
    const int64_t n = (int64_t)(run->k->width - !run->k->hessian) * p->block_cols;
    bool grad = false;
    for (int i = 0; i < run->k->nby; i++)
        grad |= (tk_rt_sparse_field(run->m, run->k, i)->desc->flags & TK_FIELD_GRAD) != 0;
    return !run->k->hessian ? n * p->block_rows : tk_rt_triangle(n) + (grad ? n : 0);
}

static int64_t batch_of(const tk_sparse_run *run, int64_t numbers)
{
    const int threads = run->m->session->threads;
    int64_t n = STAGE_BYTES / (numbers * (int64_t)tk_rt_scalar_bytes(run->p->elem));
    if (RT_ALL_THREADS)
        return 3;
    if (threads > 1)
        n = n * threads > SHARED_ELEMENTS ? n * threads : SHARED_ELEMENTS;
    return n > LEAST_ELEMENTS ? n : LEAST_ELEMENTS;
}

/* Numbers of one kind stand `room` apart: an odd number of lines of the cache, so that they do not share its sets. */
static int64_t odd_lines(int64_t room)
{
    enum { LINE = 8 };
    return RT_ALL_THREADS ? room : ((room + LINE - 1) / LINE * LINE) | LINE;
}

static size_t stage_bytes(const tk_sparse_run *run)
{
    return (size_t)(run->numbers * run->room) * tk_rt_scalar_bytes(run->p->elem);
}

static tk_status no_memory(const tk_sparse_run *run)
{
    return tk_fail(run->m->session, TK_NO_MEMORY, "out of memory for the elements of '%s'", run->k->name);
}

static tk_status make_stage(tk_sparse_run *run, int64_t room, int64_t numbers)
{
    tk_session *s = run->m->session;
    tk_rt_free(s, run->stage);
    tk_rt_free(s, run->energies);
    run->energies = NULL;
    run->room = odd_lines(room);
    const bool fits = run->room < INT64_MAX / 16 / numbers;
    run->numbers = numbers;
    run->stage = fits ? tk_rt_alloc(s, stage_bytes(run), true) : NULL;
    if (run->stage && run->k->hessian)
        run->energies = tk_rt_alloc(s, (size_t)run->room * sizeof(double), true);
    if (!run->stage || (run->k->hessian && !run->energies))
        return no_memory(run);
    return TK_OK;
}

/* ---- the energy: sums of SUMMED elements each, then their sum, so that batches do not change it ---- */

static void sum_energies(tk_sparse_run *run, int64_t n)
{
    const bool single = run->m->fields[run->k->to].desc->elem == TK_F32;
    const int64_t last = tk_rt_sparse_part(run->p, run->k)->n - 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t e = run->from + i;
        run->sums[e & 7] += single ? (double)((const float *)run->energies)[i] : ((const double *)run->energies)[i];
        if (e % SUMMED == SUMMED - 1 || e == last)
            for (int k = 0; k < 8; k++) {
                run->energy += run->sums[k];
                run->sums[k] = 0;
            }
    }
}

/* ---- addition ---- */

/* The gradient of a field of the columns: of blocks `first` to end - 1. */
typedef struct gradient {
    const tk_field *f;
    int64_t first, end;
    bool dense; /* in order, aligned, and of the type of the values */
} gradient;

typedef struct scatter {
    const tk_sparse *p;
    const rt_elements *x;
    int64_t from, n, room;
    const void *stage;
    void *values;
    const gradient *grads; /* one for each field; NULL: none has a gradient */
    uint64_t owners;
} scatter;

#define INLINE static inline __attribute__((always_inline))
/* Loops over a block of a size that is known. */
#define UNROLL _Pragma("GCC unroll 3")

INLINE void add_one(void *to, int64_t at, const void *from, int64_t k, bool single)
{
    if (single)
        ((float *)to)[at] += ((const float *)from)[k];
    else
        ((double *)to)[at] += ((const double *)from)[k];
}

INLINE bool owns(const scatter *sc, uint64_t owner, int32_t row)
{
    const uint32_t group = (uint32_t)row >> ROW_GROUP;
    return sc->owners == 1 || ((uint64_t)(group * 0x9E3779B1u) * sc->owners) >> 32 == owner;
}

/* Fields with gaps may lack the alignment of floats. */
static void add_apart(const tk_field *f, int64_t k, double x)
{
    const int n = f->desc->ncomp;
    void *const to = tk_rt_component(f, TK_GRAD, tk_rt_number(f, k / n, k % n));
    if (f->desc->elem == TK_F32) {
        float sum;
        memcpy(&sum, to, sizeof sum);
        sum += (float)x;
        memcpy(to, &sum, sizeof sum);
    } else {
        double sum;
        memcpy(&sum, to, sizeof sum);
        sum += x;
        memcpy(to, &sum, sizeof sum);
    }
}

/* The gradient at a component of a vertex. */
INLINE void add_gradient(const scatter *sc, int32_t vertex, int c, int b, int64_t at, bool single)
{
    const gradient *g = sc->grads;
    while (vertex >= g->end)
        g++;
    const int64_t k = (vertex - g->first) * b + c;
    if (g->dense)
        add_one(g->f->plane[TK_GRAD], k, sc->stage, at, single);
    else if (g->f->plane[TK_GRAD])
        add_apart(g->f, k, single ? (double)((const float *)sc->stage)[at] : ((const double *)sc->stage)[at]);
}

INLINE int64_t at_row(rt_row l, int r)
{
    return l.at + r * l.length + tk_rt_triangle(r);
}

/* The rows of a vertex in the stage, of one element: the first, and how far the next is, but for what row r has more.
 */
typedef struct rows {
    int64_t at, step;
} rows;

INLINE rows rows_of(const scatter *sc, int i, int64_t e, int b)
{
    return (rows){tk_rt_triangle(i * b) * sc->room + e, (int64_t)i * b * sc->room};
}

INLINE int64_t from_row(const scatter *sc, rows f, int r)
{
    return f.at + r * f.step + tk_rt_triangle(r) * sc->room;
}

/* Vertex i of element e: its diagonal block, and its gradient, which begins at `grad`. */
INLINE void add_vertex(const scatter *sc, int32_t vertex, rows f, int64_t grad, int b, bool single)
{
    const rt_row l = tk_rt_sparse_row(sc->p, vertex, b);
    UNROLL for (int r = 0; r < b; r++)
    {
        const int64_t to = at_row(l, r) + l.length, from = from_row(sc, f, r) + f.step;
        UNROLL for (int c = 0; c <= r; c++) add_one(sc->values, to + c, sc->stage, from + c * sc->room, single);
        if (sc->grads)
            add_gradient(sc, vertex, r, b, grad + f.step + r * sc->room, single);
    }
}

/* The block of two vertices that are one: each entry is added to the diagonal block with its mirror image. */
INLINE void add_equal(const scatter *sc, rt_row l, rows f, int b, bool single)
{
    UNROLL for (int r = 0; r < b; r++) UNROLL for (int c = 0; c < b; c++)
    {
        const int row = r > c ? r : c;
        const int64_t from = from_row(sc, f, r) + c * sc->room, to = at_row(l, row) + l.length + r + c - row;
        add_one(sc->values, to, sc->stage, from, single);
        if (r == c)
            add_one(sc->values, to, sc->stage, from, single);
    }
}

/* The block of two vertices, which begins at f, in the row of the vertex with the higher number. */
INLINE void add_pair(const scatter *sc, int32_t v, int32_t w, int64_t offset, rows f, int b, bool single)
{
    const rt_row l = tk_rt_sparse_row(sc->p, v > w ? v : w, b);
    if (v == w) {
        add_equal(sc, l, f, b, single);
    } else if (v > w) {
        UNROLL for (int r = 0; r < b; r++)
        {
            const int64_t to = at_row(l, r) + offset * b, from = from_row(sc, f, r);
            UNROLL for (int c = 0; c < b; c++) add_one(sc->values, to + c, sc->stage, from + c * sc->room, single);
        }
    } else {
        UNROLL for (int r = 0; r < b; r++)
        {
            const int64_t from = from_row(sc, f, r);
            UNROLL for (int c = 0; c < b; c++)
                add_one(sc->values, at_row(l, c) + offset * b + r, sc->stage, from + c * sc->room, single);
        }
    }
}

INLINE void add_hessians(const scatter *sc, uint64_t owner, int b, bool single, bool wide)
{
    const int width = sc->x->k->width;
    const uint8_t *const narrow_at = sc->x->offsets;
    const uint32_t *const wide_at = sc->x->offsets;
    const int64_t grad = tk_rt_triangle(width * b) * sc->room, step = b * sc->room;
    for (int64_t e = 0; e < sc->n; e++) {
        const int32_t *v = sc->x->places + (sc->from + e) * width;
        int64_t pair = (sc->from + e) * sc->x->pairs;
        for (int i = 0; i < width && v[i] >= 0; i++) {
            rows f = rows_of(sc, i, e, b);
            if (owns(sc, owner, v[i]))
                add_vertex(sc, v[i], f, grad + e, b, single);
            for (int j = 0; j < i; j++, pair++, f.at += step)
                if (owns(sc, owner, v[i] > v[j] ? v[i] : v[j]))
                    add_pair(sc, v[i], v[j], wide ? wide_at[pair] : narrow_at[pair], f, b, single);
        }
    }
}

INLINE void add_jacobians(const scatter *sc, uint64_t owner, int b, bool single)
{
    const tk_sparse *p = sc->p;
    const int width = sc->x->k->width, ncols = (width - 1) * b;
    for (int64_t e = 0; e < sc->n; e++) {
        const int32_t *v = sc->x->places + (sc->from + e) * width;
        if (!owns(sc, owner, v[0]))
            continue;
        const rt_row l = tk_rt_sparse_row(p, v[0], b);
        for (int i = 1; i < width && v[i] >= 0; i++) {
            const int64_t at = l.at + b * tk_rt_sparse_offset(p, sc->x, (sc->from + e) * sc->x->pairs + i - 1);
            UNROLL for (int r = 0; r < p->block_rows; r++) UNROLL for (int c = 0; c < b; c++) add_one(
                sc->values, at + r * l.length + c, sc->stage, (r * ncols + (i - 1) * b + c) * sc->room + e, single);
        }
    }
}

INLINE void add_elements(const scatter *sc, uint64_t owner, int b, bool single)
{
    if (sc->p->hessian && sc->p->wide_rows)
        add_hessians(sc, owner, b, single, true);
    else if (sc->p->hessian)
        add_hessians(sc, owner, b, single, false);
    else
        add_jacobians(sc, owner, b, single);
}

/* Common sizes of blocks are constants. */
INLINE void add_sized(const scatter *sc, uint64_t owner, bool single)
{
    switch (sc->p->block_cols) {
    case 1:
        add_elements(sc, owner, 1, single);
        return;
    case 2:
        add_elements(sc, owner, 2, single);
        return;
    case 3:
        add_elements(sc, owner, 3, single);
        return;
    default:
        add_elements(sc, owner, sc->p->block_cols, single);
    }
}

static void add_owned(const void *args, int64_t lo, int64_t hi)
{
    const scatter *sc = args;
    for (int64_t owner = lo; owner < hi && owner < (int64_t)sc->owners; owner++)
        if (sc->p->elem == TK_F32)
            add_sized(sc, (uint64_t)owner, true);
        else
            add_sized(sc, (uint64_t)owner, false);
}

/* Returns whether any field has a gradient. */
static bool find_gradients(const tk_sparse_run *run, gradient *to)
{
    const tk_elements *k = run->k;
    bool any = false;
    int64_t end = 0;
    for (int i = 0; i < k->nby && k->hessian; i++) {
        const tk_field *f = tk_rt_sparse_field(run->m, k, i);
        const bool has = f->plane[TK_GRAD] != NULL;
        to[i] = (gradient){f, end, end + (int64_t)tk_rt_scalars(f) / k->block, false};
        to[i].dense = has && f->desc->elem == run->p->elem && tk_rt_is_row_major(f, TK_GRAD) &&
                      tk_rt_is_aligned(f, TK_GRAD);
        end = to[i].end;
        any |= has;
    }
    return any;
}

static tk_status add_batch(tk_sparse_run *run, const rt_elements *x, int64_t n, int64_t numbers)
{
    tk_session *s = run->m->session;
    gradient one, *grads = run->k->nby == 1 ? &one : tk_rt_alloc(s, (size_t)run->k->nby * sizeof *grads, true);
    if (!grads)
        return no_memory(run);
    const bool any = find_gradients(run, grads);
    const scatter sc = {run->p, x, run->from, n, run->room, run->stage, run->values, any ? grads : NULL, 1};
    const tk_plan plan = tk_plan_make(n, 1, 2 * numbers);
    const double work = tk_rt_work(s, &plan);
    scatter shared = sc;
    shared.owners = work > 0 ? (uint64_t)s->threads : 1;
    tk_rt_for(s, &(rt_loop){(int64_t)shared.owners, work, add_owned, add_owned, &shared, &sc});
    if (grads != &one)
        tk_rt_free(s, grads);
    return TK_OK;
}

tk_status tk_sparse_add(tk_sparse_run *run)
{
    tk_session *s = run->m->session;
    RT_ENTER(s, run->k->name, TK_BAD_STATE);
    const rt_elements *x = tk_rt_sparse_part(run->p, run->k);
    const int64_t n = run->to - run->from, numbers = numbers_of(run);
    if (run->elements != x->n || n < 0 || n > run->room || run->to > x->n)
        return tk_rt_sparse_changed(run->m, run->k);
    if (n > 0 && run->k->hessian)
        sum_energies(run, n);
    if (n > 0 && run->p->semidefinite) {
        const tk_status projected = tk_rt_sparse_semidefinite(run, x, n);
        if (projected != TK_OK)
            return projected;
    }
    const tk_status st = n > 0 ? add_batch(run, x, n, numbers) : TK_OK;
    if (st != TK_OK)
        return st;
    if (n > 0 && run->p->semidefinite) /* numbers that no element has are zero again */
        memset(run->stage, 0, stage_bytes(run));
    run->from = run->to;
    run->goes_on = run->from < x->n;
    if (!run->goes_on || n > 0)
        return TK_OK;
    /* a row of a loop that does not fit takes more room */
    if (run->room >= x->n)
        return tk_rt_sparse_changed(run->m, run->k);
    return make_stage(run, run->room ? 2 * run->room : batch_of(run, numbers), numbers);
}
