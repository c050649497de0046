/* Derivatives compared with each other and with differences, and what they cost. */
#ifndef CHECK_H
#define CHECK_H

#include "swingup.h"

/* Over all intervals of a plan. Deviations are against the largest number of the matrix; times are of the Jacobians of all intervals. */
typedef struct comparison {
    double reverse, differences;             /* of the Jacobian, from forward mode */
    double symmetry, gradient_differences;   /* of the Hessian: from its transpose, from differences of gradients */
    struct { const char *name; jacobian_fn fn; double seconds; } ways[4];
} comparison;

comparison compare_derivatives(const plan *p, const task *t);

#endif
