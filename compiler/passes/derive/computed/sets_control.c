/* Sets through control flow. A condition on integers is followed as it is today. Both branches of another one count,
 * and all trips of a loop that another one may end. */
#include "ir/ops.h"
#include "passes/derive/computed/computed_int.h"

typedef VEC(ir_value *) value_list;

/* ---- branches ---- */

/* What a branch yields: values of results that have one, then sets of varied results. */
static void yield_branch(sets *s, ir_builder *b, const ir_op *op, const ir_op *y)
{
    value_list all = {0};
    for (int i = 0; i < op->nres; i++)
        if (sets_has_value(s, op->res[i]))
            vec_push(&all, sets_value(s, y->args[i]));
    for (int i = 0; i < op->nres; i++)
        if (sets_is_varied(s, op->res[i]))
            vec_push(&all, sets_set(s, b, y->args[i]));
    ir_yield(b, (int)all.len, all.at);
    vec_free(&all);
}

static void follow_branch(sets *s, ir_builder *b, const ir_op *op)
{
    VEC(scalar) types = {0};
    for (int i = 0; i < op->nres; i++)
        if (sets_has_value(s, op->res[i]))
            vec_push(&types, op->res[i]->type);
    const size_t nvalues = types.len;
    for (int i = 0; i < op->nres; i++)
        if (sets_is_varied(s, op->res[i]))
            vec_push(&types, SC_I64);
    ir_op *c = ir_if(b, sets_value(s, op->args[0]), (int)types.len, types.at);
    vec_free(&types);
    for (int k = 0; k < 2; k++) {
        ir_builder in = {.func = s->out, .region = c->regions[k], .loc = op->loc};
        s->region(s, &in, op->regions[k]);
        yield_branch(s, &in, op, ir_yield_of(op->regions[k]));
    }
    size_t value = 0, set = nvalues;
    for (int i = 0; i < op->nres; i++) {
        if (sets_has_value(s, op->res[i]))
            ir_map_set_other(&s->val, op->res[i], c->res[value++]);
        if (sets_is_varied(s, op->res[i]))
            ir_map_set_other(&s->set, op->res[i], c->res[set++]);
    }
}

static void take_both(sets *s, ir_builder *b, const ir_op *op)
{
    const bool maybe = s->maybe;
    s->maybe = true;
    s->region(s, b, op->regions[0]);
    s->region(s, b, op->regions[1]);
    s->maybe = maybe;
    for (int i = 0; i < op->nres; i++) {
        ir_value *y[2] = {ir_yield_of(op->regions[0])->args[i], ir_yield_of(op->regions[1])->args[i]};
        if (sets_has_value(s, op->res[i]))
            ir_map_set_other(
                &s->val, op->res[i],
                ir_op3(b, OP_SELECT, sets_value(s, op->args[0]), sets_value(s, y[0]), sets_value(s, y[1])));
        if (sets_is_varied(s, op->res[i]))
            ir_map_set_other(&s->set, op->res[i], ir_op2(b, OP_OR, sets_set(s, b, y[0]), sets_set(s, b, y[1])));
    }
}

void sets_if(sets *s, ir_builder *b, const ir_op *op)
{
    if (s->c->level[op->args[0]->id] == FROM_INTEGERS)
        follow_branch(s, b, op);
    else
        take_both(s, b, op);
}

/* ---- loops ---- */

/* What a loop carries: as its clone does, values first. */
typedef struct carried {
    const ir_op *op;
    int init, param, n;
    bool *value, *set;
} carried;

static carried carried_by(const sets *s, const ir_op *op)
{
    arena *mem = s->out->module->mem;
    carried c = {op, ir_loop_first_init(op), ir_loop_first_param(op), ir_loop_ncarried(op), NULL, NULL};
    c.value = ARENA_ARRAY(mem, bool, c.n + 1);
    c.set = ARENA_ARRAY(mem, bool, c.n + 1);
    for (int k = 0; k < c.n; k++) {
        c.value[k] = sets_has_value(s, op->regions[0]->params[c.param + k]);
        c.set[k] = sets_is_varied(s, op->res[k]);
    }
    return c;
}

