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
#include "passes/derive/parts.h"
#include "passes/simplify/simplify.h"

enum { MAX_DEPTH = 24, BUDGET = 60000, BUDGET_EACH = 300 /* of a subscript */, DIMS = 8 };

/* ---- what is known before the launch ---- */

static bool is_fixed_load(const parts *p, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    return op->code == OP_LOAD && ir_access_attr(op)->plane == IR_DATA && f->ndim == 0 && !f->array &&
           ir_component_known(op) && (p->own.at[ir_storage_of(f, IR_DATA)] & (OP_STORES | OP_ADDS)) == 0;
}

/* v as it is on entry, computed in `bounds`; NULL if it is no integer of arguments, params, extents and single numbers
 * in memory that stay. Floats are left out: they might be rounded in another way than in the kernel. */
static ir_value *entry_value(parts *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if ((!scalar_is_int(v->type) && v->type != SC_BOOL) || depth > MAX_DEPTH || --p->budget < 0)
        return NULL;
    if (!op)
        return v->region == p->kernel->body ? p->b.region->params[v->index] : NULL;
    if (op->code == OP_CONST)
        return ir_const_i(&p->b, v->type, ir_const_attr(op)->i);
    if (op->code == OP_MPARAM)
        return ir_mparam_value(&p->b, ir_mparam_attr(op)->param);
    if (op->code == OP_SHAPE)
        return ir_field_of(op)->array ? NULL : ir_shape(&p->b, ir_field_of(op), (int)ir_shape_attr(op)->dim);
    if (is_fixed_load(p, op)) {
        ir_value *comp = ir_const_i(&p->b, SC_I64, ir_int(op->args[0]));
        return ir_load(&p->b, ir_field_of(op), IR_DATA, NULL, comp);
    }
    if (!op_is_pure_table(op->code) || op->nargs > 3 || op->nregions)
        return NULL;
    ir_value *args[3];
    for (int i = 0; i < op->nargs; i++) {
        args[i] = entry_value(p, op->args[i], depth + 1);
        if (!args[i])
            return NULL;
    }
    return op->code == OP_CAST ? ir_cast(&p->b, v->type, args[0])
                               : ir_insert(&p->b, op->code, op->nargs, args, 1, &v->type, 0)->res[0];
}

ir_value *parts_entry_value(parts *p, const ir_value *v)
{
    p->budget = BUDGET_EACH;
    return entry_value(p, v, 0);
}

static ir_value *wide(parts *p, ir_value *v)
{
    return ir_cast(&p->b, SC_I64, v);
}

static ir_value *number(parts *p, int64_t x)
{
    return ir_const_i(&p->b, SC_I64, x);
}

/* ---- intervals ---- */

static const range unknown;

static range range_of(parts *p, const ir_value *v, int depth);

static range range_of_index(parts *p, const ir_value *v, int depth)
{
    const ir_op *loop = v->region->parent;
    const bool task = loop && loop->code == OP_TASK;
    if (!task && !(loop && loop->code == OP_LOOP && ir_loop_attr(loop)->bounded && v->region == loop->regions[0] &&
                   v->index == 0))
        return unknown;
    const int dim = task ? v->index : 0;
    if (task && dim >= ir_task_attr(loop)->ndim)
        return unknown;
    const range lo = range_of(p, loop->args[2 * dim], depth + 1), hi = range_of(p, loop->args[2 * dim + 1], depth + 1);
    if (!lo.lo || !hi.hi)
        return unknown;
    return (range){lo.lo, ir_op2(&p->b, OP_SUB, hi.hi, number(p, 1)), v, lo.lo == lo.hi && hi.lo == hi.hi,
                   lo.wraps || hi.wraps};
}

