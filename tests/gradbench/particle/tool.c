#include "bench.h"
#include "particle.h"
#include "tool.h"

typedef struct data {
    particle *m;
    double start, w;
} data;

BENCH_MODULE(particle)

static void *prepare(const json_t *input)
{
    data *d = bench_zeros(sizeof *d);
    d->m = new_particle(NULL);
    return d->m && tool_numbers(input, "w", 1, &d->start) ? d : NULL;
}

static void aim(data *d, bool outer_forward, bool inner_forward)
{
    particle_aim(d->m, d->start, outer_forward, inner_forward, &d->w);
}

static json_t *output(void *p)
{
    return tool_value(((data *)p)->w);
}

TOOL_MODES(prepare, aim, output)
const tool_module tool_particle = {"particle", functions};
