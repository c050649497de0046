/* Reverse mode: values of the forward sweep that are saved for the reverse sweep.
 *
 * A branch yields a saved value. A value from deeply nested branches is passed through a variable. A loop with known
 * bounds or with a limit has an array of one struct per iteration. A loop with a condition has a chain: each
 * iteration's struct points to the previous struct. Arrays and chains are on the saved-value stack, and their pointers
 * are values, so a nested loop saves its pointer in the struct of the outer loop. A task resets the stack after each
 * iteration.
 */
#include "passes/derive/reverse/build/build.h"

int rev_layout_add(const rev *rv, ir_layout *l, scalar type, const char *name)
{
    arena *mem = rv->module->mem;
    scalar *types = ARENA_ARRAY(mem, scalar, l->n + 1);
    const char **names = ARENA_ARRAY(mem, const char *, l->n + 1);
    for (int i = 0; i < l->n; i++) {
        types[i] = l->types[i];
        names[i] = l->names[i];
    }
    types[l->n] = type;
    names[l->n] = name;
    l->types = types;
    l->names = names;
    return l->n++;
}

ir_layout *rev_layout_of(const rev *rv, scalar elem, const char *name)
{
    arena *mem = rv->module->mem;
    ir_layout *l = ARENA_NEW(mem, ir_layout);
    l->id = rv->out->next_value;
    l->n = 1;
    l->types = ARENA_ARRAY(mem, scalar, 1);
    l->names = ARENA_ARRAY(mem, const char *, 1);
    l->types[0] = elem;
    l->names[0] = name;
    return l;
}

ir_value *rev_stk_alloc(ir_builder *b, ir_value *count, ir_layout *l)
{
    const scalar type = SC_PTR;
    ir_op *op = ir_insert(b, OP_STK_ALLOC, 1, &count, 1, &type, 0);
    ir_slot_attr(op)->layout = l;
    return op->res[0];
}

void rev_stk_store(ir_builder *b, ir_value *buf, ir_value *i, ir_value *v, ir_layout *l, int slot)
{
    ir_op *op = ir_insert(b, OP_STK_STORE, 3, (ir_value *[]){buf, i, v}, 0, NULL, 0);
    ir_slot_attr(op)->layout = l;
    ir_slot_attr(op)->number = slot;
}

ir_value *rev_stk_load(ir_builder *b, ir_value *buf, ir_value *i, ir_layout *l, int slot)
{
    ir_op *op = ir_insert(b, OP_STK_LOAD, 2, (ir_value *[]){buf, i}, 1, &l->types[slot], 0);
    ir_slot_attr(op)->layout = l;
    ir_slot_attr(op)->number = slot;
    op->res[0]->name = l->names[slot];
    return op->res[0];
}

/* Without a trip count on entry, promised or known, values are saved in a chain. */
static bool saves_in_chain(const ir_op *loop)
{
    return ir_loop_attr(loop)->cond && !ir_loop_attr(loop)->limit;
}

/* Every iteration gets a struct of its own that points to the previous one. */
static void open_chain(scope *s)
{
    ir_builder before = {.func = s->rv->out, .region = s->fwd_op->region, .before = s->fwd_op, .loc = s->fwd_op->loc};
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = s->fwd_op->loc};
    ir_value *null = ir_zero(&before, SC_PTR), *last;
    s->buf_fwd = rev_stk_alloc(&tail, ir_const_i(&tail, SC_I64, 1), s->layout);
    const int prev = rev_layout_add(s->rv, s->layout, SC_PTR, "prev");
    ir_value *p = ir_loop_carry(s->fwd_op, null, &last);
    ir_add_arg(ir_yield_of(s->fwd), s->buf_fwd);
    rev_stk_store(&tail, s->buf_fwd, ir_const_i(&tail, SC_I64, 0), p, s->layout, prev);

    s->buf_rev = ir_region_param(s->rev, SC_PTR, NULL);
    ir_builder pro = rev_prologue(s, s->fwd_op->loc);
    ir_value *next = rev_stk_load(&pro, s->buf_rev, ir_const_i(&pro, SC_I64, 0), s->layout, prev);
    vec_push(&s->carry, ((rev_carry){.param = s->buf_rev, .init = rev_save(s->outer, last, "saved"), .yield = next}));
}

