/* Local arrays whose zeros nobody sees: a loop stores all elements before anything reads one.
 *
 *     a = local [n];  loop j in 0 .. n { a[j] = ... }  ... a[k] ...
 *
 * And such that end as they began: a loop stores zero into all elements when it has read them for the last time, as an
 * adjoint takes what was added for a store. In a loop, the next one's zeros are there already.
 *
 *     a = local [n];  ... a[k] ...  loop j in 0 .. n { ... a[j] ...;  a[j] = 0 }
 */
#include <math.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

typedef struct touches_of {
    const ir_value *array;
    const ir_op *first, *last; /* access, in the order of the program */
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
        t->last = op;
        t->elsewhere |= (op->code != OP_LLOAD && op->code != OP_LSTORE) || (t->index && op->args[1] != t->index);
    }
}

/* Of a float, and no -0. */
static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && scalar_is_float(v->type) && ir_float(v) == 0 && !signbit(ir_float(v));
}

/* From 0 to the end of the array, one element in each trip, and no other one before the loop is done. */
static bool goes_over_all(const ir_op *loop, const ir_op *local, touches_of *t)
{
    if (loop->code != OP_LOOP || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond ||
        !ir_is_const(loop->args[0]) || ir_int(loop->args[0]) != 0)
        return false;
    const ir_value *end = loop->args[1];
    const bool whole = local->nargs
                           ? end == local->args[0] || same_value(local->region->func->module, end, local->args[0])
                           : ir_is_const(end) && ir_int(end) == ir_local_attr(local)->count;
    *t = (touches_of){.array = local->res[0], .index = loop->regions[0]->params[0]};
    ir_walk(loop->regions[0], note, t);
    return whole && t->first && !t->elsewhere;
}

static bool sets_all(const ir_op *loop, const ir_op *local)
{
    touches_of t;
    return goes_over_all(loop, local, &t) && t.first->code == OP_LSTORE && t.first->region == loop->regions[0];
}

static bool clears_all(const ir_op *loop, const ir_op *local)
{
    touches_of t;
    return goes_over_all(loop, local, &t) && t.last->code == OP_LSTORE && t.last->region == loop->regions[0] &&
           is_zero(t.last->args[2]);
}

/* What op itself does with the array, or what stands in it. */
static touches_of touches_at(ir_op *op, const ir_value *array)
{
    touches_of t = {.array = array};
    note(op, &t);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], note, &t);
    return t;
}

bool local_is_set_first(const ir_op *local)
{
    for (ir_op *op = local->next; op; op = op->next)
        if (touches_at(op, local->res[0]).first)
            return sets_all(op, local);
    return false;
}

static bool is_left_clear(const ir_op *local)
{
    for (ir_op *op = local->region->last; op != local; op = op->prev)
        if (touches_at(op, local->res[0]).first)
            return clears_all(op, local);
    return false;
}

static void mark(ir_op *op, void *ctx)
{
    (void)ctx;
    if (op->code != OP_LOCAL)
        return;
    if (!ir_local_attr(op)->set)
        ir_local_attr(op)->set = local_is_set_first(op);
    if (!ir_local_attr(op)->cleared)
        ir_local_attr(op)->cleared = is_left_clear(op);
}

void mark_locals(ir_func *f)
{
    ir_walk(f->body, mark, NULL);
}
