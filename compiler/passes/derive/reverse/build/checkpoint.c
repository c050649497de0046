/* Reverse mode: loops of export funcs whose trips are swept forwards once more, each from the state that it began with.
 *
 *     for t in n { for i in m { z[i] = f(y[i], c) }  for i in m { y[i] += z[i] }  c = g(c) }          becomes
 *
 *     for t in n { kept[t] = y, c;  ... }
 *     for t in n, backwards { y, c = kept[t];  for i in m { saved[i] = ...; z[i] = ... } ...  the reverse sweep of trip
 * t }
 *
 * The state is what a trip is handed: what the loop carries, and arrays around it that the trip reads before it has
 * stored their elements. What a trip saves is given back at its end, so memory grows by a state a trip, where it grew
 * by all that the loops in it look up. That takes the forward sweep twice. plan/cut.c says where it is worth that.
 *
 * The arrays themselves are the ones that the forward sweep has left: in a reverse sweep nobody asks any more for what
 * a loop has stored when that loop's turn has come.
 *
 * A. Griewank and A. Walther, Evaluating Derivatives, 2nd edition, 2008, chapter 12, with a checkpoint in each step.
 */
#include "passes/derive/reverse/build/build.h"

/* ---- keeping it, and going back to it ---- */

static ir_op *copy_loop(ir_builder *b, ir_value *count)
{
    return ir_loop(b, ir_const_i(b, SC_I64, 0), count, false, 0, NULL);
}

/* A block for each trip. saver: the loop as one that saves. */
static void keep_array(scope *saver, rev_stored *of)
{
    rev *rv = saver->rv;
    const ir_value *array = of->primal;
    ir_value *held = rev_mapped(&rv->fwd, array);
    ir_layout *l = rev_layout_of(rv, ir_local_attr(array->def)->elem, array->name);
    const src_loc loc = saver->fwd_op->loc;
    ir_builder b = {.func = rv->out, .region = saver->fwd, .before = saver->fwd->first, .loc = loc};
    ir_value *count = ir_local_count(&b, held->def), *block = rev_stk_alloc(&b, count, l);
    const ir_op *keep = copy_loop(&b, count);
    ir_value *i = keep->regions[0]->params[0];
    ir_builder in = {.func = rv->out, .region = keep->regions[0], .loc = loc};
    rev_stk_store(&in, block, i, ir_lload(&in, held, i), l, 0);
    ir_yield(&in, 0, NULL);

    of->layout = l;
    of->kept = rev_save(saver, block, array->name);
    ir_builder back = rev_at_end(saver, saver->primal_op);
    count = ir_local_count(&back, held->def);
    const ir_op *restore = copy_loop(&back, count);
    i = restore->regions[0]->params[0];
    in.region = restore->regions[0];
    ir_value *element = rev_stk_load(&in, of->kept, i, l, 0);
    element->exact = array->exact;
    ir_lstore(&in, held, i, element);
    ir_yield(&in, 0, NULL);
}

void rev_restore_trip(scope *s, scope *c)
{
    const ir_op *op = c->primal_op;
    const ir_region *body = op->regions[0];
    rev *rv = s->rv;
    scope saver = rev_scope(rv, s, SCOPE_LOOP, body, c->fwd, c->rev);
    saver.fwd_op = c->fwd_op;
    saver.primal_op = op;
    saver.index = c->index;
    rev_mark(&saver);
    rev_find_stored(s, c);
    for (size_t i = 0; i < c->stored.len; i++)
        if (c->stored.at[i].is_kept)
            keep_array(&saver, &c->stored.at[i]);
    ir_builder before = {.func = rv->out, .region = s->rev, .loc = op->loc};
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        const ir_value *param = body->params[ir_loop_first_param(op) + k];
        ir_value *then = rev_hands_on_sum(rv, op, k) ? ir_zero(&before, param->type)
                                                     : rev_save(&saver, rev_mapped(&rv->fwd, param), param->name);
        ir_map_set(&rv->fwd, param, then);
    }
    ir_map_set(&rv->fwd, body->params[0], c->index);
    rev_scope_free(&saver);
}
