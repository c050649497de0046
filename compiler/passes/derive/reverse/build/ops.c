/* Reverse mode: pull-back of straight-line operations: pure ones, memory, calls. */
#include <assert.h>

#include "passes/derive/derive.h"
#include "passes/derive/reverse/build/build.h"

/* ---- scalar operations and memory ---- */

static void rev_pure(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g)
        return;
    const unsigned needs = rev_rule_needs(s->rv, op);
    const ir_op *beside = rev_computed_beside(s->rv, op);
    rule_values at = {.part = OP_COUNT};
    for (int k = 0; k < op->nargs; k++)
        if (needs & 1u << k)
            at.args[k] = rev_primal_value(s, op->args[k]);
    if (needs & RULE_RESULT)
        at.result = rev_primal_value(s, op->res[0]);
    if (beside) {
        at.part = beside->code;
        at.part_of_a = rev_primal_value(s, beside->res[0]);
    }
    ir_value *chosen = rev_pull(s->rv, op, g);
    ir_builder b = rev_at_end(s, op);
    for (int k = 0; k < op->nargs; k++) {
        const ir_value *a = op->args[k];
        if (!scalar_is_float(a->type) || !rev_varied(s->rv, a) || op_contributes_nothing(op, k) ||
            op_lacks_derivative(op, k))
            continue;
        ir_value *d = rule_apply(&b, op->code, k, &at, chosen ? chosen : g, a->type);
        rev_add(s, &b, a, rev_hand_on(s->rv, &b, g, chosen != NULL, d));
    }
}

static ir_value **subscripts(scope *s, const ir_op *op)
{
    const int n = ir_field_of(op)->ndim;
    ir_value **idx = ARENA_ARRAY(s->rv->module->mem, ir_value *, n + 1);
    for (int i = 0; i <= n; i++)
        idx[i] = rev_primal_value(s, op->args[i]);
    return idx;
}

static void rev_load(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g || !rev_has_gradient(s->rv, op))
        return;
    ir_value **idx = subscripts(s, op);
    ir_builder b = rev_at_end(s, op);
    ir_accum(&b, ir_field_of(op), IR_GRAD, idx, idx[ir_field_of(op)->ndim], g);
}

/* The gradient of an `out` array is a seed that the host keeps, where each element has one store:
 * passes/derive/arrays.c */
static bool is_seed(const ir_field *f)
{
    return f->array && !f->in && !f->copied;
}

static void rev_store_grad(scope *s, const ir_op *op)
{
    if (!rev_has_gradient(s->rv, op))
        return;
    const int n = ir_field_of(op)->ndim;
    const ir_value *v = op->args[n + 1];
    const bool active = rev_varied(s->rv, v);
    if (op->code == OP_ACCUM && !active)
        return;
    ir_value **idx = subscripts(s, op);
    ir_builder b = rev_at_end(s, op);
    ir_value *g = active ? ir_load(&b, ir_field_of(op), IR_GRAD, idx, idx[n]) : NULL;
    if (op->code == OP_STORE && !is_seed(ir_field_of(op)))
        ir_store(&b, ir_field_of(op), IR_GRAD, idx, idx[n], ir_zero(&b, v->type));
    rev_add(s, &b, v, g);
}

ir_value *rev_won(ir_builder *b, ir_op *atomic, ir_value *const *idx, ir_value *const *where)
{
    static const scalar answer = SC_BOOL;
    ir_op *const outer = b->origin;
    const bool in_task = ir_task_of(atomic) != NULL;
    ir_value *slot = in_task ? ir_component_number(b, ir_field_of(atomic), idx) : NULL;
    b->origin = atomic;
    ir_op *won = in_task ? ir_insert(b, OP_WON, 4, (ir_value *[]){where[0], slot, where[1], where[2]}, 1, &answer, 0)
                         : ir_insert(b, OP_OLD, 3, where, 1, &answer, 0);
    b->origin = outer;
    won->res[0]->name = "won";
    return won->res[0];
}

