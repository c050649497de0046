/* Reverse mode: saved fields that an adjoint replays. passes/derive/reverse/plan/saved.c decides which writes are done
 * again and which are taken back. */
#include "passes/derive/reverse/build/build.h"

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
    if (rv->memory)
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
    b->origin = NULL; /* what is read here is no read of the kernel */
    if (rv->fusing || (!rv->in_task && rv->memory->undo[write->pos])) {
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
        idx[i] = rev_primal_value(s, write->args[i]);
    ir_builder b = {.func = rv->out, .region = s->rev, .loc = write->loc};
    ir_store(&b, ir_field_of(write), IR_DATA, idx, idx[n], old);
}

/* ---- boxes of elements ---- */

/* Where the box is computed: in front of the task in the forward sweep, or in the reverse sweep of s. */
typedef struct place {
    rev *rv;
    scope *s; /* NULL: the forward sweep */
    const ir_op *task;
    ir_builder b;
    ir_map map; /* what the primal computes, here */
} place;

static ir_value *value_at(place *p, const ir_value *v)
{
    ir_value *here = ir_map_get(&p->map, v);
    if (here)
        return here;
    if (ir_is_visible(v, p->task->region)) {
        here = p->s ? rev_primal_value(p->s, v) : rev_mapped(&p->rv->fwd, v);
        ir_map_set(&p->map, v, here);
        return here;
    }
    for (int i = 0; i < v->def->nargs; i++)
        value_at(p, v->def->args[i]);
    ir_clone_op(&p->b, v->def, &p->map);
    return ir_map_get(&p->map, v);
}

static ir_value *sum_at(place *p, const affine *a)
{
    ir_value *sum = NULL;
    for (int i = 0; i < a->n; i++) {
        ir_value *v = ir_cast(&p->b, SC_I64, value_at(p, a->term[i]));
        if (a->coef[i] != 1)
            v = ir_op2(&p->b, OP_MUL, v, ir_const_i(&p->b, SC_I64, a->coef[i]));
        sum = sum ? ir_op2(&p->b, OP_ADD, sum, v) : v;
    }
    ir_value *konst = sum && a->konst == 0 ? NULL : ir_const_i(&p->b, SC_I64, a->konst);
    return !konst ? sum : sum ? ir_op2(&p->b, OP_ADD, sum, konst) : konst;
}

/* The subscripts of one dimension: lo up to end, count of them; end NULL: lo alone. */
typedef struct box_dim {
    ir_value *lo, *end, *count;
} box_dim;

static ir_value *farthest(place *p, const box_side *side, ir_opcode choose)
{
    ir_value *v = NULL;
    for (int i = 0; i < side->n; i++) {
        ir_value *each = sum_at(p, &side->at[i]);
        v = v ? ir_op2(&p->b, choose, v, each) : each;
    }
    return v;
}

static box_dim box_dim_at(place *p, const rev_snapshot *c, int d)
{
    const box_side *first = &c->sides[2 * d], *last = &c->sides[2 * d + 1];
    ir_builder *b = &p->b;
    ir_value *zero = ir_const_i(b, SC_I64, 0), *one = ir_const_i(b, SC_I64, 1), *extent = ir_shape(b, c->field, d);
    ir_value *lo = farthest(p, first, OP_MIN), *end = farthest(p, last, OP_MAX);
    end = end ? ir_op2(b, OP_ADD, end, one) : extent;
    if (lo && !first->inside)
        lo = ir_op2(b, OP_MAX, lo, zero);
    if (!last->inside)
        end = ir_op2(b, OP_MIN, end, extent);
    if (!lo)
        return (box_dim){zero, end, ir_op2(b, OP_MAX, end, zero)};
    if (first->n == 1 && last->n == 1 && first->inside && last->inside && affine_equal(&first->at[0], &last->at[0]))
        return (box_dim){lo, NULL, one};
    return (box_dim){lo, end, ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, end, lo), zero)};
}

static box_dim *box_at(place *p, const rev_snapshot *c)
{
    box_dim *box = ARENA_ARRAY(p->rv->module->mem, box_dim, c->field->ndim + 1);
    p->map = ir_map_create(p->rv->primal);
    for (int d = 0; d < c->field->ndim; d++)
        box[d] = box_dim_at(p, c, d);
    ir_map_free(&p->map);
    return box;
}

/* Between the field and the buffer, dimension by dimension; `at` counts elements. */
static void copy_dim(ir_builder *b, const rev_snapshot *c, const box_dim *box, ir_value *buf, int dim, ir_value **idx,
                     ir_value *at, bool back)
{
    ir_field *f = c->field;
    if (dim < f->ndim && !box[dim].end) {
        idx[dim] = box[dim].lo;
        copy_dim(b, c, box, buf, dim + 1, idx, at, back);
        return;
    }
    if (dim < f->ndim) {
        const ir_op *loop = ir_loop(b, box[dim].lo, box[dim].end, false, 0, NULL);
        ir_builder in = {.func = b->func, .region = loop->regions[0], .loc = b->loc};
        idx[dim] = loop->regions[0]->params[0];
        ir_value *from = ir_op2(&in, OP_SUB, idx[dim], box[dim].lo);
        if (at)
            from = ir_op2(&in, OP_ADD, ir_op2(&in, OP_MUL, at, box[dim].count), from);
        copy_dim(&in, c, box, buf, dim + 1, idx, from, back);
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

static void copy_box(place *p, const rev_snapshot *c, const box_dim *box, bool back)
{
    ir_value **idx = ARENA_ARRAY(p->rv->module->mem, ir_value *, c->field->ndim + 1);
    copy_dim(&p->b, c, box, c->buf, 0, idx, NULL, back);
}

void rev_take_snapshots(rev *rv, ir_builder *b, const ir_op *task)
{
    ir_module *m = rv->module;
    b->origin = NULL;
    for (size_t i = 0; i < m->fields.len; i++) {
        if (!rv->memory->snap[(size_t)task->pos * m->fields.len + i])
            continue;
        rev_snapshot c = {.task = task, .field = m->fields.at[i]};
        c.layout = rev_layout_of(rv, c.field->elem, c.field->name);
        c.sides = rev_box_sides(rv, &c);
        place p = {.rv = rv, .task = task, .b = *b};
        const box_dim *box = box_at(&p, &c);
        ir_value *count = ir_const_i(b, SC_I64, ir_field_ncomp(c.field));
        for (int d = 0; d < c.field->ndim; d++)
            count = ir_op2(b, OP_MUL, count, box[d].count);
        c.buf = rev_stk_alloc(b, count, c.layout);
        copy_box(&p, &c, box, false);
        vec_push(&rv->snapshots, c);
    }
}

void rev_restore_snapshots(scope *s, const ir_op *task)
{
    rev *rv = s->rv;
    for (size_t i = 0; i < rv->snapshots.len; i++) {
        rev_snapshot c = rv->snapshots.at[i];
        if (c.task != task)
            continue;
        c.buf = rev_save(s, c.buf, "saved");
        place p = {.rv = rv, .s = s, .task = task, .b = {.func = rv->out, .region = s->rev, .loc = task->loc}};
        copy_box(&p, &c, box_at(&p, &c), true);
    }
}
