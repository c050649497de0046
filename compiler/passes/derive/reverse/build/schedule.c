/* Reverse mode: loops of export funcs whose states fit a number of bytes (--checkpoints=BYTES).
 *
 *     for t in n { x = f(x) }          becomes
 *
 *     state[0] = 0, x;  for t in n { x = f(x) }
 *     for t in n, backwards {
 *         p, x = state[top]
 *         while p < t { d = ahead(t + 1 - p);  for i in p .. p + d { x = f(x) }  p += d;  push p, x, if there is room }
 *         x is what trip t began with; its forward and its reverse sweep
 *         pop, if the state of t was kept
 *     }
 *
 * tk_checkpoint_ahead of tkc_math.h has the binomial schedule. What a state is stands in checkpoint.c.
 */
#include "passes/derive/reverse/build/build.h"

/* A loop, and where its states are. */
typedef struct states {
    scope *s, *c;
    const ir_op *op; /* of the primal */
    ir_op *fwd;      /* its clone */
    ir_layout *layout;
    ir_value *slots, *block;     /* of structs: where a state belongs, then the numbers */
    ir_value **counts, **blocks; /* of arrays, by number of c->stored; NULL: it is no state */
} states;

static bool is_state(const states *st, int k)
{
    return !rev_hands_on_sum(st->s->rv, st->op, k);
}

static ir_builder at_end_of(const states *st, ir_region *r)
{
    return (ir_builder){.func = st->s->rv->out, .region = r, .loc = st->op->loc};
}

static void set_layout(states *st)
{
    const ir_region *body = st->op->regions[0];
    st->layout = rev_layout_of(st->s->rv, SC_I64, "at");
    for (int k = 0; k < ir_loop_ncarried(st->op); k++) {
        const ir_value *param = body->params[ir_loop_first_param(st->op) + k];
        if (is_state(st, k))
            rev_layout_add(st->s->rv, st->layout, param->type, param->name);
    }
}

/* ---- arrays ---- */

/* Copies between an array and state `slot` of it, as to is the block or not. */
static void copy_array(const states *st, ir_builder *b, size_t i, ir_value *slot, bool keep)
{
    rev *rv = st->s->rv;
    const rev_stored *of = &st->c->stored.at[i];
    ir_value *array = rev_mapped(&rv->fwd, of->primal), *count = st->counts[i];
    ir_value *first = ir_op2(b, OP_MUL, slot, count);
    const ir_op *loop = ir_loop(b, ir_const_i(b, SC_I64, 0), count, false, 0, NULL);
    ir_builder in = at_end_of(st, loop->regions[0]);
    ir_value *e = loop->regions[0]->params[0], *at = ir_op2(&in, OP_ADD, first, e);
    if (keep) {
        rev_stk_store(&in, st->blocks[i], at, ir_lload(&in, array, e), of->layout, 0);
    } else {
        ir_value *element = rev_stk_load(&in, st->blocks[i], at, of->layout, 0);
        element->exact = of->primal->exact;
        ir_lstore(&in, array, e, element);
    }
    ir_yield(&in, 0, NULL);
}

static void copy_arrays(const states *st, ir_builder *b, ir_value *slot, bool keep)
{
    for (size_t i = 0; i < st->c->stored.len; i++)
        if (st->counts[i])
            copy_array(st, b, i, slot, keep);
}

/* What readers in the trip find that come before its first store into the array. */
static void keep_of_trip(const states *st, ir_builder *b)
{
    rev *rv = st->s->rv;
    for (size_t i = 0; i < st->c->stored.len; i++) {
        rev_stored *of = &st->c->stored.at[i];
        if (!st->counts[i])
            continue;
        ir_value *array = rev_mapped(&rv->fwd, of->primal);
        const ir_op *loop = ir_loop(b, ir_const_i(b, SC_I64, 0), st->counts[i], false, 0, NULL);
        ir_builder in = at_end_of(st, loop->regions[0]);
        ir_value *e = loop->regions[0]->params[0];
        rev_stk_store(&in, of->kept, e, ir_lload(&in, array, e), of->layout, 0);
        ir_yield(&in, 0, NULL);
    }
}

/* ---- memory ---- */

/* How many elements of it a state has. */
static ir_value *count_of(const states *st, ir_builder *b, size_t i)
{
    return ir_op2(b, OP_MAX, st->counts[i], ir_const_i(b, SC_I64, 0));
}

