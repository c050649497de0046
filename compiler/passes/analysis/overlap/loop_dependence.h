/* Do two iterations of one task provably touch the same element, where their distance is not the same everywhere? */
#ifndef TKC_LOOP_DEPENDENCE_H
#define TKC_LOOP_DEPENDENCE_H

#include "passes/analysis/analysis.h"

enum { DEPENDENCE_DIMS = 9, DEPENDENCE_TERMS = 32 };

/* coef[0] * (index var[0] of the first iteration) - coef[1] * (index var[1] of the second) = rest, in one dimension of
 * the field; var -1: no index */
typedef struct dependence_equation {
    int var[2];
    int64_t coef[2];
    affine rest;
} dependence_equation;

/* The two iterations that are sought: where the one stands that makes the first access, and the one that makes the
 * second. */
typedef struct dependence {
    const ir_module *m;
    const ir_op *task;
    const ir_value *term[DEPENDENCE_TERMS]; /* one for all values that are the same number */
    int nterms;
    dependence_equation eq[DEPENDENCE_DIMS];
    int neq;
    unsigned done;                                        /* a bit for each equation */
    affine first[DEPENDENCE_DIMS], last[DEPENDENCE_DIMS]; /* the range of each index */
    affine at[2][DEPENDENCE_DIMS];
    bool known[2][DEPENDENCE_DIMS];
    int budget;
} dependence;

/* Whether an index of the task is a term of the subscript. */
bool dependence_concerns(const ir_op *task, const affine *sub);
/* The subscripts must be equal. False if they never are, or if nothing can be proved: they have other terms that depend
 * on the iteration, or more than one index each. */
bool dependence_add(dependence *c, const affine *first, const affine *second);
/* True if two different iterations that solve the equations surely exist. A range of which the length is not known is
 * taken to have two indices. */
bool dependence_exists(dependence *c);

#endif
