/* Dead code, by marking what is live and sweeping the rest: carried values that feed only themselves are dead as well.
 *
 * Roots are the operations with effects and the function's results. A live operation makes live what decides whether it
 * runs. Stores into a local array count only if the array is read by something live, stores into a slot of a
 * saved-value buffer only if something live loads that slot.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

/* Stores that become live together: those into one local array, or into one slot of one layout. */
typedef struct store_list {
    VEC(ir_op *) stores;
    bool live;
} store_list;

typedef struct layout_slots {
    const ir_layout *layout;
    store_list *slots;
} layout_slots;

typedef struct callee_info {
    const ir_func *func;
    bool effect, stack;
} callee_info;

typedef struct dce {
    ir_func *f;
    bool *live;            /* by value id */
    VEC(bool) live_ops;    /* by ir_op.pos */
    uint32_t *array_list;  /* by value id of a LOCAL: index into lists, plus one */
    VEC(store_list) lists; /* of local arrays */
    VEC(layout_slots) layouts;
    VEC(callee_info) callees;
    VEC(ir_op *) roots;
    VEC(ir_value *) todo;
    bool releases; /* there are STK_RELEASEs */
    bool changed;
} dce;

static bool is_live(const dce *d, const ir_op *op)
{
    return d->live_ops.at[op->pos];
}

static void mark_value(dce *d, ir_value *v)
{
    if (d->live[v->id])
        return;
    d->live[v->id] = true;
    vec_push(&d->todo, v);
}

static void mark_op(dce *d, ir_op *op);

static void mark_args(dce *d, const ir_op *op, int from, int to)
{
    for (int i = from; i < to; i++)
        mark_value(d, op->args[i]);
}

/* ---- stores ---- */

static store_list *slot_list(dce *d, const ir_layout *l, int64_t slot)
{
    for (size_t i = 0; i < d->layouts.len; i++)
        if (d->layouts.at[i].layout == l)
            return &d->layouts.at[i].slots[slot];
    store_list *slots = xmalloc(sizeof *slots * (size_t)(l->n + 1));
    memset(slots, 0, sizeof *slots * (size_t)(l->n + 1));
    vec_push(&d->layouts, ((layout_slots){l, slots}));
    return &slots[slot];
}

static store_list *array_stores(dce *d, const ir_value *array)
{
    uint32_t *at = &d->array_list[array->id];
    if (!*at) {
        vec_push(&d->lists, (store_list){0});
        *at = (uint32_t)d->lists.len;
    }
    return &d->lists.at[*at - 1];
}

static void mark_stores(dce *d, store_list *l)
{
    if (l->live)
        return;
    l->live = true;
    for (size_t i = 0; i < l->stores.len; i++)
        mark_op(d, l->stores.at[i]);
}

/* ---- marking ---- */

static bool *callee_flag(dce *d, const ir_func *callee, bool stack)
{
    for (size_t i = 0; i < d->callees.len; i++)
        if (d->callees.at[i].func == callee)
            return stack ? &d->callees.at[i].stack : &d->callees.at[i].effect;
    effects e = effects_of_region(d->f->module, callee->body);
    callee_info c = {.func = callee, .effect = e.other, .stack = e.stack};
    for (size_t i = 0; i < ir_storage_count(d->f->module); i++)
        c.effect |= (e.at[i] & (OP_STORES | OP_ADDS)) != 0;
    effects_free(&e);
    vec_push(&d->callees, c);
    return stack ? &vec_last(&d->callees).stack : &vec_last(&d->callees).effect;
}

static void mark_op(dce *d, ir_op *op)
{
    if (is_live(d, op))
        return;
    d->live_ops.at[op->pos] = true;
    if (op->region->parent)
        mark_op(d, op->region->parent);
    switch (op->code) {
    case OP_LOOP:
        mark_args(d, op, 0, ir_loop_first_init(op));
        if (ir_loop_attr(op)->cond)
            mark_value(d, ir_yield_of(op->regions[1])->args[0]);
        break;
    case OP_TASK:
        mark_args(d, op, 0, ir_task_first_init(op));
        break;
    case OP_IF:
        mark_args(d, op, 0, 1);
        break;
    case OP_YIELD: /* of the function; others are live entry by entry */
    default:
        mark_args(d, op, 0, op->nargs);
        break;
    }
    if (op->code == OP_LLOAD)
        mark_stores(d, array_stores(d, op->args[0]));
    else if (op->code == OP_STK_LOAD)
        mark_stores(d, slot_list(d, ir_layout_of(op), ir_slot_attr(op)->number));
}

