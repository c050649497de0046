/* Accumulations into an element that does not depend on the loop or task around them become reductions:
 *
 *     loop i { if (c) { accum U, v } }   becomes   s = loop i (s0 = 0) { r = if (c) { yield v } else { yield 0 }; yield
 * s0 + r }; accum U, s
 *
 * and several accumulations into one element in a row become one. Legal because `+=` reads nothing and the order of a
 * sum is unspecified. Of sums that decide it counts: these stay in their loops. Where the loop may have run no
 * iteration, or the branch not have been taken, the element may not exist: then its subscripts are tested.
 */
#include <math.h>
#include <stdlib.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/overlap.h"
#include "passes/analysis/values.h"
#include "passes/schedule/schedule.h"

static bool same_subscripts(const ir_op *a, const ir_op *b)
{
    const int n = ir_field_of(a)->ndim + 1;
    for (int i = 0; i < n; i++) {
        if (a->args[i] == b->args[i])
            continue;
        affine x = affine_of(a->args[i]), y = affine_of(b->args[i]);
        if (!x.ok || !y.ok || !affine_equal(&x, &y))
            return false;
    }
    return true;
}

/* Whether op, which is p or stands in it, reads or stores the accumulation's element, which is the same for all
 * that p runs. Accesses of p with other subscripts that surely differ are of other elements. */
static bool touches_in(const ir_op *p, const ir_op *op, const ir_op *accum)
{
    const ir_storage at = ir_storage_of_op(accum);
    op_touch touched[OP_TOUCHED_MAX];
    bool any = false;
    if (op->code == OP_CALL) {
        effects e = effects_of_op(p->region->func->module, op);
        any = (e.at[at] & (OP_READS | OP_STORES)) != 0;
        effects_free(&e);
    }
    for (int n = op_touched(op, touched), i = 0; i < n; i++)
        any |= touched[i].at == at && (touched[i].what & (OP_READS | OP_STORES)) && !never_meet(p, op, accum) &&
               !stay_apart(p, op, accum);
    for (int k = 0; k < op->nregions && !any; k++)
        for (const ir_op *in = op->regions[k]->first; in && !any; in = in->next)
            any = touches_in(p, in, accum);
    return any;
}

static bool touches(const ir_op *p, const ir_op *accum)
{
    return touches_in(p, p, accum);
}

/* ---- merging ---- */

enum {
    MERGE_WINDOW = 400, /* operations; further apart, two additions stay two */
    MOST_FACTOR = 16    /* of all terms of a sum, to be multiplied with behind it */
};

static void merge_in_region(const ir_func *f, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code != OP_ACCUM || ir_access_attr(op)->exact)
            continue;
        int left = MERGE_WINDOW;
        for (ir_op *later = op->next; later && left > 0; later = later->next, left--) {
            if (later->code == OP_ACCUM && ir_field_of(later) == ir_field_of(op) &&
                ir_access_attr(later)->plane == ir_access_attr(op)->plane) {
                if (!same_subscripts(op, later))
                    continue;
                const int v = ir_field_of(op)->ndim + 1;
                ir_builder b = {
                    .func = (ir_func *)f, .region = r, .before = later, .loc = later->loc, .origin = later->origin};
                later->args[v] = ir_op2(&b, OP_ADD, op->args[v], later->args[v]);
                ir_remove(op);
                break;
            }
            if (touches(later, op))
                break;
        }
    }
}

/* ---- hoisting ---- */

/* The element is the same for all that p runs: its subscripts can be had behind p, as they can in front of it. */
static bool subscripts_leave(const ir_op *accum, const ir_op *p)
{
    for (int i = 0; i <= ir_field_of(accum)->ndim; i++)
        if (!ir_can_leave(accum->args[i], p))
            return false;
    return true;
}

/* U + (a + b) is not (U + a) + b, and what an adjoint adds up again has other accesses beside it than here: it could
 * leave in one of both. So what decides leaves no loop, and no task that is ordered because an adjoint runs it again.
 * It leaves other tasks and their rows: there it would be added in any order. */
static bool may_leave(const ir_op *accum, const ir_op *p)
{
    const ir_op *task = p->code == OP_TASK || (p->code == OP_LOOP && ir_loop_attr(p)->parallel) ? ir_task_of(p) : NULL;
    return p->code != OP_IF && (!ir_access_attr(accum)->exact || (task && !ir_task_attr(task)->ordered));
}

