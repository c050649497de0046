/* What the body of a C function takes from its module. */
#include "codegen/body.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/forms.h"
#include "codegen/layout.h"
#include "ir/ops.h"

typedef struct scan {
    facts *facts;
    const value_use *use;
    body_kind kind;
    bool steps;
    body_plan *plan;
} scan;

/* Of the size of all fields, for each C function: not kept for the whole run. */
static void *zeroed(size_t count, size_t size)
{
    void *p = xmalloc(count * size);
    memset(p, 0, count * size);
    return p;
}

/* ---- planes: what is done to them ---- */

static plane_use *touch(body_plan *p, ir_storage key)
{
    plane_use *u = &p->planes[key];
    if (!u->listed) {
        u->listed = true;
        vec_push(&p->touched, key);
    }
    return u;
}

static plane_use *touch_component(body_plan *p, const ir_op *op, ir_plane plane)
{
    const ir_field *f = ir_field_of(op);
    plane_use *u = touch(p, ir_storage_of(f, plane));
    if (f->shape == IR_SHAPE_MAT && !ir_component_known(op))
        u->flat = true; /* where the layout has no rows of components, without meaning */
    return u;
}

static void scan_access(body_plan *p, const ir_op *op)
{
    plane_use *u = touch_component(p, op, ir_access_attr(op)->plane);
    if (op->code == OP_LOAD)
        u->read = true;
    else if ((op->code == OP_ACCUM || op->code == OP_ATOMIC) && op_is_scatter(op))
        u->scatter = u->flat = true; /* flat: one pointer type for all functions it is passed to */
    else if (op->code == OP_ACCUM)
        u->plain_accum = true;
    else if (op_writes_field(op->code))
        u->written = true;
    if (op->code == OP_ATOMIC && ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT)
        touch_component(p, op, ir_tangent_of(ir_access_attr(op)->plane))->written = true;
}

static void scan_call(const scan *s, const ir_op *op)
{
    const func_facts *info = facts_of(s->facts, ir_callee_of(op));
    for (ir_storage key = 0; key < ir_storage_count(s->facts->m); key++) {
        if (!info->planes[key])
            continue;
        plane_use *u = touch(s->plan, key);
        if (info->planes[key] & (OP_READS | OP_STORES)) {
            u->by_callee = true;
            u->callee_writes |= (info->planes[key] & OP_STORES) != 0;
        }
        if (info->planes[key] & OP_ADDS) {
            u->flat = true;
            if (s->kind == BODY_KERNEL)
                u->written = u->by_callee = u->callee_writes = true;
            else
                u->scatter = true;
        }
    }
}

static void scan_planes(const scan *s, const ir_region *r)
{
    body_plan *p = s->plan;
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op_is_dead(s->use, op))
            continue;
        if (op_memory_of(op->code) == MEMORY_FIELD)
            scan_access(p, op);
        if (op->code == OP_CALL)
            scan_call(s, op);
        if (op->code == OP_MPARAM)
            vec_push(&p->params, ir_mparam_attr(op)->param->index);
        if (op->code == OP_TASK) {
            p->tasks = true;
            continue;
        }
        for (int i = 0; i < op->nregions; i++)
            scan_planes(s, op->regions[i]);
    }
}

/* One pointer may serve several fields, but for those that a task scatters into. */
static plane_use *same_pointer(const scan *s, size_t i)
{
    body_plan *p = s->plan;
    const ir_module *m = s->facts->m;
    const ir_storage key = p->touched.at[i];
    plane_use *u = &p->planes[key];
    for (size_t k = 0; k < i && !u->scatter; k++) {
        const ir_storage other = p->touched.at[k];
        plane_use *v = &p->planes[other];
        if (ir_storage_plane(other) != ir_storage_plane(key) ||
            !layout_one_pointer(ir_storage_field(m, key), ir_storage_field(m, other)) || v->scatter || v->same)
            continue;
        v->written |= u->written | u->plain_accum;
        v->by_callee |= u->by_callee;
        v->callee_writes |= u->callee_writes;
        return v;
    }
    return NULL;
}

static void share_pointers(const scan *s)
{
    for (size_t i = 0; i < s->plan->touched.len; i++) {
        plane_use *u = &s->plan->planes[s->plan->touched.at[i]];
        u->written |= u->plain_accum && !u->scatter; /* else it goes through the scatter's pointer, too */
        u->same = same_pointer(s, i);
        u->separate = u->scatter && (u->read || u->written || u->by_callee);
    }
}

/* ---- what is read to get at elements ---- */

static const char *note_extent(void *ctx, const ir_field *f, int dim)
{
    const ir_field *first = f->lead ? f->lead : f;
    const bool fixed = (f->array && f->dims[dim].param < 0 && !f->dims[dim].mparam) || ir_wide_extent(f, dim);
    if (!fixed && !is_argument(f))
        ((body_plan *)ctx)->extent_read[first->index * 8 + dim] = true;
    return "n";
}

static const char *note_stride(void *ctx, const ir_field *f, ir_plane plane, int dim)
{
    ((body_plan *)ctx)->planes[ir_storage_of(f, plane)].strides |= 1u << dim;
    return "n";
}

static void use_pointer(body_plan *p, ir_storage key, bool scatter)
{
    plane_use *u = &p->planes[key];
    if (scatter && u->scatter)
        u->target = true;
    else
        (u->same ? u->same : u)->pointer = true;
}

