/* Values as numbers: which are the same, which are known, which change from one iteration to the next. */
#include "ir/ops.h"
#include "passes/analysis/values.h"

enum { DEPTH_MAX = 12 };

/* Subscripts and extents are i32 and i64, and what is of either fits in both. */
static bool are_index_types(scalar a, scalar b)
{
    return (a == SC_I32 || a == SC_I64) && (b == SC_I32 || b == SC_I64);
}

/* A cast that leaves every number what it is; u8(300) is another one. */
static bool keeps_number(scalar from, scalar to)
{
    if (!scalar_is_int(from) || !scalar_is_int(to))
        return false;
    if (are_index_types(from, to) || from == to)
        return true;
    return scalar_bytes(from) < scalar_bytes(to) && (scalar_is_signed(to) || !scalar_is_signed(from));
}

const ir_value *resolved_value(const ir_module *m, const ir_value *v)
{
    for (;;) {
        if (!v->def)
            return v;
        if (v->def->code == OP_CAST && keeps_number(v->def->args[0]->type, v->type))
            v = v->def->args[0];
        else if (v->def->code == OP_SHAPE && m->extents)
            v = ir_yield_of(m->extents->body)->args[ir_field_of(v->def)->extent0 + (int)ir_shape_attr(v->def)->dim];
        else
            return v;
    }
}

static bool same_at(const ir_module *m, const ir_value *a, const ir_value *b, int depth)
{
    a = resolved_value(m, a);
    b = resolved_value(m, b);
    if (a == b)
        return true;
    if (!a->def || !b->def || a->def->code != b->def->code || depth > DEPTH_MAX)
        return false;
    const ir_op *p = a->def, *q = b->def;
    if (p->code == OP_CONST)
        return scalar_is_int(a->type) && scalar_is_int(b->type) && ir_const_attr(p)->i == ir_const_attr(q)->i;
    if (p->code == OP_MPARAM)
        return ir_mparam_attr(p)->param == ir_mparam_attr(q)->param;
    if (p->code == OP_KEY)
        return true;
    if (!op_is_pure_table(p->code) || (a->type != b->type && !are_index_types(a->type, b->type)))
        return false;
    for (int i = 0; i < p->nargs; i++)
        if (!same_at(m, p->args[i], q->args[i], depth + 1))
            return false;
    return true;
}

bool same_value(const ir_module *m, const ir_value *a, const ir_value *b)
{
    return same_at(m, a, b, 0);
}

bool const_value_of(const ir_module *m, const ir_value *v, int64_t *x)
{
    v = resolved_value(m, v);
    if (!v->def || v->def->code != OP_CONST || !scalar_is_int(v->type))
        return false;
    *x = ir_int(v);
    return true;
}

const ir_value *extent_value(const ir_func *f, const ir_field *field, int dim)
{
    if (field->array)
        return ir_array_extent(f, field, dim);
    return f->module->extents ? ir_yield_of(f->module->extents->body)->args[field->extent0 + dim] : NULL;
}

static bool depends_on(const ir_value *v, const ir_op *loop, int depth)
{
    bool inside = false;
    for (int k = 0; k < loop->nregions; k++)
        inside |= ir_region_is_ancestor(loop->regions[k], v->region);
    if (!inside)
        return false;
    if (!v->def || depth > DEPTH_MAX)
        return true;
    if (op_is_launch_constant(v->def->code))
        return false;
    if (!op_is_pure_table(v->def->code))
        return true;
    for (int i = 0; i < v->def->nargs; i++)
        if (depends_on(v->def->args[i], loop, depth + 1))
            return true;
    return false;
}

bool value_depends_on(const ir_value *v, const ir_op *loop)
{
    return depends_on(v, loop, 0);
}
