/* Values that loops carry from trip to trip only to add to them. */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"

typedef struct summing {
    const ir_value *param;
    const uint32_t *uses;
    uint32_t count; /* of uses of param, and of the sums on the way */
    bool exact;     /* those that decide are sums as well */
} summing;

static bool is_sum(summing *s, const ir_value *v);

/* A term that is no sum may look at param on the way: those uses are none of the sum's. */
static bool is_either_a_sum(summing *s, const ir_op *add)
{
    const uint32_t before = s->count;
    if (is_sum(s, add->args[0]))
        return true;
    s->count = before;
    return is_sum(s, add->args[1]);
}

/* v is param + terms, also through branches and inner loops. */
static bool is_sum(summing *s, const ir_value *v)
{
    if (v == s->param) {
        s->count++;
        return true;
    }
    if (!v->def || s->uses[v->id] != 1 || (v->exact && !s->exact))
        return false;
    const ir_op *op = v->def;
    if (op->code == OP_ADD)
        return is_either_a_sum(s, op);
    if (op->code == OP_SUB)
        return is_sum(s, op->args[0]);
    if (op->code == OP_IF)
        return is_sum(s, ir_yield_of(op->regions[0])->args[v->index]) &&
               is_sum(s, ir_yield_of(op->regions[1])->args[v->index]);
    if (op->code == OP_LOOP)
        return v->index < ir_loop_ncarried(op) && carries_sum(op, v->index, s->uses, s->exact) &&
               is_sum(s, op->args[ir_loop_first_init(op) + v->index]);
    return false;
}

bool carries_sum(const ir_op *loop, int k, const uint32_t *uses, bool exact)
{
    const ir_region *body = loop->regions[0];
    const ir_value *param = body->params[ir_loop_first_param(loop) + k], *next = ir_yield_of(body)->args[k];
    if (next == param || !(scalar_is_float(param->type) || scalar_is_int(param->type)))
        return false;
    summing s = {param, uses, 0, exact};
    return is_sum(&s, next) && s.count == uses[param->id];
}
