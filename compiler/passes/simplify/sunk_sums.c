/* Sums of what a branch yields, where the other side yields zero, stand in the branch:
 *
 *     r = if (c) { yield 0 } else { yield v };  accum x[i], r        becomes        if (c) { } else { accum x[i], v }
 *
 * in loops in order, of adjoints: nothing is added where the primal took the other side.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && scalar_is_float(v->type) && ir_float(v) == 0.0;
}

/* The plane is only added to, between the branch and the sum. */
static bool may_pass(const ir_op *branch, const ir_op *accum)
{
    for (const ir_op *op = branch->next; op != accum; op = op->next) {
        effects e = effects_of_op(accum->region->func->module, op);
        const bool waits = (e.at[ir_storage_of_op(accum)] & (OP_READS | OP_STORES)) != 0;
        effects_free(&e);
        if (waits)
            return false;
    }
    return true;
}

static bool is_there(const ir_value *v, const ir_op *branch, const ir_op *accum)
{
    for (const ir_op *op = branch; op != accum; op = op->next)
        if (v->def == op)
            return false;
    return true;
}

static bool sink(ir_op *accum)
{
    const ir_value *sum = accum->args[accum->nargs - 1];
    ir_op *branch = sum->def;
    if (!branch || branch->code != OP_IF || branch->region != accum->region || ir_access_attr(accum)->exact)
        return false;
    const bool first = is_zero(ir_yield_of(branch->regions[0])->args[sum->index]);
    if (!first && !is_zero(ir_yield_of(branch->regions[1])->args[sum->index]))
        return false;
    for (int d = 0; d <= ir_field_of(accum)->ndim; d++)
        if (!is_there(accum->args[d], branch, accum))
            return false;
    if (!may_pass(branch, accum))
        return false;
    ir_region *side = branch->regions[first];
    ir_op *yield = ir_yield_of(side);
    ir_move(accum, side, yield);
    accum->args[accum->nargs - 1] = yield->args[sum->index];
    return true;
}

typedef VEC(ir_op *) op_list;

static void collect_accum(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code == OP_ACCUM && !ir_task_of(op))
        vec_push(l, op);
}

bool pass_sunk_sums(ir_func *f)
{
    op_list sums = {0};
    bool changed = false;
    ir_walk(f->body, collect_accum, &sums);
    for (size_t i = 0; i < sums.len; i++)
        changed |= sink(sums.at[i]);
    vec_free(&sums);
    return changed;
}