/* Carried value k of a loop: what comes in, what is seen inside, what is handed on and what comes out live and die
 * together. */
static void mark_carried(dce *d, ir_op *loop, int k)
{
    mark_op(d, loop);
    mark_value(d, loop->args[ir_loop_first_init(loop) + k]);
    mark_value(d, loop->res[k]);
    mark_value(d, loop->regions[0]->params[ir_loop_first_param(loop) + k]);
    if (ir_loop_attr(loop)->cond)
        mark_value(d, loop->regions[1]->params[k]);
    mark_value(d, ir_yield_of(loop->regions[0])->args[k]);
}

/* Result k of a task: a companion needs what the winner is found by. */
static void mark_reduced(dce *d, ir_op *task, int k)
{
    mark_op(d, task);
    mark_value(d, task->args[ir_task_first_init(task) + k]);
    mark_value(d, ir_yield_of(task->regions[0])->args[k]);
    for (int r = 0, at = 0; r < ir_task_attr(task)->nreductions;
         at += 1 + ir_task_attr(task)->reductions[r++].companions) {
        if (k < at || k > at + ir_task_attr(task)->reductions[r].companions)
            continue;
        mark_value(d, task->res[at]);
        if (ir_reduce_is_last(ir_task_attr(task)->reductions[r].kind))
            mark_value(d, task->res[at + 1]);
    }
}

static void mark_parameter(dce *d, ir_value *v)
{
    ir_op *p = v->region->parent;
    if (!p)
        return;
    mark_op(d, p);
    if (p->code != OP_LOOP)
        return;
    int k = v->index - (v->region == p->regions[0] ? ir_loop_first_param(p) : 0);
    if (k >= 0)
        mark_carried(d, p, k);
}

static void propagate(dce *d)
{
    while (d->todo.len) {
        ir_value *v = vec_pop(&d->todo);
        ir_op *op = v->def;
        if (!op) {
            mark_parameter(d, v);
            continue;
        }
        mark_op(d, op);
        if (op->code == OP_LOOP && v->index < ir_loop_ncarried(op)) {
            mark_carried(d, op, v->index);
        } else if (op->code == OP_TASK) {
            mark_reduced(d, op, v->index);
        } else if (op->code == OP_IF) {
            mark_value(d, ir_yield_of(op->regions[0])->args[v->index]);
            mark_value(d, ir_yield_of(op->regions[1])->args[v->index]);
        }
    }
}

static bool is_root(dce *d, const ir_op *op)
{
    switch (op->code) {
    case OP_DECISION: /* of a launch; an adjoint tells those that it makes */
        return d->f->kind != IR_KERNEL_GRAD && d->f->kind != IR_KERNEL_HVP;
    case OP_CALL:
        return *callee_flag(d, ir_callee_of(op), false);
    case OP_YIELD:
        return !op->region->parent;
    case OP_STK_MARK: /* as its release is */
        return false;
    default:
        return !op->nregions && ir_op_has_effect(op);
    }
}

/* One walk, as functions may be large: numbers operations, lists stores, and collects roots, which are marked when all
 * lists are complete. */
static void collect_roots(dce *d, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        op->pos = (uint32_t)d->live_ops.len;
        vec_push(&d->live_ops, false);
        if (op->code == OP_LSTORE || op->code == OP_LACCUM)
            vec_push(&array_stores(d, op->args[0])->stores, op);
        else if (op->code == OP_STK_STORE)
            vec_push(&slot_list(d, ir_layout_of(op), ir_slot_attr(op)->number)->stores, op);
        else if (op->code == OP_STK_RELEASE)
            d->releases = true;
        else if (is_root(d, op))
            vec_push(&d->roots, op);
        for (int i = 0; i < op->nregions; i++)
            collect_roots(d, op->regions[i]);
    }
}

