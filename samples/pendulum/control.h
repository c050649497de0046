/* A controller that holds the pole on a plan, and runs of the plant with and without it. */
#ifndef CONTROL_H
#define CONTROL_H

#include "swingup.h"

/* What hits the pole. */
typedef struct push {
    double time, rate; /* added to the rate of the angle */
} push;

/* Linear-quadratic regulator along a plan, by the Jacobians of its intervals: a gain for each, and behind them the one that holds the goal.
   False: there is none. */
bool find_gains(const plan *p, const task *t, double (*gain)[STATE]);

/* States at the beginning and after each interval, and their forces: z[0] to z[count]. Behind the plan the goal is held.
   Without gains: the planned forces, and none behind them. Without a push: NULL. */
void run_plant(const plan *p, const task *t, const double (*gain)[STATE], const push *push, int steps, double (*z)[INPUTS], int count);

/* How far a state is from the goal: the largest difference of a component. */
double distance(const task *t, const double z[INPUTS]);

#endif
