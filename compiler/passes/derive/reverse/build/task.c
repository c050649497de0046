/* Reverse mode: tasks. The adjoint of a task has its forward sweep in the same body. */
#include "passes/derive/reverse/build/build.h"

ir_value *rev_iteration_number(ir_builder *b, const ir_op *task)
{
    ir_value *number = NULL;
    for (int d = 0; d < ir_task_attr(task)->ndim; d++) {
        ir_value *i = ir_op2(b, OP_SUB, task->regions[0]->params[d], task->args[2 * d]);
        ir_value *extent = ir_op2(b, OP_SUB, task->args[2 * d + 1], task->args[2 * d]);
        number = number ? ir_op2(b, OP_ADD, ir_op2(b, OP_MUL, number, extent), i) : i;
    }
    return number;
}

/* ---- minimum and maximum: the adjoint must know which iteration won, so the replay returns its number as a companion
 * ---- */

typedef struct operands {
    VEC(ir_value *) inits;
    VEC(ir_value *) yields;
    VEC(scalar) types;
} operands;

/* The task's reductions and operands as they are with winners; NULL: none is needed. */
static ir_reduction *with_winners(ir_op *task, const ir_op *primal, const ir_builder *outside, operands *o)
{
    ir_region *body = task->regions[0];
    const ir_op *yield = ir_yield_of(body);
    ir_builder in = {.func = outside->func, .region = body, .before = (ir_op *)yield, .loc = task->loc};
    ir_builder before = {.func = outside->func, .region = task->region, .before = task, .loc = task->loc};
    ir_reduction *reds = ARENA_ARRAY(task->region->func->module->mem, ir_reduction,
                                     ir_task_attr(task)->nreductions + 1);
    ir_value *number = NULL;
    int at = 0;
    for (int k = 0; k < ir_task_attr(task)->nreductions; k++) {
        reds[k] = ir_task_attr(primal)->reductions[k];
        bool floats = false;
        for (int c = 0; c <= reds[k].companions; c++, at++) {
            vec_push(&o->inits, task->args[ir_task_first_init(task) + at]);
            vec_push(&o->yields, yield->args[at]);
            vec_push(&o->types, task->res[at]->type);
            floats = floats || scalar_is_float(task->res[at]->type);
        }
        if (reds[k].kind == IR_RED_ADD || !floats)
            continue;
        if (!number)
            number = rev_iteration_number(&in, task);
        reds[k].companions++;
        vec_push(&o->inits, ir_const_i(&before, SC_I64, -1));
        vec_push(&o->yields, number);
        vec_push(&o->types, SC_I64);
    }
    return number ? reds : NULL;
}

/* The old results keep their identity at their new places. */
static void place_results(ir_op *task, const ir_op *primal, int n)
{
    ir_value **old = task->res;
    ir_value **res = ARENA_ARRAY(task->region->func->module->mem, ir_value *, n);
    int from_old = 0, from_new = task->nres, i = 0;
    while (task->nres < n)
        ir_add_result(task, SC_I64);
    for (int k = 0; k < ir_task_attr(task)->nreductions; k++) {
        const int had = ir_task_attr(primal)->reductions[k].companions;
        for (int c = 0; c <= ir_task_attr(task)->reductions[k].companions; c++, i++)
            res[i] = c <= had ? old[from_old++] : task->res[from_new++];
    }
    for (i = 0; i < n; i++)
        res[i]->index = i;
    task->res = res;
}

void rev_add_winners(ir_op *task, const ir_op *primal, const ir_builder *outside)
{
    operands o = {0};
    ir_reduction *reds = with_winners(task, primal, outside, &o);
    if (reds) {
        ir_op *yield = ir_yield_of(task->regions[0]);
        ir_task_attr(task)->reductions = reds;
        while (task->nargs > ir_task_first_init(task))
            ir_remove_arg(task, task->nargs - 1);
        while (yield->nargs > 0)
            ir_remove_arg(yield, yield->nargs - 1);
        for (size_t i = 0; i < o.inits.len; i++) {
            ir_add_arg(task, o.inits.at[i]);
            ir_add_arg(yield, o.yields.at[i]);
        }
        place_results(task, primal, (int)o.types.len);
    }
    vec_free(&o.inits);
    vec_free(&o.yields);
    vec_free(&o.types);
}

