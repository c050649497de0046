/* Sparse matrices of elements, internal to sparse.c and sparse_pattern.c. */
#ifndef TKC_SPARSE_H
#define TKC_SPARSE_H

#include "rt.h"

/* A kernel that adds to the matrix, and the places of its elements: k->width numbers each. */
typedef struct rt_elements {
    const tk_elements *k;
    int64_t n;
    int64_t *places;
    int64_t *at, *step; /* the map, k->pairs numbers each */
} rt_elements;

/* Rows of blocks: row i has the columns col[start[i]] to col[start[i + 1] - 1], in order. */
typedef struct rt_graph {
    int64_t n, *start, *col;
} rt_graph;

struct tk_sparse {
    tk_sparse_options opt;
    bool hessian;
    tk_scalar elem;
    int64_t rows, cols; /* of blocks */
    int block_rows, block_cols;
    tk_alloc_fn hook;
    void *user;
    rt_elements *parts;
    int nparts;
    rt_graph graph; /* of a Hessian, what is left of the diagonal */
    int64_t nnz;    /* of the values that kernels add to: CSR, of a Hessian its lower triangle */
    /* as the host has it */
    int64_t outer, count; /* rows, columns or rows of blocks; values */
    void *starts, *indices;
    int64_t *source;     /* value -> that of the kernels; NULL: the same */
    unsigned char *kept; /* their values, if `source` is not NULL */
};

/* Memory of the pattern: NULL if there is none. */
void *tk_rt_sparse_alloc(const tk_sparse *p, int64_t n, size_t size);
/* The graph, the maps and what the host sees, from the places of all parts. TK_NO_MEMORY, TK_BAD_STATE: an element is
 * outside; TK_BAD_ARGUMENT: too many entries for 32 bits. All are reported. */
tk_status tk_rt_sparse_build(tk_session *s, tk_sparse *p);
/* Frees what tk_rt_sparse_build made. */
void tk_rt_sparse_clear(tk_sparse *p);

#endif
