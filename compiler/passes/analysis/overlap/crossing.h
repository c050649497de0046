/* Do two iterations of one task provably touch the same element, where their distance is not the same everywhere? */
#ifndef TKC_CROSSING_H
#define TKC_CROSSING_H

#include "passes/analysis/analysis.h"

enum { CROSSING_DIMS = 9, CROSSING_TERMS = 32 };

/* coef[0] * (index var[0] of the first iteration) - coef[1] * (index var[1] of the second) = rest, in one dimension of
 * the field; var -1: no index */
typedef struct crossing_equation {
    int var[2];
    int64_t coef[2];
    affine rest;
} crossing_equation;

/* The two iterations that are sought: where the one stands that makes the first access, and the one that makes the
 * second. */
typedef struct crossing {
    const ir_module *m;
    const ir_op *task;
    const ir_value *term[CROSSING_TERMS]; /* one for all values that are the same number */
    int nterms;
    crossing_equation eq[CROSSING_DIMS];
    int neq;
    unsigned done;                                    /* a bit for each equation */
    affine first[CROSSING_DIMS], last[CROSSING_DIMS]; /* the range of each index */
    affine at[2][CROSSING_DIMS];
    bool known[2][CROSSING_DIMS];
    int budget;
} crossing;

/* Whether an index of the task is a term of the subscript. */
bool crossing_concerns(const ir_op *task, const affine *sub);
/* The subscripts must be equal. False if they never are, or if nothing can be proved: they have other terms that depend
 * on the iteration, or more than one index each. */
bool crossing_add(crossing *c, const affine *first, const affine *second);
/* True if two different iterations that solve the equations surely exist. A range of which the length is not known is
 * taken to have two indices. */
bool crossing_exists(crossing *c);

#endif
