/* Reverse mode: the reverse sweep. docs/architecture.md tells the scheme; reverse_replay.c has the forward sweep and look-up. */
#include <assert.h>
#include <string.h>

#include "passes/reverse.h"

static void rev_region(scope *s, const ir_region *r);

static ir_builder at_end(scope *s, const ir_op *origin)
{
    return (ir_builder){.func = s->rv->out, .region = s->rev, .loc = origin->loc, .origin = (ir_op *)origin};
}

/* ---- what has an effect on active memory ---- */

typedef struct memory_search {
    bool found;
    VEC(const ir_func *) seen; /* callees: functions that call each other twice would otherwise cost 2^depth */
} memory_search;

static void search_func(memory_search *m, const ir_func *f);

static void find_active_memory(ir_op *op, void *ctx)
{
    memory_search *m = ctx;
    if ((op->code == OP_STORE || op->code == OP_ACCUM) && op->attr.plane == IR_DATA && op->attr.field->grad)
        m->found = true;
    else if (op->code == OP_LSTORE && scalar_is_float(ir_elem_type(op->args[0])))
        m->found = true;
    else if (op->code == OP_CALL && !m->found)
        search_func(m, op->attr.callee);
}

static void search_func(memory_search *m, const ir_func *f)
{
    for (size_t i = 0; i < m->seen.len; i++)
        if (m->seen.at[i] == f)
            return;
    vec_push(&m->seen, f);
    ir_walk(f->body, find_active_memory, m);
}

bool rev_has_active_memory(const ir_region *r)
{
    memory_search m = {false, {0}};
    ir_walk((ir_region *)r, find_active_memory, &m);
    vec_free(&m.seen);
    return m.found;
}

static bool has_work(scope *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (rev_adj(s, op->res[i]))
            return true;
    for (int k = 0; k < op->nregions; k++)
        if (rev_has_active_memory(op->regions[k]) || rev_takes_back(s->rv, op->regions[k]))
            return true;
    return false;
}

/* ---- scalar operations and memory ---- */

static void rev_pure(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g)
        return;
    ir_value *args[3] = {NULL, NULL, NULL};
    unsigned needs = 0;
    for (int k = 0; k < op->nargs; k++)
        if (scalar_is_float(op->args[k]->type) && rev_varied(s->rv, op->args[k]) && !op_zero_derivative(op->code, k))
            needs |= rule_needs(op->code, k);
    for (int k = 0; k < op->nargs; k++)
        if (needs & 1u << k)
            args[k] = rev_lookup(s, op->args[k]);
    ir_value *r = needs & 8u ? rev_lookup(s, op->res[0]) : NULL;
    ir_builder b = at_end(s, op);
    for (int k = 0; k < op->nargs; k++) {
        const ir_value *a = op->args[k];
        if (!scalar_is_float(a->type) || !rev_varied(s->rv, a) || op_zero_derivative(op->code, k))
            continue;
        rev_add(s, &b, a, rule_apply(&b, op->code, k, args, r, g, a->type));
    }
}

static ir_value **subscripts(scope *s, const ir_op *op)
{
    const int n = op->attr.field->ndim;
    ir_value **idx = ARENA_ARRAY(s->rv->module->mem, ir_value *, n + 1);
    for (int i = 0; i <= n; i++)
        idx[i] = rev_lookup(s, op->args[i]);
    return idx;
}

static bool has_gradient(const ir_op *op)
{
    return op->attr.plane == IR_DATA && op->attr.field->grad;
}

static void rev_load(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g || !has_gradient(op))
        return;
    ir_value **idx = subscripts(s, op);
    ir_builder b = at_end(s, op);
    ir_accum(&b, op->attr.field, IR_GRAD, idx, idx[op->attr.field->ndim], g);
}

static void rev_store_grad(scope *s, const ir_op *op)
{
    if (!has_gradient(op))
        return;
    const int n = op->attr.field->ndim;
    const ir_value *v = op->args[n + 1];
    const bool active = rev_varied(s->rv, v);
    if (op->code == OP_ACCUM && !active)
        return;
    ir_value **idx = subscripts(s, op);
    ir_builder b = at_end(s, op);
    ir_value *g = active ? ir_load(&b, op->attr.field, IR_GRAD, idx, idx[n]) : NULL;
    if (op->code == OP_STORE)
        ir_store(&b, op->attr.field, IR_GRAD, idx, idx[n], ir_zero(&b, v->type));
    rev_add(s, &b, v, g);
}

