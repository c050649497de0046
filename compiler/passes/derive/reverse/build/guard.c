/* Reverse mode: the condition under which an adjoint may be other than zero.
 *
 *     s = sqrt(a);  if a > 0 { r = 2 * s }
 *
 * The reverse `if` gives the adjoint of s, a zero where the branch was not taken, and the pull-back of the root
 * multiplies it with infinity at a = 0. The adjoint's *guard* is the condition of that branch. Where a pull-back may
 * meet infinity or NaN, its outcome counts only where the guard holds.
 *
 * Guards come from reverse `if`s that give zero on one side, from the choices in the rules of min and select, and from
 * winners. A contribution has the guard of the adjoint that it is linear in. A sum has the disjunction of the guards of
 * its terms. A loop passes on the guards that follow from conditions around it. Memory and calls pass on no guard.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/build/build.h"
#include "passes/simplify/simplify.h"

#include <string.h>

/* ---- where numbers end ---- */

/* Whether the value, or its derivative, may be infinite or NaN where the operands are numbers. */
static bool may_blow_up(const ir_op *op)
{
    switch (op->code) {
    case OP_EXP:
    case OP_EXP2:
    case OP_EXPM1:
    case OP_SINH:
    case OP_COSH:
    case OP_TRIGAMMA:
    case OP_TETRAGAMMA:
        return true;
    case OP_DIV:
    case OP_REM:
    case OP_MOD:
        return scalar_is_float(op->res[0]->type) && has_pole_by(op, 1);
    default:
        return has_poles(op);
    }
}

static void study_region(rev *rv, const ir_region *r);

static void mark(rev *rv, const ir_value *v, bool wild)
{
    rv->wild[v->id] |= wild && scalar_is_float(v->type);
}

static void mark_yields(rev *rv, const ir_op *op, const ir_region *r)
{
    const ir_op *y = ir_yield_of(r);
    for (int i = 0; i < op->nres && i < y->nargs; i++)
        mark(rv, op->res[i], rv->wild[y->args[i]->id]);
}

/* Twice, for what an iteration hands to the next one. */
static void study_loop(rev *rv, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    const int p0 = ir_loop_first_param(op), i0 = ir_loop_first_init(op);
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < ir_loop_ncarried(op); k++) {
            const bool wild = rv->wild[op->args[i0 + k]->id] || rv->wild[ir_yield_of(body)->args[k]->id];
            mark(rv, body->params[p0 + k], wild);
            mark(rv, op->res[k], wild);
        }
        study_region(rv, body);
    }
    mark_yields(rv, op, body);
}

static void study_op(rev *rv, const ir_op *op)
{
    bool wild = op->code == OP_CALL;
    switch (op->code) {
    case OP_LOOP:
        study_loop(rv, op);
        return;
    case OP_IF:
    case OP_TASK:
        for (int k = 0; k < op->nregions; k++) {
            study_region(rv, op->regions[k]);
            mark_yields(rv, op, op->regions[k]);
        }
        return;
    case OP_LSTORE:
    case OP_LACCUM:
        rv->wild[op->args[0]->id] |= rv->wild[op->args[2]->id];
        return;
    case OP_LLOAD:
        wild = rv->wild[op->args[0]->id];
        break;
    default:
        if (!op_is_pure_table(op->code))
            break;
        wild = may_blow_up(op);
        for (int i = 0; i < op->nargs; i++)
            wild |= rv->wild[op->args[i]->id];
    }
    for (int i = 0; i < op->nres; i++)
        mark(rv, op->res[i], wild);
}

static void study_region(rev *rv, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        study_op(rv, op);
}

bool rev_may_blow_up(rev *rv, const ir_op *op)
{
    if (!rv->wild) {
        rv->wild = ARENA_ARRAY(rv->module->mem, bool, rv->primal->next_value + 1);
        study_region(rv, rv->primal->body);
    }
    if (op->code == OP_CALL || may_blow_up(op))
        return true;
    unsigned needs = 0;
    for (int k = 0; k < op->nargs; k++)
        if (scalar_is_float(op->args[k]->type) && rev_varied(rv, op->args[k]))
            needs |= rule_needs(op->code, k, OP_COUNT);
    bool wild = needs & RULE_RESULT && rv->wild[op->res[0]->id];
    for (int k = 0; k < op->nargs; k++)
        wild |= needs & 1u << k && rv->wild[op->args[k]->id];
    return wild;
}

/* ---- guards ---- */

ir_value *rev_guard(const rev *rv, const ir_value *g)
{
    return g->id < rv->guards.len ? rv->guards.at[g->id].cond : NULL;
}

void rev_set_guard(rev *rv, const ir_value *g, ir_value *guard)
{
    while (rv->guards.len <= g->id)
        vec_push(&rv->guards, ((rev_guarded){NULL, NULL}));
    rv->guards.at[g->id].cond = guard;
}

