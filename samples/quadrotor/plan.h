/* A plan: states and thrusts of the next intervals, by multiple shooting with IPOPT. */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

#include "quadrotor.h"

enum {
    STATE = 12, /* place, velocity, angles, rates */
    THRUSTS = 4,
    INPUTS = STATE + THRUSTS /* of an interval: the state at its beginning, the thrusts */
};

typedef struct task {
    quadrotor_Drone drone;
    double time;   /* of an interval */
    int intervals; /* that are planned */
    double thrust; /* the largest of a rotor */
    double tilt;   /* the largest roll and pitch */
    double start[STATE];
    double (*goal)[3]; /* of each interval, and of the end */
} task;

/* The unknowns, one interval after another; the last has a state only. Multipliers are kept for the next solution. */
typedef struct plan {
    double (*z)[INPUTS];
    double *multiplier, *low_multiplier, *high_multiplier; /* of the defects, of the bounds */
    bool warm;                                             /* there is an earlier solution in them */
    int iterations;
    double seconds, cost;
} plan;

/* False: no memory. */
bool plan_create(plan *p, const task *t);
void plan_destroy(plan *p);
/* Hovers at the start. */
void plan_guess(plan *p, const task *t);
/* The first interval is over: the plan moves by one. */
void plan_shift(plan *p, const task *t);
/* NULL, or why there is no plan. */
const char *plan_solve(plan *p, const task *t);

/* Numbers of the sparse matrices, for all intervals. */
int jacobian_numbers(const task *t);
int hessian_numbers(const task *t);

#endif
