/* Sparse matrices of elements: patterns of kernels, and sweeps that add to their values. */
#include "sparse.h"

/* ---- patterns ---- */

static rt_elements *part_of(const tk_sparse *p, const tk_elements *k)
{
    for (int i = 0; p && i < p->nparts; i++)
        if (p->parts[i].k == k)
            return &p->parts[i];
    return NULL;
}

static int64_t elements_in(const tk_field *f)
{
    return (int64_t)tk_rt_scalars(f) / f->desc->ncomp;
}

static tk_sparse made_for(tk_module *m, const tk_elements *k, const tk_sparse_options *opt)
{
    const tk_field *by = &m->fields[k->by], *to = k->to < 0 ? by : &m->fields[k->to];
    return (tk_sparse){.opt = opt ? *opt : (tk_sparse_options){false},
                       .hessian = k->to < 0,
                       .elem = k->elem,
                       .rows = elements_in(to),
                       .cols = elements_in(by),
                       .block_rows = to->desc->ncomp,
                       .block_cols = by->desc->ncomp,
                       .hook = m->session->opt.alloc,
                       .user = m->session->opt.alloc_user};
}

static bool same_shape(const tk_sparse *p, const tk_sparse *q)
{
    return p->hessian == q->hessian && p->elem == q->elem && p->rows == q->rows && p->cols == q->cols &&
           p->block_rows == q->block_rows && p->block_cols == q->block_cols;
}

static bool same_options(const tk_sparse_options *a, const tk_sparse_options *b)
{
    return a->columns == b->columns && a->full == b->full && a->blocks == b->blocks && a->wide == b->wide;
}

tk_status tk_sparse_begin(tk_module *m, const tk_elements *k, int64_t elements, const tk_sparse_options *opt,
                          tk_sparse **pattern, int64_t **places)
{
    *places = NULL;
    if (!m || !m->session)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "the pattern of '%s': the module is NULL", k->name);
    tk_session *s = m->session;
    if (!pattern)
        return tk_fail(s, TK_BAD_ARGUMENT, "the pattern of '%s': the place for it is NULL", k->name);
    const tk_sparse own = made_for(m, k, opt);
    if (*pattern && (!same_shape(*pattern, &own) || (opt && !same_options(&(*pattern)->opt, opt))))
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s' has another shape or layout than the pattern given",
                       k->name);
    *places = tk_rt_sparse_alloc(&own, elements < INT64_MAX / k->width ? elements * k->width : -1, sizeof **places);
    return *places ? TK_OK : tk_fail(s, TK_NO_MEMORY, "out of memory for the pattern of '%s'", k->name);
}

static tk_sparse *create(tk_session *s, const tk_sparse *like)
{
    tk_sparse *p = tk_rt_sparse_alloc(like, 0, sizeof *p);
    if (p)
        *p = *like;
    else
        tk_fail(s, TK_NO_MEMORY, "out of memory for a pattern");
    return p;
}

/* One more part, or other places of one that there is. */
static bool enter(tk_sparse *p, const tk_elements *k, int64_t *places, int64_t elements)
{
    rt_elements *x = part_of(p, k);
    if (!x) {
        rt_elements *all = tk_rt_sparse_alloc(p, p->nparts + 1, sizeof *all);
        if (!all)
            return false;
        if (p->nparts)
            memcpy(all, p->parts, (size_t)p->nparts * sizeof *all);
        tk_rt_block_free(p->parts);
        p->parts = all;
        x = &p->parts[p->nparts++];
    }
    tk_rt_block_free(x->places);
    x->k = k;
    x->n = elements;
    x->places = places;
    return true;
}

tk_status tk_sparse_end(tk_module *m, const tk_elements *k, tk_status ran, int64_t *places, int64_t elements,
                        const tk_sparse_options *opt, tk_sparse **pattern)
{
    if (ran != TK_OK) {
        tk_rt_block_free(places);
        return ran;
    }
    tk_session *s = m->session;
    const tk_sparse own = made_for(m, k, opt);
    tk_sparse *p = *pattern ? *pattern : create(s, &own);
    if (!p || !enter(p, k, places, elements)) {
        tk_rt_block_free(places);
        if (!*pattern)
            tk_sparse_free(p);
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the pattern of '%s'", k->name);
    }
    const tk_status st = tk_rt_sparse_build(s, p);
    if (st == TK_OK) {
        *pattern = p;
        return TK_OK;
    }
    tk_rt_sparse_clear(p);
    if (!*pattern)
        tk_sparse_free(p);
    return st;
}

