/* A parallel loop as data, before any of it is printed: what it takes from outside, what it reduces. */
#ifndef TKC_CODEGEN_PLAN_H
#define TKC_CODEGEN_PLAN_H

#include "codegen/body.h"

/* One reduced value. */
typedef struct task_part {
    const ir_value *init, *yield, *result;
    int leader; /* MIN, MAX: index of the value that decides; else -1 */
    ir_reduce kind;
    bool wanted;
    bool only_decides; /* nothing reads the result */
} task_part;

typedef struct task_plan {
    const ir_op *op;
    VEC(const ir_value *)
    captures; /* what comes from outside, but for what is made anew inside: constants, params, extents */
    task_part *parts;
    int nparts;
    bool once;           /* one row segment is the whole chunk: what the body yields is the partial result */
    bool adds_to_arrays; /* of the kernel */
    bool stack;          /* the body saves values */
    body_plan body;
    VEC(ir_storage) scatters; /* to which the body adds through pointers in its arguments */
    uint32_t stamp;
} task_plan;

/* stamp: another one for each task of the function, not 0. steps: as of plan_body. The parts live in mem. */
task_plan plan_task(facts *x, const ir_op *task, value_use *use, uint32_t stamp, bool steps, arena *mem);
void task_plan_free(task_plan *p);

#endif
