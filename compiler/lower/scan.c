/* What each statement assigns and how it may be left, computed once per function and kept with the statement.
 * Conditions of `while` that write to fields are moved into the body first.
 */
#include <assert.h>
#include <string.h>

#include "lower/lower_impl.h"

typedef struct scanner {
    arena *mem;
    func_scan *f;
} scanner;

static scan scan_empty(arena *mem, const func_scan *f)
{
    return (scan){.assigned = ARENA_ARRAY(mem, uint64_t, f->nwords), .reduced = ARENA_ARRAY(mem, uint64_t, f->nwords)};
}

static void bit_set(uint64_t *set, int i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static void bit_clear(uint64_t *set, int i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static void set_add(uint64_t *to, const uint64_t *from, int nwords)
{
    for (int i = 0; i < nwords; i++)
        to[i] |= from[i];
}

static void set_remove(uint64_t *to, const uint64_t *from, int nwords)
{
    for (int i = 0; i < nwords; i++)
        to[i] &= ~from[i];
}

const scan *scan_of(const tx_stmt *s)
{
    assert(s->scan);
    return s->scan;
}

/* Adds one statement, whose nested ones are scanned, to `to`. */
static void add_stmt(const func_scan *f, scan *to, uint64_t *declared, const tx_stmt *s)
{
    switch (tx_flow_of(s)) {
    case TX_GOES_ON:
        for (int i = 0; s->kind == TX_DECL && i < s->nlocals; i++)
            bit_set(declared, s->locals[i]->index);
        if (s->kind == TX_ASSIGN)
            bit_set(to->assigned, s->local->index);
        if (s->kind == TX_REDUCE)
            bit_set(to->reduced, s->local->index);
        break;
    case TX_LEAVES:
        to->exits |= s->kind == TX_BREAK ? EXIT_BREAK : s->kind == TX_CONTINUE ? EXIT_CONTINUE : EXIT_RETURN;
        to->always = true;
        break;
    case TX_HOLDS: {
        const scan *sub = scan_of(s);
        set_add(to->assigned, sub->assigned, f->nwords);
        set_add(to->reduced, sub->reduced, f->nwords);
        to->exits |= sub->exits;
        to->always |= sub->always;
        to->task |= sub->task;
        break;
    }
    }
}

scan scan_list(arena *mem, const func_scan *f, const tx_stmt *list, const continuation *r)
{
    scan sc = scan_empty(mem, f);
    uint64_t *declared = ARENA_ARRAY(mem, uint64_t, f->nwords);
    for (;;) {
        /* what stands behind a statement that is always left is never reached */
        for (; list && !sc.always; list = list->next)
            add_stmt(f, &sc, declared, list);
        if (!r || sc.always)
            break;
        list = r->list;
        r = r->outer;
    }
    set_remove(sc.assigned, declared, f->nwords);
    return sc;
}

static void scan_nested(scanner *c, tx_stmt *list);

static void scan_compound(scanner *c, tx_stmt *s)
{
    scan_nested(c, s->body);
    scan_nested(c, s->else_body);
    scan *sc = ARENA_NEW(c->mem, scan);
    *sc = scan_list(c->mem, c->f, s->body, NULL);
    if (s->kind == TX_IF) {
        scan other = scan_list(c->mem, c->f, s->else_body, NULL);
        set_add(sc->assigned, other.assigned, c->f->nwords);
        set_add(sc->reduced, other.reduced, c->f->nwords);
        sc->exits |= other.exits;
        sc->then_always = sc->always;
        sc->else_always = other.always;
        sc->always = sc->then_always && sc->else_always;
        sc->task |= other.task;
    } else if (s->kind != TX_BLOCK) {
        sc->inner_exits = sc->exits;
        sc->exits &= EXIT_RETURN;
        sc->always = false;
    }
    for (int i = 0; s->kind == TX_FOR && i < s->ndim; i++)
        bit_clear(sc->assigned, s->indices[i]->index);
    if (s->kind == TX_FOR && s->parallel) {
        set_add(sc->assigned, sc->reduced, c->f->nwords);
        memset(sc->reduced, 0, sizeof *sc->reduced * (size_t)c->f->nwords);
        sc->task = true;
    }
    s->scan = sc;
}

static void scan_nested(scanner *c, tx_stmt *list)
{
    for (tx_stmt *s = list; s; s = s->next) {
        if (tx_flow_of(s) == TX_HOLDS)
            scan_compound(c, s);
    }
}

/* ---- the table of locals ---- */

typedef VEC(tx_local *) local_vec;

static void find_locals(const tx_stmt *list, local_vec *out)
{
    for (const tx_stmt *s = list; s; s = s->next) {
        for (int i = 0; s->kind == TX_DECL && i < s->nlocals; i++)
            vec_push(out, s->locals[i]);
        for (int i = 0; s->kind == TX_FOR && i < s->ndim; i++)
            vec_push(out, s->indices[i]);
        if (tx_flow_of(s) == TX_HOLDS) {
            find_locals(s->body, out);
            find_locals(s->else_body, out);
        }
    }
}

static void table_locals(arena *mem, func_scan *f, const tx_func *fn)
{
    local_vec all = {0};
    for (int i = 0; i < fn->nparams; i++)
        vec_push(&all, fn->params[i]);
    find_locals(fn->body, &all);
    for (size_t i = 0; i < all.len; i++) {
        if (all.at[i]->index >= f->nlocals)
            f->nlocals = all.at[i]->index + 1;
    }
    f->nwords = f->nlocals / 64 + 1;
    f->locals = ARENA_ARRAY(mem, tx_local *, f->nlocals + 1);
    for (size_t i = 0; i < all.len; i++) {
        tx_local **at = &f->locals[all.at[i]->index];
        assert(!*at || *at == all.at[i]);
        *at = all.at[i];
    }
    vec_free(&all);
}

/* ---- conditions with effects ---- */

static bool expr_writes(arena *mem, const tx_expr *e)
{
    if (!e)
        return false;
    if (e->kind == TX_ATOMIC || (e->kind == TX_CALL && scan_func(mem, e->callee)->writes))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (expr_writes(mem, e->args[i]))
            return true;
    return expr_writes(mem, e->a) || expr_writes(mem, e->b) || expr_writes(mem, e->c);
}

static bool any_writes(arena *mem, tx_expr *const *e, int n)
{
    for (int i = 0; i < n; i++)
        if (expr_writes(mem, e[i]))
            return true;
    return false;
}

static bool list_writes(arena *mem, const tx_stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == TX_STORE || s->kind == TX_ACCUM || (s->kind == TX_ASSIGN && s->local->by_ref) ||
            expr_writes(mem, s->value) || expr_writes(mem, s->cond) || expr_writes(mem, s->limit) ||
            expr_writes(mem, s->dyn) || any_writes(mem, s->subs, s->nsubs) || any_writes(mem, s->values, s->nvalues) ||
            any_writes(mem, s->lo, s->ndim) || any_writes(mem, s->hi, s->ndim) || list_writes(mem, s->body) ||
            list_writes(mem, s->else_body))
            return true;
    }
    return false;
}

