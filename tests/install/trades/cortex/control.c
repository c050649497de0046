/* The controller: the same on the device (f32) and on the host (f64). Each number goes out through report(). */
#include "mpc.h"

void report(float x);
int run(void);

enum { HORIZON = 20, STEPS = 40, DESCENTS = 25 };

_Alignas(8) static unsigned char work[mpc_cost_grad_WORKSPACE(HORIZON)];

/* Descends the cost of the plan, and gives its first torque. */
static mpc_real control(const mpc_real s[2], mpc_real plan[HORIZON], mpc_real gradient[HORIZON], mpc_real dt)
{
    const mpc_real one = 1, rate = (mpc_real)0.02, limit = 6;
    mpc_real cost;
    for (int i = 0; i < DESCENTS; i++) {
        for (int k = 0; k < HORIZON; k++)
            gradient[k] = 0;
        mpc_cost_grad(HORIZON, s, plan, dt, &cost, &one, 0, gradient, 0, work);
        for (int k = 0; k < HORIZON; k++) {
            plan[k] -= rate * gradient[k];
            plan[k] = plan[k] > limit ? limit : plan[k] < -limit ? -limit : plan[k];
        }
    }
    return plan[0];
}

int run(void)
{
    static mpc_real plan[HORIZON], gradient[HORIZON];
    mpc_real s[2] = {(mpc_real)0.3, 0}, after[2], gains[2];
    const mpc_real dt = (mpc_real)0.05;
    for (int step = 0; step < STEPS; step++) {
        const mpc_real torque = control(s, plan, gradient, dt);
        for (int k = 0; k < HORIZON && step == 0; k++)
            report((float)gradient[k]);
        mpc_move(s, torque, dt, after);
        s[0] = after[0];
        s[1] = after[1];
        for (int k = 0; k + 1 < HORIZON; k++)
            plan[k] = plan[k + 1];
        report((float)torque);
        report((float)s[0]);
    }
    mpc_gain(dt, 200, gains);
    report((float)gains[0]);
    report((float)gains[1]);
    return 0;
}
