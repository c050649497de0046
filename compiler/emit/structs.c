/* Structs as C has them, and where libtkc's objects of fields stand in the module's struct. */
#include "emit/emit_int.h"

/* "{.link = {.pos = {0}}}": gcc warns of braces that are missing in a "{0}" for a struct that begins with an array. */
const char *struct_zero(arena *mem, const ir_struct *r)
{
    const ir_member *first = &r->members[0];
    if (!first->structure && first->shape == IR_SHAPE_SCALAR)
        return "{0}";
    const char *zero = first->structure               ? struct_zero(mem, first->structure)
                       : first->shape == IR_SHAPE_VEC ? "{0}"
                                                      : "{{0}}";
    return arena_printf(mem, "{.%s = %s}", name_member(mem, first->name), zero);
}

const char *field_address(emitter *e, const char *m, const ir_field *f)
{
    const char *view = e->field_names[f->index];
    return layout_is_apart(f) ? arena_printf(e->mem, "&%s->%s", m, view)
                              : arena_printf(e->mem, "%s->%s", m, layout_object(e->mem, view, f));
}
