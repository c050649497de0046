/* Reverse mode, planning: questions about operations of the primal. */
#include "passes/derive/reverse/plan/plan.h"

/* ---- scopes ---- */

scope rev_scope(rev *rv, scope *outer, scope_kind kind, const ir_region *primal, ir_region *fwd, ir_region *reg)
{
    scope s = {0};
    s.rv = rv;
    s.outer = outer;
    s.kind = kind;
    s.primal = primal;
    s.fwd = fwd;
    s.rev = reg;
    return s;
}

void rev_scope_free(scope *s)
{
    vec_free(&s->outer_adj);
    vec_free(&s->carry);
    vec_free(&s->arrays);
    vec_free(&s->held);
    vec_free(&s->stored);
    free(s->slot);
    s->slot = NULL;
}

scope *rev_root_of(scope *s)
{
    while (s->kind != SCOPE_ROOT)
        s = s->outer;
    return s;
}

scope *rev_owner_of(scope *s, const ir_value *v)
{
    while (s->primal != v->region)
        s = s->outer;
    return s;
}

bool rev_varied(const rev *rv, const ir_value *v)
{
    return v->id < rv->act.n && rv->act.varied[v->id];
}

/* ---- straight-line operations ---- */

static void note_unary(ir_op *op, void *ctx)
{
    rev_plan *p = ctx;
    if (op->nargs != 1 || op->nres != 1 || op->nregions > 0)
        return;
    p->next_unary[op->res[0]->id] = p->unary[op->args[0]->id];
    p->unary[op->args[0]->id] = op;
}

void rev_note_unary(rev_plan *p, const ir_func *f)
{
    p->unary = ARENA_ARRAY(f->module->mem, const ir_op *, p->n);
    p->next_unary = ARENA_ARRAY(f->module->mem, const ir_op *, p->n);
    ir_walk(f->body, note_unary, p);
}

/* The same function of the same operand, in the region of op: the cosine beside a sine. */
static const ir_op *find_beside(const rev_plan *p, const ir_op *op, ir_opcode code)
{
    const ir_op *o = p->unary[op->args[0]->id];
    while (o && (o->code != code || o->region != op->region))
        o = p->next_unary[o->res[0]->id];
    return o;
}

/* In branches and loops the two may be far apart, so that no later pass can merge them. */
const ir_op *rev_computed_beside(const rev *rv, const ir_op *op)
{
    const bool pulls = op->nargs == 1 && rev_varied(rv, op->args[0]);
    const ir_opcode part = pulls ? rule_costly_part(op->code) : OP_COUNT;
    return part == OP_COUNT ? NULL : find_beside(rv->plan, op, part);
}

unsigned rev_rule_needs(const rev *rv, const ir_op *op)
{
    const ir_op *beside = rev_computed_beside(rv, op);
    unsigned needs = 0;
    for (int k = 0; k < op->nargs; k++)
        if (scalar_is_float(op->args[k]->type) && rev_varied(rv, op->args[k]) && !op_contributes_nothing(op, k))
            needs |= rule_needs(op->code, k, beside ? beside->code : OP_COUNT);
    return needs;
}

bool rev_has_gradient(const rev *rv, const ir_op *op)
{
    return !rv->of_args && ir_access_attr(op)->plane == IR_DATA && rv->storage[ir_storage_of_op(op)];
}

/* Whether v is what the store's element held: loaded in the same region, and nothing is stored in between. */
static bool is_old_element(const ir_op *store, const ir_value *v)
{
    const ir_op *load = v->def;
    if (!load || load->code != OP_LLOAD || load->args[0] != store->args[0] || load->region != store->region)
        return false;
    const affine a = affine_of(load->args[1]), b = affine_of(store->args[1]);
    if (load->args[1] != store->args[1] && !affine_equal(&a, &b))
        return false;
    for (const ir_op *op = load->next; op != store; op = op->next)
        if (!op || rev_stores_into(op, store->args[0]))
            return false;
    return true;
}

/* y[i] = y[i] + v, or - v: the operand of its value that is v; -1: the store is none. */
int rev_added_operand(const ir_op *store)
{
    const ir_op *sum = store->args[2]->def;
    if (!sum || (sum->code != OP_ADD && sum->code != OP_SUB))
        return -1;
    return is_old_element(store, sum->args[0])                          ? 1
           : sum->code == OP_ADD && is_old_element(store, sum->args[1]) ? 0
                                                                        : -1;
}

