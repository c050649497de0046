/* Reverse mode, planning: what local arrays hold when the reverse sweep reads them. */
#include "passes/derive/reverse/plan/plan.h"

static void find_task(ir_op *op, void *ctx)
{
    bool *found = ctx;
    *found |= op->code == OP_TASK;
}

/* Whether there is a loop between the array and `reader`, which would save what it reads in each trip: to keep the
 * array costs no more. Arrays that tasks may read have copies of their own (rev_array_at). */
static bool is_read_in_loop(scope *home, const ir_op *reader)
{
    if (!home->looked) {
        home->looked = true;
        ir_walk((ir_region *)home->primal, find_task, &home->has_tasks);
    }
    if (home->has_tasks)
        return false;
    for (const ir_region *r = reader->region; r != home->primal; r = r->parent->region)
        if (r->parent->code == OP_LOOP)
            return true;
    return false;
}

static const ir_op *last_store(scope *home, const ir_value *array)
{
    rev *rv = home->rv;
    if (!rv->scanned[array->id]) {
        rv->scanned[array->id] = true;
        for (const ir_op *op = home->primal->first; op; op = op->next)
            if (rev_stores_into(op, array))
                rv->last_store[array->id] = op;
    }
    return rv->last_store[array->id];
}

/* The trip around s that stores into the array, which lives outside of it; NULL: none. */
static const rev_stored *stored_in_trip(scope *s, const ir_value *array, const ir_region **trip)
{
    const scope *home = rev_root_of(rev_owner_of(s, array));
    for (scope *root = rev_root_of(s); root != home; root = rev_root_of(root->outer))
        for (size_t i = 0; i < root->stored.len; i++)
            if (root->stored.at[i].primal == array) {
                *trip = root->primal;
                return &root->stored.at[i];
            }
    return NULL;
}

static bool comes_before(const ir_op *a, const ir_op *b)
{
    while (a && a != b)
        a = a->next;
    return a;
}

static const ir_op *anchor_in(const ir_op *op, const ir_region *r)
{
    while (op->region != r)
        op = op->region->parent;
    return op;
}

/* What `reader` finds in an array is what the trip around it began with, which is kept; NULL: it may be something else.
 */
const rev_stored *rev_began_with(scope *s, const ir_value *array, const ir_op *reader)
{
    const ir_region *trip;
    const rev_stored *of = stored_in_trip(s, array, &trip);
    return of && of->is_kept && comes_before(anchor_in(reader, trip)->next, of->first) ? of : NULL;
}

/* A local array holds in the reverse sweep what it held at `reader` when that is marked so, or nothing is stored into
 * it at or after the operation of its own region that contains the reader, or of the body of a checkpointed loop around
 * that, and it still exists there: it lives in a root, or in the body of a loop, and is kept (keep_array). */
bool rev_array_is_final(scope *s, const ir_value *array, const ir_op *reader)
{
    if (!array->def || array->def->code != OP_LOCAL)
        return false;
    scope *home = rev_owner_of(s, array);
    if (home->kind != SCOPE_ROOT && (home->kind != SCOPE_LOOP || !is_read_in_loop(home, reader)))
        return false;
    if (home->kind == SCOPE_ROOT && reader->code == OP_LLOAD && ir_element_attr(reader)->final)
        return true;
    const ir_region *from = home->primal;
    const rev_stored *of = stored_in_trip(s, array, &from);
    const ir_op *last = of ? of->last : last_store(home, array);
    return !last || comes_before(last->next, anchor_in(reader, from));
}

/* ---- arrays around a checkpointed loop ---- */

static rev_stored *find_stored(scope *c, const ir_value *array)
{
    for (size_t i = 0; i < c->stored.len; i++)
        if (c->stored.at[i].primal == array)
            return &c->stored.at[i];
    return NULL;
}

typedef struct storing {
    scope *c;
    const ir_op *at; /* operation of the body */
} storing;

static void note_place(ir_op *op, void *ctx)
{
    const storing *s = ctx;
    if (op->code != OP_LSTORE || ir_region_is_ancestor(s->c->primal, op->args[0]->region))
        return;
    rev_stored *there = find_stored(s->c, op->args[0]);
    if (there)
        there->last = s->at;
    else
        vec_push(&s->c->stored, ((rev_stored){.primal = op->args[0], .first = s->at, .last = s->at}));
}

void rev_find_stored(scope *s, scope *c)
{
    for (const ir_op *op = c->primal->first; op; op = op->next) {
        storing at = {c, op};
        note_place((ir_op *)op, &at);
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], note_place, &at);
    }
    const rev_candidate *state = rev_candidate_of(s->rv->plan, c->primal_op);
    for (size_t i = 0; i < state->n; i++)
        find_stored(c, state->arrays[i])->is_kept = true;
}
