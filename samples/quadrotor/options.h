/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "flight.h"

typedef struct options {
    task task;
    double seconds; /* of the flight */
    gust gust;
    int steps; /* of the simulation, in each interval */
    bool check;
    const char *png; /* "": not written */
} options;

/* Fills o. Returns -1 to go on, else the exit status. What o points to is the program's or argv's. */
int options_parse(options *o, int argc, const char **argv);

#endif
