/* Branches whose both sides are computed. */
#include "passes/schedule/branches.h"

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

/* ---- which elements are there ---- */

static bool is_of_array(const ir_op *op)
{
    return op_memory_of(op->code) == MEMORY_ARRAY;
}

/* Where one is there, so is the other: planes have the same extents, and those that are not there are asked for first.
 */
static bool go_together(const ir_op *a, const ir_op *b)
{
    const ir_func *func = a->region->func;
    if (is_of_array(a) || is_of_array(b))
        return is_of_array(a) && is_of_array(b) && a->args[0] == b->args[0] && a->args[1] == b->args[1];
    const ir_field *f = ir_field_of(a), *g = ir_field_of(b);
    bool same = f->ndim == g->ndim;
    for (int d = 0; d < f->ndim && same; d++) {
        const ir_value *m = extent_value(func, f, d), *n = extent_value(func, g, d);
        same = a->args[d] == b->args[d] && (f == g || (m && n && same_value(func->module, m, n)));
    }
    return same;
}

/* A number of elements: a value of the program, a constant, or both. */
typedef struct extent {
    const ir_value *v;
    bool known;
    int64_t n;
} extent;

static extent extent_of(const ir_module *m, const ir_value *v)
{
    extent e = {.v = v};
    e.known = v && const_value_of(m, v, &e.n);
    return e;
}

static extent extent_of_array(const ir_module *m, const ir_value *array)
{
    const ir_op *local = array->def;
    if (!local || local->code != OP_LOCAL)
        return (extent){.v = NULL};
    if (local->nargs)
        return extent_of(m, local->args[0]);
    return (extent){.known = true, .n = ir_local_attr(local)->count};
}

/* Between which operands of the loop or task around it an index runs; NULL: it is none. A row segment lies in its
 * task's last dimension. */
static ir_value *const *bounds_of_index(const ir_value *i)
{
    const ir_op *around = i->def ? NULL : i->region->parent;
    if (!around || (around->code != OP_LOOP && around->code != OP_TASK))
        return NULL;
    if (around->code == OP_TASK) {
        const int free = ir_task_attr(around)->ndim - (ir_task_attr(around)->rows ? 1 : 0);
        return i->index < free ? around->args + 2 * (size_t)i->index : NULL;
    }
    if (!ir_loop_attr(around)->bounded || i->index != 0)
        return NULL;
    const ir_value *lo = around->args[0];
    const ir_op *task = lo->def ? NULL : lo->region->parent;
    if (!task || task->code != OP_TASK || !ir_task_attr(task)->rows)
        return around->args;
    const int last = ir_task_attr(task)->ndim - 1;
    ir_value *const *params = task->regions[0]->params;
    return lo == params[last] && around->args[1] == params[last + 1] ? task->args + 2 * (size_t)last : NULL;
}

/* Whether 0 <= sub < extent, for a subscript that is a constant, or an index, up or down, and a small constant. */
static bool is_within(const ir_module *m, const ir_value *sub, extent n)
{
    int64_t x, first, end;
    if (const_value_of(m, sub, &x))
        return n.known && x >= 0 && x < n.n;
    const affine a = affine_of(sub);
    if (!a.ok || a.n != 1 || (a.coef[0] != 1 && a.coef[0] != -1) || a.konst < INT32_MIN || a.konst > INT32_MAX)
        return false;
    ir_value *const *bounds = bounds_of_index(a.term[0]);
    if (!bounds || !const_value_of(m, bounds[0], &first) || first < INT32_MIN || first > INT32_MAX)
        return false;
    const bool ends = n.known && const_value_of(m, bounds[1], &end);
    if (a.coef[0] == -1)
        return ends && a.konst - first < n.n && end <= a.konst + 1;
    if (ends)
        return first + a.konst >= 0 && end <= n.n - a.konst;
    return first + a.konst >= 0 && n.v && a.konst <= 0 && same_value(m, bounds[1], n.v);
}

static bool is_in_extents(const ir_op *op)
{
    const ir_func *f = op->region->func;
    if (is_of_array(op))
        return is_within(f->module, op->args[1], extent_of_array(f->module, op->args[0]));
    for (int d = 0; d < ir_field_of(op)->ndim; d++)
        if (!is_within(f->module, op->args[d], extent_of(f->module, extent_value(f, ir_field_of(op), d))))
            return false;
    return true;
}

bool element_is_there(const ir_region *in, const ir_op *op)
{
    if (!is_of_array(op) && !ir_component_known(op))
        return false;
    if (is_in_extents(op))
        return true;
    for (; in; in = in->parent ? in->parent->region : NULL)
        for (const ir_op *other = in->first; other; other = other->next)
            if (op_has_subscripts(other->code) && go_together(other, op))
                return true;
    return false;
}

/* ---- what may run though it is not asked for ---- */

