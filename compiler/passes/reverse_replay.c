/* Reverse mode: the forward sweep, and how the reverse sweep gets at primal values: visible, computed again, or saved. */
#include <assert.h>

#include "passes/reverse.h"

enum { COST_SAVE_LOOP = 6, COST_SAVE_CARRIED = 4 /* often serves several values */, COST_SAVE_BRANCH = 2, COST_LOAD = 2, COST_MAX = 1000 };

ir_builder rev_prologue(scope *s, src_loc loc)
{
    return (ir_builder){.func = s->rv->out, .region = s->rev, .before = s->marker, .loc = loc};
}

/* ---- forward sweep ---- */

static ir_value *mapped(const ir_map *m, const ir_value *v)
{
    ir_value *w = ir_map_get(m, v);
    assert(w);
    return w;
}

/* rv: NULL for functions, whose memory is left alone. */
static void replay_region(rev *rv, ir_builder *b, ir_map *map, const ir_region *r);

/* Minimum and maximum: the adjoint must know which iteration won, so the replay returns its number as a companion. */
static void add_winners(ir_op *task, const ir_op *primal, ir_builder *outside)
{
    ir_module *m = task->region->func->module;
    ir_region *body = task->regions[0];
    ir_builder in = {.func = outside->func, .region = body, .before = ir_yield_of(body), .loc = task->loc};
    const int nd = task->attr.ndim;
    ir_value *number = NULL;
    ir_reduction *reds = ARENA_ARRAY(m->mem, ir_reduction, task->attr.nreductions);
    ir_op *yield = ir_yield_of(body);
    VEC(ir_value *) inits = {0};
    VEC(ir_value *) yields = {0};
    VEC(scalar) types = {0};
    int at = 0;
    for (int k = 0; k < task->attr.nreductions; k++) {
        reds[k] = primal->attr.reductions[k];
        for (int c = 0; c <= reds[k].companions; c++, at++) {
            vec_push(&inits, task->args[2 * nd + at]);
            vec_push(&yields, yield->args[at]);
            vec_push(&types, task->res[at]->type);
        }
        if (reds[k].kind == IR_RED_ADD || !scalar_is_float(types.at[types.len - 1]))
            continue;
        if (!number) {
            for (int d = 0; d < nd; d++) {
                ir_value *i = ir_op2(&in, OP_SUB, body->params[d], task->args[2 * d]);
                ir_value *extent = ir_op2(&in, OP_SUB, task->args[2 * d + 1], task->args[2 * d]);
                number = number ? ir_op2(&in, OP_ADD, ir_op2(&in, OP_MUL, number, extent), i) : i;
            }
        }
        reds[k].companions++;
        ir_builder before = {.func = outside->func, .region = task->region, .before = task, .loc = task->loc};
        vec_push(&inits, ir_const_i(&before, SC_I64, -1));
        vec_push(&yields, number);
        vec_push(&types, SC_I64);
    }
    if (number) {
        ir_value **old = task->res;
        const int nold = task->nres;
        task->attr.reductions = reds;
        while (task->nargs > 2 * nd)
            ir_remove_arg(task, task->nargs - 1);
        while (yield->nargs > 0)
            ir_remove_arg(yield, yield->nargs - 1);
        for (size_t i = 0; i < inits.len; i++) {
            ir_add_arg(task, inits.at[i]);
            ir_add_arg(yield, yields.at[i]);
        }
        /* Results: the old values keep their identity at their new places. */
        ir_value **res = ARENA_ARRAY(m->mem, ir_value *, types.len);
        const size_t want = types.len;
        for (int n = nold; (size_t)n < want; n++)
            ir_add_result(task, SC_I64);
        int from_old = 0, from_new = nold, i = 0;
        for (int k = 0; k < task->attr.nreductions; k++) {
            const int had = primal->attr.reductions[k].companions;
            for (int c = 0; c <= reds[k].companions; c++, i++)
                res[i] = c <= had ? old[from_old++] : task->res[from_new++];
        }
        for (i = 0; (size_t)i < want; i++)
            res[i]->index = i;
        task->res = res;
    }
    vec_free(&inits);
    vec_free(&yields);
    vec_free(&types);
}

