/* A cart-pole is swung up: a plan by direct transcription, whose exact derivatives tkc made of pendulum.tk, and a controller that holds the plan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "control.h"
#include "csv.h"
#include "options.h"
#include "scene.h"

static void progress(int iteration, double cost, double defect)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%d iterations, cost %.6g, defect %.1e  ", iteration, cost, defect);
}

/* ---- the plan ---- */

static bool check_derivatives(const plan *p, const task *t)
{
    const comparison c = compare_derivatives(p, t);
    const bool ok = c.reverse < 1e-12 && c.differences < 1e-7 && c.symmetry < 1e-12 && c.gradient_differences < 1e-7;
    printf("derivatives of %d intervals, at the first guess: %s\n", t->intervals, ok ? "right" : "WRONG");
    printf("    Jacobian, rows by reverse mode from it        %8.1e\n", c.reverse);
    printf("    Jacobian, central differences from it         %8.1e\n", c.differences);
    printf("    Hessian, from its transpose                   %8.1e\n", c.symmetry);
    printf("    Hessian, central differences of gradients     %8.1e\n", c.gradient_differences);
    printf("time of all Jacobians, microseconds\n");
    for (size_t w = 0; w < sizeof c.ways / sizeof *c.ways; w++)
        printf("    %-45s %8.1f\n", c.ways[w].name, 1e6 * c.ways[w].seconds);
    return ok;
}

static void report_plan(const plan *p, const task *t)
{
    double force = 0.0, position = 0.0;
    for (int k = 0; k <= t->intervals; k++) {
        force = fmax(force, fabs(p->z[k][STATE]));
        position = fmax(position, fabs(p->z[k][0]));
    }
    printf("plan: %s\n", p->outcome);
    printf("    iterations                                    %7d\n", p->iterations);
    printf("    time, ms                                      %9.1f\n", 1e3 * p->seconds);
    printf("    cost                                          %14.6f\n", p->cost);
    printf("    largest defect                                %8.1e\n", p->defect);
    printf("    largest force, N                              %14.6f of %g\n", force, t->force);
    printf("    farthest from the middle of the track, m      %14.6f of %g\n", position, t->track);
}

static bool make_plan(plan *p, const options *o)
{
    const task *t = &o->task;
    if (!o->guess)
        plan_guess(p, t);
    else if (!csv_read(o->guess, p, t))
        return false;
    printf("%d intervals of %g s, %d Runge-Kutta steps each: %d unknowns, %d constraints\n", t->intervals, t->interval.time, t->interval.steps,
           t->intervals * INPUTS + STATE, t->intervals * STATE);
    if (!check_derivatives(p, t))
        return false;
    if (!plan_solve(p, t, progress)) {
        fprintf(stderr, "pendulum: IPOPT did not begin\n");
        return false;
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
    report_plan(p, t);
    return p->solved;
}

/* ---- the plan put to the test ---- */

static bool outputs(const plan *p, const options *o, const double (*gain)[STATE], const double (*run)[INPUTS], int count)
{
    const task *t = &o->task;
    return (!*o->trajectory || csv_write(o->trajectory, p, t, gain)) && (!*o->png || scene_write_png(o->png, p, t, run, count, &o->push)) &&
           (!*o->gif || scene_write_gif(o->gif, t, run, count, &o->push));
}

static bool test_plan(const plan *p, const options *o, double (*gain)[STATE], double (*run)[INPUTS], int count)
{
    const double near = 0.05;
    const task *t = &o->task;
    run_plant(p, t, NULL, NULL, o->fine, run, t->intervals);
    const double end = distance(t, run[t->intervals]);
    printf("the same forces in runs of %d steps in each interval: distance from the goal\n", o->fine);
    printf("    at the end of the plan                        %8.1e\n", end);
    if (!find_gains(p, t, gain)) {
        fprintf(stderr, "pendulum: no controller holds this goal\n");
        return false;
    }
    run_plant(p, t, NULL, &o->push, o->fine, run, count);
    printf("    pushed, %g s later                            %10.1e\n", o->hold, distance(t, run[count]));
    run_plant(p, t, (const double (*)[STATE])gain, &o->push, o->fine, run, count);
    const double held = distance(t, run[count]);
    printf("    pushed, %g s later, with the controller       %10.1e\n", o->hold, held);
    const bool ok = end < near && held < near;
    printf("the pole %s\n", ok ? "stands" : "DOES NOT STAND");
    return outputs(p, o, (const double (*)[STATE])gain, (const double (*)[INPUTS])run, count) && ok;
}

static bool swing_up(const options *o)
{
    const task *t = &o->task;
    const int count = t->intervals + (int)ceil(o->hold / t->interval.time);
    double (*gain)[STATE] = malloc(((size_t)t->intervals + 1) * sizeof *gain), (*run)[INPUTS] = malloc(((size_t)count + 1) * sizeof *run);
    plan p;
    bool ok = plan_create(&p, t) && gain && run && t->interval.workspace;
    if (!ok)
        perror("pendulum");
    ok = ok && make_plan(&p, o) && test_plan(&p, o, gain, run, count);
    plan_destroy(&p);
    free(gain);
    free(run);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, (const char **)argv);
    if (status >= 0)
        return status;
    o.task.interval.workspace = interval_workspace(o.task.interval.steps);
    const bool ok = swing_up(&o);
    free(o.task.interval.workspace);
    return !ok;
}
