/* Reverse mode, planning: which primal values the pull-backs of an adjoint take, and how each loop is swept.
 *
 * The walk goes through the primal as the reverse sweep will, backwards, and builds nothing: of an adjoint it notes
 * that there is one, of a value that it is asked for. It is run again when more is known: with a plan for saved fields,
 * and, when all that is live is known, for the prices of the cut (cut.c).
 */
#include "passes/derive/derive.h"
#include "passes/derive/reverse/plan/plan.h"

static void needs_region(scope *s, const ir_region *r);

static bool has_adjoint(const scope *s, const ir_value *v)
{
    return s->rv->plan->pulled[v->id];
}

static void add(scope *s, const ir_value *v)
{
    if (scalar_is_float(v->type) && rev_varied(s->rv, v))
        s->rv->plan->pulled[v->id] = true;
}

static void ask(scope *s, const ir_value *v)
{
    rev_plan *p = s->rv->plan;
    if (!p->is_asked[v->id])
        vec_push(&p->asked, v);
    p->is_asked[v->id] = true;
}

static bool any_adjoint(const scope *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (has_adjoint(s, op->res[i]))
            return true;
    return false;
}

static bool has_work(scope *s, const ir_op *op)
{
    return any_adjoint(s, op) || rev_changes_memory(s->rv, op);
}

/* ---- straight-line operations ---- */

static void needs_pure(scope *s, const ir_op *op)
{
    if (!has_adjoint(s, op->res[0]))
        return;
    const unsigned needs = rev_rule_needs(s->rv, op);
    for (int k = 0; k < op->nargs; k++)
        if (needs & 1u << k)
            ask(s, op->args[k]);
    if (needs & RULE_RESULT)
        ask(s, op->res[0]);
    const ir_op *beside = rev_computed_beside(s->rv, op);
    if (beside)
        ask(s, beside->res[0]);
    for (int k = 0; k < op->nargs; k++)
        if (!op_contributes_nothing(op, k) && !op_not_differentiable(op->code, k))
            add(s, op->args[k]);
}

static void ask_subscripts(scope *s, const ir_op *op)
{
    for (int i = 0; i <= ir_field_of(op)->ndim; i++)
        ask(s, op->args[i]);
}

static void needs_write(scope *s, const ir_op *op)
{
    const int n = ir_field_of(op)->ndim;
    const ir_value *v = op->args[n + 1];
    if (rev_has_gradient(s->rv, op) && (op->code == OP_STORE || rev_varied(s->rv, v))) {
        ask_subscripts(s, op);
        add(s, v);
    }
    if (rev_undoes(s->rv, op))
        ask_subscripts(s, op);
}

static void needs_atomic(scope *s, const ir_op *op)
{
    const int n = ir_field_of(op)->ndim;
    if (ir_atomic_has_winner(op) && rev_has_gradient(s->rv, op)) {
        ask_subscripts(s, op);
        for (int i = 0; i < IR_ATOMIC_NUMBERED; i++)
            ask(s, op->args[n + 2 + i]);
        add(s, op->args[n + 1]);
    }
    if (rev_undoes(s->rv, op))
        ask_subscripts(s, op);
}

static void needs_local_store(scope *s, const ir_op *op)
{
    const ir_value *v = op->args[2];
    if (!scalar_is_float(v->type) || !rev_varied(s->rv, op->args[0]))
        return;
    const int added = rev_added_operand(op);
    if (added >= 0 && !rev_varied(s->rv, v->def->args[added]))
        return;
    ask(s, op->args[1]);
    add(s, added >= 0 ? v->def->args[added] : v);
}

static void needs_call(scope *s, const ir_op *op)
{
    const ir_func *f = ir_callee_of(op);
    if ((!any_adjoint(s, op) && !rev_call_has_memory(s->rv, op)) || (f->external && !f->ad.vjp))
        return;
    for (int i = 0; i < op->nargs; i++) {
        ask(s, op->args[i]);
        add(s, op->args[i]);
    }
}

static void needs_straight(scope *s, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
        if (has_adjoint(s, op->res[0]) && rev_has_gradient(s->rv, op))
            ask_subscripts(s, op);
        return;
    case OP_STORE:
    case OP_ACCUM:
        needs_write(s, op);
        return;
    case OP_ATOMIC:
        needs_atomic(s, op);
        return;
    case OP_LLOAD:
        if (has_adjoint(s, op->res[0]) && rev_varied(s->rv, op->args[0]))
            ask(s, op->args[1]);
        return;
    case OP_LSTORE:
        needs_local_store(s, op);
        return;
    case OP_CALL:
        needs_call(s, op);
        return;
    default:
        if (op_is_pure_table(op->code))
            needs_pure(s, op);
    }
}

/* ---- control ---- */

static void needs_if(scope *s, const ir_op *op)
{
    if (!has_work(s, op))
        return;
    ask(s, op->args[0]);
    for (int k = 0; k < 2; k++) {
        scope c = rev_scope(s->rv, s, SCOPE_BRANCH, op->regions[k], NULL, NULL);
        const ir_op *y = ir_yield_of(op->regions[k]);
        for (int i = 0; i < op->nres; i++)
            if (has_adjoint(s, op->res[i]))
                add(s, y->args[i]);
        needs_region(&c, op->regions[k]);
        rev_set_prices(&c);
        rev_scope_free(&c);
    }
}