/* Parameters of a region of the clone, from number `first` on, for those of the source from `from` on. */
static void map_params(sets *s, const carried *c, const ir_region *to, int first, const ir_region *of, int from)
{
    int at = first;
    for (int k = 0; k < c->n; k++)
        if (c->value[k])
            ir_map_set_other(&s->val, of->params[from + k], to->params[at++]);
    for (int k = 0; k < c->n; k++)
        if (c->set[k])
            ir_map_set_other(&s->set, of->params[from + k], to->params[at++]);
}

/* all: what a trip finds stays in the sets, since it may have been the last one. */
static void fill_body(sets *s, const carried *c, ir_op *loop, bool all)
{
    const ir_region *of = c->op->regions[0];
    ir_region *body = loop->regions[0];
    if (c->param)
        ir_map_set_other(&s->val, of->params[0], body->params[0]);
    map_params(s, c, body, c->param, of, c->param);
    ir_builder in = {.func = s->out, .region = body, .loc = c->op->loc};
    const bool maybe = s->maybe;
    s->maybe |= all;
    s->region(s, &in, of);
    s->maybe = maybe;
    value_list yields = {0};
    const ir_op *y = ir_yield_of(of);
    for (int k = 0; k < c->n; k++)
        if (c->value[k])
            vec_push(&yields, sets_value(s, y->args[k]));
    for (int k = 0; k < c->n; k++) {
        if (!c->set[k])
            continue;
        ir_value *found = sets_set(s, &in, y->args[k]);
        vec_push(&yields, all ? ir_op2(&in, OP_OR, sets_set(s, &in, of->params[c->param + k]), found) : found);
    }
    ir_yield(&in, (int)yields.len, yields.at);
    vec_free(&yields);
}

static void fill_condition(sets *s, const carried *c, ir_op *loop)
{
    const ir_region *of = c->op->regions[1];
    map_params(s, c, loop->regions[1], 0, of, 0);
    ir_builder in = {.func = s->out, .region = loop->regions[1], .loc = c->op->loc};
    s->region(s, &in, of);
    ir_value *goes_on = sets_value(s, ir_yield_of(of)->args[0]);
    ir_yield(&in, 1, &goes_on);
}

void sets_loop(sets *s, ir_builder *b, const ir_op *op)
{
    const carried c = carried_by(s, op);
    const bool cond = ir_loop_attr(op)->cond,
               all = cond && s->c->level[ir_yield_of(op->regions[1])->args[0]->id] == FROM_FLOATS;
    ir_value *lo = c.init ? sets_value(s, op->args[0]) : NULL, *hi = c.init ? sets_value(s, op->args[1]) : NULL;
    value_list init = {0};
    for (int k = 0; k < c.n; k++)
        if (c.value[k])
            vec_push(&init, sets_value(s, op->args[c.init + k]));
    const size_t nvalues = init.len;
    for (int k = 0; k < c.n; k++)
        if (c.set[k])
            vec_push(&init, sets_set(s, b, op->args[c.init + k]));
    ir_op *loop = ir_loop(b, lo, hi, cond && !all, (int)init.len, init.at);
    ir_loop_attr(loop)->down = ir_loop_attr(op)->down;
    ir_loop_attr(loop)->limit = ir_loop_attr(op)->limit && cond && !all;
    vec_free(&init);
    if (cond && !all)
        fill_condition(s, &c, loop);
    fill_body(s, &c, loop, all);
    size_t value = 0, set = nvalues;
    for (int k = 0; k < c.n; k++) {
        if (c.value[k] && sets_has_value(s, op->res[k]))
            ir_map_set_other(&s->val, op->res[k], loop->res[value]);
        value += c.value[k];
        if (c.set[k])
            ir_map_set_other(&s->set, op->res[k], loop->res[set++]);
    }
    if (cond && !all && op->nres > c.n && sets_has_value(s, op->res[c.n]))
        ir_map_set_other(&s->val, op->res[c.n], loop->res[loop->nres - 1]);
}

