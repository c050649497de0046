#include "options.h"

#include <popt.h>
#include <stdio.h>
#include <string.h>

static bool parse_way(const char *name, enum way *way)
{
    for (int w = 0; w < WAYS; w++)
        if (!strcmp(name, way_names[w])) {
            *way = (enum way)w;
            return true;
        }
    return false;
}

static const char *wrong_value(const options *o)
{
    if (o->side < 1 || o->side > 1000)
        return "--side is 1 to 1000";
    if (o->steps < 1 || o->steps > 1000000)
        return "--steps is 1 to 1000000";
    if (o->cells < 16 || o->cells > 4096)
        return "--cells is 16 to 4096";
    if (o->steps < least_steps(o->cells))
        return "these steps are too long: sound would cross too many cells in one (more --steps, or fewer --cells)";
    if (o->iterations < 0 || o->iterations > 10000)
        return "--iterations is 0 to 10000";
    if (o->threads < 0 || o->threads > 1024)
        return "--threads is 0 to 1024";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    static char png[] = "jelly.png", way[] = "recomputed";
    char *png_arg = png, *way_arg = way;
    int compare = 0;
    *o = (options){.side = 32, .steps = 800, .cells = 64, .iterations = 30, .threads = 1};
    const struct poptOption table[] = {
        {"side", 'n', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->side, 0, "particles along each side of the body", "N"},
        {"steps", 's', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->steps, 0, "time steps", "N"},
        {"cells", 'g', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->cells, 0, "cells along each side of the grid", "N"},
        {"iterations", 'i', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->iterations, 0, "steps of gradient descent", "N"},
        {"way", 'w', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &way_arg, 0, "what becomes of the grids: stored, recomputed, saved", "WAY"},
        {"compare", 'c', POPT_ARG_NONE, &compare, 0, "compare gradient, memory and time of the three ways instead", NULL},
        {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o->threads, 0, "threads; 0: all processors", "N"},
        {"png", 'p', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &png_arg, 0, "picture; an empty name writes none", "FILE"},
        POPT_AUTOHELP
        POPT_TABLEEND
    };
    poptContext context = poptGetContext("jelly", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong = NULL;
    if (rc < -1)
        fprintf(stderr, "jelly: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "jelly: what is '%s'? ('jelly --help')\n", poptPeekArg(context));
    else if (!parse_way(way_arg, &o->way))
        fprintf(stderr, "jelly: --way is stored, recomputed or saved\n");
    else if ((wrong = wrong_value(o)) != NULL)
        fprintf(stderr, "jelly: %s\n", wrong);
    const bool ok = rc == -1 && !poptPeekArg(context) && parse_way(way_arg, &o->way) && !wrong;
    poptFreeContext(context);
    o->compare = compare != 0;
    o->png = png_arg;
    return ok ? -1 : 2;
}
