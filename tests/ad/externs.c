#include "externs.h"

#include <math.h>

double kr(double h)
{
    return sin(h) + 0.25 * cos(h);
}

double dkr(double h)
{
    return cos(h) - 0.25 * sin(h);
}

double power(double b, double e, int32_t n, bool odd)
{
    return (odd ? -1.0 : 1.0) * pow(b, e + n);
}

double pull(const double d[2], const double A[2][2], double k)
{
    return d[0] * (A[0][0] * d[0] + A[0][1] * d[1]) + d[1] * (A[1][0] * d[0] + A[1][1] * d[1]) + k;
}

void spin(const double p[3], double angle, double result_0[3], double *result_1)
{
    result_0[0] = cos(angle) * p[0] - sin(angle) * p[1];
    result_0[1] = sin(angle) * p[0] + cos(angle) * p[1];
    result_0[2] = p[2];
    *result_1 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
}

int32_t cell(double x)
{
    return (int32_t)(3.0 * x);
}

double plain(double x)
{
    return exp(-x);
}

double cubed(double x)
{
    return x * x * x;
}

double cubed_back(double x, double seed)
{
    return 3.0 * x * x * seed;
}