static void replay_structured(rev *rv, ir_builder *b, ir_map *map, ir_op *op)
{
    ir_value **args = ARENA_ARRAY(b->func->module->mem, ir_value *, op->nargs + 1);
    scalar *types = ARENA_ARRAY(b->func->module->mem, scalar, op->nres + 1);
    for (int i = 0; i < op->nargs; i++)
        args[i] = mapped(map, op->args[i]);
    for (int i = 0; i < op->nres; i++)
        types[i] = op->res[i]->type;
    ir_op *c = ir_insert(b, op->code, op->nargs, args, op->nres, types, op->nregions);
    c->attr = op->attr;
    for (int k = 0; k < op->nregions; k++) {
        const ir_region *from = op->regions[k];
        ir_region *to = ir_region_create(b->func);
        for (int i = 0; i < from->nparams; i++)
            ir_map_set(map, from->params[i], ir_region_param(to, from->params[i]->type, from->params[i]->name));
        ir_set_region(c, k, to);
        ir_builder in = {.func = b->func, .region = to, .loc = op->loc};
        replay_region(rv, &in, map, from);
        const ir_op *y = ir_yield_of(from);
        ir_value **vals = ARENA_ARRAY(b->func->module->mem, ir_value *, y->nargs + 1);
        for (int i = 0; i < y->nargs; i++)
            vals[i] = mapped(map, y->args[i]);
        ir_yield(&in, y->nargs, vals);
    }
    for (int i = 0; i < op->nres; i++) {
        c->res[i]->name = op->res[i]->name;
        ir_map_set(map, op->res[i], c->res[i]);
    }
    if (op->code == OP_TASK)
        add_winners(c, op, b);
    op->note = c;
}

static bool has_effects(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    bool any = e.other;
    for (size_t i = 0; i < f->module->fields.len * 4; i++)
        any |= (e.at[i] & (EFFECT_STORE | EFFECT_ACCUM)) != 0;
    effects_free(&e);
    return any;
}

static void replay_task(rev *rv, ir_builder *b, ir_map *map, ir_op *op)
{
    const bool keeps = rv && rev_keeps_any(rv, op);
    if (op->nres == 0 && !keeps) {
        op->note = ir_const_i(b, SC_BOOL, 0)->def; /* marks the place, see rev_array_at */
        return;
    }
    if (keeps)
        rev_take_snapshots(rv, b, op);
    b->origin = op;
    if (rv)
        rv->in_task = true;
    replay_structured(rv, b, map, op);
    if (rv)
        rv->in_task = false;
}

static void replay_op(rev *rv, ir_builder *b, ir_map *map, ir_op *op)
{
    b->loc = op->loc;
    b->origin = op;
    switch (op->code) {
    case OP_STORE:
    case OP_ACCUM:
        if (rv && rev_keeps_write(rv, op))
            rev_write_again(rv, b, map, op);
        return;
    case OP_PRINT:
    case OP_ASSERT:
    case OP_YIELD:
        return;
    case OP_TASK:
        replay_task(rv, b, map, op);
        return;
    case OP_IF:
    case OP_LOOP:
        replay_structured(rv, b, map, op);
        return;
    case OP_CALL: {
        ir_op *c = ir_clone_op(b, op, map);
        if (has_effects(op->attr.callee))
            c->attr.callee = reverse_replay(op->attr.callee);
        op->note = c;
        return;
    }
    default:
        ir_clone_op(b, op, map);
    }
}

static void replay_region(rev *rv, ir_builder *b, ir_map *map, const ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next)
        replay_op(rv, b, map, op);
    b->origin = NULL;
}

void rev_forward_sweep(scope *s, const ir_region *primal)
{
    ir_builder b = {.func = s->rv->out, .region = s->fwd};
    replay_region(s->rv, &b, &s->rv->fwd, primal);
}

