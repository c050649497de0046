/* Whether a loop in lanes takes less time than as it is. */
#include "passes/schedule/lanes/lanes.h"

#include "ir/ops.h"
#include "passes/schedule/schedule.h"

/* Rough cycles of one iteration, in inner loops that are split. */
typedef struct balance {
    lanes_study *s;
    double lanes; /* operations that become vectors */
    double alone; /* accesses that lanes do one after the other, in memory apart */
    double inner; /* of what compilers vectorise as it is, by inner loops */
    bool any_loop;
} balance;

static void weigh_region(balance *b, const ir_region *r, double times, bool apart);

static void weigh_op(balance *b, const ir_op *op, double times, bool apart)
{
    enum { TRIPS = 16, ALONE = 4 };
    lanes_study *s = b->s;
    if (op->nregions == 0 && lanes_kind_of(s, op) == LANES_UNIFORM)
        return;
    switch (op->code) {
    case OP_LOOP: {
        const bool constant = ir_loop_attr(op)->bounded && ir_is_const(op->args[0]) && ir_is_const(op->args[1]);
        const double trips = constant ? (double)(ir_int(op->args[1]) - ir_int(op->args[0])) : TRIPS;
        const bool split = lanes_kind_of(s, op) == LANES_SPLIT;
        if (simd_fits(s->f, op, s->uses)) {
            const double before = b->lanes;
            weigh_region(b, op->regions[0], times * (trips < 1 ? 1 : trips), apart || !split);
            b->inner += b->lanes - before;
            b->any_loop |= split && trips > 4;
            return;
        }
        b->any_loop |= split && trips > 4;
        weigh_region(b, op->regions[0], times * (trips < 1 ? 1 : trips), apart || !split);
        return;
    }
    case OP_IF:
        for (int k = 0; k < 2; k++)
            weigh_region(b, op->regions[k], times,
                         apart || (lanes_kind_of(s, op) != LANES_SPLIT && !lanes_mask_fits(s, op)));
        return;
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
        if (lanes_are_apart(s, op) && !lanes_row_loop(s, op))
            b->alone += times * ALONE;
        else
            b->lanes += times;
        return;
    default: {
        const double cost = times * (op->code < OP_PURE_COUNT ? op_get(op->code)->cost : 1);
        *(apart ? &b->alone : &b->lanes) += cost;
    }
    }
}

static void weigh_region(balance *b, const ir_region *r, double times, bool apart)
{
    for (const ir_op *op = r->first; op; op = op->next)
        weigh_op(b, op, times, apart);
}

bool lanes_pay(lanes_study *s)
{
    balance b = {.s = s};
    if (s->f->module->lanes == IR_WHEREVER_POSSIBLE)
        return true;
    weigh_region(&b, s->loop->regions[0], 1, false);
    if (!b.any_loop)
        s->why = IR_NO_LANES_NO_LOOP;
    else if (b.inner > 0.5 * b.lanes && b.alone > 0.05 * b.lanes)
        s->why = IR_NO_LANES_INNER;
    else if (b.alone > 0.5 * b.lanes)
        s->why = IR_NO_LANES_APART;
    return !s->why;
}
