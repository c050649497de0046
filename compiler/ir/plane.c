#include "ir/ir.h"

#include <assert.h>
#include <string.h>

const ir_plane_info *ir_plane_get(ir_plane p)
{
    static const ir_plane_info planes[IR_PLANES] = {
#define PLANE(id, name, text, words, derived, attribute, flag, bound, note) \
    {#name, text, words, attribute, note, "TK_" #id, "TK_FIELD_" #id, "_" #name, derived, bound},
        TK_PLANES(PLANE)
#undef PLANE
    };
    return &planes[p];
}

static ir_plane derived_from(ir_plane p, unsigned how)
{
    const unsigned both = ir_plane_get(p)->derived | how;
    int found = IR_DATA;
    while (found < IR_PLANES && ir_plane_get((ir_plane)found)->derived != both)
        found++;
    assert(found < IR_PLANES && both != ir_plane_get(p)->derived);
    return (ir_plane)found;
}

ir_plane ir_adjoint_of(ir_plane p)
{
    return derived_from(p, TK_OF_ADJOINT);
}

ir_plane ir_tangent_of(ir_plane p)
{
    return derived_from(p, TK_OF_TANGENT);
}

ir_plane ir_plane_asked(const char *attribute)
{
    int p = IR_DATA;
    while (p < IR_PLANES && (!*attribute || strcmp(ir_plane_get((ir_plane)p)->attribute, attribute) != 0))
        p++;
    return (ir_plane)p;
}

ir_plane ir_plane_named(const char *name)
{
    int p = IR_DATA;
    while (p < IR_PLANES &&
           (!*ir_plane_get((ir_plane)p)->attribute || strcmp(ir_plane_get((ir_plane)p)->name, name) != 0))
        p++;
    return (ir_plane)p;
}

/* ---- columns of matrices: elements of fields have different numbers of components, and blocks one size ---- */

bool ir_columns_have(const ir_columns *c, const ir_field *f)
{
    for (int i = 0; i < c->n; i++)
        if (c->at[i] == f)
            return true;
    return false;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

int ir_columns_block(const ir_columns *c)
{
    int block = 0;
    for (int i = 0; i < c->n; i++)
        block = common_divisor(ir_field_ncomp(c->at[i]), block);
    return block;
}

scalar ir_columns_type(const ir_columns *c)
{
    scalar type = SC_F32;
    for (int i = 0; i < c->n; i++)
        if (c->at[i]->elem == SC_F64)
            type = SC_F64;
    return type;
}

bool ir_columns_have_grad(const ir_columns *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->at[i]->grad)
            return true;
    return false;
}

scalar ir_matrix_type(const ir_func *k, const ir_request *r)
{
    return r->kind == IR_DERIVE_BLOCKS ? ir_columns_type(&r->by) : k->ad.elements.to->elem;
}

const char *ir_columns_names(arena *mem, const ir_columns *c, const char *between)
{
    const char *all = c->at[0]->name;
    for (int i = 1; i < c->n; i++)
        all = arena_printf(mem, "%s%s%s", all, between, c->at[i]->name);
    return all;
}
