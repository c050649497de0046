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
typedef void (*block_fn)(rt_graph *g, int32_t row, int32_t col);

static inline __attribute__((always_inline)) void each_block(const tk_sparse *p, rt_graph *g, block_fn fn)
{
    for (int i = 0; i < p->nparts; i++) {
        const rt_elements *x = &p->parts[i];
        const int width = x->k->width;
        for (int64_t e = 0; e < x->n; e++) {
            const int32_t *v = x->places + e * width;
            for (int a = 1; a < width && v[a] >= 0; a++)
                for (int b = 0; b < (p->hessian ? a : 1); b++)
                    if (!p->hessian)
                        fn(g, v[0], v[a]);
                    else if (v[a] != v[b])
                        fn(g, v[a] > v[b] ? v[a] : v[b], v[a] > v[b] ? v[b] : v[a]);
        }
    }
}

static inline void count_block(rt_graph *g, int32_t row, int32_t col)
{
    (void)col;
    g->start[row + 1]++;
}

/* start[row] is where the next column goes. */
static inline void put_block(rt_graph *g, int32_t row, int32_t col)
{
    g->col[g->start[row]++] = col;
}

int tk_rt_sparse_order(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The n columns from `from` in order, each one once, to `to`, which may be before or at `from`. Returns how many. */
static int64_t sort_row(int32_t *to, int32_t *from, int64_t n)
{
    enum { SHORT = 96 };
    int64_t kept = 0;
    if (n > SHORT)
        qsort(from, (size_t)n, sizeof *from, tk_rt_sparse_order);
    for (int64_t k = 0; k < n; k++) {
        const int32_t col = from[k];
        int64_t at = kept;
        while (at > 0 && to[at - 1] > col)
            at--;
        if (at > 0 && to[at - 1] == col)
            continue;
        memmove(to + at + 1, to + at, (size_t)(kept - at) * sizeof *to);
        to[at] = col;
        kept++;
    }
    return kept;
}

/* Behind put_block start[i] is the end of row i. */
static void sort_rows(rt_graph *g)
{
    int64_t from = 0, to = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t end = g->start[i], n = sort_row(g->col + to, g->col + from, end - from);
        g->start[i] = to;
        to += n;
        from = end;
    }
    g->start[g->n] = to;
}

/* The columns without the room that repeated ones took. */
static bool shrink(const tk_sparse *p, rt_graph *g)
{
    int32_t *col = tk_rt_sparse_alloc(p, g->start[g->n], sizeof *col);
    if (!col)
        return false;
    memcpy(col, g->col, (size_t)g->start[g->n] * sizeof *col);
    tk_rt_block_free(g->col);
    g->col = col;
    return true;
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
    return shrink(p, g);
}

/* ---- positions among the values of the elements ---- */

/* How many blocks of the row precede a block that it has. */
static int64_t offset_of(const tk_sparse *p, int64_t row, int64_t col)
{
    int64_t lo = p->graph.start[row], hi = p->graph.start[row + 1];
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (p->graph.col[mid] <= col)
            lo = mid;
        else
            hi = mid;
    }
    return lo - p->graph.start[row];
}

static int64_t entry_at(const tk_sparse *p, int64_t row, int64_t col)
{
    if (p->hessian && row < col)
        return entry_at(p, col, row);
    const int64_t block = row / p->block_rows, r = row % p->block_rows, other = col / p->block_cols;
    const rt_row l = tk_rt_sparse_row(p, block, p->block_cols);
    const int64_t skip = p->hessian && block == other ? l.length : offset_of(p, block, other) * p->block_cols;
    return l.at + r * l.length + (p->hessian ? tk_rt_triangle(r) : 0) + skip + col % p->block_cols;
}

static void set_offset(const tk_sparse *p, rt_elements *x, int64_t pair, int64_t offset)
{
    if (p->wide_rows)
        ((uint32_t *)x->offsets)[pair] = (uint32_t)offset;
    else
        ((uint8_t *)x->offsets)[pair] = (uint8_t)offset;
}

static bool make_offsets(tk_sparse *p)
{
    int64_t most = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        const int64_t n = p->graph.start[i + 1] - p->graph.start[i];
        most = n > most ? n : most;
    }
    p->wide_rows = most > UINT8_MAX;
    for (int i = 0; i < p->nparts; i++) {
        rt_elements *x = &p->parts[i];
        const int width = x->k->width;
        x->offsets = tk_rt_sparse_alloc(p, x->n * x->pairs, p->wide_rows ? sizeof(uint32_t) : sizeof(uint8_t));
        if (!x->offsets)
            return false;
        int64_t pair = 0;
        for (int64_t e = 0; e < x->n; e++) {
            const int32_t *v = x->places + e * width;
            for (int a = 1; a < width; a++)
                for (int b = 0; b < (p->hessian ? a : 1); b++, pair++)
                    if (v[a] >= 0 && !p->hessian)
                        set_offset(p, x, pair, offset_of(p, v[0], v[a]));
                    else if (v[a] >= 0 && v[a] != v[b])
                        set_offset(p, x, pair, offset_of(p, v[a] > v[b] ? v[a] : v[b], v[a] > v[b] ? v[b] : v[a]));
        }
    }
    return true;
}