/* Like a plain store by the winner. */
static void rev_atomic(scope *s, const ir_op *op)
{
    if (ir_atomic_has_winner(op) && rev_has_gradient(s->rv, op)) {
        ir_field *f = ir_field_of(op);
        const ir_value *v = op->args[f->ndim + 1];
        ir_value **idx = subscripts(s, op), *where[IR_ATOMIC_NUMBERED];
        for (int i = 0; i < IR_ATOMIC_NUMBERED; i++)
            where[i] = rev_primal_value(s, op->args[f->ndim + 2 + i]);
        ir_builder b = rev_at_end(s, op);
        ir_value *won = rev_won(&b, (ir_op *)op, idx, where);
        ir_op *choice = ir_if(&b, won, 1, &v->type);
        ir_builder in = {.func = s->rv->out, .region = choice->regions[0], .loc = op->loc, .origin = (ir_op *)op};
        ir_value *g = ir_load(&in, f, IR_GRAD, idx, idx[f->ndim]), *zero = ir_zero(&in, v->type);
        ir_store(&in, f, IR_GRAD, idx, idx[f->ndim], zero);
        ir_yield(&in, 1, &g);
        in.region = choice->regions[1];
        zero = ir_zero(&in, v->type);
        ir_yield(&in, 1, &zero);
        rev_set_guard(s->rv, choice->res[0], won);
        rev_add(s, &b, v, choice->res[0]);
    }
    rev_undo_write(s, op);
}

static void rev_store(scope *s, const ir_op *op)
{
    rev_store_grad(s, op);
    rev_undo_write(s, op);
}

static void rev_local_load(scope *s, const ir_op *op)
{
    ir_value *g = rev_adj(s, op->res[0]);
    if (!g || !rev_varied(s->rv, op->args[0]))
        return;
    bool shared;
    ir_value *shadow = rev_shadow(s, op->args[0], &shared);
    ir_value *i = rev_primal_value(s, op->args[1]);
    ir_builder b = rev_at_end(s, op);
    if (shared)
        ir_laccum(&b, shadow, i, g);
    else
        ir_lstore(&b, shadow, i, ir_op2(&b, OP_ADD, ir_lload(&b, shadow, i), g));
}

/* An addition hands the element's adjoint to what is added, and leaves it for what the element was. */
static void rev_local_add(scope *s, const ir_op *store, const ir_value *v)
{
    if (!rev_varied(s->rv, v))
        return;
    bool shared;
    ir_value *shadow = rev_shadow(s, store->args[0], &shared);
    ir_value *i = rev_primal_value(s, store->args[1]);
    ir_builder b = rev_at_end(s, store);
    ir_value *g = ir_lload(&b, shadow, i);
    rev_add(s, &b, v, store->args[2]->def->code == OP_SUB ? ir_op1(&b, OP_NEG, g) : g);
}

static void rev_local_store(scope *s, const ir_op *op)
{
    const ir_value *array = op->args[0], *v = op->args[2];
    if (!scalar_is_float(v->type) || !rev_varied(s->rv, array))
        return;
    const int added = rev_added_operand(op);
    if (added >= 0) {
        rev_local_add(s, op, v->def->args[added]);
        return;
    }
    bool shared; /* never: a task writes no array of the kernel */
    ir_value *shadow = rev_shadow(s, array, &shared);
    ir_value *i = rev_primal_value(s, op->args[1]);
    ir_builder b = rev_at_end(s, op);
    ir_value *g = rev_varied(s->rv, v) ? ir_lload(&b, shadow, i) : NULL;
    ir_lstore(&b, shadow, i, ir_zero(&b, v->type));
    rev_add(s, &b, v, g);
}

/* ---- call ---- */

/* The condition without which no result has an adjoint; NULL: none is known, or memory has. */
static ir_value *guard_of_results(scope *s, ir_builder *b, const ir_op *call, bool memory)
{
    ir_value *guard = NULL;
    bool first = true;
    for (int i = 0; i < call->nres && !memory; i++) {
        const ir_value *g = rev_adj(s, call->res[i]);
        if (!g)
            continue;
        guard = first ? rev_guard(s->rv, g) : rev_either(b, guard, rev_guard(s->rv, g));
        first = false;
    }
    return guard;
}

