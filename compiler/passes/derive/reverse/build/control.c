/* Reverse mode: pull-back of branches and loops.
 *
 * A reverse loop counts in the other direction and carries the adjoints of the carried values. If it carries only sums,
 * it counts up. The trip count of a loop with a condition is a result of the forward loop.
 */
#include <string.h>

#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/build/build.h"

/* ---- if ---- */

static scope rev_branch(scope *s, const ir_op *op, ir_op *rif, int k)
{
    ir_op *fwd = ptrmap_get(&s->rv->fwd_ops, op);
    ir_region *r = ir_region_create(s->rv->out);
    ir_set_region(rif, k, r);
    scope c = rev_scope(s->rv, s, SCOPE_BRANCH, op->regions[k], fwd->regions[k], r);
    c.fwd_op = fwd;
    c.branch = k;
    rev_mark(&c);
    ir_builder in = rev_at_end(&c, op);
    const ir_op *y = ir_yield_of(op->regions[k]);
    for (int i = 0; i < op->nres; i++)
        rev_add(&c, &in, y->args[i], rev_adj(s, op->res[i]));
    rev_region(&c, op->regions[k]);
    return c;
}

static ir_value *outer_adjoint(const scope *c, const ir_value *primal)
{
    for (size_t i = 0; i < c->outer_adj.len; i++)
        if (c->outer_adj.at[i].primal == primal)
            return c->outer_adj.at[i].adj;
    return NULL;
}

/* An outer value, and what either branch contributes. */
typedef struct target {
    const ir_value *primal;
    ir_value *result, *side[2]; /* guards */
    bool zero[2];
} target;

/* Every outer value that either branch contributes to is a result; the other branch contributes nothing, not even NaN.
 */
static void join_branches(scope *s, const ir_op *op, ir_op *rif, scope *branch)
{
    VEC(ir_value *) yields[2] = {{0}, {0}};
    VEC(target) targets = {0};
    for (int k = 0; k < 2; k++) {
        ir_builder other = rev_at_end(&branch[1 - k], op);
        for (size_t i = 0; i < branch[k].outer_adj.len; i++) {
            const adj_entry *e = &branch[k].outer_adj.at[i];
            ir_value *g = outer_adjoint(&branch[1 - k], e->primal);
            if (g && k == 1)
                continue;
            vec_push(&yields[k], e->adj);
            vec_push(&yields[1 - k], g ? g : ir_zero(&other, e->primal->type));
            target t = {.primal = e->primal};
            t.side[k] = e->guard;
            t.side[1 - k] = g ? rev_guard(s->rv, g) : NULL;
            t.zero[1 - k] = !g;
            vec_push(&targets, t);
        }
    }
    for (int k = 0; k < 2; k++) {
        ir_builder in = rev_at_end(&branch[k], op);
        ir_yield(&in, (int)yields[k].len, yields[k].at);
        vec_free(&yields[k]);
    }
    ir_builder b = rev_at_end(s, op);
    for (size_t i = 0; i < targets.len; i++)
        targets.at[i].result = ir_add_result(rif, targets.at[i].primal->type);
    for (size_t i = 0; i < targets.len; i++) {
        const target *t = &targets.at[i];
        rev_set_guard(s->rv, t->result, rev_branch_guard(&b, rif, t->side, t->zero));
        rev_add(s, &b, t->primal, t->result);
    }
    vec_free(&targets);
}

void rev_if(scope *s, const ir_op *op)
{
    if (!rev_has_work(s, op))
        return;
    ir_value *cond = rev_primal_value(s, op->args[0]);
    ir_builder b = rev_at_end(s, op);
    ir_op *rif = ir_insert(&b, OP_IF, 1, &cond, 0, NULL, 2);
    scope branch[2];
    for (int k = 0; k < 2; k++)
        branch[k] = rev_branch(s, op, rif, k);
    join_branches(s, op, rif, branch);
    for (int k = 0; k < 2; k++)
        rev_scope_free(&branch[k]);
}

/* ---- loop ---- */

/* Memory whose order matters: iterations may only be reversed freely if they do nothing but add into gradients that
 * they do not read. */
typedef struct order {
    const ir_module *m;
    unsigned char *planes;
    bool fixed;
} order;

