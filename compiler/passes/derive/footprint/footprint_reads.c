/* What a launch reads of the data that it finds, and what an adjoint that the program wrote reads of the data that its
 * kernel left.
 *
 *     kernel back(t: i32) grad_for(step) { clear(); fill(t); move.grad(t); }       needs what fill reads, and no grid
 *
 * It may store before it reads, to compute again what was not kept. Where a store surely runs, and to every element of
 * a box, loads behind it in the same region find nothing of that box: `bounds` compares the boxes, so that extents and
 * conditions that only the launch tells decide there. What such an adjoint needs otherwise of what it stores it needs
 * perhaps.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/footprint/footprint.h"

enum { DIMS = 8, MAX_COMPARED = 2000 /* boxes of a kernel */ };

/* A box that a statement stores in any case. */
typedef struct cover {
    ir_field *field;
    ir_plane plane;
    range dims[DIMS];
    ir_value *when; /* a condition in `bounds`; NULL: always */
} cover;

typedef struct finds {
    footprint *p;
    unsigned what; /* is done to what it finds */
    effects own;   /* of the function */
    int compared;
    VEC(cover) covers; /* that stand before it */
} finds;

/* ---- what is surely stored ---- */

static ir_value *both(footprint *p, ir_value *a, ir_value *b)
{
    return a && b ? ir_op2(&p->b, OP_AND, a, b) : a ? a : b;
}

/* Whether all that stands around op, up to a region, runs whenever that does, but for conditions that are known on
 * entry; the indices there are these subscripts, one for each. */
static bool surely_runs(finds *c, const ir_op *op, const ir_region *up_to, const ir_value *const *indices, int n,
                        ir_value **when)
{
    int own = 0;
    for (const ir_region *r = op->region; r != up_to; r = r->parent->region) {
        const ir_op *around = r->parent;
        const int dims = around->code == OP_TASK ? ir_task_attr(around)->ndim
                         : around->code == OP_LOOP && ir_loop_attr(around)->bounded && !ir_loop_attr(around)->cond ? 1
                                                                                                                   : 0;
        ir_value *cond = around->code == OP_IF ? footprint_entry_value(c->p, around->args[0]) : NULL;
        if (cond && r == around->regions[1])
            cond = ir_op1(&c->p->b, OP_NOT, cond);
        if (dims == 0 && !cond)
            return false;
        for (int d = 0; d < dims; d++)
            if (!footprint_is_among(indices, n, r->params[d]))
                return false;
        own += dims;
        *when = both(c->p, *when, cond);
    }
    return own == n; /* further ones are of loops around the region, whose other iterations come later */
}

static bool same_place(const ir_op *a, const ir_op *b)
{
    bool same = b->code == OP_STORE && ir_field_of(a) == ir_field_of(b) &&
                ir_access_attr(a)->plane == ir_access_attr(b)->plane && ir_component_known(b);
    for (int d = 0; same && d < ir_field_of(a)->ndim; d++)
        same = a->args[d] == b->args[d];
    return same;
}

/* All components of the element that op stores the first one of. */
static bool stores_all_components(const ir_op *op)
{
    const int n = ir_field_ncomp(ir_field_of(op));
    int at = 1;
    for (const ir_op *o = op->next; o && at < n; o = o->next)
        at += same_place(op, o) && ir_int(o->args[ir_field_of(op)->ndim]) == at;
    return at == n;
}

typedef struct covering {
    finds *c;
    const ir_region *up_to;
} covering;

static void find_cover(ir_op *op, void *ctx)
{
    const covering *v = ctx;
    if (op->code != OP_STORE || !ir_component_known(op))
        return;
    ir_field *f = ir_field_of(op);
    if (f->array || f->ndim > DIMS || ir_int(op->args[f->ndim]) != 0 || !stores_all_components(op))
        return;
    cover k = {.field = f, .plane = ir_access_attr(op)->plane};
    const ir_value *indices[DIMS];
    int n = 0;
    for (int d = 0; d < f->ndim; d++) {
        k.dims[d] = footprint_subscript(v->c->p, op->args[d]);
        if (!k.dims[d].lo || !k.dims[d].exact || k.dims[d].wraps || footprint_is_among(indices, n, k.dims[d].index))
            return;
        if (k.dims[d].index)
            indices[n++] = k.dims[d].index;
    }
    if (surely_runs(v->c, op, v->up_to, indices, n, &k.when))
        vec_push(&v->c->covers, k);
}

/* ---- what is read ---- */

static ir_value *number(footprint *p, int64_t x)
{
    return ir_const_i(&p->b, SC_I64, x);
}