/* `while c { body }` as `while true { if c { } else { break; } body }`: adjoints reverse a loop's body, so what writes
 * belongs there. */
static void move_conditions(arena *mem, tx_stmt *list)
{
    for (tx_stmt *s = list; s; s = s->next) {
        move_conditions(mem, s->body);
        move_conditions(mem, s->else_body);
        if (s->kind != TX_WHILE || !expr_writes(mem, s->cond))
            continue;
        tx_stmt *test = ARENA_NEW(mem, tx_stmt), *leave = ARENA_NEW(mem, tx_stmt);
        leave->kind = TX_BREAK;
        test->kind = TX_IF;
        test->cond = s->cond;
        test->else_body = leave;
        test->next = s->body;
        test->loc = leave->loc = s->cond->loc;
        s->cond = NULL;
        s->body = test;
    }
}

const func_scan *scan_func(arena *mem, tx_func *fn)
{
    if (fn->scan)
        return fn->scan;
    func_scan *f = ARENA_NEW(mem, func_scan);
    f->writes = list_writes(mem, fn->body);
    move_conditions(mem, fn->body);
    table_locals(mem, f, fn);
    scanner c = {mem, f};
    scan_nested(&c, fn->body);
    f->body = scan_list(mem, f, fn->body, NULL);
    fn->scan = f;
    return f;
}
