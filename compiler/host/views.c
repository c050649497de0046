/* Structs in the header, and the views of fields of structs: one for all members, or one for each. */
#include "host/host_int.h"

/* "float pos[2]" */
const char *member_decl(arena *mem, const ir_member *m)
{
    const char *name = name_member(mem, m->name),
               *type = m->structure ? struct_type(mem, m->structure) : scalar_c_type(m->elem);
    if (m->structure || m->shape == IR_SHAPE_SCALAR)
        return arena_printf(mem, "%s %s", type, name);
    return m->shape == IR_SHAPE_VEC ? arena_printf(mem, "%s %s[%d]", type, name, m->rows)
                                    : arena_printf(mem, "%s %s[%d][%d]", type, name, m->rows, m->cols);
}

void emit_structs(emitter *e)
{
    strbuf *b = e->out;
    for (size_t i = 0; i < e->m->structs.len; i++) {
        const ir_struct *r = e->m->structs.at[i];
        sb_printf(b, "/** Struct %s.", r->name);
        if (r->doc) {
            sb_addc(b, ' ');
            quote_c_comment(b, r->doc, " *  ");
        }
        sb_printf(b, " */\ntypedef struct %s {\n", struct_type(e->mem, r));
        for (int k = 0; k < r->nmembers; k++)
            sb_printf(b, "    %s;\n", member_decl(e->mem, &r->members[k]));
        sb_printf(b, "} %s;\n\n", struct_type(e->mem, r));
    }
}

/* One line for each leaf of r, nested as the struct is; the leaves' fields begin with number `at`. Returns the number
 * behind them. */
static int print_leaves(emitter *e, const ir_struct *r, int at, bool views, int indent)
{
    for (int k = 0; k < r->nmembers; k++) {
        const ir_member *m = &r->members[k];
        const char *name = name_member(e->mem, m->name);
        if (m->structure) {
            sb_printf(e->out, "%*sstruct {\n", indent, "");
            at = print_leaves(e, m->structure, at, views, indent + 4);
            sb_printf(e->out, "%*s} %s;\n", indent, "", name);
        } else if (views) {
            sb_printf(e->out, "%*s%s_%s_view %s;\n", indent, "", e->m->name, layout_id(e->mem, e->m->fields.at[at++]),
                      name);
        } else {
            sb_printf(e->out, "%*stk_field *%s;\n", indent, "", name);
            at++;
        }
    }
    return at;
}

void emit_field_objects(emitter *e, const ir_field *f)
{
    if (!layout_view_is_shared(f)) {
        sb_add(e->out, "    tk_field *field; /**< for functions of tkc.h */\n");
        return;
    }
    sb_add(e->out, "    struct {\n");
    print_leaves(e, f->structure, f->index, false, 8);
    sb_add(e->out, "    } field; /**< for functions of tkc.h, which take one member */\n");
}

void emit_member_views(emitter *e, const ir_field *f)
{
    sb_add(e->out, "    struct {\n");
    print_leaves(e, f->structure, f->index, true, 8);
    sb_printf(e->out, "    } %s;\n", name_member(e->mem, f->whole));
}
