/* The footprint of a kernel: which parts of fields a launch of it finds, stores, adds to, and needs to stay for its
 * adjoint. Tapes compare a few of these parts, those that a launch of the module may write and an adjoint needs.
 *
 *     kernel step(t: i32) { for i in x { x[t + 1, i] = sin(x[t, i]); } }
 *
 * finds and needs [t, t] x [0, N - 1] of x, and stores [t + 1, t + 1] x [0, N - 1].
 *
 * A part is a box: an interval for each subscript, which comes from the kernel's arguments, params, extents, and bounds
 * of loops. Subscripts that are computed from these alone are one value, whatever the arithmetic (`t % 2`); what
 * depends on data may be anything. Functions of their own yield the ends of all intervals (ir_launch.bounds, beside),
 * so that libtkc knows before a launch what it is about to do.
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

/* ---- what is there ---- */

static void add_access(footprint *p, const ir_op *op, unsigned what)
{
    ir_part part;
    range dims[DIMS];
    if (!footprint_of_access(p, op, &part, dims))
        return;
    part.what |= what;
    footprint_add(p, part, dims);
}

static void add_call(footprint *p, const ir_op *op, unsigned touches, unsigned what)
{
    effects e = effects_of_op(p->m, op);
    footprint_add_effects(p, &e, touches, what && e.custom ? what | IR_PART_CUSTOM : what);
    effects_free(&e);
}

static void find_write(ir_op *op, void *ctx)
{
    if (op_writes_field(op->code))
        add_access(ctx, op, op_touches(op->code) & IR_PART_WRITES);
    else if (op->code == OP_CALL || op->code == OP_ADJOINT)
        add_call(ctx, op, OP_STORES | OP_ADDS, 0);
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
        add_call(p, op, OP_READS, IR_PART_NEEDED);
        return;
    }
    if (op->code != OP_LOAD || !footprint_may_need(ir_field_of(op), ir_access_attr(op)->plane))
        return;
    for (const ir_op *at = op; at; at = at->twin) {
        const ir_op *primal = primal_of(p, at);
        if (primal && ir_field_of(primal) == ir_field_of(op) &&
            ir_access_attr(primal)->plane == ir_access_attr(op)->plane)
            add_access(p, primal, IR_PART_NEEDED);
        else
            footprint_add_whole(p, ir_field_of(op), ir_access_attr(op)->plane, IR_PART_NEEDED | IR_PART_CUSTOM);
    }
}

/* The second-order product reads what the adjoint reads, and its duals, which libtkc takes for granted. */
static void find_needs_of_product(footprint *p)
{
    effects e = effects_of_region(p->m, p->kernel->ad.hvp->body);
    for (size_t k = 0; k < p->found.len; k++)
        for (int plane = IR_DATA; plane < IR_PLANES && (p->found.at[k].what & IR_PART_NEEDED); plane++)
            e.at[ir_storage_of(p->found.at[k].field, (ir_plane)plane)] = 0;
    footprint_add_effects(p, &e, OP_READS, IR_PART_NEEDED_BY_PRODUCT);
    effects_free(&e);
}

static void find_parts(footprint *p)
{
    const ir_func *k = p->kernel;
    ir_walk(k->body, find_write, p);
    if (k->ad.custom_grad)
        footprint_of_custom(p);
    else if (k->ad.grad)
        ir_walk(k->ad.grad->body, find_need, p);
    if (k->ad.grad && !k->ad.custom_grad && k->ad.hvp)
        find_needs_of_product(p);
    footprint_of_reads(p);
}

/* ---- in a kernel ---- */

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

static void find_in_kernel(ir_func *f)
{
    footprint p = {.kernel = f, .m = f->module, .left = BUDGET, .own = effects_of_region(f->module, f->body)};
    ir_func *bounds = bounds_of(f);
    p.known = ARENA_ARRAY(p.m->mem, range, f->next_value + 1);
    p.is_known = ARENA_ARRAY(p.m->mem, bool, f->next_value + 1);
    p.b = (ir_builder){.func = bounds, .region = bounds->body, .loc = f->loc};
    find_parts(&p);
    if (p.found.len) {
        footprint_simplify(&p);
        for (size_t k = 0; k < p.found.len; k++)
            if (p.found.at[k].what & IR_PART_SAVED)
                p.found.at[k].what |= ir_touches(f, p.found.at[k].field); /* by the adjoint, so far */
        f->launch.bounds = bounds;
        f->launch.nparts = (int)p.found.len;
        f->launch.parts = ARENA_ARRAY(f->module->mem, ir_part, p.found.len);
        memcpy(f->launch.parts, p.found.at, p.found.len * sizeof *f->launch.parts);
    }
    vec_free(&p.found);
    vec_free(&p.ends);
    effects_free(&p.own);
}

