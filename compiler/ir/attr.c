/* What an operation says beside its operands, by its kind: ir/attr.h. */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"

const unsigned char ir_attr_kinds[OP_COUNT] = {
#define SOP(id, name, effect, memory, touches, where, derivative, attributes) [OP_##id] = IR_ATTR_##attributes,
#include "ir/struct_ops.def"
#undef SOP
};

static const unsigned char sizes[IR_ATTR_KINDS] = {0,
#define KIND(id, name) sizeof(ir_attr_##name),
                                                   IR_ATTRIBUTES(KIND)
#undef KIND
};

static const char *const class_texts[IR_CLASS_COUNT] = {
#define CLASS(id, text, words) text,
#include "ir/classes.def"
#undef CLASS
};

static const char *const class_words[IR_CLASS_COUNT] = {
#define CLASS(id, text, words) words,
#include "ir/classes.def"
#undef CLASS
};

static const char *const why_texts[IR_SCATTER_COUNT] = {
#define REASON(id, text) text,
#include "ir/reasons/scatter.def"
#undef REASON
};

void ir_wrong_kind(const ir_op *op)
{
    fprintf(stderr, "tkc: internal error: '%s' is asked for attributes that it does not have\n", op_name(op->code));
    abort();
}

void *ir_attr_new(arena *mem, ir_opcode code)
{
    const size_t n = sizes[ir_attr_kind_of(code)];
    return n ? arena_alloc(mem, n) : NULL;
}

void ir_copy_attr(ir_op *to, const ir_op *from)
{
    const ir_attr_kind kind = ir_attr_kind_of(from->code);
    assert(kind == ir_attr_kind_of(to->code));
    if (kind != IR_ATTR_NOTHING)
        memcpy(to->attr, from->attr, sizes[kind]);
    if (kind != IR_ATTR_TASK || !ir_task_attr(from)->nreductions)
        return;
    ir_attr_task *t = ir_task_attr(to); /* its reductions may be changed on their own */
    const ir_reduction *reductions = t->reductions;
    t->reductions = ARENA_ARRAY(to->region->func->module->mem, ir_reduction, t->nreductions);
    memcpy(t->reductions, reductions, sizeof *reductions * (size_t)t->nreductions);
}

ir_layout *ir_layout_of(const ir_op *op)
{
    const ir_attr_kind kind = ir_attr_kind_of(op->code);
    return kind == IR_ATTR_SLOT ? ir_slot_attr(op)->layout : kind == IR_ATTR_ACCESS ? ir_access_attr(op)->layout : NULL;
}

void ir_set_layout(ir_op *op, ir_layout *l)
{
    *(ir_attr_kind_of(op->code) == IR_ATTR_ACCESS ? &ir_access_attr(op)->layout : &ir_slot_attr(op)->layout) = l;
}

static const char *const no_lanes_texts[IR_NO_LANES_COUNT] = {
#define NO_LANES(id, text) text,
#include "ir/reasons/no_lanes.def"
#undef NO_LANES
};

const char *ir_no_lanes_text(ir_no_lanes why)
{
    return no_lanes_texts[why];
}

static const char *const no_line_texts[IR_NO_LINE_COUNT] = {
#define NO_LINE(id, text) text,
#include "ir/reasons/no_line.def"
#undef NO_LINE
};

const char *ir_no_line_text(ir_no_line why)
{
    return no_line_texts[why];
}

ir_class ir_class_of(const ir_op *op)
{
    const ir_attr_kind kind = ir_attr_kind_of(op->code);
    return kind == IR_ATTR_ACCESS    ? ir_access_attr(op)->class
           : kind == IR_ATTR_ELEMENT ? ir_element_attr(op)->class
                                     : IR_CLASS_NONE;
}

void ir_set_class(ir_op *op, ir_class c)
{
    *(ir_attr_kind_of(op->code) == IR_ATTR_ACCESS ? &ir_access_attr(op)->class : &ir_element_attr(op)->class) = c;
}

const char *ir_class_text(ir_class c)
{
    return class_texts[c];
}

const char *ir_class_words(ir_class c)
{
    return class_words[c];
}

const char *ir_scatter_reason_text(ir_scatter_reason w)
{
    return why_texts[w];
}
