/* Launches for computed matrices: their arrays, and the values. */
#include "sparse.h"
#include "states.h"

/* ---- the arrays of the active planes ---- */

static tk_scalar scalar_of(const rt_coloured *own, int i)
{
    return own->sets ? TK_I64 : own->m->fields[own->k->active[i].field].desc->elem;
}

/* Arrays of rows. */
static int row_arrays(const rt_coloured *own)
{
    return own->k->hessian ? own->k->nby : 1;
}

static size_t row_size(const rt_coloured *own)
{
    return tk_rt_scalar_bytes(own->sets ? TK_I64 : own->k->elem);
}

tk_status tk_rt_coloured_open(tk_coloured *run, rt_coloured *own)
{
    tk_session *s = own->m->session;
    const int n = own->k->nactive;
    own->sizes = tk_rt_alloc(s, (size_t)n * sizeof *own->sizes, true);
    own->memory = tk_rt_alloc(s, (size_t)n * sizeof *own->memory, true);
    bool ok = own->sizes && own->memory;
    for (int i = 0; ok && i < n; i++) {
        const size_t count = tk_rt_scalars(&own->m->fields[own->k->active[i].field]);
        own->sizes[i] = (int64_t)count;
        own->memory[i] = tk_rt_alloc(s, (count + 1) * tk_rt_scalar_bytes(scalar_of(own, i)), true);
        ok = own->memory[i] != NULL;
    }
    if (ok && row_arrays(own) > 1) {
        own->rows = tk_rt_alloc(s, (size_t)tk_rt_sparse_components(own->m, own->k, own->k->nby) * row_size(own) + 1,
                                false);
        ok = own->rows != NULL;
    }
    if (!ok)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the matrix of '%s'", own->k->name);
    run->sizes = own->sizes;
    run->memory = own->memory;
    run->own = own;
    return TK_OK;
}

void tk_rt_coloured_clear(const rt_coloured *own)
{
    for (int i = 0; i < own->k->nactive; i++)
        if (own->k->active[i].clear & (own->sets ? TK_CLEAR_SETS : TK_CLEAR_TANGENTS))
            memset(own->memory[i], 0, (size_t)own->sizes[i] * tk_rt_scalar_bytes(scalar_of(own, i)));
}

void tk_rt_coloured_close(rt_coloured *own)
{
    tk_session *s = own->m->session;
    for (int i = 0; own->memory && i < own->k->nactive; i++)
        tk_rt_free(s, own->memory[i]);
    tk_rt_free(s, own->memory);
    tk_rt_free(s, own->sizes);
    tk_rt_free(s, own->rows);
}

void *tk_rt_coloured_column(const rt_coloured *own, int i, int64_t *first)
{
    const tk_elements *k = own->k;
    int at = 0;
    while (k->active[at].field != k->by[i] || k->active[at].plane != TK_DATA)
        at++;
    *first = tk_rt_sparse_components(own->m, k, i);
    return own->memory[at];
}

/* The memory of all rows. */
static void **rows_of(rt_coloured *own)
{
    return row_arrays(own) > 1 ? &own->rows : &own->memory[own->k->nactive - 1];
}

const void *tk_rt_coloured_rows(const rt_coloured *own)
{
    const int n = row_arrays(own), first = own->k->nactive - n;
    if (n == 1)
        return own->memory[first];
    const size_t size = row_size(own);
    unsigned char *to = own->rows;
    for (int i = first; i < first + n; i++) {
        const size_t count = (size_t)own->sizes[i];
        if (own->sets || scalar_of(own, i) == own->k->elem)
            memcpy(to, own->memory[i], count * size);
        for (size_t c = 0; !own->sets && scalar_of(own, i) != own->k->elem && c < count; c++)
            ((double *)(void *)to)[c] = (double)((const float *)own->memory[i])[c];
        to += count * size;
    }
    return own->rows;
}

/* ---- values ---- */

typedef struct products {
    rt_coloured c; /* first */
    tk_sparse_run values;
    rt_elements *x;
    struct rt_state *before; /* what the kernel writes, as it was; NULL: nothing */
    int32_t colour;          /* of the launch */
    int component;
    int batch, ncolours;  /* colours of a batch; those whose tangents there are, fewer if all are */
    void **tangents;      /* of the rows, by colour in the batch and component */
    const int64_t *items; /* of a batch */
    bool deterministic;   /* of the session, before */
} products;

/* What the launches leave to the next one: data, and the gradient by the columns, as they were; other gradients zero.
 * Behind the last launch these are the host's again. */
enum { PUT_BACK = 1, LEFT = 2 };

static void want_written(const products *r)
{
    const tk_elements *k = r->c.k;
    for (int i = 0; i < k->nwritten; i++) {
        const tk_storage w = k->written[i];
        const bool own = w.plane == TK_DATA ? !k->replays : tk_rt_sparse_is_column(k, w.field);
        tk_rt_state_want(&r->c.m->fields[w.field], w.plane, NULL, own ? LEFT : PUT_BACK);
    }
}

