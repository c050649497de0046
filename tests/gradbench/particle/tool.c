#include <stdlib.h>

#include "bench.h"
#include "particle.h"
#include "tool.h"

typedef struct data {
    particle *m;
    tk_session *s;
    double start, w;
} data;

static void destroy(void *p)
{
    data *d = p;
    particle_destroy(d->m);
    tk_session_destroy(d->s);
    free(d);
}

static void *prepare(const json_t *input)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->s = bench_session();
    d->m = particle_create(d->s, NULL);
    if (d->m ? tool_numbers(input, "w", 1, &d->start) : tool_refuse("%s", tk_error()))
        return d;
    destroy(d);
    return NULL;
}

/* The name says the mode of the outer gradient, then that of the force. */
static bool aim(data *d, bool outer_forward, bool inner_forward)
{
    return particle_aim(d->m, d->start, outer_forward, inner_forward, &d->w) == TK_OK ||
           tool_refuse("%s", particle_error(d->m));
}

static bool rr(void *p)
{
    return aim(p, false, false);
}

static bool rf(void *p)
{
    return aim(p, false, true);
}

static bool fr(void *p)
{
    return aim(p, true, false);
}

static bool ff(void *p)
{
    return aim(p, true, true);
}

static json_t *output(void *p)
{
    return tool_value(((data *)p)->w);
}

static const tool_function functions[] = {{"rr", prepare, rr, output, destroy},
                                          {"rf", prepare, rf, output, destroy},
                                          {"fr", prepare, fr, output, destroy},
                                          {"ff", prepare, ff, output, destroy},
                                          {0}};
const tool_module tool_particle = {"particle", functions};
