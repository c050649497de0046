/* Reverse mode: which values of the forward sweep are saved, and which the reverse sweep computes again.
 *
 * For a value v that the reverse sweep may want, let N(v) say that it is wanted and R(v) that it is computed again.
 * Then
 *
 *     N(v) and not R(v)   costs a save and what it takes to read that,
 *     R(v)                costs the operation, once more, and wants its operands: N(u) for each of them,
 *
 * both as often as the iteration of the innermost loop around v is run. That is the price of a cut of the network
 *
 *     source --never--> N(v) of what pull-backs ask for     N(v) --saving--> R(v) --again--> sink     R(v) --never-->
 * N(u)
 *
 * and so a minimum cut is the best choice for all values of the function together: one saved value that several are
 * computed from, rather than each of these. What pull-backs ask for is known before anything is built (needs.c).
 *
 * Indices of loops cost nothing. Keeping a local array costs a price per element; filling it again costs its loops and
 * the values that they take from outside. Checkpointed loops are chosen here as well (`pays`), innermost first.
 *
 * W. Moses, S. Narayanan, L. Paehler and others: Scalable automatic differentiation of multiple parallel paradigms
 * through compiler augmentation, 2022, choose what is saved by a minimum cut as well; there, computing is free.
 */
#include <assert.h>

#include "ir/target.h"
#include "passes/derive/reverse/plan/plan.h"
#include "passes/derive/min_cut.h"

enum { MOST_ELEMENTS = 1 << 16 };
static const int64_t most_times = INT64_C(1) << 32;

/* ---- prices ---- */

/* A branch hands it to what is around it, which may be a loop. */
static int cost_of_saving(const scope *s)
{
    int cost = 0;
    for (; s->kind == SCOPE_BRANCH; s = s->outer)
        cost += COST_SAVE_BRANCH;
    return s->kind == SCOPE_LOOP ? cost + COST_SAVE_LOOP : cost;
}

static void set_array_price(scope *s, const ir_value *v)
{
    const ir_op *local = v->def;
    const int64_t count = local->nargs ? TRIPS_UNKNOWN : ir_local_attr(local)->count;
    const int n = count < 1 ? 1 : count < MOST_ELEMENTS ? (int)count : MOST_ELEMENTS;
    const array_fill *fill = rev_fill_of(s, v);
    if (s->kind == SCOPE_LOOP)
        s->rv->plan->price[v->id] = (rev_price){.value = v,
                                                .save = n * COST_KEEP,
                                                .bytes = n * (int)scalar_bytes(ir_local_attr(local)->elem),
                                                .again = fill ? rev_fill_cost(fill) : -1,
                                                .fill = fill};
}

static void set_price(scope *s, const ir_value *v)
{
    if (v->def && v->def->code == OP_LOCAL) {
        set_array_price(s, v);
        return;
    }
    rev_price *p = &s->rv->plan->price[v->id];
    *p = (rev_price){.value = v, .save = cost_of_saving(s), .bytes = (int)scalar_bytes(v->type), .again = -1};
    if (s->kind == SCOPE_LOOP && ir_loop_attr(s->primal_op)->bounded && v == s->primal->params[0])
        p->save = 0;
    else if (rev_can_recompute(s, v))
        p->again = v->def->code == OP_IF ? rev_cost_of_if(s, v->def) : rev_own_cost(v->def);
    if (p->again >= 0 && v->def->code == OP_LLOAD) /* rather the array as a whole, if all of it is asked for */
        p->save += COST_MEMORY;
    p->must = p->again >= 0 && rev_is_free(s);
}

void rev_set_prices(scope *s)
{
    if (!s->rv->plan->pricing)
        return;
    for (int i = 0; i < s->primal->nparams; i++)
        set_price(s, s->primal->params[i]);
    for (const ir_op *op = s->primal->first; op; op = op->next)
        for (int i = 0; i < op->nres; i++)
            set_price(s, op->res[i]);
}

int64_t rev_times(const ir_region *r)
{
    int64_t n = 1;
    for (; r->parent && n < most_times; r = r->parent->region) {
        const ir_op *op = r->parent;
        n *= op->code == OP_TASK ? TRIPS_MOST_WEIGHED : op->code == OP_LOOP ? rev_guess_trips(op) : 1;
    }
    return n < most_times ? n : most_times;
}

