/* Objectives of one number, which a kernel adds to a field: tkc's side, for the benchmark and for the tool. */
#ifndef OBJECTIVE_H
#define OBJECTIVE_H

#include "bench.h"

/* Defines the type ours, a module and the number; primal, which computes it; and grad, which computes its gradient. */
#define OBJECTIVE(module, kernel, field) \
    typedef struct ours { \
        module *m; \
        double value; \
    } ours; \
    BENCH_MODULE(module) \
    static void primal(void *p) \
    { \
        ours *o = p; \
        o->m->field.data[0] = 0.0; \
        module##_##kernel(o->m); \
        o->value = o->m->field.data[0]; \
    } \
    static void grad(void *p) \
    { \
        ours *o = p; \
        tk_module_clear_grad(&o->m->tk); \
        o->m->field.grad[0] = 1.0; \
        module##_##kernel##_grad(o->m); \
    }

#endif