ir_func *reverse_replay(ir_func *f)
{
    if (f->replay)
        return f->replay;
    ir_module *m = f->module;
    ir_func *c = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_replay", f->name)));
    f->replay = c;
    c->loc = f->loc;
    c->no_inline = f->no_inline;
    c->results = f->results;
    c->nresults = f->nresults;
    c->primal = f;
    if (!c->body)
        c->body = ir_region_create(c);
    ir_map map = ir_map_create(f);
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&map, f->body->params[i], ir_region_param(c->body, f->body->params[i]->type, f->body->params[i]->name));
    ir_builder b = {.func = c, .region = c->body};
    replay_region(NULL, &b, &map, f->body);
    const ir_op *y = ir_yield_of(f->body);
    ir_value **vals = ARENA_ARRAY(m->mem, ir_value *, y->nargs + 1);
    for (int i = 0; i < y->nargs; i++)
        vals[i] = mapped(&map, y->args[i]);
    ir_yield(&b, y->nargs, vals);
    ir_map_free(&map);
    pass_simplify(c);
    return c;
}

/* ---- saving ---- */

static scope *root_of(scope *s)
{
    while (s->kind != SCOPE_ROOT)
        s = s->outer;
    return s;
}

static int add_slot(scope *s, scalar type, const char *name)
{
    arena *mem = s->rv->module->mem;
    ir_layout *l = s->layout;
    scalar *types = ARENA_ARRAY(mem, scalar, l->n + 1);
    const char **names = ARENA_ARRAY(mem, const char *, l->n + 1);
    for (int i = 0; i < l->n; i++) {
        types[i] = l->types[i];
        names[i] = l->names[i];
    }
    types[l->n] = type;
    names[l->n] = name;
    l->types = types;
    l->names = names;
    return l->n++;
}

ir_value *rev_stk_alloc(ir_builder *b, ir_value *count, ir_layout *l)
{
    const scalar type = SC_PTR;
    ir_op *op = ir_insert(b, OP_STK_ALLOC, 1, &count, 1, &type, 0);
    op->attr.layout = l;
    return op->res[0];
}

void rev_stk_store(ir_builder *b, ir_value *buf, ir_value *i, ir_value *v, ir_layout *l, int slot)
{
    ir_op *op = ir_insert(b, OP_STK_STORE, 3, (ir_value *[]){buf, i, v}, 0, NULL, 0);
    op->attr.layout = l;
    op->attr.i = slot;
}

ir_value *rev_stk_load(ir_builder *b, ir_value *buf, ir_value *i, ir_layout *l, int slot)
{
    ir_op *op = ir_insert(b, OP_STK_LOAD, 2, (ir_value *[]){buf, i}, 1, &l->types[slot], 0);
    op->attr.layout = l;
    op->attr.i = slot;
    op->res[0]->name = l->names[slot];
    return op->res[0];
}

/* Adds a carried value to the forward loop; returns its body parameter. The trip count stays the last result. */
static ir_value *carry_forward(scope *s, ir_value *init, ir_value *yield, ir_value **result)
{
    ir_op *loop = s->fwd_op;
    ir_add_arg(loop, init);
    ir_value *p = ir_region_param(loop->regions[0], init->type, NULL);
    if (loop->attr.cond)
        ir_region_param(loop->regions[1], init->type, NULL);
    *result = ir_add_result(loop, init->type);
    if (loop->attr.cond) {
        const int n = loop->nres;
        ir_value *trip = loop->res[n - 2];
        loop->res[n - 2] = *result;
        loop->res[n - 1] = trip;
        (*result)->index = n - 2;
        trip->index = n - 1;
    }
    ir_add_arg(ir_yield_of(loop->regions[0]), yield);
    return p;
}

