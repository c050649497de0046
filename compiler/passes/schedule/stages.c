/* Gathers run interleaved with the rest of the task that they were taken from.
 *
 *     task t in [lo - 1, hi + 1) { accum x.grad[t], y.grad[t + 1] + y.grad[t] + y.grad[t - 1] }       the gather
 *     task i in [lo, hi) { store y.grad[i], 0 }                                                       the rest
 *
 * One after the other, both go through all of y.grad. But iteration i of the rest touches only what its own iteration
 * of the original task did: elements that it stores no other iteration of that task touches, by the rules of the
 * language, and the gather computes that iteration for t in [i - 1, i + 1] alone. So it may run as soon as the gather
 * is done with these, while they are still in the cache. The runtime needs no shifts for that: in the first dimension
 * the gather has as many iterations more as its shifts differ, and k of the rest is free once k to k + that difference
 * are done (tk_run_stages).
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/schedule/schedule.h"

static void label(ir_op *op, void *ctx)
{
    (void)ctx;
    if (ir_class_of(op) == IR_CLASS_OWN)
        ir_set_class(op, IR_CLASS_BEHIND);
}

static bool adds_to_array(const ir_op *op)
{
    return op->code == OP_LACCUM;
}

static void find_stages(ir_op *rest, void *ctx)
{
    (void)ctx;
    if (rest->code != OP_TASK || rest->nres || ir_task_attr(rest)->nscatters ||
        ir_has(rest->regions[0], adds_to_array) || !ir_op_has_effect(rest))
        return;
    bool found = false;
    for (ir_op *op = rest->prev; op; op = op->prev) {
        if (op->code == OP_TASK && ir_task_attr(op)->fused_with == rest &&
            ir_task_attr(op)->ndim == ir_task_attr(rest)->ndim && !op->nres && !ir_task_attr(op)->nscatters)
            found = ir_task_attr(op)->overlap_next = true;
        else if (!op_is_pure_table(op->code) && !op_is_launch_constant(op->code))
            break;
    }
    if (found)
        ir_walk(rest->regions[0], label, NULL);
}

void pass_stages(ir_func *f)
{
    ir_walk(f->body, find_stages, NULL);
}
