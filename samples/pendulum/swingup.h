/* The swing-up as a nonlinear program: plans by direct transcription, solved by IPOPT. */
#ifndef SWINGUP_H
#define SWINGUP_H

#include <stdbool.h>

#include "derivatives.h"

/* What IPOPT is given. What it is not given it approximates. */
enum given { JACOBIAN_AND_HESSIAN, JACOBIAN_ONLY, NO_JACOBIAN, GIVENS };
extern const char *const given_names[GIVENS];

typedef struct task {
    interval interval;                /* each of them */
    int intervals;
    double start[STATE], goal[STATE];
    double force, track;              /* bounds of force and position, to both sides */
    enum given given;
    int iterations;                   /* at most */
} task;

/* Inputs of the intervals; in z[intervals] is the state at the end, and no force. */
typedef struct plan {
    double (*z)[INPUTS];
    double cost, defect;              /* the largest difference between the end of an interval and the beginning of the next */
    double seconds;
    int iterations;
    bool solved;
    const char *outcome;              /* in words */
} plan;

double seconds_now(void);

typedef void (*progress_fn)(int iteration, double cost, double defect);

/* Free with plan_destroy. */
bool plan_create(plan *p, const task *t);
void plan_destroy(plan *p);
/* A straight line from start to goal, without force: what to begin with. */
void plan_guess(plan *p, const task *t);
/* Goes on from what is in p->z. False: it could not begin. Whether it reached a solution is in p->solved. */
bool plan_solve(plan *p, const task *t, progress_fn progress);

#endif
