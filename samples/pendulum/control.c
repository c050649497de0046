#include "control.h"

#include <math.h>
#include <string.h>

/* What deviations from the plan cost in each interval. */
static const double state_weights[STATE] = {10.0, 10.0, 1.0, 1.0}, force_weight = 0.1;

/* The gain of an interval; P becomes the cost matrix before it. */
static void step_back(const interval *v, const double z[INPUTS], double P[STATE][STATE], double gain[STATE])
{
    double J[OUTPUTS][INPUTS], A[STATE][STATE], B[STATE];
    jacobian_whole(v, z, J);
    for (int i = 0; i < STATE; i++) {
        memcpy(A[i], J[i], sizeof A[i]);
        B[i] = J[i][STATE];
    }
    pendulum_riccati(A, B, state_weights, force_weight, P, gain, P);
}

bool find_gains(const plan *p, const task *t, double (*gain)[STATE])
{
    enum { MOST = 100000 };
    double P[STATE][STATE] = {{0.0}}, goal[INPUTS] = {0.0}, change = INFINITY;
    memcpy(goal, t->goal, sizeof t->goal);
    for (int k = 0; k < MOST && !(change < 1e-12); k++) {
        const double before = P[0][0];
        step_back(&t->interval, goal, P, gain[t->intervals]);
        change = fabs(P[0][0] / before - 1.0);
    }
    if (!(change < 1e-12))
        return false;
    for (int k = t->intervals; k-- > 0;)
        step_back(&t->interval, p->z[k], P, gain[k]);
    return true;
}

void run_plant(const plan *p, const task *t, const double (*gain)[STATE], const push *push, int steps, double (*z)[INPUTS], int count)
{
    interval fine = t->interval;
    fine.steps = steps;
    memcpy(z[0], t->start, sizeof t->start);
    for (int k = 0; k <= count; k++) {
        const bool planned = k < t->intervals;
        const double *const at = planned ? p->z[k] : t->goal, force = planned ? p->z[k][STATE] : 0.0;
        if (push && k == (int)lround(push->time / fine.time))
            z[k][3] += push->rate;
        z[k][STATE] = force;
        if (gain)
            pendulum_command(z[k], at, force, gain[planned ? k : t->intervals], t->force, &z[k][STATE]);
        if (k < count) {
            double out[OUTPUTS];
            interval_outputs(&fine, z[k], out);
            memcpy(z[k + 1], out, STATE * sizeof *out);
        }
    }
}

double distance(const task *t, const double z[INPUTS])
{
    double d = 0.0;
    for (int i = 0; i < STATE; i++)
        d = fmax(d, isfinite(z[i]) ? fabs(z[i] - t->goal[i]) : INFINITY);
    return d;
}