/* ---- the network ---- */

typedef struct network {
    const rev_plan *plan;
    cut_graph graph;
    int *node; /* by value id: N; R follows it. 0: none yet */
    VEC(const rev_price *) found;
} network;

static int wanted_node(network *n, const rev_price *p)
{
    int *node = &n->node[p->value->id];
    if (*node == 0) {
        *node = cut_node(&n->graph);
        cut_node(&n->graph);
        vec_push(&n->found, p);
    }
    return *node;
}

static void want(network *n, int from, const ir_value *v)
{
    const rev_price *p = &n->plan->price[v->id];
    if (p->value && (v->type != SC_PTR || v->def->code == OP_LOCAL))
        cut_edge_add(&n->graph, from, wanted_node(n, p), CUT_NEVER);
}

static void want_operands(network *n, int from, const ir_op *op);

/* What comes from outside is wanted; what is inside is no node, or does no harm. */
static void want_region(network *n, int from, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        want_operands(n, from, op);
}

static void want_operands(network *n, int from, const ir_op *op)
{
    for (int i = rev_first_operand(op); i < op->nargs; i++)
        want(n, from, op->args[i]);
    for (int k = 0; k < op->nregions; k++)
        want_region(n, from, op->regions[k]);
}

static void want_all(network *n, int from, const array_fill *fill)
{
    const ir_value *const *outside;
    const size_t count = rev_fill_takes(fill, &outside);
    for (size_t i = 0; i < count; i++)
        want(n, from, outside[i]);
}

/* Of choices that cost the same, the one that saves fewer bytes. */
static void add_value(network *n, const rev_price *p)
{
    enum { MORE_THAN_BYTES = 16 };
    const int64_t often = rev_times(p->value->region);
    const int wanted = wanted_node(n, p), again = wanted + 1;
    const int64_t save = often * (MORE_THAN_BYTES * p->save + p->bytes);
    cut_edge_add(&n->graph, wanted, again, p->must ? CUT_NEVER : save);
    cut_edge_add(&n->graph, again, CUT_SINK, p->again < 0 ? CUT_NEVER : MORE_THAN_BYTES * often * p->again);
    if (p->fill)
        want_all(n, again, p->fill);
    else if (p->again >= 0)
        want_operands(n, again, p->value->def);
}

/* ---- checkpoints ---- */

typedef struct sweep {
    int64_t again; /* what sweeping all trips forwards once more costs; an access half an operation, as it is cached */
    bool open;     /* a loop has a number of trips that is not known here */
} sweep;

static void weigh(ir_op *op, void *ctx)
{
    sweep *s = ctx;
    const int64_t often = rev_times(op->region);
    if (op->code == OP_LOOP)
        s->open |= ir_loop_attr(op)->cond || !ir_is_const(op->args[0]) || !ir_is_const(op->args[1]);
    s->again += op_is_pure_table(op->code) ? often * rev_own_cost(op) : often / 2;
}

typedef struct touching {
    const ir_value *array;
    int64_t often;
} touching;

static void find_touch(ir_op *op, void *ctx)
{
    touching *t = ctx;
    const int64_t often = rev_times(op->region);
    if ((op->code == OP_LLOAD || op->code == OP_LSTORE) && op->args[0] == t->array && often > t->often)
        t->often = often;
}

/* Elements that all trips keep of an array; as many as they touch, if its size is not known here. */
static int64_t kept_of(const ir_op *loop, const ir_value *array)
{
    if (!array->def->nargs)
        return rev_times(loop->regions[0]) * ir_local_attr(array->def)->count;
    touching t = {array, 0};
    ir_walk(loop->regions[0], find_touch, &t);
    return t.often;
}

static int64_t cost_of_saves_in(const network *n, const ir_op *loop)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n->found.len; i++) {
        const rev_price *p = n->found.at[i];
        if (n->plan->is_saved[p->value->id] && ir_region_is_ancestor(loop->regions[0], p->value->region))
            sum += rev_times(p->value->region) * p->save;
    }
    return sum;
}

