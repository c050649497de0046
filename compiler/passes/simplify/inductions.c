/* Integers that grow by the same step in each trip are computed from the loop's index.
 *
 *     at = a;  for i in lo .. hi { ... at ...;  at += c; }        at is a + c * (i - lo)
 *
 * So iterations depend on each other no more, an adjoint need not save the counter, and a subscript made of it is known
 * to move. Integers wrap alike in both forms: products and sums are those of the same type.
 */
#include "ir/ops.h"
#include "passes/simplify/simplify.h"

/* What is added in each trip; NULL: something else happens. `negative`: it is taken away. */
static ir_value *step_of(const ir_op *loop, const ir_value *param, const ir_value *next, bool *negative)
{
    const ir_op *op = next->def;
    if (!scalar_is_int(param->type) || !op || (op->code != OP_ADD && op->code != OP_SUB))
        return NULL;
    const int k = op->args[0] == param ? 1 : op->code == OP_ADD && op->args[1] == param ? 0 : -1;
    if (k < 0 || !ir_can_leave(op->args[k], loop))
        return NULL;
    *negative = op->code == OP_SUB;
    return op->args[k];
}

/* What `init` has become after so many trips. */
static ir_value *after(ir_builder *b, ir_value *init, ir_value *step, bool negative, ir_value *trips)
{
    ir_value *n = ir_cast(b, init->type, trips);
    if (!ir_is_const(step) || ir_int(step) != 1)
        n = ir_op2(b, OP_MUL, n, step);
    return ir_op2(b, negative ? OP_SUB : OP_ADD, init, n);
}

static ir_value *trips_before(ir_builder *b, const ir_op *loop, ir_value *index)
{
    const bool from_zero = ir_is_const(loop->args[0]) && ir_int(loop->args[0]) == 0;
    return from_zero ? index : ir_op2(b, OP_SUB, index, loop->args[0]);
}

static ir_value *all_trips(ir_builder *b, const ir_op *loop)
{
    ir_value *trips = trips_before(b, loop, loop->args[1]);
    return ir_op2(b, OP_MAX, trips, ir_const_i(b, SC_I64, 0));
}

typedef struct inductions {
    ir_func *f;
    bool changed;
} inductions;

static void replace(inductions *p, ir_op *loop, int k, ir_value *step, bool negative)
{
    ir_region *body = loop->regions[0];
    ir_value *param = body->params[ir_loop_first_param(loop) + k], *init = loop->args[ir_loop_first_init(loop) + k];
    ir_builder before = {.func = p->f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_map made = ir_map_create(p->f);
    step = ir_value_before(&before, step, &made);
    ir_map_free(&made);
    ir_builder in = {.func = p->f, .region = body, .before = body->first, .loc = loop->loc};
    ir_value *now = after(&in, init, step, negative, trips_before(&in, loop, body->params[0]));
    now->name = param->name;
    ir_replace_uses(body, param, now);
    ir_builder behind = {.func = p->f, .region = loop->region, .before = loop->next, .loc = loop->loc};
    ir_value *last = after(&behind, init, step, negative, all_trips(&behind, loop));
    last->name = loop->res[k]->name;
    ir_replace_uses(loop->region, loop->res[k], last);
    p->changed = true;
}

static void visit(ir_op *loop, void *ctx)
{
    if (loop->code != OP_LOOP || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond || ir_loop_attr(loop)->down)
        return;
    const ir_op *y = ir_yield_of(loop->regions[0]);
    for (int k = 0; k < ir_loop_ncarried(loop); k++) {
        bool negative;
        const ir_value *param = loop->regions[0]->params[ir_loop_first_param(loop) + k];
        ir_value *step = step_of(loop, param, y->args[k], &negative);
        if (step)
            replace(ctx, loop, k, step, negative);
    }
}

bool pass_inductions(ir_func *f)
{
    inductions p = {f, false};
    ir_walk(f->body, visit, &p);
    return p.changed;
}
