/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "scene.h"

typedef struct options {
    const char *input; /* NULL: random numbers */
    synthetic synthetic;
    int iterations;
    bool check;
    const char *save, *png; /* "": not written */
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
