/* Reverse mode: loops whose forward sweep need not run, as the reverse sweep computes all of an iteration again.
 *
 *     for j in 3 { p = a * f(j);  if c { q = x[j]; } else { q = y[j]; }  s += p * q; }
 *
 * What goes from one iteration to the next are sums that no pull-back needs, and every value in the body can be had
 * again from the index, from memory, and from outside. Then nothing has to be saved: each iteration computes once, in
 * the reverse sweep, what it would have computed and stored in the forward sweep, which is left without use.
 */
#include "passes/derive/reverse/reverse.h"

enum { CHEAP_IF = 24 }; /* the dearer branch; its values are computed once more where the branch itself is reversed */

static bool op_is_again(scope *s, const ir_op *op);

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
        return !ir_loop_attr(op)->cond && !rev_demands_carried(s->rv, op) && region_is_again(s, op->regions[0]);
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
    for (const ir_op *op = r->first; op && cost <= CHEAP_IF; op = op->next) {
        if (op->code == OP_YIELD)
            continue;
        if (op->code == OP_IF)
            cost += rev_cost_of_if(s, op);
        else
            cost += op->nres == 1 && rev_can_recompute(s, op->res[0]) ? rev_own_cost(op) : CHEAP_IF + 1;
    }
    return cost;
}

int rev_cost_of_if(scope *s, const ir_op *op)
{
    if (has_pointer(op))
        return CHEAP_IF + 1;
    const int a = cost_of_region(s, op->regions[0]), b = cost_of_region(s, op->regions[1]);
    return 1 + (a > b ? a : b);
}

bool rev_if_is_cheap(scope *s, const ir_op *op)
{
    return rev_cost_of_if(s, op) <= CHEAP_IF;
}

static bool is_inside(const ir_op *choice, const ir_value *v)
{
    return ir_region_is_ancestor(choice->regions[0], v->region) || ir_region_is_ancestor(choice->regions[1], v->region);
}

/* All that comes from outside is there before the `if` is. */
static void look_up_operands(scope *s, const ir_op *choice, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            if (!is_inside(choice, op->args[i]))
                rev_lookup(s, op->args[i]);
        for (int k = 0; k < op->nregions; k++)
            look_up_operands(s, choice, op->regions[k]);
    }
}

typedef struct again {
    scope *s;
    ir_slice slice;
} again;

static ir_value *outside(const ir_value *v, void *ctx)
{
    return rev_lookup(((again *)ctx)->s, v);
}

static bool load_again(ir_builder *b, const ir_op *op, void *ctx)
{
    again *a = ctx;
    b->loc = op->loc;
    b->origin = (ir_op *)op;
    if (op->code != OP_LLOAD)
        return false;
    ir_value *args[2];
    for (int i = 0; i < 2; i++) {
        args[i] = ir_map_get(a->slice.map, op->args[i]);
        if (!args[i])
            args[i] = rev_lookup(a->s, op->args[i]);
    }
    ir_map_set(a->slice.map, op->res[0], rev_load_again(a->s, b, op, args[0], args[1]));
    return true;
}

ir_value *rev_recompute_if(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    rev_lookup(s, op->args[0]);
    for (int k = 0; k < 2; k++)
        look_up_operands(s, op, op->regions[k]);
    ir_map map = ir_map_create(s->rv->primal);
    ir_builder b = rev_prologue(s, op->loc);
    again a = {s, {.map = &map, .ctx = &a, .outside = outside, .instead = load_again}};
    ir_clone_in_slice(&b, op, &a.slice);
    for (int i = 0; i < op->nres; i++)
        s->rv->memo[op->res[i]->id] = rev_mapped(&map, op->res[i]);
    ir_map_free(&map);
    return s->rv->memo[v->id];
}
