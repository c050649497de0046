/* What must be true for a gather, and only the launch knows: that N is a power of 2, as `(i + 1) & (N - 1)` goes around
 * the end then; that `p[s, i]` and `p[t, i]` are different slabs. The loop gets two versions then, the one that is
 * gathered and the one as it was:
 *
 *     if (N & (N - 1)) == 0 { gather; rest } else { task }
 */
#include "ir/ops.h"
#include "passes/schedule/gather/gather.h"

enum { SMALL = 1 << 29 };

static bool is_same_ask(const ask *x, const ask *y)
{
    if (x->what != y->what || x->v != y->v)
        return false;
    if (x->what != ASK_APART)
        return true;
    if (ir_field_of(x->a)->ndim != ir_field_of(y->a)->ndim)
        return false;
    bool same = true, crossed = true;
    for (int d = 0; d < ir_field_of(x->a)->ndim; d++) {
        same &= x->a->args[d] == y->a->args[d] && x->b->args[d] == y->b->args[d];
        crossed &= x->a->args[d] == y->b->args[d] && x->b->args[d] == y->a->args[d];
    }
    return same || crossed;
}

/* Subscripts d of a and b are each the same in all iterations, and may differ. */
static bool may_differ(const gather *g, const ir_op *a, const ir_op *b, int d)
{
    const affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
    return !affine_equal(&x, &y) && ir_can_leave(a->args[d], g->task) && ir_can_leave(b->args[d], g->task);
}

static bool can_be_asked(const gather *g, const ask *a)
{
    if (a->what != ASK_APART)
        return ir_can_leave(a->v, g->task);
    bool found = false;
    for (int d = 0; d < ir_field_of(a->a)->ndim; d++)
        found |= may_differ(g, a->a, a->b, d);
    return found;
}

bool gather_ask(const gather *g, const ask *a)
{
    for (size_t i = 0; i < g->asked->at.len; i++)
        if (is_same_ask(&g->asked->at.at[i], a))
            return true;
    if (!g->asked->open || !can_be_asked(g, a))
        return false;
    vec_push(&g->asked->at, *a);
    return true;
}

bool gather_apart(const gather *g, const ir_op *a, const ir_op *b)
{
    return elements_never_meet(g->task, a, b) || gather_ask(g, &(ask){.what = ASK_APART, .a = a, .b = b});
}

ir_value *gather_answer(ir_builder *b, const ask *a, ir_map *map)
{
    ir_value *v = ir_cast(b, SC_I64, ir_value_before(b, (ir_value *)a->v, map));
    if (a->what == ASK_SMALL)
        return ir_op2(b, OP_LE, v, ir_const_i(b, SC_I64, SMALL));
    ir_value *zero = ir_const_i(b, SC_I64, 0), *next = ir_op2(b, OP_ADD, v, ir_const_i(b, SC_I64, 1));
    return ir_op2(b, OP_EQ, ir_op2(b, OP_AND, v, next), zero);
}

static ir_value *are_apart(const gather *g, ir_builder *b, const ask *a, ir_map *map)
{
    ir_value *differ = NULL;
    for (int d = 0; d < ir_field_of(a->a)->ndim; d++) {
        if (!may_differ(g, a->a, a->b, d))
            continue;
        ir_value *x = ir_value_before(b, a->a->args[d], map), *y = ir_value_before(b, a->b->args[d], map);
        ir_value *ne = ir_op2(b, OP_NE, x, y);
        differ = differ ? ir_op2(b, OP_OR, differ, ne) : ne;
    }
    return differ;
}

void gather_versions(gather *g)
{
    ir_op *task = g->task;
    ir_builder b = {.func = g->f, .region = task->region, .before = task, .loc = task->loc};
    ir_map map = ir_map_create(g->f);
    ir_value *all = NULL;
    for (size_t i = 0; i < g->asked->at.len; i++) {
        const ask *a = &g->asked->at.at[i];
        ir_value *one = a->what == ASK_APART ? are_apart(g, &b, a, &map) : gather_answer(&b, a, &map);
        all = all ? ir_op2(&b, OP_AND, all, one) : one;
    }
    ir_map_free(&map);
    ir_op *which = ir_if(&b, all, 0, NULL);
    for (int i = 0; i < task->nres; i++) {
        ir_value *v = ir_add_result(which, task->res[i]->type);
        v->name = task->res[i]->name;
        v->loc = task->res[i]->loc;
        v->exact = task->res[i]->exact;
        ir_replace_uses(g->f->body, task->res[i], v);
    }
    ir_builder as_it_was = {.func = g->f, .region = which->regions[1], .loc = task->loc};
    map = ir_map_create(g->f);
    for (size_t i = 0; i < g->at.len; i++)
        ir_access_attr(g->at.at[i].accum)->why = IR_SCATTER_VERSION; /* of the copy */
    const ir_op *copy = ir_clone_op(&as_it_was, task, &map);
    ir_map_free(&map);
    ir_yield(&as_it_was, copy->nres, copy->res);
    ir_move(task, which->regions[0], NULL);
    ir_builder gathered = {.func = g->f, .region = which->regions[0], .loc = task->loc};
    ir_yield(&gathered, task->nres, task->res);
}
