/* Reverse mode: local arrays that the reverse sweep fills again.
 *
 *     for k in n { c = local [m];  for j in m { c[j] = x[j] - y[k, j]; }  ...  for i in m { ... c[i] ... } }
 *
 * To keep c takes a block of memory for each k. What is stored into it can be had again, so that the reverse sweep of
 * an iteration may begin with an array of its own and the loops that fill it, and nothing is kept. Which of the two
 * costs less is part of the choice of what is saved (cut.c).
 *
 * Only what the stores are made of is done again: other values of these loops, sums of them, and stores into other
 * arrays are left out. The operations are those of the forward sweep, in their order, so the elements have its bits.
 */
#include "passes/derive/reverse/plan/plan.h"

/* ---- what the stores are made of ---- */

/* Of an operation of the loop's body that stores, or has the stores in it, or in such a one. */
static bool is_of_writer(const filling *f, const ir_value *v)
{
    const ir_op *op = v->def ? v->def : v->region->parent;
    while (op && op->region != f->home->primal)
        op = op->region->parent;
    return op && rev_stores_into(op, f->array);
}

static void want(filling *f, const ir_value *v)
{
    bool *needed = &f->fill->needed[v->id];
    if (*needed || v == f->array)
        return;
    *needed = f->changed = true;
    if (!is_of_writer(f, v))
        vec_push(&f->outside, v);
}

bool rev_fill_needs(const filling *f, const ir_op *op)
{
    if (rev_stores_into(op, f->array))
        return true;
    for (int i = 0; i < op->nres; i++)
        if (f->fill->needed[op->res[i]->id])
            return true;
    return false;
}

bool rev_fill_carries(const filling *f, const ir_op *loop, int k)
{
    return f->fill->needed[loop->res[k]->id] ||
           f->fill->needed[loop->regions[0]->params[ir_loop_first_param(loop) + k]->id];
}

static void trace_region(filling *f, const ir_region *r);

static void trace_loop(filling *f, const ir_op *loop)
{
    for (int i = 0; i < ir_loop_first_init(loop); i++)
        want(f, loop->args[i]);
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        if (rev_fill_carries(f, loop, k)) {
            want(f, loop->regions[0]->params[ir_loop_first_param(loop) + k]);
            want(f, loop->args[ir_loop_first_init(loop) + k]);
            want(f, ir_yield_of(loop->regions[0])->args[k]);
        }
}

static void trace_op(filling *f, const ir_op *op)
{
    switch (op->code) {
    case OP_LOOP:
        trace_loop(f, op);
        break;
    case OP_IF:
        want(f, op->args[0]);
        for (int i = 0; i < op->nres; i++)
            for (int k = 0; k < 2 && f->fill->needed[op->res[i]->id]; k++)
                want(f, ir_yield_of(op->regions[k])->args[i]);
        break;
    default:
        for (int i = 0; i < op->nargs; i++)
            want(f, op->args[i]);
    }
    for (int k = 0; k < op->nregions; k++)
        trace_region(f, op->regions[k]);
}

static void trace_region(filling *f, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        if (op->code != OP_YIELD && rev_fill_needs(f, op))
            trace_op(f, op);
}

/* ---- whether that can be done again ---- */

static bool is_plain(const ir_op *op)
{
    return op->nres == 1 && (op->code == OP_LOAD || op->code == OP_LLOAD || op_follows_from_operands(op->code));
}

static bool op_repeats(const filling *f, const ir_op *op)
{
    switch (op->code) {
    case OP_LSTORE:
        return true;
    case OP_LOOP:
        return ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond;
    case OP_IF:
        for (int i = 0; i < op->nres; i++)
            if (op->res[i]->type == SC_PTR)
                return false;
        return true;
    case OP_LLOAD:
        return op->args[0] == f->array || (!is_of_writer(f, op->args[0]) && rev_can_recompute(f->home, op->res[0]));
    default:
        return is_plain(op) && rev_can_recompute(f->home, op->res[0]);
    }
}

/* Short loops, which find elements side by side: a load costs little, and the store nothing beside it. */
static int cost_of(const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_LLOAD:
        return 1;
    case OP_LSTORE:
    case OP_LOOP:
    case OP_IF:
        return 0;
    default:
        return rev_own_cost(op);
    }
}

static int added(int sum, int64_t more)
{
    enum { MOST = 1 << 24 };
    return more < MOST - sum ? sum + (int)more : MOST;
}

/* Adds up the cost; false: something cannot be done again. */
static bool region_repeats(filling *f, const ir_region *r, int64_t times);

static bool weigh(filling *f, const ir_op *op, int64_t times)
{
    if (!op_repeats(f, op))
        return false;
    f->fill->cost = added(f->fill->cost, times * cost_of(op));
    const int64_t trips = op->code == OP_LOOP ? rev_guess_trips(op) : 1;
    for (int k = 0; k < op->nregions; k++)
        if (!region_repeats(f, op->regions[k], times * trips))
            return false;
    return true;
}

static bool region_repeats(filling *f, const ir_region *r, int64_t times)
{
    enum { MOST_TIMES = 1 << 24 };
    if (times > MOST_TIMES)
        return false;
    for (const ir_op *op = r->first; op; op = op->next)
        if (op->code != OP_YIELD && rev_fill_needs(f, op) && !weigh(f, op, times))
            return false;
    return true;
}

static array_fill *study(scope *home, const ir_value *array)
{
    rev *rv = home->rv;
    array_fill *fill = ARENA_NEW(rv->module->mem, array_fill);
    *fill = (array_fill){.needed = ARENA_ARRAY(rv->module->mem, bool, rv->primal->next_value + 1)};
    filling f = {.home = home, .array = array, .fill = fill};
    do { /* one that stores may take what another one hands on */
        f.changed = false;
        for (const ir_op *op = home->primal->last; op; op = op->prev)
            if (rev_stores_into(op, array))
                trace_op(&f, op);
    } while (f.changed);
    fill->outside = ARENA_ARRAY(rv->module->mem, const ir_value *, f.outside.len + 1);
    for (; fill->noutside < f.outside.len; fill->noutside++)
        fill->outside[fill->noutside] = f.outside.at[fill->noutside];
    vec_free(&f.outside);
    bool ok = true;
    for (const ir_op *op = home->primal->first; op && ok; op = op->next)
        ok = !rev_stores_into(op, array) || weigh(&f, op, 1);
    return ok ? fill : NULL;
}

const array_fill *rev_fill_of(scope *home, const ir_value *array)
{
    rev *rv = home->rv;
    if (home->kind != SCOPE_LOOP || rv->module->debug || !array->def || array->def->code != OP_LOCAL)
        return NULL;
    if (!rv->filled[array->id].looked)
        rv->filled[array->id] = (rev_filled){true, study(home, array)};
    return rv->filled[array->id].fill;
}

int rev_fill_cost(const array_fill *fill)
{
    return fill->cost;
}

size_t rev_fill_takes(const array_fill *fill, const ir_value *const **outside)
{
    *outside = fill->outside;
    return fill->noutside;
}