/* A loop with a condition has no trip count on entry: every iteration gets a struct of its own that points to the previous one. */
static void open_chain(scope *s)
{
    ir_builder before = {.func = s->rv->out, .region = s->fwd_op->region, .before = s->fwd_op, .loc = s->fwd_op->loc};
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = s->fwd_op->loc};
    ir_value *null = ir_zero(&before, SC_PTR), *last;
    s->buf_fwd = rev_stk_alloc(&tail, ir_const_i(&tail, SC_I64, 1), s->layout);
    const int prev = add_slot(s, SC_PTR, "prev");
    ir_value *p = carry_forward(s, null, s->buf_fwd, &last);
    rev_stk_store(&tail, s->buf_fwd, ir_const_i(&tail, SC_I64, 0), p, s->layout, prev);

    s->buf_rev = ir_region_param(s->rev, SC_PTR, NULL);
    ir_builder pro = rev_prologue(s, s->fwd_op->loc);
    ir_value *next = rev_stk_load(&pro, s->buf_rev, ir_const_i(&pro, SC_I64, 0), s->layout, prev);
    vec_push(&s->carry, ((rev_carry){.param = s->buf_rev, .init = rev_save(s->outer, last, "saved"), .yield = next}));
}

static void open_array(scope *s)
{
    ir_op *loop = s->fwd_op;
    ir_builder before = {.func = s->rv->out, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *count = ir_op2(&before, OP_SUB, loop->args[1], loop->args[0]);
    s->buf_fwd = rev_stk_alloc(&before, count, s->layout);
    s->buf_rev = rev_save(s->outer, s->buf_fwd, "saved");
}

static ir_value *save_in_loop(scope *s, ir_value *w, const char *name)
{
    const bool chain = s->fwd_op->attr.cond;
    ir_module *m = s->rv->module;
    root_of(s)->uses_stack = true;
    if (!s->layout) {
        s->layout = ARENA_NEW(m->mem, ir_layout);
        s->layout->id = s->rv->out->next_value;
        if (chain)
            open_chain(s);
        else
            open_array(s);
    }
    const int slot = add_slot(s, w->type, name);
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = w->loc};
    ir_builder pro = rev_prologue(s, w->loc);
    ir_value *i_fwd, *i_rev;
    if (chain) {
        i_fwd = ir_const_i(&tail, SC_I64, 0);
        i_rev = ir_const_i(&pro, SC_I64, 0);
    } else {
        i_fwd = ir_op2(&tail, OP_SUB, s->fwd->params[0], s->fwd_op->args[0]);
        i_rev = ir_op2(&pro, OP_SUB, s->index, rev_lookup(s->outer, s->primal_op->args[0]));
    }
    rev_stk_store(&tail, s->buf_fwd, i_fwd, w, s->layout, slot);
    return rev_stk_load(&pro, s->buf_rev, i_rev, s->layout, slot);
}

static ir_value *save_in_branch(scope *s, ir_value *w, const char *name)
{
    ir_op *op = s->fwd_op;
    for (int k = 0; k < 2; k++) {
        ir_op *y = ir_yield_of(op->regions[k]);
        ir_builder b = {.func = s->rv->out, .region = op->regions[k], .before = y, .loc = w->loc};
        ir_add_arg(y, k == s->branch ? w : ir_zero(&b, w->type));
    }
    ir_value *r = ir_add_result(op, w->type);
    r->name = name;
    return rev_save(s->outer, r, name);
}

/* From deep inside nested branches: through a variable, because yields at each level would grow with the square of the depth. */
static ir_value *save_in_variable(scope *s, const scope *outermost, ir_value *w, const char *name)
{
    const ir_op *op = outermost->fwd_op;
    ir_builder before = {.func = s->rv->out, .region = op->region, .before = (ir_op *)op, .loc = w->loc};
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = w->loc};
    ir_builder behind = {.func = s->rv->out, .region = op->region, .before = op->next, .loc = w->loc};
    ir_value *variable = ir_local(&before, w->type, 1, name ? name : "saved");
    ir_lstore(&tail, variable, ir_const_i(&tail, SC_I64, 0), w);
    ir_value *r = ir_lload(&behind, variable, ir_const_i(&behind, SC_I64, 0));
    r->name = name;
    return rev_save(outermost->outer, r, name);
}