static void rev_store(scope *s, const ir_op *op)
{
    rev_store_grad(s, op);
    rev_undo_write(s, op);
}

static void rev_local_load(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g || !rev_varied(s->rv, op->args[0]))
        return;
    ir_value *shadow = rev_shadow(s, op->args[0]);
    ir_value *i = rev_lookup(s, op->args[1]);
    ir_builder b = at_end(s, op);
    ir_lstore(&b, shadow, i, ir_op2(&b, OP_ADD, ir_lload(&b, shadow, i), g));
}

static void rev_local_store(scope *s, const ir_op *op)
{
    const ir_value *array = op->args[0], *v = op->args[2];
    if (!scalar_is_float(v->type) || !rev_varied(s->rv, array))
        return;
    ir_value *shadow = rev_shadow(s, array);
    ir_value *i = rev_lookup(s, op->args[1]);
    ir_builder b = at_end(s, op);
    ir_value *g = rev_varied(s->rv, v) ? ir_lload(&b, shadow, i) : NULL;
    ir_lstore(&b, shadow, i, ir_zero(&b, v->type));
    rev_add(s, &b, v, g);
}

/* ---- if ---- */

static void rev_if(scope *s, const ir_op *op)
{
    if (!has_work(s, op))
        return;
    ir_value *cond = rev_lookup(s, op->args[0]);
    ir_builder b = at_end(s, op);
    ir_op *fwd = op->note;
    ir_op *rif = ir_insert(&b, OP_IF, 1, &cond, 0, NULL, 2);
    scope branch[2];
    for (int k = 0; k < 2; k++) {
        ir_region *r = ir_region_create(s->rv->out);
        ir_set_region(rif, k, r);
        branch[k] = rev_scope(s->rv, s, SCOPE_BRANCH, op->regions[k], fwd->regions[k], r);
        branch[k].fwd_op = fwd;
        branch[k].branch = k;
        rev_mark(&branch[k]);
        ir_builder in = at_end(&branch[k], op);
        const ir_op *y = ir_yield_of(op->regions[k]);
        for (int i = 0; i < op->nres; i++)
            rev_add(&branch[k], &in, y->args[i], rev_adj(s, op->res[i]));
        rev_region(&branch[k], op->regions[k]);
    }
    /* Every outer value that either branch contributes to is a result; the other branch contributes nothing, not even NaN. */
    VEC(ir_value *) yields[2] = {{0}, {0}};
    VEC(const ir_value *) targets = {0};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < branch[k].outer_adj.len; i++) {
            const adj_entry *e = &branch[k].outer_adj.at[i];
            bool seen = false;
            ir_value *other = NULL;
            for (size_t j = 0; j < branch[1 - k].outer_adj.len; j++)
                if (branch[1 - k].outer_adj.at[j].primal == e->primal) {
                    other = branch[1 - k].outer_adj.at[j].adj;
                    seen = k == 1;
                }
            if (seen)
                continue;
            ir_builder in = at_end(&branch[1 - k], op);
            vec_push(&yields[k], e->adj);
            vec_push(&yields[1 - k], other ? other : ir_zero(&in, e->primal->type));
            vec_push(&targets, e->primal);
        }
    }
    for (int k = 0; k < 2; k++) {
        ir_builder in = at_end(&branch[k], op);
        ir_yield(&in, (int)yields[k].len, yields[k].at);
    }
    for (size_t i = 0; i < targets.len; i++)
        rev_add(s, &b, targets.at[i], ir_add_result(rif, targets.at[i]->type));
    for (int k = 0; k < 2; k++) {
        vec_free(&yields[k]);
        rev_scope_free(&branch[k]);
    }
    vec_free(&targets);
}

/* ---- loop ---- */

/* Memory whose order matters: iterations may only be reversed freely if they do nothing but add into gradients that they do not read. */
typedef struct order {
    const ir_module *m;
    unsigned char *planes;
    bool fixed;
} order;

