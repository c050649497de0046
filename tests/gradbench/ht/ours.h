/* ht by tkc, for points that belong to vertices, or to triangles (complicated). */
#ifndef HT_OURS_H
#define HT_OURS_H

#include "bench.h"
#include "ht.h"

enum { THETA = 26, PLACES = 2 }; /* the directions: coordinates in triangles, then theta */

typedef struct ours {
    ht *m;
    bool complicated;
    int columns; /* the last ones of error.dual */
} ours;

BENCH_MODULE(ht)

static bool begin(ours *o, const ht_params *p, bool complicated)
{
    o->complicated = complicated;
    o->columns = THETA + (complicated ? PLACES : 0);
    o->m = new_ht(p);
    for (int k = 0; o->m && k < THETA; k++)
        o->m->theta.dual[k][PLACES + k] = 1.0;
    for (int i = 0; o->m && complicated && i < p->POINTS; i++)
        for (int k = 0; k < PLACES; k++)
            o->m->us.dual[i][k][k] = 1.0;
    return o->m;
}

static void primal(void *p)
{
    const ours *o = p;
    ht_pose(o->m);
    (o->complicated ? ht_complicated : ht_simple)(o->m);
}

/* Column k of the Jacobian, row i. */
static double entry(const ours *o, int64_t i, int k)
{
    return o->m->error.dual[i / 3][i % 3][THETA + PLACES - o->columns + k];
}

/* All columns at once. */
static void grad(void *p)
{
    const ours *o = p;
    ht_pose_jvp(o->m);
    (o->complicated ? ht_complicated_jvp : ht_simple_jvp)(o->m);
}

#endif
