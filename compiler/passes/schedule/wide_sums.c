/* Sums of f32 that a parallel loop adds up are added in f64 and rounded once:
 *
 *     sum = task (i) { yield y }   becomes   sum = f32(task (i) { yield f64(y) })
 *
 * A sum of 1e8 terms would keep three digits in f32. The loop converts as it adds, as fast as the memory that it reads
 * in most cases.
 */
#include "ir/ops.h"
#include "passes/schedule/schedule.h"

static void widen(ir_op *task, int k)
{
    ir_value *sum = task->res[k];
    ir_func *f = task->region->func;
    ir_builder before = {.func = f, .region = task->region, .before = task, .loc = task->loc, .exact = sum->exact};
    ir_builder behind = {
        .func = f, .region = task->region, .before = task->next, .loc = task->loc, .exact = sum->exact};
    ir_op *y = ir_yield_of(task->regions[0]);
    ir_builder inside = {.func = f, .region = task->regions[0], .before = y, .loc = y->loc, .exact = sum->exact};
    const int init = ir_task_first_init(task) + k;
    const ir_value *first = task->args[init];
    task->args[init] = ir_is_const(first) ? ir_const_f(&before, SC_F64, ir_float(first))
                                          : ir_cast(&before, SC_F64, task->args[init]);
    y->args[k] = ir_cast(&inside, SC_F64, y->args[k]);
    sum->type = SC_F64;
    ir_value *rounded = ir_cast(&behind, SC_F32, sum);
    ir_replace_uses(f->body, sum, rounded);
    rounded->def->args[0] = sum;
}

static void widen_sums(ir_op *op, void *ctx)
{
    (void)ctx;
    if (op->code != OP_TASK)
        return;
    for (int r = 0, at = 0; r < ir_task_attr(op)->nreductions; r++)
        for (int c = 0; c <= ir_task_attr(op)->reductions[r].companions; c++, at++)
            if (ir_task_attr(op)->reductions[r].kind == IR_RED_ADD && op->res[at]->type == SC_F32)
                widen(op, at);
}

void pass_wide_sums(ir_func *f)
{
    ir_walk(f->body, widen_sums, NULL);
}