static void order_of(ir_op *op, void *ctx)
{
    order *o = ctx;
    if (op->code == OP_LSTORE || op->code == OP_CALL || op->code == OP_TASK)
        o->fixed = true;
    if (op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM)
        return;
    unsigned char *p = &o->planes[op->attr.field->index * 4 + (int)op->attr.plane];
    *p |= op->code == OP_LOAD ? EFFECT_READ : op->code == OP_STORE ? EFFECT_STORE : EFFECT_ACCUM;
    if (*p != EFFECT_READ && *p != EFFECT_ACCUM)
        o->fixed = true;
}

static bool order_is_free(const ir_module *m, ir_region *body)
{
    order o = {.m = m, .planes = xmalloc(m->fields.len * 4 + 1)};
    memset(o.planes, 0, m->fields.len * 4 + 1);
    ir_walk(body, order_of, &o);
    free(o.planes);
    return !o.fixed;
}

static bool carries_adjoint(scope *s, const ir_op *loop, int k)
{
    const ir_value *res = loop->res[k], *param = loop->regions[0]->params[ir_loop_first_param(loop) + k];
    if (!scalar_is_float(res->type) || !rev_varied(s->rv, param))
        return false;
    return rev_adj(s, res) || (param->id < s->rv->act.n && s->rv->act.useful[param->id]);
}

static void rev_loop_bounds(scope *s, const ir_op *op, ir_value **lo, ir_value **hi)
{
    *lo = op->attr.bounded ? rev_lookup(s, op->args[0]) : NULL;
    if (!op->attr.cond) {
        *hi = rev_lookup(s, op->args[1]);
        return;
    }
    ir_value *trips = rev_lookup(s, op->res[op->nres - 1]);
    ir_builder b = at_end(s, op);
    if (!*lo)
        *lo = ir_const_i(&b, SC_I64, 0);
    *hi = ir_op2(&b, OP_ADD, *lo, trips);
}

static void rev_loop(scope *s, const ir_op *op)
{
    if (!has_work(s, op))
        return;
    rev *rv = s->rv;
    ir_value *bounds[2];
    rev_loop_bounds(s, op, &bounds[0], &bounds[1]);
    ir_builder b = at_end(s, op);
    ir_op *fwd = op->note;
    ir_op *loop = ir_insert(&b, OP_LOOP, 2, bounds, 0, NULL, 1);
    loop->attr.bounded = true;
    loop->attr.down = !op->attr.down;
    ir_region *r = ir_region_create(rv->out);
    ir_set_region(loop, 0, r);
    const ir_region *body = op->regions[0];
    scope c = rev_scope(rv, s, SCOPE_LOOP, body, fwd->regions[0], r);
    c.fwd_op = fwd;
    c.primal_op = op;
    ir_value *index = ir_region_param(r, SC_I64, op->attr.bounded ? body->params[0]->name : NULL);
    c.index = op->attr.bounded ? index : NULL;
    rev_mark(&c);

    const int n = ir_loop_ncarried(op), p0 = ir_loop_first_param(op), i0 = ir_loop_first_init(op);
    const ir_op *y = ir_yield_of(body);
    ir_builder in = at_end(&c, op);
    for (int k = 0; k < n; k++) {
        if (!carries_adjoint(s, op, k))
            continue;
        const ir_value *param = body->params[p0 + k];
        ir_value *g0 = rev_adj(s, op->res[k]);
        if (!g0)
            g0 = ir_zero(&b, param->type);
        ir_value *g = ir_region_param(r, param->type, NULL);
        vec_push(&c.carry, ((rev_carry){.param = g, .init = g0, .primal = param}));
    }
    ir_move(loop, s->rev, NULL); /* behind the zeros */
    for (size_t k = 0; k < c.carry.len; k++)
        rev_add(&c, &in, y->args[c.carry.at[k].primal->index - p0], c.carry.at[k].param);
    rev_region(&c, body);

    bool passes_through = true;
    ir_builder end = at_end(&c, op);
    for (size_t k = 0; k < c.carry.len; k++) {
        rev_carry *q = &c.carry.at[k];
        if (q->primal) {
            q->yield = rev_adj(&c, q->primal);
            if (!q->yield)
                q->yield = ir_zero(&end, q->param->type);
        }
        passes_through &= q->yield == q->param;
    }
    /* Region parameters were made in the order of discovery: sums and carried adjoints interleave, so operands follow the parameters. */
    ir_builder before = {.func = rv->out, .region = s->rev, .before = loop, .loc = op->loc, .origin = (ir_op *)op};
    ir_value **yields = ARENA_ARRAY(rv->module->mem, ir_value *, r->nparams);
    ir_value **inits = ARENA_ARRAY(rv->module->mem, ir_value *, r->nparams);
    for (size_t k = 0; k < c.carry.len; k++) {
        yields[c.carry.at[k].param->index] = c.carry.at[k].yield;
        inits[c.carry.at[k].param->index] = c.carry.at[k].init;
    }
    for (size_t k = 0; k < c.outer_adj.len; k++) {
        const adj_entry *e = &c.outer_adj.at[k];
        yields[e->param->index] = e->adj;
        inits[e->param->index] = ir_zero(&before, e->param->type);
    }
    for (int k = 1; k < r->nparams; k++) {
        ir_add_arg(loop, inits[k]);
        ir_add_result(loop, r->params[k]->type);
    }
    end = at_end(&c, op);
    ir_yield(&end, r->nparams - 1, yields + 1);
    if (passes_through && order_is_free(rv->module, r))
        loop->attr.down = false;
    b = at_end(s, op);
    for (size_t k = 0; k < c.carry.len; k++) {
        const rev_carry *q = &c.carry.at[k];
        if (q->primal)
            rev_add(s, &b, op->args[i0 + q->primal->index - p0], loop->res[q->param->index - 1]);
    }
    for (size_t k = 0; k < c.outer_adj.len; k++)
        rev_add(s, &b, c.outer_adj.at[k].primal, loop->res[c.outer_adj.at[k].param->index - 1]);
    rev_scope_free(&c);
}