void tk_sparse_free(tk_sparse *p)
{
    if (!p)
        return;
    tk_rt_sparse_clear(p);
    for (int i = 0; i < p->nparts; i++)
        tk_rt_block_free(p->parts[i].places);
    tk_rt_block_free(p->parts);
    tk_rt_block_free(p);
}

/* ---- sweeps ---- */

tk_status tk_sparse_open(tk_module *m, const tk_elements *k, tk_sparse *p, void *values, size_t n, tk_sparse_run *run)
{
    memset(run, 0, sizeof *run);
    if (!m || !m->session)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "the matrix of '%s': the module is NULL", k->name);
    tk_session *s = m->session;
    const tk_status st = tk_session_status(s);
    if (st != TK_OK)
        return st;
    if (!p || !values)
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s': the %s is NULL", k->name,
                       p ? "array of values" : "pattern");
    const rt_elements *x = part_of(p, k);
    const tk_sparse own = made_for(m, k, NULL);
    if (!x || !p->starts || !same_shape(p, &own))
        return tk_fail(s, TK_BAD_STATE, "the pattern is not one of '%s': call its function for the pattern first",
                       k->name);
    if (n < (size_t)p->count)
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s' has %lld values, and the array %zu", k->name,
                       (long long)p->count, n);
    if (p->source)
        memset(p->kept, 0, (size_t)p->nnz * tk_rt_scalar_bytes(p->elem));
    *run = (tk_sparse_run){.values = p->source ? p->kept : values,
                           .nvalues = p->nnz,
                           .at = x->at,
                           .step = x->step,
                           .npairs = x->n * k->pairs,
                           .room = x->n * k->width};
    return TK_OK;
}

tk_status tk_sparse_look(tk_module *m, const tk_elements *k, const tk_sparse *p, tk_sparse_run *run)
{
    run->places = tk_rt_sparse_alloc(p, run->room, sizeof *run->places);
    return run->places ? TK_OK : tk_fail(m->session, TK_NO_MEMORY, "out of memory for the places of '%s'", k->name);
}

static tk_status changed(tk_module *m, const tk_elements *k)
{
    return tk_fail(m->session, TK_BAD_STATE,
                   "the elements of '%s' are not those of the pattern: call its function for the pattern again",
                   k->name);
}

tk_status tk_sparse_compare(tk_module *m, const tk_elements *k, const tk_sparse *p, const tk_sparse_run *run,
                            int64_t elements)
{
    const rt_elements *x = part_of(p, k);
    if (elements != x->n || memcmp(run->places, x->places, (size_t)run->room * sizeof *run->places) != 0)
        return changed(m, k);
    return TK_OK;
}

#define SPREAD(T, t) \
    static void spread_##t(const tk_sparse *p, void *values) \
    { \
        T *const to = values; \
        const T *const from = (const T *)(const void *)p->kept; \
        for (int64_t i = 0; i < p->count; i++) \
            to[i] += from[p->source[i]]; \
    }
SPREAD(float, f32)
SPREAD(double, f64)

tk_status tk_sparse_close(tk_module *m, const tk_elements *k, const tk_sparse *p, void *values, tk_sparse_run *run,
                          tk_status ran, int64_t elements)
{
    tk_rt_block_free(run->places);
    if (ran != TK_OK)
        return ran;
    if (elements != part_of(p, k)->n)
        return changed(m, k);
    if (p->source && p->elem == TK_F32)
        spread_f32(p, values);
    else if (p->source)
        spread_f64(p, values);
    return TK_OK;
}

/* ---- what the host asks ---- */

size_t tk_sparse_rows(const tk_sparse *p)
{
    return p ? (size_t)p->rows * (size_t)(p->opt.blocks ? 1 : p->block_rows) : 0;
}

size_t tk_sparse_cols(const tk_sparse *p)
{
    return p ? (size_t)p->cols * (size_t)(p->opt.blocks ? 1 : p->block_cols) : 0;
}

size_t tk_sparse_values(const tk_sparse *p)
{
    return p ? (size_t)p->count : 0;
}

const int32_t *tk_sparse_starts(const tk_sparse *p)
{
    return p && !p->opt.wide ? p->starts : NULL;
}

const int32_t *tk_sparse_indices(const tk_sparse *p)
{
    return p && !p->opt.wide ? p->indices : NULL;
}

const int64_t *tk_sparse_starts_wide(const tk_sparse *p)
{
    return p && p->opt.wide ? p->starts : NULL;
}

const int64_t *tk_sparse_indices_wide(const tk_sparse *p)
{
    return p && p->opt.wide ? p->indices : NULL;
}