/* ---- stack marks ---- */

static bool takes_stack(dce *d, const ir_op *op)
{
    return op->code == OP_STK_ALLOC || (op->code == OP_LOCAL && ir_local_attr(op)->stacked) ||
           (op->code == OP_CALL && *callee_flag(d, ir_callee_of(op), true));
}

static bool allocates(dce *d, const ir_op *op)
{
    if (is_live(d, op) && takes_stack(d, op))
        return true;
    for (int i = 0; i < op->nregions; i++)
        for (const ir_op *in = op->regions[i]->first; in; in = in->next)
            if (allocates(d, in))
                return true;
    return false;
}

/* A release and its mark are live if something in between allocates. Marks and releases stand in one region; anything
 * else is kept. */
static void mark_stack(dce *d, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nregions; i++)
            mark_stack(d, op->regions[i]);
        if (op->code != OP_STK_RELEASE)
            continue;
        ir_op *m = op->args[0]->def;
        bool keep = !m || m->code != OP_STK_MARK || m->region != r;
        for (ir_op *in = m; !keep && in != op; in = in->next)
            keep = allocates(d, in);
        if (keep)
            mark_op(d, op);
    }
    propagate(d);
}

/* An adjoint asks which operand of a maximum won, not what it was: that costs no more than the maximum. */
static bool is_known(const dce *d, const ir_value *v)
{
    bool operands = v->def != NULL;
    for (int i = 0; operands && i < v->def->nargs; i++)
        operands = d->live[v->def->args[i]->id] || ir_is_const(v->def->args[i]);
    return d->live[v->id] || operands;
}

/* What an adjoint decides all the same. */
static void mark_decisions(dce *d, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nregions && is_live(d, op); i++)
            mark_decisions(d, op->regions[i]);
        if (op->code == OP_DECISION && is_known(d, op->args[0]))
            mark_op(d, op);
    }
}

/* ---- sweeping ---- */

static void drop_loop_entry(ir_op *loop, int k)
{
    ir_remove_arg(loop, ir_loop_first_init(loop) + k);
    ir_remove_result(loop, k);
    ir_remove_arg(ir_yield_of(loop->regions[0]), k);
    ir_region_remove_param(loop->regions[0], ir_loop_first_param(loop) + k);
    if (ir_loop_attr(loop)->cond)
        ir_region_remove_param(loop->regions[1], k);
}

static void drop_task_entry(ir_op *task, int k)
{
    ir_remove_arg(task, ir_task_first_init(task) + k);
    ir_remove_result(task, k);
    ir_remove_arg(ir_yield_of(task->regions[0]), k);
}

static void sweep_task(dce *d, ir_op *task)
{
    ir_attr_task *a = ir_task_attr(task);
    int last = task->nres - 1;
    for (int r = a->nreductions - 1; r >= 0; r--) {
        int first = last - a->reductions[r].companions;
        for (int k = last; k >= first; k--) {
            if (d->live[task->res[k]->id])
                continue;
            drop_task_entry(task, k);
            d->changed = true;
            if (k > first)
                a->reductions[r].companions--;
            else /* nobody wants the reduction, so its companions are gone already */
                memmove(a->reductions + r, a->reductions + r + 1,
                        sizeof *a->reductions * (size_t)(--a->nreductions - r));
        }
        last = first - 1;
    }
}

static void sweep_results(dce *d, ir_op *op)
{
    if (op->code == OP_TASK) {
        sweep_task(d, op);
        return;
    }
    for (int k = (op->code == OP_LOOP ? ir_loop_ncarried(op) : op->nres) - 1; k >= 0; k--) {
        if (d->live[op->res[k]->id])
            continue;
        d->changed = true;
        if (op->code == OP_LOOP) {
            drop_loop_entry(op, k);
        } else {
            ir_remove_result(op, k);
            ir_remove_arg(ir_yield_of(op->regions[0]), k);
            ir_remove_arg(ir_yield_of(op->regions[1]), k);
        }
    }
}

