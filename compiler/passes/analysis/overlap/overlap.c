/* Subscripts of two accesses, dimension by dimension.
 *
 * Indices of loops around both accesses are compared by their distance (delta). Indices of loops around one of them
 * only are free: they may take any value of their range, so it is enough that the ranges have the element in common;
 * with subscripts i + 1 and i, too. All other terms must be the same value.
 */
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/overlap.h"
#include "passes/analysis/values.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/overlap/loop_dependence.h"

/* Values are followed so many operations deep; beyond that they are not known, and nothing is certain. */
enum { DEPTH_MAX = 12 };

/* Subscripts with larger constants are not compared, so that distances cannot overflow. */
#define KONST_MAX (INT64_C(1) << 60)

/* ---- where things stand ---- */

static path path_to(const ir_module *m, const ir_op *op, const access *beside)
{
    if (beside && beside->op->region == op->region)
        return beside->way;
    path p = {NULL, 0};
    for (const ir_op *o = op; o->region->parent; o = o->region->parent)
        p.n++;
    path_step *at = ARENA_ARRAY(m->mem, path_step, (size_t)p.n + 1);
    int i = p.n;
    for (const ir_op *o = op; o->region->parent; o = o->region->parent)
        at[--i] = (path_step){o->region->parent, o->region};
    p.at = at;
    return p;
}

access access_of_op(const ir_module *m, const ir_op *op, const access *beside)
{
    access a = {.op = op, .way = path_to(m, op, beside), .field = ir_field_of(op), .plane = ir_access_attr(op)->plane};
    a.kind = op->code == OP_ATOMIC ? OP_ADDS : op_touches(op->code);
    a.nsub = ir_field_of(op)->ndim + 1;
    affine *sub = ARENA_ARRAY(m->mem, affine, a.nsub);
    for (int k = 0; k < a.nsub; k++)
        sub[k] = affine_of(op->args[k]);
    a.sub = sub;
    return a;
}

access access_in_call(const ir_module *m, const ir_op *call, const access *a, const access *beside)
{
    const ir_op *inner = a->inner ? a->inner : a->op;
    access out = {.op = call, .inner = inner, .field = a->field, .plane = a->plane, .kind = a->kind, .nsub = a->nsub};
    out.way = path_to(m, call, beside);
    out.repeated = a->repeated;
    out.guarded = a->guarded || !path_is_unconditional(&a->way, 0);
    access *deeper = ARENA_NEW(m->mem, access);
    *deeper = *a;
    out.deeper = deeper;
    affine *sub = ARENA_ARRAY(m->mem, affine, out.nsub);
    for (int k = 0; k < out.nsub; k++)
        sub[k] = affine_in_call(&a->sub[k], call);
    out.sub = sub;
    return out;
}

bool path_is_unconditional(const path *p, int from)
{
    for (int i = from; i < p->n; i++)
        if (p->at[i].op->code == OP_IF || (p->at[i].op->code == OP_LOOP && ir_loop_attr(p->at[i].op)->cond))
            return false;
    return true;
}

/* Whether indices or what loops carry enter v otherwise than through memory. */
static bool knows_index(const ir_value *v, int depth)
{
    if (!v->def)
        return v->region->parent != NULL;
    if (!op_is_pure_table(v->def->code))
        return v->def->code == OP_IF || v->def->code == OP_CALL || v->def->code == OP_LLOAD;
    if (depth > DEPTH_MAX)
        return true;
    for (int i = 0; i < v->def->nargs; i++)
        if (knows_index(v->def->args[i], depth + 1))
            return true;
    return false;
}

bool path_is_index_free(const path *p, int from)
{
    for (int i = from; i < p->n; i++) {
        const ir_op *op = p->at[i].op;
        if (op->code == OP_IF ? knows_index(op->args[0], 0)
                              : op->code == OP_LOOP && ir_loop_attr(op)->cond && ir_loop_attr(op)->bounded)
            return false;
    }
    return true;
}

