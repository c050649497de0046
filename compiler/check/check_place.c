/* The values of places, and of what is used several times. */
#include <string.h>

#include "check/check.h"

/* ---- repeated subexpressions ---- */

static bool repeatable(const tx_expr *e)
{
    switch (e->kind) {
    case TX_CONST:
    case TX_LOCAL:
    case TX_MPARAM:
    case TX_SHAPE:
        return true;
    case TX_CAST:
    case TX_WITHIN:
        return e->type->kind == TY_SCALAR && repeatable(e->a);
    case TX_EXTRACT:
        return e->a->kind == TX_LOCAL;
    case TX_BUILD:
    case TX_GROUP:
        for (int k = 0; k < e->nargs; k++)
            if (!repeatable(e->args[k]))
                return false;
        return true;
    default:
        return false;
    }
}

tx_expr *bind_value(checker *c, tx_expr *e, binding **list)
{
    binding *b = ARENA_NEW(c->mem, binding);
    b->locals = local_parts(c, &(tx_local){.type = e->type, .loc = e->loc});
    b->nlocals = ty_nleaves(e->type);
    b->value = e;
    while (*list) /* later values use earlier ones */
        list = &(*list)->next;
    *list = b;
    tx_expr **r = ARENA_ARRAY(c->mem, tx_expr *, b->nlocals);
    for (int k = 0; k < b->nlocals; k++) {
        r[k] = tx_new(c, TX_LOCAL, b->locals[k]->type, span_at(e->loc));
        r[k]->local = b->locals[k];
    }
    return e->type->kind == TY_STRUCT ? group_new(c, e->type, r, span_at(e->loc)) : r[0];
}

tx_expr *bind_repeated(checker *c, tx_expr *e, binding **list)
{
    return repeatable(e) || !c->fn ? e : bind_value(c, e, list); /* on module level everything is pure */
}

tx_expr *wrap_bindings(checker *c, const binding *list, tx_expr *e)
{
    if (!list)
        return e;
    tx_expr *inner = wrap_bindings(c, list->next, e);
    tx_expr *r = tx_new(c, TX_LET, e->type, span_at(e->loc));
    r->locals = list->locals;
    r->nlocals = list->nlocals;
    r->a = list->value;
    r->b = inner;
    return r;
}

/* once: each component of e is asked for exactly once. What is built is then not needed as a whole; else no effect of a
 * component may be lost or doubled. */
static tx_expr *extract(checker *c, tx_expr *e, int n, const int *comps, const ty *type, bool once)
{
    if (e->kind == TX_BUILD && (once || !c->fn || repeatable(e))) {
        if (n == 1 && type->kind == TY_SCALAR)
            return e->args[comps[0]];
        tx_expr *r = tx_new(c, TX_BUILD, type, span_at(e->loc));
        r->nargs = n;
        r->args = ARENA_ARRAY(c->mem, tx_expr *, n);
        for (int k = 0; k < n; k++)
            r->args[k] = e->args[comps[k]];
        return r;
    }
    tx_expr *r = tx_new(c, TX_EXTRACT, type, span_at(e->loc));
    r->a = e;
    r->ncomps = n;
    r->comps = ARENA_ARRAY(c->mem, int, n);
    memcpy(r->comps, comps, (size_t)n * sizeof *comps);
    return r;
}

tx_expr *component_of(checker *c, tx_expr *e, int k)
{
    return e->type->kind == TY_SCALAR ? e : extract(c, e, 1, &k, ty_scalar(c->types, e->type->elem), true);
}

tx_expr *row_of(checker *c, tx_expr *e, int row)
{
    const int n = e->type->cols;
    int *comps = ARENA_ARRAY(c->mem, int, n);
    for (int k = 0; k < n; k++)
        comps[k] = row * n + k;
    return extract(c, e, n, comps, ty_vec(c->types, n, e->type->elem), true);
}

/* ---- writing ---- */

bool may_write(checker *c, const ir_field *f, src_span at)
{
    if (!f->distinct)
        return true;
    ERR(c, at, DIAG_DISTINCT_WRITE, f->name);
    NOTE(c, span_at(f->loc), "declared here: the host fills it");
    return false;
}

/* ---- reading ---- */

static bool is_stopped(const checker *c, const ir_field *f)
{
    for (const scope *s = c->fn->scope; s; s = s->outer)
        for (const stopped *t = s->stops; t; t = t->next)
            if (t->field == f)
                return true;
    return false;
}

static void note_active(checker *c, const ir_field *f, src_loc loc)
{
    tx_func *tx = c->fn->tx;
    for (const tx_read *r = tx->reads; r; r = r->next)
        if (r->field == f)
            return;
    tx_read *r = ARENA_NEW(c->mem, tx_read);
    *r = (tx_read){f, loc, tx->reads};
    tx->reads = r;
}

bool check_stops(checker *c, const tx_func *callee, const char *name, src_span at)
{
    bool ok = true;
    for (const tx_read *r = callee->reads; r; r = r->next) {
        note_active(c, r->field, r->loc);
        if (!is_stopped(c, r->field))
            continue;
        ok = ERR(c, at, DIAG_STOP_CALL, r->field->name, name);
        NOTE(c, span_at(r->loc), "'%s' is read here, with its derivative", r->field->name);
        NOTE(c, at, "stop it there, or hand over stop_grad(%s[...])", r->field->name);
    }
    return ok;
}

