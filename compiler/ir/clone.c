/* Cloning: operations, slices of regions, values, functions. */
#include "ir/ops.h"
#include "util/ptrmap.h"

/* ---- slices ---- */

static ir_value *resolve(const ir_slice *s, const ir_value *v)
{
    ir_value *w = ir_map_get(s->map, v);
    return w ? w : s->outside ? s->outside(v, s->ctx) : (ir_value *)v;
}

/* The number among what op hands on, a result of an `if` or what a loop carries, for the operand, parameter or yield of
 * that place; first: the place of number 0. */
static bool keeps(const ir_slice *s, const ir_op *op, int place, int first)
{
    return !s->has_result || place < first || (op->code != OP_LOOP && op->code != OP_IF) ||
           (op->code == OP_LOOP && place - first >= ir_loop_ncarried(op)) || s->has_result(op, place - first, s->ctx);
}

static int first_operand(const ir_op *op)
{
    return op->code == OP_LOOP ? ir_loop_first_init(op) : op->nargs;
}

static void clone_yield(ir_builder *b, const ir_op *op, int region, const ir_slice *s)
{
    const ir_op *y = ir_yield_of(op->regions[region]);
    const bool test = op->code == OP_LOOP && region == 1;
    ir_value **args = ARENA_ARRAY(b->func->module->mem, ir_value *, y->nargs + 1);
    int n = 0;
    for (int i = 0; i < y->nargs; i++)
        if (test || keeps(s, op, i, 0))
            args[n++] = resolve(s, y->args[i]);
    ir_op *c = ir_insert(b, OP_YIELD, n, args, 0, NULL, 0);
    c->loc = y->loc;
    c->origin = y->origin ? y->origin : (ir_op *)y;
}

static void clone_regions(ir_builder *b, const ir_op *op, ir_op *c, const ir_slice *s)
{
    for (int i = 0; i < op->nregions; i++) {
        const ir_region *from = op->regions[i];
        const int first = op->code == OP_LOOP && i == 0 ? ir_loop_first_param(op) : 0;
        for (int k = 0; k < from->nparams; k++)
            if (keeps(s, op, k, first))
                ir_map_set(s->map, from->params[k], ir_region_param_like(c->regions[i], from->params[k]));
        ir_builder inner = {.func = b->func, .region = c->regions[i], .loc = b->loc, .origin = b->origin};
        ir_clone_slice(&inner, from, s);
        if (ir_yield_of(from))
            clone_yield(&inner, op, i, s);
    }
}

ir_op *ir_clone_in_slice(ir_builder *b, const ir_op *op, const ir_slice *s)
{
    ir_value *few[8], **args = op->nargs <= 8 ? few : ARENA_ARRAY(b->func->module->mem, ir_value *, op->nargs);
    int n = 0;
    for (int i = 0; i < op->nargs; i++)
        if (keeps(s, op, i, first_operand(op)))
            args[n++] = resolve(s, op->args[i]);
    ir_op *c = ir_insert(b, op->code, n, args, 0, NULL, op->nregions);
    c->loc = op->loc;
    ir_copy_attr(c, op);
    c->origin = op->origin ? op->origin : (ir_op *)op;
    clone_regions(b, op, c, s);
    for (int i = 0; i < op->nres; i++) {
        if (!keeps(s, op, i, 0))
            continue;
        ir_value *v = ir_add_result(c, op->res[i]->type);
        v->name = op->res[i]->name;
        v->loc = op->res[i]->loc;
        v->finite = op->res[i]->finite;
        ir_map_set(s->map, op->res[i], v);
    }
    return c;
}

void ir_clone_slice(ir_builder *b, const ir_region *r, const ir_slice *s)
{
    const ir_op *last = r->last; /* the clone may grow the region that is read */
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code != OP_YIELD && (!s->has || s->has(op, s->ctx)) && !(s->instead && s->instead(b, op, s->ctx)))
            ir_clone_in_slice(b, op, s);
        if (op == last)
            break;
    }
}

