/* Lists of statements, branches, and what follows a statement that may be left early.
 *
 * What follows such a statement is lowered exactly once: into the branch of an `if` that goes on when the other one
 * never does, or else into one `if (!flag)`. Flags are kept only where something reads them (`need`).
 */
#include <assert.h>

#include "lower/lower_impl.h"

/* One side of an `if`: a list and what follows it there. */
typedef struct side {
    const tx_stmt *list;
    const continuation *after;
    ir_value **values; /* of the slots at its end; NULL where unassigned */
    ir_builder end;
} side;

static void lower_side(lower *l, side *sd, ir_region *region, const slots *s, unsigned need)
{
    ir_builder outer = l->b;
    l->b.region = region;
    l->b.before = NULL;
    lower_list(l, sd->list, sd->after, need);
    sd->values = ARENA_ARRAY(l->mem, ir_value *, s->n);
    for (int i = 0; i < s->n; i++)
        sd->values[i] = s->var[i]->val[s->comp[i]];
    sd->end = l->b;
    slots_restore(s);
    l->b = outer;
}

/* A variable that neither side changes is no result. */
static bool is_changed(const slots *s, const side *a, const side *b, int i)
{
    return s->live[i] && (a->values[i] != s->before[i] || b->values[i] != s->before[i]);
}

static void yield_side(lower *l, const side *sd, const slots *s, const bool *changed)
{
    ir_builder outer = l->b;
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, s->n);
    int n = 0;
    l->b = sd->end;
    slots_set(s, sd->values);
    for (int i = 0; i < s->n; i++) {
        if (changed[i])
            v[n++] = slot_get(l, s, i);
    }
    ir_yield(&l->b, n, v);
    slots_restore(s);
    l->b = outer;
}

/* `sc` is all that both sides assign; need_in: flags read behind the sides, need_out: behind the whole. */
static void lower_branches(lower *l, ir_value *cond, side *a, side *b, const scan *sc, unsigned need_in,
                           unsigned need_out)
{
    src_loc loc = l->b.loc;
    slots s = slots_collect(l, sc, sc->exits, need_out);
    ir_op *op = ir_if(&l->b, cond, 0, NULL);
    lower_side(l, a, op->regions[0], &s, need_in);
    lower_side(l, b, op->regions[1], &s, need_in);
    l->b.loc = loc;
    bool *changed = ARENA_ARRAY(l->mem, bool, s.n);
    for (int i = 0; i < s.n; i++)
        changed[i] = is_changed(&s, a, b, i);
    yield_side(l, a, &s, changed);
    yield_side(l, b, &s, changed);
    for (int i = 0; i < s.n; i++) {
        if (!changed[i])
            continue;
        ir_value *v = ir_add_result(op, s.var[i]->elem);
        v->loc = loc;
        v->name = s.var[i]->names[s.comp[i]];
        s.var[i]->val[s.comp[i]] = v;
    }
}

/* What both sides of `s` and what follows one of them assign. */
static scan scan_with_tail(lower *l, const tx_stmt *s, const continuation *tail)
{
    scan sc = scan_list(l->mem, l->frame->scan, tail->list, tail->outer);
    const scan *own = scan_of(s);
    for (int i = 0; i < l->frame->scan->nwords; i++) {
        sc.assigned[i] |= own->assigned[i];
        sc.reduced[i] |= own->reduced[i];
    }
    sc.exits |= own->exits;
    return sc;
}

/* What follows a statement that may have been left early. */
static void lower_guarded(lower *l, unsigned exits, const continuation *tail, unsigned need)
{
    ir_value *go = ir_op1(&l->b, OP_NOT, exit_flags(l, exits));
    scan sc = scan_list(l->mem, l->frame->scan, tail->list, tail->outer);
    side a = {.list = tail->list, .after = tail->outer}, b = {0};
    lower_branches(l, go, &a, &b, &sc, need, need);
}

/* Returns true if what follows the statement was lowered with it. */
static bool lower_if(lower *l, const tx_stmt *s, const continuation *tail, unsigned need)
{
    const scan *sc = scan_of(s);
    ir_value *cond = lower_scalar(l, s->cond);
    side a = {.list = s->body}, b = {.list = s->else_body};
    if (!sc->exits || !tail->list || sc->always) {
        lower_branches(l, cond, &a, &b, sc, need, need);
        return sc->always;
    }
    if (sc->then_always || sc->else_always) {
        scan both = scan_with_tail(l, s, tail);
        (sc->then_always ? &b : &a)->after = tail;
        lower_branches(l, cond, &a, &b, &both, need, need);
        return true;
    }
    lower_branches(l, cond, &a, &b, sc, need | sc->exits, need | sc->exits);
    lower_guarded(l, sc->exits, tail, need);
    return true;
}

static bool lower_loop(lower *l, const tx_stmt *s, const continuation *tail, unsigned need)
{
    if (s->kind == TX_WHILE)
        lower_while(l, s);
    else if (s->parallel)
        lower_task(l, s);
    else
        lower_for(l, s);
    unsigned exits = scan_of(s)->exits;
    if (!exits || !tail->list)
        return false;
    lower_guarded(l, exits, tail, need);
    return true;
}

/* What comes after s, without the lists that are empty. */
static continuation tail_of(const tx_stmt *s, const continuation *r)
{
    continuation t = {s->next, r};
    while (!t.list && t.outer) {
        t.list = t.outer->list;
        t.outer = t.outer->outer;
    }
    return t;
}

void lower_list(lower *l, const tx_stmt *s, const continuation *r, unsigned need)
{
    src_loc outer = l->b.loc;
    bool done = false;
    while (!done && (s || r)) {
        if (!s) {
            s = r->list;
            r = r->outer;
            continue;
        }
        continuation tail = tail_of(s, r);
        l->b.loc = s->loc;
        switch (s->kind) {
        case TX_BLOCK: {
            continuation *after = ARENA_NEW(l->mem, continuation);
            *after = tail;
            s = s->body;
            r = after;
            continue;
        }
        case TX_IF:
            done = lower_if(l, s, &tail, need);
            break;
        case TX_FOR:
        case TX_WHILE:
            done = lower_loop(l, s, &tail, need);
            break;
        case TX_BREAK:
        case TX_CONTINUE:
            if (need & (s->kind == TX_BREAK ? EXIT_BREAK : EXIT_CONTINUE))
                set_flag(l, s->kind == TX_BREAK ? l->frame->loop->stop : l->frame->loop->skip);
            done = true;
            break;
        case TX_RETURN:
            lower_return(l, s, need);
            done = true;
            break;
        default:
            lower_simple(l, s);
            break;
        }
        s = s->next;
    }
    l->b.loc = outer;
}
