/* Which part of a field a task scatters into.
 *
 *     task p in [0, N) { accum grid[t, i, j], v }        slab (t)
 *
 * Leading subscripts that are the same in all iterations and all accumulations leave one slab of the field: private
 * copies need not be larger. Without this, a simulation that keeps its grids of all steps in one field would clear and
 * add as much at each step as all steps together need. The subscripts become operands of the task, behind all others.
 * Where an element's components lie apart no slab is one piece.
 */
#include "ir/ops.h"
#include "passes/schedule/schedule.h"

typedef struct accums {
    const ir_scatter *target;
    VEC(ir_op *) ops;
} accums;

/* Those that need no copy for themselves, as each iteration has its own element, use the same one. */
static void collect_access(ir_op *op, void *ctx)
{
    accums *a = ctx;
    if (op->code == OP_ACCUM && ir_field_of(op) == a->target->field && ir_access_attr(op)->plane == a->target->plane)
        vec_push(&a->ops, op);
}

/* How many leading subscripts all these have in common. */
static int common_fixed(const ir_op *task, const accums *a)
{
    int n = 0;
    for (; n < a->target->field->ndim; n++) {
        const ir_value *first = a->ops.at[0]->args[n];
        if (!ir_can_leave(first, task))
            return n;
        for (size_t i = 1; i < a->ops.len; i++)
            if (a->ops.at[i]->args[n] != first)
                return n;
    }
    return n;
}

static void fix_slabs(ir_op *task, void *ctx)
{
    (void)ctx;
    for (int i = 0; task->code == OP_TASK && i < ir_task_attr(task)->nscatters; i++) {
        ir_scatter *s = &ir_task_attr(task)->scatters[i];
        accums a = {.target = s};
        ir_walk(task->regions[0], collect_access, &a);
        s->nfixed = s->shared || s->called || ir_field_is_soa(s->field) || !a.ops.len ? 0 : common_fixed(task, &a);
        ir_map outside = ir_map_create(task->region->func);
        ir_builder b = {.func = task->region->func, .region = task->region, .before = task, .loc = task->loc};
        /* beside the one inside: what the task computes by itself it goes on computing */
        for (int d = 0; d < s->nfixed; d++)
            ir_add_arg(task, ir_value_before(&b, a.ops.at[0]->args[d], &outside));
        ir_map_free(&outside);
        vec_free(&a.ops);
    }
}

void pass_slabs(ir_func *f)
{
    ir_walk(f->body, fix_slabs, NULL);
}
