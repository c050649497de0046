/* Reverse mode: choices between values that the reverse sweep computes again. */
#include "passes/derive/reverse/build/build.h"

static bool is_inside(const ir_op *choice, const ir_value *v)
{
    return ir_region_is_ancestor(choice->regions[0], v->region) || ir_region_is_ancestor(choice->regions[1], v->region);
}

/* All that comes from outside is there before the `if` is. */
static void look_up_operands(scope *s, const ir_op *choice, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            if (!is_inside(choice, op->args[i]))
                rev_primal_value(s, op->args[i]);
        for (int k = 0; k < op->nregions; k++)
            look_up_operands(s, choice, op->regions[k]);
    }
}

typedef struct again {
    scope *s;
    ir_slice slice;
} again;

static ir_value *outside(const ir_value *v, void *ctx)
{
    return rev_primal_value(((again *)ctx)->s, v);
}

static bool load_again(ir_builder *b, const ir_op *op, void *ctx)
{
    again *a = ctx;
    b->loc = op->loc;
    b->origin = (ir_op *)op;
    if (op->code != OP_LLOAD)
        return false;
    ir_value *args[2];
    for (int i = 0; i < 2; i++) {
        args[i] = ir_map_get(a->slice.map, op->args[i]);
        if (!args[i])
            args[i] = rev_primal_value(a->s, op->args[i]);
    }
    ir_map_set(a->slice.map, op->res[0], rev_load_again(a->s, b, op, args[0], args[1]));
    return true;
}

ir_value *rev_recompute_if(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    rev_primal_value(s, op->args[0]);
    for (int k = 0; k < 2; k++)
        look_up_operands(s, op, op->regions[k]);
    ir_map map = ir_map_create(s->rv->primal);
    ir_builder b = rev_prologue(s, op->loc);
    again a = {s, {.map = &map, .ctx = &a, .outside = outside, .instead = load_again}};
    ir_clone_in_slice(&b, op, &a.slice);
    for (int i = 0; i < op->nres; i++)
        s->rv->memo[op->res[i]->id] = rev_mapped(&map, op->res[i]);
    ir_map_free(&map);
    return s->rv->memo[v->id];
}