/* ---- task ---- */

static ir_value *iteration_number(ir_builder *b, const ir_op *task)
{
    ir_value *number = NULL;
    for (int d = 0; d < task->attr.ndim; d++) {
        ir_value *i = ir_op2(b, OP_SUB, task->regions[0]->params[d], task->args[2 * d]);
        ir_value *extent = ir_op2(b, OP_SUB, task->args[2 * d + 1], task->args[2 * d]);
        number = number ? ir_op2(b, OP_ADD, ir_op2(b, OP_MUL, number, extent), i) : i;
    }
    return number;
}

/* Seeds of the task's contributions, and of its initial operands. */
static void seed_reductions(scope *s, scope *c, const ir_op *op, ir_op *task)
{
    const ir_op *y = ir_yield_of(op->regions[0]);
    const ir_op *fwd = op->note;
    const int i0 = ir_task_first_init(op);
    ir_value *number = NULL;
    int at = 0, at_fwd = 0;
    for (int k = 0; k < op->attr.nreductions; k++) {
        const ir_reduction *red = &op->attr.reductions[k];
        const int had = red->companions;
        for (int i = 0; i <= had; i++) {
            ir_value *g = rev_adj(s, op->res[at + i]);
            if (!g)
                continue;
            ir_builder in = at_end(c, op), out = {.func = s->rv->out, .region = s->rev, .before = task, .loc = op->loc, .origin = (ir_op *)op};
            ir_value *g_in = g, *g_out = g;
            if (red->kind != IR_RED_ADD) {
                ir_value *winner = rev_save(s, fwd->res[at_fwd + had + 1], NULL);
                if (!number)
                    number = iteration_number(&in, task);
                ir_value *wins = ir_op2(&in, OP_EQ, number, winner);
                g_in = ir_op3(&in, OP_SELECT, wins, g, ir_zero(&in, g->type));
                ir_value *kept = ir_op2(&out, OP_LT, winner, ir_const_i(&out, SC_I64, 0));
                g_out = ir_op3(&out, OP_SELECT, kept, g, ir_zero(&out, g->type));
            }
            rev_add(c, &in, y->args[at + i], g_in);
            rev_add(s, &out, op->args[i0 + at + i], g_out);
        }
        at += 1 + had;
        if (fwd)
            at_fwd += 1 + fwd->attr.reductions[k].companions;
    }
}

