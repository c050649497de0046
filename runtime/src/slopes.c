#include "slopes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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

static double noise_of(const rt_line *l, double a, double b)
{
    return fmax(epsilon(l) * (fabs(a) + fabs(b)), l->noise);
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
        offer(&b, i, h, (high - low) / (up - down), ratio * ratio, noise_of(l, high, low) / (up - down));
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
        noise = noise_of(l, there, y);
        offer(&b, i, h, (there - y) / (to - x), ratio, noise / fabs(to - x));
    }
    /* the change of what is continuous, roots included, goes to zero with the steps */
    return (rt_slope){
        .slope = b.slope, .error = b.error, .step = b.step, .jump = change > 32 * noise && before < 1.2 * change};
}

/* ---- noise ----
 * Of values that are close together, differences of higher orders have what is smooth about them taken out; J. More and
 * S. Wild, Estimating computational noise, SIAM Journal on Scientific Computing 33, 2011. To each side, for a kink is
 * no noise. */

enum { SAMPLES = 9, FIRST_ORDER = 3, LAST_ORDER = 6, DEVIATIONS = 12 };

/* The standard deviation of one value; to *changes, how many values are not the one before. */
static double noise_aside(const rt_line *l, double step, int *changes)
{
    double y[SAMPLES], least = INFINITY, scale = 1; /* of a difference of order k: k!^2 / (2 k)! */
    for (int i = 0; i < SAMPLES; i++) {
        double x = l->x + step * i;
        y[i] = l->at(l->ctx, &x);
    }
    for (int k = 1; k <= LAST_ORDER; k++) {
        double sum = 0;
        for (int i = 0; i < SAMPLES - k; i++) {
            y[i] = y[i + 1] - y[i];
            sum += y[i] * y[i];
            *changes += k == 1 && y[i] != 0;
        }
        scale *= 0.5 * k / (2 * k - 1);
        if (k >= FIRST_ORDER)
            least = fmin(least, sqrt(scale * sum / (SAMPLES - k)));
    }
    return least;
}

double tk_rt_slope_noise(const rt_line *l, double step)
{
    const double widest = ratio_of_steps(l) * ratio_of_steps(l) * step; /* of three slopes in a row */
    double apart = fmax(widest / (SAMPLES - 1), 2 * epsilon(l) * fabs(l->x)), noise = 0;
    /* where most values are the one before, the loss has too few digits to tell them apart */
    for (int changes = 0; changes < SAMPLES && apart <= first_step(l); apart *= ratio_of_steps(l)) {
        changes = 0;
        const double right = noise_aside(l, apart, &changes), left = noise_aside(l, -apart, &changes);
        noise = fmax(noise, fmax(right, left)); /* of even stairs wide samples see none */
    }
    return isfinite(noise) ? DEVIATIONS * noise : 0;
}

/* ---- jumps beside x ---- */

enum { PIECES = 32 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the jumps in PIECES pieces around x, of w to each side, add up to. A jump is a change in one piece that is not
 * between those in the two beside it, and far beyond what is usual there, be it rounding or the shape of the function.
 */
static double jumps_within(const rt_line *l, double w)
{
    double change[PIECES], apart[PIECES], sorted[PIECES], before = 0, top = 0, sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        double x = l->x + w * (2.0 * i / PIECES - 1.0);
        const double y = l->at(l->ctx, &x);
        if (i > 0)
            change[i - 1] = y - before;
        before = y;
        top = fmax(top, fabs(y));
    }
    int n = 0;
    for (int i = 1; i + 1 < PIECES; i++, n++)
        apart[n] = sorted[n] = fabs(change[i] - 0.5 * (change[i - 1] + change[i + 1]));
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    const double usual = fmax(16 * sorted[n / 4], 32 * epsilon(l) * top);
    for (int i = 0; i < n; i++)
        sum += apart[i] > usual ? apart[i] : 0;
    return 0.5 * sum; /* each stands out beside its neighbours, and they beside it */
}

bool tk_rt_slope_of_jumps(const rt_line *l, double step, double slope)
{
    const double least = 2.0 * PIECES * epsilon(l) * fmax(fabs(l->x), DBL_MIN);
    for (double w = 2.5 * step; w > least && w > DBL_MIN; w /= 2.5)
        if (jumps_within(l, w) / (2 * w) >= slope)
            return true;
    return false;
}
