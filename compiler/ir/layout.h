/* How the elements of a field lie in memory: field_layout.def. Passes ask what follows from it; codegen/layout.c has
 * all that is printed of it. */
#ifndef TKC_IR_LAYOUT_H
#define TKC_IR_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct ir_field;

/* ---- what follows ---- */

/* Between its elements is memory of others, or of nobody: no copy of some of them is one piece. */
bool ir_field_has_gaps(const struct ir_field *f);
/* Components apart: an element is several pieces. */
bool ir_field_is_soa(const struct ir_field *f);
/* From one element to the next along the last dimension, in numbers of the field's type; 0: a launch knows. */
int64_t ir_field_step(const struct ir_field *f);
/* Has memory, extents and a view of the host's: no further member of an array of structs. */
bool ir_field_begins(const struct ir_field *f);

/* ---- for the module itself, the checker and the text of the IR ---- */

typedef enum ir_field_layout {
#define FIELD_LAYOUT(id, ...) IR_FIELD_##id,
#include "ir/field_layout.def"
#undef FIELD_LAYOUT
    IR_FIELD_LAYOUTS
} ir_field_layout;

enum {
    IR_LAYOUT_GAPS = 1,    /* as above */
    IR_LAYOUT_APART = 2,   /* all elements of the first component, then all of the second */
    IR_LAYOUT_BYTES = 4,   /* at strides in bytes, at any alignment, that the host chooses when it binds memory */
    IR_LAYOUT_SHARED = 8,  /* members of one array of structs: its memory, extents and view are theirs */
    IR_LAYOUT_EXTENTS = 16 /* for fields with extents, and none of structs */
};

typedef struct ir_field_layout_info {
    const char *word, *flag; /* the columns of field_layout.def */
    unsigned bits, properties;
} ir_field_layout_info;
const ir_field_layout_info *ir_field_layout_get(ir_field_layout layout);
/* What the attribute asks for; IR_FIELD_DENSE: it asks for none. */
ir_field_layout ir_field_layout_named(const char *word);
/* Of a field without such an attribute. */
ir_field_layout ir_field_layout_plain(const struct ir_field *f);
bool ir_field_is(const struct ir_field *f, unsigned properties); /* has one of these */

#endif
