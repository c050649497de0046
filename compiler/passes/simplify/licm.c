/* Loop-invariant code motion out of sequential loops, innermost first.
 *
 * Pure operations are total, casts of floats to integers apart, so they may run when the loop would not have. A load
 * may not: it leaves only a loop that surely runs (a row segment, or constant bounds), from the top level of its body,
 * when nothing in the loop writes its plane.
 *
 * Before adjoints are made, so does a value with a pull-back that may be at a pole, of sqrt(r) at 0: the pull-back
 * leaves with the value, and where the loop did not run it gives 0 * inf.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

typedef VEC(ir_op *) loop_list;

static void collect_loop(ir_op *op, void *ctx)
{
    loop_list *l = ctx;
    if (op->code == OP_LOOP)
        vec_push(l, op);
}

bool loop_surely_runs(const ir_op *loop)
{
    if (ir_loop_attr(loop)->parallel)
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

/* Of constants, params, extents and integers alone. */
static bool is_passive(const ir_value *v, int depth)
{
    if (!scalar_is_float(v->type))
        return true;
    if (!v->def || depth == 0)
        return false;
    const ir_op *op = v->def;
    bool passive = op->code == OP_CONST || op->code == OP_MPARAM || op->code == OP_STOP || op_is_pure_table(op->code);
    for (int i = 0; passive && op->code != OP_STOP && i < op->nargs; i++)
        passive = is_passive(op->args[i], depth - 1);
    return passive;
}

bool has_pole_by(const ir_op *op, int k)
{
    const ir_op *def = op->args[k]->def;
    return !is_passive(op->args[k], 16) && !(def && def->code == OP_NONZERO);
}

bool has_poles(const ir_op *op)
{
    switch (op->code) {
    case OP_DIV:
        if (ir_is_const(op->args[1]) || (op->args[1]->def && op->args[1]->def->code == OP_NONZERO))
            return false;
        break;
    case OP_CALL:
    case OP_POW:
    case OP_POWI:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_CBRT:
    case OP_LOG:
    case OP_LOG2:
    case OP_LOG1P:
    case OP_ASIN:
    case OP_ACOS:
    case OP_ATAN2:
    case OP_LGAMMA:
    case OP_DIGAMMA:
        break;
    default: /* exp overflows, but nobody wants its value there */
        return false;
    }
    for (int i = 0; i < op->nargs; i++)
        if (!is_passive(op->args[i], 16))
            return true;
    return false;
}

static bool may_leave(const ir_op *op, const ir_op *loop, const effects *e, bool runs)
{
    if (op->code == OP_LOAD)
        return runs && op->region == loop->regions[0] && !(e->at[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS));
    return op_follows_from_operands(op->code);
}

static bool leave_loop(ir_op *loop, bool underived)
{
    bool changed = false;
    effects e = effects_of_op(loop->region->func->module, loop);
    const bool runs = loop_surely_runs(loop);
    for (int i = 0; i < loop->nregions; i++)
        for (ir_op *op = loop->regions[i]->first, *next; op; op = next) {
            next = op->next;
            if (op->nregions || !may_leave(op, loop, &e, runs) || !is_invariant(op, loop))
                continue;
            if (underived && i == 0 && !runs && has_poles(op))
                continue;
            ir_move(op, loop->region, loop);
            changed = true;
        }
    effects_free(&e);
    return changed;
}

static bool leave_loops(ir_func *f, bool underived)
{
    loop_list loops = {0};
    bool changed = false;
    ir_walk(f->body, collect_loop, &loops);
    while (loops.len)
        changed |= leave_loop(vec_pop(&loops), underived);
    vec_free(&loops);
    return changed;
}

bool pass_licm(ir_func *f)
{
    return leave_loops(f, false);
}

bool pass_invariants(ir_func *f)
{
    return leave_loops(f, true);
}