/* The outermost loop or task that the accumulation can leave; NULL if none. */
static ir_op *leaves(const ir_op *accum)
{
    ir_op *best = NULL;
    for (ir_op *p = accum->region->parent; p; p = p->region->parent) {
        if (p->code != OP_IF && p->code != OP_LOOP && p->code != OP_TASK)
            break;
        if (p->code == OP_LOOP && ir_region_is_ancestor(p->regions[p->nregions - 1], accum->region) &&
            ir_loop_attr(p)->cond)
            break; /* a condition contributes nothing by itself */
        if (!subscripts_leave(accum, p) || touches(p, accum))
            break;
        if (may_leave(accum, p))
            best = p;
    }
    return best;
}

/* Takes the value out of the operation that holds the accumulation's region; returns it as a value behind that
 * operation. */
static ir_value *carry_out(ir_func *f, ir_op *parent, ir_region *r, ir_value *v, bool exact)
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
        ir_value *chosen = ir_add_result(parent, v->type);
        chosen->exact = exact;
        return chosen;
    }
    ir_add_arg(parent, ir_zero(&outside, v->type));
    if (parent->code == OP_TASK) {
        ir_reduction *reds = ARENA_ARRAY(f->module->mem, ir_reduction, ir_task_attr(parent)->nreductions + 1);
        for (int i = 0; i < ir_task_attr(parent)->nreductions; i++)
            reds[i] = ir_task_attr(parent)->reductions[i];
        reds[ir_task_attr(parent)->nreductions++] = (ir_reduction){IR_RED_ADD, 0};
        ir_task_attr(parent)->reductions = reds;
        ir_add_arg(y, v);
        ir_value *total = ir_add_result(parent, v->type);
        total->exact = exact;
        return total;
    }
    ir_value *sum = ir_region_param(r, v->type, v->name);
    sum->exact = in.exact = exact;
    if (ir_loop_attr(parent)->cond)
        ir_region_param(parent->regions[1], v->type, NULL);
    ir_add_arg(y, ir_op2(&in, OP_ADD, sum, v));
    ir_value *res = ir_add_result(parent, v->type);
    res->exact = exact;
    if (ir_loop_attr(parent)->cond) { /* the trip count stays last */
        const int n = parent->nres;
        ir_value *trip = parent->res[n - 2];
        parent->res[n - 2] = res;
        parent->res[n - 1] = trip;
        res->index = n - 2;
        trip->index = n - 1;
    }
    return res;
}

/* ---- does the element exist? ---- */

/* Whether what stands in op's regions runs whenever op does. */
static bool surely_runs(const ir_op *op)
{
    int64_t lo, hi;
    if (op->code == OP_LOOP && ir_loop_attr(op)->parallel)
        return true;
    if (op->code == OP_IF || (op->code == OP_LOOP && (!ir_loop_attr(op)->bounded || ir_loop_attr(op)->cond)))
        return false;
    const int dims = op->code == OP_TASK ? ir_task_attr(op)->ndim : 1;
    for (int d = 0; d < dims; d++) {
        const ir_module *m = op->region->func->module;
        if (!const_value_of(m, op->args[2 * d], &lo) || !const_value_of(m, op->args[2 * d + 1], &hi) || lo >= hi)
            return false;
    }
    return true;
}

/* A subscript that is known to be in range: a constant below a constant extent, or the index of a loop around it that
 * runs over the extent or less. */
static bool is_inside(const ir_func *func, const ir_field *f, int dim, const ir_value *v)
{
    const ir_module *m = func->module;
    const ir_value *extent = extent_value(func, f, dim);
    int64_t x, n, lo;
    const bool known = const_value_of(m, extent, &n);
    if (const_value_of(m, v, &x))
        return known && 0 <= x && x < n;
    const ir_op *loop = v->def ? NULL : v->region->parent;
    if (!loop || !(loop->code == OP_TASK ? v->index < ir_task_attr(loop)->ndim
                                         : loop->code == OP_LOOP && ir_loop_attr(loop)->bounded && v->index == 0))
        return false;
    const int d = loop->code == OP_TASK ? v->index : 0;
    if (!const_value_of(m, loop->args[2 * d], &lo) || lo < 0)
        return false;
    return same_value(m, loop->args[2 * d + 1], extent) ||
           (known && const_value_of(m, loop->args[2 * d + 1], &x) && x <= n);
}

ir_value *subscript_in_range(ir_builder *b, ir_field *f, int dim, ir_value *v)
{
    if (is_inside(b->func, f, dim, v))
        return NULL;
    ir_value *low = ir_op2(b, OP_GE, v, ir_const_i(b, SC_I64, 0)), *high = ir_op2(b, OP_LT, v, ir_shape(b, f, dim));
    return ir_op2(b, OP_AND, low, high);
}

