/* Linearisation, internal to linearise.c, frame.c, control.c and call.c of this folder. */
#ifndef TKC_LINEARISE_INT_H
#define TKC_LINEARISE_INT_H

#include "passes/derive/jacobian/linearise.h"
#include "util/ptrmap.h"

typedef VEC(ir_value *) jac_values;

/* The local Jacobian of a function that is called, by some of its parameters. */
struct ir_partials {
    const ir_partials *next;
    ir_func *func;          /* yields the results, then the entries; NULL: there is none */
    const int *rows, *cols; /* results, parameters */
    int nrows, ncols;
    bool *pattern;         /* row major */
    int first;             /* of a matrix that is a value: the result that is its first entry */
    const ir_matrix *made; /* likewise */
};

typedef struct linearisation linearisation;
typedef struct jac_frame jac_frame;

struct linearisation {
    const ir_func *from;
    ir_func *out;
    activity act; /* of the source, by the columns */
    bool of_args; /* jac_wanted */
    ir_map val;   /* source value -> its clone */
    /* linearises the operations of r; a function (jac_linearise) */
    void (*region)(linearisation *w, ir_builder *b, jac_frame *f, const ir_region *r);
    ir_func *(*function)(const ir_func *f, ir_func_kind kind, const char *name, const jac_wanted *wanted, bool *pattern,
                         ir_matrix *made);
    ir_matrix *made; /* jac_linearise */
};

/* A region with a graph of its own: the body, a branch, the body of a loop. */
struct jac_frame {
    jac_frame *outer;
    jac_graph graph;
    ptrmap vertex;   /* source value -> number of its vertex + 1 */
    VEC(int) inputs; /* vertices without predecessor */
    VEC(const ir_value *) input_values;
};

/* The vertex of a value in the frame, -1: it is not active. What comes from outside becomes an input. */
int frame_vertex(linearisation *w, jac_frame *f, const ir_value *v);
/* v is an input, whatever it follows from. */
int frame_input(jac_frame *f, const ir_value *v);
int frame_result(jac_frame *f, const ir_value *v);
void frame_free(jac_frame *f);
/* The partials of the values that r yields by all inputs of the frame, at the end of r. */
jac_matrix frame_matrix(linearisation *w, jac_frame *f, ir_builder *b, const ir_region *r);

ir_value *lin_value(const linearisation *w, const ir_value *v);
bool lin_active(const linearisation *w, const ir_value *v);
/* The values that r yields. */
void lin_yielded(const linearisation *w, const ir_region *r, jac_values *to);

/* Enters the operation that has no local Jacobian. facts.c */
void jac_refuse(ir_matrix *made, const ir_op *op);

/* ---- control.c ---- */

void lin_if(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op);
void lin_loop(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op);

/* ---- call.c ---- */

void lin_call(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op);

#endif
