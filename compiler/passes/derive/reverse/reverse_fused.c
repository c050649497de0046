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
#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/reverse.h"

typedef struct body_search {
    const ir_op *loop;
    effects touched; /* by the function */
    bool dear;       /* saves more than a struct in each trip */
    bool ok;
} body_search;

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

bool rev_repeats(const ir_op *loop, const ir_op *op, const effects *written)
{
    switch (op->code) {
    case OP_LOOP:
    case OP_LOCAL:
    case OP_IF:
    case OP_YIELD:
    case OP_STORE:
    case OP_ACCUM:
    case OP_LLOAD: /* of an array around it: what the loop found there, which it does not change */
        return true;
    case OP_LOAD:
        return !written || !(written->at[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS));
    case OP_LSTORE:
        return ir_region_is_ancestor(loop->regions[0], op->args[0]->region);
    case OP_CALL:
        return call_repeats(op, written);
    default:
        return op_follows_from_operands(op->code);
    }
}

static void look(ir_op *op, void *ctx)
{
    body_search *s = ctx;
    s->ok &= rev_repeats(s->loop, op, &s->touched);
    s->dear |= op->code == OP_LOOP || op->code == OP_LOCAL || op->code == OP_CALL;
}

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

bool rev_is_fused(scope *s, const ir_op *loop)
{
    rev *rv = s->rv;
    if (!rv->primal->pure || rv->primal->kind != IR_KERNEL || rv->plan || rv->module->debug ||
        ir_loop_attr(loop)->cond || !ir_loop_attr(loop)->bounded || is_in_iteration(s) || !hands_on_sums(rv, loop))
        return false;
    body_search b = {.loop = loop, .touched = effects_of_region(rv->module, rv->primal->body), .ok = true};
    ir_walk(loop->regions[0], look, &b);
    effects_free(&b.touched);
    return b.ok && b.dear;
}

static ir_op *open(scope *s, const ir_op *op)
{
    ir_value *bounds[2] = {rev_lookup(s, op->args[0]), rev_lookup(s, op->args[1])};
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
