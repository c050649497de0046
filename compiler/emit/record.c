/* The C types of structs, and the views of fields of structs: an array of C structs for the whole, or with soa a view for each member. */
#include "emit/emit_int.h"

#include <string.h>

/* ---- types ---- */

const char *record_type(arena *mem, const ir_record *r)
{
    return arena_printf(mem, "%s_%s", r->module->name, r->name);
}

/* "float pos[2]" */
const char *member_decl(arena *mem, const ir_member *m)
{
    const char *name = name_member(mem, m->name), *type = m->record ? record_type(mem, m->record) : scalar_c_type(m->elem);
    if (m->record || m->shape == IR_SHAPE_SCALAR)
        return arena_printf(mem, "%s %s", type, name);
    return m->shape == IR_SHAPE_VEC ? arena_printf(mem, "%s %s[%d]", type, name, m->rows) : arena_printf(mem, "%s %s[%d][%d]", type, name, m->rows, m->cols);
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

void emit_records(emitter *e)
{
    strbuf *b = e->out;
    for (size_t i = 0; i < e->m->records.len; i++) {
        const ir_record *r = e->m->records.at[i];
        sb_printf(b, "/** Struct %s.", r->name);
        if (r->doc) {
            sb_addc(b, ' ');
            add_doc(b, r->doc, " *  ");
        }
        sb_printf(b, " */\ntypedef struct %s {\n", record_type(e->mem, r));
        for (int k = 0; k < r->nmembers; k++)
            sb_printf(b, "    %s;\n", member_decl(e->mem, &r->members[k]));
        sb_printf(b, "} %s;\n\n", record_type(e->mem, r));
    }
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

const ir_field *plane_leaf(const ir_module *m, const ir_field *f, ir_plane p)
{
    for (size_t i = (size_t)f->index; i < m->fields.len; i++) {
        const ir_field *x = m->fields.at[i];
        if (x != f && (!f->lead || x->lead != f->lead))
            return NULL;
        if (p == IR_DATA || (p == IR_GRAD && x->grad) || (p == IR_DUAL && x->dual) || (p == IR_GRAD_DUAL && field_has_grad_dual(m, x)))
            return x;
    }
    return NULL;
}

bool field_begins(const ir_field *f)
{
    return !ir_is_member(f) || f->lead == f;
}

/* ---- members of the module's struct ---- */

/* One line for each leaf of r, nested as the struct is; the leaves' fields begin with number `at`. Returns the number behind them. */
static int print_leaves(emitter *e, const ir_record *r, int at, bool views, int indent)
{
    for (int k = 0; k < r->nmembers; k++) {
        const ir_member *m = &r->members[k];
        const char *name = name_member(e->mem, m->name);
        if (m->record) {
            sb_printf(e->out, "%*sstruct {\n", indent, "");
            at = print_leaves(e, m->record, at, views, indent + 4);
            sb_printf(e->out, "%*s} %s;\n", indent, "", name);
        } else if (views) {
            sb_printf(e->out, "%*s%s_%s_view %s;\n", indent, "", e->m->name, field_id(e->mem, e->m->fields.at[at++]), name);
        } else {
            sb_printf(e->out, "%*stk_field *%s;\n", indent, "", name);
            at++;
        }
    }
    return at;
}

void emit_field_objects(emitter *e, const ir_field *f)
{
    if (!ir_is_member(f)) {
        sb_add(e->out, "    tk_field *field; /**< for functions of tkc.h */\n");
        return;
    }
    sb_add(e->out, "    struct {\n");
    print_leaves(e, f->record, f->index, false, 8);
    sb_add(e->out, "    } field; /**< for functions of tkc.h, which take one member */\n");
}

/* soa: a view for each member. */
void emit_member_views(emitter *e, const ir_field *f)
{
    sb_add(e->out, "    struct {\n");
    print_leaves(e, f->record, f->index, true, 8);
    sb_printf(e->out, "    } %s;\n", name_member(e->mem, f->whole));
}
