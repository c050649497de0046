/* Newton's method with CHOLMOD. */
#ifndef SOLVE_H
#define SOLVE_H

#include "mesh.h"

/* Before an iteration: energy, largest component of the gradient; of it: what was added to the diagonal, part of
 * Newton's step. */
typedef struct iteration {
    double energy, gradient, shift, step;
} iteration;

typedef struct course {
    iteration *at; /* `count` of them, and behind them the end */
    int count;
    bool found;               /* the gradient is below the bound */
    bool minimum;             /* and the Hessian is positive definite there */
    double derive, factorize; /* shortest times, in seconds: energy, gradient and Hessian; factor of the matrix */
    double factor_numbers;    /* numbers that are not zero in that */
} course;

double seconds_now(void);

/* From where the points are. `told` gets each iteration. False behind a message: there is no memory, or no first guess.
 */
bool solve(mesh *k, int iterations, double bound, void (*told)(int, const iteration *), course *c);
void course_destroy(course *c);

#endif
