/* Makes the innermost dimension of every task an explicit loop over a row segment:
 *
 *     task (i, j) { body }   becomes   task rows (i, lo, hi) { parallel loop j = lo..hi { body } }
 *
 * so that what is invariant in j is hoisted by the ordinary passes, and compilers see a loop to vectorise.
 * Contributions are combined in the loop and yielded once a segment.
 */
#include <math.h>

#include "ir/ops.h"
#include "passes/schedule/schedule.h"

static ir_value *identity(ir_builder *b, ir_reduce kind, scalar t)
{
    if (kind == IR_RED_ADD)
        return ir_zero(b, t);
    const bool max = ir_reduce_is_max(kind);
    if (scalar_is_float(t))
        return ir_const_f(b, t, max ? -INFINITY : INFINITY);
    const int bits = 8 * scalar_bytes(t);
    if (!scalar_is_signed(t))
        return ir_const_i(b, t, max ? 0 : bits == 64 ? -1 : (INT64_C(1) << bits) - 1);
    const int64_t top = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    return ir_const_i(b, t, max ? -top - 1 : top);
}

/* Whether a contribution, whose first companion stands behind it, wins. */
static ir_value *better_of(ir_builder *b, ir_reduce kind, ir_value *const *contribution, ir_value *carried)
{
    if (!ir_reduce_is_last(kind))
        return ir_op2(b, ir_reduce_is_max(kind) ? OP_GT : OP_LT, contribution[0], carried);
    ir_value *as_good = ir_op2(b, ir_reduce_is_max(kind) ? OP_GE : OP_LE, contribution[0], carried);
    return ir_op2(b, OP_AND, contribution[1], as_good);
}

/* The contributions of one iteration combined with the carried ones. */
static void combine(ir_builder *b, const ir_op *task, ir_value *const *carried, ir_value *const *contribution,
                    ir_value **out)
{
    int at = 0;
    for (int k = 0; k < ir_task_attr(task)->nreductions; k++) {
        const ir_reduction *r = &ir_task_attr(task)->reductions[k];
        b->exact = task->res[at]->exact;
        if (r->kind == IR_RED_ADD) {
            for (int c = 0; c <= r->companions; c++, at++)
                out[at] = ir_op2(b, OP_ADD, carried[at], contribution[at]);
            continue;
        }
        ir_value *better = better_of(b, r->kind, contribution + at, carried[at]);
        for (int c = 0; c <= r->companions; c++, at++) {
            b->exact = c == 0 || task->res[at]->exact;
            out[at] = ir_op3(b, OP_SELECT, better, contribution[at], carried[at]);
        }
    }
}

/* What the loop carries of what decides: exact sums, and all that is compared. */
static void mark_exact(const ir_op *task, ir_op *loop)
{
    for (int k = 0, at = 0; k < ir_task_attr(task)->nreductions; k++)
        for (int c = 0; c <= ir_task_attr(task)->reductions[k].companions; c++, at++)
            loop->res[at]->exact = loop->regions[0]->params[1 + at]->exact =
                scalar_is_float(task->res[at]->type) &&
                (task->res[at]->exact || (ir_task_attr(task)->reductions[k].kind != IR_RED_ADD && c == 0));
}

/* In code that is watched no launch has rows, and so nothing that adds up what decides in the order of its rows. */
static bool keeps_order(const ir_op *task)
{
    return task->region->func->module->debug && ir_task_sum_decides(task);
}

static void make_rows(ir_func *f, ir_op *task)
{
    ir_region *old = task->regions[0];
    const int nd = ir_task_attr(task)->ndim;
    arena *mem = f->module->mem;
    ir_region *outer = ir_region_create(f);
    ir_builder b = {.func = f, .region = outer, .loc = task->loc};
    const char *last = old->params[nd - 1]->name;
    for (int d = 0; d < nd - 1; d++) {
        ir_value *p = ir_region_param(outer, SC_I64, old->params[d]->name);
        ir_replace_uses(old, old->params[d], p);
    }
    ir_value *lo = ir_region_param(outer, SC_I64, last ? arena_printf(mem, "%s_lo", last) : NULL);
    ir_value *hi = ir_region_param(outer, SC_I64, last ? arena_printf(mem, "%s_hi", last) : NULL);

    const int n = task->nres;
    ir_value **init = ARENA_ARRAY(mem, ir_value *, n + 1);
    int at = 0;
    for (int k = 0; k < ir_task_attr(task)->nreductions; k++)
        for (int c = 0; c <= ir_task_attr(task)->reductions[k].companions; c++, at++)
            init[at] = c ? ir_zero(&b, task->res[at]->type)
                         : identity(&b, ir_task_attr(task)->reductions[k].kind, task->res[at]->type);
    ir_op *loop = ir_loop(&b, lo, hi, false, n, init);
    ir_loop_attr(loop)->parallel = true;
    ir_region *body = loop->regions[0];
    body->params[0]->name = last;
    ir_replace_uses(old, old->params[nd - 1], body->params[0]);
    ir_op *y = ir_yield_of(old);
    ir_value **vals = ARENA_ARRAY(mem, ir_value *, n + 1);
    for (int i = 0; i < n; i++)
        vals[i] = y->args[i];
    ir_remove(y);
    while (old->first)
        ir_move(old->first, body, NULL);
    ir_builder in = {.func = f, .region = body, .loc = task->loc};
    mark_exact(task, loop);
    combine(&in, task, body->params + 1, vals, vals);
    ir_yield(&in, n, vals);
    ir_yield(&b, n, loop->res);
    ir_set_region(task, 0, outer);
    ir_task_attr(task)->rows = true;
}

static void rows_op(ir_op *op, void *ctx)
{
    if (op->code == OP_TASK && !ir_task_attr(op)->rows && !keeps_order(op))
        make_rows(ctx, op);
}

void pass_rows(ir_func *f)
{
    ir_walk(f->body, rows_op, f);
}
