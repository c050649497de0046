/* Reverse mode, planning: the way in which each loop is swept backwards. One study of a loop's body tells which ways
 * are legal; the files of the ways say what they are.
 *
 * A trip that is swept forwards once more, later, must do the same again. A fused loop hands on nothing but sums. A
 * winner's loop changes no memory, and one trip has set all that it carries. A checkpointed loop stores into arrays
 * around it, which its trips hand on.
 *
 * A loop has no winner if its replacement depends on the replaced value, if a trip writes memory or reads arrays around
 * the loop, or if the loop has at most four trips.
 */
#include <stdlib.h>

#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/plan/plan.h"

typedef struct loop_facts {
    const ir_op *loop;
    const effects *written;       /* by the function; NULL: memory is as it was */
    VEC(const ir_value *) stored; /* local arrays around the loop that it stores into */
    bool repeats;                 /* but for these arrays, a trip does the same once more */
    bool has_loop, has_array, has_call, has_condition_loop;
    bool writes;       /* fields, or by a call */
    bool reads_around; /* local arrays around it, planes but data, or by a call that keeps values */
} loop_facts;

static bool call_repeats(const ir_op *op, const effects *written)
{
    const ir_module *m = op->region->func->module;
    effects e = effects_of_region(m, ir_callee_of(op)->body);
    bool ok = !e.other;
    for (size_t i = 0; i < ir_storage_count(m) && written; i++)
        ok &= !((e.at[i] & OP_READS) && (written->at[i] & (OP_STORES | OP_ADDS)));
    effects_free(&e);
    return ok;
}

static bool repeats(const loop_facts *f, const ir_op *op)
{
    switch (op->code) {
    case OP_LOOP:
    case OP_LOCAL:
    case OP_IF:
    case OP_YIELD:
    case OP_STORE:
    case OP_ACCUM:
    case OP_LLOAD: /* of an array around it: the element that the loop found there, where it stores none */
    case OP_LSTORE:
        return true;
    case OP_LOAD:
        return !f->written || ir_field_of(op)->in || !(f->written->at[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS));
    case OP_CALL:
        return call_repeats(op, f->written);
    default:
        return op_follows_from_operands(op->code);
    }
}

static bool keeps_values(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    const bool stack = e.stack;
    effects_free(&e);
    return stack;
}

static void note_stored(loop_facts *f, const ir_value *array)
{
    for (size_t i = 0; i < f->stored.len; i++)
        if (f->stored.at[i] == array)
            return;
    vec_push(&f->stored, array);
}

static void study_op(ir_op *op, void *ctx)
{
    loop_facts *f = ctx;
    const bool array = op->code == OP_LLOAD || op->code == OP_LSTORE;
    const bool around = array && !ir_region_is_ancestor(f->loop->regions[0], op->args[0]->region);
    f->repeats &= repeats(f, op);
    f->has_loop |= op->code == OP_LOOP;
    f->has_condition_loop |= op->code == OP_LOOP && ir_loop_attr(op)->cond;
    f->has_array |= op->code == OP_LOCAL;
    f->has_call |= op->code == OP_CALL;
    f->writes |= op->code == OP_STORE || op->code == OP_ACCUM || (op->code == OP_CALL && ir_op_has_effect(op));
    f->reads_around |= (around && op->code == OP_LLOAD) ||
                       (op->code == OP_LOAD && ir_access_attr(op)->plane != IR_DATA) ||
                       (op->code == OP_CALL && keeps_values(ir_callee_of(op)));
    if (around && op->code == OP_LSTORE)
        note_stored(f, op->args[0]);
}

static loop_facts study(const rev *rv, const ir_op *loop)
{
    loop_facts f = {.loop = loop, .repeats = true};
    f.written = rv->primal->pure ? &rv->plan->touched : NULL;
    ir_walk(loop->regions[0], study_op, &f);
    return f;
}

/* ---- fused ---- */

