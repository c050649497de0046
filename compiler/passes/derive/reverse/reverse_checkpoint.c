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
 * by all that the loops in it look up. That takes the forward sweep twice. reverse_choice.c says where it is worth
 * that.
 *
 * The arrays themselves are the ones that the forward sweep has left: in a reverse sweep nobody asks any more for what
 * a loop has stored when that loop's turn has come.
 *
 * A. Griewank and A. Walther, Evaluating Derivatives, 2nd edition, 2008, chapter 12, with a checkpoint in each step.
 */
#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/reverse.h"

typedef VEC(const ir_value *) value_list;

typedef struct body_search {
    const ir_op *loop;
    const ir_region *root;
    effects touched; /* by the function */
    value_list stored;
    bool dear; /* saves more than a struct in each trip */
    bool ok;
} body_search;

static void note_stored(body_search *s, const ir_value *array)
{
    for (size_t i = 0; i < s->stored.len; i++)
        if (s->stored.at[i] == array)
            return;
    vec_push(&s->stored, array);
}

static void look(ir_op *op, void *ctx)
{
    body_search *s = ctx;
    s->dear |= op->code == OP_LOOP || op->code == OP_CALL;
    if (op->code != OP_LSTORE || ir_region_is_ancestor(s->loop->regions[0], op->args[0]->region)) {
        s->ok &= rev_repeats(s->loop, op, &s->touched);
        return;
    }
    note_stored(s, op->args[0]);
    s->ok &= op->args[0]->region == s->root; /* of a scope around the loop that is none, the sweep backwards has none */
}

/* ---- what is handed from trip to trip ---- */

typedef struct load_search {
    const ir_value *array;
    const ir_op *loop;
    bool found;
    bool by_trip; /* which elements are touched may follow from the trip */
} load_search;

enum { MOST_OPERANDS = 64 }; /* looked at: of a value that is made of more nothing is known */

/* Made of indices of loops in the trip, and of what is the same in all trips. */
static bool is_same(const ir_op *loop, const ir_value *v, int *left)
{
    const ir_region *r = v->region;
    if (!ir_region_is_ancestor(loop->regions[0], r))
        return true;
    if (!v->def)
        return r->parent != loop && r->parent->code == OP_LOOP && ir_loop_attr(r->parent)->bounded && v->index == 0;
    bool same = op_follows_from_operands(v->def->code) && --*left >= 0;
    for (int i = 0; i < v->def->nargs && same; i++)
        same = is_same(loop, v->def->args[i], left);
    return same;
}

static bool is_same_in_all_trips(const ir_op *loop, const ir_value *index)
{
    int left = MOST_OPERANDS;
    return is_same(loop, index, &left);
}

static void look_for_load(ir_op *op, void *ctx)
{
    load_search *s = ctx;
    if ((op->code != OP_LLOAD && op->code != OP_LSTORE) || op->args[0] != s->array)
        return;
    s->found |= op->code == OP_LLOAD;
    s->by_trip |= !is_same_in_all_trips(s->loop, op->args[1]);
}

/* False: all of such an array, however large, would be kept for the few elements that a trip touches. */
static bool add_if_handed_on(value_list *state, const ir_op *loop, const ir_value *array)
{
    load_search s = {.array = array, .loop = loop};
    ir_walk(loop->regions[0], look_for_load, &s);
    if (!s.found || region_sets_first(loop->regions[0], array))
        return true;
    vec_push(state, array);
    return !s.by_trip || array->def->nargs == 0;
}

/* The arrays of the state; false: the loop cannot be swept so. */
static bool find_state(scope *s, const ir_op *loop, value_list *state)
{
    rev *rv = s->rv;
    const scope *root = rev_root_of(s);
    if (!rv->primal->pure || rv->primal->kind != IR_KERNEL || rv->plan || rv->module->debug ||
        ir_loop_attr(loop)->cond || !ir_loop_attr(loop)->bounded || root->outer)
        return false;
    body_search b = {.loop = loop, .root = root->primal, .ok = true};
    b.touched = effects_of_region(rv->module, rv->primal->body);
    ir_walk(loop->regions[0], look, &b);
    effects_free(&b.touched);
    bool ok = b.ok && b.dear;
    for (size_t i = 0; i < b.stored.len && ok; i++)
        ok = add_if_handed_on(state, loop, b.stored.at[i]);
    vec_free(&b.stored);
    return ok;
}

bool rev_is_checkpointed(scope *s, const ir_op *loop)
{
    value_list state = {0};
    bool is = false;
    if (find_state(s, loop, &state)) {
        int numbers = 0;
        for (int k = 0; k < ir_loop_ncarried(loop); k++)
            numbers += !rev_hands_on_sum(s->rv, loop, k);
        is = rev_checkpoints(s->rv->choice, loop, state.at, state.len, numbers);
    }
    vec_free(&state);
    return is;
}

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

static rev_stored *find_stored(scope *c, const ir_value *array)
{
    for (size_t i = 0; i < c->stored.len; i++)
        if (c->stored.at[i].primal == array)
            return &c->stored.at[i];
    return NULL;
}

typedef struct storing {
    scope *c;
    const ir_op *at; /* operation of the body */
} storing;

static void note_place(ir_op *op, void *ctx)
{
    const storing *s = ctx;
    if (op->code != OP_LSTORE || ir_region_is_ancestor(s->c->primal, op->args[0]->region))
        return;
    rev_stored *there = find_stored(s->c, op->args[0]);
    if (there)
        there->last = s->at;
    else
        vec_push(&s->c->stored, ((rev_stored){.primal = op->args[0], .first = s->at, .last = s->at}));
}

static void find_stores(scope *c)
{
    for (const ir_op *op = c->primal->first; op; op = op->next) {
        storing s = {c, op};
        note_place((ir_op *)op, &s);
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], note_place, &s);
    }
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
    value_list state = {0};
    find_state(s, op, &state);
    find_stores(c);
    for (size_t i = 0; i < state.len; i++)
        keep_array(&saver, find_stored(c, state.at[i]));
    vec_free(&state);
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