ir_value *rev_either(ir_builder *b, ir_value *x, ir_value *y)
{
    return !x || !y ? NULL : x == y ? x : ir_op2(b, OP_OR, x, y);
}

static ir_value *both(ir_builder *b, ir_value *x, ir_value *y)
{
    return !x || x == y ? y : !y ? x : ir_op2(b, OP_AND, x, y);
}

static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && ir_float(v) == 0.0;
}

/* The same where its guard holds. */
static ir_value *bare(const rev *rv, ir_value *g)
{
    return rev_guard(rv, g) && rv->guards.at[g->id].bare ? rv->guards.at[g->id].bare : g;
}

/* A choice with a zero, as the rules of min and select make it: its condition, and the other side; else NULL. */
static ir_value *choice_of(ir_builder *b, ir_value **d)
{
    const ir_op *op = (*d)->def;
    if (!op || op->code != OP_SELECT || (!is_zero(op->args[1]) && !is_zero(op->args[2])))
        return NULL;
    const bool first = is_zero(op->args[2]);
    *d = op->args[first ? 1 : 2];
    return first ? op->args[0] : ir_op1(b, OP_NOT, op->args[0]);
}

static ir_value *only_if(rev *rv, ir_builder *b, ir_value *guard, ir_value *d)
{
    guard = both(b, guard, choice_of(b, &d));
    ir_value *r = ir_op3(b, OP_SELECT, guard, d, ir_zero(b, d->type));
    rev_set_guard(rv, r, guard);
    rv->guards.at[r->id].bare = d;
    return r;
}

ir_value *rev_pull(rev *rv, const ir_op *op, ir_value *g)
{
    return rev_guard(rv, g) && rev_may_blow_up(rv, op) ? bare(rv, g) : NULL;
}

ir_value *rev_hand_on(rev *rv, ir_builder *b, const ir_value *g, bool chosen, ir_value *d)
{
    if (!d || d == g)
        return d;
    ir_value *guard = rev_guard(rv, g), *inner = d;
    if (chosen)
        return only_if(rv, b, guard, d);
    guard = both(b, guard, choice_of(b, &inner));
    rev_set_guard(rv, d, guard);
    return d;
}

ir_value *rev_sum(rev *rv, ir_builder *b, ir_value *x, ir_value *guard, ir_value *y)
{
    ir_value *other = rev_guard(rv, y);
    if (guard && guard == other && guard == rev_guard(rv, x) && (bare(rv, x) != x || bare(rv, y) != y))
        return only_if(rv, b, guard, ir_op2(b, OP_ADD, bare(rv, x), bare(rv, y)));
    ir_value *r = ir_op2(b, OP_ADD, x, y);
    rev_set_guard(rv, r, rev_either(b, guard, other));
    return r;
}

/* What follows from the guard of an inner region and is known at b; NULL: nothing. */
ir_value *rev_outer_guard(ir_builder *b, ir_value *guard)
{
    const ir_region *r = b->region;
    if (!guard || ir_is_visible(guard, r))
        return guard;
    const ir_op *op = guard->def;
    if (!op)
        return NULL;
    if (op->code == OP_AND || op->code == OP_OR) {
        ir_value *first = rev_outer_guard(b, op->args[0]), *second = rev_outer_guard(b, op->args[1]);
        return op->code == OP_AND ? both(b, first, second) : rev_either(b, first, second);
    }
    if (op->code != OP_IF)
        return NULL;
    for (int k = 0; k < 2; k++) {
        const ir_value *other = ir_yield_of(op->regions[1 - k])->args[guard->index];
        if (!ir_is_const(other) || ir_int(other))
            continue;
        ir_value *cond = rev_outer_guard(b, op->args[0]);
        if (cond && k == 1)
            cond = ir_op1(b, OP_NOT, cond);
        return both(b, cond, rev_outer_guard(b, ir_yield_of(op->regions[k])->args[guard->index]));
    }
    return NULL;
}

ir_value *rev_branch_guard(ir_builder *b, ir_op *branch, ir_value *const side[2], const bool zero[2])
{
    for (int k = 0; k < 2; k++) {
        if (!zero[1 - k])
            continue;
        ir_value *cond = branch->args[0];
        if (side[k] && !ir_is_visible(side[k], b->region))
            break;
        if (k == 1)
            cond = ir_op1(b, OP_NOT, cond);
        return both(b, cond, side[k]);
    }
    if (!zero[0] && !side[0] && !zero[1] && !side[1])
        return NULL;
    for (int k = 0; k < 2; k++) {
        ir_op *y = ir_yield_of(branch->regions[k]);
        ir_builder in = {.func = b->func, .region = branch->regions[k], .before = y, .loc = y->loc};
        ir_add_arg(y, side[k] ? side[k] : ir_const_i(&in, SC_BOOL, !zero[k]));
    }
    return ir_add_result(branch, SC_BOOL);
}
