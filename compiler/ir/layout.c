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

bool ir_field_is_soa(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_APART) && f->shape != IR_SHAPE_SCALAR;
}

/* What a C compiler makes of the struct; *align: the greatest of its numbers. */
static int64_t struct_bytes(const ir_struct *s, int64_t *align)
{
    int64_t bytes = 0;
    *align = 1;
    for (int i = 0; i < s->nmembers; i++) {
        const ir_member *m = &s->members[i];
        int64_t own = scalar_bytes(m->elem), size = own * m->rows * m->cols;
        if (m->structure)
            size = struct_bytes(m->structure, &own);
        bytes = (bytes + own - 1) / own * own + size;
        *align = own > *align ? own : *align;
    }
    return (bytes + *align - 1) / *align * *align;
}

int64_t ir_field_step(const ir_field *f)
{
    int64_t align;
    if (ir_field_is(f, IR_LAYOUT_BYTES))
        return 0;
    if (ir_field_is(f, IR_LAYOUT_SHARED))
        return struct_bytes(f->lead->structure, &align) / scalar_bytes(f->elem);
    return ir_field_is_soa(f) ? 1 : ir_field_ncomp(f);
}

bool ir_field_begins(const ir_field *f)
{
    return !ir_field_is(f, IR_LAYOUT_SHARED) || f->lead == f;
}
