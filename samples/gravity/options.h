/* Command line of the sample. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

typedef struct options {
    const char *input;      /* initial state; NULL: n bodies at random */
    const char *trajectory; /* outputs; "" : not written */
    const char *gif, *png;
    int n;                  /* 0: as many as the input has */
    int steps, every, threads;
    float dt;
    unsigned long seed;
    bool check;
} options;

/* Fills o. Returns -1 to go on, else the exit status. */
int options_parse(options *o, int argc, char **argv);

#endif
