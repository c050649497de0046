/* Reverse mode: loops whose forward sweep need not run, as the reverse sweep computes all of an iteration again.
 *
 *     for j in 3 { p = a * f(j);  if c { q = x[j]; } else { q = y[j]; }  s += p * q; }
 *
 * What goes from one iteration to the next are sums that no pull-back needs, and every value in the body can be had
 * again from the index, from memory, and from outside. Then nothing has to be saved: each iteration computes once, in
 * the reverse sweep, what it would have computed and stored in the forward sweep, which is left without use.
 */
#include "ir/target.h"
#include "passes/derive/reverse/plan/plan.h"

/* ---- single values ---- */

/* Of an atomic, what tells where its old value is recorded: turn at step. */
int rev_first_operand(const ir_op *op)
{
    return op->code == OP_ATOMIC ? ir_field_of(op)->ndim + 2 : 0;
}

bool rev_can_recompute(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    if (!op)
        return false;
    switch (op->code) {
    case OP_LOAD:
        return ir_access_attr(op)->plane == IR_DATA && !(s->rv->memory && s->rv->memory->fixed[op->pos]);
    case OP_LLOAD:
        return rev_array_is_final(s, op->args[0], op) || rev_began_with(s, op->args[0], op);
    case OP_IF:
        return rev_is_free(s) && rev_if_is_cheap(s, op);
    case OP_ATOMIC: /* of no log: where it is recorded follows from indices */
        return ir_is_const(op->args[op->nargs - 1]);
    default:
        return op_follows_from_operands(op->code);
    }
}

int rev_own_cost(const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_LLOAD:
    case OP_ATOMIC:
        return COST_MEMORY;
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_CAST: /* of subscripts: never worth memory */
        return scalar_is_float(op->res[0]->type) || scalar_is_float(op->args[0]->type) ? op_cost(op->code) : 0;
    default:
        return op_cost(op->code);
    }
}

int64_t rev_guess_trips(const ir_op *loop)
{
    if (ir_loop_attr(loop)->cond || !ir_is_const(loop->args[0]) || !ir_is_const(loop->args[1]))
        return TRIPS_UNKNOWN;
    const int64_t lo = ir_int(loop->args[0]), hi = ir_int(loop->args[1]);
    const uint64_t n = lo < hi ? (uint64_t)hi - (uint64_t)lo : 1;
    return n < TRIPS_MOST_WEIGHED ? (int64_t)n : TRIPS_MOST_WEIGHED;
}

/* ---- loops ---- */

static bool op_is_again(scope *s, const ir_op *op);

/* Whether what the loop carries is live. */
static bool demands_carried(const rev *rv, const ir_op *loop)
{
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        if (rv->plan->live[loop->res[k]->id] ||
            rv->plan->live[loop->regions[0]->params[ir_loop_first_param(loop) + k]->id])
            return true;
    return false;
}

static bool region_is_again(scope *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (!op_is_again(s, op))
            return false;
    return true;
}

static bool op_is_again(scope *s, const ir_op *op)
{
    switch (op->code) {
    case OP_YIELD:
    case OP_ASSERT:
    case OP_PRINT:
        return true;
    case OP_STORE:
    case OP_ACCUM:
        /* else the forward sweep writes them again, or writes results */
        return !rev_keeps_write(s->rv, op) && !s->rv->primal->pure;
    case OP_LOOP:
        return !ir_loop_attr(op)->cond && !demands_carried(s->rv, op) && region_is_again(s, op->regions[0]);
    case OP_IF:
        return (op->nres == 0 || rev_if_is_cheap(s, op)) && region_is_again(s, op->regions[0]) &&
               region_is_again(s, op->regions[1]);
    default:
        return op->nres == 1 && rev_can_recompute(s, op->res[0]);
    }
}

bool rev_is_free(scope *s)
{
    while (s->kind == SCOPE_BRANCH)
        s = s->outer;
    return s->kind == SCOPE_LOOP && rev_plan_loop(s->outer, s->primal_op) == LOOP_REMATERIALISED;
}

void rev_find_free(scope *s)
{
    if (!s->rv->module->debug && op_is_again(s, s->primal_op))
        rev_plan_again(s);
}

/* ---- choices between values ---- */

static bool has_pointer(const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->type == SC_PTR)
            return true;
    return false;
}

static int cost_of_region(scope *s, const ir_region *r)
{
    int cost = 0;
    for (const ir_op *op = r->first; op && cost <= COST_CHEAP_IF; op = op->next) {
        if (op->code == OP_YIELD)
            continue;
        if (op->code == OP_IF)
            cost += rev_cost_of_if(s, op);
        else
            cost += op->nres == 1 && rev_can_recompute(s, op->res[0]) ? rev_own_cost(op) : COST_CHEAP_IF + 1;
    }
    return cost;
}

int rev_cost_of_if(scope *s, const ir_op *op)
{
    if (has_pointer(op))
        return COST_CHEAP_IF + 1;
    const int a = cost_of_region(s, op->regions[0]), b = cost_of_region(s, op->regions[1]);
    return 1 + (a > b ? a : b);
}

bool rev_if_is_cheap(scope *s, const ir_op *op)
{
    return rev_cost_of_if(s, op) <= COST_CHEAP_IF;
}