/* A third of the memory, or less, for little more time: beyond the caches a save costs as much as a few operations, and
 * what one trip saves stays in them. All that stays there in any case is left alone. */
static bool pays(const network *n, const rev_candidate *p)
{
    enum { IN_CACHE = 16 * 1024, LESS = 3 };
    sweep s = {0};
    weigh((ir_op *)p->loop, &s);
    s.again = 0;
    ir_walk(p->loop->regions[0], weigh, &s);
    int64_t state = rev_times(p->loop->regions[0]) * p->numbers;
    for (size_t i = 0; i < p->n; i++)
        state += kept_of(p->loop, p->arrays[i]);
    const int64_t saves = cost_of_saves_in(n, p->loop);
    const bool small = !s.open && saves / COST_SAVE_LOOP * (int64_t)sizeof(double) <= IN_CACHE;
    return !small && saves >= LESS * COST_SAVE_LOOP * state && s.again <= saves + saves / 2;
}

/* More bytes than the states may have are saved in the loop, as far as is known here. */
static bool exceeds(const network *n, const rev_candidate *p)
{
    sweep s = {0};
    weigh((ir_op *)p->loop, &s);
    ir_walk(p->loop->regions[0], weigh, &s);
    int64_t bytes = 0;
    for (size_t i = 0; i < n->found.len; i++) {
        const rev_price *v = n->found.at[i];
        if (n->plan->is_saved[v->value->id] && ir_region_is_ancestor(p->loop->regions[0], v->value->region))
            bytes += rev_times(v->value->region) * v->bytes;
    }
    return bytes > 0 && (s.open || bytes > p->loop->region->func->module->checkpoint_bytes);
}

/* One in another would do all of its work a third time. */
static bool holds_taken(const rev_plan *plan, const ir_op *loop)
{
    for (const rev_candidate *p = plan->candidates; p; p = p->next)
        if (p->taken && ir_region_is_ancestor(loop->regions[0], p->loop->region))
            return true;
    return false;
}

static bool is_wanted(const network *n, const rev_candidate *p)
{
    const ir_module *m = p->loop->region->func->module;
    if (m->checkpoint_bytes)
        return p->alone && exceeds(n, p);
    return m->checkpoints != IR_NOWHERE && !holds_taken(n->plan, p->loop) &&
           (m->checkpoints == IR_WHEREVER_POSSIBLE || pays(n, p));
}

static bool take_checkpoints(rev_plan *plan, const network *n)
{
    bool any = false;
    for (rev_candidate *p = plan->candidates; p; p = p->next)
        any |= p->taken = is_wanted(n, p);
    return any;
}

bool rev_choose(rev *rv)
{
    rev_plan *plan = rv->plan;
    network n = {.plan = plan, .graph = cut_create()};
    n.node = ARENA_ARRAY(rv->module->mem, int, rv->primal->next_value + 1);
    for (size_t i = 0; i < plan->asked.len; i++)
        if (plan->price[plan->asked.at[i]->id].value)
            want(&n, CUT_SOURCE, plan->asked.at[i]);
    for (size_t i = 0; i < n.found.len; i++)
        add_value(&n, n.found.at[i]);
    cut_solve(&n.graph);
    for (size_t i = 0; i < n.found.len; i++) {
        const uint32_t id = n.found.at[i]->value->id;
        plan->wanted[id] = cut_is_with_source(&n.graph, n.node[id]);
        plan->is_saved[id] = plan->wanted[id] && !cut_is_with_source(&n.graph, n.node[id] + 1);
    }
    const bool again = !plan->chosen && take_checkpoints(plan, &n);
    plan->chosen = true;
    cut_free(&n.graph);
    vec_free(&n.found);
    return again;
}

/* ---- lookups ---- */

bool rev_saves(const rev_plan *plan, const ir_value *v)
{
    const rev_price *p = &plan->price[v->id];
    assert(p->value == v);
    if (p->again < 0 || p->must)
        return p->again < 0;
    if (plan->wanted[v->id])
        return plan->is_saved[v->id];
    return v->def->code != OP_IF && (v->def->code == OP_LOCAL || p->again > p->save);
}
