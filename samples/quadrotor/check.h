/* Jacobians and Hessians against central differences. */
#ifndef CHECK_H
#define CHECK_H

#include "plan.h"

/* The largest deviations, at an interval of states and thrusts somewhere: as parts of the largest number. */
typedef struct comparison {
    double jacobian, hessian, cost;
} comparison;

comparison compare_with_differences(const task *t);

#endif
