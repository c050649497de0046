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

/* Images that are taken while n steps are reversed: C(c + r - 1, r) - 1 of C(c + r, r) steps. */
static double images(size_t n, size_t slots)
{
    const double c = (double)slots + 1, r = (double)tk_checkpoint_runs((int64_t)n, (int64_t)slots + 1);
    return slots > 0 && n > 1 ? (double)n * c / (c + r) : 0.0;
}

/* With k slots. */
static rt_plan with_slots(const rt_means *m, size_t k)
{
    const size_t own = k == 0 ? 0 : m->image < m->memory ? m->image : m->memory; /* the last image stays in memory */
    const size_t rest = m->bytes - (k * m->image < m->bytes ? k * m->image : m->bytes);
    const size_t left = rest < m->memory - own ? rest : m->memory - own, each = left / m->entry;
    const size_t units = each > 0 ? (m->n + each - 1) / each : m->n;
    const double again = tk_rt_schedule_again(units, k) * (double)m->n / (double)units;
    const double copies = 2.0 * images(units, k) + (double)units; /* taken, put back; put back behind each unit */
    return (rt_plan){k, each > 0 ? each : 1, units, again, again + m->copy * copies};
}

rt_plan tk_rt_schedule_plan(const rt_means *m)
{
    rt_plan best = with_slots(m, 0);
    for (size_t k = 1; best.units > 1 && k * m->image < m->bytes; k += k / 8 + 1) {
        const rt_plan p = with_slots(m, k);
        if (p.time < best.time)
            best = p;
        if (p.units == 1)
            break;
    }
    return best;
}

size_t tk_rt_schedule_cut(size_t first, size_t n, double part, rt_cost_fn cost, const void *ctx)
{
    const double all = cost(ctx, first, n), mean = all > 0 ? all / (double)n : 1.0, beside = mean / 4;
    const double target = part * (all + (double)n * beside) * (1 - 1e-9);
    size_t lo = 1, hi = n - 1;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (cost(ctx, first, mid) + (double)mid * beside < target)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