static void find_common(overlap *o, const ir_op *within)
{
    bool last = false;
    while (!last && o->ncommon < o->a.n && o->ncommon < o->b.n && o->a.at[o->ncommon].op == o->b.at[o->ncommon].op) {
        const path_step *s = &o->a.at[o->ncommon++];
        const ir_op *op = s->op;
        const int dims = op->code == OP_TASK ? ir_task_attr(op)->ndim : op->code == OP_LOOP ? 1 : 0;
        for (int d = 0; d < dims; d++)
            vec_push(&o->loops, ((common_loop){.op = op, .dim = d}));
        last = op == within || s->region != o->b.at[o->ncommon - 1].region;
    }
}

/* The loop whose index v is, and which dimension; NULL if v is no index. */
static const ir_op *index_of(const ir_value *v, int *dim)
{
    const ir_op *op = v->def ? NULL : v->region->parent;
    if (!op)
        return NULL;
    *dim = v->index;
    if (op->code == OP_TASK && v->index < ir_task_attr(op)->ndim)
        return op;
    return op->code == OP_LOOP && ir_loop_attr(op)->bounded && op->regions[0] == v->region && v->index == 0 ? op : NULL;
}

bool loop_runs_at_most(const ir_op *op, int dim, int64_t n)
{
    const ir_module *m = op->region->func->module;
    int64_t lo, hi;
    if (op->code == OP_LOOP && !ir_loop_attr(op)->bounded)
        return false;
    return const_value_of(m, op->args[2 * dim], &lo) && const_value_of(m, op->args[2 * dim + 1], &hi) &&
           (hi <= lo || (uint64_t)hi - (uint64_t)lo <= (uint64_t)n);
}

/* ---- one dimension ---- */

typedef struct matching {
    const ir_module *m;
    overlap *o;
    bool unordered; /* iterations of a task against each other */
} matching;

static common_loop *common_of(const matching *t, const ir_value *v)
{
    int dim;
    const ir_op *op = index_of(v, &dim);
    for (int i = 0; op && i < (int)t->o->loops.len; i++)
        if (t->o->loops.at[i].op == op && t->o->loops.at[i].dim == dim)
            return &t->o->loops.at[i];
    return NULL;
}

static bool fix(common_loop *c, int64_t delta)
{
    if (c->fixed && c->delta != delta)
        return false;
    c->fixed = true;
    c->delta = delta;
    return true;
}

/* v must be the same for both accesses: they stay in the same iteration of every loop that v depends on. */
static bool same_for_both(const matching *t, const ir_value *v)
{
    for (int i = t->o->ncommon; i < t->o->a.n; i++)
        if (t->o->a.at[i].op->code == OP_LOOP && value_depends_on(v, t->o->a.at[i].op))
            return false;
    for (int i = 0; i < (int)t->o->loops.len; i++)
        if (value_depends_on(v, t->o->loops.at[i].op) && !fix(&t->o->loops.at[i], 0))
            return false;
    return true;
}

static bool bounds_same_for_both(const matching *t, const ir_value *index)
{
    int dim;
    const ir_op *op = index_of(index, &dim);
    return same_for_both(t, op->args[2 * dim]) && same_for_both(t, op->args[2 * dim + 1]);
}

static bool is_free(const matching *t, const path *p, const ir_value *v)
{
    int dim;
    const ir_op *op = index_of(v, &dim);
    for (int i = t->o->ncommon; op && i < p->n; i++)
        if (p->at[i].op == op)
            return true;
    return false;
}

static const index_pair *pair_with(const matching *t, const ir_value *v)
{
    for (size_t i = 0; i < t->o->pairs.len; i++)
        if (t->o->pairs.at[i].p == v || t->o->pairs.at[i].q == v)
            return &t->o->pairs.at[i];
    return NULL;
}

