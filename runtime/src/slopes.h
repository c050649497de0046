/* Slopes of a function of one variable, by differences. */
#ifndef RT_SLOPES_H
#define RT_SLOPES_H

#include <stdbool.h>

typedef struct rt_line {
    double (*at)(void *ctx, double *x); /* the value at x, which becomes what the variable's type makes of it */
    void *ctx;
    double x;
    bool single;  /* it is computed in f32 */
    double noise; /* by which the difference of two values is off, if that is more than their last digits */
} rt_line;

/* error: how far it may be off; INFINITY if nothing is known. step: that it comes from. */
typedef struct rt_slope {
    double slope, error, step;
    bool jump; /* of one side: the value at x is not the limit from there */
} rt_slope;

rt_slope tk_rt_slope_central(const rt_line *l);
/* To the right (1) or left (-1). */
rt_slope tk_rt_slope_aside(const rt_line *l, int side);
/* The noise of the line in the neighbourhood that a slope with this step comes from. */
double tk_rt_slope_noise(const rt_line *l, double step);
/* Whether jumps beside x, at most 2.5 * step from it, add up to such a slope, where they are densest. */
bool tk_rt_slope_of_jumps(const rt_line *l, double step, double slope);

#endif
