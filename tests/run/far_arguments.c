#include "far_arguments.h"
#include "host.h"

#include <float.h>

static double angle(double a)
{
    return atan2(a, 1);
}

static double length(double a)
{
    return hypot(a, 1);
}

static double nan_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int main(void)
{
    static double (*const function[21])(double) = {exp,  exp2, expm1, log,  log2, log1p, sin,  cos,  tan,    asin,  acos,
                                                   atan, sinh, cosh,  tanh, erf,  cbrt,  sqrt, lgamma, angle, length};
    const double x[14] = {nan_of(0x7ff800007fffffff), nan_of(0x7ff8000080000000), nan_of(0x7ff80000ffffffff), nan_of(0xfff8000000000001), INFINITY, -INFINITY, DBL_MAX,
                          -DBL_MAX, 0x1p-1074, -0x1p-1074, 710, -746, 1e9, -1e9};
    far_arguments *m = far_arguments_create(NULL, NULL);
    for (int i = 0; i < 14; i++)
        m->x.data[i] = x[i];
    CHECK_OK(m, far_arguments_all(m));
    for (int i = 0; i < 21 * 14; i++) {
        const double got = m->y.data[i], want = function[i / 14](x[i % 14]);
        if (isnan(want) ? !isnan(got) : got != want && !(fabs(got - want) <= 4 * DBL_EPSILON * fabs(want)))
            FAIL("function %d of %a: %a, not %a", i / 14, x[i % 14], got, want);
    }
    far_arguments_destroy(m);
    return failures != 0;
}
