/* The C types of structs, and where the fields of structs stand in the module's struct. */
#include "emit/emit_int.h"

#include <string.h>

/* ---- types ---- */

const char *record_type(arena *mem, const ir_record *r)
{
    return arena_printf(mem, "%s_%s", r->module->name, r->name);
}

/* "link.pos" as C has it, with `dot` for the dot. */
const char *member_path(arena *mem, const char *path, const char *dot)
{
    const char *next = strchr(path, '.');
    if (!next)
        return name_member(mem, path);
    const char *first = name_member(mem, arena_printf(mem, "%.*s", (int)(next - path), path));
    return arena_printf(mem, "%s%s%s", first, dot, member_path(mem, next + 1, dot));
}

/* "{.link = {.pos = {0}}}": gcc warns of braces that are missing in a "{0}" for a struct that begins with an array. */
const char *record_zero(arena *mem, const ir_record *r)
{
    const ir_member *first = &r->members[0];
    if (!first->record && first->shape == IR_SHAPE_SCALAR)
        return "{0}";
    const char *zero = first->record ? record_zero(mem, first->record) : first->shape == IR_SHAPE_VEC ? "{0}" : "{{0}}";
    return arena_printf(mem, "{.%s = %s}", name_member(mem, first->name), zero);
}

/* ---- names ---- */

const char *field_id(arena *mem, const ir_field *f)
{
    if (!f->lead)
        return f->name;
    return ir_is_member(f) ? f->whole : arena_printf(mem, "%s_%s", f->whole, member_path(mem, f->path, "_"));
}

const char *field_object(emitter *e, const ir_field *f)
{
    if (ir_is_member(f))
        return arena_printf(e->mem, "%s.field.%s", e->field_names[f->index], member_path(e->mem, f->path, "."));
    return arena_printf(e->mem, "%s.field", e->field_names[f->index]);
}

const char *field_address(emitter *e, const char *m, const ir_field *f)
{
    return f->launched ? arena_printf(e->mem, "&%s->%s", m, e->field_names[f->index]) : arena_printf(e->mem, "%s->%s", m, field_object(e, f));
}
