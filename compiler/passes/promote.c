/* Accumulations into an element that does not depend on the loop or task around them become reductions:
 *
 *     loop i { if (c) { accum U, v } }   becomes   s = loop i (s0 = 0) { r = if (c) { yield v } else { yield 0 }; yield s0 + r }; accum U, s
 *
 * and several accumulations into one element in a row become one. Legal because `+=` reads nothing and the order of a sum is unspecified.
 */
#include <stdlib.h>

#include "ir/ops.h"
#include "passes/passes.h"

static bool same_subscripts(const ir_op *a, const ir_op *b)
{
    const int n = a->attr.field->ndim + 1;
    for (int i = 0; i < n; i++) {
        if (a->args[i] == b->args[i])
            continue;
        affine x = affine_of(a->args[i]), y = affine_of(b->args[i]);
        if (!x.ok || !y.ok || !affine_equal(&x, &y))
            return false;
    }
    return true;
}

static bool touches(const ir_module *m, const ir_op *op, const ir_op *accum, unsigned what)
{
    effects e = effects_of_op(m, op);
    const bool any = (e.at[accum->attr.field->index * 4 + (int)accum->attr.plane] & what) != 0;
    effects_free(&e);
    return any;
}

/* ---- merging ---- */

enum { MERGE_WINDOW = 400 };

static bool merge_in_region(const ir_func *f, ir_region *r)
{
    bool changed = false;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code != OP_ACCUM)
            continue;
        int left = MERGE_WINDOW;
        for (ir_op *later = op->next; later && left > 0; later = later->next, left--) {
            if (later->code == OP_ACCUM && later->attr.field == op->attr.field && later->attr.plane == op->attr.plane) {
                if (!same_subscripts(op, later))
                    continue;
                const int v = op->attr.field->ndim + 1;
                ir_builder b = {.func = (ir_func *)f, .region = r, .before = later, .loc = later->loc, .origin = later->origin};
                later->args[v] = ir_op2(&b, OP_ADD, op->args[v], later->args[v]);
                ir_remove(op);
                changed = true;
                break;
            }
            if (later->code == OP_LOAD || later->code == OP_STORE || later->nregions || later->code == OP_CALL) {
                if (touches(f->module, later, op, EFFECT_READ | EFFECT_STORE))
                    break;
            }
        }
    }
    return changed;
}

/* ---- hoisting ---- */

static bool subscripts_visible(const ir_op *accum, const ir_region *r)
{
    for (int i = 0; i <= accum->attr.field->ndim; i++)
        if (!ir_is_visible(accum->args[i], r) && !ir_is_const(accum->args[i]))
            return false;
    return true;
}

/* The outermost loop or task that the accumulation can leave; NULL if none. */
static ir_op *leaves(const ir_module *m, const ir_op *accum)
{
    ir_op *best = NULL;
    for (ir_op *p = accum->region->parent; p; p = p->region->parent) {
        if (p->code != OP_IF && p->code != OP_LOOP && p->code != OP_TASK)
            break;
        if (!subscripts_visible(accum, p->region) || touches(m, p, accum, EFFECT_READ | EFFECT_STORE))
            break;
        if (p->code != OP_IF)
            best = p;
    }
    return best;
}

/* Takes the value out of the operation that holds the accumulation's region; returns it as a value behind that operation. */
static ir_value *carry_out(ir_func *f, ir_op *parent, ir_region *r, ir_value *v)
{
    ir_builder outside = {.func = f, .region = parent->region, .before = parent, .loc = parent->loc};
    ir_op *y = ir_yield_of(r);
    ir_builder in = {.func = f, .region = r, .before = y, .loc = y->loc};
    if (parent->code == OP_IF) {
        for (int k = 0; k < 2; k++) {
            ir_op *yk = ir_yield_of(parent->regions[k]);
            ir_builder bk = {.func = f, .region = parent->regions[k], .before = yk, .loc = yk->loc};
            ir_add_arg(yk, parent->regions[k] == r ? v : ir_zero(&bk, v->type));
        }
        return ir_add_result(parent, v->type);
    }
    ir_add_arg(parent, ir_zero(&outside, v->type));
    if (parent->code == OP_TASK) {
        ir_reduction *reds = ARENA_ARRAY(f->module->mem, ir_reduction, parent->attr.nreductions + 1);
        for (int i = 0; i < parent->attr.nreductions; i++)
            reds[i] = parent->attr.reductions[i];
        reds[parent->attr.nreductions++] = (ir_reduction){IR_RED_ADD, 0};
        parent->attr.reductions = reds;
        ir_add_arg(y, v);
        return ir_add_result(parent, v->type);
    }
    ir_value *sum = ir_region_param(r, v->type, v->name);
    if (parent->attr.cond)
        ir_region_param(parent->regions[1], v->type, NULL);
    ir_add_arg(y, ir_op2(&in, OP_ADD, sum, v));
    ir_value *res = ir_add_result(parent, v->type);
    if (parent->attr.cond) { /* the trip count stays last */
        const int n = parent->nres;
        ir_value *trip = parent->res[n - 2];
        parent->res[n - 2] = res;
        parent->res[n - 1] = trip;
        res->index = n - 2;
        trip->index = n - 1;
    }
    return res;
}

static void hoist(ir_func *f, ir_op *accum, ir_op *target)
{
    const int n = accum->attr.field->ndim;
    ir_value *v = accum->args[n + 1];
    ir_region *r = accum->region;
    for (;;) {
        ir_op *parent = r->parent;
        v = carry_out(f, parent, r, v);
        r = parent->region;
        if (parent == target)
            break;
    }
    /* Constant subscripts may stand inside: make them again outside. */
    ir_builder b = {.func = f, .region = r, .before = target->next, .loc = accum->loc, .origin = accum->origin};
    ir_value **idx = ARENA_ARRAY(f->module->mem, ir_value *, n + 1);
    for (int i = 0; i <= n; i++)
        idx[i] = ir_is_visible(accum->args[i], r) ? accum->args[i] : ir_const_i(&b, SC_I64, accum->args[i]->def->attr.i);
    ir_op *out = ir_accum(&b, accum->attr.field, accum->attr.plane, idx, idx[n], v);
    out->attr.acc = target->code == OP_TASK ? IR_ACC_PLAIN : accum->attr.acc;
    out->attr.label = target->code == OP_TASK ? "reduction" : accum->attr.label;
    ir_remove(accum);
}

typedef VEC(ir_op *) op_list;

static void collect(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code == OP_ACCUM)
        vec_push(l, op);
}

typedef VEC(ir_region *) region_list;

static void collect_regions(ir_op *op, void *ctx)
{
    region_list *l = ctx;
    for (int k = 0; k < op->nregions; k++)
        vec_push(l, op->regions[k]);
}

bool pass_promote(ir_func *f)
{
    bool changed = false;
    for (int round = 0; round < 2; round++) {
        region_list regions = {0};
        vec_push(&regions, f->body);
        ir_walk(f->body, collect_regions, &regions);
        for (size_t i = 0; i < regions.len; i++)
            changed |= merge_in_region(f, regions.at[i]);
        vec_free(&regions);
        if (round == 1)
            break;
        op_list accums = {0};
        ir_walk(f->body, collect, &accums);
        for (size_t i = 0; i < accums.len; i++) {
            ir_op *target = leaves(f->module, accums.at[i]);
            if (target) {
                hoist(f, accums.at[i], target);
                changed = true;
            }
        }
        vec_free(&accums);
    }
    return changed;
}
