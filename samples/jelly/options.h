/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "simulate.h"

typedef struct options {
    int side, steps, cells; /* particles along a side of the body, time steps, cells along a side of the grid */
    int iterations;         /* of gradient descent */
    int threads;
    enum way way;
    bool compare;
    const char *png;        /* "": not written */
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
