/* A flight along a path: a plan in each interval, of which the first thrusts are flown. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "plan.h"

/* What hits the drone. */
typedef struct gust {
    double time, speed; /* added to the velocity, sideways */
} gust;

/* At the beginning of each interval. */
typedef struct moment {
    double state[STATE], thrust[THRUSTS], goal[3];
    double off;     /* distance of place and goal */
    double seconds; /* of the plan */
    int iterations;
} moment;

typedef struct flight {
    moment *at; /* `count` of them */
    int count;
    double (*plan)[3]; /* places of the plan right behind the gust; task's intervals + 1 */
} flight;

/* Where the drone is to be: on a figure of eight that rises and falls. */
void path(double time, double place[3]);
/* False: no memory. */
bool flight_create(flight *f, const task *t, int count);
void flight_destroy(flight *f);
/* `steps` of the simulation in each interval. NULL, or why it ends at f->count. `told` gets each moment. */
const char *fly(flight *f, task *t, plan *p, const gust *g, int steps, void (*told)(const flight *, const task *));

#endif
