#include "slopes.h"

#include <float.h>
#include <math.h>

enum { STEPS = 12 };

static double first_step(const rt_line *l)
{
    return 0.25 * (fabs(l->x) > 1 ? fabs(l->x) : 1);
}

/* Not whole: where a step is a number of periods of the function, the next one is not. */
static double ratio_of_steps(const rt_line *l)
{
    return l->single ? 2.17 : 4.37;
}

static double epsilon(const rt_line *l)
{
    return l->single ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* Of extrapolations from ever smaller steps the one that changes least: a wide step has the error of higher
 * derivatives, a narrow one that of rounding. */
typedef struct best {
    double before, rich_before, slope, error, step;
} best;

static void offer(best *b, int i, double h, double slope, double gain, double noise)
{
    const double rich = i ? (gain * slope - b->before) / (gain - 1) : slope;
    if (i > 1 && fabs(rich - b->rich_before) + noise < b->error) {
        b->error = fabs(rich - b->rich_before) + noise;
        b->slope = rich;
        b->step = h;
    }
    b->before = slope;
    b->rich_before = rich;
}

rt_slope tk_rt_slope_central(const rt_line *l)
{
    const double ratio = ratio_of_steps(l);
    double h = first_step(l);
    best b = {.error = INFINITY, .step = h};
    for (int i = 0; i < STEPS; i++, h /= ratio) {
        double up = l->x + h, down = l->x - h;
        const double high = l->at(l->ctx, &up), low = l->at(l->ctx, &down);
        offer(&b, i, h, (high - low) / (up - down), ratio * ratio, epsilon(l) * (fabs(high) + fabs(low)) / (up - down));
    }
    return (rt_slope){.slope = b.slope, .error = b.error, .step = b.step};
}

rt_slope tk_rt_slope_aside(const rt_line *l, int side)
{
    const double ratio = ratio_of_steps(l);
    double x = l->x, h = first_step(l), change = 0, before = 0, noise = 0;
    const double y = l->at(l->ctx, &x);
    best b = {.error = INFINITY, .step = h};
    for (int i = 0; i < STEPS; i++, h /= ratio) {
        double to = l->x + side * h;
        const double there = l->at(l->ctx, &to);
        before = change;
        change = fabs(there - y);
        noise = epsilon(l) * (fabs(there) + fabs(y));
        offer(&b, i, h, (there - y) / (to - x), ratio, noise / fabs(to - x));
    }
    /* the change of what is continuous, roots included, goes to zero with the steps */
    return (rt_slope){
        .slope = b.slope, .error = b.error, .step = b.step, .jump = change > 32 * noise && before < 1.2 * change};
}