static range sum(parts *p, const ir_op *op, int depth)
{
    const range a = range_of(p, op->args[0], depth + 1), b = range_of(p, op->args[1], depth + 1);
    const bool minus = op->code == OP_SUB;
    if (!a.lo || !b.lo)
        return unknown;
    const bool single = !a.index || !b.index;
    return (range){ir_op2(&p->b, op->code, a.lo, minus ? b.hi : b.lo),
                   ir_op2(&p->b, op->code, a.hi, minus ? b.lo : b.hi), a.index ? a.index : b.index,
                   a.exact && b.exact && single, a.wraps || b.wraps};
}

static range scaled(parts *p, range a, int64_t by, scalar type)
{
    if (!a.lo || (a.index && (by > INT32_MAX || by < INT32_MIN)))
        return unknown;
    ir_value *lo = ir_op2(&p->b, OP_MUL, by < 0 ? a.hi : a.lo, number(p, by)),
             *hi = ir_op2(&p->b, OP_MUL, by < 0 ? a.lo : a.hi, number(p, by));
    const bool plain = by == 1 || by == -1;
    return (range){lo, hi, a.index, a.exact && plain, a.wraps || (!plain && type != SC_I64)};
}

/* Of x and y, one after the other: both take of one budget, and C does not say which argument is computed first. */
static range joined(parts *p, ir_opcode low, const ir_value *x, ir_opcode high, const ir_value *y, int depth)
{
    const range b = range_of(p, y, depth + 1), a = range_of(p, x, depth + 1);
    if (!a.lo || !b.lo || a.wraps || b.wraps)
        return unknown;
    return (range){ir_op2(&p->b, low, a.lo, b.lo), ir_op2(&p->b, high, a.hi, b.hi), a.index ? a.index : b.index, false,
                   false};
}

/* A floored or truncated remainder by a positive number. */
static range remainder_of(parts *p, const ir_op *op)
{
    const ir_value *by = op->args[1];
    if (!ir_is_const(by) || ir_int(by) <= 0)
        return unknown;
    const int64_t top = ir_int(by) - 1;
    return (range){number(p, op->code == OP_MOD ? 0 : -top), number(p, top), by, false, false};
}

static range range_of_op(parts *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return sum(p, op, depth);
    case OP_NEG:
        return scaled(p, range_of(p, op->args[0], depth + 1), -1, v->type);
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (ir_is_const(op->args[i]))
                return scaled(p, range_of(p, op->args[1 - i], depth + 1), ir_int(op->args[i]), v->type);
        return unknown;
    case OP_MOD:
    case OP_REM:
        return remainder_of(p, op);
    case OP_MIN:
    case OP_MAX:
        return joined(p, op->code, op->args[0], op->code, op->args[1], depth);
    case OP_SELECT:
        return joined(p, OP_MIN, op->args[1], OP_MAX, op->args[2], depth);
    case OP_IF:
        return joined(p, OP_MIN, ir_yield_of(op->regions[0])->args[v->index], OP_MAX,
                      ir_yield_of(op->regions[1])->args[v->index], depth);
    case OP_CAST: {
        const scalar from = op->args[0]->type;
        if (from != SC_I64 && from != SC_I32)
            return unknown;
        range a = range_of(p, op->args[0], depth + 1);
        a.wraps = a.wraps || (from == SC_I64 && v->type == SC_I32 && !value_fits_i32(op->args[0]));
        return a;
    }
    default:
        return unknown;
    }
}

static range range_of(parts *p, const ir_value *v, int depth)
{
    if (!scalar_is_int(v->type) || depth > MAX_DEPTH || --p->budget < 0)
        return unknown;
    ir_value *one = entry_value(p, v, depth);
    if (one) {
        one = wide(p, one);
        return (range){one, one, NULL, true, false};
    }
    if (!v->def)
        return range_of_index(p, v, depth);
    if (v->type != SC_I64 && v->type != SC_I32)
        return unknown;
    return range_of_op(p, v, depth);
}

/* ---- parts ---- */

