/* The elements of a kernel, internal to this folder: the iterations of its parallel loops. Each reads components of
 * fields at some places, its vertices, and adds to an energy (a Hessian) or stores a residual (a Jacobian). */
#ifndef TKC_ELEMENTS_INT_H
#define TKC_ELEMENTS_INT_H

#include "passes/analysis/analysis.h"

/* A component of a vertex: a column of the matrix of the element. */
typedef struct element_read {
    ir_op *load;
    int vertex, comp;
} element_read;

/* A block of columns: part `part` of an element of a field, which has several if fields have other numbers of
 * components. */
typedef struct element_vertex {
    const ir_op *load; /* its field and subscripts */
    int part;
} element_vertex;

/* One parallel loop. */
typedef struct element_loop {
    ir_op *task;
    VEC(element_read) reads;
    VEC(element_vertex) vertices;
    VEC(ir_op *) writes; /* of the energy or residual, at the top of the body */
} element_loop;

typedef struct elements {
    ir_func *kernel; /* a copy of the program's */
    int kind;        /* IR_DERIVE_ROWS, IR_DERIVE_BLOCKS */
    const ir_columns *by;
    int block;    /* of the columns: components of a vertex */
    ir_field *to; /* energy or residual */
    VEC(element_loop) loops;
    bool *active;    /* value id -> it follows from `by` */
    const char *why; /* there is no such matrix; NULL: there is */
    src_loc at;
} elements;

/* Of a kernel whose calls are expanded and whose short loops are written out. Sets why and at if it is refused. */
elements elements_of(ir_func *kernel, const ir_request *r);
void elements_free(elements *e);
/* Vertices of an element; of the loop that has the most. */
int elements_arity(const elements *e);
/* Numbers that a sweep stores of an element: of its block or rows, and of its gradient. */
int elements_numbers(const elements *e, int arity);

/* The matrix of an element as a function. */
typedef struct element_matrix {
    ir_func *func;         /* of the reads, then of `outer`; yields gradients (Hessian), then entries; NULL: none */
    VEC(ir_value *) outer; /* what else it takes */
    int *rows, *cols;      /* numbers of reads (Hessian: both), or of writes */
    int nrows, ncols;
    bool *pattern; /* nrows x ncols; of a Hessian the lower triangle */
} element_matrix;

/* `why` of e is set if there is none. */
element_matrix element_matrix_of(elements *e, const element_loop *l);
void element_matrix_free(element_matrix *x);

/* ---- kernels that are made ---- */

/* The copy becomes a kernel of its own, without derivatives, that takes hidden arguments and yields n integers. */
void hidden_begin(ir_func *f, ir_func *of, int narguments);
ir_value *hidden_count(ir_func *f, const char *name); /* an i64 argument */
/* The last ndim counts are its extents. */
ir_field *hidden_array(ir_func *f, const char *name, scalar elem, int ndim, bool out);
void hidden_end(ir_func *f, ir_value *const *results, const char *const *names, int n);

/* The numbers of the iterations of a loop, from `base` on. */
typedef struct numbering {
    ir_builder front, body; /* in front of the loop; at the end of its body */
    ir_value *trips[8];     /* of each dimension */
    ir_value *rows, *row;   /* iterations of the first dimension, and elements of each */
    ir_value *next;         /* the number behind the last element */
} numbering;
numbering number_elements(ir_func *f, ir_op *task, ir_value *base);
/* In the body: the number of the iteration, counted from `base` at the first one that the loop now runs. */
ir_value *number_of_element(numbering *n, const ir_op *task, ir_value *base);
/* The loop runs only if the elements so far are no more than `most`. */
void run_at_most(numbering *n, ir_op *task, ir_value *most);
/* The loop runs whole rows from element `from` on, where a row begins, as long as they fit into *room. Yields how many
 * elements run. *room becomes what is left for the next loops: nothing if a row did not fit. */
ir_value *run_rows(numbering *n, ir_op *task, ir_value *base, ir_value *from, ir_value **room);

/* A free name in the module: that of k and the suffix. */
const char *hidden_name(const ir_func *k, const char *suffix);

void make_places(elements *e, ir_func *of);
void make_sweep(elements *e, ir_func *of, int arity);

#endif
