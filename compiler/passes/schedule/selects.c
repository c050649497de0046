/* Branches inside of loops that could run as vectors.
 *
 *     loop i { y = if c { exp(-r) } else { 0 };  s += y }      becomes      loop i { e = exp(-r);  s += c ? e : 0 }
 *
 * No C compiler runs a function of the C library where the program does not call it, so the branch would keep the loop
 * from being vectorised. Both sides are computed where that costs less than one after the other, whichever side is
 * taken how often: pure operations are total, casts of floats to integers apart, and everything is differentiated, so
 * that a NaN of the side not taken reaches nobody. What compilers can turn into selects by themselves is left to them.
 *
 * Behind a condition that is the same, what the earlier `if` chose is what it computed on that side: equal branches
 * become one.
 */
#include <math.h>
#include <stdlib.h>

#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/branches.h"
#include "passes/schedule/schedule.h"

typedef struct search {
    const ir_op *loop;
    bool dear;   /* there is a function of the C library in a branch that can go */
    bool wide;   /* one of f64 */
    bool scalar; /* the loop is not vectorised even so */
} search;

typedef struct weight {
    double all, least; /* both sides of each branch; the one that it may always be, or nearly always is */
} weight;

static bool is_load_there(const void *ctx, const ir_op *op)
{
    const ir_op *loop = ctx;
    return (op->code == OP_LOAD || op->code == OP_LLOAD) && element_is_there(loop->regions[0], op);
}

static bool can_go(const search *s, const ir_op *op)
{
    const branch_test t = {is_load_there, s->loop};
    return branch_can_go(&t, op);
}

/* ---- what it costs ---- */

static weight weigh_region(search *s, const ir_region *r, bool chosen);

/* The side of an `if` that numbers take, where the other is for one number alone; -1: any. */
static int usual_side(const ir_op *op)
{
    const ir_value *cond = op->args[0];
    int side = 0;
    for (; cond->def && cond->def->code == OP_NOT; side = 1 - side)
        cond = cond->def->args[0];
    if (!cond->def || (cond->def->code != OP_EQ && cond->def->code != OP_NE) ||
        !scalar_is_float(cond->def->args[0]->type))
        return -1;
    return cond->def->code == OP_NE ? side : 1 - side;
}

static weight weigh(search *s, const ir_op *op, bool chosen)
{
    if (op->code == OP_IF) {
        const bool goes = chosen || can_go(s, op);
        const weight a = weigh_region(s, op->regions[0], goes), b = weigh_region(s, op->regions[1], goes);
        const int usual = usual_side(op);
        const double least = usual < 0 ? COST_BRANCH + fmin(a.least, b.least) : usual ? b.least : a.least;
        return (weight){a.all + b.all, least};
    }
    if (op_has_subscripts(op->code))
        return (weight){1, 1};
    if (!op_is_pure_table(op->code))
        return (weight){0, 0};
    const double cost = op_get(op->code)->cost;
    if (op_is_of_library(op->code) && scalar_is_float(op->res[0]->type)) {
        s->scalar |= op->res[0]->exact || !op_has_vector_form(op->code);
        for (const ir_region *r = op->region; r->parent != s->loop; r = r->parent->region)
            s->scalar |= !chosen;
        s->dear |= chosen;
        s->wide |= op->res[0]->type == SC_F64;
    }
    return (weight){cost, cost};
}

static weight weigh_region(search *s, const ir_region *r, bool chosen)
{
    weight sum = {0, 0};
    for (const ir_op *op = r->first; op; op = op->next) {
        const weight w = weigh(s, op, chosen);
        sum.all += w.all;
        sum.least += w.least;
    }
    return sum;
}

static bool pays(search *s)
{
    const weight w = weigh_region(s, s->loop->regions[0], false);
    return s->dear && !s->scalar && w.all <= (s->wide ? VECTOR_SAVES_F64 : VECTOR_SAVES_F32) * w.least;
}

/* ---- the change ---- */

/* Innermost first. */
static void open_region(const search *s, const ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int k = 0; k < op->nregions; k++)
            open_region(s, op->regions[k]);
        if (op->code == OP_IF && can_go(s, op))
            branch_open(op);
    }
}

/* What no iteration changes is read in front of the loop: gcc would move the load back behind the condition, and a
 * condition around the load of one element keeps it from vectors. */
static void lift_loads(const search *s, const ir_func *f)
{
    const ir_op *loop = s->loop;
    effects touched = effects_of_region(f->module, loop->regions[0]);
    for (ir_op *op = loop->regions[0]->first, *next; op; op = next) {
        next = op->next;
        bool same = op->code == OP_LOAD && !(touched.at[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS));
        for (int i = 0; i < op->nargs && same; i++)
            same = ir_is_visible(op->args[i], loop->region);
        if (same && element_is_there(loop->region, op))
            ir_move(op, loop->region, (ir_op *)loop);
    }
    effects_free(&touched);
}

typedef struct selects_pass {
    const ir_func *f;
    const uint32_t *uses;
    bool changed;
} selects_pass;

static void visit(ir_op *op, void *ctx)
{
    selects_pass *p = ctx;
    if (op->code != OP_LOOP || !simd_fits(p->f, op, p->uses))
        return;
    search s = {.loop = op};
    if (!pays(&s))
        return;
    open_region(&s, op->regions[0]);
    lift_loads(&s, p->f);
    p->changed = true;
}

bool pass_selects(ir_func *f)
{
    if (f->module->debug)
        return false;
    uint32_t *uses = ir_count_uses(f);
    selects_pass p = {.f = f, .uses = uses};
    ir_walk(f->body, visit, &p);
    free(uses);
    return p.changed;
}
