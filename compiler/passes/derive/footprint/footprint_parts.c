/* Parts: the boxes of accesses, and of whole fields. */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/footprint/footprint.h"

enum { DIMS = 8 };

/* The extent of an array of the host is an argument, a param or a constant. */
static ir_value *extent_of(footprint *p, ir_field *f, int d)
{
    const int param = f->array ? f->dims[d].param : -1;
    return param < 0 ? ir_shape(&p->b, f, d) : ir_cast(&p->b, SC_I64, p->b.region->params[p->kernel->sig[param].first]);
}

range footprint_whole_dim(footprint *p, ir_field *f, int d)
{
    ir_value *first = ir_const_i(&p->b, SC_I64, 0), *one = ir_const_i(&p->b, SC_I64, 1),
             *last = ir_op2(&p->b, OP_SUB, extent_of(p, f, d), one);
    return (range){first, last, NULL, false, false};
}

bool footprint_is_among(const ir_value *const *indices, int n, const ir_value *v)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == v)
            return true;
    return false;
}

void footprint_add(footprint *p, ir_part part, const range *dims)
{
    if ((part.what & IR_PART_WRITES) && part.field->saved && part.plane == IR_DATA)
        part.what |= IR_PART_SAVED;
    vec_push(&p->found, part);
    for (int d = 0; d < part.field->ndim; d++)
        vec_push(&p->ends, ((ends){{dims[d].lo, dims[d].hi}, 0}));
}

/* Whether all iterations of what stands around op come, and each index is one of these subscripts. */
static bool always_runs(const ir_op *op, const ir_value *const *indices, int n)
{
    for (op = op->region->parent; op; op = op->region->parent) {
        const int dims = op->code == OP_TASK ? ir_task_attr(op)->ndim
                         : op->code == OP_LOOP && ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond ? 1
                                                                                                       : 0;
        if (dims == 0)
            return false;
        for (int d = 0; d < dims; d++)
            if (!footprint_is_among(indices, n, op->regions[0]->params[d]))
                return false;
    }
    return true;
}

void footprint_add_whole(footprint *p, ir_field *f, ir_plane plane, unsigned what)
{
    range dims[DIMS];
    for (int d = 0; d < f->ndim; d++)
        dims[d] = footprint_whole_dim(p, f, d);
    footprint_add(p, (ir_part){.field = f, .plane = plane, .what = what, .last = ir_field_ncomp(f) - 1}, dims);
}

bool footprint_of_access(footprint *p, const ir_op *op, ir_part *part, range *dims)
{
    ir_field *f = ir_field_of(op);
    const ir_value *indices[DIMS];
    int n = 0;
    const bool known = ir_component_known(op);
    bool all = op->code != OP_ATOMIC && known;
    for (int d = 0; d < f->ndim; d++) {
        dims[d] = footprint_subscript(p, op->args[d]);
        if (!dims[d].lo)
            dims[d] = footprint_whole_dim(p, f, d);
        all = all && dims[d].exact && !footprint_is_among(indices, n, dims[d].index);
        if (dims[d].index)
            indices[n++] = dims[d].index;
    }
    all = all && always_runs(op, indices, n);
    const int comp = known ? (int)ir_int(op->args[f->ndim]) : 0, last = ir_field_ncomp(f) - 1;
    *part = (ir_part){.field = f,
                      .plane = ir_access_attr(op)->plane,
                      .what = all ? IR_PART_ALL : 0,
                      .first = comp,
                      .last = known ? comp : last};
    return comp <= last; /* else it fails, or never runs */
}

bool footprint_may_need(const ir_field *f, ir_plane plane)
{
    return !f->scratch && !ir_plane_is_adjoint(plane);
}

void footprint_add_effects(footprint *p, const effects *e, unsigned touches, unsigned what)
{
    for (size_t i = 0; i < p->m->fields.len; i++)
        for (int plane = IR_DATA; plane < IR_PLANES; plane++) {
            ir_field *f = p->m->fields.at[i];
            const unsigned bits = e->at[ir_storage_of(f, (ir_plane)plane)] & touches;
            if (bits && (!what || footprint_may_need(f, (ir_plane)plane)))
                footprint_add_whole(p, f, (ir_plane)plane, what ? what : bits);
        }
}
