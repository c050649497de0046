#include "bench.h"
#include "saddle.h"
#include "tool.h"

typedef struct data {
    saddle *m;
    double start[2], points[4];
} data;

BENCH_MODULE(saddle)

static void *prepare(const json_t *input)
{
    data *d = bench_zeros(sizeof *d);
    d->m = new_saddle(NULL);
    if (d->m && tool_numbers(input, "start", 2, d->start))
        return d;
    return NULL;
}

/* The name says the mode of the outer gradient, then that of the maximum. */
static void find(data *d, bool outer_forward, bool inner_forward)
{
    saddle_find(d->m, d->start, outer_forward, inner_forward, d->points);
}

static void rr(void *p)
{
    find(p, false, false);
}

static void rf(void *p)
{
    find(p, false, true);
}

static void fr(void *p)
{
    find(p, true, false);
}

static void ff(void *p)
{
    find(p, true, true);
}

static json_t *output(void *p)
{
    return tool_list(((data *)p)->points, 4);
}

static const tool_function functions[] = {{"rr", prepare, rr, output},
                                          {"rf", prepare, rf, output},
                                          {"fr", prepare, fr, output},
                                          {"ff", prepare, ff, output},
                                          {0}};
const tool_module tool_saddle = {"saddle", functions};
