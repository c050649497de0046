/* ba by tkc's export funcs, which write values where they belong, in the layout of hand.h. */
#ifndef BA_OURS_H
#define BA_OURS_H

#include "bench.h"
#include "ba.h"
#include "hand.h"

typedef struct ours {
    ba_input in;
    ba_output out;
    double *cameras, *points, *weights, *features; /* of `in`, to be filled */
    int *seen;
} ours;

static ba_output outputs(int64_t observations)
{
    return (ba_output){bench_doubles(2 * observations), bench_doubles(observations),
                       bench_doubles((2 * BA_ROW + 1) * observations)};
}

static void begin(ours *o, int64_t n, int64_t m, int64_t p)
{
    o->cameras = bench_doubles(BA_CAMERA * n);
    o->points = bench_doubles(3 * m);
    o->weights = bench_doubles(p);
    o->features = bench_doubles(2 * p);
    o->seen = bench_zeros(2 * p * (int64_t)sizeof(int));
    o->in = (ba_input){(int)n, (int)m, (int)p, o->cameras, o->points, o->weights, o->features, o->seen};
    o->out = outputs(p);
}

static const ba_Camera *camera(const ba_input *in, int64_t i)
{
    return (const ba_Camera *)(const void *)in->cameras + in->seen[2 * i];
}

static void primal(void *p)
{
    ours *o = p;
    const ba_input *in = &o->in;
    for (int64_t i = 0; i < in->p; i++) {
        ba_reprojection(*camera(in, i), in->points + 3L * in->seen[2 * i + 1], in->weights[i], in->features + 2 * i,
                        o->out.errors + 2 * i);
        ba_weight_error(in->weights[i], o->out.off + i);
    }
}

/* And the errors. */
static void grad(void *p)
{
    ours *o = p;
    const ba_input *in = &o->in;
    const double one = 1.0;
    double *row = o->out.values;
    for (int64_t i = 0; i < in->p; i++, row += 2 * BA_ROW)
        ba_observation(*camera(in, i), in->points + 3L * in->seen[2 * i + 1], in->weights[i], in->features + 2 * i,
                       o->out.errors + 2 * i, (ba_Row *)(void *)row, (ba_Row *)(void *)(row + BA_ROW));
    for (int64_t i = 0; i < in->p; i++)
        row[i] = 0.0;
    for (int64_t i = 0; i < in->p; i++)
        ba_weight_error_grad(in->weights[i], o->out.off + i, &one, row + i);
}

#endif