ir_value *rev_save(scope *s, ir_value *w, const char *name)
{
    enum { MAX_YIELDS = 4 };
    if (s->kind == SCOPE_ROOT)
        return w;
    if (s->kind == SCOPE_LOOP)
        return save_in_loop(s, w, name);
    int depth = 1;
    const scope *outermost = s;
    for (; outermost->outer->kind == SCOPE_BRANCH; outermost = outermost->outer)
        depth++;
    return depth > MAX_YIELDS && w->type != SC_PTR ? save_in_variable(s, outermost, w, name) : save_in_branch(s, w, name);
}

/* ---- look-up ---- */

static scope *owner_of(scope *s, const ir_value *v)
{
    while (s->primal != v->region)
        s = s->outer;
    return s;
}

static void last_store_in(ir_op *op, void *ctx)
{
    const ir_value **array = ctx;
    if (op->code == OP_LSTORE && op->args[0] == *array)
        *array = NULL;
}

static bool stores_into(const ir_op *op, const ir_value *array)
{
    if (op->code == OP_LSTORE)
        return op->args[0] == array;
    const ir_value *found = array;
    for (int k = 0; k < op->nregions && found; k++)
        ir_walk(op->regions[k], last_store_in, &found);
    return !found;
}

/* A local array still holds in the reverse sweep what it held at `reader` when it lives in a root (so it still exists there) and nothing is
 * stored into it at or after the root's operation that contains the reader. */
static bool array_is_final(scope *s, const ir_value *array, const ir_op *reader)
{
    if (!array->def || array->def->code != OP_LOCAL)
        return false;
    scope *home = owner_of(s, array);
    if (home->kind != SCOPE_ROOT)
        return false;
    rev *rv = s->rv;
    if (!rv->scanned[array->id]) {
        rv->scanned[array->id] = true;
        for (const ir_op *op = home->primal->first; op; op = op->next)
            if (stores_into(op, array))
                rv->last_store[array->id] = op;
    }
    const ir_op *anchor = reader;
    while (anchor->region != home->primal)
        anchor = anchor->region->parent;
    const ir_op *last = rv->last_store[array->id];
    if (!last)
        return true;
    for (const ir_op *op = last->next; op; op = op->next)
        if (op == anchor)
            return true;
    return false;
}

ir_value *rev_array_at(scope *s, const ir_value *array, const ir_op *task)
{
    rev *rv = s->rv;
    if (array_is_final(s, array, task))
        return rev_lookup(s, array);
    const ir_op *local = array->def;
    const ir_op *place = task->note;
    root_of(s)->uses_stack = true;
    ir_layout *l = ARENA_NEW(rv->module->mem, ir_layout);
    l->id = rv->out->next_value;
    l->n = 1;
    l->types = ARENA_ARRAY(rv->module->mem, scalar, 1);
    l->names = ARENA_ARRAY(rv->module->mem, const char *, 1);
    l->types[0] = local->attr.elem;
    l->names[0] = array->name;

    ir_builder out = {.func = rv->out, .region = place->region, .before = (ir_op *)place, .loc = task->loc};
    ir_value *zero = ir_const_i(&out, SC_I64, 0), *count = ir_const_i(&out, SC_I64, local->attr.i);
    ir_value *buf = rev_stk_alloc(&out, count, l);
    ir_op *copy = ir_loop(&out, zero, count, false, 0, NULL);
    ir_builder in = {.func = rv->out, .region = copy->regions[0], .loc = task->loc};
    ir_value *i = copy->regions[0]->params[0];
    rev_stk_store(&in, buf, i, ir_lload(&in, mapped(&rv->fwd, array), i), l, 0);
    ir_yield(&in, 0, NULL);

    ir_value *saved = rev_save(s, buf, "saved");
    ir_builder pro = rev_prologue(s, task->loc);
    ir_value *again = ir_local(&pro, local->attr.elem, local->attr.i, array->name);
    zero = ir_const_i(&pro, SC_I64, 0);
    count = ir_const_i(&pro, SC_I64, local->attr.i);
    ir_op *fill = ir_loop(&pro, zero, count, false, 0, NULL);
    in.region = fill->regions[0];
    i = fill->regions[0]->params[0];
    ir_lstore(&in, again, i, rev_stk_load(&in, saved, i, l, 0));
    ir_yield(&in, 0, NULL);
    return again;
}