static void order_of(ir_op *op, void *ctx)
{
    order *o = ctx;
    if (op->code == OP_LSTORE || op->code == OP_LACCUM || op->code == OP_CALL || op->code == OP_TASK ||
        op->code == OP_ATOMIC)
        o->fixed = true;
    if (op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM)
        return;
    unsigned char *p = &o->planes[ir_storage_of_op(op)];
    *p |= (unsigned char)op_touches(op->code);
    if (*p != OP_READS && *p != OP_ADDS)
        o->fixed = true;
}

static bool order_is_free(const ir_module *m, ir_region *body)
{
    order o = {.m = m, .planes = xmalloc(ir_storage_count(m) + 1)};
    memset(o.planes, 0, ir_storage_count(m) + 1);
    ir_walk(body, order_of, &o);
    free(o.planes);
    return !o.fixed;
}

static void rev_loop_bounds(scope *s, const ir_op *op, ir_value **lo, ir_value **hi)
{
    *lo = ir_loop_attr(op)->bounded ? rev_primal_value(s, op->args[0]) : NULL;
    if (!ir_loop_attr(op)->cond) {
        *hi = rev_primal_value(s, op->args[1]);
        return;
    }
    ir_value *trips = rev_primal_value(s, op->res[op->nres - 1]);
    ir_builder b = rev_at_end(s, op);
    if (!*lo)
        *lo = ir_const_i(&b, SC_I64, 0);
    *hi = ir_op2(&b, OP_ADD, *lo, trips);
}

/* checkpointed: the forward sweep of a trip stands in front of its reverse sweep. */
static scope open_loop(scope *s, const ir_op *op, bool checkpointed, ir_op **loop)
{
    ir_value *bounds[2];
    rev_loop_bounds(s, op, &bounds[0], &bounds[1]);
    ir_builder b = rev_at_end(s, op);
    ir_op *fwd = ptrmap_get(&s->rv->fwd_ops, op);
    *loop = ir_insert(&b, OP_LOOP, 2, bounds, 0, NULL, 1);
    ir_loop_attr(*loop)->bounded = true;
    ir_loop_attr(*loop)->down = !ir_loop_attr(op)->down;
    ir_region *r = ir_region_create(s->rv->out);
    ir_set_region(*loop, 0, r);
    const ir_region *body = op->regions[0];
    scope c = rev_scope(s->rv, s, SCOPE_LOOP, body, fwd->regions[0], r);
    c.fwd_op = fwd;
    c.primal_op = op;
    ir_value *index = ir_region_param(r, SC_I64, ir_loop_attr(op)->bounded ? body->params[0]->name : NULL);
    c.index = ir_loop_attr(op)->bounded ? index : NULL;
    if (checkpointed) {
        if (s->rv->module->checkpoint_bytes)
            rev_schedule_trip(s, &c);
        else
            rev_restore_trip(s, &c);
        c.kind = SCOPE_ROOT;
        c.fused = c.checkpointed = true;
        c.fwd = r;
        rev_sweep_body(s, &c, op);
    }
    rev_mark(&c);
    return c;
}

/* Nothing comes from memory: where all adjoints of the results are zero, so is all that is carried. */
static void guard_carried(scope *s, scope *c, ir_op *loop)
{
    if (rev_has_active_memory(c->primal))
        return;
    ir_builder b = {.func = s->rv->out, .region = s->rev, .before = loop, .loc = c->primal_op->loc};
    ir_value *guard = NULL;
    bool first = true;
    for (size_t k = 0; k < c->carry.len; k++) {
        const ir_value *g = rev_adj(
            s, c->primal_op->res[c->carry.at[k].primal->index - ir_loop_first_param(c->primal_op)]);
        if (!g)
            continue;
        guard = first ? rev_guard(s->rv, g) : rev_either(&b, guard, rev_guard(s->rv, g));
        first = false;
    }
    for (size_t k = 0; k < c->carry.len; k++)
        rev_set_guard(s->rv, c->carry.at[k].param, guard);
}

