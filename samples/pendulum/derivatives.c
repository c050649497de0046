#include "derivatives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *interval_workspace(int steps)
{
    const size_t gradient = pendulum_advance_grad_WORKSPACE(steps), hessian = pendulum_advance_hess_WORKSPACE(steps);
    return malloc(gradient > hessian ? gradient : hessian);
}

void interval_outputs(const interval *v, const double z[INPUTS], double out[OUTPUTS])
{
    pendulum_advance(z, z[STATE], v->time, v->steps, v->plant, out, &out[STATE]);
}

void interval_gradient_of_cost(const interval *v, const double z[INPUTS], double gradient[INPUTS])
{
    const double one = 1.0;
    memset(gradient, 0, INPUTS * sizeof *gradient);
    pendulum_advance_grad(z, z[STATE], v->time, v->steps, v->plant, NULL, NULL, NULL, &one, gradient, &gradient[STATE], v->workspace);
}

void interval_hessian(const interval *v, const double z[INPUTS], double factor, const double multiplier[STATE], double H[INPUTS][INPUTS])
{
    pendulum_advance_hess(z, z[STATE], v->time, v->steps, v->plant, multiplier, factor, NULL, NULL, NULL, H[0], INPUTS, v->workspace);
}

void jacobian_whole(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS])
{
    pendulum_advance_jac(z, z[STATE], v->time, v->steps, v->plant, NULL, NULL, J[0], INPUTS);
}

void jacobian_reverse(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS])
{
    memset(J, 0, OUTPUTS * sizeof *J);
    for (int i = 0; i < OUTPUTS; i++) {
        double of[OUTPUTS] = {0.0};
        of[i] = 1.0;
        pendulum_advance_grad(z, z[STATE], v->time, v->steps, v->plant, NULL, NULL, of, &of[STATE], J[i], &J[i][STATE], v->workspace);
    }
}

static double step_of(double z, double relative)
{
    return relative * fmax(1.0, fabs(z));
}

void jacobian_central_differences(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS])
{
    for (int j = 0; j < INPUTS; j++) {
        const double h = step_of(z[j], 6e-6); /* about the cube root of the rounding error */
        double at[INPUTS], above[OUTPUTS], below[OUTPUTS];
        memcpy(at, z, sizeof at);
        at[j] = z[j] + h;
        interval_outputs(v, at, above);
        at[j] = z[j] - h;
        interval_outputs(v, at, below);
        for (int i = 0; i < OUTPUTS; i++)
            J[i][j] = (above[i] - below[i]) / (2.0 * h);
    }
}

void jacobian_forward_differences(const interval *v, const double z[INPUTS], double J[OUTPUTS][INPUTS])
{
    double here[OUTPUTS];
    interval_outputs(v, z, here);
    for (int j = 0; j < INPUTS; j++) {
        const double h = step_of(z[j], 1.5e-8); /* about its square root */
        double at[INPUTS], above[OUTPUTS];
        memcpy(at, z, sizeof at);
        at[j] = z[j] + h;
        interval_outputs(v, at, above);
        for (int i = 0; i < OUTPUTS; i++)
            J[i][j] = (above[i] - here[i]) / h;
    }
}