/* ---- what is left of them ---- */

/* Marks the fields whose data, or duals, a function treats so. */
static void mark(const ir_module *m, const ir_func *f, unsigned bits, bool duals, bool *fields)
{
    effects e = f ? effects_of_region(m, f->body) : (effects){.at = NULL};
    for (size_t i = 0; i < m->nfields && f; i++)
        fields[i] = fields[i] || (e.at[ir_storage_of(m->fields.at[i], IR_DATA)] & bits) ||
                    (duals && (e.at[ir_storage_of(m->fields.at[i], ir_tangent_of(IR_DATA))] & bits));
    effects_free(&e);
}

static void add_reads(const ir_module *m, const ir_func *f, effects *to)
{
    effects e = f ? effects_of_region(m, f->body) : (effects){.at = NULL};
    for (size_t i = 0; i < ir_storage_count(m) && f; i++)
        to->at[i] |= e.at[i] & OP_READS ? IR_PART_NEEDED : 0;
    effects_free(&e);
}

/* Later passes may remove loads, and turn sums into loads and stores: a write stays as the program has it as long as
 * the kernel writes there. False: the part goes. */
static bool is_left(ir_part *p, unsigned left)
{
    enum { NEEDS = IR_PART_NEEDED | IR_PART_NEEDED_BY_PRODUCT, TOUCHES = IR_PART_READS | IR_PART_WRITES };
    p->what &= ~(TOUCHES & ~(left & IR_PART_WRITES ? left | IR_PART_WRITES : left));
    if (!(left & IR_PART_NEEDED))
        p->what &= ~(NEEDS | IR_PART_CUSTOM | IR_PART_PERHAPS);
    return (p->what & (TOUCHES | NEEDS | IR_PART_SAVED)) != 0;
}

/* Data that a launch of the module may write and an adjoint may need; what is overwritten of saved fields is kept. */
static bool is_compared(const ir_part *p, const bool *written, const bool *needed)
{
    const ir_field *f = p->field;
    if (f->array || !footprint_may_need(f, p->plane) || (p->plane == IR_DATA && f->saved))
        return false;
    return ((p->what & IR_PART_WRITES) && needed[f->index]) ||
           ((p->what & (IR_PART_NEEDED | IR_PART_NEEDED_BY_PRODUCT)) && (p->plane != IR_DATA || written[f->index]));
}

/* A function that yields the ends of all parts then yields those of these parts alone; NULL: none. */
static ir_func *cut(ir_func *bounds, const ir_launch *l, const bool *stays)
{
    int at = 0;
    for (int k = 0; k < l->nparts; k++) {
        const int width = 2 * l->parts[k].field->ndim + 2;
        for (int i = 0; i < width && !stays[k]; i++)
            ir_remove_arg(ir_yield_of(bounds->body), at);
        at += stays[k] ? width : 0;
    }
    if (at == 0)
        return NULL;
    bounds->nresults = at;
    pass_simplify(bounds);
    return bounds;
}

static void settle(ir_func *f, const bool *written, const bool *needed)
{
    ir_module *m = f->module;
    ir_launch *l = &f->launch;
    bool *in[2] = {ARENA_ARRAY(m->mem, bool, l->nparts + 1), ARENA_ARRAY(m->mem, bool, l->nparts + 1)};
    ir_part *parts = ARENA_ARRAY(m->mem, ir_part, l->nparts + 1);
    effects e = effects_of_region(m, f->body);
    add_reads(m, f->ad.grad, &e);
    add_reads(m, f->ad.hvp, &e);
    for (int k = 0; k < l->nparts; k++) {
        ir_part *p = &l->parts[k];
        const bool left = is_left(p, e.at[ir_storage_of(p->field, p->plane)]);
        p->compared = is_compared(p, written, needed);
        in[p->compared][k] = left;
    }
    effects_free(&e);
    ir_func *others = ir_clone_func(l->bounds, f->name);
    m->funcs.len--;
    l->bounds = cut(l->bounds, l, in[1]);
    l->beside = cut(others, l, in[0]);
    int n = 0;
    for (int compared = 1; compared >= 0; compared--)
        for (int k = 0; k < l->nparts; k++)
            if (in[compared][k])
                parts[n++] = l->parts[k];
    l->parts = parts;
    l->nparts = n;
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
            settle(f, written, needed);
        else if (ir_is_kernel(f) && !f->classed)
            find_in_kernel(f);
    }
    return true;
}
