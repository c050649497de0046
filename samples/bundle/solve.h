/* Levenberg-Marquardt with a Schur complement. */
#ifndef SOLVE_H
#define SOLVE_H

#include "scene.h"

/* Before an iteration: half the sum of squares, largest component of its gradient, damping of the step that follows. */
typedef struct iteration {
    double cost, gradient, damping;
} iteration;

typedef struct course {
    iteration *at; /* `count` of them, and behind them the end */
    int count;
    bool converged;
    double residuals; /* shortest times, in seconds: of all Jacobians and their products; */
    double equations; /* of the Schur complement and its solution */
} course;

double seconds_now(void);
/* Half the sum of squares of all residuals. */
double scene_cost(const scene *s);
/* The least that can be expected: standard deviation of a residual, by the numbers of residuals and of unknowns. */
double scene_deviation(const scene *s);

/* Changes cameras and points. `told` gets each iteration. False behind a message. */
bool solve(scene *s, int iterations, void (*told)(int, const iteration *), course *c);
void course_destroy(course *c);

#endif