/* The subscripts' test, or NULL where none is needed. */
static ir_value *in_range(const ir_op *accum, const ir_op *target, ir_builder *b, ir_value *const *idx)
{
    ir_field *f = ir_field_of(accum);
    bool runs = true;
    for (const ir_region *r = accum->region; runs; r = r->parent->region) {
        runs = surely_runs(r->parent);
        if (r->parent == target)
            break;
    }
    ir_value *all = NULL;
    for (int d = 0; d < f->ndim && !runs; d++) {
        ir_value *one = subscript_in_range(b, f, d, idx[d]);
        all = one && all ? ir_op2(b, OP_AND, all, one) : one ? one : all;
    }
    return all;
}

/* A branch that was made behind a loop: the components of one vector share it. */
typedef struct test {
    const ir_op *target, *accum;
    ir_op *branch;
} test;

typedef VEC(test) test_list;

static ir_op *known_test(const ir_module *m, const test_list *tests, const ir_op *accum, const ir_op *target)
{
    for (size_t i = tests->len; i-- > 0 && tests->at[i].target == target;) {
        const ir_op *a = tests->at[i].accum;
        bool same = ir_field_of(a) == ir_field_of(accum);
        for (int d = 0; d < ir_field_of(accum)->ndim && same; d++)
            same = same_value(m, a->args[d], accum->args[d]);
        if (same)
            return tests->at[i].branch;
    }
    return NULL;
}

static ir_builder inside(ir_builder b, ir_op *branch)
{
    b.region = branch->regions[0];
    b.before = b.region->last;
    return b;
}

/* Where the accumulation goes: behind the target, and into a branch if its element may not exist. */
static ir_builder place_behind(ir_builder b, const ir_op *accum, const ir_op *target, ir_value *const *idx,
                               test_list *tests)
{
    ir_op *branch = known_test(b.func->module, tests, accum, target);
    if (branch)
        return inside(b, branch);
    ir_value *cond = in_range(accum, target, &b, idx);
    if (!cond)
        return b;
    branch = ir_if(&b, cond, 0, NULL);
    for (int k = 0; k < 2; k++) {
        ir_builder in = {.func = b.func, .region = branch->regions[k], .loc = b.loc};
        ir_yield(&in, 0, NULL);
    }
    vec_push(tests, ((test){target, accum, branch}));
    return inside(b, branch);
}

/* Whether term is `t * c`, with a constant that can wait until all terms are added; *rest: t. In adjoints only, as the
 * sum rounds otherwise (pass_scale). Terms get smaller by it, never larger, and not by much: they stay in range. */
static bool has_factor(const ir_func *f, const ir_value *term, ir_value **rest, double *factor)
{
    const ir_op *op = term->def;
    if (!is_adjoint(f) || !op || op->code != OP_MUL || term->exact || !scalar_is_float(term->type))
        return false;
    const int k = ir_is_const(op->args[1]);
    const double c = ir_is_const(op->args[k]) ? fabs(ir_float(op->args[k])) : 0;
    if (!(c > 1 && c <= MOST_FACTOR)) /* nor NaN */
        return false;
    *factor = ir_float(op->args[k]);
    *rest = op->args[1 - k];
    return true;
}

static void hoist(ir_func *f, ir_op *accum, ir_op *target, test_list *tests)
{
    const int n = ir_field_of(accum)->ndim;
    ir_value *v = accum->args[n + 1];
    ir_region *r = accum->region;
    double factor = 1;
    if (!ir_access_attr(accum)->exact && has_factor(f, v, &v, &factor))
        accum->args[n + 1] = v;
    for (;;) {
        ir_op *parent = r->parent;
        v = carry_out(f, parent, r, v, ir_access_attr(accum)->exact);
        r = parent->region;
        if (parent == target)
            break;
    }
    /* What subscripts are made of may stand inside: it is made again outside. */
    ir_builder b = {.func = f, .region = r, .before = target->next, .loc = accum->loc, .origin = accum->origin};
    ir_value **idx = ARENA_ARRAY(f->module->mem, ir_value *, n + 1);
    ir_map map = ir_map_create(f);
    for (int i = 0; i <= n; i++)
        idx[i] = ir_value_before(&b, accum->args[i], &map);
    ir_map_free(&map);
    if (factor != 1)
        v = ir_op2(&b, OP_MUL, v, ir_const_f(&b, v->type, factor));
    b = place_behind(b, accum, target, idx, tests);
    ir_op *out = ir_accum(&b, ir_field_of(accum), ir_access_attr(accum)->plane, idx, idx[n], v);
    ir_access_attr(out)->acc = target->code == OP_TASK ? IR_ACC_PLAIN : ir_access_attr(accum)->acc;
    ir_access_attr(out)->exact = ir_access_attr(accum)->exact;
    ir_set_class(out, target->code == OP_TASK ? IR_CLASS_REDUCE : ir_class_of(accum));
    ir_remove(accum);
}