bool access_is_watched(const ir_op *op)
{
    const ir_func *f = op->region->func;
    const bool told = !f->ad.primal || (op->code != OP_LOAD && scalar_is_float(ir_field_of(op)->elem));
    return f->module->debug && told && !is_argument(ir_field_of(op));
}

/* The extents and strides that its address is made of, by making it: a constant zero leaves some out. */
static void read_address(const scan *s, const ir_op *op, ir_plane plane)
{
    const ir_field *f = ir_field_of(op);
    if (!layout_needs_module(f))
        return;
    const bool hides = s->steps && op->code != OP_ATOMIC && ir_access_attr(op)->stepped,
               known = ir_is_const(op->args[f->ndim]);
    layout_place place = {.field = f,
                          .plane = plane,
                          .constant = known,
                          .number = known ? ir_int(op->args[f->ndim]) : 0,
                          .component = {"k", PREC_PRIMARY}};
    for (int d = 0; d < f->ndim; d++) {
        const bool zero = ir_is_const(op->args[d]) && ir_int(op->args[d]) == 0 && !(hides && d == f->ndim - 1);
        place.at[d] = (cexpr){zero ? "0" : "i", PREC_PRIMARY};
    }
    const layout_terms terms = {note_extent, note_stride, s->plan};
    layout_element(s->facts->mem, &terms, &place, "p");
    if (s->kind != BODY_EXTENTS && access_is_watched(op))
        layout_number(s->facts->mem, &terms, &place);
}

static void read_access(const scan *s, const ir_op *op)
{
    const bool adds = op->code == OP_ACCUM || op->code == OP_ATOMIC;
    const ir_plane plane = ir_access_attr(op)->plane;
    read_address(s, op, plane);
    use_pointer(s->plan, ir_storage_of_op(op), adds);
    if (op->code == OP_ATOMIC && ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT) {
        read_address(s, op, ir_tangent_of(plane));
        use_pointer(s->plan, ir_storage_of(ir_field_of(op), ir_tangent_of(plane)), false);
    }
}

/* ---- values ---- */

void body_reads(body_plan *p, const ir_value *v)
{
    const ir_op *def = v->def;
    if (!def)
        return;
    if (def->code == OP_MPARAM)
        p->param_read[ir_mparam_attr(def)->param->index] = true;
    else if (def->code == OP_KEY)
        p->key_read = true;
    else if (def->code == OP_SHAPE)
        note_extent(p, ir_field_of(def), (int)ir_shape_attr(def)->dim);
}

static void read_call(const scan *s, const ir_op *op)
{
    const func_facts *info = facts_of(s->facts, ir_callee_of(op));
    for (ir_storage key = 0; key < ir_storage_count(s->facts->m); key++)
        if (info->planes[key] & OP_ADDS)
            use_pointer(s->plan, key, true);
}

/* What an operand is read for: what a task starts a sum with, only where that is wanted. */
static bool is_read(const scan *s, const ir_op *op, int i)
{
    if (op->code == OP_YIELD)
        return !yield_is_silent(s->use, op, i);
    const int k = op->code == OP_TASK ? i - ir_task_first_init(op) : -1;
    return k < 0 || k >= op->nres || reduction_is_wanted(s->use, op, k);
}

static void read_region(const scan *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op_is_dead(s->use, op))
            continue;
        if (op_memory_of(op->code) == MEMORY_FIELD)
            read_access(s, op);
        if (op->code == OP_CALL)
            read_call(s, op);
        for (int i = 0; i < op->nargs; i++)
            if (is_read(s, op, i))
                body_reads(s->plan, op->args[i]);
        if (checked_count(r->func->module, op))
            body_reads(s->plan, checked_count(r->func->module, op));
        for (int i = 0; i < op->nregions && op->code != OP_TASK; i++)
            read_region(s, op->regions[i]);
    }
}

/* ---- the whole ---- */

static void decide_pointers(const scan *s)
{
    const ir_module *m = s->facts->m;
    for (size_t i = 0; i < s->plan->touched.len; i++) {
        plane_use *u = &s->plan->planes[s->plan->touched.at[i]];
        u->hoisted = u->pointer && !u->same && (!u->scatter || u->separate) &&
                     !is_argument(ir_storage_field(m, s->plan->touched.at[i]));
        u->unique = !m->debug && !s->plan->tasks && !u->separate && !(u->by_callee && (u->written || u->callee_writes));
    }
}

body_plan plan_body(facts *x, const value_use *use, const ir_region *r, body_kind kind, bool steps)
{
    body_plan p = {.planes = zeroed(ir_storage_count(x->m) + 1, sizeof *p.planes),
                   .extent_read = zeroed(x->m->fields.len * 8 + 1, sizeof *p.extent_read),
                   .param_read = zeroed(x->m->params.len + 1, sizeof *p.param_read)};
    const scan s = {x, use, kind, steps, &p};
    scan_planes(&s, r);
    share_pointers(&s);
    read_region(&s, r);
    decide_pointers(&s);
    return p;
}

void body_plan_free(body_plan *p)
{
    free(p->planes);
    free(p->extent_read);
    free(p->param_read);
    vec_free(&p->touched);
    vec_free(&p->params);
}