range parts_subscript(parts *p, const ir_value *v)
{
    if (!p->is_known[v->id]) {
        const int budget = p->left < BUDGET_EACH ? p->left : BUDGET_EACH;
        p->budget = budget;
        p->known[v->id] = range_of(p, v, 0);
        p->is_known[v->id] = true;
        p->left -= budget - (p->budget > 0 ? p->budget : 0);
    }
    return p->known[v->id];
}

range parts_whole_dim(parts *p, ir_field *f, int d)
{
    ir_value *first = number(p, 0), *one = number(p, 1), *last = ir_op2(&p->b, OP_SUB, ir_shape(&p->b, f, d), one);
    return (range){first, last, NULL, false, false};
}

bool parts_is_among(const ir_value *const *indices, int n, const ir_value *v)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == v)
            return true;
    return false;
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
            if (!parts_is_among(indices, n, op->regions[0]->params[d]))
                return false;
    }
    return true;
}

void parts_add(parts *p, ir_part part, const range *dims)
{
    vec_push(&p->found, part);
    for (int d = 0; d < part.field->ndim; d++)
        vec_push(&p->ends, ((ends){{dims[d].lo, dims[d].hi}, 0}));
}

static void add_whole(parts *p, ir_field *f, ir_plane plane, bool write)
{
    range dims[DIMS];
    for (int d = 0; d < f->ndim; d++)
        dims[d] = parts_whole_dim(p, f, d);
    parts_add(p,
              (ir_part){.field = f,
                        .plane = plane,
                        .write = write,
                        .product = p->product,
                        .custom = p->custom,
                        .last = ir_field_ncomp(f) - 1},
              dims);
}

bool parts_is_wanted(const parts *p, const ir_field *f, ir_plane plane, bool write)
{
    if (f->array || f->scratch || (plane != IR_DATA && plane != IR_DUAL) || (plane == IR_DATA && f->saved))
        return false;
    return write ? p->needed[f->index] : plane == IR_DUAL || p->written[f->index];
}

static void add_access(parts *p, const ir_op *op)
{
    ir_field *f = ir_field_of(op);
    const bool write = op->code != OP_LOAD;
    if (!parts_is_wanted(p, f, ir_access_attr(op)->plane, write))
        return;
    range dims[DIMS];
    const ir_value *indices[DIMS];
    int n = 0;
    bool all = op->code != OP_ATOMIC && ir_component_known(op);
    for (int d = 0; d < f->ndim; d++) {
        dims[d] = parts_subscript(p, op->args[d]);
        if (!dims[d].lo)
            dims[d] = parts_whole_dim(p, f, d);
        all = all && dims[d].exact && !parts_is_among(indices, n, dims[d].index);
        if (dims[d].index)
            indices[n++] = dims[d].index;
    }
    all = all && always_runs(op, indices, n);
    const bool known = ir_component_known(op);
    const int comp = known ? (int)ir_int(op->args[f->ndim]) : 0, last = ir_field_ncomp(f) - 1;
    if (known && comp > last)
        return; /* fails, or never runs */
    parts_add(p,
             (ir_part){.field = f,
                       .plane = ir_access_attr(op)->plane,
                       .write = write,
                       .all = all,
                       .first = comp,
                       .last = known ? comp : last},
             dims);
}

/* ---- what is there ---- */

static void add_effects(parts *p, const effects *e, bool writes)
{
    for (size_t i = 0; i < p->m->nfields; i++)
        for (int plane = IR_DATA; plane <= IR_DUAL; plane += IR_DUAL - IR_DATA) {
            const unsigned bits = e->at[ir_storage_of(p->m->fields.at[i], (ir_plane)plane)] &
                                  (writes ? OP_STORES | OP_ADDS : OP_READS);
            if (bits && parts_is_wanted(p, p->m->fields.at[i], (ir_plane)plane, writes))
                add_whole(p, p->m->fields.at[i], (ir_plane)plane, writes);
        }
}

static void add_call(parts *p, const ir_op *op, bool writes)
{
    effects e = effects_of_op(p->m, op);
    add_effects(p, &e, writes);
    effects_free(&e);
}

