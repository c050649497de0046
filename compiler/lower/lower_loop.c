/* Sequential loops: `for` over ranges, nests of them, `while`. */
#include <assert.h>

#include "lower/lower_impl.h"

/* A loop of the user with all that its levels share. */
typedef struct nest {
    const tx_stmt *s;
    const scan *sc;
    loop_ctx ctx;
    slots carried;
    unsigned exits; /* break and return: they end the loop, so it has a condition */
    counted bounds;
    bool counts; /* a `while` of a function that draws random numbers: the number of the trip is carried, last */
} nest;

static void nest_open(lower *l, nest *n, const tx_stmt *s)
{
    n->s = s;
    n->sc = scan_of(s);
    n->exits = n->sc->inner_exits & (EXIT_BREAK | EXIT_RETURN);
    n->ctx = (loop_ctx){.stop = var_flag(l, "stop"), .skip = var_flag(l, "skip"), .outer = l->frame->loop};
    l->frame->loop = &n->ctx;
    n->carried = slots_collect(l, n->sc, n->exits, n->exits);
}

static void nest_close(lower *l, const nest *n)
{
    l->frame->loop = n->ctx.outer;
}

/* Control is here, so nothing has been left yet and no result is known: constants tell more than what is carried. */
static void clear_flags(lower *l, const nest *n)
{
    if (n->exits & EXIT_BREAK)
        n->ctx.stop->val[0] = NULL;
    if (!(n->exits & EXIT_RETURN))
        return;
    l->frame->returned->val[0] = NULL;
    for (int i = 0; i < l->frame->nresults; i++) {
        lvar *r = l->frame->results[i];
        for (int k = 0; r->val && k < r->n; k++)
            r->val[k] = NULL;
    }
}

/* Enters a region of the loop: its parameters from `first` on are the carried values. */
static void enter(lower *l, const nest *n, ir_region *r, int first)
{
    l->b.region = r;
    l->b.before = NULL;
    assert(r->nparams == first + n->carried.n + n->counts);
    slots_set(&n->carried, r->params + first);
    slots_name(&n->carried, r->params + first);
}

/* The condition region: no flag is set and the condition of a `while` holds. */
static void lower_condition(lower *l, const nest *n, ir_region *r)
{
    enter(l, n, r, 0);
    const tx_expr *cond = n->s->cond;
    ir_value *go = NULL;
    if (n->exits)
        go = ir_op1(&l->b, OP_NOT, exit_flags(l, n->exits));
    if (cond && go) {
        /* after a break the condition is not evaluated again: it may load what is no longer there */
        ir_op *op = ir_if(&l->b, go, 1, &(scalar){SC_BOOL});
        ir_builder outer = l->b;
        l->b.region = op->regions[0];
        l->b.before = NULL;
        ir_value *v = lower_scalar(l, cond);
        ir_yield(&l->b, 1, &v);
        l->b.region = op->regions[1];
        l->b.before = NULL;
        v = ir_const_i(&l->b, SC_BOOL, 0);
        ir_yield(&l->b, 1, &v);
        l->b = outer;
        go = op->res[0];
    } else if (cond) {
        go = lower_scalar(l, cond);
    }
    ir_yield(&l->b, 1, &go);
}

/* ---- steps ---- */

/* The trips of range(lo, hi, step); not above 0 if there are none. The distance of bounds that are i32 fits an i64. */
static ir_value *trip_count(lower *l, ir_value *lo, ir_value *hi, int64_t step, scalar index)
{
    ir_builder *b = &l->b;
    ir_value *from = step > 0 ? lo : hi, *to = step > 0 ? hi : lo;
    const int64_t size = step > 0 ? step : -step;
    if (index == SC_I32) {
        ir_value *distance = ir_op2(b, OP_SUB, to, from);
        if (size == 1)
            return distance;
        ir_value *divisor = const_i64(l, size);
        return ir_op2(b, OP_DIV, ir_op2(b, OP_ADD, distance, const_i64(l, size - 1)), divisor);
    }
    ir_value *one = ir_const_i(b, SC_U64, 1), *wide = ir_const_i(b, SC_U64, size);
    ir_value *first = ir_cast(b, SC_U64, from), *distance = ir_op2(b, OP_SUB, ir_cast(b, SC_U64, to), first);
    ir_value *n = ir_op2(b, OP_ADD, ir_op2(b, OP_DIV, ir_op2(b, OP_SUB, distance, one), wide), one);
    n = ir_op2(b, OP_MIN, n, ir_const_i(b, SC_U64, INT64_MAX));
    ir_value *none = const_i64(l, 0), *some = ir_cast(b, SC_I64, n);
    return ir_op3(b, OP_SELECT, ir_op2(b, OP_LT, from, to), some, none);
}

static int64_t step_of(const tx_stmt *s, int d)
{
    return s->steps ? s->steps[d] : 1;
}

counted lower_bounds(lower *l, const tx_stmt *s)
{
    counted n = {.s = s, .lo = lower_scalars(l, s->lo, s->ndim)};
    n.hi = lower_scalars(l, s->hi, s->ndim);
    n.first = ARENA_ARRAY(l->mem, ir_value *, s->ndim);
    for (int d = 0; d < s->ndim; d++) {
        n.first[d] = n.lo[d];
        if (step_of(s, d) == 1)
            continue;
        n.hi[d] = trip_count(l, n.lo[d], n.hi[d], step_of(s, d), s->indices[d]->type->elem);
        n.lo[d] = const_i64(l, 0);
    }
    return n;
}

