#include <stdlib.h>

#include "bench.h"
#include "saddle.h"
#include "tool.h"

typedef struct data {
    saddle *m;
    tk_session *s;
    double start[2], points[4];
} data;

static void destroy(void *p)
{
    data *d = p;
    saddle_destroy(d->m);
    tk_session_destroy(d->s);
    free(d);
}

static void *prepare(const json_t *input)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->s = bench_session();
    d->m = saddle_create(d->s, NULL);
    if (d->m ? tool_numbers(input, "start", 2, d->start) : tool_refuse("%s", tk_error()))
        return d;
    destroy(d);
    return NULL;
}

/* The name says the mode of the outer gradient, then that of the maximum. */
static bool find(data *d, bool outer_forward, bool inner_forward)
{
    return saddle_find(d->m, d->start, outer_forward, inner_forward, d->points) == TK_OK ||
           tool_refuse("%s", saddle_error(d->m));
}

static bool rr(void *p)
{
    return find(p, false, false);
}

static bool rf(void *p)
{
    return find(p, false, true);
}

static bool fr(void *p)
{
    return find(p, true, false);
}

static bool ff(void *p)
{
    return find(p, true, true);
}

static json_t *output(void *p)
{
    return tool_list(((data *)p)->points, 4);
}

static const tool_function functions[] = {{"rr", prepare, rr, output, destroy},
                                          {"rf", prepare, rf, output, destroy},
                                          {"fr", prepare, fr, output, destroy},
                                          {"ff", prepare, ff, output, destroy},
                                          {0}};
const tool_module tool_saddle = {"saddle", functions};