static void clear_gradients(const products *r)
{
    const tk_elements *k = r->c.k;
    for (int i = 0; i < k->nwritten; i++)
        if (k->written[i].plane != TK_DATA && !tk_rt_sparse_is_column(k, k->written[i].field))
            tk_rt_clear_plane(&r->c.m->fields[k->written[i].field], k->written[i].plane);
}

#define INLINE static inline __attribute__((always_inline))

/* The tangents of n columns of `width` components: 1 for this component of the columns of the colour, else 0. */
#define SEED(type) \
    INLINE void seed_##type(const products *r, type *to, const int32_t *colour, int64_t n, int width) \
    { \
        for (int64_t j = 0; j < n; j++) \
            for (int c = 0; c < width; c++) \
                to[j * width + c] = (type)((colour[j] == r->colour) & (c == r->component)); \
    }
SEED(float)
SEED(double)

static void seed(const products *r)
{
    const int width = r->values.p->block_cols;
    tk_rt_coloured_clear(&r->c);
    for (int i = 0; i < r->c.k->nby; i++) {
        const tk_field *f = tk_rt_sparse_field(r->c.m, r->c.k, i);
        const int64_t n = (int64_t)tk_rt_scalars(f) / width;
        int64_t first;
        void *const to = tk_rt_coloured_column(&r->c, i, &first);
        const int32_t *colour = r->x->colour + first / width;
        if (f->desc->elem == TK_F32)
            seed_float(r, to, colour, n, width);
        else if (width == 1)
            seed_double(r, to, colour, n, 1);
        else
            seed_double(r, to, colour, n, width);
    }
}

/* Memory for the tangents of a batch; the first is what there is. */
static tk_status keep_tangents(products *r)
{
    tk_session *s = r->c.m->session;
    const int b = r->values.p->block_cols;
    r->batch = tk_rt_sparse_batch(r->values.p);
    r->ncolours = r->x->ncolours < r->batch ? r->x->ncolours : r->batch;
    const size_t n = (size_t)(r->ncolours * b),
                 bytes = (size_t)tk_rt_sparse_nrows(r->c.m, r->c.k) * (size_t)r->values.p->block_rows * row_size(&r->c);
    bool ok = (r->tangents = tk_rt_alloc(s, (n + 1) * sizeof *r->tangents, true)) != NULL;
    if (ok)
        r->tangents[0] = *rows_of(&r->c);
    for (size_t i = 1; ok && i < n; i++)
        ok = (r->tangents[i] = tk_rt_alloc(s, bytes + 1, true)) != NULL;
    return ok ? TK_OK : tk_fail(s, TK_NO_MEMORY, "out of memory for the matrix of '%s'", r->c.k->name);
}

tk_status tk_products_open(tk_module *m, const tk_elements *k, tk_sparse *p, void *values, size_t n, tk_coloured *run)
{
    tk_sparse_run checked;
    memset(run, 0, sizeof *run);
    tk_status st = tk_sparse_open(m, k, p, values, n, &checked);
    if (st != TK_OK)
        return st;
    tk_session *s = m->session;
    if (p->semidefinite)
        return tk_fail(s, TK_BAD_ARGUMENT,
                       "the matrix of '%s' is computed: it has no blocks of elements to project (tk_sparse_project); "
                       "shift its diagonal",
                       k->name);
    RT_ENTER(s, k->name, TK_BAD_STATE);
    products *r = tk_rt_alloc(s, sizeof *r, true);
    if (!r)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the matrix of '%s'", k->name);
    *r = (products){.c = {.m = m, .k = k}, .values = checked, .x = tk_rt_sparse_part(p, k)};
    run->own = &r->c;
    r->deterministic = s->opt.deterministic;
    s->opt.deterministic = true;
    st = tk_rt_sparse_colour(s, p, r->x);
    if (st == TK_OK)
        st = tk_rt_coloured_open(run, &r->c);
    if (st == TK_OK)
        st = keep_tangents(r);
    if (st != TK_OK)
        return st;
    seed(r);
    want_written(r);
    r->before = tk_rt_state_take(s, NULL);
    if (!r->before)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for a copy of what '%s' writes", k->name);
    clear_gradients(r);
    run->goes_on = true;
    return TK_OK;
}

/* A value gets the tangent of a component of a row. */
INLINE void add_entry(const products *r, int64_t at, const void *tangents, int64_t k, bool single)
{
    if (single)
        ((float *)r->values.values)[at] += ((const float *)tangents)[k];
    else
        ((double *)r->values.values)[at] += ((const double *)tangents)[k];
}

/* Line c of a row of blocks among the values, from its first block on. */
INLINE int64_t line_at(const tk_sparse *p, int64_t row, int c)
{
    const rt_row l = tk_rt_sparse_row(p, row, p->block_cols);
    return l.at + c * l.length + (p->hessian ? tk_rt_triangle(c) : 0);
}