/* With a step, the counter has no name: messages name the index. */
static ir_value *index_at(lower *l, const counted *n, int d, ir_value *count)
{
    const int64_t step = step_of(n->s, d);
    if (step == 1)
        return count;
    if (step == -1)
        return ir_op2(&l->b, OP_SUB, n->first[d], count);
    return ir_op2(&l->b, OP_ADD, n->first[d], ir_op2(&l->b, OP_MUL, count, const_i64(l, step)));
}

void bind_index(lower *l, const counted *n, int d, ir_value *count)
{
    tx_local *index = n->s->indices[d];
    ir_value *wide = index_at(l, n, d, count);
    lvar *v = var_create(l, index->name, index->type);
    wide->name = index->name;
    v->constant = true;
    v->val[0] = ir_cast(&l->b, index->type->elem, wide);
    name_value(v->val[0], index->name);
    if (!index->mutable_)
        v->wide = wide;
    index->lowered = v;
}

/* The values that the loop begins with, or that an iteration ends with. */
static ir_value **carried_values(lower *l, const nest *n, ir_value *trip)
{
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, n->carried.n + 1), **now = slot_values(l, &n->carried);
    for (int i = 0; i < n->carried.n; i++)
        v[i] = now[i];
    v[n->carried.n] = trip;
    return v;
}

/* trip: the number of the next trip, or NULL. */
static void finish(lower *l, const nest *n, ir_op *loop, const ir_builder *outer, ir_value *trip)
{
    ir_yield(&l->b, n->carried.n + n->counts, carried_values(l, n, trip));
    l->b = *outer;
    slots_set(&n->carried, loop->res);
    slots_name(&n->carried, loop->res);
}

static void lower_level(lower *l, nest *n, int d)
{
    clear_flags(l, n);
    ir_op *loop = ir_loop(&l->b, n->bounds.lo[d], n->bounds.hi[d], n->exits != 0, n->carried.n,
                          slot_values(l, &n->carried));
    ir_builder outer = l->b;
    if (n->exits)
        lower_condition(l, n, loop->regions[1]);
    enter(l, n, loop->regions[0], 1);
    clear_flags(l, n);
    bind_index(l, &n->bounds, d, loop->regions[0]->params[0]);
    counter c;
    counter_push(l, &c, loop->regions[0]->params[0]);
    if (d + 1 < n->s->ndim)
        lower_level(l, n, d + 1);
    else
        lower_list(l, n->s->body, NULL, n->exits);
    counter_pop(l, 1);
    finish(l, n, loop, &outer, NULL);
}

void lower_for(lower *l, const tx_stmt *s)
{
    nest n = {.bounds = lower_bounds(l, s)};
    nest_open(l, &n, s);
    lower_level(l, &n, 0);
    nest_close(l, &n);
}

/* A condition is asked before the trip whose number it has. */
static void lower_counted_condition(lower *l, const nest *n, ir_region *r)
{
    counter c;
    if (n->counts)
        counter_push(l, &c, r->params[n->carried.n]);
    lower_condition(l, n, r);
    counter_pop(l, n->counts);
}

/* --debug: a condition that holds beyond the limit fails the launch. One that writes was moved into the body and is not
 * tested again. */
static void assert_limit(lower *l, const nest *n, const ir_op *loop, ir_value *limit)
{
    if (!l->m->debug || !n->s->cond)
        return;
    ir_value *cut = ir_op2(&l->b, OP_GE, loop->res[loop->nres - 1], limit);
    if (n->exits)
        cut = ir_op2(&l->b, OP_AND, cut, ir_op1(&l->b, OP_NOT, exit_flags(l, n->exits)));
    ir_op *again = ir_if(&l->b, cut, 0, NULL);
    ir_builder outer = l->b;
    for (int k = 0; k < 2; k++) {
        l->b.region = again->regions[k];
        l->b.before = NULL;
        if (k == 0) {
            counter c;
            if (n->counts)
                counter_push(l, &c, loop->res[n->carried.n]);
            ir_value *done = ir_op1(&l->b, OP_NOT, lower_scalar(l, n->s->cond));
            counter_pop(l, n->counts);
            ir_text_attr(ir_insert(&l->b, OP_ASSERT, 1, &done, 0, NULL, 0))->text =
                "'while' is not done after its limit of trips";
        }
        ir_yield(&l->b, 0, NULL);
    }
    l->b = outer;
}

void lower_while(lower *l, const tx_stmt *s)
{
    nest n = {.counts = l->frame->key != NULL};
    ir_value *lo = NULL, *hi = NULL;
    if (s->limit) {
        lo = const_i64(l, 0);
        hi = lower_scalar(l, s->limit);
    }
    nest_open(l, &n, s);
    clear_flags(l, &n);
    const int ncarried = n.carried.n + n.counts;
    ir_op *loop = ir_loop(&l->b, lo, hi, true, ncarried, carried_values(l, &n, n.counts ? const_i64(l, 0) : NULL));
    ir_loop_attr(loop)->limit = s->limit != NULL;
    ir_builder outer = l->b;
    lower_counted_condition(l, &n, loop->regions[1]);
    enter(l, &n, loop->regions[0], s->limit ? 1 : 0);
    clear_flags(l, &n);
    counter c;
    ir_value *trip = n.counts ? loop->regions[0]->params[loop->regions[0]->nparams - 1] : NULL;
    if (trip) {
        trip->name = "trip";
        counter_push(l, &c, trip);
    }
    lower_list(l, s->body, NULL, n.exits);
    counter_pop(l, n.counts);
    finish(l, &n, loop, &outer, trip ? ir_op2(&l->b, OP_ADD, trip, const_i64(l, 1)) : NULL);
    if (s->limit)
        assert_limit(l, &n, loop, hi);
    nest_close(l, &n);
}