static void finish_root(scope *c)
{
    if (!c->uses_stack)
        return;
    const scalar type = SC_PTR;
    ir_builder b = {.func = c->rv->out, .region = c->rev, .before = c->rev->first, .loc = c->marker->loc};
    ir_op *mark = ir_insert(&b, OP_STK_MARK, 0, NULL, 1, &type, 0);
    b.before = NULL;
    ir_insert(&b, OP_STK_RELEASE, 1, mark->res, 0, NULL, 0);
}

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
        ir_value *there = v->type == SC_PTR ? rev_array_at(c->s, v, c->task) : rev_lookup(c->s, v), *clone = ir_map_get(&rv->fwd, v);
        if (there == clone)
            continue;
        vec_push(&c->list, ((captured){v, clone}));
        ir_map_set(&rv->fwd, v, there);
    }
}

/* The forward sweep of a task's body, in its adjoint. What the body takes from loops and branches around the task is looked up first. */
static void sweep_task(scope *s, scope *c, const ir_op *task)
{
    const ir_region *body = task->regions[0];
    capture cap = {.s = s, .task = task, .body = body};
    ir_walk((ir_region *)body, capture_op, &cap);
    s->rv->fusing = true;
    rev_forward_sweep(c, body);
    s->rv->fusing = false;
    for (size_t i = 0; i < cap.list.len; i++)
        ir_map_set(&s->rv->fwd, cap.list.at[i].primal, cap.list.at[i].clone);
    vec_free(&cap.list);
}

static void rev_task(scope *s, const ir_op *op)
{
    rev_restore_snapshots(s, op);
    if (!has_work(s, op))
        return;
    rev *rv = s->rv;
    const int nd = op->attr.ndim;
    ir_value **bounds = ARENA_ARRAY(rv->module->mem, ir_value *, 2 * nd);
    for (int i = 0; i < 2 * nd; i++)
        bounds[i] = rev_lookup(s, op->args[i]);
    ir_builder b = at_end(s, op);
    ir_op *task = ir_insert(&b, OP_TASK, 2 * nd, bounds, 0, NULL, 1);
    task->attr.ndim = nd;
    ir_region *r = ir_region_create(rv->out);
    ir_set_region(task, 0, r);
    const ir_region *body = op->regions[0];
    for (int i = 0; i < nd; i++)
        ir_map_set(&rv->fwd, body->params[i], ir_region_param(r, body->params[i]->type, body->params[i]->name));
    ir_op *kernel_level = op->note; /* the forward sweep of the body replaces the notes below, not this one */
    scope c = rev_scope(rv, s, SCOPE_ROOT, body, r, r);
    sweep_task(s, &c, op);
    rev_mark(&c);
    ((ir_op *)op)->note = kernel_level;
    seed_reductions(s, &c, op, task);
    rev_region(&c, body);

    VEC(ir_value *) yields = {0};
    ir_builder before = {.func = rv->out, .region = s->rev, .before = task, .loc = op->loc, .origin = (ir_op *)op};
    for (size_t k = 0; k < c.outer_adj.len; k++)
        vec_push(&yields, c.outer_adj.at[k].adj);
    ir_builder end = at_end(&c, op);
    for (size_t k = 0; k < c.arrays.len; k++)
        for (int64_t i = 0; i < c.arrays.at[k].primal->def->attr.i; i++) {
            ir_value *at = ir_const_i(&end, SC_I64, i), *g = ir_lload(&end, c.arrays.at[k].shadow, at);
            vec_push(&yields, g);
        }
    const size_t n = yields.len;
    task->attr.reductions = ARENA_ARRAY(rv->module->mem, ir_reduction, n + 1);
    task->attr.nreductions = (int)n;
    for (size_t k = 0; k < n; k++) {
        task->attr.reductions[k] = (ir_reduction){IR_RED_ADD, 0};
        ir_add_arg(task, ir_zero(&before, yields.at[k]->type));
        ir_add_result(task, yields.at[k]->type);
    }
    finish_root(&c);
    end = at_end(&c, op);
    ir_yield(&end, (int)n, yields.at);
    b = at_end(s, op);
    size_t k = 0;
    for (; k < c.outer_adj.len; k++)
        rev_add(s, &b, c.outer_adj.at[k].primal, task->res[k]);
    for (size_t a = 0; a < c.arrays.len; a++) {
        ir_value *shadow = rev_shadow(s, c.arrays.at[a].primal);
        b = at_end(s, op);
        for (int64_t i = 0; i < c.arrays.at[a].primal->def->attr.i; i++, k++) {
            ir_value *at = ir_const_i(&b, SC_I64, i);
            ir_value *sum = ir_op2(&b, OP_ADD, ir_lload(&b, shadow, at), task->res[k]);
            ir_lstore(&b, shadow, at, sum);
        }
    }
    vec_free(&yields);
    rev_scope_free(&c);
}

