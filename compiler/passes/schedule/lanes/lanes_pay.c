/* Whether a loop in lanes takes less time than as it is. */
#include "passes/schedule/lanes/lanes.h"

#include "ir/target.h"
#include "passes/schedule/schedule.h"

/* Rough cycles of one iteration, in inner loops that are split. */
typedef struct balance {
    lanes_study *s;
    double lanes;       /* operations that become vectors */
    double scalar_cost; /* accesses that lanes do one after the other, in memory apart */
    double inner;       /* of what compilers vectorise as it is, by inner loops */
    bool any_loop;
} balance;

static void weigh_region(balance *b, const ir_region *r, double times, bool divergent);

static void weigh_op(balance *b, const ir_op *op, double times, bool divergent)
{
    enum { ALONE = 4 };
    lanes_study *s = b->s;
    if (op->nregions == 0 && lanes_kind_of(s, op) == LANES_UNIFORM)
        return;
    switch (op->code) {
    case OP_LOOP: {
        const bool constant = ir_loop_attr(op)->bounded && ir_is_const(op->args[0]) && ir_is_const(op->args[1]);
        const double trips = constant ? (double)(ir_int(op->args[1]) - ir_int(op->args[0])) : TRIPS_UNKNOWN;
        const bool split = lanes_kind_of(s, op) == LANES_SPLIT;
        if (simd_fits(s->f, op, s->uses)) {
            const double before = b->lanes;
            weigh_region(b, op->regions[0], times * (trips < 1 ? 1 : trips), divergent || !split);
            b->inner += b->lanes - before;
            b->any_loop |= split && trips > 4;
            return;
        }
        b->any_loop |= split && trips > 4;
        weigh_region(b, op->regions[0], times * (trips < 1 ? 1 : trips), divergent || !split);
        return;
    }
    case OP_IF:
        for (int k = 0; k < 2; k++)
            weigh_region(b, op->regions[k], times,
                         divergent || (lanes_kind_of(s, op) != LANES_SPLIT && !lanes_mask_fits(s, op)));
        return;
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
        if (lanes_are_strided(s, op) && !lanes_row_loop(s, op))
            b->scalar_cost += times * ALONE;
        else
            b->lanes += times;
        return;
    default: {
        const double cost = times * (op->code < OP_PURE_COUNT ? op_get(op->code)->cost : 1);
        *(divergent ? &b->scalar_cost : &b->lanes) += cost;
    }
    }
}

static void weigh_region(balance *b, const ir_region *r, double times, bool divergent)
{
    for (const ir_op *op = r->first; op; op = op->next)
        weigh_op(b, op, times, divergent);
}

/* ---- bodies without inner loops ---- */

/* Rough cycles of one iteration. */
typedef struct weights {
    double work;    /* arithmetic that vectors do */
    double all;     /* everything, as it is */
    int handed;     /* values that one loop over the lanes hands to another */
    bool wide;      /* 64-bit floats are among what vectors do */
    bool divergent; /* not all of it stands in one loop */
    bool waits;     /* some of it has to stand in the last one: C compilers make no vectors of it as it is */
} weights;

static void weigh(weights *w, const ir_op *op, bool vectors)
{
    enum { CALLED = 2 }; /* times the cost in a vector: one call for each number */
    double cost = 1;
    if (op->code == OP_ACCUM)
        cost = 2;
    else if (op->nregions || op->code == OP_YIELD || op->code == OP_CONST)
        cost = 0;
    else if (op->code < OP_PURE_COUNT)
        cost = op_get(op->code)->cost * (op_is_of_library(op->code) ? CALLED : 1);
    w->all += cost;
    if (vectors && op->code < OP_PURE_COUNT) {
        w->work += cost;
        w->wide |= op->res[0]->type == SC_F64;
    }
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            weigh(w, in, vectors);
}

/* What is cheap to have again, another loop over the lanes has again. */
static bool is_had_again(const ir_value *v)
{
    const ir_op *def = v->def;
    const bool whole = def->nargs > 0 && !scalar_is_float(v->type) && !scalar_is_float(def->args[0]->type);
    return v->type == SC_BOOL || (whole && (def->code == OP_ADD || def->code == OP_SUB || def->code == OP_MUL ||
                                            def->code == OP_NEG || def->code == OP_CAST));
}

typedef struct handing {
    const lanes_study *s;
    const ir_op *to;
    bool *found; /* by value id */
    int count;
} handing;

static void hand(void *ctx, const ir_value *v)
{
    handing *h = ctx;
    const ir_op *def = v->def;
    if (def && def->region == h->to->region && lanes_kind_of(h->s, def) != LANES_UNIFORM &&
        h->s->level[def->pos] != h->s->level[h->to->pos] && !h->found[v->id] && !is_had_again(v)) {
        h->found[v->id] = true;
        h->count++;
    }
}

/* How many values one loop over the lanes asks another one for. */
static int count_handed(const lanes_study *s)
{
    handing h = {.s = s, .found = ARENA_ARRAY(s->f->module->mem, bool, s->f->next_value + 1)};
    for (const ir_op *op = s->loop->regions[0]->first; op; op = op->next) {
        h.to = op;
        if (op->code != OP_YIELD)
            lanes_each_use(op, hand, &h);
    }
    return h.count;
}

static bool straight_pays(lanes_study *s)
{
    enum { LEAST = 100 };
    const double handed = 1.5;
    weights w = {0};
    int level = -1;
    for (const ir_op *op = s->loop->regions[0]->first; op; op = op->next) {
        if (op->code == OP_YIELD || lanes_kind_of(s, op) == LANES_UNIFORM)
            continue;
        w.divergent |= level >= 0 && level != s->level[op->pos];
        level = s->level[op->pos];
        w.waits |= level == LEVEL_END;
        weigh(&w, op, level % 2 == 1 && level != LEVEL_END && (op->code != OP_IF || lanes_branch_fits(s, op)));
    }
    w.handed = count_handed(s);
    for (size_t n = 0; n < s->ops.len && s->hoists; n++) {
        const bool leaves = lanes_is_hoisted(s, s->ops.at[n]);
        w.divergent |= leaves;
        w.waits |= leaves && s->ops.at[n]->code != OP_LOAD;
        w.handed += leaves;
    }
    if (!w.divergent)
        return false;
    const double gain = w.work * (1 - 1.0 / (w.wide ? VECTOR_SAVES_F64 : VECTOR_SAVES_F32)) - handed * w.handed;
    if (w.work < LEAST)
        return false;
    if (gain < (w.waits ? 0.25 : 0.4) * w.all)
        s->why = IR_NO_LANES_SMALL;
    return !s->why;
}

bool lanes_pay(lanes_study *s)
{
    balance b = {.s = s};
    if (s->f->module->lanes == IR_WHEREVER_POSSIBLE)
        return true;
    if (s->level)
        return straight_pays(s);
    weigh_region(&b, s->loop->regions[0], 1, false);
    if (!b.any_loop)
        s->why = IR_NO_LANES_NO_LOOP;
    else if (b.inner > 0.5 * b.lanes && b.scalar_cost > 0.05 * b.lanes)
        s->why = IR_NO_LANES_INNER;
    else if (b.scalar_cost > 0.5 * b.lanes)
        s->why = IR_NO_LANES_STRIDED;
    return !s->why;
}