/* ---- pull-back ---- */

/* A value from outside a task, and its clone in the forward sweep of the kernel. */
typedef struct captured {
    const ir_value *primal;
    ir_value *clone;
} captured;

typedef struct capture {
    scope *s;
    const ir_op *task;
    const ir_region *body;
    VEC(captured) list;
} capture;

static void capture_op(ir_op *op, void *ctx)
{
    capture *c = ctx;
    rev *rv = c->s->rv;
    for (int i = 0; i < op->nargs; i++) {
        const ir_value *v = op->args[i];
        if (ir_region_is_ancestor(c->body, v->region))
            continue;
        bool seen = false;
        for (size_t k = 0; k < c->list.len && !seen; k++)
            seen = c->list.at[k].primal == v;
        if (seen)
            continue;
        ir_value *clone = ir_map_get(&rv->fwd, v), *there = clone;
        if (v->type != SC_PTR)
            there = rev_primal_value(c->s, v);
        else if (!rev_stores_into(c->task, v)) /* else it holds what the trip found: checkpoint.c */
            there = rev_array_at(c->s, v, c->task);
        if (there == clone)
            continue;
        vec_push(&c->list, ((captured){v, clone}));
        ir_map_set(&rv->fwd, v, there);
    }
}

/* What the body takes from loops and branches around it is looked up first. */
void rev_sweep_body(scope *s, scope *c, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    capture cap = {.s = s, .task = op, .body = body};
    ir_walk((ir_region *)body, capture_op, &cap);
    s->rv->fusing = true;
    rev_forward_sweep(c, body);
    s->rv->fusing = false;
    for (size_t i = 0; i < cap.list.len; i++) {
        const captured *v = &cap.list.at[i];
        if (c->checkpointed && v->primal->type == SC_PTR)
            vec_push(&c->held, ((rev_held){v->primal, rev_mapped(&s->rv->fwd, v->primal)}));
        ir_map_set(&s->rv->fwd, v->primal, v->clone);
    }
    vec_free(&cap.list);
}

/* Seeds of the task's contributions, and of its initial operands. */
static void seed_reductions(scope *s, scope *c, const ir_op *op, ir_op *task)
{
    const ir_op *y = ir_yield_of(op->regions[0]);
    const ir_op *fwd = ptrmap_get(&s->rv->fwd_ops, op);
    const int i0 = ir_task_first_init(op);
    ir_value *number = NULL;
    int at = 0, at_fwd = 0;
    for (int k = 0; k < ir_task_attr(op)->nreductions; k++) {
        const ir_reduction *red = &ir_task_attr(op)->reductions[k];
        const int had = red->companions;
        for (int i = 0; i <= had; i++) {
            ir_value *g = rev_adj(s, op->res[at + i]);
            if (!g)
                continue;
            ir_builder in = rev_at_end(c, op),
                       out = {
                           .func = s->rv->out, .region = s->rev, .before = task, .loc = op->loc, .origin = (ir_op *)op};
            ir_value *g_in = g, *g_out = g;
            if (red->kind != IR_RED_ADD) {
                ir_value *winner = rev_save(s, fwd->res[at_fwd + had + 1], NULL);
                if (!number)
                    number = rev_iteration_number(&in, task);
                ir_value *wins = ir_op2(&in, OP_EQ, number, winner);
                g_in = ir_op3(&in, OP_SELECT, wins, g, ir_zero(&in, g->type));
                ir_value *kept = ir_op2(&out, OP_LT, winner, ir_const_i(&out, SC_I64, 0));
                g_out = ir_op3(&out, OP_SELECT, kept, g, ir_zero(&out, g->type));
                rev_set_guard(s->rv, g_in, wins);
                rev_set_guard(s->rv, g_out, kept);
            }
            rev_add(c, &in, y->args[at + i], g_in);
            rev_add(s, &out, op->args[i0 + at + i], g_out);
        }
        at += 1 + had;
        if (fwd)
            at_fwd += 1 + ir_task_attr(fwd)->reductions[k].companions;
    }
}

