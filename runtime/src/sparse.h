/* Sparse matrices of elements, internal to the files sparse*.c. */
#ifndef TKC_SPARSE_H
#define TKC_SPARSE_H

#include "rt.h"

/* A kernel that adds to the matrix, and its elements. */
typedef struct rt_elements {
    const tk_elements *k;
    int64_t n;
    int32_t *places; /* k->width of each; -1: none */
    /* Of a Hessian, for each pair of vertices (a, b), b < a, number a * (a - 1) / 2 + b: how many blocks precede theirs
     * in its row; of a Jacobian the same for each vertex. uint8_t, or uint32_t if a row has more blocks. */
    void *offsets;
    int pairs;
    /* Of a computed matrix, NULL until values are wanted: the colours of columns, and the elements of each batch of
     * colours, first[b] to first[b + 1] - 1: an element times TK_BATCH, and its colour in the batch. */
    int32_t *colour;
    int64_t *of_batch, *first;
    int32_t ncolours;
} rt_elements;

/* Rows of blocks: row i has the columns col[start[i]] to col[start[i + 1] - 1], in order. */
typedef struct rt_graph {
    int64_t n, *start;
    int32_t *col;
} rt_graph;

struct tk_sparse {
    tk_sparse_options opt;
    bool hessian, semidefinite;
    bool wide_rows; /* type of the offsets */
    tk_scalar elem;
    int64_t rows, cols; /* of blocks */
    int block_rows, block_cols;
    tk_alloc_fn hook;
    void *user;
    rt_elements *parts;
    int nparts;
    /* Of a Hessian, what is left of the diagonal. Behind tk_rt_sparse_build without columns; without starts too if the
     * host's rows are those that elements are added to. */
    rt_graph graph;
    int64_t nnz; /* of the values that elements are added to: CSR, of a Hessian its lower triangle */
    /* as the host has it */
    int64_t outer, count; /* rows, columns or rows of blocks; values */
    void *starts, *indices;
    int64_t *source;     /* value -> that of the elements; NULL: the same */
    unsigned char *kept; /* their values, if `source` is not NULL */
    _Atomic(size_t) projected;
    tk_colouring_fn colouring; /* NULL: libtkc's own */
    void *colouring_user;
};

/* ---- the columns of a kernel: fields ---- */

static inline const tk_field *tk_rt_sparse_field(const tk_module *m, const tk_elements *k, int i)
{
    return &m->fields[k->by[i]];
}

/* Components of the first n fields. */
static inline int64_t tk_rt_sparse_components(const tk_module *m, const tk_elements *k, int n)
{
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        all += (int64_t)tk_rt_scalars(tk_rt_sparse_field(m, k, i));
    return all;
}

static inline bool tk_rt_sparse_is_column(const tk_elements *k, int field)
{
    int i = 0;
    while (i < k->nby && k->by[i] != field)
        i++;
    return i < k->nby;
}

/* Blocks of columns; the size and number of blocks of rows. */
static inline int64_t tk_rt_sparse_ncols(const tk_module *m, const tk_elements *k)
{
    return tk_rt_sparse_components(m, k, k->nby) / k->block;
}
static inline int tk_rt_sparse_block_rows(const tk_module *m, const tk_elements *k)
{
    return k->hessian ? k->block : m->fields[k->to].desc->ncomp;
}
static inline int64_t tk_rt_sparse_nrows(const tk_module *m, const tk_elements *k)
{
    return k->hessian ? tk_rt_sparse_ncols(m, k)
                      : (int64_t)tk_rt_scalars(&m->fields[k->to]) / m->fields[k->to].desc->ncomp;
}

/* ---- sparse_pattern.c ---- */

/* Zeroed memory of the pattern: NULL if there is none. */
void *tk_rt_sparse_alloc(const tk_sparse *p, int64_t n, size_t size);
/* The graph, the offsets and what the host sees, from the places of all parts. TK_NO_MEMORY; TK_BAD_ARGUMENT: too many
 * entries for 32 bits. Both are reported. */
tk_status tk_rt_sparse_build(tk_session *s, tk_sparse *p);
/* Frees what tk_rt_sparse_build made. */
void tk_rt_sparse_clear(tk_sparse *p);

