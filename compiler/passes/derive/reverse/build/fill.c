/* Reverse mode: local arrays that the reverse sweep fills again (plan/fill.c). */
#include "passes/derive/reverse/build/build.h"

typedef struct again {
    filling f;
    ir_map map;
    ir_value *array;
} again;

static ir_value *outside(const ir_value *v, void *ctx)
{
    return rev_primal_value(((again *)ctx)->f.home, v);
}

static ir_value *value_of(again *a, const ir_value *v)
{
    ir_value *w = ir_map_get(&a->map, v);
    return w ? w : outside(v, a);
}

static bool again_has_result(const ir_op *op, int k, void *ctx)
{
    again *a = ctx;
    return op->code == OP_LOOP ? rev_fill_carries(&a->f, op, k) : a->f.fill->needed[op->res[k]->id];
}

static bool again_access(ir_builder *b, const ir_op *op, void *ctx)
{
    again *a = ctx;
    b->loc = op->loc;
    b->origin = (ir_op *)op;
    if (op->code == OP_LSTORE) {
        ir_lstore(b, a->array, value_of(a, op->args[1]), value_of(a, op->args[2]));
        return true;
    }
    if (op->code != OP_LLOAD)
        return false;
    ir_value *i = value_of(a, op->args[1]), *v;
    if (op->args[0] == a->f.array) {
        v = ir_lload(b, a->array, i);
        v->name = op->res[0]->name;
    } else
        v = rev_load_again(a->f.home, b, op, value_of(a, op->args[0]), i);
    ir_map_set(&a->map, op->res[0], v);
    return true;
}

/* Of the region, the operations that store, or have the stores in them. */
static bool again_stores(const ir_op *op, void *ctx)
{
    again *a = ctx;
    return op->region == a->f.home->primal ? rev_stores_into(op, a->f.array) : rev_fill_needs(&a->f, op);
}

ir_value *rev_fill_again(scope *home, const ir_value *array)
{
    rev *rv = home->rv;
    array_fill *fill = rv->filled[array->id].fill;
    again a = {.f = {.home = home, .array = array, .fill = fill}, .map = ir_map_create(rv->primal)};
    for (size_t i = 0; i < fill->noutside; i++) /* they stand in front of the loops */
        rev_primal_value(home, fill->outside[i]);
    a.array = rev_array_like(home, array, array->name, array->loc);
    a.array->exact = array->exact;
    ir_builder b = rev_prologue(home, array->loc);
    const ir_slice slice = {&a.map, &a, again_stores, again_has_result, outside, again_access};
    ir_clone_slice(&b, home->primal, &slice);
    ir_map_free(&a.map);
    return a.array;
}