/* The box without elements, where a cover before it holds it; false: one surely does. */
static bool uncover(finds *c, ir_part *part, range *dims)
{
    footprint *p = c->p;
    for (size_t k = 0; k < c->covers.len && c->compared < MAX_COMPARED; k++) {
        const cover *v = &c->covers.at[k];
        if (v->field != part->field || v->plane != part->plane)
            continue;
        ir_value *held = v->when;
        for (int d = 0; d < part->field->ndim; d++) {
            held = both(p, held, ir_op2(&p->b, OP_LE, v->dims[d].lo, dims[d].lo));
            held = both(p, held, ir_op2(&p->b, OP_GE, v->dims[d].hi, dims[d].hi));
        }
        if (!held)
            return false;
        for (int d = 0; d < part->field->ndim; d++) {
            dims[d].lo = ir_op3(&p->b, OP_SELECT, held, number(p, 1), dims[d].lo);
            dims[d].hi = ir_op3(&p->b, OP_SELECT, held, number(p, 0), dims[d].hi);
        }
        c->compared++;
        part->what = 0;
    }
    return true;
}

static void add_found(finds *c, ir_part part, range *dims)
{
    const bool needs = c->what & IR_PART_NEEDED,
               stored = c->own.at[ir_storage_of(part.field, part.plane)] & (OP_STORES | OP_ADDS);
    if (needs && (part.field->array || !footprint_may_need(part.field, part.plane)))
        return;
    if (!uncover(c, &part, dims))
        return;
    part.what = (needs ? 0 : part.what) | c->what | (needs && stored ? IR_PART_PERHAPS : 0);
    footprint_add(c->p, part, dims);
}

/* Of whole fields. */
static void find_in_call(finds *c, const ir_op *op)
{
    effects e = effects_of_op(c->p->m, op);
    for (size_t i = 0; i < ir_storage_count(c->p->m); i++) {
        ir_field *f = ir_storage_field(c->p->m, i);
        range dims[DIMS];
        for (int d = 0; d < f->ndim && (e.at[i] & OP_READS); d++)
            dims[d] = footprint_whole_dim(c->p, f, d);
        if (e.at[i] & OP_READS)
            add_found(c, (ir_part){.field = f, .plane = ir_storage_plane(i), .last = ir_field_ncomp(f) - 1}, dims);
    }
    effects_free(&e);
}

static void find_load(ir_op *op, void *ctx)
{
    finds *c = ctx;
    ir_part part;
    range dims[DIMS];
    if (op->code == OP_CALL || op->code == OP_ADJOINT)
        find_in_call(c, op);
    else if (op_accesses_field(op->code) && (op_touches(op->code) & OP_READS) &&
             footprint_of_access(c->p, op, &part, dims))
        add_found(c, part, dims);
}

static void each_op(ir_op *op, void (*fn)(ir_op *op, void *ctx), void *ctx)
{
    fn(op, ctx);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], fn, ctx);
}

/* Statement after statement. A cover counts in the rest of its region, and in all that stands in there. */
static void walk(finds *c, ir_region *r)
{
    const size_t before = c->covers.len;
    for (ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_TASK || op->nregions == 0)
            each_op(op, find_load, c);
        for (int k = 0; op->code != OP_TASK && k < op->nregions; k++)
            walk(c, op->regions[k]);
        each_op(op, find_cover, &(covering){c, r});
    }
    c->covers.len = before;
}

void footprint_of_reads(footprint *p)
{
    finds c = {.p = p, .what = IR_PART_READS, .own = p->own};
    walk(&c, p->kernel->body);
    vec_free(&c.covers);
}

/* It may overwrite saved fields on its own. */
static void find_spoiled(ir_op *op, void *ctx)
{
    enum { SPOILS = IR_PART_SAVED | IR_PART_BEFORE_REPLAYED };
    footprint *p = ctx;
    ir_part part;
    range dims[DIMS];
    if (op->code == OP_CALL || op->code == OP_ADJOINT) {
        effects e = effects_of_op(p->m, op);
        for (size_t i = 0; i < ir_storage_count(p->m); i++)
            e.at[i] &= ir_storage_field(p->m, i)->saved && ir_storage_plane(i) == IR_DATA ? OP_STORES | OP_ADDS : 0;
        footprint_add_effects(p, &e, OP_STORES | OP_ADDS, SPOILS);
        effects_free(&e);
    } else if (op_writes_field(op->code) && ir_field_of(op)->saved && ir_access_attr(op)->plane == IR_DATA &&
               footprint_of_access(p, op, &part, dims)) {
        part.what = SPOILS;
        footprint_add(p, part, dims);
    }
}

void footprint_of_custom(footprint *p)
{
    const footprint of_kernel = *p;
    ir_func *back = p->kernel->ad.custom_grad;
    finds c = {.p = p, .what = IR_PART_NEEDED | IR_PART_CUSTOM, .own = effects_of_region(p->m, back->body)};
    effects all = effects_of_region(p->m, back->body);
    for (size_t i = 0; i < ir_storage_count(p->m); i++)
        all.at[i] |= p->own.at[i];
    p->kernel = back; /* its parameters are the kernel's */
    p->own = all;
    p->known = ARENA_ARRAY(p->m->mem, range, back->next_value + 1);
    p->is_known = ARENA_ARRAY(p->m->mem, bool, back->next_value + 1);
    walk(&c, back->body);
    ir_walk(back->body, find_spoiled, p);
    p->kernel = of_kernel.kernel;
    p->own = of_kernel.own;
    p->known = of_kernel.known;
    p->is_known = of_kernel.is_known;
    effects_free(&all);
    effects_free(&c.own);
    vec_free(&c.covers);
}