bool rev_hands_on_sum(rev *rv, const ir_op *loop, int k)
{
    if (!rv->uses)
        rv->uses = ir_count_uses(rv->primal);
    return carries_sum(loop, k, rv->uses, true);
}

static bool hands_on_sums(rev *rv, const ir_op *loop)
{
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        if (!rev_hands_on_sum(rv, loop, k))
            return false;
    return true;
}

/* Iterations of a task, and of a fused loop, have given back what they save already. */
static bool is_in_iteration(scope *s)
{
    const scope *root = rev_root_of(s);
    while (root->checkpointed)
        root = rev_root_of(root->outer);
    return root->outer;
}

static bool may_be_fused(scope *s, const loop_facts *f)
{
    return f->repeats && !f->stored.len && (f->has_loop || f->has_array || f->has_call) && !is_in_iteration(s) &&
           hands_on_sums(s->rv, f->loop);
}

/* ---- winner: what an iteration replaces ---- */

const ir_value *rev_carried_param(const ir_op *loop, int k)
{
    return loop->regions[0]->params[ir_loop_first_param(loop) + k];
}

static const ir_value *yielded(const ir_op *loop, int k)
{
    return ir_yield_of(loop->regions[0])->args[k];
}

static bool is_extreme(const ir_op *op)
{
    return (op->code == OP_MIN || op->code == OP_MAX) && scalar_is_float(op->res[0]->type);
}

/* What v is, if that side is taken. */
static const ir_value *on_side(const ir_value *v, int side)
{
    const ir_op *op = v->def;
    if (op->code == OP_IF)
        return ir_yield_of(op->regions[side])->args[v->index];
    return op->args[op->code == OP_SELECT ? 1 + side : side];
}

bool rev_find_replacement(const ir_op *loop, rev_replacement *r)
{
    const int n = ir_loop_ncarried(loop);
    for (int k = 0; k < n; k++) {
        const ir_value *v = yielded(loop, k), *param = rev_carried_param(loop, k);
        const ir_op *op = v->def;
        if (!op || op->region != loop->regions[0] ||
            !(is_extreme(op) ? n == 1 : op->code == OP_SELECT || op->code == OP_IF))
            return false;
        const int side = on_side(v, 0) == param;
        const ir_value *cond = is_extreme(op) ? NULL : op->args[0];
        if (on_side(v, 1 - side) != param || (k > 0 && (r->cond != cond || r->side != side)))
            return false;
        if (op->code == OP_IF && cond->region != loop->regions[0])
            return false;
        *r = (rev_replacement){cond, side};
    }
    return n > 0;
}

typedef struct spreading {
    const ir_op *loop;
    rev_replacement how;
    bool *carried; /* by value: follows from what the loop carries */
    bool ok;
} spreading;

/* A branch of the condition by which the loop replaces, in its body. */
static bool is_choice(const spreading *s, const ir_op *op)
{
    return op && op->code == OP_IF && s->how.cond && op->args[0] == s->how.cond && op->region == s->loop->regions[0];
}

static void find_store(ir_op *op, void *ctx)
{
    bool *found = ctx;
    *found |= op->code == OP_LSTORE;
}

/* A yield comes behind its `if`, and in front of what uses the result. */
static void spread_results(spreading *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        s->carried[op->res[i]->id] = true;
}

static void spread_op(ir_op *op, void *ctx)
{
    spreading *s = ctx;
    const ir_op *parent = op->region->parent;
    bool follows = false, stores = op->code == OP_LSTORE;
    for (int i = 0; i < op->nargs; i++)
        follows |= s->carried[op->args[i]->id];
    if (!follows || (op->code == OP_YIELD && op->region == s->loop->regions[0]))
        return;
    if (op->code == OP_YIELD) {
        s->ok &= parent->code == OP_IF;
        spread_results(s, parent);
        return;
    }
    for (int k = 0; k < op->nregions && !is_choice(s, op); k++)
        ir_walk(op->regions[k], find_store, &stores);
    s->ok &= !stores && (op->nregions == 0 || op->code == OP_IF);
    spread_results(s, op);
}

