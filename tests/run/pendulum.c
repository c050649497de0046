#include "pendulum.h"
#include "host.h"

enum { STEPS = 300, IN = 4 }; /* inputs: angle, speed, drive, length */

_Alignas(8) static unsigned char work[pendulum_swing_grad_WORKSPACE(STEPS)];

static void run(const double in[IN], double out[2])
{
    pendulum_swing(in, in[2], in[3], 0.01, STEPS, out);
}

int main(void)
{
    const double in[IN] = {0.8, -0.3, 0.7, 1.4};
    double forward[2][IN], reverse[2][IN] = {{0.0}}, value[2], out[2];
    run(in, out);
    for (int k = 0; k < IN; k++) {
        double e[IN] = {0.0}, column[2];
        e[k] = 1.0;
        pendulum_swing_jvp(in, e, in[2], &e[2], in[3], &e[3], 0.01, NULL, STEPS, value, column);
        CHECK(value[0] == out[0] && value[1] == out[1]);
        forward[0][k] = column[0];
        forward[1][k] = column[1];
    }
    for (int r = 0; r < 2; r++) {
        const double seed[2] = {r == 0, r == 1};
        pendulum_swing_grad(in, in[2], in[3], 0.01, STEPS, NULL, seed, reverse[r], &reverse[r][2], &reverse[r][3], NULL, work);
    }
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < IN; k++) {
            CHECK(fabs(forward[r][k] - reverse[r][k]) < 1e-12 * (1.0 + fabs(forward[r][k])));
            double up[IN], down[IN], a[2], b[2];
            for (int i = 0; i < IN; i++)
                up[i] = down[i] = in[i];
            up[k] += 1e-5;
            down[k] -= 1e-5;
            run(up, a);
            run(down, b);
            CHECK(fabs((a[r] - b[r]) / 2e-5 - forward[r][k]) < 1e-6 * (1.0 + fabs(forward[r][k])));
        }
    /* The flow of the pendulum keeps areas: the Jacobian of the state with respect to the state has determinant 1, but for the method's error. */
    CHECK(fabs(forward[0][0] * forward[1][1] - forward[0][1] * forward[1][0] - 1.0) < 1e-6);

    /* A quarter of a period from a small angle: T = 2 pi sqrt(l / g). */
    const double small[2] = {1e-3, 0.0};
    double at[2];
    int32_t n;
    pendulum_crossing(small, 1.0, 0.01, at, &n);
    CHECK(n == (int)ceil(0.25 * 2.0 * 3.14159265358979 * sqrt(1.0 / 9.81) / 0.01));
    const double e0[2] = {1.0, 0.0};
    double d[2], g[2] = {0.0};
    pendulum_crossing_jvp(small, e0, 1.0, NULL, 0.01, NULL, at, d, &n);
    static _Alignas(8) unsigned char more[pendulum_crossing_grad_WORKSPACE];
    const double first[2] = {1.0, 0.0};
    pendulum_crossing_grad(small, 1.0, 0.01, NULL, NULL, first, g, NULL, NULL, more);
    CHECK(fabs(d[0] - g[0]) < 1e-12);
    return failures != 0;
}
