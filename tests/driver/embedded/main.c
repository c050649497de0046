/* Runs on a bare Cortex-M and on the host; each number goes out through report(). */
#include "pendulum.h"
#include "table.h"

void report(float x);
int run(void);

enum { STEPS = 100 };

_Alignas(8) static unsigned char work[pendulum_swing_grad_WORKSPACE(STEPS)];
_Alignas(8) static unsigned char more[pendulum_crossing_grad_WORKSPACE];
_Alignas(8) static unsigned char arrays[table_smooth_grad_WORKSPACE(5)];
_Alignas(8) static unsigned char rest[table_mixed_grad_WORKSPACE(6)];

static void smooth(void)
{
    const float x[5] = {0.1f, 0.9f, 0.4f, 1.3f, 0.7f}, slope_grad[5] = {1.0f, 0.5f, -1.0f, 2.0f, 0.0f};
    float last[5], slope[5], x_grad[5] = {0.0f, 1.0f, 0.0f, 0.0f, -1.0f}, w_grad = 0.0f;
    for (int i = 0; i < 5; i++)
        last[i] = x[i];
    table_smooth(5, last, 0.2f, slope);
    table_smooth_grad(5, x, 0.2f, 0, slope_grad, x_grad, &w_grad, arrays);
    for (int i = 0; i < 5; i++) {
        report(last[i]);
        report(slope[i]);
        report(x_grad[i]);
    }
    report(w_grad);
}

int run(void)
{
    const float s[2] = {0.8f, -0.3f}, drive = 0.7f, length = 1.4f, dt = 0.01f;
    float out[2];
    pendulum_swing(s, drive, length, dt, STEPS, out);
    report(out[0]);
    report(out[1]);
    for (int r = 0; r < 2; r++) {
        const float seed[2] = {r == 0 ? 1.0f : 0.0f, r == 1 ? 1.0f : 0.0f};
        float g[4] = {0.0f};
        pendulum_swing_grad(s, drive, length, dt, STEPS, out, seed, g, &g[2], &g[3], 0, work);
        for (int k = 0; k < 4; k++)
            report(g[k]);
    }
    for (int k = 0; k < 4; k++) {
        float e[4] = {0.0f}, d[2];
        e[k] = 1.0f;
        pendulum_swing_jvp(s, e, drive, &e[2], length, &e[3], dt, 0, STEPS, 0, d);
        report(d[0]);
        report(d[1]);
    }
    int32_t n;
    float g[2] = {0.0f};
    const float one[2] = {1.0f, 0.0f};
    pendulum_crossing_grad(s, length, dt, out, &n, one, g, 0, 0, more);
    report((float)n);
    report(g[0]);
    report(g[1]);
    float y, dx = 0.0f;
    table_mixed_grad(1.3f, 6, &y, one, &dx, rest);
    report(y);
    report(dx);
    smooth();
    return 0;
}
