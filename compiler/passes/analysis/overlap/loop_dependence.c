/* Two iterations of a task that meet at an element: transposed, reversed or scaled indices.
 *
 * Equal subscripts are linear equations between the indices of the one iteration and those of the other. A solution is
 * sought among the indices at the ends of the ranges: in an equation of two indices those that have a partner are the
 * ones between two ends, so with small coefficients one is missed nowhere. Indices are affine forms (N - 1 - i), and
 * solutions hold for all values of their terms.
 */
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/loop_dependence.h"
#include "passes/analysis/values.h"

#include <stdlib.h>

#include "ir/ops.h"
#include "passes/analysis/overlap/overlap.h"

/* Numbers are small enough that no product of a coefficient and an index overflows. */
#define COEF_MAX (INT64_C(1) << 16)
#define KONST_MAX (INT64_C(1) << 40)

/* LENGTH: of a range of unknown length. SEEDS: indices that are tried from each end. BUDGET: equations looked at in
 * all. */
enum { LENGTH = 2, SEEDS = 16, BUDGET = 1000 };

static const affine zero = {.ok = true};

static bool is_index(const ir_op *task, const ir_value *v)
{
    return !v->def && v->region->parent == task && v->index < ir_task_attr(task)->ndim && v->index < DEPENDENCE_DIMS;
}

bool dependence_concerns(const ir_op *task, const affine *sub)
{
    for (int i = 0; i < sub->n; i++)
        if (is_index(task, sub->term[i]))
            return true;
    return false;
}

/* ---- forms that can be compared ---- */

static bool is_small(const affine *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->coef[i] > COEF_MAX || a->coef[i] < -COEF_MAX)
            return false;
    return a->ok && a->konst <= KONST_MAX && a->konst >= -KONST_MAX;
}

static const ir_value *term_for(dependence *c, const ir_value *v)
{
    for (int i = 0; i < c->nterms; i++)
        if (same_value(c->m, c->term[i], v))
            return c->term[i];
    if (c->nterms < DEPENDENCE_TERMS)
        c->term[c->nterms++] = v;
    return v;
}

/* a in terms of which each stands for all values that are the same number; extents are expanded. */
static affine canonical(dependence *c, const affine *a)
{
    affine sum = {.ok = a->ok, .konst = a->konst};
    for (int i = 0; i < a->n && sum.ok; i++) {
        const ir_value *v = resolved_value(c->m, a->term[i]);
        affine part = affine_of(v);
        for (int k = 0; k < part.n; k++)
            part.term[k] = term_for(c, part.term[k]);
        sum = affine_plus(&sum, &part, a->coef[i]);
    }
    sum.ok = sum.ok && is_small(&sum);
    return sum;
}

static bool split(dependence *c, const affine *sub, int *var, int64_t *coef, affine *rest)
{
    affine others = zero;
    others.konst = sub->konst;
    *var = -1;
    *coef = 0;
    for (int i = 0; i < sub->n; i++) {
        const ir_value *v = sub->term[i];
        if (is_index(c->task, v) && *var < 0) {
            *var = v->index;
            *coef = sub->coef[i];
        } else if (value_depends_on(v, c->task)) {
            return false;
        } else {
            others.term[others.n] = v;
            others.coef[others.n++] = sub->coef[i];
        }
    }
    *rest = canonical(c, &others);
    return rest->ok && *coef <= COEF_MAX && *coef >= -COEF_MAX;
}

bool dependence_add(dependence *c, const affine *first, const affine *second)
{
    dependence_equation *e = &c->eq[c->neq];
    affine a, b;
    if (c->neq == DEPENDENCE_DIMS || !first->ok || !second->ok || !split(c, first, &e->var[0], &e->coef[0], &a) ||
        !split(c, second, &e->var[1], &e->coef[1], &b))
        return false;
    e->rest = affine_sub(&b, &a);
    c->neq++;
    const int64_t step = greatest_divisor(e->coef[0], e->coef[1]);
    return e->rest.ok && (e->rest.n > 0 || step == 0 || e->rest.konst % step == 0);
}

/* ---- ranges ---- */

/* a - b, if that is a number for certain */
static bool distance(const affine *a, const affine *b, int64_t *x)
{
    const affine d = affine_sub(a, b);
    *x = d.konst;
    return d.ok && d.n == 0;
}

/* Where both ends are known, so is the answer; else the index stands near one of them. */
static bool is_in_range(const dependence *c, int dim, const affine *at)
{
    int64_t before, behind;
    const bool from_first = distance(at, &c->first[dim], &before), from_last = distance(&c->last[dim], at, &behind);
    if (from_first && from_last)
        return before >= 0 && behind >= 0;
    return (from_first && before >= 0 && before < LENGTH) || (from_last && behind >= 0 && behind < LENGTH);
}

static bool has_indices(const dependence *c, int dim, int n)
{
    int64_t length;
    return distance(&c->last[dim], &c->first[dim], &length) ? length >= n - 1 : n <= LENGTH;
}

