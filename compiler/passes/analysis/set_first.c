/* Local arrays of which all elements are stored before anything reads one: nobody sees their zeros, or what they held
 * where a region begins.
 *
 *     a[0] = ...  loop j in 1 .. n { a[j] = ... }  ... a[k] ...
 *
 * Loops and single stores that follow each other from the first element to the last one count, and nothing else.
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
    bool reads;
    int64_t looked_at; /* operations */
} touches_of;

static void note_use(ir_op *op, void *ctx)
{
    touches_of *t = ctx;
    t->looked_at++;
    for (int i = 0; i < op->nargs; i++) {
        if (op->args[i] != t->array)
            continue;
        if (!t->first)
            t->first = op;
        t->last = op;
        t->reads |= op->code != OP_LSTORE;
        t->elsewhere |= (op->code != OP_LLOAD && op->code != OP_LSTORE) || (t->index && op->args[1] != t->index);
    }
}

static touches_of touches(const ir_op *op, const ir_value *array)
{
    touches_of t = {.array = array};
    note_use((ir_op *)op, &t);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], note_use, &t);
    return t;
}

/* One element in each trip, that of its index, and no other one before the loop is done. */
static bool goes_over_range(const ir_op *loop, const ir_value *array, touches_of *t)
{
    if (loop->code != OP_LOOP || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond)
        return false;
    *t = (touches_of){.array = array, .index = loop->regions[0]->params[0]};
    ir_walk(loop->regions[0], note_use, t);
    return t->first && !t->elsewhere;
}

static bool sets_its_range(const ir_op *loop, const ir_value *array)
{
    touches_of t;
    return goes_over_range(loop, array, &t) && t.first->code == OP_LSTORE && t.first->region == loop->regions[0];
}

static bool is_whole(const ir_op *local, const ir_value *end)
{
    if (!local->nargs)
        return ir_is_const(end) && ir_int(end) == ir_local_attr(local)->count;
    return end == local->args[0] || same_value(local->region->func->module, end, local->args[0]);
}

/* How far stores have come. */
typedef struct reach {
    const ir_op *local;
    int64_t from;  /* elements below are stored */
    bool whole;    /* all are */
    bool read;     /* before that, one was read, or may have been */
    int64_t *left; /* operations that may be looked at; NULL: all */
} reach;

static void go_over_store(reach *r, const ir_op *store)
{
    r->from += ir_is_const(store->args[1]) && ir_int(store->args[1]) == r->from;
    r->whole |= !r->local->nargs && r->from == ir_local_attr(r->local)->count;
}

static void go_over_loop(reach *r, const ir_op *loop)
{
    const ir_value *lo = loop->args[0], *end = loop->args[1];
    if (!ir_is_const(lo) || ir_int(lo) < 0 || ir_int(lo) > r->from)
        return;
    r->whole |= is_whole(r->local, end);
    if (ir_is_const(end) && ir_int(end) > r->from)
        r->from = ir_int(end);
}

static void go_over(reach *r, const ir_op *op)
{
    const ir_value *array = r->local->res[0];
    const touches_of t = touches(op, array);
    if (r->left && (*r->left -= t.looked_at) < 0)
        r->read = true;
    if (!t.first || r->read)
        return;
    if (op->code == OP_LSTORE && op->args[0] == array)
        go_over_store(r, op);
    else if (sets_its_range(op, array))
        go_over_loop(r, op);
    else
        r->read = t.reads;
}

/* From op on, up to `end`. */
static void go_on(reach *r, const ir_op *op, const ir_op *end)
{
    for (; op != end && !r->whole && !r->read; op = op->next)
        go_over(r, op);
}

bool local_is_set_first(const ir_op *local)
{
    reach r = {.local = local};
    go_on(&r, local->next, NULL);
    return r.whole;
}

bool region_sets_first(const ir_region *region, const ir_value *array)
{
    reach r = {.local = array->def};
    go_on(&r, region->first, NULL);
    return r.whole;
}

/* Whether the way on from behind op, whose end is that of its region, meets no read before all elements are stored. */
static bool is_unread_behind(reach r, const ir_op *op)
{
    for (;;) {
        go_on(&r, op->next, NULL);
        const ir_region *in = op->region;
        if (r.whole || r.read || in == r.local->region)
            return !r.read;
        const ir_op *around = in->parent;
        if (around->code != OP_IF && around->code != OP_LOOP)
            return false;
        if (around->code == OP_LOOP) { /* the next trip, once around */
            reach again = r;
            for (int k = 1; k < around->nregions; k++)
                go_on(&again, around->regions[k]->first, NULL);
            go_on(&again, in->first, op->next);
            if (again.read) /* else no later trip reads it, either */
                return false;
        }
        op = around;
    }
}

/* Of a store in a loop each trip of which touches the array at its index alone. */
static bool is_last_of_trip(const ir_op *store)
{
    const ir_op *loop = store->region->parent;
    const ir_value *array = store->args[0];
    if (!loop || loop->code != OP_LOOP || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond ||
        ir_region_is_ancestor(loop->regions[0], array->region))
        return false;
    touches_of t = {.array = array, .index = loop->regions[0]->params[0]};
    ir_walk(loop->regions[0], note_use, &t);
    for (const ir_op *op = store->next; op && !t.elsewhere; op = op->next)
        t.elsewhere = touches(op, array).first;
    return !t.elsewhere;
}

/* Of a float, and no -0. */
static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && scalar_is_float(v->type) && ir_float(v) == 0 && !signbit(ir_float(v));
}

/* A zero may be what clears an array for the next trip of the loop around it. */
bool store_is_unread(const ir_op *store, int64_t *left)
{
    const ir_value *array = store->args[0];
    if (array->def->code != OP_LOCAL || (array->region->parent && is_zero(store->args[2])))
        return false;
    const reach r = {.local = array->def, .left = left};
    return is_unread_behind(r, is_last_of_trip(store) ? store->region->parent : store);
}

static bool clears_all(const ir_op *loop, const ir_op *local)
{
    touches_of t;
    return goes_over_range(loop, local->res[0], &t) && ir_is_const(loop->args[0]) && ir_int(loop->args[0]) == 0 &&
           is_whole(local, loop->args[1]) && t.last->code == OP_LSTORE && t.last->region == loop->regions[0] &&
           is_zero(t.last->args[2]);
}

static bool is_left_clear(const ir_op *local)
{
    for (ir_op *op = local->region->last; op != local; op = op->prev)
        if (touches(op, local->res[0]).first)
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
