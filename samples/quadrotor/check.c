#include "check.h"

#include <math.h>
#include <string.h>

/* Weighted sums of the states at the end: their gradient. */
static void gradient_of_step(const task *t, const double z[INPUTS], const double lambda[STATE], double g[INPUTS])
{
    double J[STATE][INPUTS];
    quadrotor_step_jac(z, z + STATE, t->time, t->drone, NULL, J[0], INPUTS);
    memset(g, 0, INPUTS * sizeof *g);
    for (int i = 0; i < STATE; i++)
        for (int j = 0; j < INPUTS; j++)
            g[j] += lambda[i] * J[i][j];
}

static void gradient_of_cost(const task *t, const double z[INPUTS], double g[INPUTS])
{
    const double one = 1.0;
    memset(g, 0, INPUTS * sizeof *g);
    quadrotor_stage_grad(z, z + STATE, t->goal[0], t->time, t->drone, NULL, &one, g, g + STATE);
}

static double worse(double a, double b)
{
    return b <= a ? a : b; /* a NaN stays */
}

static double column(const double *matrix, int rows, int j, const double *above, const double *below, double h)
{
    double difference = 0.0, size = 0.0;
    for (int i = 0; i < rows * INPUTS; i++)
        size = fmax(size, fabs(matrix[i]));
    for (int i = 0; i < rows; i++)
        difference = worse(difference, fabs((above[i] - below[i]) / (2.0 * h) - matrix[i * INPUTS + j]));
    return difference / size;
}

comparison compare_with_differences(const task *t)
{
    const double h = 1e-5;
    double z[INPUTS], lambda[STATE], J[STATE][INPUTS], H[INPUTS][INPUTS], C[INPUTS][INPUTS], above[3][INPUTS],
        below[3][INPUTS];
    comparison c = {0};
    for (int i = 0; i < INPUTS; i++)
        z[i] = i < STATE ? 0.6 * sin(1.3 * i + 0.4) : (0.3 + 0.1 * (i - STATE)) * 9.81 * t->drone.mass;
    for (int i = 0; i < STATE; i++)
        lambda[i] = cos(2.1 * i);
    quadrotor_step_jac(z, z + STATE, t->time, t->drone, NULL, J[0], INPUTS);
    quadrotor_step_hess(z, z + STATE, t->time, t->drone, lambda, NULL, NULL, H[0], INPUTS);
    quadrotor_stage_hess(z, z + STATE, t->goal[0], t->time, t->drone, NULL, NULL, C[0], INPUTS);
    for (int j = 0; j < INPUTS; j++) {
        const double at = z[j];
        for (int side = 0; side < 2; side++) {
            double(*to)[INPUTS] = side ? below : above;
            z[j] = side ? at - h : at + h;
            quadrotor_step(z, z + STATE, t->time, t->drone, to[0]);
            gradient_of_step(t, z, lambda, to[1]);
            gradient_of_cost(t, z, to[2]);
        }
        z[j] = at;
        c.jacobian = worse(c.jacobian, column(J[0], STATE, j, above[0], below[0], h));
        c.hessian = worse(c.hessian, column(H[0], INPUTS, j, above[1], below[1], h));
        c.cost = worse(c.cost, column(C[0], INPUTS, j, above[2], below[2], h));
    }
    return c;
}
