/* An interval of a plan, in which the force is constant, and its derivatives. */
#ifndef DERIVATIVES_H
#define DERIVATIVES_H

#include "pendulum.h"

enum {
    STATE = 4,               /* position, angle, speed, rate of the angle */
    INPUTS = STATE + 1,      /* of an interval: the state at its beginning, the force */
    OUTPUTS = STATE + 1      /* the state at its end, its cost */
};

typedef struct interval {
    pendulum_Plant plant;
    double time;
    int steps;               /* of the Runge-Kutta method */
    void *workspace;
} interval;

/* The workspace is for free(). NULL: no memory. */
void *interval_workspace(int steps);

void interval_outputs(const interval *v, const double z[INPUTS], double out[OUTPUTS]);
void interval_gradient_of_cost(const interval *v, const double z[INPUTS], double gradient[INPUTS]);
/* The second derivatives of factor * cost + multiplier . state at the end. */
void interval_hessian(const interval *v, const double z[INPUTS], double factor, const double multiplier[STATE], double H[INPUTS][INPUTS]);

/* Four ways to the derivatives of the outputs. */
typedef void (*jacobian_fn)(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS]);
void jacobian_whole(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS]);               /* all at once, exact */
void jacobian_reverse(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS]);             /* a row at a time, exact */
void jacobian_central_differences(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS]);
void jacobian_forward_differences(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS]);

#endif