/* ---- all of an operation, region or function ---- */

ir_op *ir_clone_op(ir_builder *b, const ir_op *op, ir_map *map)
{
    return ir_clone_in_slice(b, op, &(ir_slice){.map = map});
}

void ir_clone_region_ops(ir_builder *b, const ir_region *r, ir_map *map)
{
    ir_clone_slice(b, r, &(ir_slice){.map = map});
}

ir_func *ir_clone_func(const ir_func *f, const char *name)
{
    ir_func *c = ir_func_create(f->module, f->kind, name);
    ir_region *body = c->body;
    *c = *f;
    c->body = body;
    c->name = name;
    c->next_value = 0;
    ir_map map = ir_map_create(f);
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&map, f->body->params[i], ir_region_param_like(body, f->body->params[i]));
    ir_builder b = {.func = c, .region = body, .loc = f->loc};
    ir_clone_region_ops(&b, f->body, &map);
    if (ir_yield_of(f->body))
        ir_clone_op(&b, ir_yield_of(f->body), &map);
    ir_map_free(&map);
    return c;
}

ir_func *ir_func_that_calls(ir_func *of, ir_func *called, bool seeded)
{
    ir_func *out = ir_func_create(of->module, IR_FUNC, of->name);
    const int n = of->body->nparams;
    out->loc = of->loc;
    out->pure = of->pure;
    ir_builder b = {.func = out, .region = out->body, .loc = of->loc};
    ir_value **args = ARENA_ARRAY(of->module->mem, ir_value *, n + 1);
    for (int i = 0; i < n; i++)
        args[i] = ir_region_param_like(out->body, of->body->params[i]);
    if (seeded)
        args[n] = ir_const_f(&b, of->results[0], 1);
    const ir_op *c = ir_call(&b, called, n + seeded, args);
    out->results = called->results;
    out->nresults = called->nresults;
    ir_yield(&b, c->nres, c->res);
    return out;
}

/* ---- values ---- */

ir_value *ir_clone_value(ir_builder *b, const ir_value *v, ir_map *map)
{
    ir_value *again = ir_map_get(map, v);
    if (again || !v->def)
        return again ? again : (ir_value *)v;
    for (int i = 0; i < v->def->nargs; i++)
        ir_clone_value(b, v->def->args[i], map);
    ir_clone_op(b, v->def, map);
    return ir_map_get(map, v);
}

/* Of more operations a value stays where it is: those who ask have another way, and recursion stays shallow. */
enum { LEAVE_MAX = 256 };

static bool can_leave(const ir_value *v, const ir_op *op, ptrmap *asked, int *left)
{
    if (ir_is_visible(v, op->region))
        return true;
    const ir_op *def = v->def;
    if (!def || !op_follows_from_operands(def->code))
        return false;
    if (ptrmap_get(asked, def)) /* a value that is used twice would be asked 2^depth times */
        return true;
    if (--*left < 0)
        return false;
    for (int i = 0; i < def->nargs; i++)
        if (!can_leave(def->args[i], op, asked, left))
            return false;
    ptrmap_set(asked, def, (void *)def);
    return true;
}

bool ir_can_leave(const ir_value *v, const ir_op *op)
{
    ptrmap asked = {0};
    int left = LEAVE_MAX;
    const bool can = can_leave(v, op, &asked, &left);
    ptrmap_free(&asked);
    return can;
}

ir_value *ir_value_before(ir_builder *b, ir_value *v, ir_map *map)
{
    ir_value *again = ir_map_get(map, v);
    if (again || ir_is_visible(v, b->region))
        return again ? again : v;
    for (int i = 0; i < v->def->nargs; i++)
        ir_value_before(b, v->def->args[i], map);
    ir_clone_op(b, v->def, map);
    return ir_map_get(map, v);
}
