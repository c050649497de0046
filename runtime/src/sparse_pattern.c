/* The pattern of a sparse matrix, from the places of its elements. */
#include "sparse.h"

#include <stdlib.h>

void *tk_rt_sparse_alloc(const tk_sparse *p, int64_t n, size_t size)
{
    if (n < 0 || (uint64_t)n > SIZE_MAX / 2 / size - 1)
        return NULL;
    return tk_rt_block_alloc(p->hook, p->user, ((size_t)n + 1) * size, true);
}

static tk_status no_memory(tk_session *s)
{
    return tk_fail(s, TK_NO_MEMORY, "out of memory for the pattern of a sparse matrix");
}

/* ---- the graph of blocks ---- */

/* Calls fn for each block that an element of the part has, of a Hessian only left of the diagonal. */
typedef void (*block_fn)(rt_graph *g, int64_t row, int64_t col);

static void each_block(const tk_sparse *p, rt_graph *g, block_fn fn)
{
    for (int i = 0; i < p->nparts; i++) {
        const rt_elements *x = &p->parts[i];
        const int width = x->k->width;
        for (int64_t e = 0; e < x->n; e++) {
            const int64_t *v = x->places + e * width;
            for (int a = 0; a < width; a++)
                for (int b = p->hessian ? 0 : 1; b < width && (p->hessian || a == 0); b++)
                    if (v[b] >= 0 && (p->hessian ? v[a] > v[b] : true))
                        fn(g, v[a], v[b]);
        }
    }
}

static void count_block(rt_graph *g, int64_t row, int64_t col)
{
    (void)col;
    g->start[row + 1]++;
}

/* start[row] is where the next column goes. */
static void put_block(rt_graph *g, int64_t row, int64_t col)
{
    g->col[g->start[row]++] = col;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The columns of each row in order, each one once. Behind put_block start[i] is the end of row i. */
static void sort_rows(rt_graph *g)
{
    int64_t from = 0, to = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t end = g->start[i], first = to;
        qsort(g->col + from, (size_t)(end - from), sizeof *g->col, compare);
        for (int64_t k = from; k < end; k++)
            if (to == first || g->col[to - 1] != g->col[k])
                g->col[to++] = g->col[k];
        g->start[i] = first;
        from = end;
    }
    g->start[g->n] = to;
}

static bool make_graph(tk_sparse *p)
{
    rt_graph *g = &p->graph;
    g->n = p->rows;
    g->start = tk_rt_sparse_alloc(p, g->n + 1, sizeof *g->start);
    if (!g->start)
        return false;
    each_block(p, g, count_block);
    for (int64_t i = 0; i < g->n; i++)
        g->start[i + 1] += g->start[i];
    g->col = tk_rt_sparse_alloc(p, g->start[g->n], sizeof *g->col);
    if (!g->col)
        return false;
    each_block(p, g, put_block);
    sort_rows(g);
    return true;
}

/* ---- positions among the values of the kernels ---- */

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

/* Entries of a row of the block row in front of the diagonal block, or all. */
static int64_t length_of(const tk_sparse *p, int64_t row)
{
    return (p->graph.start[row + 1] - p->graph.start[row]) * p->block_cols;
}

static int64_t first_of(const tk_sparse *p, int64_t row)
{
    const int64_t whole = p->graph.start[row] * p->block_cols * p->block_rows;
    return p->hessian ? whole + row * triangle(p->block_rows) : whole;
}

/* Of the block's first entry in its first row. */
static int64_t block_at(const tk_sparse *p, int64_t row, int64_t col)
{
    if (p->hessian && row == col)
        return first_of(p, row) + length_of(p, row);
    int64_t lo = p->graph.start[row], hi = p->graph.start[row + 1];
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (p->graph.col[mid] <= col)
            lo = mid;
        else
            hi = mid;
    }
    return first_of(p, row) + (lo - p->graph.start[row]) * p->block_cols;
}

static int64_t entry_at(const tk_sparse *p, int64_t row, int64_t col)
{
    if (p->hessian && row < col)
        return entry_at(p, col, row);
    const int64_t block = row / p->block_rows, r = row % p->block_rows;
    return block_at(p, block, col / p->block_cols) + r * length_of(p, block) + (p->hessian ? triangle(r) : 0) +
           col % p->block_cols;
}

