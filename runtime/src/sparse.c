/* Sparse matrices of elements: patterns of kernels, and sweeps that add to their values. */
#include "sparse.h"

/* ---- patterns ---- */

rt_elements *tk_rt_sparse_part(const tk_sparse *p, const tk_elements *k)
{
    for (int i = 0; p && i < p->nparts; i++)
        if (p->parts[i].k == k)
            return &p->parts[i];
    return NULL;
}

static tk_sparse made_for(tk_module *m, const tk_elements *k, const tk_sparse_options *opt)
{
    return (tk_sparse){.opt = opt ? *opt : (tk_sparse_options){false},
                       .hessian = k->hessian,
                       .elem = k->elem,
                       .rows = tk_rt_sparse_nrows(m, k),
                       .cols = tk_rt_sparse_ncols(m, k),
                       .block_rows = tk_rt_sparse_block_rows(m, k),
                       .block_cols = k->block,
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

static tk_status no_memory(tk_session *s, const tk_elements *k)
{
    return tk_fail(s, TK_NO_MEMORY, "out of memory for the pattern of '%s'", k->name);
}

tk_status tk_rt_sparse_check(tk_module *m, const tk_elements *k, const tk_sparse_options *opt,
                             tk_sparse *const *pattern)
{
    if (!m || !m->session)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "the pattern of '%s': the module is NULL", k->name);
    tk_session *s = m->session;
    if (!pattern)
        return tk_fail(s, TK_BAD_ARGUMENT, "the pattern of '%s': the place for it is NULL", k->name);
    const tk_sparse own = made_for(m, k, opt);
    if (*pattern && (!same_shape(*pattern, &own) || (opt && !same_options(&(*pattern)->opt, opt))))
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s' has another shape or layout than the pattern given",
                       k->name);
    if (own.rows > INT32_MAX || own.cols > INT32_MAX)
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s' has more than 2147483647 rows or columns of blocks",
                       k->name);
    return TK_OK;
}

tk_status tk_sparse_begin(tk_module *m, const tk_elements *k, int64_t elements, const tk_sparse_options *opt,
                          tk_sparse **pattern, int64_t **places)
{
    *places = NULL;
    const tk_status st = tk_rt_sparse_check(m, k, opt, pattern);
    if (st != TK_OK)
        return st;
    const tk_sparse own = made_for(m, k, opt);
    *places = tk_rt_sparse_alloc(&own, elements < INT64_MAX / k->width ? elements * k->width : -1, sizeof **places);
    return *places ? TK_OK : no_memory(m->session, k);
}

static tk_sparse *create(const tk_sparse *like)
{
    tk_sparse *p = tk_rt_sparse_alloc(like, 0, sizeof *p);
    if (p)
        *p = *like;
    return p;
}

/* x / n, rounded down. */
static int64_t floor_of(int64_t x, int64_t n)
{
    return x / n - (x % n < 0);
}

/* The places are those of the launch; vertices become numbers of blocks of columns. */
static tk_status number_places(tk_module *m, const tk_elements *k, int64_t *places, int64_t n)
{
    for (int64_t at = 0; at < n * k->width; at++) {
        if (places[at] == INT64_MIN)
            continue;
        const bool row = !k->hessian && at % k->width == 0;
        const int64_t v = row ? places[at] : floor_of(places[at], k->nby);
        const int i = row ? 0 : (int)(places[at] - v * k->nby);
        const tk_field *f = row ? &m->fields[k->to] : tk_rt_sparse_field(m, k, i);
        const int64_t parts = row ? 1 : f->desc->ncomp / k->block;
        if (v < 0 || v >= f->count * parts)
            return tk_fail(
                m->session, TK_BAD_STATE, "iteration %lld of kernel '%s' takes element %lld of '%s', which has %lld",
                (long long)(at / k->width), k->name, (long long)floor_of(v, parts), f->desc->name, (long long)f->count);
        places[at] = row ? v : v + tk_rt_sparse_components(m, k, i) / k->block;
    }
    return TK_OK;
}

