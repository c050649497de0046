/* Which branches of what is to become lanes run on both sides: masks.c does it. */
#include <math.h>

#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/branches.h"
#include "passes/schedule/lanes/lanes.h"

typedef struct masking {
    const lanes_study *s;
    const ir_region *in; /* what the branch stands in */
} masking;

static bool fits(const void *ctx, const ir_op *op)
{
    const lanes_study *s = ((const masking *)ctx)->s;
    const ir_region *in = ((const masking *)ctx)->in;
    switch (op->code) {
    case OP_STORE:
    case OP_ACCUM:
        if (s->hoists && lanes_is_hoisted(s, op))
            return true;
        if (!ir_access_attr(op)->no_alias || (ir_field_of(op)->array && !ir_field_of(op)->launched))
            return false;
        return ir_field_of(op)->elem != SC_BOOL && !lanes_are_strided(s, op) && element_is_there(in, op);
    case OP_LOAD:
        if (s->level)
            return element_is_there(in, op) || (s->hoists && lanes_is_hoisted(s, op));
        return !lanes_are_strided(s, op) && element_is_there(in, op);
    case OP_LSTORE:
        return op->args[2]->type != SC_BOOL && element_is_there(in, op);
    case OP_LLOAD:
        return op->res[0]->type != SC_BOOL && element_is_there(in, op);
    default:
        return false;
    }
}

static double cost_of(const ir_region *r)
{
    double sum = 0;
    for (const ir_op *op = r->first; op; op = op->next)
        switch (op->code) {
        case OP_IF:
            sum += cost_of(op->regions[0]) + cost_of(op->regions[1]);
            break;
        case OP_LOAD:
        case OP_LLOAD:
            sum += 1;
            break;
        case OP_STORE:
        case OP_ACCUM:
        case OP_LSTORE:
            sum += COST_STORE_BLEND;
            break;
        default:
            sum += op_is_pure_table(op->code) ? op_get(op->code)->cost : 0;
        }
    return sum;
}

bool lanes_branch_fits(const lanes_study *s, const ir_op *op)
{
    const masking mask = {s, op->region};
    const branch_test t = {fits, &mask};
    return op->code == OP_IF && branch_can_go(&t, op);
}

bool lanes_mask_fits(const lanes_study *s, const ir_op *op)
{
    if (op->code != OP_IF || lanes_kind_of(s, op) != LANES_INNER || !s->varying[op->args[0]->id] ||
        !lanes_branch_fits(s, op))
        return false;
    const double a = cost_of(op->regions[0]), b = cost_of(op->regions[1]);
    return a + b <= VECTOR_SAVES_F64 * (COST_BRANCH + fmin(a, b));
}
