/* Parallel loops and their reductions.
 *
 * Inside the task a local that is reduced into has an accumulator: a variable that starts each iteration empty, is
 * carried through inner loops and branches like any other and is what the iteration contributes.
 */
#include <assert.h>

#include "ir/ops.h"
#include "lower/lower_impl.h"

typedef struct reduced {
    const tx_local *local;
    lvar *var, *acc;
    int *kinds; /* of the components, -1: not reduced */
    const tx_winner *winner;
} reduced;

/* What an iteration yields: a component. */
typedef struct contribution {
    const reduced *of;
    int comp;
} contribution;

typedef struct task {
    const tx_stmt *s;
    reduced *red;
    contribution *comps;
    ir_reduction *kinds;
    int nred, ncomp, nkinds; /* locals, and components in all, without their companions */
} task;

/* ---- which components are reduced, and how ---- */

static void note_kind(int *kinds, const lvar *var, const tx_stmt *s)
{
    bool some = s->comps && !s->nsubs && !s->dyn;
    int n = some ? s->ncomps : var->n;
    for (int i = 0; i < n; i++) {
        int k = some ? s->comps[i] : i;
        assert(kinds[k] < 0 || kinds[k] == (int)s->red);
        kinds[k] = (int)s->red;
    }
}

static void find_kinds(task *t, const tx_stmt *list)
{
    for (const tx_stmt *s = list; s; s = s->next) {
        if (s->kind == TX_REDUCE) {
            const lvar *var = var_of(s->local);
            for (int i = 0; i < t->nred; i++) {
                if (t->red[i].var != var)
                    continue;
                note_kind(t->red[i].kinds, var, s);
                t->red[i].winner = s->winner;
            }
        } else if (tx_flow_of(s) == TX_HOLDS) {
            find_kinds(t, s->body);
            find_kinds(t, s->else_body);
        }
    }
}

static void add_companions(task *t, const tx_local *local)
{
    for (int i = 0; i < t->nred; i++)
        for (int k = 0; k < t->red[i].var->n && t->red[i].local == local; k++) {
            t->comps[t->ncomp++] = (contribution){&t->red[i], k};
            t->kinds[t->nkinds - 1].companions++;
        }
}

/* The components in the order in which they are yielded: behind a winner its companions. */
static void order_components(task *t)
{
    for (int i = 0; i < t->nred; i++) {
        const reduced *r = &t->red[i];
        const tx_winner *w = r->winner;
        for (int k = 0; k < r->var->n; k++) {
            if (r->kinds[k] < 0 || (w && w->value != r->local))
                continue;
            t->comps[t->ncomp++] = (contribution){r, k};
            t->kinds[t->nkinds++] = (ir_reduction){.kind = (ir_reduce)r->kinds[k]};
        }
        if (!w || w->value != r->local)
            continue;
        if (w->taken)
            add_companions(t, w->taken);
        for (int k = 0; k < w->ncompanions; k++)
            add_companions(t, w->companions[k]);
    }
}

static void find_reduced(lower *l, task *t)
{
    const func_scan *fs = l->frame->scan;
    scan body = scan_list(l->mem, fs, t->s->body, NULL);
    t->red = ARENA_ARRAY(l->mem, reduced, fs->nlocals);
    int room = 0;
    for (int i = 0; i < fs->nlocals; i++) {
        if (!bit_get(body.reduced, i))
            continue;
        reduced *r = &t->red[t->nred++];
        r->local = fs->locals[i];
        r->var = var_of(r->local);
        r->kinds = ARENA_ARRAY(l->mem, int, r->var->n);
        for (int k = 0; k < r->var->n; k++)
            r->kinds[k] = -1;
        room += r->var->n;
    }
    t->comps = ARENA_ARRAY(l->mem, contribution, room);
    t->kinds = ARENA_ARRAY(l->mem, ir_reduction, room);
    find_kinds(t, t->s->body);
    order_components(t);
}

/* ---- accumulators ---- */

static lvar *accumulator(lower *l, const reduced *r)
{
    lvar *acc = ARENA_NEW(l->mem, lvar);
    *acc = *r->var;
    acc->kinds = r->kinds;
    acc->constant = false;
    acc->wide = NULL;
    acc->acc = NULL;
    acc->val = ARENA_ARRAY(l->mem, ir_value *, acc->n);
    if (r->var->val)
        return acc;
    /* what var_get gives for empty components are the identities that the array starts with */
    acc->mem = ir_local(&l->b, acc->elem, acc->n, acc->name);
    for (int k = 0; k < acc->n; k++) {
        if (r->kinds[k] > IR_RED_ADD) {
            ir_value *least = var_get(l, acc, k);
            ir_lstore(&l->b, acc->mem, const_i64(l, k), least);
        }
    }
    acc->val = NULL;
    return acc;
}

