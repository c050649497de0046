/* Binomial schedules: A. Griewank and A. Walther, Algorithm 799: revolve, ACM TOMS 26 (2000).
 *
 * With c kept states, the first one among them, and at most r runs of each step before the run that is recorded, chains
 * of C(c + r, c) steps can be reversed. */
#include "schedule.h"

/* C(c + r, c), at most `most`. */
static double reach(size_t c, size_t r, double most)
{
    const size_t low = c < r ? c : r, high = c < r ? r : c;
    double b = 1.0;
    for (size_t k = 1; k <= low && b < most; k++)
        b = b * (double)(high + k) / (double)k;
    return b < most ? b : most;
}

/* The least r that reaches n steps. */
static size_t runs_of(size_t n, size_t c)
{
    size_t r = 0;
    for (size_t step = n; step > 0; step /= 2)
        while (r + step < n && reach(c, r + step, (double)n) < (double)n)
            r += step;
    return reach(c, r, (double)n) < (double)n ? r + 1 : r;
}

size_t tk_rt_schedule_split(size_t n, size_t slots)
{
    const size_t c = slots + 1, r = runs_of(n, c);
    const double most = (double)n;
    const double left = r > 1 ? reach(c, r - 2, most) : 1.0, right = most - reach(c - 1, r, most);
    const double at = left > right ? left : right;
    return at < 1.0 ? 1 : at > most - 1.0 ? n - 1 : (size_t)at;
}

double tk_rt_schedule_again(size_t n, size_t slots)
{
    const size_t c = slots + 1, r = runs_of(n, c);
    /* each of the n steps r times, but for the steps that fewer runs suffice for */
    double spared = 1.0; /* C(c + r, c + 1), which may be more than n */
    for (size_t k = 1; r > 0 && k < r; k++)
        spared = spared * (double)(c + 1 + k) / (double)k;
    return r > 0 ? (double)r * (double)n - spared : 0.0;
}
