#include "codegen/layout.h"

#include <string.h>

#include "codegen/forms.h"
#include "codegen/names.h"

/* ---- what is asked of the table ---- */

static const ir_field_layout_info *info_of(const ir_field *f)
{
    return ir_field_layout_get(f->layout);
}

static bool is_member(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_SHARED);
}

bool layout_is_apart(const ir_field *f)
{
    return f->launched || f->wide_of;
}

bool layout_by_address(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_BYTES);
}

/* Where no pointer to flat rows of components is made: a matrix in a struct, or behind an argument. */
bool layout_divides(const ir_field *f)
{
    return f->shape == IR_SHAPE_MAT && (is_member(f) || is_argument(f));
}

bool layout_needs_module(const ir_field *f)
{
    return f->ndim > 1 || ir_field_is(f, IR_LAYOUT_BYTES | IR_LAYOUT_APART);
}

/* ---- the address of an element ---- */

cexpr layout_position(arena *mem, const layout_terms *terms, const ir_field *f, const cexpr *at)
{
    if (f->ndim == 0)
        return (cexpr){"0", PREC_PRIMARY};
    cexpr n = at[0];
    for (int d = 1; d < f->ndim; d++) {
        if (strcmp(n.text, "0") == 0) {
            n = at[d];
            continue;
        }
        const char *row = cexpr_operand(mem, n, PREC_MUL), *column = cexpr_operand(mem, at[d], PREC_MUL);
        n = (cexpr){arena_printf(mem, "%s * %s + %s", row, terms->extent(terms->ctx, f, d), column), PREC_ADD};
    }
    return n;
}

/* Number of elements: "x_n0", "(x_n0 * x_n1)". */
static const char *element_count(arena *mem, const layout_terms *terms, const ir_field *f)
{
    const char *n = f->ndim ? terms->extent(terms->ctx, f, 0) : "1";
    for (int d = 1; d < f->ndim; d++)
        n = arena_printf(mem, "%s * %s", n, terms->extent(terms->ctx, f, d));
    return f->ndim > 1 ? arena_printf(mem, "(%s)", n) : n;
}

/* Components apart: the elements of one after those of the other. */
static const char *apart_number(arena *mem, const layout_terms *terms, const layout_place *p)
{
    const ir_field *f = p->field;
    const cexpr at = layout_position(mem, terms, f, p->at);
    if (f->shape == IR_SHAPE_SCALAR || (p->constant && p->number == 0))
        return at.text;
    if (f->ndim == 0)
        return p->component.text;
    const char *count = element_count(mem, terms, f), *position = cexpr_operand(mem, at, PREC_ADD);
    if (p->constant && p->number == 1)
        return arena_printf(mem, "%s + %s", count, position);
    return arena_printf(mem, "%s * %s + %s", cexpr_operand(mem, p->component, PREC_MUL), count, position);
}

const char *layout_number(arena *mem, const layout_terms *terms, const layout_place *p)
{
    const ir_field *f = p->field;
    if (ir_field_is(f, IR_LAYOUT_APART))
        return apart_number(mem, terms, p);
    const cexpr at = layout_position(mem, terms, f, p->at);
    if (f->shape == IR_SHAPE_SCALAR)
        return at.text;
    const char *k = p->constant ? arena_printf(mem, "%lld", (long long)p->number)
                                : cexpr_operand(mem, p->component, PREC_ADD);
    if (f->ndim == 0)
        return k;
    return arena_printf(mem, "%s * INT64_C(%d) + %s", cexpr_operand(mem, at, PREC_MUL), ir_field_ncomp(f), k);
}

