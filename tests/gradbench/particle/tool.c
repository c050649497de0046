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
    if (d->m && tool_numbers(input, "w", 1, &d->start))
        return d;
    return NULL;
}

/* The name says the mode of the outer gradient, then that of the force. */
static void aim(data *d, bool outer_forward, bool inner_forward)
{
    particle_aim(d->m, d->start, outer_forward, inner_forward, &d->w);
}

static void rr(void *p)
{
    aim(p, false, false);
}

static void rf(void *p)
{
    aim(p, false, true);
}

static void fr(void *p)
{
    aim(p, true, false);
}

static void ff(void *p)
{
    aim(p, true, true);
}

static json_t *output(void *p)
{
    return tool_value(((data *)p)->w);
}

static const tool_function functions[] = {{"rr", prepare, rr, output},
                                          {"rf", prepare, rf, output},
                                          {"fr", prepare, fr, output},
                                          {"ff", prepare, ff, output},
                                          {0}};
const tool_module tool_particle = {"particle", functions};