/* ---- call ---- */

static void rev_call(scope *s, const ir_op *op)
{
    ir_func *f = op->attr.callee;
    bool any = rev_has_active_memory(f->body);
    for (int i = 0; i < op->nres; i++)
        any |= rev_adj(s, op->res[i]) != NULL;
    if (!any)
        return;
    ir_func *vjp = reverse_vjp(f);
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, op->nargs + op->nres + 1);
    int n = 0;
    for (int i = 0; i < op->nargs; i++)
        args[n++] = rev_lookup(s, op->args[i]);
    ir_builder b = at_end(s, op);
    for (int i = 0; i < op->nres; i++) {
        if (!scalar_is_float(op->res[i]->type))
            continue;
        ir_value *g = rev_adj(s, op->res[i]);
        args[n++] = g ? g : ir_zero(&b, op->res[i]->type);
    }
    ir_op *call = ir_call(&b, vjp, n, args);
    int k = 0;
    for (int i = 0; i < op->nargs; i++)
        if (scalar_is_float(op->args[i]->type))
            rev_add(s, &b, op->args[i], call->res[k++]);
}

/* ---- regions and functions ---- */

static void rev_op(scope *s, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
        rev_load(s, op);
        return;
    case OP_STORE:
    case OP_ACCUM:
        rev_store(s, op);
        return;
    case OP_LLOAD:
        rev_local_load(s, op);
        return;
    case OP_LSTORE:
        rev_local_store(s, op);
        return;
    case OP_IF:
        rev_if(s, op);
        return;
    case OP_LOOP:
        rev_loop(s, op);
        return;
    case OP_TASK:
        rev_task(s, op);
        return;
    case OP_CALL:
        rev_call(s, op);
        return;
    case OP_CONST:
    case OP_MPARAM:
    case OP_SHAPE:
    case OP_LOCAL:
    case OP_YIELD:
    case OP_ASSERT:
    case OP_PRINT:
        return; /* nothing flows back through these */
    default:
        assert(op_is_pure_table(op->code)); /* the saved-value stack occurs in adjoints only, and their reverse is refused */
        rev_pure(s, op);
    }
}

static void rev_region(scope *s, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        rev_op(s, op);
}

static rev rev_begin(ir_func *f, ir_func *out)
{
    rev rv = {.module = f->module, .primal = f, .out = out};
    const size_t n = f->next_value + 1;
    rv.act = activity_compute(f, ACTIVITY_REVERSE);
    if (f->no_grad) /* nothing it computes depends on anything; what it stores over has no gradient any more */
        memset(rv.act.varied, 0, rv.act.n * sizeof *rv.act.varied);
    if (f->no_grad) /* nothing it computes depends on anything; what it stores over has no gradient any more */
        memset(rv.act.varied, 0, rv.act.n * sizeof *rv.act.varied);
    rv.fwd = ir_map_create(f);
    arena *mem = f->module->mem;
    rv.memo = ARENA_ARRAY(mem, ir_value *, n);
    rv.adj = ARENA_ARRAY(mem, ir_value *, n);
    rv.shadow = ARENA_ARRAY(mem, ir_value *, n);
    rv.cost = ARENA_ARRAY(mem, int, n);
    rv.last_store = ARENA_ARRAY(mem, const ir_op *, n);
    rv.scanned = ARENA_ARRAY(mem, bool, n);
    if (!out->body)
        out->body = ir_region_create(out);
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&rv.fwd, f->body->params[i], ir_region_param(out->body, f->body->params[i]->type, f->body->params[i]->name));
    return rv;
}

