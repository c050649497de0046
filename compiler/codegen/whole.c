/* gcc 12 takes an innermost loop apart into several, one for each of its stores and one for what it carries, each of
 * which loads and computes for itself what it needs; where it has to ask first whether arrays overlap, it forgets the
 * order of the pieces (tkc_loops.h). Any order is right if no piece loads what another one stores, and no two store to
 * the same array. So each value of the loop has a colour: the one array among the stored ones that it follows from.
 * Inner loops that it may have written out before count as a part of the loop around them. */
#include "codegen/whole.h"

#include <stdint.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "util/vec.h"

enum {
    MOST_PEELED = 16, /* trips of an inner loop up to which it may be written out, so that the outer one is innermost */
    PLAIN = 0,
    SEVERAL = -1 /* colours; else the number of a stored array, from 1 */
};

/* What is an array of its own: a component of a field's plane, a local array, a member of saved values. */
typedef struct place {
    const void *memory; /* field, local array or layout; NULL: none */
    int64_t part;       /* -1: any */
} place;

/* What the loop stores to. */
typedef struct stored_array {
    place at;
    int next; /* number of another one in the same memory; 0: none */
} stored_array;

typedef struct study {
    facts *x;
    VEC(stored_array)
    stored;
    ptrmap first;   /* memory -> number of the last one stored to */
    ptrmap colours; /* of values that have one */
    int pieces;     /* stores, and values that are carried */
    bool matters;   /* the order of the pieces */
} study;

static place place_of_access(const ir_op *op)
{
    switch (op_memory_of(op->code)) {
    case MEMORY_FIELD: {
        const ir_value *component = op->args[ir_field_of(op)->ndim];
        return (place){ir_field_of(op),
                       ir_is_const(component) ? ir_int(component) * IR_PLANES + ir_access_attr(op)->plane : -1};
    }
    case MEMORY_ARRAY:
        return (place){op->code == OP_LOCAL ? op->res[0] : op->args[0], 0};
    case MEMORY_STACK:
        return (place){ir_layout_of(op), ir_slot_attr(op)->number};
    case MEMORY_RECORD:
        return (place){ir_layout_of(op), -1};
    case MEMORY_NONE:
        break;
    }
    return (place){NULL, 0};
}

static int join(int a, int b)
{
    return a == PLAIN || a == b ? b : b == PLAIN ? a : SEVERAL;
}

/* The stored arrays that an access may meet. */
static int met(const study *s, place at)
{
    int colour = PLAIN;
    for (int k = (int)(intptr_t)ptrmap_get(&s->first, at.memory); k; k = s->stored.at[k - 1].next) {
        const int64_t part = s->stored.at[k - 1].at.part;
        if (at.part < 0 || part < 0 || part == at.part)
            colour = join(colour, k);
    }
    return colour;
}

static void add_store(study *s, place at)
{
    s->pieces++;
    s->matters |= met(s, at) != PLAIN;
    vec_push(&s->stored, ((stored_array){at, (int)(intptr_t)ptrmap_get(&s->first, at.memory)}));
    ptrmap_set(&s->first, at.memory, (void *)(intptr_t)s->stored.len);
}

static bool is_store(const ir_op *op)
{
    return (op_touches(op->code) & (OP_STORES | OP_ADDS)) || (op->code == OP_LOCAL && !ir_local_attr(op)->set);
}

/* `inner`: r is a part of a loop within, whose stores become several. */
static void find_stores(study *s, const ir_region *r, bool inner)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i <= inner && is_store(op); i++)
            add_store(s, place_of_access(op));
        if (op->code == OP_ATOMIC) { /* loads, stores, and may note what was there and who stored */
            s->matters = true;
            s->pieces++;
        }
        const func_facts *callee = op->code == OP_CALL ? facts_of(s->x, ir_callee_of(op)) : NULL;
        for (ir_storage key = 0; callee && key < ir_storage_count(s->x->m); key++)
            for (int i = 0; i < 2 && (callee->planes[key] & (OP_STORES | OP_ADDS)); i++) /* maybe in a loop */
                add_store(s, (place){ir_storage_field(s->x->m, key), -1});
        for (int i = 0; i < op->nregions; i++)
            find_stores(s, op->regions[i], inner || op->code == OP_LOOP);
    }
}

static int colour_of(const study *s, const ir_value *v)
{
    return (int)(intptr_t)ptrmap_get(&s->colours, v);
}

static void paint(study *s, const ir_value *v, int colour)
{
    if (colour != PLAIN)
        ptrmap_set(&s->colours, v, (void *)(intptr_t)join(colour_of(s, v), colour));
}

/* What a callee loads. */
static int colour_of_call(const study *s, const ir_op *call)
{
    const func_facts *callee = facts_of(s->x, ir_callee_of(call));
    int colour = PLAIN;
    for (ir_storage key = 0; key < ir_storage_count(s->x->m); key++)
        if (callee->planes[key])
            colour = join(colour, met(s, (place){ir_storage_field(s->x->m, key), -1}));
    return colour;
}

static bool loads_stored(const study *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if ((op_touches(op->code) & OP_READS) && met(s, place_of_access(op)) != PLAIN)
            return true;
        if (op->code == OP_CALL && colour_of_call(s, op) != PLAIN)
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (loads_stored(s, op->regions[i]))
                return true;
    }
    return false;
}

/* `under`: the colour of what decides that r runs. All results of an inner loop have the colour of all that it yields,
 * so what one trip hands to the next need not be followed: of inner loops that store, the order matters anyway. */
