#include "options.h"

#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bool parse_numbers(const char *text, double *numbers, int n)
{
    for (int k = 0; k < n; k++) {
        char *end;
        numbers[k] = strtod(text, &end);
        if (end == text || !isfinite(numbers[k]) || *end != (k < n - 1 ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool parse_given(const char *text, enum given *given)
{
    for (int k = 0; k < GIVENS; k++)
        if (strcmp(text, given_names[k]) == 0) {
            *given = (enum given)k;
            return true;
        }
    return false;
}

static bool positive(double x)
{
    return x > 0.0 && isfinite(x);
}

static const char *wrong_value(const options *o, double horizon)
{
    const task *t = &o->task;
    if (!positive(horizon))
        return "--horizon is a positive time";
    if (t->intervals < 2 || t->intervals > 100000)
        return "--intervals is 2 to 100000";
    if (t->interval.steps < 1 || t->interval.steps > 1000 || o->fine < 1 || o->fine > 100000)
        return "--steps is 1 to 1000, --fine 1 to 100000";
    const pendulum_Plant *plant = &t->interval.plant;
    if (!positive(plant->cart) || !positive(plant->bob) || !positive(plant->length))
        return "--cart, --bob and --length are positive";
    if (!(t->force > 0.0) || !(t->track > 0.0))
        return "--force and --track are positive";
    if (!(fabs(t->goal[0]) <= t->track) || !(fabs(t->start[0]) <= t->track))
        return "start and goal are on the track";
    if (t->iterations < 1)
        return "--iterations is positive";
    if (!(o->hold >= 0.0 && o->hold <= 1000.0 && isfinite(o->push.time) && isfinite(o->push.rate)))
        return "--hold is 0 to 1000 seconds";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    static char start[] = "0,0,0,0", given[] = "hessian", none[] = "";
    static char trajectory[] = "trajectory.csv", gif[] = "pendulum.gif", png[] = "pendulum.png";
    char *start_arg = start, *given_arg = given, *trajectory_arg = trajectory, *gif_arg = gif, *png_arg = png, *guess_arg = none;
    double horizon = 3.0;
    *o = (options){.task = {.interval = {.plant = {1.0, 0.3, 0.5}, .steps = 4}, .intervals = 75, .goal = {0.0, pi, 0.0, 0.0},
                            .force = 10.0, .track = 1.0, .iterations = 500},
                   .push = {1.6, 2.0}, .fine = 64, .hold = 2.0};
    task *const t = &o->task;
    const struct poptOption table[] = {
        {"horizon", 'T', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &horizon, 0, "time of the swing-up, s", "TIME"},
        {"intervals", 'n', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &t->intervals, 0, "of constant force", "N"},
        {"steps", 's', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &t->interval.steps, 0, "of the Runge-Kutta method in each", "N"},
        {"force", 'f', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->force, 0, "the largest force, N", "F"},
        {"track", 'w', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->track, 0, "track to each side of the middle, m", "X"},
        {"cart", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->interval.plant.cart, 0, "mass of the cart, kg", "M"},
        {"bob", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->interval.plant.bob, 0, "mass at the end of the pole, kg", "M"},
        {"length", 'l', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->interval.plant.length, 0, "of the pole, m", "L"},
        {"start", '\0', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &start_arg, 0, "position, angle, speed, rate of the angle", "LIST"},
        {"goal", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &t->goal[0], 0, "where the pole shall stand", "X"},
        {"given", 'd', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &given_arg, 0, "to IPOPT: hessian (and Jacobian), jacobian, none", "WHAT"},
        {"iterations", 'i', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &t->iterations, 0, "at most", "N"},
        {"guess", 'g', POPT_ARG_STRING, &guess_arg, 0, "a trajectory to begin with (else a straight line)", "FILE"},
        {"fine", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->fine, 0, "steps in each interval when the plan is put to the test", "N"},
        {"push", 'p', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o->push.rate, 0, "what the pole gets on its way, rad/s", "RATE"},
        {"push-at", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o->push.time, 0, "and when, s", "TIME"},
        {"hold", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o->hold, 0, "time to keep it standing, s", "TIME"},
        {"trajectory", 'o', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &trajectory_arg, 0, "plan and gains; an empty name writes none", "FILE"},
        {"gif", '\0', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &gif_arg, 0, "animation of the run with push and controller", "FILE"},
        {"png", '\0', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &png_arg, 0, "picture", "FILE"},
        POPT_AUTOHELP
        POPT_TABLEEND
    };
    poptContext context = poptGetContext("pendulum", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong;
    bool ok = false;
    if (rc < -1)
        fprintf(stderr, "pendulum: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "pendulum: what is '%s'? ('pendulum --help')\n", poptPeekArg(context));
    else if (!parse_numbers(start_arg, t->start, STATE))
        fprintf(stderr, "pendulum: --start is four numbers with commas between them\n");
    else if (!parse_given(given_arg, &t->given))
        fprintf(stderr, "pendulum: --given is hessian, jacobian or none\n");
    else if ((wrong = wrong_value(o, horizon)) != NULL)
        fprintf(stderr, "pendulum: %s\n", wrong);
    else
        ok = true;
    poptFreeContext(context);
    t->interval.time = horizon / t->intervals;
    o->guess = *guess_arg ? guess_arg : NULL;
    o->trajectory = trajectory_arg;
    o->gif = gif_arg;
    o->png = png_arg;
    return ok ? -1 : 2;
}