/* The adjoints of the carried values are carried backwards. */
static void carry_adjoints(scope *s, scope *c, const ir_op *op, ir_op *loop)
{
    const ir_region *body = op->regions[0];
    const int p0 = ir_loop_first_param(op);
    const ir_op *y = ir_yield_of(body);
    ir_builder b = rev_at_end(s, op), in = rev_at_end(c, op);
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        if (!rev_carries_adjoint(s, op, k, rev_adj(s, op->res[k]) != NULL))
            continue;
        const ir_value *param = body->params[p0 + k];
        ir_value *g0 = rev_adj(s, op->res[k]);
        if (!g0)
            g0 = ir_zero(&b, param->type);
        ir_value *g = ir_region_param(c->rev, param->type, NULL);
        vec_push(&c->carry, ((rev_carry){.param = g, .init = g0, .primal = param}));
    }
    ir_move(loop, s->rev, NULL); /* behind the zeros */
    guard_carried(s, c, loop);
    for (size_t k = 0; k < c->carry.len; k++)
        rev_add(c, &in, y->args[c->carry.at[k].primal->index - p0], c->carry.at[k].param);
}

/* What the carried adjoints are after an iteration. True if that is what they were before it. */
static bool finish_carried(scope *c, const ir_op *op)
{
    bool passes_through = true;
    ir_builder end = rev_at_end(c, op);
    for (size_t k = 0; k < c->carry.len; k++) {
        rev_carry *q = &c->carry.at[k];
        if (q->primal) {
            q->yield = rev_adj(c, q->primal);
            if (!q->yield)
                q->yield = ir_zero(&end, q->param->type);
        }
        passes_through &= q->yield == q->param;
    }
    return passes_through;
}

/* Region parameters were made in the order of discovery: sums and carried adjoints interleave, so operands follow the
 * parameters. */
static void close_loop(scope *s, scope *c, const ir_op *op, ir_op *loop)
{
    arena *mem = s->rv->module->mem;
    ir_region *r = c->rev;
    ir_builder before = {.func = s->rv->out, .region = s->rev, .before = loop, .loc = op->loc, .origin = (ir_op *)op};
    ir_value **yields = ARENA_ARRAY(mem, ir_value *, r->nparams);
    ir_value **inits = ARENA_ARRAY(mem, ir_value *, r->nparams);
    for (size_t k = 0; k < c->carry.len; k++) {
        yields[c->carry.at[k].param->index] = c->carry.at[k].yield;
        inits[c->carry.at[k].param->index] = c->carry.at[k].init;
    }
    for (size_t k = 0; k < c->outer_adj.len; k++) {
        const adj_entry *e = &c->outer_adj.at[k];
        yields[e->param->index] = e->adj;
        inits[e->param->index] = ir_zero(&before, e->param->type);
    }
    for (int k = 1; k < r->nparams; k++) {
        ir_add_arg(loop, inits[k]);
        ir_add_result(loop, r->params[k]->type);
    }
    ir_builder end = rev_at_end(c, op);
    ir_yield(&end, r->nparams - 1, yields + 1);
}

void rev_loop(scope *s, const ir_op *op)
{
    if (!rev_has_work(s, op))
        return;
    const rev_loop_way way = rev_plan_loop(s, op);
    if (way == LOOP_FUSED) {
        rev_fused_loop(s, op);
        return;
    }
    if (way == LOOP_WINNER) {
        rev_winner(s, op);
        return;
    }
    const bool checkpointed = way == LOOP_CHECKPOINTED;
    ir_op *loop;
    scope c = open_loop(s, op, checkpointed, &loop);
    carry_adjoints(s, &c, op, loop);
    if (c.top.param)
        vec_push(&c.carry, c.top);
    rev_region(&c, op->regions[0]);
    const bool passes_through = finish_carried(&c, op);
    if (checkpointed)
        rev_finish_root(&c);
    close_loop(s, &c, op, loop);
    if (passes_through && order_is_free(s->rv->module, c.rev))
        ir_loop_attr(loop)->down = false;
    const int p0 = ir_loop_first_param(op), i0 = ir_loop_first_init(op);
    ir_builder b = rev_at_end(s, op);
    for (size_t k = 0; k < c.carry.len; k++) {
        const rev_carry *q = &c.carry.at[k];
        ir_value *g = loop->res[q->param->index - 1];
        rev_set_guard(s->rv, g, rev_guard(s->rv, q->param));
        if (q->primal)
            rev_add(s, &b, op->args[i0 + q->primal->index - p0], g);
    }
    for (size_t k = 0; k < c.outer_adj.len; k++)
        rev_add_sum(s, &b, &c.outer_adj.at[k], loop->res[c.outer_adj.at[k].param->index - 1]);
    rev_scope_free(&c);
}