static void find_write(ir_op *op, void *ctx)
{
    if (op_writes_field(op->code))
        add_access(ctx, op);
    else if (op->code == OP_CALL || op->code == OP_ADJOINT)
        add_call(ctx, op, true);
}

static const ir_op *primal_of(const parts *p, const ir_op *op)
{
    while (op && op->origin)
        op = op->origin;
    return op && op->region->func == p->kernel && op->code == OP_LOAD ? op : NULL;
}

static void find_custom(ir_op *op, void *ctx)
{
    bool *found = ctx;
    if (op->code == OP_CALL && !*found) {
        *found = ir_callee_of(op)->ad.custom_of != NULL;
        ir_walk(ir_callee_of(op)->body, find_custom, found);
    }
}

/* A load that is left in the adjoint is of what a load of the primal read, or of anything: then it may be of a function
 * that the program wrote. */
static void find_need(ir_op *op, void *ctx)
{
    parts *p = ctx;
    if (op->code == OP_CALL || op->code == OP_ADJOINT) {
        find_custom(op, &p->custom);
        add_call(p, op, false);
        p->custom = false;
        return;
    }
    if (op->code != OP_LOAD || !parts_is_wanted(p, ir_field_of(op), ir_access_attr(op)->plane, false))
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
static void find_needs_of_product(parts *p)
{
    effects e = effects_of_region(p->m, p->kernel->ad.hvp->body);
    for (size_t k = 0; k < p->found.len; k++)
        for (int plane = IR_DATA; plane <= IR_DUAL && !p->found.at[k].write; plane++)
            e.at[ir_storage_of(p->found.at[k].field, plane)] = 0;
    p->product = true;
    add_effects(p, &e, false);
    effects_free(&e);
}

static void find_parts(parts *p)
{
    const ir_func *k = p->kernel;
    ir_walk(k->body, find_write, p);
    if (k->ad.custom_grad)
        parts_of_custom(p);
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
    parts p = {.kernel = f,
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
        parts_simplify(&p);
        f->launch.bounds = bounds;
        f->launch.nparts = (int)p.found.len;
        f->launch.parts = ARENA_ARRAY(f->module->mem, ir_part, p.found.len);
        memcpy(f->launch.parts, p.found.at, p.found.len * sizeof *f->launch.parts);
    }
    vec_free(&p.found);
    vec_free(&p.ends);
    effects_free(&p.own);
}

/* Marks the fields whose data, or duals, a function treats so. */
static void mark(const ir_module *m, const ir_func *f, unsigned bits, bool duals, bool *fields)
{
    effects e = f ? effects_of_region(m, f->body) : (effects){NULL, false, false};
    for (size_t i = 0; i < m->nfields && f; i++)
        fields[i] = fields[i] || (e.at[ir_storage_of(m->fields.at[i], IR_DATA)] & bits) ||
                    (duals && (e.at[ir_storage_of(m->fields.at[i], IR_DUAL)] & bits));
    effects_free(&e);
}

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
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i]))
            find_in_kernel(m->funcs.at[i], written, needed);
    return true;
}

/* ---- what is left of them ---- */

static bool still_reads(const ir_module *m, const ir_func *f, const ir_part *p)
{
    bool found = false;
    for (int k = 0; k < 2; k++) {
        const ir_func *adjoint = k ? f->ad.hvp : f->ad.grad;
        effects e = adjoint ? effects_of_region(m, adjoint->body) : (effects){NULL, false, false};
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

bool pass_parts_left(ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *f = m->funcs.at[i];
        if (!f->launch.bounds)
            continue;
        bool *keep = ARENA_ARRAY(m->mem, bool, f->launch.nparts + 1);
        for (int k = 0; k < f->launch.nparts; k++)
            keep[k] = f->launch.parts[k].write || still_reads(m, f, &f->launch.parts[k]);
        keep_parts(f, keep);
    }
    return true;
}
