/* Loop-invariant code motion out of sequential loops, innermost first.
 *
 * Pure operations are total, casts of floats to integers apart, so they may run when the loop would not have. A load
 * may not: it leaves only a loop that surely runs (a row segment, or constant bounds), from the top level of its body,
 * when nothing in the loop writes its plane.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

typedef VEC(ir_op *) loop_list;

static void collect(ir_op *op, void *ctx)
{
    loop_list *l = ctx;
    if (op->code == OP_LOOP)
        vec_push(l, op);
}

static bool surely_runs(const ir_op *loop)
{
    if (ir_loop_attr(loop)->forall)
        return true;
    if (!ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond || !ir_is_const(loop->args[0]) ||
        !ir_is_const(loop->args[1]))
        return false;
    return ir_int(loop->args[0]) < ir_int(loop->args[1]);
}

static bool is_invariant(const ir_op *op, const ir_op *loop)
{
    for (int i = 0; i < op->nargs; i++)
        if (!ir_is_visible(op->args[i], loop->region))
            return false;
    return true;
}

static bool may_leave(const ir_op *op, const ir_op *loop, const effects *e, bool runs)
{
    if (op->code == OP_LOAD)
        return runs && op->region == loop->regions[0] && !(e->at[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS));
    return op_follows_from_operands(op->code);
}

static bool leave_loop(ir_op *loop)
{
    bool changed = false;
    effects e = effects_of_op(loop->region->func->module, loop);
    const bool runs = surely_runs(loop);
    for (int i = 0; i < loop->nregions; i++)
        for (ir_op *op = loop->regions[i]->first, *next; op; op = next) {
            next = op->next;
            if (op->nregions || !may_leave(op, loop, &e, runs) || !is_invariant(op, loop))
                continue;
            ir_move(op, loop->region, loop);
            changed = true;
        }
    effects_free(&e);
    return changed;
}

bool pass_licm(ir_func *f)
{
    loop_list loops = {0};
    bool changed = false;
    ir_walk(f->body, collect, &loops);
    while (loops.len)
        changed |= leave_loop(vec_pop(&loops));
    vec_free(&loops);
    return changed;
}
