/* Conditions on indices, and subscripts that are chosen by one: which iterations the one side is for, and to which
 * elements they come then. gather_steps.c has what is written without a choice.
 */
#include "ir/ops.h"
#include "passes/analysis/values.h"
#include "passes/schedule/gather/gather.h"

static const steps no_steps;

/* ---- conditions ---- */

static affine chosen(const gather *g, const ir_value *v, int *left);

static bool compare_index(const gather *g, ir_opcode code, const affine *x, const affine *bound, limit *l)
{
    int64_t low;
    if (!gather_index(g, x, &l->dim, &l->c) || l->c > GATHER_EDGE || l->c < -GATHER_EDGE ||
        !gather_low(g, l->dim, &low) || !gather_is_bound(g, bound, l->dim))
        return false;
    affine at = *bound;
    at.konst += (code == OP_GT || code == OP_LE) - l->c;
    l->one = code == OP_EQ || code == OP_NE;
    l->not = code == OP_NE || code == OP_LT || code == OP_LE;
    return gather_place(g, &at, l->dim, &l->above, &l->below);
}

static ir_opcode swapped(ir_opcode code)
{
    return code == OP_LT ? OP_GT : code == OP_LE ? OP_GE : code == OP_GT ? OP_LT : code == OP_GE ? OP_LE : code;
}

static bool is_comparison(const ir_op *op)
{
    return op && op->code >= OP_EQ && op->code <= OP_GE && (op->args[0]->type == SC_I32 || op->args[0]->type == SC_I64);
}

bool gather_limit(const gather *g, const ir_value *condition, int *left, limit *l)
{
    const ir_op *op = condition->def;
    if (!is_comparison(op))
        return false;
    const affine x = chosen(g, op->args[0], left), y = chosen(g, op->args[1], left);
    return compare_index(g, op->code, &x, &y, l) || compare_index(g, swapped(op->code), &y, &x, l);
}

/* ---- what holds in all iterations, or in none ---- */

/* Where the elements lie that iterations come to: from lo + least on, below hi + most. The range is not empty. */
static void extent_of(const steps *s, int64_t *least, int64_t *most)
{
    *least = INT64_MAX;
    *most = INT64_MIN;
    for (int i = 0; i < s->n; i++) {
        const step *x = &s->at[i];
        int64_t low = x->by, high = x->by;
        if (x->kind == STEP_WRAP)
            low = high = 0;
        if (x->kind == STEP_BELOW || x->kind == STEP_LAST)
            high = -x->edge;
        if (x->kind == STEP_ABOVE || x->kind == STEP_FIRST)
            low = x->edge;
        if (x->kind == STEP_LAST)
            low = -x->edge;
        if (x->kind == STEP_FIRST)
            high = x->edge;
        *least = low < *least ? low : *least;
        *most = high > *most ? high : *most;
    }
}

/* Whether `x code bound` is the same in all iterations, where x is one of the steps. */
static bool decide(const gather *g, ir_opcode code, const affine *x, scalar type, const affine *bound, int *left,
                   bool *truth)
{
    const steps s = gather_steps_of(g, x, left);
    int64_t low, above, below, least, most;
    if (!s.n || !gather_low(g, s.dim, &low) || !gather_is_bound(g, bound, s.dim))
        return false;
    affine first = *bound; /* the least number for which x >= first, where the comparison asks for more than one */
    const bool one = code == OP_EQ || code == OP_NE;
    first.konst += code == OP_GT || code == OP_LE;
    extent_of(&s, &least, &most);
    gather_place(g, &first, s.dim, &above, &below);
    const bool never = below != gather_unknown && most <= -below; /* all of them are below it */
    const bool beyond = above != gather_unknown && least >= above + one;
    *truth = one ? code == OP_NE : never == (code == OP_LT || code == OP_LE);
    bool certain = never || beyond;
    for (int i = 0; i < s.n && certain; i++) /* else it may have wrapped */
        certain = s.at[i].by <= 1 || gather_is_small(g, type, s.dim, s.at[i].by);
    return certain;
}

bool gather_decided(const gather *g, const ir_value *condition, int *left, bool *truth)
{
    const ir_op *op = condition->def;
    if (ir_is_const(condition)) {
        *truth = ir_int(condition) != 0;
        return true;
    }
    if (!is_comparison(op) || --*left < 0)
        return false;
    const affine x = chosen(g, op->args[0], left), y = chosen(g, op->args[1], left);
    return decide(g, op->code, &x, op->args[0]->type, &y, left, truth) ||
           decide(g, swapped(op->code), &y, op->args[0]->type, &x, left, truth);
}

/* v, with the side that all iterations take in place of a choice. */
static affine chosen(const gather *g, const ir_value *v, int *left)
{
    affine a = affine_of(v);
    bool truth;
    for (int k = 0; k < a.n && a.ok;) {
        const ir_op *op = a.term[k]->def;
        if (!op || op->code != OP_SELECT || --*left < 0 || !gather_decided(g, op->args[0], left, &truth)) {
            k++;
            continue;
        }
        const affine choice = {.term = {a.term[k]}, .coef = {1}, .n = 1, .ok = true};
        const affine side = affine_of(op->args[truth ? 1 : 2]);
        const int64_t coef = a.coef[k];
        a = affine_plus(&a, &choice, -coef);
        a = affine_plus(&a, &side, coef);
        k = 0;
    }
    return a;
}

