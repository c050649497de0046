/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "methods.h"

typedef struct options {
    const char *input, *png;  /* png "": not written */
    double start[PARAMETERS];
    int descent, newton;      /* iterations of the two methods, at most */
    bool check;
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