/* Whether indices p and q of that range differ, also where one stands near its first and the other near its last one.
 */
static bool differ(const dependence *c, int dim, const affine *p, const affine *q)
{
    int64_t before, behind;
    if (distance(p, q, &before))
        return before != 0;
    if (distance(p, &c->first[dim], &before) && distance(&c->last[dim], q, &behind))
        return before + behind < LENGTH - 1;
    return distance(q, &c->first[dim], &before) && distance(&c->last[dim], p, &behind) && before + behind < LENGTH - 1;
}

/* An index that no equation binds may be any of its range. */
static bool are_two_iterations(const dependence *c)
{
    bool two = false;
    for (int d = 0; d < ir_task_attr(c->task)->ndim; d++) {
        if (!has_indices(c, d, 1))
            return false;
        two |= c->known[0][d] && c->known[1][d] ? differ(c, d, &c->at[0][d], &c->at[1][d]) : has_indices(c, d, 2);
    }
    return two;
}

/* ---- solving ---- */

static bool is_bound(const dependence *c, const dependence_equation *e, int side)
{
    return e->var[side] < 0 || c->known[side][e->var[side]];
}

/* coef * index on that side */
static affine product(const dependence *c, const dependence_equation *e, int side)
{
    return e->var[side] < 0 ? zero : affine_plus(&zero, &c->at[side][e->var[side]], e->coef[side]);
}

/* Gives the index on that side the value that the equation asks for. */
static bool derive(dependence *c, const dependence_equation *e, int side)
{
    const affine other = product(c, e, 1 - side);
    affine sum = affine_plus(&other, &e->rest, side ? -1 : 1);
    const int64_t coef = e->coef[side];
    if (!sum.ok || sum.konst % coef != 0)
        return false;
    sum.konst /= coef;
    for (int i = 0; i < sum.n; i++) {
        if (sum.coef[i] % coef != 0)
            return false;
        sum.coef[i] /= coef;
    }
    if (!is_small(&sum) || !is_in_range(c, e->var[side], &sum))
        return false;
    c->at[side][e->var[side]] = sum;
    return true;
}

static bool solve(dependence *c);

/* With an index of that side near one end of its range. */
static bool try_seeds(dependence *c, const dependence_equation *e, int side, bool from_last)
{
    const int dim = e->var[side], other = e->var[1 - side];
    bool found = false;
    for (int s = 0; s < SEEDS && !found; s++) {
        affine at = from_last ? c->last[dim] : c->first[dim];
        at.konst += from_last ? -s : s;
        if (!is_in_range(c, dim, &at))
            break;
        c->at[side][dim] = at;
        c->known[side][dim] = true;
        c->known[1 - side][other] = derive(c, e, 1 - side);
        found = c->known[1 - side][other] && solve(c);
        c->known[side][dim] = c->known[1 - side][other] = false;
    }
    return found;
}

static bool solve_one(dependence *c, const dependence_equation *e)
{
    const bool bound[2] = {is_bound(c, e, 0), is_bound(c, e, 1)};
    if (bound[0] && bound[1]) {
        const affine p = product(c, e, 0), q = product(c, e, 1), d = affine_sub(&p, &q);
        return affine_equal(&d, &e->rest) && solve(c);
    }
    if (!bound[0] && !bound[1])
        return try_seeds(c, e, 0, false) || try_seeds(c, e, 1, false) || try_seeds(c, e, 0, true) ||
               try_seeds(c, e, 1, true);
    const int side = bound[0] ? 1 : 0;
    if (!derive(c, e, side))
        return false;
    c->known[side][e->var[side]] = true;
    const bool found = solve(c);
    c->known[side][e->var[side]] = false;
    return found;
}

/* The equations that are left, one with the fewest unknown indices first. */
static bool solve(dependence *c)
{
    if (--c->budget < 0)
        return false;
    int next = -1, fewest = 3;
    for (int k = 0; k < c->neq; k++) {
        const int unknown = !is_bound(c, &c->eq[k], 0) + !is_bound(c, &c->eq[k], 1);
        if ((c->done & (1u << k)) || unknown >= fewest)
            continue;
        next = k;
        fewest = unknown;
    }
    if (next < 0)
        return are_two_iterations(c);
    c->done |= 1u << next;
    const bool found = solve_one(c, &c->eq[next]);
    c->done &= ~(1u << next);
    return found;
}

bool dependence_exists(dependence *c)
{
    c->budget = BUDGET;
    if (ir_task_attr(c->task)->ndim > DEPENDENCE_DIMS)
        return false;
    for (int d = 0; d < ir_task_attr(c->task)->ndim; d++) {
        const affine lo = affine_of(c->task->args[2 * d]), hi = affine_of(c->task->args[2 * d + 1]);
        c->first[d] = canonical(c, &lo);
        c->last[d] = canonical(c, &hi);
        c->last[d].konst--;
        if (!c->first[d].ok || !c->last[d].ok)
            return false;
    }
    return solve(c);
}