/* What the product along a component of a colour gives. */
INLINE void add_item(const products *r, int64_t item, int seeded, const void *tangents, bool single)
{
    const tk_sparse *p = r->values.p;
    const rt_elements *x = r->x;
    const int b = p->block_cols, rows = p->block_rows;
    if (item >= 2 * x->n) { /* a diagonal block: its lower triangle */
        const int64_t row = item - 2 * x->n;
        for (int c = seeded; c < b; c++)
            add_entry(r, line_at(p, row, c) + tk_rt_sparse_row(p, row, b).length + seeded, tangents, row * rows + c,
                      single);
        return;
    }
    const int64_t e = item < x->n ? item : item - x->n, row = x->places[2 * e], at = b * tk_rt_sparse_offset(p, x, e);
    for (int c = 0; c < rows; c++)
        if (item < x->n)
            add_entry(r, line_at(p, row, c) + at + seeded, tangents, row * rows + c, single);
        else /* by its first vertex: a row of the block, from the row of the second one */
            add_entry(r, line_at(p, row, seeded) + at + c, tangents, x->places[2 * e + 1] * (int64_t)rows + c, single);
}

INLINE void add_items(const products *r, int64_t lo, int64_t hi, bool single)
{
    const int b = r->values.p->block_cols;
    for (int64_t i = lo; i < hi; i++)
        for (int seeded = 0; seeded < b; seeded++)
            add_item(r, r->items[i] / TK_BATCH, seeded, r->tangents[r->items[i] % TK_BATCH * b + seeded], single);
}

/* The same of a Jacobian of single numbers, with 32-bit starts. */
static void add_numbers(const products *r, int64_t lo, int64_t hi)
{
    const tk_sparse *const p = r->values.p;
    const rt_elements *const x = r->x;
    const int32_t *const starts = p->starts, *const places = x->places;
    double *const values = r->values.values;
    for (int64_t i = lo; i < hi; i++) {
        const uint64_t item = (uint64_t)r->items[i];
        const int64_t e = (int64_t)(item / TK_BATCH), row = places[2 * e];
        values[starts[row] + tk_rt_sparse_offset(p, x, e)] += ((const double *)r->tangents[item % TK_BATCH])[row];
    }
}

/* Each entry is that of one launch, so threads share them in any way. */
static void add_tangents(const void *args, int64_t lo, int64_t hi)
{
    const products *r = args;
    const tk_sparse *p = r->values.p;
    if (p->elem == TK_F64 && !p->hessian && p->block_rows == 1 && p->block_cols == 1 && !p->opt.wide && !p->graph.start)
        add_numbers(r, lo, hi);
    else if (p->elem == TK_F32)
        add_items(r, lo, hi, true);
    else
        add_items(r, lo, hi, false);
}

/* The tangents of a launch are there: adds those of a batch that is complete. */
static void take_tangents(products *r)
{
    tk_session *s = r->c.m->session;
    const int b = r->values.p->block_cols, batch = r->colour / r->batch;
    (void)tk_rt_coloured_rows(&r->c);
    if (++r->component == b) {
        r->component = 0;
        r->colour++;
        if (r->colour % r->batch == 0 || r->colour == r->x->ncolours) {
            const int64_t from = r->x->first[batch], n = r->x->first[batch + 1] - from;
            const tk_plan plan = tk_plan_make(n, 1, 16);
            r->items = r->x->of_batch + from;
            tk_rt_run_chunks(s, &plan, tk_rt_work(s, &plan), add_tangents, r, true);
        }
    }
    *rows_of(&r->c) = r->tangents[r->colour % r->batch % r->ncolours * b + r->component];
}

tk_status tk_products_next(tk_coloured *run)
{
    products *r = (products *)(void *)run->own;
    RT_ENTER(r->c.m->session, r->c.k->name, TK_BAD_STATE);
    if (r->ncolours > 0)
        take_tangents(r);
    run->goes_on = r->colour < r->x->ncolours;
    if (run->goes_on) {
        tk_rt_state_restore(r->before, 0);
        clear_gradients(r);
        seed(r);
    }
    return TK_OK;
}

static void free_tangents(products *r)
{
    tk_session *s = r->c.m->session;
    if (r->tangents)
        *rows_of(&r->c) = r->tangents[0];
    for (int i = 1; r->tangents && i < r->ncolours * r->values.p->block_cols; i++)
        tk_rt_free(s, r->tangents[i]);
    tk_rt_free(s, r->tangents);
}

tk_status tk_products_close(tk_coloured *run, tk_status ran)
{
    products *r = (products *)(void *)run->own;
    if (!r)
        return ran;
    tk_session *s = r->c.m->session;
    s->opt.deterministic = r->deterministic;
    tk_rt_state_restore(r->before, PUT_BACK);
    tk_rt_states_free(s, &r->before);
    free_tangents(r);
    tk_rt_coloured_close(&r->c);
    ran = tk_sparse_close(&r->values, ran);
    tk_rt_free(s, r);
    return ran;
}
