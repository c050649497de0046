/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "mesh.h"

typedef struct options {
    shape shape;
    int iterations; /* of Newton's method, at most */
    double bound;   /* the largest component of the gradient of an equilibrium */
    int threads;
    bool window;
    double linger; /* of the window, behind the last iteration, in seconds; -1: until it is closed */
    bool check;
    const char *png; /* "": not written */
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
