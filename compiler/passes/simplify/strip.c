/* What only differentiation needed goes, once everything is differentiated: stop_grad, slope, the operand of a leg
 * (a / c) that only its derivatives need, which would be computed, and saved, for nothing, what tells a root from a
 * sqrt, functions that nobody calls, and arguments that functions do not read.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

/* ---- operations ---- */

typedef struct drop {
    ir_map instead;
    VEC(ir_op *) stops;
} drop;

static void drop_op(ir_op *op, void *ctx)
{
    drop *d = ctx;
    if (op->code == OP_STOP || op->code == OP_SLOPE) {
        ir_map_set(&d->instead, op->res[0], op->args[0]);
        vec_push(&d->stops, op);
    } else if (op->code == OP_LEG) {
        op->code = OP_DIV;
        ir_remove_arg(op, 1);
    } else if (op->code == OP_ROOT) {
        op->code = OP_SQRT;
    }
}

static void drop_stops(ir_func *f)
{
    drop d = {.instead = ir_map_create(f)};
    ir_walk(f->body, drop_op, &d);
    ir_rewrite_uses(f, &d.instead);
    for (size_t i = d.stops.len; i-- > 0;)
        ir_remove(d.stops.at[i]);
    ir_map_free(&d.instead);
    vec_free(&d.stops);
}

/* ---- functions ---- */

/* With the rules of its derivatives, which stand beside it. */
static void reach_rules(ptrmap *reached, ir_func *f)
{
    ir_func *rules[] = {f->ad.custom_grad, f->ad.custom_jvp, f->ad.custom_of, f->ad.spectral[0], f->ad.spectral[1]};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k])
            ir_reach(reached, rules[k]);
}

static void drop_functions(ir_module *m, bool rules)
{
    ptrmap reached = {0};
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->kind != IR_FUNC || m->funcs.at[i] == m->extents || (rules && !m->funcs.at[i]->prelude))
            ir_reach(&reached, m->funcs.at[i]);
    for (size_t before = 0; rules && before != reached.len;) {
        before = reached.len;
        for (size_t i = 0; i < m->funcs.len; i++)
            if (ptrmap_get(&reached, m->funcs.at[i]))
                reach_rules(&reached, m->funcs.at[i]);
    }
    size_t n = 0;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ptrmap_get(&reached, m->funcs.at[i]))
            m->funcs.at[n++] = m->funcs.at[i];
    m->funcs.len = n;
    ptrmap_free(&reached);
}

static bool has_second_order(const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_ad *ad = &m->funcs.at[i]->ad;
        if ((ir_derives(m->funcs.at[i]) & (IR_DERIVE_HVP | IR_DERIVE_HESS | IR_DERIVE_BLOCKS)) || ad->gradient ||
            ad->gradient_of || ad->along[0] || ad->along[1])
            return true;
    }
    return false;
}

void strip_second_order(ir_module *m)
{
    if (has_second_order(m))
        return;
    for (size_t i = 0; i < m->funcs.len; i++)
        memset(m->funcs.at[i]->ad.spectral, 0, sizeof m->funcs.at[i]->ad.spectral);
    drop_functions(m, true);
}

/* ---- arguments ---- */

typedef struct trim {
    ptrmap seen; /* functions */
    bool (*is_fixed)(const ir_func *f);
    bool changed; /* the function at hand */
} trim;

static void trim_func(trim *t, ir_func *f);

static void trim_call(ir_op *op, void *ctx)
{
    trim *t = ctx;
    if (op->code != OP_CALL)
        return;
    ir_func *of = ir_callee_of(op);
    const bool changed = t->changed;
    trim_func(t, of);
    t->changed = changed;
    uint32_t *uses = ir_count_uses(of);
    ir_builder b = {.func = op->region->func, .region = op->region, .before = op, .loc = op->loc};
    for (int i = 0; i < op->nargs; i++) {
        if (uses[of->body->params[i]->id] || ir_is_const(op->args[i]) || op->args[i]->type == SC_PTR)
            continue;
        op->args[i] = ir_zero(&b, op->args[i]->type);
        t->changed = true;
    }
    free(uses);
}

static void trim_func(trim *t, ir_func *f)
{
    if (ptrmap_get(&t->seen, f))
        return;
    ptrmap_set(&t->seen, f, f);
    t->changed = false;
    if (!t->is_fixed(f))
        ir_walk(f->body, trim_call, t);
    if (t->changed)
        pass_dce(f);
}

bool pass_strip(ir_module *m, bool (*is_fixed)(const ir_func *f))
{
    drop_functions(m, false);
    for (size_t i = 0; i < m->funcs.len; i++)
        drop_stops(m->funcs.at[i]);
    trim t = {.is_fixed = is_fixed};
    for (size_t i = 0; i < m->funcs.len; i++)
        trim_func(&t, m->funcs.at[i]);
    ptrmap_free(&t.seen);
    return true;
}
