/* ht by tkc, for points that belong to vertices, or to triangles (complicated). */
#ifndef HT_OURS_H
#define HT_OURS_H

#include <string.h>

#include "bench.h"
#include "ht.h"

enum { THETA = 26 };

typedef struct ours {
    ht *m;
    bool complicated;
    int columns;
    double *jacobian; /* column by column */
} ours;

BENCH_MODULE(ht)

static bool begin(ours *o, const ht_params *p, bool complicated)
{
    o->complicated = complicated;
    o->columns = THETA + (complicated ? 2 : 0);
    o->m = new_ht(p);
    o->jacobian = bench_doubles(3 * (int64_t)p->POINTS * o->columns);
    return o->m;
}

static void primal(void *p)
{
    const ours *o = p;
    ht_pose(o->m);
    (o->complicated ? ht_complicated : ht_simple)(o->m);
}

/* A forward sweep for each column. */
static void grad(void *p)
{
    const ours *o = p;
    ht *m = o->m;
    const int points = m->params.POINTS;
    const size_t each = 3 * (size_t)points;
    double *column = o->jacobian;
    for (int k = 0; o->complicated && k < 2; k++, column += each) {
        for (int i = 0; i < points; i++)
            m->us.dual[i][k] = 1.0;
        ht_pose_jvp(m);
        ht_complicated_jvp(m);
        memcpy(column, m->error.dual, each * sizeof(double));
        memset(m->us.dual, 0, 2 * (size_t)points * sizeof(double));
    }
    for (int k = 0; k < THETA; k++, column += each) {
        m->theta.dual[k] = 1.0;
        ht_pose_jvp(m);
        (o->complicated ? ht_complicated_jvp : ht_simple_jvp)(m);
        memcpy(column, m->error.dual, each * sizeof(double));
        m->theta.dual[k] = 0.0;
    }
}

#endif
