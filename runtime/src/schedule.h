/* Binomial schedules of checkpoints for the way back over a chain of steps. */
#ifndef RT_SCHEDULE_H
#define RT_SCHEDULE_H

#include <stddef.h>

/* n steps are reversed, whose first state is kept, with room for `slots` further states. */

/* Where the next state is kept: behind so many steps, from 1 to n - 1. n is at least 2, slots at least 1. */
size_t tk_rt_schedule_split(size_t n, size_t slots);
/* Steps that run again in all, the recording of each step not counted. */
double tk_rt_schedule_again(size_t n, size_t slots);

/* What n launches in front of their first image are reversed with. */
typedef struct rt_means {
    size_t n;
    size_t bytes, memory; /* bytes of further images and of recorded launches together; of these in memory */
    size_t image, entry;  /* bytes of an image; of a recorded launch */
    double copy;          /* time of a copy of an image; 1: of a launch */
} rt_means;

/* How they are reversed. */
typedef struct rt_plan {
    size_t slots; /* further images that are held at once */
    size_t few;   /* the most launches that are recorded at a time */
    size_t units; /* of so many */
    double again; /* launches that run again without being recorded */
    double time;  /* of these, and of copies of images to and fro */
} rt_plan;

/* The plan that takes the least time. */
rt_plan tk_rt_schedule_plan(const rt_means *m);

/* Time of launches first .. first + n - 1, in any unit. */
typedef double (*rt_cost_fn)(const void *ctx, size_t first, size_t n);

/* The next image comes behind so many of n launches, 1 to n - 1, that `part` of 1 of their time has passed. Each launch
 * has a quarter of the mean time beside its own: many cheap launches without an image between them cost as well. */
size_t tk_rt_schedule_cut(size_t first, size_t n, double part, rt_cost_fn cost, const void *ctx);

#endif
