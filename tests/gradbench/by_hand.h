/* What gradients by hand include: the functions of C's library, with the vector variants that generated code has as
 * well. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <tkc/tkc_math.h>

static inline double hand_sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

#endif
