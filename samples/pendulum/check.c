#include "check.h"

#include <math.h>
#include <string.h>

/* The larger of a and b; a NaN stays. */
static double worse(double a, double b)
{
    return b <= a ? a : b;
}

static double deviation(double a[INPUTS][INPUTS], double b[INPUTS][INPUTS])
{
    double difference = 0.0, largest = 1e-300;
    for (int i = 0; i < INPUTS; i++)
        for (int j = 0; j < INPUTS; j++) {
            difference = worse(difference, fabs(a[i][j] - b[i][j]));
            largest = fmax(largest, fabs(a[i][j]));
        }
    return difference / largest;
}

/* Of factor * cost + multiplier . state at the end. */
static void gradient(const interval *v, const double z[INPUTS], double factor, const double multiplier[STATE], double g[INPUTS])
{
    double J[OUTPUTS][INPUTS];
    jacobian_whole(v, z, J);
    for (int j = 0; j < INPUTS; j++) {
        g[j] = factor * J[STATE][j];
        for (int i = 0; i < STATE; i++)
            g[j] += multiplier[i] * J[i][j];
    }
}

static void check_hessian(comparison *c, const interval *v, const double z[INPUTS])
{
    const double factor = 0.7, multiplier[STATE] = {0.9, -1.3, 0.4, 1.1}, h = 1e-5;
    double H[INPUTS][INPUTS], transposed[INPUTS][INPUTS], differences[INPUTS][INPUTS];
    interval_hessian(v, z, factor, multiplier, H);
    for (int j = 0; j < INPUTS; j++) {
        double at[INPUTS], above[INPUTS], below[INPUTS];
        memcpy(at, z, sizeof at);
        at[j] = z[j] + h;
        gradient(v, at, factor, multiplier, above);
        at[j] = z[j] - h;
        gradient(v, at, factor, multiplier, below);
        for (int i = 0; i < INPUTS; i++) {
            transposed[j][i] = H[i][j];
            differences[j][i] = (above[i] - below[i]) / (2.0 * h);
        }
    }
    c->symmetry = worse(c->symmetry, deviation(H, transposed));
    c->gradient_differences = worse(c->gradient_differences, deviation(H, differences));
}

static void all_jacobians(const plan *p, const task *t, jacobian_fn fn)
{
    double J[OUTPUTS][INPUTS];
    for (int k = 0; k < t->intervals; k++)
        fn(&t->interval, p->z[k], J);
}

/* The shortest of several runs, each of at least a millisecond, of all ways in turn. */
static void measure(comparison *c, const plan *p, const task *t)
{
    enum { RUNS = 9 };
    for (int run = 0; run < RUNS; run++)
        for (size_t w = 0; w < sizeof c->ways / sizeof *c->ways; w++) {
            const double start = seconds_now();
            double seconds;
            int times = 0;
            do {
                all_jacobians(p, t, c->ways[w].fn);
                times++;
                seconds = seconds_now() - start;
            } while (seconds < 1e-3);
            c->ways[w].seconds = fmin(c->ways[w].seconds, seconds / times);
        }
}

comparison compare_derivatives(const plan *p, const task *t)
{
    comparison c = {.ways = {{"all at once", jacobian_whole, INFINITY}, {"reverse mode", jacobian_reverse, INFINITY},
                             {"central differences", jacobian_central_differences, INFINITY},
                             {"forward differences", jacobian_forward_differences, INFINITY}}};
    for (int k = 0; k < t->intervals; k++) {
        double whole[OUTPUTS][INPUTS], reverse[OUTPUTS][INPUTS], differences[OUTPUTS][INPUTS];
        jacobian_whole(&t->interval, p->z[k], whole);
        jacobian_reverse(&t->interval, p->z[k], reverse);
        jacobian_central_differences(&t->interval, p->z[k], differences);
        c.reverse = worse(c.reverse, deviation(whole, reverse));
        c.differences = worse(c.differences, deviation(whole, differences));
        check_hessian(&c, &t->interval, p->z[k]);
    }
    measure(&c, p, t);
    return c;
}
