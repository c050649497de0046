#include "options.h"

#include <math.h>
#include <popt.h>
#include <stdio.h>

static bool within(double x, double low, double high)
{
    return x >= low && x <= high;
}

static const char *wrong_value(const options *o)
{
    const task *t = &o->task;
    if (t->intervals < 2 || t->intervals > 1000)
        return "--intervals is 2 to 1000";
    if (!within(t->time, 0.001, 0.5))
        return "--interval is 0.001 to 0.5 seconds";
    if (!within(o->seconds, t->time, 1000.0) || o->seconds / t->time > 1e5)
        return "--seconds is an interval to 1000 seconds, at most 100000 intervals";
    if (!within(t->drone.mass, 0.01, 100.0))
        return "--mass is 0.01 to 100 kg";
    if (!(t->thrust > 0.25 * 9.81 * t->drone.mass) || !isfinite(t->thrust))
        return "--thrust of four rotors is more than the weight";
    if (!within(t->tilt, 1.0, 80.0))
        return "--tilt is 1 to 80 degrees";
    if (!within(o->gust.speed, -100.0, 100.0) || !within(o->gust.time, 0.0, 1000.0))
        return "--gust is -100 to 100 m/s, --gust-at 0 to 1000 seconds";
    if (o->steps < 1 || o->steps > 10000)
        return "--steps is 1 to 10000";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT };
    static char png[] = "quadrotor.png";
    char *png_arg = png;
    int check = 0;
    *o = (options){.task = {.drone = {.mass = 0.5, .inertia = {0.0023, 0.0028, 0.0046}, .arm = 0.17, .spin = 0.016},
                            .time = 0.05,
                            .intervals = 30,
                            .thrust = 3.0,
                            .tilt = 45.0},
                   .seconds = 10.0,
                   .gust = {4.0, 3.0},
                   .steps = 10};
    task *const t = &o->task;
    const struct poptOption table[] = {
        {"seconds", 't', POPT_ARG_DOUBLE | SHOWN, &o->seconds, 0, "of the flight", "TIME"},
        {"interval", 'h', POPT_ARG_DOUBLE | SHOWN, &t->time, 0, "of constant thrusts, s", "TIME"},
        {"intervals", 'n', POPT_ARG_INT | SHOWN, &t->intervals, 0, "that are planned", "N"},
        {"thrust", 'f', POPT_ARG_DOUBLE | SHOWN, &t->thrust, 0, "the largest of a rotor, N", "F"},
        {"tilt", 'a', POPT_ARG_DOUBLE | SHOWN, &t->tilt, 0, "the largest roll and pitch, degrees", "ANGLE"},
        {"mass", 'm', POPT_ARG_DOUBLE | SHOWN, &t->drone.mass, 0, "kg", "M"},
        {"gust", 'g', POPT_ARG_DOUBLE | SHOWN, &o->gust.speed, 0, "what it gets on its way, m/s", "SPEED"},
        {"gust-at", 0, POPT_ARG_DOUBLE | SHOWN, &o->gust.time, 0, "and when, s", "TIME"},
        {"steps", 's', POPT_ARG_INT | SHOWN, &o->steps, 0, "of the simulation in each interval", "N"},
        {"check", 'c', POPT_ARG_NONE, &check, 0, "first compare Jacobian and Hessians with central differences", NULL},
        {"png", 'p', POPT_ARG_STRING | SHOWN, &png_arg, 0, "picture; an empty name writes none", "FILE"},
        POPT_AUTOHELP POPT_TABLEEND};
    poptContext context = poptGetContext("quadrotor", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong = NULL;
    bool ok = false;
    if (rc < -1)
        fprintf(stderr, "quadrotor: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "quadrotor: what is '%s'? ('quadrotor --help')\n", poptPeekArg(context));
    else if ((wrong = wrong_value(o)) != NULL)
        fprintf(stderr, "quadrotor: %s\n", wrong);
    else
        ok = true;
    poptFreeContext(context);
    t->tilt *= 3.14159265358979323846 / 180.0;
    path(0.0, t->start);
    t->start[0] += 1.0; /* beside the path */
    o->check = check != 0;
    o->png = png_arg;
    return ok ? -1 : 2;
}
