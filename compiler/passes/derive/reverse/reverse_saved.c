/* Reverse mode: saved fields that an adjoint replays. passes/derive/reverse/saved.c decides which writes are done again
 * and which are taken back. */
#include "passes/derive/reverse/reverse.h"

bool rev_keeps_write(const rev *rv, const ir_op *write)
{
    if (!rv->plan || ir_access_attr(write)->plane != IR_DATA)
        return false;
    return rv->fusing ? rv->plan->fused[write->pos] : rv->plan->keep[write->pos];
}

typedef struct search {
    const rev *rv;
    bool found;
} search;

static void find_kept(ir_op *op, void *ctx)
{
    search *s = ctx;
    if (rev_is_write(op) && rev_keeps_write(s->rv, op))
        s->found = true;
}

bool rev_keeps_any(const rev *rv, const ir_op *task)
{
    search s = {rv, false};
    if (rv->plan)
        ir_walk(task->regions[0], find_kept, &s);
    return s.found;
}

static ir_value **clones(ir_module *m, const ir_map *map, const ir_op *write)
{
    ir_value **args = ARENA_ARRAY(m->mem, ir_value *, write->nargs);
    for (int i = 0; i < write->nargs; i++)
        args[i] = ir_map_get(map, write->args[i]);
    return args;
}

/* A minimum or maximum: the winner, which is recorded, stores. */
static void set_again(ir_builder *b, const ir_map *map, ir_op *atomic)
{
    ir_field *f = ir_field_of(atomic);
    ir_value **args = clones(b->func->module, map, atomic), *won = rev_won(b, atomic, args, args + f->ndim + 2);
    ir_op *choice = ir_if(b, won, 0, NULL);
    ir_builder in = {.func = b->func, .region = choice->regions[0], .loc = b->loc};
    ir_store(&in, f, IR_DATA, args, args[f->ndim], args[f->ndim + 1]);
    ir_yield(&in, 0, NULL);
    in.region = choice->regions[1];
    ir_yield(&in, 0, NULL);
}

void rev_write_again(rev *rv, ir_builder *b, ir_map *map, ir_op *write)
{
    const bool undone = rv->fusing || (!rv->in_task && rv->plan->undo[write->pos]);
    b->origin = NULL; /* what is read here is no read of the kernel */
    if (undone) {
        ir_value **idx = clones(rv->module, map, write);
        rv->old[write->pos] = ir_load(b, ir_field_of(write), IR_DATA, idx, idx[ir_field_of(write)->ndim]);
    }
    if (ir_atomic_has_winner(write) && ir_atomic_form(write) > 0) {
        set_again(b, map, write);
        return;
    }
    ir_op *again = ir_clone_op(b, write, map);
    while (again->nargs >
           ir_field_of(write)->ndim + 2) /* where an atomic records its old value: what this one returns is nobody's */
        ir_remove_arg(again, again->nargs - 1);
}

void rev_undo_write(scope *s, const ir_op *write)
{
    rev *rv = s->rv;
    if (!rv->old || !rv->old[write->pos])
        return;
    const int n = ir_field_of(write)->ndim;
    ir_value *old = rev_save(s, rv->old[write->pos], ir_field_of(write)->name);
    ir_value **idx = ARENA_ARRAY(rv->module->mem, ir_value *, n + 1);
    for (int i = 0; i <= n; i++)
        idx[i] = rev_lookup(s, write->args[i]);
    ir_builder b = {.func = rv->out, .region = s->rev, .loc = write->loc};
    ir_store(&b, ir_field_of(write), IR_DATA, idx, idx[n], old);
}

/* ---- whole fields ---- */

/* Between the field and the buffer, dimension by dimension; `at` counts elements. */
static void copy_dim(ir_builder *b, const rev_snapshot *c, ir_value *buf, int dim, ir_value **idx, ir_value *at,
                     bool back)
{
    ir_field *f = c->field;
    if (dim < f->ndim) {
        ir_value *lo = ir_const_i(b, SC_I64, 0), *hi = ir_shape(b, f, dim);
        ir_op *loop = ir_loop(b, lo, hi, false, 0, NULL);
        ir_builder in = {.func = b->func, .region = loop->regions[0], .loc = b->loc};
        idx[dim] = loop->regions[0]->params[0];
        copy_dim(&in, c, buf, dim + 1, idx, at ? ir_op2(&in, OP_ADD, ir_op2(&in, OP_MUL, at, hi), idx[dim]) : idx[dim],
                 back);
        ir_yield(&in, 0, NULL);
        return;
    }
    const int n = ir_field_ncomp(f);
    for (int k = 0; k < n; k++) {
        ir_value *comp = ir_const_i(b, SC_I64, k), *to = comp;
        if (at)
            to = ir_op2(b, OP_ADD, ir_op2(b, OP_MUL, at, ir_const_i(b, SC_I64, n)), comp);
        if (back)
            ir_store(b, f, IR_DATA, idx, comp, rev_stk_load(b, buf, to, c->layout, 0));
        else
            rev_stk_store(b, buf, to, ir_load(b, f, IR_DATA, idx, comp), c->layout, 0);
    }
}

void rev_take_snapshots(rev *rv, ir_builder *b, const ir_op *task)
{
    ir_module *m = rv->module;
    b->origin = NULL;
    for (size_t i = 0; i < m->fields.len; i++) {
        if (!rv->plan->snap[(size_t)task->pos * m->fields.len + i])
            continue;
        rev_snapshot c = {.task = task, .field = m->fields.at[i], .layout = ARENA_NEW(m->mem, ir_layout)};
        c.layout->id = rv->out->next_value;
        c.layout->n = 1;
        c.layout->types = ARENA_ARRAY(m->mem, scalar, 1);
        c.layout->names = ARENA_ARRAY(m->mem, const char *, 1);
        c.layout->types[0] = c.field->elem;
        c.layout->names[0] = c.field->name;
        c.buf = rev_stk_alloc(b, ir_component_count(b, c.field), c.layout);
        ir_value **idx = ARENA_ARRAY(m->mem, ir_value *, c.field->ndim + 1);
        copy_dim(b, &c, c.buf, 0, idx, NULL, false);
        vec_push(&rv->snapshots, c);
    }
}

void rev_restore_snapshots(scope *s, const ir_op *task)
{
    rev *rv = s->rv;
    for (size_t i = 0; i < rv->snapshots.len; i++) {
        const rev_snapshot *c = &rv->snapshots.at[i];
        if (c->task != task)
            continue;
        ir_value *buf = rev_save(s, c->buf, "saved");
        ir_builder b = {.func = rv->out, .region = s->rev, .loc = task->loc};
        ir_value **idx = ARENA_ARRAY(rv->module->mem, ir_value *, c->field->ndim + 1);
        copy_dim(&b, c, buf, 0, idx, NULL, true);
    }
}

/* ---- what has to be taken back ---- */

typedef struct takes {
    const rev *rv;
    bool found;
} takes;

static void find_taken_back(ir_op *op, void *ctx)
{
    takes *t = ctx;
    if (rev_is_write(op) && t->rv->old[op->pos])
        t->found = true;
    for (size_t i = 0; i < t->rv->snapshots.len && op->code == OP_TASK; i++)
        t->found |= t->rv->snapshots.at[i].task == op;
}

bool rev_takes_back(const rev *rv, const ir_region *r)
{
    takes t = {rv, false};
    if (rv->old)
        ir_walk((ir_region *)r, find_taken_back, &t);
    return t.found;
}