bool rev_call_has_memory(const rev *rv, const ir_op *call)
{
    const ir_func *f = ir_callee_of(call);
    return !rv->of_args && !f->ad.gradient_of && rev_has_active_memory(f->body);
}

bool rev_carries_adjoint(scope *s, const ir_op *loop, int k, bool from_behind)
{
    const ir_value *param = loop->regions[0]->params[ir_loop_first_param(loop) + k];
    if (!scalar_is_float(param->type) || !rev_varied(s->rv, param))
        return false;
    return from_behind || (param->id < s->rv->act.n && s->rv->act.useful[param->id]);
}

/* ---- writes that a replay does again ---- */

bool rev_keeps_write(const rev *rv, const ir_op *write)
{
    if (!rv->memory || ir_access_attr(write)->plane != IR_DATA)
        return false;
    return rv->fusing ? rv->memory->fused[write->pos] : rv->memory->keep[write->pos];
}

bool rev_writes_again(const rev *rv, const ir_op *write)
{
    return rv->memory && ir_access_attr(write)->plane == IR_DATA &&
           (rv->memory->keep[write->pos] || (ir_task_of(write) && rv->memory->fused[write->pos]));
}

bool rev_undoes(const rev *rv, const ir_op *write)
{
    if (!rv->memory || ir_access_attr(write)->plane != IR_DATA)
        return false;
    return ir_task_of(write) ? rv->memory->fused[write->pos]
                             : rv->memory->keep[write->pos] && rv->memory->undo[write->pos];
}

typedef struct takes {
    const rev *rv;
    const ir_op *task; /* around the region */
    bool found;
} takes;

/* Tasks inside do that for their own. */
static void find_taken_back(ir_op *op, void *ctx)
{
    takes *t = ctx;
    const size_t n = t->rv->module->fields.len;
    if (rev_is_write(op))
        t->found |= ir_task_of(op) == t->task && rev_undoes(t->rv, op);
    for (size_t i = 0; i < n && op->code == OP_TASK; i++)
        t->found |= t->rv->memory->snap[(size_t)op->pos * n + i];
}

bool rev_takes_back(const rev *rv, const ir_op *op, const ir_region *r)
{
    takes t = {rv, op->code == OP_TASK ? NULL : ir_task_of(op), false};
    if (rv->memory)
        ir_walk((ir_region *)r, find_taken_back, &t);
    return t.found;
}

/* ---- what has an effect on active memory ---- */

typedef struct memory_search {
    bool found;
    VEC(const ir_func *) seen; /* callees: functions that call each other twice would otherwise cost 2^depth */
} memory_search;

static void search_func(memory_search *m, const ir_func *f);

static void find_active_memory(ir_op *op, void *ctx)
{
    memory_search *m = ctx;
    if ((op->code == OP_STORE || op->code == OP_ACCUM || ir_atomic_has_winner(op)) &&
        ir_access_attr(op)->plane == IR_DATA && ir_field_of(op)->grad)
        m->found = true;
    else if (op->code == OP_LSTORE && scalar_is_float(ir_elem_type(op->args[0])))
        m->found = true;
    else if (op->code == OP_CALL && !m->found)
        search_func(m, ir_callee_of(op));
}

static void search_func(memory_search *m, const ir_func *f)
{
    for (size_t i = 0; i < m->seen.len; i++)
        if (m->seen.at[i] == f)
            return;
    vec_push(&m->seen, f);
    ir_walk(f->body, find_active_memory, m);
}

bool rev_has_active_memory(const ir_region *r)
{
    memory_search m = {false, {0}};
    ir_walk((ir_region *)r, find_active_memory, &m);
    vec_free(&m.seen);
    return m.found;
}

bool rev_changes_memory(const rev *rv, const ir_op *op)
{
    for (int k = 0; k < op->nregions; k++)
        if (rev_has_active_memory(op->regions[k]) || rev_takes_back(rv, op, op->regions[k]))
            return true;
    return false;
}

/* ---- local arrays ---- */

static void last_store_in(ir_op *op, void *ctx)
{
    const ir_value **array = ctx;
    if (op->code == OP_LSTORE && op->args[0] == *array)
        *array = NULL;
}

bool rev_stores_into(const ir_op *op, const ir_value *array)
{
    if (op->code == OP_LSTORE)
        return op->args[0] == array;
    const ir_value *found = array;
    for (int k = 0; k < op->nregions && found; k++)
        ir_walk(op->regions[k], last_store_in, &found);
    return !found;
}