/* The subscript is a free index that runs over the field's whole extent: it meets whatever the other access touches. */
static bool covers(matching *t, const path *p, const affine *f, const ir_field *field, int dim)
{
    if (!f->ok || dim >= field->ndim || f->n != 1 || f->coef[0] != 1 || f->konst != 0 || !is_free(t, p, f->term[0]) ||
        pair_with(t, f->term[0]))
        return false;
    int d;
    int64_t lo;
    const ir_op *loop = index_of(f->term[0], &d);
    const ir_value *extent = extent_value(loop->region->func, field, dim);
    if (!const_value_of(t->m, loop->args[2 * d], &lo) || lo != 0 || !extent)
        return false;
    if (!same_value(t->m, loop->args[2 * d + 1], extent))
        return false;
    vec_push(&t->o->pairs, ((index_pair){f->term[0], NULL, 0}));
    return true;
}

/* Both loops have constant bounds: whether some p + shift is a q. */
static bool constant_ranges_meet(const matching *t, const ir_op *lp, int dp, const ir_op *lq, int dq, int64_t shift,
                                 bool *meet)
{
    int64_t p[2], q[2];
    for (int i = 0; i < 2; i++)
        if (!const_value_of(t->m, lp->args[2 * dp + i], &p[i]) || !const_value_of(t->m, lq->args[2 * dq + i], &q[i]) ||
            llabs(p[i]) > KONST_MAX || llabs(q[i]) > KONST_MAX || llabs(shift) > KONST_MAX)
            return false;
    *meet = p[0] < p[1] && q[0] < q[1] && p[0] + shift < q[1] && q[0] < p[1] + shift;
    return true;
}

/* q can be p + shift: the ranges are constant and have such indices, or they are the same (and taken to be longer than
 * the shift). */
static bool match_free(matching *t, const ir_value *p, const ir_value *q, int64_t shift)
{
    const index_pair *known = pair_with(t, p), *other = pair_with(t, q);
    if (known || other)
        return known == other && known->q == q && known->shift == shift;
    int dp = 0, dq = 0;
    const ir_op *lp = index_of(p, &dp), *lq = index_of(q, &dq);
    bool meet = true;
    if (!constant_ranges_meet(t, lp, dp, lq, dq, shift, &meet))
        for (int i = 0; i < 2; i++)
            if (!same_value(t->m, lp->args[2 * dp + i], lq->args[2 * dq + i]))
                return false;
    if (!meet || !bounds_same_for_both(t, p) || !bounds_same_for_both(t, q))
        return false;
    vec_push(&t->o->pairs, ((index_pair){p, q, shift}));
    return true;
}

/* A free index with constant bounds against a constant. */
static bool range_has(matching *t, const path *p, const affine *f, const affine *c)
{
    int d;
    int64_t lo, hi;
    if (f->n != 1 || c->n != 0 || f->coef[0] != 1 || !is_free(t, p, f->term[0]) || pair_with(t, f->term[0]))
        return false;
    const ir_op *loop = index_of(f->term[0], &d);
    if (!const_value_of(t->m, loop->args[2 * d], &lo) || !const_value_of(t->m, loop->args[2 * d + 1], &hi))
        return false;
    if (c->konst - f->konst < lo || c->konst - f->konst >= hi)
        return false;
    vec_push(&t->o->pairs, ((index_pair){f->term[0], NULL, 0}));
    return true;
}

/* Whether the task runs for this index in dimension d: its bounds are constant, or those of the field, which has the
 * element. */
static bool task_has(const matching *t, const ir_op *task, int d, int64_t at, const ir_value *extent)
{
    int64_t lo, hi;
    if (!const_value_of(t->m, task->args[2 * d], &lo) || at < lo)
        return false;
    if (const_value_of(t->m, task->args[2 * d + 1], &hi))
        return at < hi;
    return extent && same_value(t->m, task->args[2 * d + 1], extent);
}

/* The loops inside of the task surely run in its one iteration: their bounds are constants. */
static bool inner_loops_run(const matching *t, const path *p)
{
    bool inside = false;
    for (int i = 0; i < p->n; i++) {
        const ir_op *op = p->at[i].op;
        int64_t lo, hi;
        const bool runs = op->code != OP_LOOP || (ir_loop_attr(op)->bounded && const_value_of(t->m, op->args[0], &lo) &&
                                                  const_value_of(t->m, op->args[1], &hi) && lo < hi);
        if (inside && !runs)
            return false;
        inside = inside || op->code == OP_TASK;
    }
    return true;
}