static ir_op *open_task(scope *s, const ir_op *op)
{
    const int nd = ir_task_attr(op)->ndim;
    ir_value **bounds = ARENA_ARRAY(s->rv->module->mem, ir_value *, 2 * nd);
    for (int i = 0; i < 2 * nd; i++)
        bounds[i] = rev_primal_value(s, op->args[i]);
    ir_builder b = rev_at_end(s, op);
    ir_op *task = ir_insert(&b, OP_TASK, 2 * nd, bounds, 0, NULL, 1);
    ir_task_attr(task)->ndim = nd;
    ir_task_attr(task)->ordered = s->rv->memory && s->rv->memory->ordered[op->pos];
    ir_region *r = ir_region_create(s->rv->out);
    ir_set_region(task, 0, r);
    const ir_region *body = op->regions[0];
    for (int i = 0; i < nd; i++)
        ir_map_set(&s->rv->fwd, body->params[i], ir_region_param_like(r, body->params[i]));
    return task;
}

/* What the iterations add to values and arrays around the task becomes sums. */
static void close_task(scope *s, scope *c, const ir_op *op, ir_op *task)
{
    arena *mem = s->rv->module->mem;
    VEC(ir_value *) yields = {0};
    ir_builder before = {.func = s->rv->out, .region = s->rev, .before = task, .loc = op->loc, .origin = (ir_op *)op};
    for (size_t k = 0; k < c->outer_adj.len; k++)
        vec_push(&yields, c->outer_adj.at[k].adj);
    ir_builder end = rev_at_end(c, op);
    for (size_t k = 0; k < c->arrays.len; k++)
        for (int64_t i = 0; i < ir_local_attr(c->arrays.at[k].primal->def)->count; i++) {
            ir_value *at = ir_const_i(&end, SC_I64, i), *g = ir_lload(&end, c->arrays.at[k].shadow, at);
            vec_push(&yields, g);
        }
    const size_t n = yields.len;
    ir_task_attr(task)->reductions = ARENA_ARRAY(mem, ir_reduction, n + 1);
    ir_task_attr(task)->nreductions = (int)n;
    for (size_t k = 0; k < n; k++) {
        ir_task_attr(task)->reductions[k] = (ir_reduction){IR_RED_ADD, 0};
        ir_add_arg(task, ir_zero(&before, yields.at[k]->type));
        ir_add_result(task, yields.at[k]->type);
    }
    rev_finish_root(c);
    end = rev_at_end(c, op);
    ir_yield(&end, (int)n, yields.at);
    vec_free(&yields);
}

static void add_sums(scope *s, const scope *c, const ir_op *op, const ir_op *task)
{
    ir_builder b = rev_at_end(s, op);
    size_t k = 0;
    for (; k < c->outer_adj.len; k++)
        rev_add_sum(s, &b, &c->outer_adj.at[k], task->res[k]);
    for (size_t a = 0; a < c->arrays.len; a++) {
        bool shared; /* if s is in a task: then so is the array */
        ir_value *shadow = rev_shadow(s, c->arrays.at[a].primal, &shared);
        b = rev_at_end(s, op);
        for (int64_t i = 0; i < ir_local_attr(c->arrays.at[a].primal->def)->count; i++, k++) {
            ir_value *at = ir_const_i(&b, SC_I64, i);
            ir_value *sum = ir_op2(&b, OP_ADD, ir_lload(&b, shadow, at), task->res[k]);
            ir_lstore(&b, shadow, at, sum);
        }
    }
}

void rev_task(scope *s, const ir_op *op)
{
    rev_restore_snapshots(s, op);
    if (!rev_has_work(s, op))
        return;
    ir_op *task = open_task(s, op);
    scope c = rev_scope(s->rv, s, SCOPE_ROOT, op->regions[0], task->regions[0], task->regions[0]);
    rev_sweep_body(s, &c, op);
    rev_mark(&c);
    seed_reductions(s, &c, op, task);
    rev_region(&c, op->regions[0]);
    close_task(s, &c, op, task);
    add_sums(s, &c, op, task);
    rev_scope_free(&c);
}