static bool recomputable(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    if (!op)
        return false;
    switch (op->code) {
    case OP_CONST:
    case OP_MPARAM:
    case OP_SHAPE:
        return true;
    case OP_LOAD:
        return op->attr.plane == IR_DATA && !(s->rv->plan && s->rv->plan->fixed[op->pos]);
    case OP_LLOAD:
        return array_is_final(s, op->args[0], op);
    default:
        return op_is_pure_table(op->code);
    }
}

static int own_cost(const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
    case OP_MPARAM:
    case OP_SHAPE:
        return 0;
    case OP_LOAD:
    case OP_LLOAD:
        return COST_LOAD;
    default:
        return op_get(op->code)->cost;
    }
}

/* What it costs to have v in the reverse sweep of its scope s. */
static int cost_of(scope *s, const ir_value *v)
{
    rev *rv = s->rv;
    if (s->kind == SCOPE_ROOT || rv->memo[v->id])
        return 0;
    if (rv->cost[v->id])
        return rv->cost[v->id] - 1;
    int save = s->kind != SCOPE_LOOP ? COST_SAVE_BRANCH : v->def ? COST_SAVE_LOOP : COST_SAVE_CARRIED;
    int cost = save;
    if (s->kind == SCOPE_LOOP && s->index && v == s->primal->params[0]) {
        cost = 0;
    } else if (recomputable(s, v)) {
        rv->cost[v->id] = COST_MAX; /* bounds the recursion on shared operands */
        int again = own_cost(v->def);
        for (int i = 0; i < v->def->nargs && again < COST_MAX; i++) {
            const ir_value *a = v->def->args[i];
            again += a->region == s->primal ? cost_of(s, a) : cost_of(owner_of(s, a), a) ? 1 : 0;
        }
        /* Reading memory again is cheaper than writing and reading a copy. */
        cost = v->def->code == OP_LOAD || v->def->code == OP_LLOAD || again <= save ? again : save;
    }
    rv->cost[v->id] = (cost < COST_MAX ? cost : COST_MAX) + 1;
    return cost;
}

static ir_value *recompute(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    ir_map map = {0};
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, op->nargs + 1);
    for (int i = 0; i < op->nargs; i++)
        args[i] = rev_lookup(s, op->args[i]);
    (void)map;
    ir_builder b = rev_prologue(s, op->loc);
    b.origin = (ir_op *)op;
    ir_op *c = ir_insert(&b, op->code, op->nargs, args, 1, &v->type, 0);
    c->attr = op->attr;
    c->res[0]->name = v->name;
    return c->res[0];
}

ir_value *rev_lookup(scope *s, const ir_value *v)
{
    scope *home = owner_of(s, v);
    rev *rv = s->rv;
    if (home->kind == SCOPE_ROOT)
        return mapped(&rv->fwd, v);
    if (rv->memo[v->id])
        return rv->memo[v->id];
    ir_value *w;
    if (home->kind == SCOPE_LOOP && home->index && v == home->primal->params[0]) {
        w = home->index;
    } else if (recomputable(home, v)) {
        const int save = home->kind == SCOPE_LOOP ? COST_SAVE_LOOP : COST_SAVE_BRANCH;
        const bool load = v->def->code == OP_LOAD || v->def->code == OP_LLOAD;
        int again = own_cost(v->def);
        for (int i = 0; i < v->def->nargs; i++)
            again += cost_of(owner_of(home, v->def->args[i]), v->def->args[i]);
        w = load || again <= save ? recompute(home, v) : rev_save(home, mapped(&rv->fwd, v), v->name);
    } else {
        w = rev_save(home, mapped(&rv->fwd, v), v->name);
    }
    rv->memo[v->id] = w;
    return w;
}
