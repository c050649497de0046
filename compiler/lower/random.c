/* Random numbers: which key and which counters a call of random() has.
 *
 * A number is a function of the launch, of the place of the call, and of the indices of the loops around it (the number
 * of the trip, of a `while`), so the same iteration draws the same number wherever and whenever it runs: in the primal,
 * in the JVP, again in the adjoint, on any thread. A function that draws gets a key of its own from each call, drawn
 * like a number there.
 */
#include "lower/lower_impl.h"

static ir_value *as_u64(lower *l, ir_value *v)
{
    return ir_cast(&l->b, SC_U64, v);
}

/* Two indices fit a block of the generator; those of the loops around them go into the key. Places are numbered from 1,
 * so that no number is drawn where a key is made. */
ir_value *lower_draw(lower *l, ir_opcode code, scalar type, int site)
{
    ir_value *key = l->frame->key, *at[2] = {NULL, NULL};
    const counter *c = l->frame->counters;
    int n = 0;
    for (const counter *k = c; k; k = k->outer)
        n++;
    const counter **all = ARENA_ARRAY(l->mem, const counter *, n + 1);
    for (int k = n; c; c = c->outer)
        all[--k] = c;
    int from = 0;
    for (; n - from > 2; from += 2) { /* values are made one by one: C leaves open in which order arguments are */
        at[0] = as_u64(l, all[from]->index);
        at[1] = as_u64(l, all[from + 1]->index);
        key = ir_random(&l->b, OP_RANDOM, SC_U64, key, at[0], at[1]);
    }
    for (int k = 0; k < 2; k++)
        at[k] = from + k < n ? as_u64(l, all[from + k]->index) : ir_const_i(&l->b, SC_U64, 0);
    key = ir_op2(&l->b, OP_ADD, key, ir_const_i(&l->b, SC_U64, site));
    return ir_random(&l->b, code, type, key, at[0], at[1]);
}

/* lo plus a number below hi - lo, of which no more is known than that it fits 64 bits; lo, where there is none. */
static ir_value *draw_between(lower *l, const tx_expr *e)
{
    ir_value *lo = lower_scalar(l, e->args[0]), *hi = lower_scalar(l, e->args[1]);
    const scalar type = e->type->elem;
    ir_value *hi64 = as_u64(l, hi), *lo64 = as_u64(l, lo), *some = ir_op2(&l->b, OP_LT, lo, hi);
    ir_value *distance = ir_op2(&l->b, OP_SUB, hi64, lo64), *none = ir_const_i(&l->b, SC_U64, 0);
    ir_value *n = ir_op3(&l->b, OP_SELECT, some, distance, none);
    ir_value *draw = lower_draw(l, OP_RANDOM, SC_U64, e->site);
    return ir_op2(&l->b, OP_ADD, lo, ir_cast(&l->b, type, ir_op2(&l->b, OP_BELOW, draw, n)));
}

agg lower_random(lower *l, const tx_expr *e)
{
    return agg_one(l, e->opcode == OP_BELOW ? draw_between(l, e) : lower_draw(l, e->opcode, e->type->elem, e->site));
}

void counter_push(lower *l, counter *c, ir_value *index)
{
    *c = (counter){index, l->frame->counters};
    l->frame->counters = c;
}

void counter_pop(lower *l, int n)
{
    for (; n > 0; n--)
        l->frame->counters = l->frame->counters->outer;
}
