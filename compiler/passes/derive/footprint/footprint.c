/* Which parts of fields a launch of a kernel needs to stay for its adjoint, and which it writes: what a tape holds
 * against each other.
 *
 *     kernel step(t: i32) { for i in x { x[t + 1, i] = sin(x[t, i]); } }      needs [t, t] x [0, N - 1] of x, writes [t
 * + 1, t + 1] x [0, N - 1]
 *
 * A part is a box: an interval for each subscript, which comes from the kernel's arguments, params, extents, and bounds
 * of loops. Subscripts that are computed from these alone are one value, whatever the arithmetic (`t % 2`); what
 * depends on data may be anything. A function of its own (ir_func.bounds) yields the ends of all intervals, so that
 * libtkc knows before a launch what it is about to do.
 *
 * A part is `all` if the kernel surely touches each component of each of its elements; else these are among what it
 * touches at most.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/footprint/footprint.h"
#include "passes/simplify/simplify.h"

enum { BUDGET = 60000, DIMS = 8 };

/* ---- parts ---- */

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

static void add_whole(footprint *p, ir_field *f, ir_plane plane, bool write)
{
    range dims[DIMS];
    for (int d = 0; d < f->ndim; d++)
        dims[d] = footprint_whole_dim(p, f, d);
    footprint_add(p,
                  (ir_footprint){.field = f,
                                 .plane = plane,
                                 .write = write,
                                 .product = p->product,
                                 .custom = p->custom,
                                 .last = ir_field_ncomp(f) - 1},
                  dims);
}

static void add_access(footprint *p, const ir_op *op)
{
    ir_field *f = ir_field_of(op);
    const bool write = op->code != OP_LOAD;
    if (!footprint_is_wanted(p, f, ir_access_attr(op)->plane, write))
        return;
    range dims[DIMS];
    const ir_value *indices[DIMS];
    int n = 0;
    bool all = op->code != OP_ATOMIC && ir_component_known(op);
    for (int d = 0; d < f->ndim; d++) {
        dims[d] = footprint_subscript(p, op->args[d]);
        if (!dims[d].lo)
            dims[d] = footprint_whole_dim(p, f, d);
        all = all && dims[d].exact && !footprint_is_among(indices, n, dims[d].index);
        if (dims[d].index)
            indices[n++] = dims[d].index;
    }
    all = all && always_runs(op, indices, n);
    const bool known = ir_component_known(op);
    const int comp = known ? (int)ir_int(op->args[f->ndim]) : 0, last = ir_field_ncomp(f) - 1;
    if (known && comp > last)
        return; /* fails, or never runs */
    footprint_add(p,
                  (ir_footprint){.field = f,
                                 .plane = ir_access_attr(op)->plane,
                                 .write = write,
                                 .all = all,
                                 .first = comp,
                                 .last = known ? comp : last},
                  dims);
}

/* ---- what is there ---- */

static void add_effects(footprint *p, const effects *e, bool writes)
{
    for (size_t i = 0; i < p->m->nfields; i++)
        for (int plane = IR_DATA; plane < IR_PLANES; plane++) {
            const unsigned bits = e->at[ir_storage_of(p->m->fields.at[i], (ir_plane)plane)] &
                                  (writes ? OP_STORES | OP_ADDS : OP_READS);
            if (bits && footprint_is_wanted(p, p->m->fields.at[i], (ir_plane)plane, writes))
                add_whole(p, p->m->fields.at[i], (ir_plane)plane, writes);
        }
}

static void add_call(footprint *p, const ir_op *op, bool writes)
{
    effects e = effects_of_op(p->m, op);
    p->custom = e.custom && !writes;
    add_effects(p, &e, writes);
    p->custom = false;
    effects_free(&e);
}

static void find_write(ir_op *op, void *ctx)
{
    if (op_writes_field(op->code))
        add_access(ctx, op);
    else if (op->code == OP_CALL || op->code == OP_ADJOINT)
        add_call(ctx, op, true);
}

static const ir_op *primal_of(const footprint *p, const ir_op *op)
{
    while (op && op->origin)
        op = op->origin;
    return op && op->region->func == p->kernel && op->code == OP_LOAD ? op : NULL;
}

/* A load that is left in the adjoint is of what a load of the primal read, or of anything: then it may be of a function
 * that the program wrote. */
static void find_need(ir_op *op, void *ctx)
{
    footprint *p = ctx;
    if (op->code == OP_CALL || op->code == OP_ADJOINT) {
        add_call(p, op, false);
        return;
    }
    if (op->code != OP_LOAD || !footprint_is_wanted(p, ir_field_of(op), ir_access_attr(op)->plane, false))
        return;
    for (const ir_op *at = op; at; at = at->twin) {
        const ir_op *primal = primal_of(p, at);
        if (primal && ir_field_of(primal) == ir_field_of(op) &&
            ir_access_attr(primal)->plane == ir_access_attr(op)->plane)
            add_access(p, primal);
        else {
            p->custom = true;
            add_whole(p, ir_field_of(op), ir_access_attr(op)->plane, false);
            p->custom = false;
        }
    }
}