static void open_array(scope *s)
{
    ir_op *loop = s->fwd_op;
    ir_builder before = {.func = s->rv->out, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *count = ir_op2(&before, OP_SUB, loop->args[1], loop->args[0]);
    s->buf_fwd = rev_stk_alloc(&before, count, s->layout);
    s->buf_rev = rev_save(s->outer, s->buf_fwd, "saved");
}

static ir_value *save_in_loop(scope *s, ir_value *w, const char *name)
{
    const bool chain = saves_in_chain(s->fwd_op);
    ir_module *m = s->rv->module;
    rev_root_of(s)->uses_stack = true;
    if (!s->layout) {
        s->layout = ARENA_NEW(m->mem, ir_layout);
        s->layout->id = s->rv->out->next_value;
        if (chain)
            open_chain(s);
        else
            open_array(s);
    }
    const int slot = rev_layout_add(s->rv, s->layout, w->type, name);
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = w->loc};
    ir_builder pro = rev_prologue(s, w->loc);
    ir_value *i_fwd, *i_rev;
    if (chain) {
        i_fwd = ir_const_i(&tail, SC_I64, 0);
        i_rev = ir_const_i(&pro, SC_I64, 0);
    } else {
        i_fwd = ir_op2(&tail, OP_SUB, s->fwd->params[0], s->fwd_op->args[0]);
        i_rev = ir_op2(&pro, OP_SUB, s->index, rev_primal_value(s->outer, s->primal_op->args[0]));
    }
    rev_stk_store(&tail, s->buf_fwd, i_fwd, w, s->layout, slot);
    ir_value *again = rev_stk_load(&pro, s->buf_rev, i_rev, s->layout, slot);
    again->exact = w->exact;
    return again;
}

static ir_value *save_in_branch(scope *s, ir_value *w, const char *name)
{
    ir_op *op = s->fwd_op;
    for (int k = 0; k < 2; k++) {
        ir_op *y = ir_yield_of(op->regions[k]);
        ir_builder b = {.func = s->rv->out, .region = op->regions[k], .before = y, .loc = w->loc};
        ir_add_arg(y, k == s->branch ? w : ir_zero(&b, w->type));
    }
    ir_value *r = ir_add_result(op, w->type);
    r->name = name;
    r->exact = w->exact;
    return rev_save(s->outer, r, name);
}

/* From deep inside nested branches: through a variable, because yields at each level would grow with the square of the
 * depth. */
static ir_value *save_in_variable(scope *s, const scope *outermost, ir_value *w, const char *name)
{
    const ir_op *op = outermost->fwd_op;
    ir_builder before = {.func = s->rv->out, .region = op->region, .before = (ir_op *)op, .loc = w->loc};
    ir_builder tail = {.func = s->rv->out, .region = s->fwd, .before = ir_yield_of(s->fwd), .loc = w->loc};
    ir_builder behind = {.func = s->rv->out, .region = op->region, .before = op->next, .loc = w->loc};
    ir_value *variable = ir_local(&before, w->type, 1, name ? name : "saved");
    ir_lstore(&tail, variable, ir_const_i(&tail, SC_I64, 0), w);
    ir_value *r = ir_lload(&behind, variable, ir_const_i(&behind, SC_I64, 0));
    r->name = name;
    variable->exact = r->exact = w->exact;
    return rev_save(outermost->outer, r, name);
}

ir_value *rev_save(scope *s, ir_value *w, const char *name)
{
    enum { MAX_YIELDS = 4 };
    if (s->kind == SCOPE_ROOT)
        return w;
    if (s->kind == SCOPE_LOOP)
        return save_in_loop(s, w, name);
    int depth = 1;
    const scope *outermost = s;
    for (; outermost->outer->kind == SCOPE_BRANCH; outermost = outermost->outer)
        depth++;
    return depth > MAX_YIELDS && w->type != SC_PTR ? save_in_variable(s, outermost, w, name)
                                                   : save_in_branch(s, w, name);
}

void rev_finish_root(scope *c)
{
    if (!c->uses_stack)
        return;
    const scalar type = SC_PTR;
    ir_builder b = {.func = c->rv->out, .region = c->rev, .before = c->rev->first, .loc = c->marker->loc};
    ir_op *mark = ir_insert(&b, OP_STK_MARK, 0, NULL, 1, &type, 0);
    b.before = NULL;
    ir_insert(&b, OP_STK_RELEASE, 1, mark->res, 0, NULL, 0);
}
