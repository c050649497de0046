#include "options.h"

#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>

static bool parse_start(const char *text, double start[PARAMETERS])
{
    for (int k = 0; k < PARAMETERS; k++) {
        char *end;
        start[k] = strtod(text, &end);
        if (end == text || !isfinite(start[k]) || *end != (k < PARAMETERS - 1 ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static const char *wrong_value(const options *o)
{
    if (o->descent < 1 || o->descent > 10000000)
        return "--descent is 1 to 10000000";
    if (o->newton < 1 || o->newton > 100000)
        return "--newton is 1 to 100000";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    static char input[] = "measurements.csv", png[] = "fit.png", start[] = "1,0.1,3,0,0,0";
    char *input_arg = input, *png_arg = png, *start_arg = start;
    int check = 0;
    *o = (options){.descent = 20000, .newton = 100};
    const struct poptOption table[] = {
        {"input", 'i', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &input_arg, 0, "measurements: lines t,y,sigma", "FILE"},
        {"start", 's', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &start_arg, 0, "the six parameters to begin with", "LIST"},
        {"descent", 'd', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->descent, 0, "iterations of gradient descent, at most", "N"},
        {"newton", 'n', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->newton, 0, "iterations of Gauss-Newton, at most", "N"},
        {"check", 'c', POPT_ARG_NONE, &check, 0, "compare the Jacobian with central differences", NULL},
        {"png", 'p', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &png_arg, 0, "picture; an empty name writes none", "FILE"},
        POPT_AUTOHELP
        POPT_TABLEEND
    };
    poptContext context = poptGetContext("fit", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong = wrong_value(o);
    bool ok = false;
    if (rc < -1)
        fprintf(stderr, "fit: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "fit: what is '%s'? ('fit --help')\n", poptPeekArg(context));
    else if (!parse_start(start_arg, o->start))
        fprintf(stderr, "fit: --start is six numbers with commas between them\n");
    else if (wrong)
        fprintf(stderr, "fit: %s\n", wrong);
    else
        ok = true;
    poptFreeContext(context);
    o->check = check != 0;
    o->input = input_arg;
    o->png = png_arg;
    return ok ? -1 : 2;
}
