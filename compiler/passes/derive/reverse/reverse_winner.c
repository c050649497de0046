/* Reverse mode: loops that look for a minimum, a maximum, or the best of something.
 *
 *     for k in n { m = min(m, f(k)) }          becomes
 *
 *     for k in n { d = f(k);  w = m < d ? w : k;  m = min(m, d) }
 *     if w < n { d = f(w);  the adjoint of d is that of m;  the reverse sweep of f(w) }
 *
 * and `if f(k) < m { m = f(k);  p = g(k); }` alike, in which the condition is known to hold. One iteration has set what
 * the loop hands on, and the adjoints of all others are zeros: n reverse sweeps become one. The forward sweep remembers
 * which it was, by the conditions of the launch, and saves nothing else.
 */
#include <stdlib.h>

#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/reverse.h"

/* How one iteration replaces what the loop carries. */
typedef struct replacement {
    const ir_value *cond; /* of selects and branches; NULL: a minimum or maximum */
    int side;             /* on which of them, or as which operand of the minimum, the new values stand */
} replacement;

typedef struct body_search {
    const ir_op *loop;
    replacement how;
    effects touched; /* by the function */
    bool *carried;   /* by value: follows from what the loop carries */
    bool pure;       /* memory that the function writes is not what it was */
    bool ok;
} body_search;

static bool keeps_values(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    const bool stack = e.stack;
    effects_free(&e);
    return stack;
}

/* An iteration changes nothing, and reads no array that another one may find changed. */
static void look(ir_op *op, void *ctx)
{
    body_search *s = ctx;
    s->ok &= rev_repeats(s->loop, op, s->pure ? &s->touched : NULL) && op->code != OP_STORE && op->code != OP_ACCUM;
    if (op->code == OP_LOOP)
        s->ok &= !ir_loop_attr(op)->cond;
    else if (op->code == OP_LOAD)
        s->ok &= ir_access_attr(op)->plane == IR_DATA;
    else if (op->code == OP_LLOAD)
        s->ok &= ir_region_is_ancestor(s->loop->regions[0], op->args[0]->region);
    else if (op->code == OP_CALL)
        s->ok &= !ir_op_has_effect(op) && !keeps_values(ir_callee_of(op));
}

/* ---- what an iteration replaces ---- */

static const ir_value *param_of(const ir_op *loop, int k)
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

static bool find_replacement(const ir_op *loop, replacement *r)
{
    const int n = ir_loop_ncarried(loop);
    for (int k = 0; k < n; k++) {
        const ir_value *v = yielded(loop, k), *param = param_of(loop, k);
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
        *r = (replacement){cond, side};
    }
    return n > 0;
}

/* A branch of the condition by which the loop replaces, in its body. */
static bool is_choice(const body_search *s, const ir_op *op)
{
    return op && op->code == OP_IF && s->how.cond && op->args[0] == s->how.cond && op->region == s->loop->regions[0];
}

static void find_store(ir_op *op, void *ctx)
{
    bool *found = ctx;
    *found |= op->code == OP_LSTORE;
}

/* A yield comes behind its `if`, and in front of what uses the result. */
static void spread_results(body_search *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        s->carried[op->res[i]->id] = true;
}

