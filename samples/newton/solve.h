/* Newton's method with CHOLMOD. */
#ifndef SOLVE_H
#define SOLVE_H

#include "mesh.h"

/* Before an iteration: energy, largest component of the gradient; of it: elements whose blocks were projected, what was
 * added to the diagonal, part of Newton's step. */
typedef struct iteration {
    double energy, gradient, shift, step;
    size_t projected;
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

/* Gets each iteration, with the course before it. False ends the search. */
typedef bool (*told_fn)(void *user, const course *c);

/* From where the points are. False behind a message: there is no memory, or no first guess. */
bool solve(mesh *k, int iterations, double bound, told_fn told, void *user, course *c);
void course_destroy(course *c);

#endif