static void sweep(dce *d, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code == OP_YIELD)
            continue;
        if (!is_live(d, op)) {
            ir_remove(op);
            d->changed = true;
            continue;
        }
        for (int i = 0; i < op->nregions; i++)
            sweep(d, op->regions[i]);
        if (op->nregions)
            sweep_results(d, op);
    }
}

/* Layouts shrink to the slots that are loaded. Another function may use the same layout, so this one gets its own. */
typedef struct compacted {
    const ir_layout *from;
    ir_layout *to;
    int64_t *slot;
} compacted;

static compacted compact(arena *mem, const layout_slots *l)
{
    const ir_layout *from = l->layout;
    compacted c = {from, ARENA_NEW(mem, ir_layout), ARENA_ARRAY(mem, int64_t, from->n + 1)};
    c.to->id = from->id;
    c.to->types = ARENA_ARRAY(mem, scalar, from->n + 1);
    c.to->names = from->names ? ARENA_ARRAY(mem, const char *, from->n + 1) : NULL;
    for (int i = 0; i < from->n; i++) {
        if (!l->slots[i].live)
            continue;
        c.slot[i] = c.to->n;
        c.to->types[c.to->n] = from->types[i];
        if (from->names)
            c.to->names[c.to->n] = from->names[i];
        c.to->n++;
    }
    return c;
}

typedef struct compact_all {
    const compacted *at;
    size_t n;
} compact_all;

static void use_compacted(ir_op *op, void *ctx)
{
    const compact_all *all = ctx;
    for (size_t i = 0; ir_layout_of(op) && i < all->n; i++) {
        if (ir_layout_of(op) != all->at[i].from)
            continue;
        ir_set_layout(op, all->at[i].to);
        if (op->code != OP_STK_ALLOC)
            ir_slot_attr(op)->number = all->at[i].slot[ir_slot_attr(op)->number];
        return;
    }
}

static void compact_layouts(dce *d)
{
    VEC(compacted) done = {0};
    for (size_t i = 0; i < d->layouts.len; i++) {
        const layout_slots *l = &d->layouts.at[i];
        bool all = true;
        for (int k = 0; k < l->layout->n; k++)
            all = all && l->slots[k].live;
        if (!all)
            vec_push(&done, compact(d->f->module->mem, l));
    }
    compact_all all = {done.at, done.len};
    if (done.len)
        ir_walk(d->f->body, use_compacted, &all);
    vec_free(&done);
}

static void dce_free(dce *d)
{
    for (size_t i = 0; i < d->lists.len; i++)
        vec_free(&d->lists.at[i].stores);
    for (size_t i = 0; i < d->layouts.len; i++) {
        for (int k = 0; k < d->layouts.at[i].layout->n; k++)
            vec_free(&d->layouts.at[i].slots[k].stores);
        free(d->layouts.at[i].slots);
    }
    vec_free(&d->lists);
    vec_free(&d->layouts);
    vec_free(&d->callees);
    vec_free(&d->roots);
    vec_free(&d->live_ops);
    vec_free(&d->todo);
    free(d->array_list);
    free(d->live);
}

bool pass_dce(ir_func *f)
{
    size_t n = (size_t)f->next_value + 1;
    dce d = {.f = f, .live = xmalloc(n), .array_list = xmalloc(n * sizeof(uint32_t))};
    memset(d.live, 0, n);
    memset(d.array_list, 0, n * sizeof(uint32_t));
    collect_roots(&d, f->body);
    for (size_t i = 0; i < d.roots.len; i++)
        mark_op(&d, d.roots.at[i]);
    propagate(&d);
    if (f->module->places.len) {
        mark_decisions(&d, f->body);
        propagate(&d);
    }
    if (d.releases)
        mark_stack(&d, f->body);
    sweep(&d, f->body);
    compact_layouts(&d);
    bool changed = d.changed;
    dce_free(&d);
    return changed;
}