/* The index of a task against a constant: that access, the first or the second (`side`), meets the other in one
 * iteration of its own, whichever the other's is. */
static bool pins(matching *t, const affine *f, const affine *other, int side, const access *a, int k)
{
    common_loop *c = t->unordered && f->n == 1 && other->n == 0 ? common_of(t, f->term[0]) : NULL;
    if (!c || c->op->code != OP_TASK || (other->konst - f->konst) % f->coef[0] != 0)
        return false;
    const int64_t at = (other->konst - f->konst) / f->coef[0];
    const bool whole = f->coef[0] == 1 && f->konst == 0 && k < a->field->ndim;
    const ir_value *extent = whole ? extent_value(c->op->region->func, a->field, k) : NULL;
    if (!inner_loops_run(t, side ? &t->o->b : &t->o->a) || !task_has(t, c->op, c->dim, at, extent) ||
        (c->pinned[side] && c->pin[side] != at))
        return false;
    c->pinned[side] = true;
    c->pin[side] = at;
    return !c->pinned[1 - side] || fix(c, c->pin[1] - c->pin[0]);
}

static int find_term(const affine *f, const ir_value *v)
{
    for (int i = 0; i < f->n; i++)
        if (f->term[i] == v)
            return i;
    return -1;
}

/* rest: what the common terms must make up for. Free indices alone make up for all of it. */
static bool match_terms(matching *t, const affine *fa, const affine *fb, common_loop **single, int64_t *coef,
                        int *ncommon, int64_t *rest)
{
    const ir_value *free_a = NULL, *free_b = NULL;
    int64_t coef_a = 0, coef_b = 0;
    *ncommon = 0;
    for (int i = 0; i < fa->n; i++) {
        const ir_value *v = fa->term[i];
        if (is_free(t, &t->o->a, v)) {
            if (free_a)
                return false;
            free_a = v;
            coef_a = fa->coef[i];
            continue;
        }
        const int j = find_term(fb, v);
        if (j < 0 || fb->coef[j] != fa->coef[i])
            return false;
        common_loop *c = common_of(t, v);
        if (c ? !bounds_same_for_both(t, v) : !same_for_both(t, v))
            return false;
        if (!c)
            continue;
        *single = c;
        *coef = fa->coef[i];
        ++*ncommon;
    }
    for (int i = 0; i < fb->n; i++) {
        if (is_free(t, &t->o->b, fb->term[i])) {
            if (free_b)
                return false;
            free_b = fb->term[i];
            coef_b = fb->coef[i];
        } else if (find_term(fa, fb->term[i]) < 0) {
            return false;
        }
    }
    if (!free_a && !free_b)
        return true;
    if (!free_a || !free_b || coef_a != coef_b)
        return false;
    if (*ncommon > 0)
        return match_free(t, free_a, free_b, 0);
    const int64_t diff = *rest;
    *rest = 0;
    return diff % coef_a == 0 && match_free(t, free_a, free_b, diff / coef_a);
}

static bool match_dim(matching *t, const access *a, const access *b, int k)
{
    const affine *fa = &a->sub[k], *fb = &b->sub[k];
    if (covers(t, &t->o->a, fa, a->field, k) || covers(t, &t->o->b, fb, b->field, k))
        return true;
    if (!fa->ok || !fb->ok || llabs(fa->konst) > KONST_MAX || llabs(fb->konst) > KONST_MAX)
        return false;
    if (range_has(t, &t->o->a, fa, fb) || range_has(t, &t->o->b, fb, fa) || pins(t, fa, fb, 0, a, k) ||
        pins(t, fb, fa, 1, b, k))
        return true;
    common_loop *c = NULL;
    int64_t coef = 0;
    int n;
    int64_t diff = fa->konst - fb->konst;
    if (!match_terms(t, fa, fb, &c, &coef, &n, &diff))
        return false;
    if (n == 0)
        return diff == 0;
    if (n == 1)
        return diff % coef == 0 && fix(c, diff / coef);
    if (diff != 0)
        return false;
    for (int i = 0; i < fa->n; i++) {
        common_loop *each = common_of(t, fa->term[i]);
        if (each && !fix(each, 0))
            return false;
    }
    return true;
}

