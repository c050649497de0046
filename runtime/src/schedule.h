/* Binomial schedules of checkpoints for the way back over a chain of steps. */
#ifndef RT_SCHEDULE_H
#define RT_SCHEDULE_H

#include <stddef.h>

/* n steps are reversed, whose first state is kept, with room for `slots` further states. */

/* Where the next state is kept: behind so many steps, from 1 to n - 1. n is at least 2, slots at least 1. */
size_t tk_rt_schedule_split(size_t n, size_t slots);
/* Steps that run again in all, the recording of each step not counted. */
double tk_rt_schedule_again(size_t n, size_t slots);

#endif
