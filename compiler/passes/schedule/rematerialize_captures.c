/* What a task computes by itself instead of being handed it.
 *
 *     n = cast(CELLS);  task p { ... n ... }        becomes       task p { n = cast(CELLS); ... n ... }
 *
 * What is cheap to have from arguments, params and extents, or from what the task is handed anyway, is a member fewer
 * of the task's arguments. Whether such a value stands outside depends on what else a kernel has: without this, the
 * same loop in two kernels is two pieces of C.
 */
#include "ir/target.h"
#include "passes/schedule/schedule.h"

typedef struct capture {
    ir_value *value;
    const ir_op *use; /* the first one */
} capture;

typedef struct captures {
    ir_op *task;
    VEC(capture) at; /* in the order of their uses */
} captures;

static void find(ir_op *op, void *ctx)
{
    captures *c = ctx;
    for (int i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        bool known = ir_region_is_ancestor(c->task->regions[0], v->region);
        for (size_t k = 0; k < c->at.len && !known; k++)
            known = c->at.at[k].value == v;
        if (!known)
            vec_push(&c->at, ((capture){v, op}));
    }
}

static bool is_handed(const captures *c, const ir_value *v)
{
    if (v->def ? op_is_launch_constant(v->def->code) : !v->region->parent)
        return true;
    for (size_t i = 0; i < c->at.len; i++)
        if (c->at.at[i].value == v)
            return true;
    return false;
}

/* Whether v can be had from what the task is handed, for what is left of the budget. */
static bool is_within(const captures *c, const ir_value *v, int *budget)
{
    const ir_op *op = v->def;
    if (!op || !op_is_pure_table(op->code) || (*budget -= op_get(op->code)->cost) < 0)
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_handed(c, op->args[i]) && !is_within(c, op->args[i], budget))
            return false;
    return true;
}

/* The line is that of the use: where the value came from is another line in another kernel. */
static void compute_inside(const captures *c, ir_builder *b, ir_map *inside, const ir_value *v, const ir_op *use)
{
    int budget = COST_CHEAP_ARGUMENT;
    if (ir_map_get(inside, v) || !is_within(c, v, &budget))
        return;
    for (int i = 0; i < v->def->nargs; i++)
        compute_inside(c, b, inside, v->def->args[i], use);
    ir_clone_op(b, v->def, inside)->loc = use->loc;
}

static void compute_cheap(ir_op *task, void *ctx)
{
    (void)ctx;
    if (task->code != OP_TASK)
        return;
    captures c = {.task = task};
    ir_region *body = task->regions[0];
    ir_walk(body, find, &c);
    ir_builder b = {.func = body->func, .region = body, .before = body->first, .loc = task->loc};
    ir_map inside = ir_map_create(body->func);
    for (size_t i = 0; i < c.at.len; i++)
        compute_inside(&c, &b, &inside, c.at.at[i].value, c.at.at[i].use);
    for (size_t i = 0; i < c.at.len; i++)
        if (ir_map_get(&inside, c.at.at[i].value))
            ir_replace_uses(body, c.at.at[i].value, ir_map_get(&inside, c.at.at[i].value));
    ir_map_free(&inside);
    vec_free(&c.at);
}

void pass_captures(ir_func *f)
{
    ir_walk(f->body, compute_cheap, NULL);
}