/* Bytes of a state. */
static ir_value *size_of_state(const states *st, ir_builder *b)
{
    enum { WORD = 8 };
    ir_value *size = ir_const_i(b, SC_I64, st->layout->n * WORD);
    for (size_t i = 0; i < st->c->stored.len; i++) {
        if (!st->counts[i])
            continue;
        const int bytes = scalar_bytes(ir_local_attr(st->c->stored.at[i].primal->def)->elem);
        ir_value *count = count_of(st, b, i);
        size = ir_op2(b, OP_ADD, size, ir_op2(b, OP_MUL, count, ir_const_i(b, SC_I64, bytes)));
    }
    return size;
}

/* As many states as fit, and 2 in any case. No more than trips, where that makes no long formula. */
static ir_value *number_of_slots(const states *st, ir_builder *b)
{
    ir_value *bytes = ir_const_i(b, SC_I64, st->s->rv->module->checkpoint_bytes);
    ir_value *fit = ir_op2(b, OP_DIV, bytes, size_of_state(st, b)), *two = ir_const_i(b, SC_I64, 2);
    for (size_t i = 0; i < st->c->stored.len; i++)
        if (st->counts[i] && !ir_is_const(st->counts[i]))
            return ir_op2(b, OP_MAX, fit, two);
    ir_value *trips = ir_op2(b, OP_SUB, st->fwd->args[1], st->fwd->args[0]);
    return ir_op2(b, OP_MAX, ir_op2(b, OP_MIN, fit, trips), two);
}

static void keep_state(const states *st, ir_builder *b, ir_value *slot, ir_value *at, ir_value *const *numbers)
{
    rev_stk_store(b, st->block, slot, at, st->layout, 0);
    for (int k = 0, n = 1; k < ir_loop_ncarried(st->op); k++)
        if (is_state(st, k))
            rev_stk_store(b, st->block, slot, numbers[k], st->layout, n++);
    copy_arrays(st, b, slot, true);
}

/* In front of the forward sweep of the loop: the first state. */
static void begin_states(states *st)
{
    rev *rv = st->s->rv;
    ir_builder b = {.func = rv->out, .region = st->fwd->region, .before = st->fwd, .loc = st->op->loc};
    arena *mem = rv->module->mem;
    st->counts = ARENA_ARRAY(mem, ir_value *, st->c->stored.len + 1);
    st->blocks = ARENA_ARRAY(mem, ir_value *, st->c->stored.len + 1);
    for (size_t i = 0; i < st->c->stored.len; i++)
        if (st->c->stored.at[i].is_kept)
            st->counts[i] = ir_local_count(&b, rev_mapped(&rv->fwd, st->c->stored.at[i].primal)->def);
    set_layout(st);
    st->slots = number_of_slots(st, &b);
    st->block = rev_stk_alloc(&b, st->slots, st->layout);
    for (size_t i = 0; i < st->c->stored.len; i++) {
        rev_stored *of = &st->c->stored.at[i];
        if (!st->counts[i])
            continue;
        of->layout = rev_layout_of(rv, ir_local_attr(of->primal->def)->elem, of->primal->name);
        st->blocks[i] = rev_stk_alloc(&b, ir_op2(&b, OP_MUL, st->slots, count_of(st, &b, i)), of->layout);
        of->kept = rev_stk_alloc(&b, st->counts[i], of->layout);
    }
    rev_root_of(st->s)->uses_stack = true;
    keep_state(st, &b, ir_const_i(&b, SC_I64, 0), st->fwd->args[0], st->fwd->args + ir_loop_first_init(st->op));
}

/* ---- replay ---- */

/* Trips from p on, by a clone of the forward sweep. numbers: before and behind them. */
static void run_trips(const states *st, ir_builder *b, ir_value *p, ir_value *end, ir_value **numbers)
{
    ir_map map = ir_map_create(st->s->rv->out);
    ir_op *again = ir_clone_op(b, st->fwd, &map);
    ir_map_free(&map);
    again->args[0] = p;
    again->args[1] = end;
    for (int k = 0; k < ir_loop_ncarried(st->op); k++) {
        again->args[ir_loop_first_init(st->op) + k] = numbers[k];
        numbers[k] = again->res[k];
    }
}