typedef VEC(ir_op *) op_list;

static void collect_accum(ir_op *op, void *ctx)
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

void pass_promote(ir_func *f)
{
    for (int round = 0; round < 2; round++) {
        region_list regions = {0};
        vec_push(&regions, f->body);
        ir_walk(f->body, collect_regions, &regions);
        for (size_t i = 0; i < regions.len; i++)
            merge_in_region(f, regions.at[i]);
        vec_free(&regions);
        if (round == 1)
            break;
        op_list accums = {0};
        test_list tests = {0};
        ir_walk(f->body, collect_accum, &accums);
        for (size_t i = 0; i < accums.len; i++) {
            ir_op *target = leaves(accums.at[i]);
            if (target)
                hoist(f, accums.at[i], target, &tests);
        }
        vec_free(&accums);
        vec_free(&tests);
    }
}

/* ---- sums whose steps an adjoint would keep ---- */

/* The counted loop all of whose trips add to the accumulation's element; NULL: there is none. */
static ir_op *adding_loop(const ir_op *accum)
{
    ir_op *p = accum->region->parent;
    const bool counted = p && p->code == OP_LOOP && ir_loop_attr(p)->bounded && !ir_loop_attr(p)->cond;
    return counted && adjoints_keep(accum) && !ir_access_attr(accum)->exact && subscripts_leave(accum, p) &&
                   !touches(p, accum)
               ? p
               : NULL;
}

/* Whether the region of the loop stores the element behind it in any case. */
static bool is_stored_behind(const ir_op *loop, const ir_op *accum)
{
    for (const ir_op *op = loop->next; op; op = op->next)
        if (op->code == OP_STORE && ir_field_of(op) == ir_field_of(accum) &&
            ir_access_attr(op)->plane == ir_access_attr(accum)->plane && same_subscripts(op, accum))
            return true;
    return false;
}

/* A loop without a trip adds nothing. Then the element may not exist, or be another iteration's. */
static ir_builder where_it_runs(ir_builder b, const ir_op *loop, const ir_op *accum, ir_value *const *idx)
{
    if (surely_runs(loop) || is_stored_behind(loop, accum))
        return b;
    ir_value *runs = ir_task_of(loop) ? ir_op2(&b, OP_LT, loop->args[0], loop->args[1])
                                      : in_range(accum, loop, &b, idx);
    if (!runs)
        return b;
    ir_op *branch = ir_if(&b, runs, 0, NULL);
    for (int k = 0; k < 2; k++) {
        ir_builder in = {.func = b.func, .region = branch->regions[k], .loc = b.loc};
        ir_yield(&in, 0, NULL);
    }
    return inside(b, branch);
}

static ir_op *leave_loop(ir_func *f, ir_op *accum, ir_op *loop)
{
    const int n = ir_field_of(accum)->ndim;
    ir_value *sum = carry_out(f, loop, accum->region, accum->args[n + 1], false);
    ir_builder b = {
        .func = f, .region = loop->region, .before = loop->next, .loc = accum->loc, .origin = accum->origin};
    ir_value **idx = ARENA_ARRAY(f->module->mem, ir_value *, n + 1);
    ir_map map = ir_map_create(f);
    for (int i = 0; i <= n; i++)
        idx[i] = ir_value_before(&b, accum->args[i], &map);
    ir_map_free(&map);
    b = where_it_runs(b, loop, accum, idx);
    ir_op *out = ir_accum(&b, ir_field_of(accum), IR_DATA, idx, idx[n], sum);
    ir_access_attr(out)->acc = ir_access_attr(accum)->acc;
    ir_set_class(out, ir_class_of(accum));
    ir_remove(accum);
    return out;
}

bool pass_kept_sums(ir_func *f)
{
    op_list accums = {0};
    bool changed = false;
    ir_walk(f->body, collect_accum, &accums);
    for (size_t i = 0; i < accums.len; i++)
        for (ir_op *loop = adding_loop(accums.at[i]); loop; loop = adding_loop(accums.at[i])) {
            accums.at[i] = leave_loop(f, accums.at[i], loop);
            changed = true;
        }
    vec_free(&accums);
    return changed;
}
