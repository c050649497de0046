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
#include "passes/derive/reverse/build/build.h"

/* ---- the sweeps ---- */

/* The index of the iteration that set the results, in the forward sweep; the loop's end: none did. */
static ir_value *remember_winner(scope *s, const ir_op *op, const rev_replacement *r)
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
static void take_side(scope *c, const ir_op *loop, const rev_replacement *r)
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
static void sweep_winner(scope *s, scope *c, const ir_op *op, ir_value *winner, const rev_replacement *r)
{
    const ir_region *body = op->regions[0];
    ir_map_set(&s->rv->fwd, body->params[0], winner);
    ir_builder at = {.func = s->rv->out, .region = s->rev, .before = c->rev->parent, .loc = op->loc};
    for (int k = 0; k < ir_loop_ncarried(op); k++) /* nobody looks at them */
        ir_map_set(&s->rv->fwd, rev_carried_param(op, k), ir_zero(&at, rev_carried_param(op, k)->type));
    rev_sweep_body(s, c, op);
    if (r->cond)
        take_side(c, op, r);
    rev_mark(c);
    ir_builder in = rev_at_end(c, op);
    for (int k = 0; k < ir_loop_ncarried(op); k++)
        rev_add(c, &in, rev_winning_value(op, k), rev_adj(s, op->res[k]));
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
    rev_replacement r;
    rev_find_replacement(op, &r);
    ir_value *winner = remember_winner(s, op, &r), *end = rev_primal_value(s, op->args[1]);
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
