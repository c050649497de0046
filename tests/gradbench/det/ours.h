/* det by tkc, an export func for each size. */
#ifndef DET_OURS_H
#define DET_OURS_H

#include "bench.h"
#include "det.h"

enum { LEAST = 5, MOST = 11 };

typedef struct size {
    void (*value)(const double *A, double *result);
    void (*grad)(const double *A, double *result, const double *result_grad, double *A_grad, void *workspace);
    size_t workspace;
} size;

#define SIZE(n) \
    { \
        det_of##n, det_of##n##_grad, det_of##n##_grad_WORKSPACE \
    }
static const size size_of[] = {SIZE(5), SIZE(6), SIZE(7), SIZE(8), SIZE(9), SIZE(10), SIZE(11)};

typedef struct ours {
    int n;
    const size *s;
    double *A, *gradient, value;
    void *workspace;
} ours;

static void begin(ours *o, int n)
{
    o->n = n;
    o->s = &size_of[n - LEAST];
    o->A = bench_doubles(n * n);
    o->gradient = bench_doubles(n * n);
    o->workspace = bench_workspace(o->s->workspace);
}

static void primal(void *p)
{
    ours *o = p;
    o->s->value(o->A, &o->value);
}

static void grad(void *p)
{
    ours *o = p;
    const double one = 1.0;
    for (int i = 0; i < o->n * o->n; i++)
        o->gradient[i] = 0.0;
    o->s->grad(o->A, NULL, &one, o->gradient, o->workspace);
}

#endif
