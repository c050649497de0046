/* Minima and maxima over a row, some iterations side by side.
 *
 *     loop i in lo .. hi { m = f(i) > m ? f(i) : m }          becomes
 *
 *     loop strip { loop lane { n[lane] = f(i) > n[lane] ? f(i) : n[lane] } }   m = the greatest n
 *     loop i in the rest { m = f(i) > m ? f(i) : m }
 *
 * A comparison waits for the one before it, and no compiler may take them in another order: of zeros with different
 * signs the first one stays. So where the greatest is a zero, the row is gone through as it was written. Else it is the
 * same number in whichever order they come; one that is NaN is never taken.
 *
 * Of integers compilers know that, and do it themselves.
 */
#include <math.h>

#include "ir/ops.h"
#include "passes/schedule/lanes/lanes.h"

enum { LANE_BYTES = 128 }; /* of the numbers that stand side by side: some vectors, none of which waits for another */

/* What a loop carries as number k is the least or greatest of something: the comparison of each trip; NULL: it is not.
 */
static const ir_op *extremum_of(const ir_op *loop, int k, const uint32_t *uses)
{
    const ir_value *param = loop->regions[0]->params[1 + k], *next = ir_yield_of(loop->regions[0])->args[k];
    const ir_op *choice = next->def;
    if (!choice || choice->code != OP_SELECT || choice->region != loop->regions[0] || choice->args[2] != param ||
        !scalar_is_float(param->type))
        return NULL;
    const ir_op *order = choice->args[0]->def;
    if (!order || (order->code != OP_GT && order->code != OP_LT) || order->region != loop->regions[0] ||
        order->args[0] != choice->args[1] || order->args[1] != param || order->args[0] == param)
        return NULL;
    const ir_value *init = loop->args[2 + k];
    const bool from_end = ir_is_const(init) && ir_float(init) == (order->code == OP_GT ? -INFINITY : INFINITY);
    return from_end && uses[param->id] == 2 && uses[next->id] == 1 && uses[order->res[0]->id] == 1 ? order : NULL;
}

static bool is_pure(const ir_op *loop)
{
    for (const ir_op *op = loop->regions[0]->first; op; op = op->next)
        if (op->code != OP_LOAD && op->code != OP_YIELD && !op_follows_from_operands(op->code))
            return false;
    return true;
}

static bool fits(const ir_op *loop, const uint32_t *uses)
{
    const int n = ir_yield_of(loop->regions[0])->nargs;
    if (!ir_loop_attr(loop)->parallel || !ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond || n == 0 ||
        !is_pure(loop))
        return false;
    for (int k = 0; k < n; k++)
        if (!extremum_of(loop, k, uses))
            return false;
    return true;
}

typedef struct building {
    ir_func *f;
    ir_op *loop;
    int n; /* extrema */
    int64_t lanes;
    ir_value **arrays; /* of the lanes */
    src_loc loc;
} building;

static ir_builder at_end(const building *g, ir_region *r)
{
    return (ir_builder){.func = g->f, .region = r, .loc = g->loc};
}

static ir_value *extremum(const building *g, ir_builder *b, int k, ir_value *x, ir_value *so_far)
{
    const ir_op *choice = ir_yield_of(g->loop->regions[0])->args[k]->def;
    x->exact = so_far->exact = true; /* as they are compared */
    ir_value *v = ir_op3(b, OP_SELECT, ir_op2(b, choice->args[0]->def->code, x, so_far), x, so_far);
    v->exact = true;
    return v;
}

static void begin_lanes(building *g, ir_builder *b, ir_value *zero, ir_value *lanes)
{
    for (int k = 0; k < g->n; k++) {
        const ir_value *init = g->loop->args[2 + k];
        g->arrays[k] = ir_local(b, init->type, g->lanes, init->name);
        g->arrays[k]->name = g->loop->res[k]->name;
        g->arrays[k]->exact = true;
        ir_local_attr(g->arrays[k]->def)->set = true;
    }
    const ir_op *fill = ir_loop(b, zero, lanes, false, 0, NULL);
    ir_builder in = at_end(g, fill->regions[0]);
    for (int k = 0; k < g->n; k++)
        ir_lstore(&in, g->arrays[k], fill->regions[0]->params[0], g->loop->args[2 + k]);
    ir_yield(&in, 0, NULL);
}

/* One strip: the body of the loop for each lane. */
static void fill_strip(const building *g, ir_region *strip, ir_value *first, ir_value *zero, ir_value *lanes)
{
    ir_builder b = at_end(g, strip);
    ir_op *side = ir_loop(&b, zero, lanes, false, 0, NULL);
    ir_loop_attr(side)->parallel = true;
    const ir_region *body = g->loop->regions[0];
    ir_value *lane = side->regions[0]->params[0];
    lane->name = "lane";
    ir_builder in = at_end(g, side->regions[0]);
    ir_map map = ir_map_create(g->f);
    ir_value *i = ir_op2(&in, OP_ADD, first, lane);
    i->name = body->params[0]->name;
    ir_map_set(&map, body->params[0], i);
    for (int k = 0; k < g->n; k++) {
        ir_value *so_far = ir_lload(&in, g->arrays[k], lane);
        so_far->exact = true;
        ir_map_set(&map, body->params[1 + k], so_far);
    }
    for (const ir_op *op = body->first; op->code != OP_YIELD; op = op->next)
        ir_clone_op(&in, op, &map);
    for (int k = 0; k < g->n; k++)
        ir_lstore(&in, g->arrays[k], lane, ir_map_get(&map, ir_yield_of(body)->args[k]));
    ir_yield(&in, 0, NULL);
    ir_map_free(&map);
}

