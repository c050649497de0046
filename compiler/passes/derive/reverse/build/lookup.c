/* Reverse mode: how the reverse sweep gets at primal values.
 *
 * Scope S looks up a value of scope D. The value is visible if both sweeps of D share a region. Otherwise the value is
 * recomputed at the start of D's reverse region, or saved; either happens once per D. A recomputed load is a read that
 * the adjoint needs. plan/cut.c chooses. A local array that is read after its last store is kept as a whole, one block
 * of the saved-value stack per iteration, or filled again (plan/fill.c).
 */
#include <assert.h>

#include "passes/derive/reverse/build/build.h"

ir_value *rev_array_at(scope *s, const ir_value *array, const ir_op *task)
{
    rev *rv = s->rv;
    for (const scope *root = rev_root_of(s); root->checkpointed; root = rev_root_of(root->outer))
        for (size_t i = 0; i < root->held.len; i++)
            if (root->held.at[i].primal == array)
                return root->held.at[i].there;
    /* a kept one is memory of the saved-value stack, and the body wants an array */
    if (rev_owner_of(s, array)->kind == SCOPE_ROOT && rev_array_is_final(s, array, task))
        return rev_primal_value(s, array);
    const ir_op *local = array->def;
    const ir_op *place = ptrmap_get(&rv->fwd_ops, task);
    rev_root_of(s)->uses_stack = true;
    ir_layout *l = rev_layout_of(rv, ir_local_attr(local)->elem, array->name);
    ir_builder out = {.func = rv->out, .region = place->region, .before = (ir_op *)place, .loc = task->loc};
    ir_value *held = rev_mapped(&rv->fwd, array), *zero = ir_const_i(&out, SC_I64, 0);
    ir_layout *kept = rv->kept[array->id]; /* for a reader behind this one */
    ir_value *count = kept ? held->def->args[0] : ir_local_count(&out, held->def);
    ir_value *buf = rev_stk_alloc(&out, count, l);
    ir_op *copy = ir_loop(&out, zero, count, false, 0, NULL);
    ir_builder in = {.func = rv->out, .region = copy->regions[0], .loc = task->loc};
    ir_value *i = copy->regions[0]->params[0];
    ir_value *now = kept ? rev_stk_load(&in, held, i, kept, 0) : ir_lload(&in, held, i);
    rev_stk_store(&in, buf, i, now, l, 0);
    ir_yield(&in, 0, NULL);

    ir_value *saved = rev_save(s, buf, "saved");
    ir_builder pro = rev_prologue(s, task->loc);
    ir_value *again = rev_array_like(s, array, array->name, task->loc);
    again->exact = array->exact;
    zero = ir_const_i(&pro, SC_I64, 0);
    count = ir_local_count(&pro, again->def);
    ir_op *fill = ir_loop(&pro, zero, count, false, 0, NULL);
    in.region = fill->regions[0];
    i = fill->regions[0]->params[0];
    ir_value *element = rev_stk_load(&in, saved, i, l, 0);
    element->exact = array->exact;
    ir_lstore(&in, again, i, element);
    ir_yield(&in, 0, NULL);
    return again;
}

static void use_layout(ir_op *op, ir_opcode code, ir_layout *l)
{
    op->code = code;
    op->attr = ir_attr_new(op->region->func->module->mem, code);
    ir_slot_attr(op)->layout = l;
}

typedef struct keeping {
    const ir_value *array;
    ir_layout *layout;
} keeping;

static void use_kept(ir_op *op, void *ctx)
{
    const keeping *k = ctx;
    if ((op->code == OP_LLOAD || op->code == OP_LSTORE) && op->args[0] == k->array)
        use_layout(op, op->code == OP_LLOAD ? OP_STK_LOAD : OP_STK_STORE, k->layout);
}

/* Behind the allocation of a kept array. */
static void fill_with_zeros(ir_builder *b, const ir_op *alloc, ir_value *array, ir_value *count, ir_layout *l)
{
    b->before = alloc->next;
    ir_op *fill = ir_loop(b, ir_const_i(b, SC_I64, 0), count, false, 0, NULL);
    ir_builder in = {.func = b->func, .region = fill->regions[0], .loc = alloc->loc};
    ir_value *zero = ir_zero(&in, l->types[0]);
    zero->exact = array->exact;
    rev_stk_store(&in, array, fill->regions[0]->params[0], zero, l, 0);
    ir_yield(&in, 0, NULL);
}