static tx_expr *read_whole(checker *c, place *p)
{
    if (p->kind == PLACE_VALUE)
        return p->value.e;
    if (p->kind == PLACE_FIELD && !p->field->array)
        note_impure(c, "the field", p->field->name, p->at);
    else if (p->kind == PLACE_FIELD)
        array_has_plane(c, p, p->at);
    tx_expr *e = tx_new(c, p->kind == PLACE_FIELD ? TX_LOAD : p->nsubs > 0 ? TX_ELEMENT : TX_LOCAL, p->whole, p->at);
    e->local = p->local;
    e->field = p->field;
    e->plane = p->plane;
    e->no_grad = p->kind == PLACE_FIELD && p->plane == IR_DATA && is_stopped(c, p->field);
    e->args = p->subs;
    e->nargs = p->nsubs;
    if (e->field && p->plane == IR_DATA && !e->no_grad && c->fn && (e->field->grad || e->field->dual))
        note_active(c, e->field, e->loc);
    return e;
}

static tx_expr *index_dynamic(checker *c, place *p, tx_expr *whole)
{
    const ty *scalar_type = ty_scalar(c->types, p->whole->elem);
    tx_expr *dyn = p->dyn;
    if (p->ncomps > 1) {
        whole = bind_repeated(c, whole, &p->bindings);
        dyn = bind_repeated(c, dyn, &p->bindings);
    }
    tx_expr *r = p->type->kind == TY_SCALAR ? NULL : tx_new(c, TX_BUILD, p->type, p->at);
    if (r)
        r->args = ARENA_ARRAY(c->mem, tx_expr *, p->ncomps);
    for (int k = 0; k < p->ncomps; k++) {
        tx_expr *e = tx_new(c, TX_INDEX, scalar_type, p->at);
        e->a = whole;
        e->nargs = 1;
        e->args = ARENA_ARRAY(c->mem, tx_expr *, 1);
        e->args[0] = p->comps[k] ? i64_op(c, OP_ADD, dyn, i64_const(c, p->comps[k], p->at), p->at) : dyn;
        if (!r)
            return e;
        r->args[r->nargs++] = e;
    }
    return r;
}

/* All leaves of a struct, in one group. */
static val struct_value(checker *c, place *p, bool wrap)
{
    const int n = ty_nleaves(p->type);
    tx_expr **leaves = ARENA_ARRAY(c->mem, tx_expr *, n);
    if (p->kind == PLACE_VALUE && p->value.e->type == p->type)
        return val_typed(wrap ? wrap_bindings(c, p->bindings, p->value.e) : p->value.e);
    place_bind_subscripts(c, p);
    for (int k = 0; k < n; k++) {
        place leaf = place_leaf(c, p, k);
        if (!place_has_plane(c, &leaf))
            return val_error(c, p->at);
        leaves[k] = read_whole(c, &leaf);
    }
    tx_expr *e = group_new(c, p->type, leaves, p->at);
    return val_typed(wrap ? wrap_bindings(c, p->bindings, e) : e);
}

/* wrap: bindings go around the expression; otherwise the caller has already put them in front. */
val place_value(checker *c, place *p, bool wrap)
{
    if (!place_complete(c, p, p->at))
        return val_error(c, p->at);
    if (p->kind == PLACE_LOCAL)
        note_read(c, p->sym, p->at);
    if (p->type->kind == TY_STRUCT)
        return struct_value(c, p, wrap);
    tx_expr *e = read_whole(c, p);
    val v = {.soft = p->kind == PLACE_VALUE ? p->value.soft : SOFT_NO};
    if (v.soft != SOFT_NO && p->dyn && p->ncomps > 1) { /* it will be bound, and a local has a type */
        p->value = settle(c, p->value);
        e = p->value.e;
        p->whole = e->type;
        p->type = ty_with_elem(c->types, p->type, e->type->elem);
        v.soft = SOFT_NO;
    }
    if (p->all)
        v = p->kind == PLACE_VALUE ? p->value : v;
    else if (p->dyn)
        e = index_dynamic(c, p, e);
    else
        e = extract(c, e, p->ncomps, p->comps, p->type, false);
    if (p->kind == PLACE_LOCAL && p->sym && p->sym->lost.kind)
        v.lost = p->sym->lost;
    v.e = wrap ? wrap_bindings(c, p->bindings, e) : e;
    return v;
}

/* One leaf of a place that is a struct; subscripts and bindings are the whole's. */
place place_leaf(const checker *c, const place *p, int k)
{
    place q = *p;
    q.whole = q.type = ty_leaf(c->types, p->type, k);
    q.leaf = p->leaf + k;
    q.bindings = NULL;
    if (p->kind == PLACE_VALUE)
        q.value = val_typed(p->value.e->args[q.leaf]);
    else if (p->kind == PLACE_LOCAL)
        q.local = p->sym->parts[q.leaf];
    else
        q.field = p->sym->members[q.leaf];
    return q;
}

/* For places that are read and written: what selects them is evaluated once. */
void place_bind_subscripts(checker *c, place *p)
{
    for (int k = 0; k < p->nsubs; k++)
        p->subs[k] = bind_repeated(c, p->subs[k], &p->bindings);
    if (p->dyn)
        p->dyn = bind_repeated(c, p->dyn, &p->bindings);
}