/* The second-order product reads what the adjoint reads, and its duals, which libtkc takes for granted. */
static void find_needs_of_product(footprint *p)
{
    effects e = effects_of_region(p->m, p->kernel->ad.hvp->body);
    for (size_t k = 0; k < p->found.len; k++)
        for (int plane = IR_DATA; plane < IR_PLANES && !p->found.at[k].write; plane++)
            e.at[ir_storage_of(p->found.at[k].field, (ir_plane)plane)] = 0;
    p->product = true;
    add_effects(p, &e, false);
    effects_free(&e);
}

static void find_parts(footprint *p)
{
    const ir_func *k = p->kernel;
    ir_walk(k->body, find_write, p);
    if (k->ad.custom_grad)
        footprint_of_custom(p);
    if (!k->ad.grad || k->ad.custom_grad)
        return;
    ir_walk(k->ad.grad->body, find_need, p);
    if (k->ad.hvp)
        find_needs_of_product(p);
}

/* ---- the pass ---- */

static ir_func *bounds_of(const ir_func *f)
{
    ir_module *m = f->module;
    ir_func *w = ir_func_create(m, IR_KERNEL, f->name);
    m->funcs.len--; /* no function of the program */
    w->loc = f->loc;
    w->ad.primal = (ir_func *)f;
    for (int i = 0; i < f->body->nparams; i++)
        ir_region_param(w->body, f->body->params[i]->type, f->body->params[i]->name);
    return w;
}

static void find_in_kernel(ir_func *f, const bool *written, const bool *needed)
{
    footprint p = {.kernel = f,
                   .m = f->module,
                   .left = BUDGET,
                   .written = written,
                   .needed = needed,
                   .own = effects_of_region(f->module, f->body)};
    ir_func *bounds = bounds_of(f);
    p.known = ARENA_ARRAY(p.m->mem, range, f->next_value + 1);
    p.is_known = ARENA_ARRAY(p.m->mem, bool, f->next_value + 1);
    p.b = (ir_builder){.func = bounds, .region = bounds->body, .loc = f->loc};
    find_parts(&p);
    if (p.found.len) {
        footprint_simplify(&p);
        f->launch.bounds = bounds;
        f->launch.nparts = (int)p.found.len;
        f->launch.parts = ARENA_ARRAY(f->module->mem, ir_footprint, p.found.len);
        memcpy(f->launch.parts, p.found.at, p.found.len * sizeof *f->launch.parts);
    }
    vec_free(&p.found);
    vec_free(&p.ends);
    effects_free(&p.own);
}

/* Marks the fields whose data, or duals, a function treats so. */
static void mark(const ir_module *m, const ir_func *f, unsigned bits, bool duals, bool *fields)
{
    effects e = f ? effects_of_region(m, f->body) : (effects){.at = NULL};
    for (size_t i = 0; i < m->nfields && f; i++)
        fields[i] = fields[i] || (e.at[ir_storage_of(m->fields.at[i], IR_DATA)] & bits) ||
                    (duals && (e.at[ir_storage_of(m->fields.at[i], ir_tangent_of(IR_DATA))] & bits));
    effects_free(&e);
}

/* ---- what is left of them ---- */

static bool still_reads(const ir_module *m, const ir_func *f, const ir_footprint *p)
{
    bool found = false;
    for (int k = 0; k < 2; k++) {
        const ir_func *adjoint = k ? f->ad.hvp : f->ad.grad;
        effects e = adjoint ? effects_of_region(m, adjoint->body) : (effects){.at = NULL};
        found |= adjoint && (e.at[ir_storage_of(p->field, p->plane)] & OP_READS);
        effects_free(&e);
    }
    return found;
}

static void keep_parts(ir_func *f, const bool *keep)
{
    ir_op *yield = ir_yield_of(f->launch.bounds->body);
    int n = 0, at = 0;
    for (int k = 0; k < f->launch.nparts; k++) {
        const int width = 2 * f->launch.parts[k].field->ndim + 2;
        for (int i = 0; i < width && !keep[k]; i++)
            ir_remove_arg(yield, at);
        at += keep[k] ? width : 0;
        if (keep[k])
            f->launch.parts[n++] = f->launch.parts[k];
    }
    f->launch.nparts = n;
    f->launch.bounds->nresults = at;
    if (n == 0)
        f->launch.bounds = NULL;
    else
        pass_simplify(f->launch.bounds);
}

static void keep_read(const ir_module *m, ir_func *f)
{
    bool *keep = ARENA_ARRAY(m->mem, bool, f->launch.nparts + 1);
    for (int k = 0; k < f->launch.nparts; k++)
        keep[k] = f->launch.parts[k].write || still_reads(m, f, &f->launch.parts[k]);
    keep_parts(f, keep);
}

/* ---- the pass ---- */

bool pass_parts(ir_module *m)
{
    bool *written = ARENA_ARRAY(m->mem, bool, m->fields.len + 1),
         *needed = ARENA_ARRAY(m->mem, bool, m->fields.len + 1);
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if (!ir_is_kernel(f))
            continue;
        mark(m, f, OP_STORES | OP_ADDS, false, written);
        mark(m, f->ad.custom_grad ? f->ad.custom_grad : f->ad.grad, OP_READS, true, needed);
        mark(m, f->ad.hvp, OP_READS, true, needed);
    }
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *f = m->funcs.at[i];
        if (f->launch.bounds && f->classed)
            keep_read(m, f);
        else if (ir_is_kernel(f) && !f->classed)
            find_in_kernel(f, written, needed);
    }
    return true;
}
