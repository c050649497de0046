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

double area_of(const double p[2], int32_t n)
{
    return n * p[0] * p[1];
}

void bend(double a, double *result_0, double result_1[2])
{
    *result_0 = a * a;
    result_1[0] = a;
    result_1[1] = 1.0 - a;
}

double no_rule(double x)
{
    return sqrt(x) + x;
}
