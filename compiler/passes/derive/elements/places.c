/* The kernel that stores the numbers of the vertices of each element; of a Jacobian, behind that of its row. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/simplify/simplify.h"

static ir_value *number_of(ir_builder *b, const ir_op *access)
{
    ir_field *f = ir_field_of(access);
    ir_value *at = f->ndim ? access->args[0] : ir_const_i(b, SC_I64, 0);
    for (int d = 1; d < f->ndim; d++) {
        at = ir_op2(b, OP_MUL, at, ir_shape(b, f, d));
        at = ir_op2(b, OP_ADD, at, access->args[d]);
    }
    return at;
}

/* Of the block among those of its field; if there are several fields, times their number, and the field's added. */
static ir_value *number_of_vertex(const elements *e, ir_builder *b, const element_vertex *v)
{
    ir_field *f = ir_field_of(v->load);
    const int parts = ir_field_ncomp(f) / e->block;
    ir_value *at = number_of(b, v->load);
    if (parts > 1)
        at = ir_op2(b, OP_MUL, at, ir_const_i(b, SC_I64, parts));
    if (v->part)
        at = ir_op2(b, OP_ADD, at, ir_const_i(b, SC_I64, v->part));
    int field = 0;
    while (e->by->at[field] != f)
        field++;
    if (e->by->n > 1)
        at = ir_op2(b, OP_MUL, at, ir_const_i(b, SC_I64, e->by->n));
    return field ? ir_op2(b, OP_ADD, at, ir_const_i(b, SC_I64, field)) : at;
}

static void store_places(const elements *e, const element_loop *l, ir_builder *b, ir_value *element, ir_field *places,
                         int width)
{
    ir_value *zero = ir_const_i(b, SC_I64, 0), *first = ir_op2(b, OP_MUL, element, ir_const_i(b, SC_I64, width));
    const int rows = e->kind == IR_DERIVE_ROWS ? 1 : 0;
    for (int v = 0; v < width; v++) {
        ir_value *at = ir_op2(b, OP_ADD, first, ir_const_i(b, SC_I64, v)), *number;
        if (v < rows)
            number = number_of(b, l->writes.at[0]);
        else if (v - rows < (int)l->vertices.len)
            number = number_of_vertex(e, b, &l->vertices.at[v - rows]);
        else
            number = ir_const_i(b, SC_I64, INT64_MIN);
        ir_store(b, places, IR_DATA, &at, zero, number);
    }
}

static void drop_outputs(const element_loop *l)
{
    for (size_t i = 0; i < l->writes.len; i++)
        ir_remove(l->writes.at[i]);
}

void make_places(elements *e, ir_func *of)
{
    ir_func *f = e->kernel;
    const int width = elements_arity(e) + (e->kind == IR_DERIVE_ROWS);
    hidden_begin(f, of, 2);
    ir_value *room = hidden_count(f, "room");
    ir_field *places = hidden_array(f, "places", SC_I64, 1, true);
    ir_builder b = {.func = f, .region = f->body, .before = f->body->first, .loc = f->loc};
    ir_value *total = ir_const_i(&b, SC_I64, 0), *most = ir_op2(&b, OP_DIV, room, ir_const_i(&b, SC_I64, width));
    for (size_t i = 0; i < e->loops.len; i++) {
        const element_loop *l = &e->loops.at[i];
        numbering n = number_elements(f, l->task, total);
        run_at_most(&n, l->task, most);
        store_places(e, l, &n.body, number_of_element(&n, l->task, total), places, width);
        drop_outputs(l);
        total = n.next;
    }
    hidden_end(f, &total, (const char *const[]){"elements"}, 1);
    pass_simplify(f);
}
