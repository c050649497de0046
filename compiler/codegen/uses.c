/* Who uses the values of a function, and what that tells of them. */
#include "codegen/uses.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"

bool op_is_dead(const value_use *use, const ir_op *op)
{
    if (!ir_op_is_pure(op))
        return false;
    for (int i = 0; i < op->nres; i++)
        if (use[op->res[i]->id].uses)
            return false;
    return true;
}

static void count(value_use *use, const ir_value *x, const ir_op *user)
{
    use[x->id].uses++;
    use[x->id].user = user;
}

bool reduction_is_wanted(const value_use *use, const ir_op *task, int k)
{
    if (use[task->res[k]->id].uses)
        return true;
    for (int i = 0, at = 0; i < ir_task_attr(task)->nreductions;
         at += 1 + ir_task_attr(task)->reductions[i++].companions) {
        const ir_reduction *r = &ir_task_attr(task)->reductions[i];
        const int deciding = r->kind == IR_RED_ADD ? 0 : ir_reduce_is_last(r->kind) ? 2 : 1;
        if (k < at || k >= at + deciding)
            continue;
        for (int c = 0; c <= r->companions; c++) /* the winner decides for its companions */
            if (use[task->res[at + c]->id].uses)
                return true;
    }
    return false;
}

bool yield_is_silent(const value_use *use, const ir_op *yield, int k)
{
    const ir_op *parent = yield->region->parent;
    if (!parent || yield->region != parent->regions[0])
        return parent && parent->code == OP_IF && !use[parent->res[k]->id].uses;
    if (parent->code == OP_IF)
        return !use[parent->res[k]->id].uses;
    if (parent->code == OP_TASK)
        return !reduction_is_wanted(use, parent, k);
    return parent->code == OP_LOOP && yield->args[k] == parent->regions[0]->params[ir_loop_first_param(parent) + k];
}

static const ir_value *angle_of(const ir_op *op)
{
    const ir_value *v = op->args[0];
    return v->def && v->def->code == OP_NEG ? v->def->args[0] : v;
}

static void note_angle(value_use *use, const ir_op *op)
{
    use[angle_of(op)->id].sine |= op->code == OP_SIN;
    use[angle_of(op)->id].cosine |= op->code == OP_COS;
    use[op->res[0]->id].next_angle = use[op->args[0]->id].angle;
    use[op->args[0]->id].angle = op;
}

bool is_of_both(const value_use *use, const ir_op *op)
{
    return (op->code == OP_SIN || op->code == OP_COS) && use[angle_of(op)->id].sine && use[angle_of(op)->id].cosine;
}

/* The type behind a pointer, as its uses tell. */
static void note_pointer(value_use *use, const ir_op *op)
{
    switch (op->code) {
    case OP_LLOAD:
        use[op->args[0]->id].elem = op->res[0]->type;
        break;
    case OP_LACCUM:
        use[op->args[0]->id].added = true;
        use[op->args[0]->id].elem = op->args[2]->type;
        break;
    case OP_LSTORE:
        use[op->args[0]->id].elem = op->args[2]->type;
        break;
    case OP_SIN:
    case OP_COS:
        note_angle(use, op);
        break;
    case OP_LOCAL:
        use[op->res[0]->id].elem = ir_local_attr(op)->elem;
        break;
    case OP_STK_ALLOC:
    case OP_REC_ALLOC:
    case OP_REC_GET:
        use[op->res[0]->id].layout = ir_layout_of(op);
        break;
    case OP_STK_LOAD:
    case OP_STK_STORE:
    case OP_REC_LOAD:
    case OP_REC_STORE:
    case OP_REC_WON:
        use[op->args[0]->id].layout = ir_layout_of(op);
        break;
    case OP_ATOMIC:
        if (ir_layout_of(op))
            use[op->args[ir_field_of(op)->ndim + 2]->id].layout = ir_layout_of(op);
        break;
    case OP_LOOP:
        for (int k = 0; k < ir_loop_ncarried(op); k++) { /* one C variable for both */
            value_use *param = &use[op->regions[0]->params[ir_loop_first_param(op) + k]->id],
                      *res = &use[op->res[k]->id];
            if (!param->layout)
                param->layout = res->layout;
            res->layout = param->layout;
        }
        break;
    default:
        break;
    }
}

const ir_value *checked_count(const ir_module *m, const ir_op *op)
{
    const bool access = op->code == OP_LLOAD || op->code == OP_LSTORE || op->code == OP_LACCUM;
    return m->debug && access && op->args[0]->def->nargs ? op->args[0]->def->args[0] : NULL;
}

/* Backwards, so that what only unused values use is not counted. */
static void scan_uses(value_use *use, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev) {
        if (op_is_dead(use, op))
            continue;
        for (int i = op->nregions - 1; i >= 0; i--)
            scan_uses(use, op->regions[i]);
        for (int i = 0; i < op->nargs; i++)
            if (op->code != OP_YIELD || !yield_is_silent(use, op, i))
                count(use, op->args[i], op);
        if (checked_count(r->func->module, op))
            count(use, checked_count(r->func->module, op), op);
        note_pointer(use, op);
    }
}

value_use *value_uses(const ir_func *f)
{
    value_use *use = xmalloc((f->next_value + 1) * sizeof *use);
    memset(use, 0, (f->next_value + 1) * sizeof *use);
    for (uint32_t i = 0; i < f->next_value; i++)
        use[i].elem = SC_NONE;
    scan_uses(use, f->body);
    return use;
}