/* Products whose tangents are kept, until one pass over the elements adds them; as many colours of columns. */
enum { TK_BATCH = 8 };
static inline int tk_rt_sparse_batch(const tk_sparse *p)
{
    return p->block_cols < TK_BATCH ? TK_BATCH / p->block_cols : 1;
}

static inline int64_t tk_rt_triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

static inline int64_t tk_rt_sparse_start(const tk_sparse *p, int64_t line)
{
    return p->opt.wide ? ((const int64_t *)p->starts)[line] : ((const int32_t *)p->starts)[line];
}

/* A row of blocks among the values of the elements: its first value, and how many values of its first line stand in
 * front of the diagonal of a Hessian. Line r follows r * length values later, of a Hessian another r * (r + 1) / 2
 * later. */
typedef struct rt_row {
    int64_t at, length;
} rt_row;

/* b: p->block_cols. */
static inline rt_row tk_rt_sparse_row(const tk_sparse *p, int64_t row, int b)
{
    if (!p->graph.start) {
        const int64_t line = row * (p->hessian ? b : p->block_rows), at = tk_rt_sparse_start(p, line);
        return (rt_row){at, tk_rt_sparse_start(p, line + 1) - at - p->hessian};
    }
    const int64_t start = p->graph.start[row], whole = start * b * (p->hessian ? b : p->block_rows);
    return (rt_row){p->hessian ? whole + row * tk_rt_triangle(b) : whole, (p->graph.start[row + 1] - start) * b};
}

static inline int64_t tk_rt_sparse_offset(const tk_sparse *p, const rt_elements *x, int64_t pair)
{
    return p->wide_rows ? (int64_t)((const uint32_t *)x->offsets)[pair] : (int64_t)((const uint8_t *)x->offsets)[pair];
}

/* For qsort: int32_t. */
int tk_rt_sparse_order(const void *a, const void *b);

/* ---- sparse.c ---- */

rt_elements *tk_rt_sparse_part(const tk_sparse *p, const tk_elements *k);
/* Fails the session: the pattern has to be made again. */
tk_status tk_rt_sparse_changed(tk_module *m, const tk_elements *k);

/* TK_BAD_ARGUMENT: m or pattern is NULL, or *pattern has another shape or layout. */
tk_status tk_rt_sparse_check(tk_module *m, const tk_elements *k, const tk_sparse_options *opt,
                             tk_sparse *const *pattern);
/* Whether the pattern has these elements already. */
bool tk_rt_sparse_has(const tk_sparse *p, const tk_elements *k, const int64_t *places, int64_t n);

/* ---- colour.c ---- */

/* Colours the columns of a matrix so that no row has two columns of one colour. Returns the number of colours; -1:
 * out of memory. start, col: the columns of each row. */
int32_t tk_rt_colour_columns(tk_session *s, int64_t rows, int64_t cols, const int64_t *start, const int32_t *col,
                             int32_t *colour);
/* The colours of the columns of a part, if there are none yet. TK_NO_MEMORY. */
tk_status tk_rt_sparse_colour(tk_session *s, const tk_sparse *p, rt_elements *x);
void tk_rt_sparse_uncolour(rt_elements *x);

/* ---- coloured.c ---- */

/* What a run of launches has: the first member of what sets.c and products.c keep of it. */
typedef struct rt_coloured {
    tk_module *m;
    const tk_elements *k;
    int64_t *sizes;
    void **memory;
    bool sets;  /* the arrays have sets, else tangents */
    void *rows; /* of a Hessian by several fields: tk_rt_coloured_rows */
} rt_coloured;
/* Arrays for the active planes. TK_NO_MEMORY, reported. */
tk_status tk_rt_coloured_open(tk_coloured *run, rt_coloured *own);
/* All of them are zero. */
void tk_rt_coloured_clear(const rt_coloured *own);
void tk_rt_coloured_close(rt_coloured *own);
/* That of field i of the columns, and the number of its first component among all columns. */
void *tk_rt_coloured_column(const rt_coloured *own, int i, int64_t *first);
/* Of all rows: sets, or tangents of the type of the values. */
const void *tk_rt_coloured_rows(const rt_coloured *own);

/* ---- sparse_project.c ---- */

/* Projects the blocks of the n elements in the stage of a run that are not positive semidefinite. TK_NO_MEMORY. */
tk_status tk_rt_sparse_semidefinite(tk_sparse_run *run, const rt_elements *x, int64_t n);

#endif