/* "x + i * x_stride0 + 4" */
static const char *byte_address(arena *mem, const layout_terms *terms, const layout_place *p, const char *base)
{
    const ir_field *f = p->field;
    const int size = scalar_bytes(f->elem);
    strbuf b = {0};
    sb_add(&b, base);
    for (int d = 0; d < f->ndim; d++)
        if (strcmp(p->at[d].text, "0") != 0)
            sb_printf(&b, " + %s * %s", cexpr_operand(mem, p->at[d], PREC_MUL),
                      terms->stride(terms->ctx, f, p->plane, d));
    if (f->shape != IR_SHAPE_SCALAR && !p->constant)
        sb_printf(&b, " + %s * %d", cexpr_operand(mem, p->component, PREC_MUL), size);
    else if (f->shape != IR_SHAPE_SCALAR && p->number != 0)
        sb_printf(&b, " + %lld", (long long)p->number * size);
    const char *text = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return text;
}

/* Behind its element: "[0]", "[1][0]". */
static const char *component(arena *mem, const layout_place *p)
{
    const ir_field *f = p->field;
    const bool known = p->constant && p->number >= 0 && p->number < ir_field_ncomp(f);
    if (f->shape == IR_SHAPE_SCALAR)
        return "";
    if (layout_divides(f) && !known) {
        const char *k = cexpr_operand(mem, p->component, PREC_MUL);
        return arena_printf(mem, "[%s / %d][%s %% %d]", k, f->cols, k, f->cols);
    }
    if (f->shape == IR_SHAPE_MAT && known && (layout_divides(f) || !p->flat))
        return arena_printf(mem, "[%lld][%lld]", (long long)(p->number / f->cols), (long long)(p->number % f->cols));
    return arena_printf(mem, "[%s]", p->component.text);
}

cexpr layout_element(arena *mem, const layout_terms *terms, const layout_place *p, const char *base)
{
    const ir_field *f = p->field;
    if (layout_by_address(f))
        return (cexpr){byte_address(mem, terms, p, base), PREC_ADD};
    if (ir_field_is(f, IR_LAYOUT_APART))
        return (cexpr){arena_printf(mem, "%s[%s]", base, apart_number(mem, terms, p)), PREC_PRIMARY};
    const char *path = is_member(f) ? arena_printf(mem, ".%s", member_path(mem, f->path, ".")) : "";
    const char *n = layout_position(mem, terms, f, p->at).text;
    return (cexpr){arena_printf(mem, "%s[%s]%s%s", base, n, path, component(mem, p)), PREC_PRIMARY};
}

/* ---- pointers to planes ---- */

const char *layout_element_type(arena *mem, const ir_field *f)
{
    return is_member(f) ? struct_type(mem, f->structure) : scalar_c_type(f->elem);
}

const char *layout_element_dims(arena *mem, const ir_field *f, bool flat)
{
    if (f->shape == IR_SHAPE_SCALAR || is_member(f))
        return "";
    if (f->shape == IR_SHAPE_VEC || flat)
        return arena_printf(mem, "[%d]", ir_field_ncomp(f));
    return arena_printf(mem, "[%d][%d]", f->rows, f->cols);
}

const char *layout_pointer(arena *mem, const ir_field *f, bool is_const, const char *quals, const char *name, bool flat)
{
    const char *constant = is_const ? "const " : "";
    const char *type = layout_by_address(f) ? "unsigned char" : layout_element_type(mem, f);
    const char *dims = ir_field_is(f, IR_LAYOUT_BYTES | IR_LAYOUT_APART) ? "" : layout_element_dims(mem, f, flat);
    return *dims ? arena_printf(mem, "%s%s (*%s%s)%s", constant, type, quals, name, dims)
                 : arena_printf(mem, "%s%s *%s%s", constant, type, quals, name);
}

/* Of the pointer that a view, or libtkc (a void *), has to a plane. */
static const char *plane_cast(arena *mem, const ir_field *f, bool is_const, bool flat)
{
    const bool is_void = layout_is_apart(f) || layout_by_address(f),
               is_plain = ir_field_is(f, IR_LAYOUT_APART | IR_LAYOUT_SHARED) || f->shape == IR_SHAPE_SCALAR;
    if (!is_void && (is_plain || (!is_const && !(flat && f->shape == IR_SHAPE_MAT))))
        return "";
    return arena_printf(mem, "(%s)", layout_pointer(mem, f, is_const, "", "", flat));
}