/* ---- choices ---- */

/* Whether the range has n elements, whenever it has any. */
static bool has_elements(const gather *g, int dim, int64_t n)
{
    int64_t hi;
    return n <= 1 || (const_value_of(g->f->module, g->task->args[2 * dim + 1], &hi) && hi >= n);
}

/* The same element, from the one index that leaves. */
static bool is_end(const gather *g, const affine *out, const affine *hi, int64_t c)
{
    int64_t from_hi;
    if (c == 1)
        return out->ok && out->n == 0 && out->konst == 0;
    return c == -1 && gather_distance(g, out, hi, &from_hi) && from_hi == -1;
}

/* The element of the m-th iteration that leaves, seen from that end of the range; false: it is not known. */
static bool end_element(const gather *g, const affine *out, int dim, bool high, int64_t m, int64_t *edge)
{
    affine at = *out;
    const affine bound = gather_bound(g, dim, high), index = {.term = {g->index[dim]}, .coef = {1}, .n = 1, .ok = true};
    int64_t coef = 0;
    for (int k = 0; k < at.n && at.ok; k++)
        coef += at.term[k] == g->index[dim] ? at.coef[k] : 0;
    at = affine_plus(&at, &index, -coef);
    at = affine_plus(&at, &bound, coef);
    at.konst += coef * (high ? -1 - m : m);
    int64_t distance;
    if (!at.ok || !gather_distance(g, high ? &bound : &at, high ? &at : &bound, &distance))
        return false;
    *edge = distance - high;
    return *edge <= GATHER_EDGE && *edge >= -GATHER_EDGE;
}

/* Held at a bound, reflected, or anything else that the few iterations come to which leave: each is a step of its own.
 */
static steps steps_of_end(const gather *g, const affine *out, int dim, int64_t c)
{
    const bool high = c > 0;
    const int64_t away = high ? c : -c;
    steps s = gather_step(high ? STEP_BELOW : STEP_ABOVE, dim, c);
    if (away > MAX_STEPS - 1)
        return no_steps;
    for (int64_t m = 0; m < away; m++) {
        int64_t edge;
        if (!end_element(g, out, dim, high, m, &edge))
            return no_steps;
        s.at[s.n++] = (step){high ? STEP_LAST : STEP_FIRST, high ? m - edge : edge - m, edge};
    }
    return s;
}

/* `in`: the subscript where it is an index plus c and stays in [0, hi). `out`: what it is for the indices of l, or for
 * all others, which leave the range so. */
static steps steps_of_jump(const gather *g, const affine *in, const affine *out, const limit *l, bool in_above)
{
    int dim;
    int64_t c, d;
    if (!gather_index(g, in, &dim, &c) || dim != l->dim || c == 0)
        return no_steps;
    const affine hi = gather_bound(g, dim, 1);
    const int64_t away = c < 0 ? -c : c;
    if (!gather_is_range(g, dim, &hi) || (l->one ? away != 1 : in_above != (c < 0)))
        return no_steps;
    if (c > 0 ? l->below != away : l->above != away - l->one) /* it is not these that leave */
        return no_steps;
    const affine jump = c > 0 ? affine_sub(in, out) : affine_sub(out, in);
    const bool around = (gather_distance(g, &jump, &hi, &d) && d == 0) || is_end(g, out, &hi, c);
    if (around)
        return has_elements(g, dim, away) ? gather_step(STEP_WRAP, dim, c) : no_steps;
    return steps_of_end(g, out, dim, c);
}

steps gather_choice(const gather *g, const ir_op *op, int *left)
{
    limit l;
    bool truth;
    if (--*left < 0)
        return no_steps;
    if (gather_decided(g, op->args[0], left, &truth)) {
        const affine side = affine_of(op->args[truth ? 1 : 2]);
        return gather_steps_of(g, &side, left);
    }
    if (!gather_limit(g, op->args[0], left, &l))
        return no_steps;
    const affine yes = chosen(g, op->args[l.not ? 2 : 1], left), no = chosen(g, op->args[l.not ? 1 : 2], left);
    const steps up = steps_of_jump(g, &no, &yes, &l, false);
    return up.n || l.one ? up : steps_of_jump(g, &yes, &no, &l, true);
}

/* Of 0, as the lower bound is. */
steps gather_reflected(const gather *g, const ir_op *op)
{
    const affine x = affine_of(op->args[0]), zero = {.ok = true}, back = affine_sub(&zero, &x);
    int dim;
    int64_t c, low;
    if (!gather_index(g, &x, &dim, &c) || !gather_low(g, dim, &low) || low != 0 || c > 1)
        return no_steps;
    return c < 0 ? steps_of_end(g, &back, dim, c) : gather_step(STEP_SHIFT, dim, c);
}
