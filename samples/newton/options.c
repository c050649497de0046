#include "options.h"

#include <math.h>
#include <popt.h>
#include <stdio.h>

enum { MOST_CELLS = 1000, MOST_CELLS_OF_SOLIDS = 40 };

static bool within(double x, double low, double high)
{
    return x >= low && x <= high;
}

static const char *wrong_value(const options *o)
{
    const shape *s = &o->shape;
    if (s->cells < 1 || s->cells > (s->solid ? MOST_CELLS_OF_SOLIDS : MOST_CELLS))
        return s->solid ? "--cells is 1 to 40 for tetrahedra" : "--cells is 1 to 1000";
    if (!within(s->squeeze, -1.0, 0.8))
        return "--squeeze is -1 to 0.8";
    if (!within(s->turn, -720.0, 720.0))
        return "--turn is -720 to 720";
    if (!within(s->gravity, -1e3, 1e3))
        return "--gravity is -1000 to 1000";
    if (!within(s->lambda, 0.0, 1e6))
        return "--lambda is 0 to 1e6";
    if (o->iterations < 0 || o->iterations > 100000)
        return "--iterations is 0 to 100000";
    if (!within(o->bound, 1e-300, 1e300))
        return "--bound is positive";
    if (o->linger != -1.0 && !within(o->linger, 0.0, 1e6))
        return "--linger is 0 to 1e6";
    if (o->threads < 0 || o->threads > 1024)
        return "--threads is 0 to 1024";
    return NULL;
}

int options_parse(options *o, int argc, const char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT };
    static char png[] = "newton.png";
    char *png_arg = png;
    int check = 0, solid = 0, window = 0;
    *o = (options){.shape = {.squeeze = 0.2, .gravity = 0.004, .lambda = 4.0, .cells = -1},
                   .iterations = 200,
                   .bound = 1e-11,
                   .threads = 1,
                   .linger = -1.0};
    shape *const s = &o->shape;
    const struct poptOption table[] = {
        {"tetrahedra", '3', POPT_ARG_NONE, &solid, 0, "a beam in space instead of a strip of triangles", NULL},
        {"cells", 'n', POPT_ARG_INT, &s->cells, 0,
         "across; along there are four times as many (default: 16; of a beam, 5)", "N"},
        {"squeeze", 's', POPT_ARG_DOUBLE | SHOWN, &s->squeeze, 0, "part of its length that the ends come closer",
         "PART"},
        {"turn", 'a', POPT_ARG_DOUBLE | SHOWN, &s->turn, 0, "of one end: a strip bends, a beam twists; degrees",
         "ANGLE"},
        {"gravity", 'g', POPT_ARG_DOUBLE | SHOWN, &s->gravity, 0, "weight of a unit of volume", "G"},
        {"lambda", 'l', POPT_ARG_DOUBLE | SHOWN, &s->lambda, 0,
         "stiffness against a change of volume; against shear: 1", "L"},
        {"iterations", 'i', POPT_ARG_INT | SHOWN, &o->iterations, 0, "at most", "N"},
        {"bound", 'b', POPT_ARG_DOUBLE | SHOWN, &o->bound, 0, "of each component of the gradient at the end", "FORCE"},
        {"check", 'c', POPT_ARG_NONE, &check, 0, "first compare gradient and Hessian with central differences", NULL},
        {"threads", 't', POPT_ARG_INT | SHOWN, &o->threads, 0, "of the kernels; 0: all processors", "N"},
        {"window", 'w', POPT_ARG_NONE, &window, 0, "show each iteration in a window; q or Escape closes it", NULL},
        {"linger", 0, POPT_ARG_DOUBLE, &o->linger, 0, "of the window behind the last iteration (default: until closed)",
         "SECONDS"},
        {"png", 'p', POPT_ARG_STRING | SHOWN, &png_arg, 0, "picture; an empty name writes none", "FILE"},
        POPT_AUTOHELP POPT_TABLEEND};
    poptContext context = poptGetContext("newton", argc, argv, table, 0);
    const int rc = poptGetNextOpt(context);
    const char *wrong = NULL;
    bool ok = false;
    s->solid = solid != 0;
    if (s->cells == -1)
        s->cells = s->solid ? 5 : 16;
    if (rc < -1)
        fprintf(stderr, "newton: %s: %s\n", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (poptPeekArg(context))
        fprintf(stderr, "newton: what is '%s'? ('newton --help')\n", poptPeekArg(context));
    else if ((wrong = wrong_value(o)) != NULL)
        fprintf(stderr, "newton: %s\n", wrong);
    else
        ok = true;
    poptFreeContext(context);
    o->check = check != 0;
    o->window = window != 0;
    o->png = png_arg;
    return ok ? -1 : 2;
}