bool layout_one_pointer(const ir_field *f, const ir_field *other)
{
    return is_member(f) && other->lead == f->lead;
}

/* ---- the host's view of a field ---- */

const char *layout_title(const ir_field *f)
{
    return is_member(f) ? f->whole : f->name;
}

bool layout_view_is_shared(const ir_field *f)
{
    return is_member(f);
}

const char *layout_id(arena *mem, const ir_field *f)
{
    if (!f->lead || is_member(f))
        return layout_title(f);
    return arena_printf(mem, "%s_%s", f->whole, member_path(mem, f->path, "_"));
}

/* A field's view is a member of the module's struct, beside tk and params. */
static const char *view_name(arena *mem, const char *name)
{
    const bool taken = strcmp(name, "tk") == 0 || strcmp(name, "params") == 0;
    return taken ? arena_printf(mem, "%s_", name) : name_member(mem, name);
}

const char *layout_view(arena *mem, const ir_field *f)
{
    const char *view = view_name(mem, f->lead ? f->whole : f->name);
    return f->lead && !is_member(f) ? arena_printf(mem, "%s.%s", view, member_path(mem, f->path, ".")) : view;
}

const char *layout_object(arena *mem, const char *view, const ir_field *f)
{
    if (is_member(f))
        return arena_printf(mem, "%s.field.%s", view, member_path(mem, f->path, "."));
    return arena_printf(mem, "%s.field", view);
}

const char *layout_element_name(arena *mem, const ir_field *f)
{
    const char *elem = scalar_name(f->elem);
    if (is_member(f) || f->shape == IR_SHAPE_SCALAR)
        return is_member(f) ? f->structure->name : elem;
    return f->shape == IR_SHAPE_VEC ? arena_printf(mem, "vec(%d, %s)", f->rows, elem)
                                    : arena_printf(mem, "mat(%d, %d, %s)", f->rows, f->cols, elem);
}

const char *layout_word(arena *mem, const ir_field *f)
{
    return *info_of(f)->word && !layout_takes_strides(f) ? arena_printf(mem, ", %s", info_of(f)->word) : "";
}

const char *layout_note(const ir_field *f)
{
    if (ir_field_is_soa(f))
        return f->ndim > 1 ? "a pointer for each component, to its elements, row-major"
                           : "a pointer for each component, to its elements";
    return f->ndim > 1 ? "row-major" : f->ndim ? "one entry for each element" : "one entry";
}

const char *layout_bind_note(const ir_field *f)
{
    if (ir_field_is_soa(f))
        return "\n *  Each is one block: all elements of the first component, then of the second.";
    return "";
}

const char *layout_view_pointer(arena *mem, const ir_field *f, const char *name)
{
    if (layout_by_address(f))
        return arena_printf(mem, "void *%s", name);
    if (ir_field_is_soa(f))
        return arena_printf(mem, "%s *%s%s", scalar_c_type(f->elem), name, layout_element_dims(mem, f, false));
    return layout_pointer(mem, f, false, "", name, false);
}

const char *layout_bind_pointer(arena *mem, const ir_field *f, const char *name)
{
    return ir_field_is_soa(f) ? layout_pointer(mem, f, false, "", name, false) : layout_view_pointer(mem, f, name);
}

const char *layout_subscript(const ir_field *f)
{
    return !ir_field_is_soa(f) ? "" : f->shape == IR_SHAPE_VEC ? "[k]" : "[r][c]";
}

bool layout_has_index(const ir_field *f)
{
    return f->ndim >= 2 && !layout_by_address(f) && (!f->lead || f->lead == f);
}

bool layout_takes_strides(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_BYTES);
}