static void flow(study *s, const ir_region *r, int under)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        int colour = under;
        for (int i = 0; i < op->nargs; i++)
            colour = join(colour, colour_of(s, op->args[i]));
        if (is_store(op)) {
            const int target = met(s, place_of_access(op));
            s->matters |= colour == SEVERAL || (colour != PLAIN && colour != target);
        }
        if (op->code == OP_CALL) {
            const int loaded = colour_of_call(s, op);
            s->matters |= loaded != PLAIN; /* which of its stores follow from it is not looked into */
            colour = join(colour, loaded);
        } else if (op_touches(op->code) & OP_READS) {
            colour = join(colour, met(s, place_of_access(op)));
        }
        if (op->code == OP_LOOP &&
            (loads_stored(s, op->regions[0]) || (op->nregions > 1 && loads_stored(s, op->regions[1]))))
            colour = SEVERAL; /* by what it carries */
        for (int k = 0; k < op->nregions; k++) {
            for (int i = 0; i < op->regions[k]->nparams; i++)
                paint(s, op->regions[k]->params[i], colour);
            flow(s, op->regions[k], colour);
            const ir_op *yield = op->regions[k]->last;
            for (int i = 0; yield && i < yield->nargs; i++)
                colour = join(colour, colour_of(s, yield->args[i]));
        }
        for (int i = 0; i < op->nres; i++)
            paint(s, op->res[i], colour);
    }
}

/* The loop of these regions: a body, and what decides before each trip. */
static bool order_matters(facts *x, ir_region *const *regions, int n, int carried)
{
    study s = {.x = x, .pieces = carried};
    for (int i = 0; i < n; i++)
        find_stores(&s, regions[i], false);
    for (int i = 0; i < n && !s.matters && s.stored.len; i++) {
        flow(&s, regions[i], PLAIN);
        const ir_op *yield = regions[i]->last;
        for (int k = 0; yield && k < yield->nargs; k++)
            s.matters |= colour_of(&s, yield->args[k]) != PLAIN;
    }
    vec_free(&s.stored);
    ptrmap_free(&s.first);
    ptrmap_free(&s.colours);
    return s.matters && s.pieces > 1;
}

/* Whether a C compiler may see an upper bound of v: it may know that a loop of so many trips is short. */
static bool may_be_bounded(const ir_value *v)
{
    const ir_op *op = v->def, *parent = v->region->parent;
    if (!op && parent && parent->code == OP_LOOP)
        return v->index >= ir_loop_first_param(parent) || may_be_bounded(parent->args[1]);
    if (!op)
        return parent && parent->code == OP_TASK && v->index < ir_task_attr(parent)->ndim &&
               may_be_bounded(parent->args[2 * v->index + 1]);
    switch (op->code) {
    case OP_MPARAM:
    case OP_SHAPE:
    case OP_LOAD:
    case OP_LLOAD:
    case OP_STK_LOAD:
    case OP_REC_LOAD:
        return v->type == SC_BOOL;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_MAX:
        return may_be_bounded(op->args[0]) && may_be_bounded(op->args[1]);
    case OP_DIV:
    case OP_CAST:
        return may_be_bounded(op->args[0]);
    default:
        return true;
    }
}

/* Whether r has subscripts that may run up to MOST_PEELED alone, which tells compilers how often it can run. */
static bool has_short_array(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        const op_memory memory = op_touches(op->code) ? op_memory_of(op->code) : MEMORY_NONE;
        if (memory == MEMORY_FIELD && (!ir_is_const(op->args[ir_field_of(op)->ndim]) || ir_field_of(op)->array))
            return true;
        const ir_op *local = memory == MEMORY_ARRAY ? op->args[0]->def : NULL;
        if (memory == MEMORY_ARRAY &&
            !(local && local->code == OP_LOCAL && (local->nargs || ir_local_attr(local)->count > MOST_PEELED)))
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (has_short_array(op->regions[i]))
                return true;
    }
    return false;
}

/* Nothing is made of a loop that has TK_ONE_BY_ONE: neither it nor what is around it is taken apart. */
static bool is_one_by_one(const facts *x, const ir_op *loop)
{
    return ir_loop_attr(loop)->short_trip && !ir_loop_attr(loop)->simd && !x->pure;
}

static bool may_be_peeled(const facts *x, const ir_op *loop)
{
    if (is_one_by_one(x, loop))
        return false;
    if (!ir_loop_attr(loop)->bounded)
        return true;
    const affine lo = affine_of(loop->args[0]), hi = affine_of(loop->args[1]);
    const affine trips = affine_sub(&hi, &lo);
    if (!lo.ok || !hi.ok || !trips.ok)
        return true;
    if (trips.n == 0)
        return trips.konst <= MOST_PEELED;
    for (int i = 0; i < trips.n; i++)
        if (!may_be_bounded(trips.term[i]))
            return has_short_array(loop->regions[0]);
    return true;
}

static bool may_be_innermost(const facts *x, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_LOOP && !may_be_peeled(x, op))
            return false;
        for (int i = 0; i < op->nregions; i++)
            if (!may_be_innermost(x, op->regions[i]))
                return false;
    }
    return true;
}

bool needs_whole_loops(facts *x, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_TASK)
            continue;
        for (int i = 0; i < op->nregions; i++)
            if (needs_whole_loops(x, op->regions[i]))
                return true;
        if (op->code == OP_LOOP && !is_one_by_one(x, op) && may_be_innermost(x, op->regions[0]) &&
            order_matters(x, op->regions, op->nregions, ir_loop_ncarried(op)))
            return true;
    }
    return false;
}

bool task_needs_whole_loops(facts *x, const ir_op *task)
{
    return needs_whole_loops(x, task->regions[0]) ||
           (may_be_innermost(x, task->regions[0]) && order_matters(x, task->regions, 1, task->nres));
}
