/* What an adjoint that the program wrote needs of the data that its kernel left.
 *
 *     kernel back(t: i32) grad_for(step) { clear(); fill(t); move.grad(t); }       needs what fill reads, and no grid
 *
 * It may store before it reads, to compute again what was not kept. Where a store surely runs, and to every element of
 * a box, loads behind it in the same region need nothing of that box: `bounds` compares the boxes, so that extents and
 * conditions that only the launch tells decide there. Other loads of what it stores are needed perhaps.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/footprint/footprint.h"

enum { DIMS = 8 };

/* A box that a statement stores in any case. */
typedef struct cover {
    ir_field *field;
    ir_plane plane;
    range dims[DIMS];
    ir_value *when; /* a condition in `bounds`; NULL: always */
} cover;

typedef struct need {
    ir_field *field;
    ir_plane plane;
    range dims[DIMS];
    int first, last;
    size_t covers; /* how many of them stand before it */
} need;

typedef struct custom {
    footprint *p;
    effects own; /* of the adjoint */
    VEC(cover) covers;
    range whole[DIMS];
    const ir_field *whole_of;
} custom;

static range dim_of(custom *c, ir_field *f, int d, const ir_value *subscript)
{
    range r = subscript ? footprint_subscript(c->p, subscript) : (range){0};
    if (r.lo)
        return r;
    for (int k = 0; c->whole_of != f && k < f->ndim; k++)
        c->whole[k] = footprint_whole_dim(c->p, f, k);
    c->whole_of = f;
    return c->whole[d];
}

/* ---- what is surely stored ---- */

static ir_value *both(footprint *p, ir_value *a, ir_value *b)
{
    return a && b ? ir_op2(&p->b, OP_AND, a, b) : a ? a : b;
}

/* Whether all that stands around op, up to a region, runs whenever that does, but for conditions that are known on
 * entry; the indices there are these subscripts, one for each. */
static bool surely_runs(custom *c, const ir_op *op, const ir_region *up_to, const ir_value *const *indices, int n,
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
    custom *c;
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

/* The box of a need without elements, where a cover before it holds it. */
static bool uncover(custom *c, need *n)
{
    footprint *p = c->p;
    for (size_t k = 0; k < n->covers; k++) {
        const cover *v = &c->covers.at[k];
        if (v->field != n->field || v->plane != n->plane)
            continue;
        ir_value *held = v->when;
        for (int d = 0; d < n->field->ndim; d++) {
            held = both(p, held, ir_op2(&p->b, OP_LE, v->dims[d].lo, n->dims[d].lo));
            held = both(p, held, ir_op2(&p->b, OP_GE, v->dims[d].hi, n->dims[d].hi));
        }
        if (!held)
            return false;
        for (int d = 0; d < n->field->ndim; d++) {
            n->dims[d].lo = ir_op3(&p->b, OP_SELECT, held, number(p, 1), n->dims[d].lo);
            n->dims[d].hi = ir_op3(&p->b, OP_SELECT, held, number(p, 0), n->dims[d].hi);
        }
    }
    return true;
}

static void add_need(custom *c, need n)
{
    footprint *p = c->p;
    if (!footprint_is_wanted(p, n.field, n.plane, false) || !uncover(c, &n))
        return;
    const bool stored = c->own.at[ir_storage_of(n.field, n.plane)] & (OP_STORES | OP_ADDS);
    footprint_add(
        p,
        (ir_footprint){
            .field = n.field, .plane = n.plane, .custom = true, .perhaps = stored, .first = n.first, .last = n.last},
        n.dims);
}

/* Of whole fields. */
static void find_in_call(custom *c, const ir_op *op)
{
    effects e = effects_of_op(c->p->m, op);
    for (size_t i = 0; i < c->p->m->nfields; i++)
        for (int plane = IR_DATA; plane < IR_PLANES; plane++) {
            ir_field *f = c->p->m->fields.at[i];
            need n = {.field = f, .plane = plane, .last = ir_field_ncomp(f) - 1, .covers = c->covers.len};
            for (int d = 0; d < f->ndim; d++)
                n.dims[d] = dim_of(c, f, d, NULL);
            if (e.at[ir_storage_of(f, plane)] & OP_READS)
                add_need(c, n);
        }
    effects_free(&e);
}

static void find_load(ir_op *op, void *ctx)
{
    custom *c = ctx;
    if (op->code == OP_CALL || op->code == OP_ADJOINT)
        find_in_call(c, op);
    if (op->code != OP_LOAD && op->code != OP_ATOMIC) /* an atomic gives what it found */
        return;
    ir_field *f = ir_field_of(op);
    const bool known = ir_component_known(op);
    need n = {.field = f,
              .plane = ir_access_attr(op)->plane,
              .first = known ? (int)ir_int(op->args[f->ndim]) : 0,
              .covers = c->covers.len};
    n.last = known ? n.first : ir_field_ncomp(f) - 1;
    for (int d = 0; d < f->ndim; d++)
        n.dims[d] = dim_of(c, f, d, op->args[d]);
    if (n.last < ir_field_ncomp(f))
        add_need(c, n);
}

static void each_op(ir_op *op, void (*fn)(ir_op *op, void *ctx), void *ctx)
{
    fn(op, ctx);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], fn, ctx);
}

/* Statement after statement. A cover counts in the rest of its region, and in all that stands in there. */
static void walk(custom *c, ir_region *r)
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

void footprint_of_custom(footprint *p)
{
    const ir_func *kernel = p->kernel, *back = kernel->ad.custom_grad;
    const effects of_kernel = p->own;
    range *known = p->known;
    bool *is_known = p->is_known;
    custom c = {.p = p, .own = effects_of_region(p->m, back->body)};
    effects all = effects_of_region(p->m, back->body);
    for (size_t i = 0; i < ir_storage_count(p->m); i++)
        all.at[i] |= of_kernel.at[i];
    p->kernel = (ir_func *)back; /* its parameters are the kernel's */
    p->own = all;
    p->known = ARENA_ARRAY(p->m->mem, range, back->next_value + 1);
    p->is_known = ARENA_ARRAY(p->m->mem, bool, back->next_value + 1);
    walk(&c, back->body);
    p->kernel = (ir_func *)kernel;
    p->own = of_kernel;
    p->known = known;
    p->is_known = is_known;
    effects_free(&all);
    effects_free(&c.own);
    vec_free(&c.covers);
}