const char *layout_plane(arena *mem, const char *m, const char *view, const ir_field *f, ir_plane plane, bool is_const,
                         bool flat)
{
    const char *cast = plane_cast(mem, f, is_const, flat);
    if (layout_is_apart(f) && is_member(f))
        return arena_printf(mem, "%stk_field_structs(&%s->%s, %s)", cast, m, view, plane_enum(plane));
    if (layout_is_apart(f))
        return arena_printf(mem, "%s%s->%s.plane[%s]", cast, m, view, plane_enum(plane));
    const char *first = !ir_field_is_soa(f) ? "" : f->shape == IR_SHAPE_VEC ? "[0]" : "[0][0]";
    return arena_printf(mem, "%s%s->%s.%s%s", cast, m, view, plane_name(plane), first);
}

const char *layout_stride(arena *mem, const char *m, const char *view, ir_plane plane, int dim)
{
    return arena_printf(mem, "%s->%s.%s_strides[%d]", m, view, plane_name(plane), dim);
}

/* "double (*dual)[3][26]" */
static const char *wide_pointer(arena *mem, const ir_field *f, ir_plane plane, const char *name)
{
    return arena_printf(mem, "%s (*%s)%s[%d]", scalar_c_type(f->elem), name, layout_element_dims(mem, f, false),
                        f->width[plane]);
}

const char *layout_wide_pointer(arena *mem, const ir_field *f, ir_plane plane)
{
    return wide_pointer(mem, f, plane, plane_name(plane));
}

void layout_fill_wide(arena *mem, strbuf *b, const char *view, const ir_field *f, ir_plane plane)
{
    sb_printf(b, "    m->%s.%s = (%s)m->tk.fields[%d].plane[%s];\n", view, plane_name(plane),
              wide_pointer(mem, f, plane, ""), f->wide[plane]->index, plane_enum(IR_DATA));
}

void layout_fill_view(arena *mem, strbuf *b, const char *view, const ir_field *f, ir_plane plane, const ir_field *leaf)
{
    const char *name = plane_name(plane), *number = plane_enum(plane);
    const char *cast = arena_printf(mem, "(%s)", layout_view_pointer(mem, f, ""));
    if (is_member(f)) {
        sb_printf(b, "    m->%s.%s = %stk_field_structs(&m->tk.fields[%d], %s);\n", view, name, cast, leaf->index,
                  number);
        return;
    }
    for (int k = 0; ir_field_is_soa(f) && k < ir_field_ncomp(f); k++) {
        const char *which = f->shape == IR_SHAPE_VEC ? arena_printf(mem, "[%d]", k)
                                                     : arena_printf(mem, "[%d][%d]", k / f->cols, k % f->cols);
        sb_printf(b, "    m->%s.%s%s = (%s *)tk_field_component(&m->tk.fields[%d], %s, %d);\n", view, name, which,
                  scalar_c_type(f->elem), f->index, number, k);
    }
    if (!ir_field_is_soa(f))
        sb_printf(b, "    m->%s.%s = %sm->tk.fields[%d].plane[%s];\n", view, name, cast, f->index, number);
    if (layout_takes_strides(f))
        sb_printf(b, "    memcpy(m->%s.%s_strides, m->tk.fields[%d].stride[%s], sizeof m->%s.%s_strides);\n", view,
                  name, f->index, number, view, name);
}

/* ---- what libtkc is told ---- */

const char *layout_flag(const ir_field *f)
{
    return ir_field_is(f, IR_LAYOUT_APART) && !ir_field_is_soa(f) ? "" : info_of(f)->flag;
}

unsigned layout_bits(const ir_field *f)
{
    return info_of(f)->bits;
}

const char *layout_bind_function(const ir_field *f)
{
    return is_member(f) ? "tk_field_bind_structs" : "tk_field_bind";
}

const char *layout_member_row(arena *mem, const ir_field *f)
{
    if (!is_member(f))
        return NULL;
    const char *type = struct_type(mem, f->structure), *path = member_path(mem, f->path, ".");
    return arena_printf(mem, "{%d, %d, offsetof(%s, %s), sizeof(%s)}", f->index, f->lead->index, type, path, type);
}