/* The condition may look at what the loop carries; what takes its place may not. */
static bool is_new(const rev *rv, spreading *s)
{
    s->carried = calloc(rv->primal->next_value + 1, sizeof *s->carried);
    if (!s->carried)
        abort();
    for (int k = 0; k < ir_loop_ncarried(s->loop); k++)
        s->carried[rev_carried_param(s->loop, k)->id] = true;
    ir_walk(s->loop->regions[0], spread_op, s);
    for (int k = 0; k < ir_loop_ncarried(s->loop); k++)
        s->ok &= !s->carried[on_side(yielded(s->loop, k), s->how.side)->id];
    free(s->carried);
    return s->ok;
}

static bool is_short(const ir_op *loop)
{
    enum { FEW = 4 };
    if (!ir_is_const(loop->args[0]) || !ir_is_const(loop->args[1]))
        return false;
    const int64_t lo = ir_int(loop->args[0]), hi = ir_int(loop->args[1]);
    return hi <= lo || (uint64_t)hi - (uint64_t)lo <= FEW;
}

const ir_value *rev_winning_value(const ir_op *loop, int k)
{
    rev_replacement r;
    rev_find_replacement(loop, &r);
    const ir_value *v = yielded(loop, k);
    return v->def->code == OP_IF ? v : on_side(v, r.side);
}

const ir_value *rev_winner_goes_by(const ir_op *loop)
{
    rev_replacement r;
    rev_find_replacement(loop, &r);
    return r.cond ? r.cond : loop->res[0];
}

static bool has_winner(const rev *rv, const loop_facts *f)
{
    spreading s = {.loop = f->loop, .ok = true};
    return f->repeats && !f->stored.len && !f->writes && !f->has_condition_loop && !f->reads_around &&
           !is_short(f->loop) && rev_find_replacement(f->loop, &s.how) && is_new(rv, &s);
}

typedef VEC(const ir_value *) value_list;

/* ---- checkpointed: what is handed from trip to trip ---- */

typedef struct load_search {
    const ir_value *array;
    const ir_op *loop;
    bool found;
    bool by_trip; /* which elements are touched may follow from the trip */
} load_search;

enum { MOST_OPERANDS = 64 }; /* looked at: of a value that is made of more nothing is known */

/* Made of indices of loops in the trip, and of what is the same in all trips. */
static bool is_same(const ir_op *loop, const ir_value *v, int *left)
{
    const ir_region *r = v->region;
    if (!ir_region_is_ancestor(loop->regions[0], r))
        return true;
    if (!v->def)
        return r->parent != loop && r->parent->code == OP_LOOP && ir_loop_attr(r->parent)->bounded && v->index == 0;
    bool same = op_follows_from_operands(v->def->code) && --*left >= 0;
    for (int i = 0; i < v->def->nargs && same; i++)
        same = is_same(loop, v->def->args[i], left);
    return same;
}

static bool is_same_in_all_trips(const ir_op *loop, const ir_value *index)
{
    int left = MOST_OPERANDS;
    return is_same(loop, index, &left);
}

static void look_for_load(ir_op *op, void *ctx)
{
    load_search *s = ctx;
    if ((op->code != OP_LLOAD && op->code != OP_LSTORE) || op->args[0] != s->array)
        return;
    s->found |= op->code == OP_LLOAD;
    s->by_trip |= !is_same_in_all_trips(s->loop, op->args[1]);
}

/* False: all of such an array, however large, would be kept for the few elements that a trip touches. */
static bool add_if_handed_on(value_list *state, const ir_op *loop, const ir_value *array)
{
    load_search s = {.array = array, .loop = loop};
    ir_walk(loop->regions[0], look_for_load, &s);
    if (!s.found || region_sets_first(loop->regions[0], array))
        return true;
    vec_push(state, array);
    return !s.by_trip || array->def->nargs == 0;
}