/* ---- parallel loops ---- */

/* One loop inside the other, which carry what the task reduces. */
typedef struct nest {
    const ir_op *task;
    const ir_reduction **of; /* result -> its reduction */
    bool *value, *set;
} nest;

static nest nest_of(const sets *s, const ir_op *op)
{
    arena *mem = s->out->module->mem;
    nest n = {op, ARENA_ARRAY(mem, const ir_reduction *, op->nres + 1), ARENA_ARRAY(mem, bool, op->nres + 1),
              ARENA_ARRAY(mem, bool, op->nres + 1)};
    const ir_attr_task *t = ir_task_attr(op);
    for (int r = 0, k = 0; r < t->nreductions; r++)
        for (int c = 0; c <= t->reductions[r].companions; c++, k++) {
            n.of[k] = &t->reductions[r];
            n.value[k] = sets_has_value(s, op->res[k]);
            n.set[k] = sets_is_varied(s, op->res[k]);
        }
    return n;
}

static void yield_iteration(sets *s, ir_builder *b, const nest *n, ir_value *const *so_far)
{
    const ir_op *y = ir_yield_of(n->task->regions[0]);
    value_list all = {0};
    int at = 0;
    for (int k = 0; k < n->task->nres; k++)
        if (n->value[k]) {
            const ir_opcode code = n->of[k]->kind == IR_RED_ADD       ? OP_ADD
                                   : ir_reduce_is_max(n->of[k]->kind) ? OP_MAX
                                                                      : OP_MIN;
            vec_push(&all, ir_op2(b, code, so_far[at++], sets_value(s, y->args[k])));
        }
    for (int k = 0; k < n->task->nres; k++)
        if (n->set[k])
            vec_push(&all, ir_op2(b, OP_OR, so_far[at++], sets_set(s, b, y->args[k])));
    ir_yield(b, (int)all.len, all.at);
    vec_free(&all);
}

static ir_op *dimension(sets *s, ir_builder *b, const nest *n, int d, int ncarried, ir_value *const *init)
{
    const ir_op *op = n->task;
    ir_op *loop = ir_loop(b, sets_value(s, op->args[2 * d]), sets_value(s, op->args[2 * d + 1]), false, ncarried, init);
    ir_value *const *params = loop->regions[0]->params;
    ir_map_set_other(&s->val, op->regions[0]->params[d], params[0]);
    ir_builder in = {.func = s->out, .region = loop->regions[0], .loc = op->loc};
    if (d + 1 < ir_task_attr(op)->ndim) {
        const ir_op *inner = dimension(s, &in, n, d + 1, ncarried, params + 1);
        ir_yield(&in, ncarried, inner->res);
    } else {
        s->region(s, &in, op->regions[0]);
        yield_iteration(s, &in, n, params + 1);
    }
    return loop;
}

void sets_task(sets *s, ir_builder *b, const ir_op *op)
{
    const nest n = nest_of(s, op);
    const int first = ir_task_first_init(op);
    value_list init = {0};
    for (int k = 0; k < op->nres; k++)
        if (n.value[k])
            vec_push(&init, sets_value(s, op->args[first + k]));
    for (int k = 0; k < op->nres; k++)
        if (n.set[k])
            vec_push(&init, sets_set(s, b, op->args[first + k]));
    const ir_op *loop = dimension(s, b, &n, 0, (int)init.len, init.at);
    vec_free(&init);
    int at = 0;
    for (int k = 0; k < op->nres; k++)
        if (n.value[k])
            ir_map_set_other(&s->val, op->res[k], loop->res[at++]);
    for (int k = 0; k < op->nres; k++)
        if (n.set[k])
            ir_map_set_other(&s->set, op->res[k], loop->res[at++]);
}
