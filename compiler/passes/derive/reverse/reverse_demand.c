/* Reverse mode: which primal values an adjoint may ask for.
 *
 * The pull-back of a sum needs neither its operands nor its value, that of a product needs the other factor. A value is
 * *demanded* if the pull-back of some operation may need it, or if a value is computed from it that is. What a loop
 * carries and nobody demands, sums mostly, is no reason to run the forward sweep.
 */
#include "passes/derive/reverse/reverse.h"

typedef struct demand {
    const rev *rv;
    bool *of; /* by value id */
    bool changed;
} demand;

static void ask(demand *d, const ir_value *v)
{
    if (d->of[v->id])
        return;
    d->of[v->id] = true;
    d->changed = true;
}

static void ask_if(demand *d, bool wanted, const ir_value *v)
{
    if (wanted)
        ask(d, v);
}

/* Whether the pull-back of a pure operation may need its operand i, or its result, which is computed from that. */
static bool pull_back_needs(const rev *rv, const ir_op *op, int i)
{
    if (!scalar_is_float(op->res[0]->type) || !rev_varied(rv, op->res[0]))
        return false;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_CAST:
    case OP_STOP:
        return false;
    case OP_MUL:
        return rev_varied(rv, op->args[1 - i]);
    case OP_DIV:
        return i == 1 || rev_varied(rv, op->args[1]);
    case OP_SELECT:
        return i == 0;
    default:
        return true;
    }
}

/* Of exp, say, which is its own derivative. */
static bool pull_back_needs_result(const rev *rv, const ir_op *op)
{
    if (!op_is_pure_table(op->code) || !scalar_is_float(op->res[0]->type) || !rev_varied(rv, op->res[0]))
        return false;
    for (int k = 0; k < op->nargs; k++)
        if (scalar_is_float(op->args[k]->type) && rev_varied(rv, op->args[k]) && (rule_needs(op->code, k) & 8u))
            return true;
    return false;
}

static void ask_carried(demand *d, const ir_op *loop)
{
    const int init = ir_loop_first_init(loop), first = ir_loop_first_param(loop);
    const ir_op *y = ir_yield_of(loop->regions[0]);
    for (int i = 0; i < ir_loop_ncarried(loop); i++) {
        const ir_value *param = loop->regions[0]->params[first + i];
        const bool tested = ir_loop_attr(loop)->cond && d->of[loop->regions[1]->params[i]->id];
        const bool wanted = tested || d->of[param->id] || d->of[loop->res[i]->id];
        ask_if(d, wanted, param);
        ask_if(d, wanted, y->args[i]);
        ask_if(d, wanted, loop->args[init + i]);
    }
    for (int i = 0; i < init; i++)
        ask(d, loop->args[i]);
}

static void ask_task(demand *d, const ir_op *task)
{
    const int init = ir_task_first_init(task);
    for (int i = 0, at = 0; i < ir_task_attr(task)->nreductions; i++)
        for (int k = 0; k <= ir_task_attr(task)->reductions[i].companions; k++, at++) {
            const bool wanted = ir_task_attr(task)->reductions[i].kind != IR_RED_ADD || d->of[task->res[at]->id];
            ask_if(d, wanted, task->args[init + at]);
            ask_if(d, wanted, ir_yield_of(task->regions[0])->args[at]);
        }
    for (int i = 0; i < task->nargs; i++)
        ask_if(d, i < init || !scalar_is_float(task->args[i]->type), task->args[i]);
}

static void ask_region(demand *d, const ir_region *r);

static void ask_op(demand *d, const ir_op *op)
{
    switch (op->code) {
    case OP_YIELD: /* asked for by what it ends */
    case OP_ASSERT:
    case OP_PRINT:
        return;
    case OP_STORE:
    case OP_ACCUM:
        for (int i = 0; i < op->nargs; i++)
            ask_if(d, i <= ir_field_of(op)->ndim || d->rv->plan || d->rv->primal->pure, op->args[i]);
        return;
    case OP_IF:
        for (int i = 0; i < op->nres; i++)
            for (int k = 0; k < 2; k++)
                ask_if(d, d->of[op->res[i]->id], ir_yield_of(op->regions[k])->args[i]);
        ask(d, op->args[0]);
        break;
    case OP_LOOP:
        ask_carried(d, op);
        if (ir_loop_attr(op)->cond)
            ask(d, ir_yield_of(op->regions[1])->args[0]);
        break;
    case OP_TASK:
        ask_task(d, op);
        break;
    default:
        ask_if(d, pull_back_needs_result(d->rv, op), op->res[0]);
        for (int i = 0; i < op->nargs; i++) {
            const bool direct = !op_is_pure_table(op->code) || pull_back_needs(d->rv, op, i);
            ask_if(d, direct || d->of[op->res[0]->id], op->args[i]);
        }
    }
    for (int k = 0; k < op->nregions; k++)
        ask_region(d, op->regions[k]);
}

static void ask_region(demand *d, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        ask_op(d, op);
}

static void ask_function(demand *d)
{
    const ir_func *f = d->rv->primal;
    const ir_op *y = ir_yield_of(f->body);
    for (int i = 0; i < y->nargs; i++) /* its adjoint gives the results of an export func, too */
        ask_if(d, f->pure, y->args[i]);
    do {
        d->changed = false;
        ask_region(d, f->body);
    } while (d->changed);
}

static void ask_once(rev *rv)
{
    if (rv->demanded)
        return;
    rv->demanded = ARENA_ARRAY(rv->module->mem, bool, rv->primal->next_value + 1);
    demand d = {.rv = rv, .of = rv->demanded};
    ask_function(&d);
}

bool rev_demands_carried(rev *rv, const ir_op *loop)
{
    ask_once(rv);
    for (int i = 0; i < ir_loop_ncarried(loop); i++)
        if (rv->demanded[loop->res[i]->id] || rv->demanded[loop->regions[0]->params[ir_loop_first_param(loop) + i]->id])
            return true;
    return false;
}