const rev_candidate *rev_candidate_of(const rev_plan *plan, const ir_op *loop)
{
    const rev_candidate *p = plan->candidates;
    while (p && p->loop != loop)
        p = p->next;
    return p;
}

static void add_candidate(scope *s, const ir_op *loop, const value_list *arrays)
{
    rev_plan *plan = s->rv->plan;
    if (rev_candidate_of(plan, loop))
        return;
    arena *mem = loop->region->func->module->mem;
    rev_candidate *p = ARENA_NEW(mem, rev_candidate);
    *p = (rev_candidate){.next = plan->candidates,
                         .loop = loop,
                         .arrays = ARENA_ARRAY(mem, const ir_value *, arrays->len + 1),
                         .n = arrays->len};
    for (size_t i = 0; i < arrays->len; i++)
        p->arrays[i] = arrays->at[i];
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        p->numbers += !rev_hands_on_sum(s->rv, loop, k);
    p->alone = s->kind == SCOPE_ROOT && !s->outer && !ir_loop_attr(loop)->down && p->numbers + p->n > 0;
    plan->candidates = p;
}

static void offer_checkpoint(scope *s, const loop_facts *f)
{
    const scope *root = rev_root_of(s);
    value_list state = {0};
    bool ok = f->repeats && (f->has_loop || f->has_call || s->rv->module->checkpoint_bytes) && !root->outer;
    for (size_t i = 0; i < f->stored.len && ok; i++) /* a scope that is no root has no array in the reverse sweep */
        ok = f->stored.at[i]->region == root->primal && add_if_handed_on(&state, f->loop, f->stored.at[i]);
    if (ok)
        add_candidate(s, f->loop, &state);
    vec_free(&state);
}

/* ---- the way ---- */

static rev_loop_way way_of(scope *s, const ir_op *loop)
{
    const rev *rv = s->rv;
    if (rv->memory || rv->module->debug || ir_loop_attr(loop)->cond || !ir_loop_attr(loop)->bounded)
        return LOOP_PLAIN;
    const bool of_kernel = rv->primal->pure && rv->primal->kind == IR_KERNEL;
    loop_facts f = study(rv, loop);
    rev_loop_way way = LOOP_PLAIN;
    if (of_kernel && may_be_fused(s, &f))
        way = LOOP_FUSED;
    else if (has_winner(rv, &f))
        way = LOOP_WINNER;
    else if (of_kernel)
        offer_checkpoint(s, &f);
    vec_free(&f.stored);
    const rev_candidate *candidate = way == LOOP_PLAIN ? rev_candidate_of(rv->plan, loop) : NULL;
    return candidate && candidate->taken ? LOOP_CHECKPOINTED : way;
}

/* The address of an element stands for the way. */
static const char ways[LOOP_CHECKPOINTED + 1];

static void set_way(rev_plan *p, const ir_op *loop, rev_loop_way way)
{
    ptrmap_set(&p->loops, loop, (void *)&ways[way]);
}

/* A loop is met in one scope alone. */
rev_loop_way rev_plan_loop(scope *s, const ir_op *loop)
{
    const char *known = ptrmap_get(&s->rv->plan->loops, loop);
    if (known)
        return (rev_loop_way)(known - ways);
    const rev_loop_way way = way_of(s, loop);
    set_way(s->rv->plan, loop, way);
    return way;
}

void rev_plan_again(scope *s)
{
    set_way(s->rv->plan, s->primal_op, LOOP_REMATERIALISED);
}

bool rev_way_of(const rev_plan *p, const ir_op *loop, rev_loop_way *way)
{
    const char *known = ptrmap_get(&p->loops, loop);
    if (known)
        *way = (rev_loop_way)(known - ways);
    return known;
}