typedef struct capture {
    scope *s;
    const ir_region *body;
} capture;

static void find_captured(ir_op *op, void *ctx)
{
    const capture *c = ctx;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->type != SC_PTR && !ir_region_is_ancestor(c->body, op->args[i]->region))
            ask(c->s, op->args[i]);
}

/* A body whose forward sweep stands in front of its reverse sweep takes all that it captures. */
static void ask_captured(scope *s, const ir_region *body)
{
    ir_walk((ir_region *)body, find_captured, &(capture){s, body});
}

static void needs_plain_loop(scope *s, const ir_op *op, bool checkpointed)
{
    if (ir_loop_attr(op)->bounded)
        ask(s, op->args[0]);
    ask(s, ir_loop_attr(op)->cond ? op->res[op->nres - 1] : op->args[1]);
    scope c = rev_scope(s->rv, s, checkpointed ? SCOPE_ROOT : SCOPE_LOOP, op->regions[0], NULL, NULL);
    c.primal_op = op;
    c.fused = c.checkpointed = checkpointed;
    if (checkpointed) {
        rev_find_stored(s, &c);
        ask_captured(s, op->regions[0]);
    } else if (s->rv->plan->pricing)
        rev_find_free(&c);
    const ir_op *y = ir_yield_of(op->regions[0]);
    for (int k = 0; k < ir_loop_ncarried(op); k++)
        if (rev_carries_adjoint(s, op, k, has_adjoint(s, op->res[k])))
            add(s, y->args[k]);
    needs_region(&c, op->regions[0]);
    for (int k = 0; k < ir_loop_ncarried(op); k++)
        if (rev_carries_adjoint(s, op, k, has_adjoint(s, op->res[k])))
            add(s, op->args[ir_loop_first_init(op) + k]);
    if (!checkpointed)
        rev_set_prices(&c);
    rev_scope_free(&c);
}

/* Iterations that are swept forwards and backwards one by one, or one of them alone. */
static void needs_iteration(scope *s, const ir_op *op, bool once)
{
    if (once && !any_adjoint(s, op))
        return;
    if (once) /* the forward sweep finds out which it is */
        ask(s, rev_winner_goes_by(op));
    else
        ask(s, op->args[0]);
    ask(s, op->args[1]);
    scope c = rev_scope(s->rv, s, SCOPE_ROOT, op->regions[0], NULL, NULL);
    c.fused = true;
    c.once = once;
    ask_captured(s, op->regions[0]);
    for (int k = 0; k < ir_loop_ncarried(op); k++)
        if (has_adjoint(s, op->res[k])) {
            add(s, once ? rev_winning_value(op, k) : ir_yield_of(op->regions[0])->args[k]);
            add(s, op->args[ir_loop_first_init(op) + k]);
        }
    needs_region(&c, op->regions[0]);
    rev_scope_free(&c);
}

static void needs_loop(scope *s, const ir_op *op)
{
    if (!has_work(s, op))
        return;
    const rev_loop_way way = rev_plan_loop(s, op);
    if (way == LOOP_FUSED || way == LOOP_WINNER)
        needs_iteration(s, op, way == LOOP_WINNER);
    else
        needs_plain_loop(s, op, way == LOOP_CHECKPOINTED);
}

static void needs_task(scope *s, const ir_op *op)
{
    rev_each_of_boxes(s, op, ask);
    if (!has_work(s, op))
        return;
    for (int i = 0; i < 2 * ir_task_attr(op)->ndim; i++)
        ask(s, op->args[i]);
    scope c = rev_scope(s->rv, s, SCOPE_ROOT, op->regions[0], NULL, NULL);
    ask_captured(s, op->regions[0]);
    const ir_op *y = ir_yield_of(op->regions[0]);
    for (int k = 0, at = 0; k < ir_task_attr(op)->nreductions; k++) {
        const ir_reduction *red = &ir_task_attr(op)->reductions[k];
        for (int i = 0; i <= red->companions; i++, at++) {
            if (!has_adjoint(s, op->res[at]))
                continue;
            if (red->kind != IR_RED_ADD) /* the winner comes with it */
                ask(s, op->res[at]);
            add(s, y->args[at]);
            add(s, op->args[ir_task_first_init(op) + at]);
        }
    }
    needs_region(&c, op->regions[0]);
    rev_scope_free(&c);
}

static void needs_region(scope *s, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        if (op->code == OP_IF)
            needs_if(s, op);
        else if (op->code == OP_LOOP)
            needs_loop(s, op);
        else if (op->code == OP_TASK)
            needs_task(s, op);
        else
            needs_straight(s, op);
}

void rev_find_needs(rev *rv)
{
    const ir_func *f = rv->primal;
    scope root = rev_scope(rv, NULL, SCOPE_ROOT, f->body, NULL, NULL);
    const ir_op *y = ir_yield_of(f->body);
    for (int i = 0; i < f->nresults; i++) /* the seeds */
        add(&root, y->args[i]);
    needs_region(&root, f->body);
    rev_scope_free(&root);
}