static bool can_run(const branch_test *t, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->type == SC_PTR)
            return false;
    if (op->code == OP_IF)
        return branch_can_go(t, op);
    if (op_has_subscripts(op->code))
        return t->access(t->ctx, op);
    if (op->code == OP_CAST)
        return scalar_is_float(op->res[0]->type) || !scalar_is_float(op->args[0]->type);
    return op_is_pure_table(op->code) || op_is_launch_constant(op->code);
}

bool branch_can_go(const branch_test *t, const ir_op *op)
{
    for (int k = 0; k < 2; k++)
        for (const ir_op *in = op->regions[k]->first; in->code != OP_YIELD; in = in->next)
            if (!can_run(t, in))
                return false;
    return true;
}

/* ---- both sides ---- */

/* What v is where cond is known to be `taken`. */
static ir_value *on_side(ir_value *v, const ir_value *cond, int side)
{
    return v->def && v->def->code == OP_SELECT && v->def->args[0] == cond ? v->def->args[1 + side] : v;
}

static ir_value *choose(ir_builder *b, ir_value *cond, int side, ir_value *v, ir_value *other)
{
    return side ? ir_op3(b, OP_SELECT, cond, other, v) : ir_op3(b, OP_SELECT, cond, v, other);
}

/* The store of the same element of a local array in front of op that nothing has read since: it goes. */
static ir_op *stored_before(const ir_op *op, const ir_op *store)
{
    for (ir_op *at = op->prev; at && !at->nregions; at = at->prev) {
        bool touches = false;
        for (int i = 0; i < at->nargs; i++)
            touches |= at->args[i] == store->args[0];
        if (touches)
            return at->code == OP_LSTORE && at->args[1] == store->args[1] ? at : NULL;
    }
    return NULL;
}

/* The element keeps what it has where the side is not taken. */
static void mask_store(ir_builder *b, ir_op *store, ir_value *cond, int side)
{
    const int at = store->nargs - 1;
    ir_value *v = store->args[at];
    if (store->code == OP_LSTORE) {
        b->exact = store->args[0]->exact;
        ir_op *before = stored_before(b->before, store);
        ir_value *old = before ? before->args[2] : ir_lload(b, store->args[0], store->args[1]);
        store->args[at] = choose(b, cond, side, v, old);
        if (before)
            ir_remove(before);
        return;
    }
    const ir_attr_access *a = ir_access_attr(store);
    b->exact = v->exact;
    ir_value *old = ir_load(b, a->field, a->plane, store->args, store->args[a->field->ndim]);
    store->args[at] = choose(b, cond, side, v, old);
}

static void mask_accum(ir_builder *b, ir_op *accum, ir_value *cond, int side)
{
    const ir_attr_access *a = ir_access_attr(accum);
    ir_value *v = accum->args[accum->nargs - 1], *comp = accum->args[a->field->ndim];
    b->exact = a->exact;
    ir_value *old = ir_load(b, a->field, a->plane, accum->args, comp);
    ir_value *now = choose(b, cond, side, ir_op2(b, OP_ADD, old, v), old);
    ir_op *store = ir_store(b, a->field, a->plane, accum->args, comp, now);
    ir_access_attr(store)->no_alias = true;
    ir_set_class(store, IR_CLASS_OWN);
    ir_remove(accum);
}

/* What an operation may be handed that is so on this side alone: no subscript, whose element has to be there on either.
 */
static bool may_be_sided(const ir_op *op, int i)
{
    return !op_has_subscripts(op->code) ||
           (i == op->nargs - 1 && (op->code == OP_STORE || op->code == OP_ACCUM || op->code == OP_LSTORE));
}

static void open_side(ir_op *op, int side)
{
    ir_region *r = op->regions[side];
    ir_value *cond = op->args[0];
    while (r->first->code != OP_YIELD) {
        ir_op *in = r->first;
        for (int i = 0; i < in->nargs; i++)
            if (may_be_sided(in, i))
                in->args[i] = on_side(in->args[i], cond, side);
        ir_builder b = {.func = op->region->func, .region = op->region, .before = op, .loc = in->loc};
        if (in->code == OP_ACCUM) {
            mask_accum(&b, in, cond, side);
            continue;
        }
        if (in->code == OP_STORE || in->code == OP_LSTORE)
            mask_store(&b, in, cond, side);
        ir_move(in, op->region, op);
    }
    for (int i = 0; i < r->first->nargs; i++)
        r->first->args[i] = on_side(r->first->args[i], cond, side);
}

void branch_open(ir_op *op)
{
    open_side(op, 0);
    open_side(op, 1);
    const ir_op *a = ir_yield_of(op->regions[0]), *b = ir_yield_of(op->regions[1]);
    ir_builder at = {.func = op->region->func, .region = op->region, .before = op, .loc = op->loc};
    for (int i = 0; i < op->nres; i++) {
        ir_value *v = a->args[i];
        if (a->args[i] != b->args[i]) {
            at.exact = op->res[i]->exact;
            v = ir_op3(&at, OP_SELECT, op->args[0], a->args[i], b->args[i]);
            v->name = op->res[i]->name;
        }
        ir_replace_uses(op->region->func->body, op->res[i], v);
    }
    ir_remove(op);
}
