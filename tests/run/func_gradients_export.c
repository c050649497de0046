#include "func_gradients_export.h"
#include "host.h"

enum { STEPS = 4 };

static double after(double t, double r)
{
    for (int i = 0; i < STEPS; i++)
        t = sin(r * t);
    return t;
}

int main(void)
{
    /* the macro is a constant where its arguments are; nothing behind it is touched */
    _Alignas(8) static unsigned char work[func_gradients_export_swing_WORKSPACE(STEPS) + 8],
        more[func_gradients_export_swing_jvp_WORKSPACE(STEPS) + 8];
    const float r = 1.5f;
    const double h = 1e-5, by_t = (after(0.5 + h, 1.5) - after(0.5 - h, 1.5)) / (2 * h),
                 by_r = (after(0.5, 1.5 + h) - after(0.5, 1.5 - h)) / (2 * h);
    float g[2], slope, dual[2], one = 1;
    memset(work, 7, sizeof work);
    memset(more, 7, sizeof more);
    func_gradients_export_swing(0.5f, r, STEPS, g, work);
    func_gradients_export_swing_jvp(0.5f, &one, r, NULL, STEPS, g, dual, more);
    func_gradients_export_slope(3, &slope);
    CHECK(fabs((double)g[0] - by_t) <= 1e-4 && fabs((double)g[1] - by_r) <= 1e-4 && slope == 6 && !isnan(dual[0]));
    CHECK(work[sizeof work - 8] == 7 && work[sizeof work - 1] == 7 && more[sizeof more - 8] == 7);
    return failures != 0;
}