static void rev_end(rev *rv)
{
    activity_free(&rv->act);
    vec_free(&rv->snapshots);
    ir_map_free(&rv->fwd);
}

static ir_func *derived(ir_func *f, ir_func_kind kind, const char *suffix)
{
    ir_module *m = f->module;
    ir_func *d = ir_func_create(m, kind, intern(m->names, arena_printf(m->mem, "%s_%s", f->name, suffix)));
    d->loc = f->loc;
    d->doc = f->doc;
    d->sig = f->sig;
    d->nsig = f->nsig;
    d->primal = f;
    d->no_inline = f->no_inline;
    return d;
}

static void set_results(ir_func *f, int n, ir_value *const *vals)
{
    f->nresults = n;
    f->results = ARENA_ARRAY(f->module->mem, scalar, n + 1);
    for (int i = 0; i < n; i++)
        f->results[i] = vals[i]->type;
}

/* Ends the function by yielding the adjoints of the chosen parameters. */
static void finish_func(scope *root, ir_func *f, const bool *wanted)
{
    ir_builder b = {.func = root->rv->out, .region = root->rev, .loc = f->loc};
    ir_value **vals = ARENA_ARRAY(f->module->mem, ir_value *, f->body->nparams + 1);
    int n = 0;
    for (int i = 0; i < f->body->nparams; i++) {
        if (!wanted[i])
            continue;
        ir_value *g = rev_adj(root, f->body->params[i]);
        vals[n++] = g ? g : ir_zero(&b, f->body->params[i]->type);
    }
    finish_root(root);
    ir_yield(&b, n, vals);
    set_results(root->rv->out, n, vals);
    rev_scope_free(root);
    rev_end(root->rv);
}

ir_func *reverse_vjp(ir_func *f)
{
    if (f->vjp)
        return f->vjp;
    ir_func *out = derived(f, IR_FUNC, "vjp");
    f->vjp = out;
    rev rv = rev_begin(f, out);
    scope root = rev_scope(&rv, NULL, SCOPE_ROOT, f->body, out->body, out->body);
    const ir_op *y = ir_yield_of(f->body);
    ir_value **seeds = ARENA_ARRAY(f->module->mem, ir_value *, f->nresults + 1);
    for (int i = 0; i < f->nresults; i++)
        if (scalar_is_float(f->results[i]))
            seeds[i] = ir_region_param(out->body, f->results[i], f->nresults == 1 ? "seed" : arena_printf(f->module->mem, "seed_%d", i));
    rev_forward_sweep(&root, f->body);
    rev_mark(&root);
    ir_builder b = {.func = out, .region = out->body, .loc = f->loc};
    for (int i = 0; i < f->nresults; i++)
        rev_add(&root, &b, y->args[i], seeds[i]);
    rev_region(&root, f->body);
    bool *wanted = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int i = 0; i < f->body->nparams; i++)
        wanted[i] = scalar_is_float(f->body->params[i]->type);
    finish_func(&root, f, wanted);
    pass_settle(out);
    pass_simplify(out);
    return out;
}

ir_func *reverse_kernel(ir_func *f, const saved_plan *plan)
{
    ir_func *out = derived(f, IR_KERNEL_GRAD, "grad");
    f->grad = out;
    rev rv = rev_begin(f, out);
    scope root = rev_scope(&rv, NULL, SCOPE_ROOT, f->body, out->body, out->body);
    rv.plan = plan;
    rv.old = plan ? ARENA_ARRAY(f->module->mem, ir_value *, plan->npos + 1) : NULL;
    rev_forward_sweep(&root, f->body);
    root.uses_stack = rv.snapshots.len > 0;
    rev_mark(&root);
    rev_region(&root, f->body);
    bool *wanted = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int i = 0; i < f->nsig; i++)
        for (int k = 0; k < f->sig[i].rows * f->sig[i].cols; k++)
            wanted[f->sig[i].first + k] = f->sig[i].grad;
    finish_func(&root, f, wanted);
    return out;
}
