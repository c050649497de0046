/* Conditions on indices, and subscripts that are chosen by one: which iterations the one side is for, and to which
 * elements they come then. gather_steps.c has what is written without a choice.
 */
#include "ir/ops.h"
#include "passes/analysis/values.h"
#include "passes/schedule/gather/gather.h"

static const steps no_steps;

/* ---- conditions ---- */

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

bool gather_limit(const gather *g, const ir_value *condition, limit *l)
{
    const ir_op *op = condition->def;
    if (!op || op->code < OP_EQ || op->code > OP_GE || (op->args[0]->type != SC_I32 && op->args[0]->type != SC_I64))
        return false;
    const affine x = affine_of(op->args[0]), y = affine_of(op->args[1]);
    return compare_index(g, op->code, &x, &y, l) || compare_index(g, swapped(op->code), &y, &x, l);
}

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
    if (!gather_is_range(g, dim, &hi) || !has_elements(g, dim, away) || (l->one ? away != 1 : in_above != (c < 0)))
        return no_steps;
    if (c > 0 ? l->below != away : l->above != away - l->one) /* it is not these that leave */
        return no_steps;
    const affine jump = c > 0 ? affine_sub(in, out) : affine_sub(out, in);
    const bool around = (gather_distance(g, &jump, &hi, &d) && d == 0) || is_end(g, out, &hi, c);
    return around ? gather_step(STEP_WRAP, dim, c) : no_steps;
}

steps gather_choice(const gather *g, const ir_op *op)
{
    limit l;
    if (!gather_limit(g, op->args[0], &l))
        return no_steps;
    const affine yes = affine_of(op->args[l.not ? 2 : 1]), no = affine_of(op->args[l.not ? 1 : 2]);
    const steps up = steps_of_jump(g, &no, &yes, &l, false);
    return up.n || l.one ? up : steps_of_jump(g, &yes, &no, &l, true);
}