/* ---- maps: compiler/passes/derive/elements/sweep.c ---- */

static void map_pair(const tk_sparse *p, int64_t a, int64_t b, int64_t *at, int64_t *step)
{
    if (a < 0 || b < 0)
        return;
    const int64_t row = a > b ? a : b, block = block_at(p, row, a + b - row);
    *at = block;
    *step = b > a ? -length_of(p, row) : length_of(p, row);
}

static void map_element(const tk_sparse *p, const int64_t *v, int width, int64_t *at, int64_t *step)
{
    int pair = 0;
    for (int b = 0; b < width && p->hessian; b++)
        for (int a = 0; a <= b; a++, pair++) {
            map_pair(p, v[a], v[b], &at[pair], &step[pair]);
            if (a < b && v[a] == v[b])
                at[pair] = -1 - at[pair];
        }
    for (int b = 1; b < width && !p->hessian; b++)
        if (v[b] >= 0) {
            at[b - 1] = block_at(p, v[0], v[b]);
            step[b - 1] = length_of(p, v[0]);
        }
}

static bool make_maps(tk_sparse *p)
{
    for (int i = 0; i < p->nparts; i++) {
        rt_elements *x = &p->parts[i];
        const int width = x->k->width, pairs = x->k->pairs;
        x->at = tk_rt_sparse_alloc(p, x->n * pairs, sizeof *x->at);
        x->step = tk_rt_sparse_alloc(p, x->n * pairs, sizeof *x->step);
        if (!x->at || !x->step)
            return false;
        for (int64_t e = 0; e < x->n; e++)
            map_element(p, x->places + e * width, width, x->at + e * pairs, x->step + e * pairs);
    }
    return true;
}

/* ---- what the host sees ---- */

/* The blocks that rows, or columns, of the host's matrix have: of both triangles if it is full. */
static bool make_view(const tk_sparse *p, rt_graph *v)
{
    const rt_graph *g = &p->graph;
    const bool own = !p->opt.columns || (p->hessian && p->opt.full),
               other = p->opt.columns || (p->hessian && p->opt.full);
    v->n = p->opt.columns ? p->cols : p->rows;
    v->start = tk_rt_sparse_alloc(p, v->n + 1, sizeof *v->start);
    v->col = tk_rt_sparse_alloc(p, 2 * g->start[g->n] + p->rows, sizeof *v->col);
    if (!v->start || !v->col)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        const block_fn fn = pass ? put_block : count_block;
        for (int64_t i = 0; i < g->n; i++) {
            for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
                if (own)
                    fn(v, i, g->col[k]);
                if (other)
                    fn(v, g->col[k], i);
            }
            if (p->hessian)
                fn(v, i, i);
        }
        for (int64_t i = 0; i < v->n && !pass; i++)
            v->start[i + 1] += v->start[i];
    }
    sort_rows(v);
    return true;
}

/* One row or column of scalars, or of blocks. Writes nothing while there is no memory for it yet; returns the number of
 * values, in *indices of indices. */
typedef struct writer {
    tk_sparse *p;
    int64_t values, indices;
    bool count; /* only */
} writer;

static void add_index(writer *w, int64_t index)
{
    tk_sparse *p = w->p;
    if (!w->count && p->opt.wide)
        ((int64_t *)p->indices)[w->indices] = index;
    else if (!w->count)
        ((int32_t *)p->indices)[w->indices] = (int32_t)index;
    w->indices++;
}

static void add_value(writer *w, int64_t row, int64_t col)
{
    if (!w->count && w->p->source)
        w->p->source[w->values] = entry_at(w->p, row, col);
    w->values++;
}

static void write_block(writer *w, int64_t row, int64_t col)
{
    const tk_sparse *p = w->p;
    add_index(w, p->opt.columns ? row : col);
    for (int r = 0; r < p->block_rows; r++)
        for (int c = 0; c < p->block_cols; c++)
            add_value(w, row * p->block_rows + r, col * p->block_cols + c);
}

/* Entry k of row or column `line`, in the block with number `other`. */
static void write_line(writer *w, int64_t line, int64_t other)
{
    const tk_sparse *p = w->p;
    const int n = p->opt.columns ? p->block_rows : p->block_cols;
    for (int k = 0; k < n; k++) {
        const int64_t across = other * n + k, row = p->opt.columns ? across : line,
                      col = p->opt.columns ? line : across;
        if (p->hessian && !p->opt.full && row < col)
            continue;
        add_index(w, across);
        add_value(w, row, col);
    }
}

