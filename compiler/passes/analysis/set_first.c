/* Local arrays whose zeros nobody sees: a loop stores all elements before anything reads one.
 *
 *     a = local [n];  loop j in 0 .. n { a[j] = ... }  ... a[k] ...
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

typedef struct touches_of {
    const ir_value *array;
    const ir_op *first; /* access, in the order of the program */
    const ir_value *index;
    bool elsewhere; /* an access that is not at `index` */
} touches_of;

static void note(ir_op *op, void *ctx)
{
    touches_of *t = ctx;
    for (int i = 0; i < op->nargs; i++) {
        if (op->args[i] != t->array)
            continue;
        if (!t->first)
            t->first = op;
        t->elsewhere |= (op->code != OP_LLOAD && op->code != OP_LSTORE) || (t->index && op->args[1] != t->index);
    }
}

/* From 0 to the end of the array, one element in each trip, and no other one before the loop is done. */
static bool sets_all(const ir_op *loop, const ir_op *local)
{
    if (loop->code != OP_LOOP || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond ||
        !ir_is_const(loop->args[0]) || ir_int(loop->args[0]) != 0)
        return false;
    const ir_value *end = loop->args[1];
    const bool whole = local->nargs
                           ? end == local->args[0] || same_value(local->region->func->module, end, local->args[0])
                           : ir_is_const(end) && ir_int(end) == ir_local_attr(local)->count;
    touches_of t = {.array = local->res[0], .index = loop->regions[0]->params[0]};
    ir_walk(loop->regions[0], note, &t);
    return whole && t.first && t.first->code == OP_LSTORE && t.first->region == loop->regions[0] && !t.elsewhere;
}

bool local_is_set_first(const ir_op *local)
{
    for (const ir_op *op = local->next; op; op = op->next) {
        touches_of t = {.array = local->res[0]};
        for (int i = 0; i < op->nargs; i++)
            if (op->args[i] == local->res[0])
                return false;
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], note, &t);
        if (t.first)
            return sets_all(op, local);
    }
    return false;
}

static void mark(ir_op *op, void *ctx)
{
    (void)ctx;
    if (op->code == OP_LOCAL && !ir_local_attr(op)->set)
        ir_local_attr(op)->set = local_is_set_first(op);
}

void mark_locals_set_first(ir_func *f)
{
    ir_walk(f->body, mark, NULL);
}
