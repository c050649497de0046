/* Reverse mode: loops of export funcs whose iterations are swept forwards and backwards one by one.
 *
 *     for p in n { y = ...;  for k in m { y = f(y, x[p]) }  s += y }          becomes
 *
 *     for p in n { y = ...;  for k in m { saved[k] = ...; y = f(y, x[p]) }
 *                  y' = s';  for k in m, backwards { ... saved[k] ... } }
 *
 * What goes from one iteration to the next are sums, whose adjoint is the same in all of them. So the forward sweep of
 * an iteration can stand directly in front of its reverse sweep, as it does in tasks: what it saves is needed no longer
 * than the iteration lasts, whatever the number of trips. Where the sums are asked for, the loop runs once more in
 * front, and saves nothing there.
 */
#include "passes/derive/reverse/build/build.h"

static ir_op *open(scope *s, const ir_op *op)
{
    ir_value *bounds[2] = {rev_primal_value(s, op->args[0]), rev_primal_value(s, op->args[1])};
    ir_builder b = rev_at_end(s, op);
    ir_op *loop = ir_insert(&b, OP_LOOP, 2, bounds, 0, NULL, 1);
    ir_loop_attr(loop)->bounded = true;
    ir_loop_attr(loop)->down = !ir_loop_attr(op)->down;
    ir_region *r = ir_region_create(s->rv->out);
    ir_set_region(loop, 0, r);
    const ir_region *body = op->regions[0];
    ir_map_set(&s->rv->fwd, body->params[0], ir_region_param_like(r, body->params[0]));
    ir_builder before = {.func = s->rv->out, .region = s->rev, .before = loop, .loc = op->loc};
    for (int k = 1; k < body->nparams; k++) /* nobody looks at a sum */
        ir_map_set(&s->rv->fwd, body->params[k], ir_zero(&before, body->params[k]->type));
    return loop;
}

/* What the iterations add to adjoints of values around the loop. */
static void close(scope *s, scope *c, const ir_op *op, ir_op *loop)
{
    VEC(ir_value *) yields = {0};
    ir_builder before = {.func = s->rv->out, .region = s->rev, .before = loop, .loc = op->loc, .origin = (ir_op *)op};
    for (size_t k = 0; k < c->outer_adj.len; k++) {
        const adj_entry *e = &c->outer_adj.at[k];
        ir_add_arg(loop, ir_zero(&before, e->param->type));
        ir_add_result(loop, e->param->type);
        vec_push(&yields, e->adj);
    }
    rev_finish_root(c);
    ir_builder end = rev_at_end(c, op);
    ir_yield(&end, (int)yields.len, yields.at);
    vec_free(&yields);
    ir_builder behind = rev_at_end(s, op);
    for (size_t k = 0; k < c->outer_adj.len; k++)
        rev_add_sum(s, &behind, &c->outer_adj.at[k], loop->res[k]);
}

void rev_fused_loop(scope *s, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    const ir_op *y = ir_yield_of(body);
    const int init = ir_loop_first_init(op);
    ir_op *loop = open(s, op);
    scope c = rev_scope(s->rv, s, SCOPE_ROOT, body, loop->regions[0], loop->regions[0]);
    c.fused = true;
    rev_sweep_body(s, &c, op);
    rev_mark(&c);
    ir_builder in = rev_at_end(&c, op), out = rev_at_end(s, op);
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        ir_value *g = rev_adj(s, op->res[k]);
        rev_add(&c, &in, y->args[k], g);
        rev_add(s, &out, op->args[init + k], g);
    }
    rev_region(&c, body);
    close(s, &c, op, loop);
    rev_scope_free(&c);
}
