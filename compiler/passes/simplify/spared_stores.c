/* Stores that may put back what the element holds stand under the condition by which they do not:
 *
 *     store x[i], c ? load x[i] : v        becomes        if (c) { } else { store x[i], v }
 *
 * in loops in order, and of memory that adjoints keep. An adjoint has nothing to do then where the element stays: its
 * gradient is that of what it was. Once adjoints are made such stores are plain ones again: they need no branch.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

static bool is_same_element(const ir_op *load, const ir_op *store)
{
    if (load->code != OP_LOAD || ir_storage_of_op(load) != ir_storage_of_op(store))
        return false;
    for (int d = 0; d <= ir_field_of(load)->ndim; d++) {
        const affine a = affine_of(load->args[d]), b = affine_of(store->args[d]);
        if (load->args[d] != store->args[d] && !affine_equal(&a, &b))
            return false;
    }
    return true;
}

/* Whether op, or what stands in it, changes the plane. */
static bool changes(const ir_op *op, ir_storage plane)
{
    effects e = effects_of_op(op->region->func->module, op);
    const bool any = (e.at[plane] & (OP_STORES | OP_ADDS)) != 0;
    effects_free(&e);
    return any;
}

/* Whether op, or what stands behind it up to `end`, changes the store's plane; up to the end of a region without that.
 */
static bool changes_from(const ir_op *op, const ir_op *end, const ir_op *store)
{
    for (; op && op != end; op = op->next)
        if (changes(op, ir_storage_of_op(store)))
            return true;
    return false;
}

/* v is what the store's element holds: loaded in its region, or in a region of the choice in front of it. */
static bool is_held(const ir_value *v, const ir_op *store, const ir_op *choice)
{
    const ir_op *load = v->def;
    if (!load || !is_same_element(load, store) || changes_from(load, store, store))
        return false;
    return load->region == store->region || (load->region->parent == choice && !changes_from(choice, store, store));
}

/* Whether v is there in front of the choice, as it is in front of the store behind. */
static bool comes_before(const ir_value *v, const ir_op *choice, const ir_op *store)
{
    for (const ir_op *op = choice; op != store; op = op->next)
        if (v->def == op)
            return false;
    return true;
}

static void store_on_side(ir_func *f, ir_op *store, ir_op *branch, int side, ir_value *v)
{
    ir_builder b = {.func = f, .region = branch->regions[side], .loc = store->loc, .origin = store->origin};
    b.before = b.region->last;
    ir_op *again = ir_store(&b, ir_field_of(store), IR_DATA, store->args, store->args[ir_field_of(store)->ndim], v);
    ir_set_class(again, ir_class_of(store));
    ir_remove(store);
}

static ir_op *empty_branch(ir_func *f, ir_op *before, ir_value *cond)
{
    ir_builder b = {.func = f, .region = before->region, .before = before, .loc = before->loc};
    ir_op *branch = ir_if(&b, cond, 0, NULL);
    for (int k = 0; k < 2; k++) {
        ir_builder in = {.func = f, .region = branch->regions[k], .loc = before->loc};
        ir_yield(&in, 0, NULL);
    }
    return branch;
}

/* k: the side on which the element stays. */
static bool spare_on(ir_func *f, ir_op *store, ir_op *choice, int k)
{
    if (choice->code == OP_SELECT) {
        if (!is_held(choice->args[1 + k], store, choice))
            return false;
        store_on_side(f, store, empty_branch(f, store, choice->args[0]), 1 - k, choice->args[2 - k]);
        return true;
    }
    const int at = store->args[store->nargs - 1]->index;
    if (!is_held(ir_yield_of(choice->regions[k])->args[at], store, choice))
        return false;
    for (int d = 0; d <= ir_field_of(store)->ndim; d++)
        if (!comes_before(store->args[d], choice, store))
            return false;
    store_on_side(f, store, choice, 1 - k, ir_yield_of(choice->regions[1 - k])->args[at]);
    return true;
}

static bool spare(ir_func *f, ir_op *store)
{
    ir_op *choice = store->args[store->nargs - 1]->def;
    if (!choice || choice->region != store->region || (choice->code != OP_SELECT && choice->code != OP_IF))
        return false;
    return spare_on(f, store, choice, 0) || spare_on(f, store, choice, 1);
}

typedef VEC(ir_op *) op_list;

static void collect_store(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code == OP_STORE && adjoints_keep(op) && !ir_task_of(op))
        vec_push(l, op);
}

bool pass_spared_stores(ir_func *f)
{
    op_list stores = {0};
    bool changed = false;
    ir_walk(f->body, collect_store, &stores);
    for (size_t i = 0; i < stores.len; i++)
        changed |= spare(f, stores.at[i]);
    vec_free(&stores);
    return changed;
}

/* ---- and back ---- */

/* Searched backwards, so far. */
enum { MOST_BETWEEN = 100 };

/* What the store's element holds in front of the branch; NULL: nothing has loaded it. */
static ir_value *held_before(const ir_op *branch, const ir_op *store)
{
    int left = MOST_BETWEEN;
    for (const ir_op *op = branch->prev; op && left-- > 0 && !changes(op, ir_storage_of_op(store)); op = op->prev)
        if (is_same_element(op, store))
            return op->res[0];
    return NULL;
}

static bool is_outside(const ir_op *store, const ir_op *branch)
{
    for (int i = 0; i < store->nargs; i++)
        if (!ir_is_visible(store->args[i], branch->region))
            return false;
    return true;
}

/* The one that its region stores into that plane. */
static bool is_only_store(const ir_op *store)
{
    for (const ir_op *op = store->prev; op; op = op->prev)
        if (ir_storage_of_op(op) == ir_storage_of_op(store))
            return false;
    return true;
}

/* The side that holds stores alone, each into another plane, of elements that have been loaded; -1: none. */
static int side_of_stores(const ir_op *branch)
{
    for (int k = 0; k < 2; k++) {
        const ir_op *op = branch->regions[k]->first;
        if (branch->regions[1 - k]->first->code != OP_YIELD || op->code != OP_STORE)
            continue;
        while (op->code == OP_STORE && is_only_store(op) && is_outside(op, branch) && held_before(branch, op))
            op = op->next;
        if (op->code == OP_YIELD)
            return k;
    }
    return -1;
}

static bool store_plainly(ir_func *f, ir_op *branch)
{
    const int side = branch->nres == 0 ? side_of_stores(branch) : -1;
    if (side < 0)
        return false;
    while (branch->regions[side]->first->code == OP_STORE) {
        ir_op *store = branch->regions[side]->first;
        ir_value *v = store->args[store->nargs - 1], *held = held_before(branch, store);
        ir_builder b = {.func = f, .region = branch->region, .before = branch, .loc = store->loc};
        b.exact = v->exact;
        ir_value *chosen = ir_op3(&b, OP_SELECT, branch->args[0], side ? held : v, side ? v : held);
        ir_move(store, branch->region, branch->next);
        store->args[store->nargs - 1] = chosen;
    }
    ir_remove(branch);
    return true;
}

static void collect_branch(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code == OP_IF && !ir_task_of(op))
        vec_push(l, op);
}

bool pass_plain_stores(ir_func *f)
{
    op_list branches = {0};
    bool changed = false;
    ir_walk(f->body, collect_branch, &branches);
    for (size_t i = 0; i < branches.len; i++)
        changed |= store_plainly(f, branches.at[i]);
    vec_free(&branches);
    return changed;
}