/* Calls the pull-back of op. memory: op changes memory that has a gradient. */
static void pull_back(scope *s, ir_builder *b, const ir_op *op, ir_func *pull, int n, ir_value **args, bool memory)
{
    ir_value *guard = guard_of_results(s, b, op, memory);
    ir_op *made = guard ? ir_insert(b, OP_IF, 1, &guard, 0, NULL, 2) : ir_call(b, pull, n, args);
    for (int k = 0; guard && k < 2; k++) {
        ir_builder in = {.func = b->func, .region = ir_region_create(b->func), .loc = op->loc, .origin = b->origin};
        ir_set_region(made, k, in.region);
        ir_value **vals = ARENA_ARRAY(s->rv->module->mem, ir_value *, pull->nresults + 1);
        const ir_op *call = k == 0 ? ir_call(&in, pull, n, args) : NULL;
        for (int i = 0; i < pull->nresults; i++)
            vals[i] = call ? call->res[i] : ir_zero(&in, pull->results[i]);
        ir_yield(&in, pull->nresults, vals);
    }
    for (int i = 0; guard && i < pull->nresults; i++)
        rev_set_guard(s->rv, ir_add_result(made, pull->results[i]), guard);
    int k = 0;
    for (int i = 0; i < op->nargs; i++)
        if (scalar_is_float(op->args[i]->type))
            rev_add(s, b, op->args[i], made->res[k++]);
}

/* The pull-back of the gradient g of f is the gradient of u . g, for the adjoint u, which is the derivative of f along
 * u: forward mode, reversed. So nothing that keeps values is ever reversed itself. */
static void rev_gradient(scope *s, const ir_op *op)
{
    ir_func *along = forward_along(ir_callee_of(op)->ad.gradient_of, ALONG_REVERSED, gradient_along);
    const bool of_args = s->rv->of_args;
    ir_func *pull = of_args ? gradient_along(along) : reverse_vjp(along);
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, op->nargs + op->nres + 2);
    int n = 0;
    for (int i = 0; i < op->nargs; i++)
        args[n++] = rev_primal_value(s, op->args[i]);
    ir_builder b = rev_at_end(s, op);
    for (int i = 0; i < op->nres; i++) {
        ir_value *u = rev_adj(s, op->res[i]);
        args[n++] = u ? u : ir_zero(&b, op->res[i]->type);
    }
    if (!of_args)
        args[n++] = ir_const_f(&b, along->results[0], 1.0);
    pull_back(s, &b, op, pull, n, args, false);
}

static void rev_call(scope *s, const ir_op *op)
{
    ir_func *f = ir_callee_of(op);
    const bool memory = rev_call_has_memory(s->rv, op);
    bool any = memory;
    for (int i = 0; i < op->nres; i++)
        any |= rev_adj(s, op->res[i]) != NULL;
    if (!any || extern_lacks_derivative(op, true))
        return;
    if (f->ad.gradient_of) {
        rev_gradient(s, op);
        return;
    }
    ir_func *vjp = s->rv->of_args ? reverse_args_vjp(f, op) : reverse_vjp(f);
    if (!vjp)
        return;
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, op->nargs + op->nres + 1);
    int n = 0;
    for (int i = 0; i < op->nargs; i++)
        args[n++] = rev_primal_value(s, op->args[i]);
    ir_builder b = rev_at_end(s, op);
    for (int i = 0; i < op->nres; i++) {
        if (!scalar_is_float(op->res[i]->type))
            continue;
        ir_value *g = rev_adj(s, op->res[i]);
        args[n++] = g ? g : ir_zero(&b, op->res[i]->type);
    }
    pull_back(s, &b, op, vjp, n, args, memory);
}

void rev_straight(scope *s, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
        rev_load(s, op);
        return;
    case OP_STORE:
    case OP_ACCUM:
        rev_store(s, op);
        return;
    case OP_ATOMIC:
        rev_atomic(s, op);
        return;
    case OP_LLOAD:
        rev_local_load(s, op);
        return;
    case OP_LSTORE:
        rev_local_store(s, op);
        return;
    case OP_CALL:
        rev_call(s, op);
        return;
    case OP_LOCAL:
    case OP_YIELD:
        return; /* nothing flows back through these */
    default:
        if (op_carries_nothing(op->code) && op_memory_of(op->code) != MEMORY_STACK &&
            op_memory_of(op->code) != MEMORY_RECORD)
            return;
        assert(op_is_pure_table(
            op->code)); /* the saved-value stack occurs in adjoints only, and their reverse is refused */
        rev_pure(s, op);
    }
}
