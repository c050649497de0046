#include <string.h>

#include "ir/ir.h"

static const ir_field_layout_info layouts[IR_FIELD_LAYOUTS] = {
#define FIELD_LAYOUT(id, word, flag, bits, properties) {word, flag, bits, properties},
#include "ir/field_layout.def"
#undef FIELD_LAYOUT
};

const ir_field_layout_info *ir_field_layout_get(ir_field_layout layout)
{
    return &layouts[layout];
}

ir_field_layout ir_field_layout_named(const char *word)
{
    for (int k = 0; k < IR_FIELD_LAYOUTS; k++)
        if (*layouts[k].word && !strcmp(layouts[k].word, word))
            return (ir_field_layout)k;
    return IR_FIELD_DENSE;
}

ir_field_layout ir_field_layout_plain(const ir_field *f)
{
    return f->lead ? IR_FIELD_MEMBER : IR_FIELD_DENSE;
}

bool ir_field_is(const ir_field *f, unsigned properties)
{
    return (layouts[f->layout].properties & properties) != 0;
}

bool ir_field_has_gaps(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_GAPS);
}

bool ir_field_is_apart(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_APART) && f->shape != IR_SHAPE_SCALAR;
}

bool ir_field_begins(const ir_field *f)
{
    return !ir_field_is(f, IR_LAYOUT_SHARED) || f->lead == f;
}