/* ---- layouts of the host ---- */

/* The blocks that rows, or columns, of the host's matrix have: of both triangles if it is full. Each line is in order:
 * row i adds to lines before i, and what is behind the diagonal of line i comes from rows behind i. */
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
                    fn(v, (int32_t)i, g->col[k]);
                if (other)
                    fn(v, g->col[k], (int32_t)i);
            }
            if (p->hessian)
                fn(v, (int32_t)i, (int32_t)i);
        }
        for (int64_t i = 0; i < v->n && !pass; i++)
            v->start[i + 1] += v->start[i];
    }
    for (int64_t i = v->n; i > 0; i--) /* the ends of lines become starts */
        v->start[i] = v->start[i - 1];
    v->start[0] = 0;
    return true;
}

/* Indices, and sources of values, one after the other. */
typedef struct writer {
    tk_sparse *p;
    int64_t values, indices;
} writer;

static void add_index(writer *w, int64_t index)
{
    tk_sparse *p = w->p;
    if (p->opt.wide)
        ((int64_t *)p->indices)[w->indices] = index;
    else
        ((int32_t *)p->indices)[w->indices] = (int32_t)index;
    w->indices++;
}

static void add_value(writer *w, int64_t row, int64_t col)
{
    if (w->p->source)
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
    set_start(p, p->outer, w->indices);
}

/* Of the host's matrix: p->outer, p->count. Returns the number of indices. */
static int64_t measure(tk_sparse *p, const rt_graph *v)
{
    const int64_t blocks = v->start[v->n], entries = (int64_t)p->block_rows * p->block_cols;
    const bool lower = p->hessian && !p->opt.full && !p->opt.blocks;
    p->outer = v->n * (p->opt.blocks ? 1 : p->opt.columns ? p->block_cols : p->block_rows);
    p->count = blocks * entries - (lower ? p->rows * (entries - tk_rt_triangle(p->block_rows)) : 0);
    return p->opt.blocks ? blocks : p->count;
}

static tk_status show(tk_session *s, tk_sparse *p, const rt_graph *v)
{
    const size_t size = p->opt.wide ? sizeof(int64_t) : sizeof(int32_t);
    const bool same = !p->opt.columns && !p->opt.blocks && !(p->hessian && p->opt.full);
    const int64_t indices = measure(p, v);
    if (!p->opt.wide && indices > INT32_MAX)
        return tk_fail(s, TK_BAD_ARGUMENT, "the sparse matrix has %lld entries: its indices need 64 bits (wide)",
                       (long long)indices);
    p->starts = tk_rt_sparse_alloc(p, p->outer + 1, size);
    p->indices = tk_rt_sparse_alloc(p, indices, size);
    p->source = same ? NULL : tk_rt_sparse_alloc(p, p->count, sizeof *p->source);
    p->kept = same ? NULL : tk_rt_sparse_alloc(p, p->nnz, tk_rt_scalar_bytes(p->elem));
    if (!p->starts || !p->indices || (!same && (!p->source || !p->kept)))
        return no_memory(s);
    write_all(&(writer){p, 0, 0}, v);
    return TK_OK;
}

/* ---- all of it ---- */

tk_status tk_rt_sparse_build(tk_session *s, tk_sparse *p)
{
    tk_rt_sparse_clear(p);
    if (!make_graph(p))
        return no_memory(s);
    p->nnz = p->graph.start[p->rows] * p->block_cols * p->block_rows +
             (p->hessian ? p->rows * tk_rt_triangle(p->block_rows) : 0);
    rt_graph view = {0};
    const tk_status made = make_offsets(p) && make_view(p, &view) ? show(s, p, &view) : no_memory(s);
    tk_rt_block_free(view.start);
    tk_rt_block_free(view.col);
    tk_rt_block_free(p->graph.col); /* the offsets have it */
    p->graph.col = NULL;
    if (made == TK_OK && !p->source) {
        tk_rt_block_free(p->graph.start); /* the host's starts have it */
        p->graph.start = NULL;
    }
    return made;
}

void tk_rt_sparse_clear(tk_sparse *p)
{
    void *const all[] = {p->graph.start, p->graph.col, p->starts, p->indices, p->source, p->kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tk_rt_block_free(all[i]);
    for (int i = 0; i < p->nparts; i++) {
        tk_rt_block_free(p->parts[i].offsets);
        p->parts[i].offsets = NULL;
    }
    p->graph = (rt_graph){0};
    p->starts = p->indices = NULL;
    p->source = NULL;
    p->kept = NULL;
    p->nnz = p->count = p->outer = 0;
}