/* The forward sweep's array of a loop's body gets a block of its own in each iteration, which stays: from here on it is
 * memory of the saved-value stack. */
static ir_layout *keep_array(scope *home, const ir_value *array)
{
    rev *rv = home->rv;
    if (rv->kept[array->id])
        return rv->kept[array->id];
    ir_value *w = rev_mapped(&rv->fwd, array);
    ir_op *local = w->def;
    ir_layout *l = rev_layout_of(rv, ir_local_attr(local)->elem, array->name);
    ir_builder b = {.func = rv->out, .region = local->region, .before = local, .loc = local->loc};
    ir_value *count = ir_local_count(&b, local);
    if (local->nargs == 0)
        ir_add_arg(local, count);
    use_layout(local, OP_STK_ALLOC, l);
    ir_walk(home->fwd, use_kept, &(keeping){w, l});
    if (!local_is_set_first(array->def))
        fill_with_zeros(&b, local, w, count, l);
    rev_root_of(home)->uses_stack = true;
    return rv->kept[array->id] = l;
}

ir_value *rev_load_again(scope *s, ir_builder *b, const ir_op *load, ir_value *array, ir_value *i)
{
    scope *home = rev_owner_of(s, load->args[0]);
    const rev_stored *of = rev_array_is_final(s, load->args[0], load) ? NULL : rev_began_with(s, load->args[0], load);
    const bool again = array->def && array->def->code == OP_LOCAL; /* filled again, if it is not the root's own */
    ir_layout *l = of ? of->layout : home->kind == SCOPE_ROOT || again ? NULL : keep_array(home, load->args[0]);
    if (of)
        array = of->kept;
    ir_value *element = l ? rev_stk_load(b, array, i, l, 0) : ir_lload(b, array, i);
    element->name = load->res[0]->name;
    element->exact = load->res[0]->exact;
    return element;
}

/* --debug: what is computed again is held against the launch, too. */
static void decide_again(scope *s, ir_builder *b, const ir_op *decision, ir_value *v)
{
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, decision->nargs);
    args[0] = v;
    for (int i = 1; i < decision->nargs; i++)
        args[i] = rev_primal_value(s, decision->args[i]);
    ir_copy_attr(ir_insert(b, OP_DECISION, decision->nargs, args, 0, NULL, 0), decision);
}

static ir_value *recompute(scope *s, const ir_value *v)
{
    const ir_op *op = v->def;
    if (op->code == OP_IF)
        return rev_recompute_if(s, v);
    if (op->code == OP_LOCAL)
        return rev_fill_again(s, v);
    if (op->code == OP_LLOAD) {
        ir_value *array = rev_primal_value(s, op->args[0]), *i = rev_primal_value(s, op->args[1]);
        ir_builder at = rev_prologue(s, op->loc);
        at.origin = (ir_op *)op;
        return rev_load_again(s, &at, op, array, i);
    }
    const int first = rev_first_operand(op), n = op->nargs - first;
    ir_value **args = ARENA_ARRAY(s->rv->module->mem, ir_value *, n + 1);
    for (int i = 0; i < n; i++)
        args[i] = rev_primal_value(s, op->args[first + i]);
    ir_builder b = rev_prologue(s, op->loc);
    b.origin = (ir_op *)op;
    ir_op *c = ir_insert(&b, op->code == OP_ATOMIC ? OP_OLD : op->code, n, args, 1, &v->type, 0);
    if (op->code != OP_ATOMIC)
        ir_copy_attr(c, op);
    c->res[0]->name = v->name;
    c->res[0]->exact = v->exact;
    if (op->next && op->next->code == OP_DECISION && op->next->args[0] == v)
        decide_again(s, &b, op->next, c->res[0]);
    return c->res[0];
}

ir_value *rev_primal_value(scope *s, const ir_value *v)
{
    scope *home = rev_owner_of(s, v);
    rev *rv = s->rv;
    if (home->kind == SCOPE_ROOT)
        return rev_mapped(&rv->fwd, v);
    if (rv->memo[v->id])
        return rv->memo[v->id];
    ir_value *w;
    if (home->kind == SCOPE_LOOP && home->index && v == home->primal->params[0]) {
        w = home->index;
    } else if (rev_saves(rv->plan, v)) {
        w = rev_save(home, rev_mapped(&rv->fwd, v), v->name);
    } else {
        w = recompute(home, v);
    }
    rv->memo[v->id] = w;
    return w;
}
