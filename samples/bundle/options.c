#include "options.h"

#include <popt.h>
#include <stddef.h>
#include <stdio.h>

static const char *wrong_value(const options *o)
{
    const synthetic *y = &o->synthetic;
    if (y->cameras < 2 || y->cameras > 1000)
        return "--cameras is 2 to 1000";
    if (y->points < 8 || y->points > 1000000)
        return "--points is 8 to 1000000";
    if (!(y->noise >= 0.0 && y->noise <= 100.0))
        return "--noise is 0 to 100 pixels";
    if (!(y->off >= 0.0 && y->off <= 0.5))
        return "--off is 0 to 0.5";
    if (o->iterations < 0 || o->iterations > 100000)
        return "--iterations is 0 to 100000";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT };
    static char png[] = "bundle.png", none[] = "";
    char *png_arg = png, *input_arg = none, *save_arg = none;
    int check = 0;
    *o = (options){.synthetic = {.cameras = 16, .points = 500, .seed = 1, .noise = 0.5, .off = 0.05},
                   .iterations = 100};
    synthetic *const y = &o->synthetic;
    const struct poptOption table[] = {
        {"input", 'f', POPT_ARG_STRING, &input_arg, 0, "a problem in BAL's format, instead of a random one", "FILE"},
        {"cameras", 'c', POPT_ARG_INT | SHOWN, &y->cameras, 0, "of the random one", "N"},
        {"points", 'n', POPT_ARG_INT | SHOWN, &y->points, 0, "of it", "N"},
        {"seed", 's', POPT_ARG_INT | SHOWN, &y->seed, 0, "of it", "N"},
        {"noise", 'e', POPT_ARG_DOUBLE | SHOWN, &y->noise, 0, "standard deviation of what is seen, in pixels",
         "PIXELS"},
        {"off", 'd', POPT_ARG_DOUBLE | SHOWN, &y->off, 0, "standard deviation of the first guess; points are within 1",
         "X"},
        {"iterations", 'i', POPT_ARG_INT | SHOWN, &o->iterations, 0, "at most", "N"},
        {"check", 0, POPT_ARG_NONE, &check, 0, "first compare all Jacobians with central differences", NULL},
        {"save", 'o', POPT_ARG_STRING, &save_arg, 0, "the result, in BAL's format", "FILE"},
        {"png", 'p', POPT_ARG_STRING | SHOWN, &png_arg, 0, "picture; an empty name writes none", "FILE"},
        POPT_AUTOHELP POPT_TABLEEND};
    poptContext context = poptGetContext("bundle", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong = NULL;
    bool ok = false;
    if (rc < -1)
        fprintf(stderr, "bundle: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "bundle: what is '%s'? ('bundle --help')\n", poptPeekArg(context));
    else if ((wrong = wrong_value(o)) != NULL)
        fprintf(stderr, "bundle: %s\n", wrong);
    else
        ok = true;
    poptFreeContext(context);
    o->check = check != 0;
    o->input = *input_arg ? input_arg : NULL;
    o->save = save_arg;
    o->png = png_arg;
    return ok ? -1 : 2;
}