bool access_never_aliases(const access *a, const access *b)
{
    if (a->field != b->field || a->plane != b->plane)
        return true;
    if (a->repeated || b->repeated)
        return false;
    for (int k = 0; k < a->nsub && k < b->nsub; k++)
        if (a->sub[k].ok && b->sub[k].ok && a->sub[k].n == 0 && b->sub[k].n == 0 && a->sub[k].konst != b->sub[k].konst)
            return true;
    return false;
}

/* One access is made in one iteration for certain and the other at a distance from it: whether there is that iteration,
 * equations tell. */
static bool is_half_pinned(const overlap *o)
{
    for (int i = 0; i < (int)o->loops.len; i++)
        if (o->loops.at[i].fixed && o->loops.at[i].pinned[0] != o->loops.at[i].pinned[1])
            return true;
    return false;
}

/* The loops around op inside of the task run in every iteration alike. */
static bool loops_run_alike(const ir_module *m, const ir_op *op, const ir_op *task)
{
    for (const ir_op *o = op->region->parent; o != task; o = o->region->parent) {
        int64_t lo, hi;
        if (o->code != OP_LOOP || !ir_loop_attr(o)->bounded || value_depends_on(o->args[0], task) ||
            value_depends_on(o->args[1], task))
            return false;
        if (const_value_of(m, o->args[0], &lo) && const_value_of(m, o->args[1], &hi) && lo >= hi)
            return false;
    }
    return true;
}

/* The accesses meet from different iterations of the task, at no distance of their indices that would be the same for
 * all. */
static bool cross(matching *t, const access *a, const access *b, const ir_op *task)
{
    if (!loops_run_alike(t->m, a->op, task) || !loops_run_alike(t->m, b->op, task))
        return false;
    dependence c = {.m = t->m, .task = task};
    for (int k = 0; k < a->nsub && k < b->nsub; k++) {
        const affine *fa = &a->sub[k], *fb = &b->sub[k];
        if (covers(t, &t->o->a, fa, a->field, k) || covers(t, &t->o->b, fb, b->field, k))
            continue;
        const bool concerned = dependence_concerns(task, fa) || dependence_concerns(task, fb);
        if (concerned ? !dependence_add(&c, fa, fb) : !match_dim(t, a, b, k))
            return false;
    }
    for (int i = 0; i < (int)t->o->loops.len; i++)
        if (t->o->loops.at[i].op == task && t->o->loops.at[i].fixed) /* a value that depends on the iteration */
            return false;
    return dependence_exists(&c);
}

static matching matching_for(const ir_module *m, overlap *o, const ir_op *within)
{
    vec_clear(&o->pairs);
    for (size_t i = 0; i < o->loops.len; i++)
        o->loops.at[i] = (common_loop){.op = o->loops.at[i].op, .dim = o->loops.at[i].dim};
    return (matching){.m = m, .o = o, .unordered = within != NULL};
}

void overlap_find(overlap *o, const ir_module *m, const access *a, const access *b, const ir_op *within)
{
    o->placed = o->provable = false;
    o->ncommon = 0;
    vec_clear(&o->loops);
    if (access_never_aliases(a, b))
        return;
    o->a = a->way;
    o->b = b->way;
    find_common(o, within);
    matching t = matching_for(m, o, within);
    o->placed = o->provable = true;
    for (int k = 0; k < a->nsub && k < b->nsub && o->provable; k++)
        o->provable = match_dim(&t, a, b, k);
    if (within && (!o->provable || is_half_pinned(o))) {
        t = matching_for(m, o, within);
        o->provable = cross(&t, a, b, within);
    }
}

void overlap_free(overlap *o)
{
    vec_free(&o->loops);
    vec_free(&o->pairs);
}