/* The extrema of all lanes, and where the loop goes on: at its beginning if one of them is a zero. */
static void join_lanes(const building *g, ir_region *r, ir_value *zero, ir_value *lanes, ir_value *end)
{
    ir_builder b = at_end(g, r);
    ir_op *join = ir_loop(&b, zero, lanes, false, g->n, g->loop->args + 2);
    ir_builder in = at_end(g, join->regions[0]);
    for (int k = 0; k < g->n; k++)
        join->res[k]->exact = true;
    ir_value **yields = ARENA_ARRAY(g->f->module->mem, ir_value *, g->n + 1);
    for (int k = 0; k < g->n; k++) {
        ir_value *element = ir_lload(&in, g->arrays[k], join->regions[0]->params[0]);
        yields[k] = extremum(g, &in, k, element, join->regions[0]->params[1 + k]);
    }
    ir_yield(&in, g->n, yields);
    ir_value *again = NULL;
    for (int k = 0; k < g->n; k++) {
        ir_value *is_zero = ir_op2(&b, OP_EQ, join->res[k], ir_zero(&b, join->res[k]->type));
        again = again ? ir_op2(&b, OP_OR, again, is_zero) : is_zero;
    }
    yields[0] = ir_op3(&b, OP_SELECT, again, g->loop->args[0], end);
    for (int k = 0; k < g->n; k++) {
        yields[1 + k] = ir_op3(&b, OP_SELECT, again, g->loop->args[2 + k], join->res[k]);
        yields[1 + k]->exact = true;
    }
    ir_yield(&b, 1 + g->n, yields);
}

static void side_by_side(ir_func *f, ir_op *loop)
{
    building g = {.f = f, .loop = loop, .n = ir_yield_of(loop->regions[0])->nargs, .loc = loop->loc};
    g.lanes = LANE_BYTES;
    g.arrays = ARENA_ARRAY(f->module->mem, ir_value *, g.n + 1);
    ir_value **start = ARENA_ARRAY(f->module->mem, ir_value *, g.n + 1); /* from where the loop goes on, with what */
    scalar *types = ARENA_ARRAY(f->module->mem, scalar, g.n + 1);
    types[0] = SC_I64;
    start[0] = loop->args[0];
    for (int k = 0; k < g.n; k++) {
        types[1 + k] = loop->res[k]->type;
        start[1 + k] = loop->args[2 + k];
        const int64_t fit = LANE_BYTES / scalar_bytes(types[1 + k]);
        g.lanes = fit < g.lanes ? fit : g.lanes;
    }
    ir_builder b = {.func = f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *zero = ir_const_i(&b, SC_I64, 0), *lanes = ir_const_i(&b, SC_I64, g.lanes);
    ir_value *strips = ir_op2(&b, OP_DIV, ir_op2(&b, OP_SUB, loop->args[1], loop->args[0]), lanes);
    strips->name = "strips";
    ir_op *some = ir_if(&b, ir_op2(&b, OP_GT, strips, ir_const_i(&b, SC_I64, 1)), 1 + g.n, types);
    ir_builder in = at_end(&g, some->regions[0]);
    begin_lanes(&g, &in, zero, lanes);
    const ir_op *over = ir_loop(&in, zero, strips, false, 0, NULL);
    over->regions[0]->params[0]->name = "strip";
    ir_builder at = at_end(&g, over->regions[0]);
    ir_value *first = ir_op2(&at, OP_ADD, loop->args[0], ir_op2(&at, OP_MUL, over->regions[0]->params[0], lanes));
    first->name = "first";
    fill_strip(&g, over->regions[0], first, zero, lanes);
    ir_yield(&at, 0, NULL);
    join_lanes(&g, some->regions[0], zero, lanes,
               ir_op2(&in, OP_ADD, loop->args[0], ir_op2(&in, OP_MUL, strips, lanes)));
    ir_builder few = at_end(&g, some->regions[1]);
    ir_yield(&few, 1 + g.n, start);
    loop->args[0] = some->res[0];
    for (int k = 0; k < g.n; k++) {
        some->res[1 + k]->exact = true;
        loop->args[2 + k] = some->res[1 + k];
    }
}

typedef struct extrema_pass {
    const uint32_t *uses;
    VEC(ir_op *) found;
} extrema_pass;

static void collect_extremum(ir_op *op, void *ctx)
{
    extrema_pass *p = ctx;
    if (op->code == OP_LOOP && fits(op, p->uses))
        vec_push(&p->found, op);
}

bool lanes_find_extrema(ir_func *f)
{
    uint32_t *uses = ir_count_uses(f);
    extrema_pass p = {.uses = uses};
    ir_walk(f->body, collect_extremum, &p);
    for (size_t i = 0; i < p.found.len; i++)
        side_by_side(f, p.found.at[i]);
    const bool changed = p.found.len > 0;
    vec_free(&p.found);
    free(uses);
    return changed;
}
