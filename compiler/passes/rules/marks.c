/* Reads and writes that launches on a tape hold against each other: NEED behind the read, KEEP in front of the write.
 * They stand in front of what later passes make of the memory in between, so a value that is overwritten in a register
 * counts as well. */
#include "passes/rules/marks.h"

#include <string.h>

#include "ir/ops.h"

static ir_builder in_front_of(ir_op *op)
{
    return (ir_builder){.func = op->region->func, .region = op->region, .before = op, .loc = op->loc};
}

static void insert(ir_builder *b, ir_opcode code, ir_field *f, int nargs, ir_value *const *args, const char *place)
{
    ir_op *op = ir_insert(b, code, nargs, args, 0, NULL, 0);
    *ir_mark_attr(op) = (ir_attr_mark){f, place};
}

static void mark_read(ir_op *read)
{
    ir_builder b = in_front_of(read);
    if (read->next && read->next->code == OP_NEED)
        return;
    ir_value *number = ir_component_number(&b, ir_field_of(read), read->args);
    b.before = read->next;
    insert(&b, OP_NEED, ir_field_of(read), 1, &number, NULL);
}

static const char *place_of(const ir_module *m, src_loc loc)
{
    const char *file = diag_file_path(m->diag, loc.file), *slash = strrchr(file, '/');
    return arena_printf(m->mem, "%s:%u:%u", slash ? slash + 1 : file, (unsigned)loc.line, (unsigned)loc.col);
}

static void mark_write(ir_module *m, ir_op *write, const ir_op *read)
{
    ir_builder b = in_front_of(write);
    if (write->prev && write->prev->code == OP_KEEP)
        return;
    ir_field *f = ir_field_of(write);
    ir_value *v = ir_stored_value(write), *args[] = {ir_component_number(&b, f, write->args), NULL, v};
    if (write->code == OP_ACCUM)
        args[1] = ir_zero(&b, v->type);
    else
        args[1] = ir_load(&b, f, IR_DATA, write->args, write->args[f->ndim]);
    if (write->code == OP_ATOMIC)
        args[2] = ir_op2(&b, ir_access_attr(write)->with, args[1], v);
    insert(&b, OP_KEEP, f, 3, args, place_of(m, read->loc));
}

static ir_op *operation_of(const access *a)
{
    return (ir_op *)(a->inner ? a->inner : a->op);
}

void mark_pair(ir_module *m, const access *read, const access *write)
{
    mark_read(operation_of(read));
    mark_write(m, operation_of(write), operation_of(read));
}