bool tk_rt_sparse_has(const tk_sparse *p, const tk_elements *k, const int64_t *places, int64_t n)
{
    const rt_elements *x = tk_rt_sparse_part(p, k);
    bool same = x && p->starts && x->n == n;
    for (int64_t i = 0; same && i < n * k->width; i++)
        same = places[i] == (x->places[i] < 0 ? INT64_MIN : x->places[i]);
    return same;
}

/* One more part, or other places of one that there is. */
static bool enter(tk_sparse *p, const tk_elements *k, const int64_t *places, int64_t n)
{
    int32_t *own = tk_rt_sparse_alloc(p, n * k->width, sizeof *own);
    rt_elements *x = tk_rt_sparse_part(p, k), *all = NULL;
    if (own && !x) {
        all = tk_rt_sparse_alloc(p, p->nparts + 1, sizeof *all);
        if (all && p->nparts)
            memcpy(all, p->parts, (size_t)p->nparts * sizeof *all);
    }
    if (!own || (!x && !all)) {
        tk_rt_block_free(own);
        return false;
    }
    if (!x) {
        tk_rt_block_free(p->parts);
        p->parts = all;
        x = &p->parts[p->nparts++];
    }
    for (int64_t i = 0; i < n * k->width; i++)
        own[i] = places[i] < 0 ? -1 : (int32_t)places[i];
    tk_rt_block_free(x->places);
    tk_rt_sparse_uncolour(x);
    x->k = k;
    x->n = n;
    x->places = own;
    x->pairs = p->hessian ? k->width * (k->width - 1) / 2 : k->width - 1;
    return true;
}

tk_status tk_sparse_end(tk_module *m, const tk_elements *k, tk_status ran, int64_t *places, int64_t elements,
                        const tk_sparse_options *opt, tk_sparse **pattern)
{
    tk_session *s = m->session;
    const tk_sparse own = made_for(m, k, opt);
    tk_status st = ran == TK_OK && !k->nactive ? number_places(m, k, places, elements) : ran;
    tk_sparse *p = *pattern;
    if (st == TK_OK && tk_rt_sparse_has(p, k, places, elements)) {
        tk_rt_block_free(places);
        return TK_OK;
    }
    if (st == TK_OK && !p)
        p = create(&own);
    if (st == TK_OK && (!p || !enter(p, k, places, elements)))
        st = no_memory(s, k);
    tk_rt_block_free(places);
    if (st == TK_OK) {
        st = tk_rt_sparse_build(s, p);
        if (st != TK_OK)
            tk_rt_sparse_clear(p);
    }
    if (st != TK_OK && p != *pattern)
        tk_sparse_free(p);
    else
        *pattern = p;
    return st;
}

void tk_sparse_free(tk_sparse *p)
{
    if (!p)
        return;
    tk_rt_sparse_clear(p);
    for (int i = 0; i < p->nparts; i++) {
        tk_rt_block_free(p->parts[i].places);
        tk_rt_sparse_uncolour(&p->parts[i]);
    }
    tk_rt_block_free(p->parts);
    tk_rt_block_free(p);
}

tk_status tk_sparse_project(tk_sparse *p, bool semidefinite)
{
    if (!p || !p->hessian)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_sparse_project: %s",
                                 p ? "the pattern is that of a Jacobian" : "the pattern is NULL");
    p->semidefinite = semidefinite;
    return TK_OK;
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
    if ((s->tape.open || s->forward.open) && !s->in_call)
        return tk_fail(
            s, TK_NO_DERIVATIVE,
            "the matrix of '%s' itself has no derivative, which the open %s needs: call '%s_%s' before or after",
            k->name, s->tape.open ? "tape" : "forward scope", k->name, k->hessian ? "hess" : "jac");
    if (!p || !values)
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s': the %s is NULL", k->name,
                       p ? "array of values" : "pattern");
    const rt_elements *x = tk_rt_sparse_part(p, k);
    const tk_sparse own = made_for(m, k, NULL);
    if (!x || !p->starts || !same_shape(p, &own))
        return tk_fail(s, TK_BAD_STATE, "the pattern is not one of '%s': call its function for the pattern first",
                       k->name);
    if (n < (size_t)p->count)
        return tk_fail(s, TK_BAD_ARGUMENT, "the matrix of '%s' has %lld values, and the array %zu", k->name,
                       (long long)p->count, n);
    if (p->source)
        memset(p->kept, 0, (size_t)p->nnz * tk_rt_scalar_bytes(p->elem));
    p->projected = 0;
    /* the first launch has no room: it counts the elements */
    *run = (tk_sparse_run){.m = m, .k = k, .p = p, .given = values, .goes_on = true};
    run->values = p->source ? p->kept : values;
    run->nplaces = x->n * k->width;
    return TK_OK;
}

