/* A drone follows a path by nonlinear model predictive control: in each interval IPOPT plans the next ones, with the
 * exact sparse Jacobian and Hessian that tkc made of quadrotor.tk. A gust hits it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "options.h"
#include "picture.h"

static bool check_derivatives(const task *t)
{
    const comparison c = compare_with_differences(t);
    const bool right = c.jacobian < 1e-7 && c.hessian < 1e-7 && c.cost < 1e-7;
    printf("deviations from central differences: %s\n", right ? "right" : "WRONG");
    printf("    Jacobian of a step        %8.1e\n", c.jacobian);
    printf("    Hessian of a step         %8.1e\n", c.hessian);
    printf("    Hessian of the cost       %8.1e\n", c.cost);
    return right;
}

static void tell(const flight *f, const task *t)
{
    const moment *m = &f->at[f->count - 1];
    const int every = (int)fmax(1.0, lround(1.0 / t->time));
    if ((f->count - 1) % every == 0)
        printf("%8.2f %12.4f %11d %9.2f\n", (f->count - 1) * t->time, m->off, m->iterations, 1e3 * m->seconds);
}

/* True if it is on its path in the end. */
static bool report(const flight *f, const task *t)
{
    const double near = 0.1;
    const int last = (int)fmin(f->count, fmax(1.0, lround(1.0 / t->time)));
    double seconds = 0.0, most = 0.0, thrust = 0.0, off = 0.0;
    long iterations = 0;
    for (int k = 0; k < f->count; k++) {
        seconds += f->at[k].seconds;
        most = fmax(most, f->at[k].seconds);
        iterations += f->at[k].iterations;
        off = fmax(off, k < f->count - last ? 0.0 : f->at[k].off);
        for (int i = 0; i < THRUSTS; i++)
            thrust = fmax(thrust, f->at[k].thrust[i]);
    }
    printf("%d plans: %.1f iterations, %.2f ms in the mean, %.2f ms at most\n", f->count, (double)iterations / f->count,
           1e3 * seconds / f->count, 1e3 * most);
    printf("largest thrust: %.4f N of %g\n", thrust, t->thrust);
    printf("the drone %s its path: in the last second it was off by %.4f m at most\n",
           off < near ? "holds" : "DOES NOT HOLD", off);
    return off < near;
}

static bool control(options *o)
{
    task *t = &o->task;
    const int count = (int)lround(o->seconds / t->time);
    plan p;
    flight f;
    t->goal = calloc((size_t)t->intervals + 1, sizeof *t->goal);
    const bool planned = plan_create(&p, t), flown = flight_create(&f, t, count); /* both are destroyed below */
    bool ok = planned && flown && t->goal;
    if (!ok)
        perror("quadrotor");
    ok = ok && (!o->check || check_derivatives(t));
    if (ok) {
        printf("%d intervals of %g s: %d unknowns, %d constraints; %d numbers in the Jacobian, %d in the Hessian's "
               "lower triangle\n",
               t->intervals, t->time, t->intervals * INPUTS + STATE, t->intervals * STATE, jacobian_numbers(t),
               hessian_numbers(t));
        printf("%8s %12s %11s %9s\n", "time, s", "off, m", "iterations", "ms");
        f.count = count;
        const char *why = fly(&f, t, &p, &o->gust, o->steps, tell);
        if (why)
            printf("no plan at %g s: %s\n", f.count * t->time, why);
        ok = !why && report(&f, t);
        ok = (!*o->png || f.count == 0 || picture_write(o->png, &f, t, &o->gust)) && ok;
    }
    plan_destroy(&p);
    flight_destroy(&f);
    free(t->goal);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, (const char **)argv);
    return status >= 0 ? status : !control(&o);
}
