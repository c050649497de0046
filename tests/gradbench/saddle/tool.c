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
    return d->m && tool_numbers(input, "start", 2, d->start) ? d : NULL;
}

static void find(data *d, bool outer_forward, bool inner_forward)
{
    saddle_find(d->m, d->start, outer_forward, inner_forward, d->points);
}

static json_t *output(void *p)
{
    return tool_list(((data *)p)->points, 4);
}

TOOL_MODES(prepare, find, output)
const tool_module tool_saddle = {"saddle", functions};