static void set_start(tk_sparse *p, int64_t i, int64_t at)
{
    if (p->opt.wide)
        ((int64_t *)p->starts)[i] = at;
    else
        ((int32_t *)p->starts)[i] = (int32_t)at;
}

static void write_all(writer *w, const rt_graph *v)
{
    tk_sparse *p = w->p;
    const int each = p->opt.blocks ? 1 : p->opt.columns ? p->block_cols : p->block_rows;
    for (int64_t i = 0; i < v->n; i++)
        for (int r = 0; r < each; r++) {
            if (!w->count)
                set_start(p, i * each + r, w->indices);
            for (int64_t k = v->start[i]; k < v->start[i + 1]; k++) {
                if (!p->opt.blocks)
                    write_line(w, i * each + r, v->col[k]);
                else if (p->opt.columns)
                    write_block(w, v->col[k], i);
                else
                    write_block(w, i, v->col[k]);
            }
        }
    p->outer = v->n * each;
    if (!w->count)
        set_start(p, p->outer, w->indices);
}

static tk_status show(tk_session *s, tk_sparse *p, const rt_graph *v)
{
    const size_t size = p->opt.wide ? sizeof(int64_t) : sizeof(int32_t);
    const bool same = !p->opt.columns && !p->opt.blocks && !(p->hessian && p->opt.full);
    writer w = {p, 0, 0, true};
    write_all(&w, v);
    if (!p->opt.wide && w.indices > INT32_MAX)
        return tk_fail(s, TK_BAD_ARGUMENT, "the sparse matrix has %lld entries: its indices need 64 bits (wide)",
                       (long long)w.indices);
    p->count = w.values;
    p->starts = tk_rt_sparse_alloc(p, p->outer + 1, size);
    p->indices = tk_rt_sparse_alloc(p, w.indices, size);
    p->source = same ? NULL : tk_rt_sparse_alloc(p, w.values, sizeof *p->source);
    p->kept = same ? NULL : tk_rt_sparse_alloc(p, p->nnz, tk_rt_scalar_bytes(p->elem));
    if (!p->starts || !p->indices || (!same && (!p->source || !p->kept)))
        return no_memory(s);
    w = (writer){p, 0, 0, false};
    write_all(&w, v);
    return TK_OK;
}

/* ---- all of it ---- */

static tk_status check_places(tk_session *s, const tk_sparse *p)
{
    for (int i = 0; i < p->nparts; i++) {
        const rt_elements *x = &p->parts[i];
        const int width = x->k->width;
        for (int64_t k = 0; k < x->n * width; k++) {
            const int64_t v = x->places[k], n = !p->hessian && k % width == 0 ? p->rows : p->cols;
            if (v != INT64_MIN && (v < 0 || v >= n))
                return tk_fail(s, TK_BAD_STATE, "element %lld of kernel '%s' has element %lld of a field that has %lld",
                               (long long)(k / width), x->k->name, (long long)v, (long long)n);
        }
    }
    return TK_OK;
}

tk_status tk_rt_sparse_build(tk_session *s, tk_sparse *p)
{
    tk_rt_sparse_clear(p);
    const tk_status st = check_places(s, p);
    if (st != TK_OK)
        return st;
    if (!make_graph(p))
        return no_memory(s);
    p->nnz = first_of(p, p->rows);
    rt_graph view = {0};
    const tk_status made = make_maps(p) && make_view(p, &view) ? show(s, p, &view) : no_memory(s);
    tk_rt_block_free(view.start);
    tk_rt_block_free(view.col);
    return made;
}

void tk_rt_sparse_clear(tk_sparse *p)
{
    void *const all[] = {p->graph.start, p->graph.col, p->starts, p->indices, p->source, p->kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tk_rt_block_free(all[i]);
    for (int i = 0; i < p->nparts; i++) {
        tk_rt_block_free(p->parts[i].at);
        tk_rt_block_free(p->parts[i].step);
        p->parts[i].at = p->parts[i].step = NULL;
    }
    p->graph = (rt_graph){0};
    p->starts = p->indices = NULL;
    p->source = NULL;
    p->kept = NULL;
    p->nnz = p->count = p->outer = 0;
}
