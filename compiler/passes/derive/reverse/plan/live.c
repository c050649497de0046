/* Reverse mode, planning: which primal values are live, that is, take part in the adjoint of a function.
 *
 * Live are the values that pull-backs ask for, and the operands of writes and of results that the forward sweep brings
 * about once more; then, backwards, the values that live ones are computed from. A local array is live as a whole, with
 * all that is stored into it. Loops, branches and tasks around a live value are run, so their bounds and conditions are
 * live as well.
 *
 * A sum that a loop carries and that is not live is no reason to run the forward sweep of the loop; a read of a field
 * that is live is one that the adjoint needs.
 */
#include "passes/derive/reverse/plan/plan.h"

typedef struct array_store {
    const ir_op *op;
    size_t next; /* into the same array: its place + 1; 0: none */
} array_store;

typedef struct liveness {
    const rev *rv;
    bool *live; /* by value id */
    ptrmap run; /* operations with regions that have something live inside */
    VEC(const ir_value *) to_do;
    VEC(array_store) stores;
    size_t *first; /* by id of a local array */
} liveness;

static void want(liveness *l, const ir_value *v)
{
    if (l->live[v->id])
        return;
    l->live[v->id] = true;
    vec_push(&l->to_do, v);
}

static void want_operands(liveness *l, const ir_op *op, int first)
{
    for (int i = first; i < op->nargs; i++)
        want(l, op->args[i]);
}

/* What tells whether, and how often, the regions of op are run. */
static void want_control(liveness *l, const ir_op *op)
{
    const int n = op->code == OP_LOOP   ? ir_loop_first_init(op)
                  : op->code == OP_TASK ? ir_task_first_init(op)
                                        : op->nargs;
    for (int i = 0; i < n; i++)
        want(l, op->args[i]);
    if (op->code == OP_LOOP && ir_loop_attr(op)->cond)
        want(l, ir_yield_of(op->regions[1])->args[0]);
}

static void run_around(liveness *l, const ir_region *r)
{
    for (const ir_op *op = r->parent; op && !ptrmap_get(&l->run, op); op = op->region->parent) {
        ptrmap_set(&l->run, op, (void *)op);
        want_control(l, op);
    }
}

static void want_carried(liveness *l, const ir_op *loop, int k)
{
    want(l, loop->args[ir_loop_first_init(loop) + k]);
    want(l, ir_yield_of(loop->regions[0])->args[k]);
    run_around(l, loop->regions[0]);
}

/* All of a minimum or maximum and its companions go by its value. */
static void want_reduced(liveness *l, const ir_op *task, int result)
{
    const ir_op *y = ir_yield_of(task->regions[0]);
    for (int k = 0, at = 0; k < ir_task_attr(task)->nreductions; k++) {
        const ir_reduction *red = &ir_task_attr(task)->reductions[k];
        const bool of_it = at <= result && result <= at + red->companions;
        for (int i = 0; i <= red->companions; i++, at++)
            if (of_it) {
                want(l, y->args[at]);
                want(l, task->args[ir_task_first_init(task) + at]);
            }
    }
    run_around(l, task->regions[0]);
}

static void want_param(liveness *l, const ir_value *v)
{
    const ir_op *op = v->region->parent;
    if (!op || op->code != OP_LOOP)
        return;
    const int k = v->region == op->regions[0] ? v->index - ir_loop_first_param(op) : v->index;
    if (k >= 0)
        want_carried(l, op, k);
}

static void want_result(liveness *l, const ir_value *v)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_IF:
        for (int k = 0; k < 2; k++)
            want(l, ir_yield_of(op->regions[k])->args[v->index]);
        run_around(l, op->regions[0]);
        break;
    case OP_LOOP:
        if (v->index < ir_loop_ncarried(op))
            want_carried(l, op, v->index);
        else
            run_around(l, op->regions[0]);
        break;
    case OP_TASK:
        want_reduced(l, op, v->index);
        break;
    case OP_LOCAL:
        want_operands(l, op, 0);
        for (size_t i = l->first[v->id]; i; i = l->stores.at[i - 1].next) {
            const ir_op *store = l->stores.at[i - 1].op;
            want_operands(l, store, 1);
            run_around(l, store->region);
        }
        break;
    default: /* of an atomic, where its old value is recorded */
        want_operands(l, op, rev_first_operand(op));
        if (op->next && op->next->code == OP_DECISION && op->next->args[0] == v)
            want_operands(l, op->next, 1);
    }
}

/* What the forward sweep does in any case. */
static void find_done(ir_op *op, void *ctx)
{
    liveness *l = ctx;
    const rev *rv = l->rv;
    bool done = op->code == OP_ASSERT && rv->of_args;
    if (op->code == OP_LSTORE || op->code == OP_LACCUM) {
        vec_push(&l->stores, ((array_store){op, l->first[op->args[0]->id]}));
        l->first[op->args[0]->id] = l->stores.len;
    } else if (rev_is_write(op))
        done = rev_writes_again(rv, op) || (rv->primal->pure && !ir_field_of(op)->in);
    if (!done)
        return;
    want_operands(l, op, 0);
    run_around(l, op->region);
}

void rev_find_live(rev *rv)
{
    const ir_func *f = rv->primal;
    liveness l = {.rv = rv, .live = rv->plan->live};
    l.first = ARENA_ARRAY(rv->module->mem, size_t, f->next_value + 1);
    ir_walk(f->body, find_done, &l);
    const ir_op *y = ir_yield_of(f->body);
    for (int i = 0; i < y->nargs && f->pure; i++) /* the adjoint of an export func gives its results, too */
        want(&l, y->args[i]);
    for (size_t i = 0; i < rv->plan->asked.len; i++)
        want(&l, rv->plan->asked.at[i]);
    while (l.to_do.len) {
        const ir_value *v = l.to_do.at[--l.to_do.len];
        run_around(&l, v->region);
        if (v->def)
            want_result(&l, v);
        else
            want_param(&l, v);
    }
    vec_free(&l.to_do);
    vec_free(&l.stores);
    ptrmap_free(&l.run);
}