static ir_value *combine(lower *l, ir_reduce kind, ir_value *old, ir_value *v)
{
    if (kind == IR_RED_ADD)
        return ir_op2(&l->b, OP_ADD, old, v);
    /* a tie gives the derivative to the second operand: the earlier value */
    return ir_op2(&l->b, kind == IR_RED_MIN ? OP_MIN : OP_MAX, v, old);
}

static void combine_component(lower *l, const place *p, ir_value *comp, ir_value *v, void *ctx)
{
    place_set(l, p, comp, combine(l, *(ir_reduce *)ctx, place_get(l, p, comp), v));
}

static void reduce_split(lower *l, lvar *acc, const tx_stmt *s, const agg *value)
{
    if (s->dyn) {
        ir_value *dyn = lower_scalar(l, s->dyn);
        for (int i = 0; i < dyn_count(s); i++) {
            ir_value *at = dyn_component(l, s, dyn, i), *v = agg_get(l, value, i);
            for (int k = 0; k < acc->n; k++) {
                ir_value *old = var_get(l, acc, k), *chosen = is_component(l, at, k);
                acc->val[k] = chosen ? ir_op3(&l->b, OP_SELECT, chosen, combine(l, s->red, old, v), old) : old;
            }
        }
        return;
    }
    int n = s->comps ? s->ncomps : acc->n;
    for (int i = 0; i < n; i++) {
        int k = s->comps ? s->comps[i] : i;
        ir_value *v = agg_get(l, value, i);
        /* the first contribution is the sum: no identity is added that the sign of a zero would show */
        acc->val[k] = acc->val[k] && !s->winner ? combine(l, s->red, acc->val[k], v) : v;
        name_value(acc->val[k], acc->names[k]);
    }
}

void lower_reduce(lower *l, const tx_stmt *s)
{
    lvar *acc = var_of(s->local)->acc;
    assert(acc);
    agg value = lower_expr(l, s->value);
    if (acc->val) {
        reduce_split(l, acc, s, &value);
        return;
    }
    ir_reduce kind = s->red;
    place p = place_of_memory(acc->mem, acc->elem, acc->n);
    if (s->nsubs) {
        p = place_of_element(l, s->local, s->subs);
        p.mem = acc->mem;
    }
    place_assign(l, &p, s, &value, s->dyn ? lower_scalar(l, s->dyn) : NULL, combine_component, &kind);
}

/* ---- the task ---- */

static ir_op *task_op(lower *l, const task *t, ir_value *const *lo, ir_value *const *hi)
{
    ir_value **init = ARENA_ARRAY(l->mem, ir_value *, t->ncomp);
    for (int n = 0; n < t->ncomp; n++)
        init[n] = var_get(l, t->comps[n].of->var, t->comps[n].comp);
    ir_op *op = ir_task(&l->b, t->s->ndim, lo, hi, t->nkinds, t->kinds, init);
    ir_task_attr(op)->independent = t->s->independent;
    return op;
}

static void yield_contributions(lower *l, const task *t)
{
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, t->ncomp);
    for (int n = 0; n < t->ncomp; n++)
        v[n] = var_get(l, t->comps[n].of->acc, t->comps[n].comp);
    ir_yield(&l->b, t->ncomp, v);
}

static void take_results(lower *l, const task *t, ir_op *op)
{
    for (int n = 0; n < t->ncomp; n++) {
        const lvar *var = t->comps[n].of->var;
        const int k = t->comps[n].comp;
        if (!var->val) {
            ir_lstore(&l->b, var->mem, const_i64(l, k), op->res[n]);
            continue;
        }
        op->res[n]->name = var->names[k];
        var->val[k] = op->res[n];
    }
}

void lower_task(lower *l, const tx_stmt *s)
{
    task t = {.s = s};
    const counted bounds = lower_bounds(l, s);
    find_reduced(l, &t);
    ir_op *op = task_op(l, &t, bounds.lo, bounds.hi);
    ir_builder outer = l->b;
    loop_ctx ctx = {.skip = var_flag(l, "skip"), .outer = l->frame->loop};
    l->frame->loop = &ctx;
    l->b.region = op->regions[0];
    l->b.before = NULL;
    counter *counters = ARENA_ARRAY(l->mem, counter, s->ndim);
    for (int d = 0; d < s->ndim; d++) {
        bind_index(l, &bounds, d, op->regions[0]->params[d]);
        counter_push(l, &counters[d], op->regions[0]->params[d]);
    }
    for (int i = 0; i < t.nred; i++)
        t.red[i].var->acc = t.red[i].acc = accumulator(l, &t.red[i]);
    lower_list(l, s->body, NULL, 0);
    yield_contributions(l, &t);
    for (int i = 0; i < t.nred; i++)
        t.red[i].var->acc = NULL;
    l->b = outer;
    l->frame->loop = ctx.outer;
    counter_pop(l, s->ndim);
    take_results(l, &t, op);
}