static void spread_op(ir_op *op, void *ctx)
{
    body_search *s = ctx;
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
static bool is_new(rev *rv, body_search *s)
{
    s->carried = calloc(rv->primal->next_value + 1, sizeof *s->carried);
    if (!s->carried)
        abort();
    for (int k = 0; k < ir_loop_ncarried(s->loop); k++)
        s->carried[param_of(s->loop, k)->id] = true;
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

bool rev_has_winner(scope *s, const ir_op *loop)
{
    rev *rv = s->rv;
    body_search b = {.loop = loop, .pure = rv->primal->pure, .ok = true};
    if (rv->plan || rv->module->debug || ir_loop_attr(loop)->cond || !ir_loop_attr(loop)->bounded || is_short(loop) ||
        !find_replacement(loop, &b.how))
        return false;
    b.touched = effects_of_region(rv->module, rv->primal->body);
    ir_walk(loop->regions[0], look, &b);
    effects_free(&b.touched);
    return b.ok && is_new(rv, &b);
}

/* ---- the sweeps ---- */

/* The index of the iteration that set the results, in the forward sweep; the loop's end: none did. */
static ir_value *remember_winner(scope *s, const ir_op *op, const replacement *r)
{
    ir_op *fwd = ptrmap_get(&s->rv->fwd_ops, op), *yield = ir_yield_of(fwd->regions[0]);
    const ir_op *choice = yield->args[0]->def;
    ir_value *last, *w = ir_loop_carry(fwd, fwd->args[1], &last);
    last->name = w->name = "winner";
    ir_builder b = {.func = s->rv->out, .region = fwd->regions[0], .before = yield, .loc = choice->loc};
    ir_value *k = fwd->regions[0]->params[0], *first = choice->args[0];
    if (!r->cond) /* what min and max do: the second of two that do not compare */
        first = ir_op2(&b, choice->code == OP_MIN ? OP_LT : OP_GT, choice->args[0], choice->args[1]);
    ir_add_arg(yield, ir_op3(&b, OP_SELECT, first, r->side == 0 ? k : w, r->side == 0 ? w : k));
    return rev_save(s, last, "winner");
}

/* In the winner's iteration the condition holds, whatever comes of it without what the loop carried. */
static void take_side(scope *c, const ir_op *loop, const replacement *r)
{
    rev *rv = c->rv;
    if (r->cond->region != loop->regions[0])
        return;
    ir_builder b = {.func = rv->out, .region = c->rev, .before = c->rev->first, .loc = loop->loc};
    ir_value *known = ir_const_i(&b, SC_BOOL, r->side == 0);
    ir_map_set(&rv->fwd, r->cond, known);
    for (const ir_op *op = loop->regions[0]->first; op; op = op->next)
        if (op->code == OP_IF && op->args[0] == r->cond)
            ((ir_op *)ptrmap_get(&rv->fwd_ops, op))->args[0] = known;
}

/* The winner's iteration, forwards and backwards, as a branch. */
static void sweep_winner(scope *s, scope *c, const ir_op *op, ir_value *winner, const replacement *r)
{
    const ir_region *body = op->regions[0];
    ir_map_set(&s->rv->fwd, body->params[0], winner);
    ir_builder at = {.func = s->rv->out, .region = s->rev, .before = c->rev->parent, .loc = op->loc};
    for (int k = 0; k < ir_loop_ncarried(op); k++) /* nobody looks at them */
        ir_map_set(&s->rv->fwd, param_of(op, k), ir_zero(&at, param_of(op, k)->type));
    rev_sweep_body(s, c, op);
    if (r->cond)
        take_side(c, op, r);
    rev_mark(c);
    ir_builder in = rev_at_end(c, op);
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        const ir_value *v = yielded(op, k);
        rev_add(c, &in, v->def->code == OP_IF ? v : on_side(v, r->side), rev_adj(s, op->res[k]));
    }
    rev_region(c, body);
    rev_finish_root(c);
}

typedef VEC(ir_value *) value_list;

/* Ends both branches: the adjoints of values around the loop, then those of what was there before. */
static void join(scope *s, scope *c, const ir_op *op, ir_op *branch)
{
    value_list yields[2] = {{0}, {0}};
    ir_builder in[2] = {rev_at_end(c, op),
                        {.func = s->rv->out, .region = branch->regions[1], .loc = op->loc, .origin = (ir_op *)op}},
               behind = rev_at_end(s, op);
    for (size_t i = 0; i < c->outer_adj.len; i++) {
        const adj_entry *e = &c->outer_adj.at[i];
        vec_push(&yields[0], e->adj);
        vec_push(&yields[1], ir_zero(&in[1], e->primal->type));
        ir_value *g = ir_add_result(branch, e->primal->type);
        rev_set_guard(s->rv, g, branch->args[0]);
        rev_add(s, &behind, e->primal, g);
    }
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        const ir_value *init = op->args[ir_loop_first_init(op) + k];
        ir_value *g = rev_adj(s, op->res[k]);
        if (!g)
            continue;
        vec_push(&yields[0], ir_zero(&in[0], init->type));
        vec_push(&yields[1], g);
        rev_add(s, &behind, init, ir_add_result(branch, init->type));
    }
    for (int k = 0; k < 2; k++) {
        ir_yield(&in[k], (int)yields[k].len, yields[k].at);
        vec_free(&yields[k]);
    }
}

void rev_winner(scope *s, const ir_op *op)
{
    bool any = false;
    for (int k = 0; k < ir_loop_ncarried(op); k++)
        any |= rev_adj(s, op->res[k]) != NULL;
    if (!any)
        return;
    replacement r;
    find_replacement(op, &r);
    ir_value *winner = remember_winner(s, op, &r), *end = rev_lookup(s, op->args[1]);
    ir_builder b = rev_at_end(s, op);
    ir_value *found = ir_op2(&b, OP_LT, winner, end);
    ir_op *branch = ir_insert(&b, OP_IF, 1, &found, 0, NULL, 2);
    for (int k = 0; k < 2; k++)
        ir_set_region(branch, k, ir_region_create(s->rv->out));
    scope c = rev_scope(s->rv, s, SCOPE_ROOT, op->regions[0], branch->regions[0], branch->regions[0]);
    c.fused = c.once = true;
    sweep_winner(s, &c, op, winner, &r);
    join(s, &c, op, branch);
    rev_scope_free(&c);
}
