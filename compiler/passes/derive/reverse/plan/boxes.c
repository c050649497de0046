/* Reverse mode, planning: the box of elements that a task writes of a saved field.
 *
 * A dimension of the box reaches from the least to the greatest subscript if these are affine in indices of loops.
 * Otherwise the dimension is whole. A condition may exclude the task from a part of the box.
 */
#include "passes/analysis/values.h"
#include "passes/derive/reverse/plan/plan.h"

static const ir_op *outermost(const ir_op *op)
{
    while (op->region->parent)
        op = op->region->parent;
    return op;
}

/* a is an end of what the task's iterations touch in dimension d: whether it is in the field. sign -1: the first. */
static bool is_inside(const ir_op *task, const ir_field *f, int d, const affine *a, int sign)
{
    const ir_module *m = task->region->func->module;
    const affine far = affine_extreme(outermost(task), *a, sign), none = {.ok = true};
    const ir_value *extent = extent_value(task->region->func, f, d);
    int64_t distance;
    if (sign < 0)
        return far.ok && affine_distance(m, &far, &none, &distance) && distance >= 0;
    const affine end = extent ? affine_of(extent) : (affine){.ok = false};
    return far.ok && end.ok && affine_distance(m, &far, &end, &distance) && distance < 0;
}

static bool can_stand_beside(const ir_op *task, const affine *a)
{
    bool can = a->ok;
    for (int i = 0; i < a->n && can; i++)
        can = ir_can_leave(a->term[i], task) && a->coef[i] <= MAX_FACTOR && a->coef[i] >= -MAX_FACTOR;
    return can;
}

/* False: what stands there is not known beside the task, or too much. */
static bool widen(box_side *side, const ir_op *task, const ir_op *write, int d, int sign)
{
    const affine a = affine_extreme(task, affine_of(write->args[d]), sign);
    if (!can_stand_beside(task, &a))
        return false;
    side->inside &= is_inside(task, ir_field_of(write), d, &a, sign);
    for (int i = 0; i < side->n; i++) {
        int64_t distance;
        if (!affine_distance(task->region->func->module, &a, &side->at[i], &distance))
            continue;
        if (distance != 0 && (distance > 0) == (sign > 0))
            side->at[i] = a;
        return true;
    }
    if (side->n == MOST_SUBSCRIPTS)
        return false;
    side->at[side->n++] = a;
    return true;
}

typedef struct boxing {
    const rev *rv;
    const rev_snapshot *of;
    box_side *sides;
    bool *known; /* of each */
} boxing;

static void box_write(ir_op *op, void *ctx)
{
    const boxing *x = ctx;
    if (!rev_is_write(op) || !x->rv->memory->keep[op->pos] || ir_access_attr(op)->plane != IR_DATA ||
        ir_field_of(op) != x->of->field)
        return;
    for (int k = 0; k < 2 * x->of->field->ndim; k++)
        x->known[k] = x->known[k] && widen(&x->sides[k], x->of->task, op, k / 2, k % 2 ? 1 : -1);
}

const box_side *rev_box_sides(const rev *rv, const rev_snapshot *c)
{
    const int n = 2 * c->field->ndim;
    arena *mem = rv->module->mem;
    boxing x = {rv, c, ARENA_ARRAY(mem, box_side, n + 1), ARENA_ARRAY(mem, bool, n + 1)};
    for (int k = 0; k < n; k++)
        x.known[k] = x.sides[k].inside = true;
    ir_walk(c->task->regions[0], box_write, &x);
    for (int k = 0; k < n; k++)
        if (!x.known[k])
            x.sides[k] = (box_side){.inside = true};
    return x.sides;
}

/* The values around the task that v is computed from. */
static void each_around(scope *s, const ir_op *task, const ir_value *v, rev_visit visit)
{
    if (ir_is_visible(v, task->region))
        visit(s, v);
    for (int i = 0; !ir_is_visible(v, task->region) && i < v->def->nargs; i++)
        each_around(s, task, v->def->args[i], visit);
}

void rev_each_of_boxes(scope *s, const ir_op *task, rev_visit visit)
{
    const rev *rv = s->rv;
    const size_t n = rv->module->fields.len;
    for (size_t i = 0; rv->memory && i < n; i++) {
        if (!rv->memory->snap[(size_t)task->pos * n + i])
            continue;
        const rev_snapshot c = {.task = task, .field = rv->module->fields.at[i]};
        const box_side *sides = rev_box_sides(rv, &c);
        for (int k = 0; k < 2 * c.field->ndim; k++)
            for (int j = 0; j < sides[k].n; j++)
                for (int t = 0; t < sides[k].at[j].n; t++)
                    each_around(s, task, sides[k].at[j].term[t], visit);
    }
}
