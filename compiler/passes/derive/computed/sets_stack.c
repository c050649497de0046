/* Sets of values that an adjoint saves: a slot beside that of the value. */
#include "passes/derive/computed/computed_int.h"

static const sets_layout *layout_of(sets *s, const ir_op *op)
{
    ir_layout *from = ir_layout_of(op);
    for (size_t i = 0; i < s->layouts.len; i++)
        if (s->layouts.at[i].from == from)
            return &s->layouts.at[i];
    arena *mem = s->out->module->mem;
    ir_layout *to = ARENA_NEW(mem, ir_layout);
    *to = *from;
    to->types = ARENA_ARRAY(mem, scalar, 2 * from->n + 1);
    to->names = ARENA_ARRAY(mem, const char *, 2 * from->n + 1);
    int *set = ARENA_ARRAY(mem, int, from->n + 1);
    for (int i = 0; i < from->n; i++) {
        to->types[i] = from->types[i];
        to->names[i] = from->names[i];
        set[i] = -1;
        if (!computed_slot_of(s->c, from, i)->varied)
            continue;
        set[i] = to->n;
        to->types[to->n] = SC_I64;
        to->names[to->n++] = from->names[i] ? arena_printf(mem, "%s_set", from->names[i]) : NULL;
    }
    vec_push(&s->layouts, ((sets_layout){from, to, set}));
    return &vec_last(&s->layouts);
}

static ir_op *clone(sets *s, ir_builder *b, const ir_op *op, ir_layout *layout)
{
    ir_op *c = ir_clone_op(b, op, &s->val);
    if (layout)
        ir_slot_attr(c)->layout = layout;
    return c;
}

void sets_stack(sets *s, ir_builder *b, const ir_op *op)
{
    if (op->code == OP_STK_MARK || op->code == OP_STK_RELEASE) {
        clone(s, b, op, NULL);
        return;
    }
    const sets_layout *l = layout_of(s, op);
    const int set = op->code == OP_STK_ALLOC ? -1 : l->set[ir_slot_attr(op)->number];
    if (op->code == OP_STK_ALLOC || sets_has_value(s, op->code == OP_STK_STORE ? op->args[2] : op->res[0]))
        clone(s, b, op, l->to);
    if (set < 0)
        return;
    ir_value *place[] = {sets_value(s, op->args[0]), sets_value(s, op->args[1]), NULL};
    ir_op *c;
    if (op->code == OP_STK_STORE) {
        place[2] = sets_set(s, b, op->args[2]);
        c = ir_insert(b, OP_STK_STORE, 3, place, 0, NULL, 0);
    } else {
        c = ir_insert(b, OP_STK_LOAD, 2, place, 1, &l->to->types[set], 0);
        if (sets_is_varied(s, op->res[0]))
            ir_map_set_other(&s->set, op->res[0], c->res[0]);
    }
    ir_slot_attr(c)->layout = l->to;
    ir_slot_attr(c)->number = set;
}