tk_status tk_sparse_places(tk_sparse_run *run)
{
    run->places = tk_rt_sparse_alloc(run->p, run->nplaces, sizeof *run->places);
    return run->places ? TK_OK
                       : tk_fail(run->m->session, TK_NO_MEMORY, "out of memory for the places of '%s'", run->k->name);
}

tk_status tk_rt_sparse_changed(tk_module *m, const tk_elements *k)
{
    return tk_fail(m->session, TK_BAD_STATE,
                   "the elements of '%s' are not those of the pattern: call its function for the pattern again",
                   k->name);
}

tk_status tk_sparse_compare(const tk_sparse_run *run)
{
    const tk_status st = run->elements * run->k->width > run->nplaces
                             ? TK_OK
                             : number_places(run->m, run->k, run->places, run->elements);
    if (st != TK_OK)
        return st;
    return tk_rt_sparse_has(run->p, run->k, run->places, run->elements) ? TK_OK : tk_rt_sparse_changed(run->m, run->k);
}

typedef struct spread {
    const tk_sparse *p;
    void *values;
} spread;

#define SPREAD(T, t) \
    static void spread_##t(const void *args, int64_t lo, int64_t hi) \
    { \
        const spread *a = args; \
        T *const to = a->values; \
        const T *const from = (const T *)(const void *)a->p->kept; \
        for (int64_t i = lo; i < hi; i++) \
            to[i] += from[a->p->source[i]]; \
    }
SPREAD(float, f32)
SPREAD(double, f64)

static tk_status add_kept(const tk_sparse_run *run)
{
    tk_session *s = run->m->session;
    RT_ENTER(s, run->k->name, TK_BAD_STATE);
    const spread a = {run->p, run->given};
    const tk_plan plan = tk_plan_make(run->p->count, 1, 8);
    tk_rt_run_chunks(s, &plan, tk_rt_work(s, &plan), run->p->elem == TK_F32 ? spread_f32 : spread_f64, &a, true);
    return TK_OK;
}

static void add_energy(const tk_sparse_run *run)
{
    const tk_field *f = &run->m->fields[run->k->to];
    void *const at = tk_rt_component(f, TK_DATA, 0);
    if (f->desc->elem == TK_F32) {
        float x;
        memcpy(&x, at, sizeof x);
        x += (float)run->energy;
        memcpy(at, &x, sizeof x);
    } else {
        double x;
        memcpy(&x, at, sizeof x);
        x += run->energy;
        memcpy(at, &x, sizeof x);
    }
}

tk_status tk_sparse_close(tk_sparse_run *run, tk_status ran)
{
    tk_rt_block_free(run->places);
    if (!run->m)
        return ran;
    tk_rt_free(run->m->session, run->stage);
    tk_rt_free(run->m->session, run->energies);
    if (ran == TK_OK && run->p->source)
        ran = add_kept(run);
    if (ran == TK_OK && run->k->hessian && !run->k->nactive)
        add_energy(run);
    return ran;
}

/* ---- reading a pattern ---- */

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

size_t tk_sparse_projected(const tk_sparse *p)
{
    return p ? atomic_load(&p->projected) : 0;
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
