/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "control.h"

typedef struct options {
    task task;                /* all but the workspace */
    push push;
    int fine;                 /* steps in each interval of the runs */
    double hold;              /* seconds to hold the goal */
    const char *guess;        /* NULL: a straight line */
    const char *trajectory, *gif, *png; /* "": not written */
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
