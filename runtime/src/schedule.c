/* What a binomial schedule costs, and where it keeps states: tkc_math.h has its functions. */
#include "schedule.h"

#include "tkc/tkc_math.h"

size_t tk_rt_schedule_split(size_t n, size_t slots)
{
    return (size_t)tk_checkpoint_ahead((int64_t)n, (int64_t)slots);
}

double tk_rt_schedule_again(size_t n, size_t slots)
{
    const size_t c = slots + 1, r = (size_t)tk_checkpoint_runs((int64_t)n, (int64_t)c);
    /* each of the n steps r times, but for the steps that fewer runs suffice for */
    double spared = 1.0; /* C(c + r, c + 1), which may be more than n */
    for (size_t k = 1; r > 0 && k < r; k++)
        spared = spared * (double)(c + 1 + k) / (double)k;
    return r > 0 ? (double)r * (double)n - spared : 0.0;
}