/* Keeps the state at q, if q is in front of t, as it is where there is room; the top slot then. */
static ir_value *push(const states *st, ir_builder *b, ir_value *top, ir_value *q, ir_value *const *numbers)
{
    const scalar type = SC_I64;
    const ir_op *choice = ir_if(b, ir_op2(b, OP_LT, q, st->c->index), 1, &type);
    ir_builder then = at_end_of(st, choice->regions[0]), other = at_end_of(st, choice->regions[1]);
    ir_value *next = ir_op2(&then, OP_ADD, top, ir_const_i(&then, SC_I64, 1));
    keep_state(st, &then, next, q, numbers);
    ir_yield(&then, 1, &next);
    ir_yield(&other, 1, &top);
    return choice->res[0];
}

/* while p < t: its operands, p, top and numbers, become what they are behind it. */
static void replay(const states *st, ir_builder *b, int n, ir_value **carried)
{
    ir_op *loop = ir_loop(b, NULL, NULL, true, n, carried);
    ir_builder test = at_end_of(st, loop->regions[1]), in = at_end_of(st, loop->regions[0]);
    ir_value *goes_on = ir_op2(&test, OP_LT, loop->regions[1]->params[0], st->c->index);
    ir_yield(&test, 1, &goes_on);
    ir_value **now = ARENA_ARRAY(st->s->rv->module->mem, ir_value *, n);
    for (int k = 0; k < n; k++) {
        now[k] = loop->regions[0]->params[k];
        now[k]->exact = loop->regions[1]->params[k]->exact = loop->res[k]->exact = carried[k]->exact;
        carried[k] = loop->res[k];
    }
    ir_value *one = ir_const_i(&in, SC_I64, 1);
    ir_value *room = ir_op2(&in, OP_SUB, ir_op2(&in, OP_SUB, st->slots, one), now[1]);
    ir_value *steps = ir_op2(&in, OP_ADD, ir_op2(&in, OP_SUB, st->c->index, now[0]), one);
    ir_value *q = ir_op2(&in, OP_ADD, now[0], ir_op2(&in, OP_AHEAD, steps, room));
    run_trips(st, &in, now[0], q, now + 2);
    now[1] = push(st, &in, now[1], q, now + 2);
    now[0] = q;
    ir_yield(&in, n, now);
}

void rev_schedule_trip(scope *s, scope *c)
{
    rev *rv = s->rv;
    const ir_op *op = c->primal_op;
    const ir_region *body = op->regions[0];
    const int n = ir_loop_ncarried(op);
    states st = {.s = s, .c = c, .op = op, .fwd = c->fwd_op};
    rev_find_stored(s, c);
    begin_states(&st);
    ir_builder before = {.func = rv->out, .region = s->rev, .before = c->rev->parent, .loc = op->loc},
               b = at_end_of(&st, c->rev);
    ir_value *top = ir_region_param(c->rev, SC_I64, "top");
    ir_value **carried = ARENA_ARRAY(rv->module->mem, ir_value *, n + 2);
    carried[0] = rev_stk_load(&b, st.block, top, st.layout, 0);
    carried[1] = top;
    for (int k = 0, slot = 1; k < n; k++) {
        const ir_value *param = body->params[ir_loop_first_param(op) + k];
        carried[2 + k] = is_state(&st, k) ? rev_stk_load(&b, st.block, top, st.layout, slot++)
                                          : ir_zero(&b, param->type);
        carried[2 + k]->exact = param->exact;
    }
    copy_arrays(&st, &b, top, false);
    ir_value *one = ir_const_i(&b, SC_I64, 1), *is_top = ir_op2(&b, OP_EQ, carried[0], c->index);
    replay(&st, &b, n + 2, carried);
    keep_of_trip(&st, &b);
    for (int k = 0; k < n; k++)
        ir_map_set(&rv->fwd, body->params[ir_loop_first_param(op) + k],
                   is_state(&st, k) ? carried[2 + k] : ir_zero(&before, carried[2 + k]->type));
    ir_map_set(&rv->fwd, body->params[0], c->index);
    c->top = (rev_carry){.param = top,
                         .init = ir_const_i(&before, SC_I64, 0),
                         .yield = ir_op3(&b, OP_SELECT, is_top, ir_op2(&b, OP_SUB, carried[1], one), carried[1])};
}
