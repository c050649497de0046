/* Gradient and Hessian against central differences. */
#ifndef CHECK_H
#define CHECK_H

#include "mesh.h"

/* Along a direction, at the places here: deviations, as parts of what is compared. */
typedef struct comparison {
    double gradient, hessian;
} comparison;

/* False behind a message. */
bool compare_with_differences(mesh *k, comparison *c);

#endif
