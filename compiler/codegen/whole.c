/* gcc 12 takes an innermost loop apart into several, one for each of its stores and one for what it carries, each of
 * which loads and computes for itself what it needs; where it has to ask first whether arrays overlap, it forgets the
 * order of the pieces (tkc_loops.h). Any order is right if no piece loads what another one stores, and no two store to
 * the same array. So each value of the loop has a colour: the one array among the stored ones that it follows from. */
#include "codegen/whole.h"

#include <stdint.h>

#include "ir/ops.h"
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

static void find_stores(study *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (is_store(op))
            add_store(s, place_of_access(op));
        s->matters |= op->code == OP_ATOMIC; /* loads, stores, and may keep what was there */
        const func_facts *callee = op->code == OP_CALL ? facts_of(s->x, ir_callee_of(op)) : NULL;
        for (ir_storage key = 0; callee && key < ir_storage_count(s->x->m); key++)
            if (callee->planes[key] & (OP_STORES | OP_ADDS))
                add_store(s, (place){ir_storage_field(s->x->m, key), -1});
        for (int i = 0; i < op->nregions; i++)
            find_stores(s, op->regions[i]);
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

/* `under`: the colour of what decides that r runs. */
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
        find_stores(&s, regions[i]);
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

static bool may_be_peeled(const ir_op *loop)
{
    return ir_loop_attr(loop)->brief ||
           (ir_loop_attr(loop)->bounded && ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]) &&
            ir_int(loop->args[1]) - ir_int(loop->args[0]) <= MOST_PEELED);
}

static bool may_be_innermost(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_LOOP && !may_be_peeled(op))
            return false;
        for (int i = 0; i < op->nregions; i++)
            if (!may_be_innermost(op->regions[i]))
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
        if (op->code == OP_LOOP && may_be_innermost(op->regions[0]) &&
            order_matters(x, op->regions, op->nregions, ir_loop_ncarried(op)))
            return true;
    }
    return false;
}

bool task_needs_whole_loops(facts *x, const ir_op *task)
{
    return needs_whole_loops(x, task->regions[0]) ||
           (may_be_innermost(task->regions[0]) && order_matters(x, task->regions, 1, task->nres));
}
