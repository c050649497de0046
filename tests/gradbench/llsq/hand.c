#include "hand.h"

#include "by_hand.h"

static double at(int i, int n)
{
    return -1.0 + 2.0 * i / (n - 1);
}

static double step(double t)
{
    return (t > 0.0) - (t < 0.0);
}

double llsq_hand_grad(int n, int m, const double *restrict x, double *restrict gradient)
{
    double y = 0.0;
    memset(gradient, 0, (size_t)m * sizeof(double));
    for (int i = 0; i < n; i++) {
        const double t = at(i, n);
        double left = step(t), power = 1.0;
        for (int j = 0; j < m; j++) {
            left -= x[j] * power;
            power *= t;
        }
        y += 0.5 * left * left;
        power = 1.0;
        for (int j = 0; j < m; j++) {
            gradient[j] -= left * power;
            power *= t;
        }
    }
    return y;
}

double llsq_hand_grad_kept(int n, int m, const double *restrict x, double *restrict gradient, double *restrict powers)
{
    double y = 0.0;
    memset(gradient, 0, (size_t)m * sizeof(double));
    for (int i = 0; i < n; i++) {
        const double t = at(i, n);
        double left = 0.0, power = 1.0;
        for (int j = 0; j < m; j++) {
            powers[j] = power;
            power *= t;
        }
#pragma omp simd reduction(+ : left)
        for (int j = 0; j < m; j++)
            left += x[j] * powers[j];
        left = step(t) - left;
        y += 0.5 * left * left;
        for (int j = 0; j < m; j++)
            gradient[j] -= left * powers[j];
    }
    return y;
}
