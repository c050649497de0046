/* The values of places. */
#include <string.h>

#include "check/check.h"

/* ---- completeness ---- */

/* The place has all its subscripts; `member` is the one that is asked of it, or NULL. */
bool place_complete_for(checker *c, place *p, src_span at, const char *member)
{
    if (p->kind == PLACE_BAD)
        return false;
    if (p->kind == PLACE_SHAPE) {
        ERR(c, at, DIAG_SHAPE_USE);
        place_fail(p);
        return false;
    }
    if (p->missing == 0)
        return true;
    if (p->kind == PLACE_FIELD) {
        ERR(c, at, DIAG_WHOLE_FIELD, p->sym->name, p->missing, p->missing == 1 ? "" : "s");
        const int letters = p->missing == sym_ndim(p->sym) && p->missing <= 3 ? 3 * p->missing - 2 : 0;
        const char *plane = ir_plane_text(p->plane);
        const bool hinted = member && hint_size(c, p->sym->name, member, at);
        if (letters && member && !hinted)
            NOTE(c, at, "it stands behind the subscripts: %s%s[%.*s].%s", p->sym->name, plane, letters, "i, j, k",
                 member);
        else if (letters && !hinted)
            NOTE(c, at, "all elements are reached in a loop: for %.*s in %s { ... }", letters, "i, j, k", p->sym->name);
    } else {
        ERR(c, at, DIAG_WHOLE_ARRAY, p->sym->name);
    }
    place_fail(p);
    return false;
}

bool place_complete(checker *c, place *p, src_span at)
{
    return place_complete_for(c, p, at, NULL);
}

/* Integers have no gradient, also where they stand beside floats. */
bool place_has_plane(checker *c, place *p)
{
    if (p->kind != PLACE_FIELD || p->plane == IR_DATA || p->field->has[p->plane])
        return true;
    ERR(c, p->at, DIAG_NO_PLANE, p->field->name, ir_plane_get(p->plane)->words);
    if (!scalar_is_float(p->field->elem))
        NOTE(c, p->at, "only floats have derivatives");
    place_fail(p);
    return false;
}

/* ---- reading ---- */

bool array_has_plane(checker *c, const place *p, src_span at)
{
    return p->plane == IR_DATA ||
           ERR(c, at, DIAG_NOT_COMPILED, "the gradient or dual of an array parameter in its own function");
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
    if (e->field && p->plane == IR_DATA && !e->no_grad && c->fn && (e->field->grad || ir_field_has_tangents(e->field)))
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
        e = components_of(c, e, p->ncomps, p->comps, p->type, false);
    if (p->kind == PLACE_LOCAL && p->sym && p->sym->lost.kind)
        v.lost = p->sym->lost;
    if (p->kind == PLACE_LOCAL && p->sym && p->sym->divided.begin.line)
        v.quotient = p->sym;
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
