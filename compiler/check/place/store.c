/* Stores into places: of one value, and of a value into all elements. */
#include <string.h>

#include "check/check.h"

static tx_stmt *store_one(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, src_span at)
{
    tx_stmt *s = emit_stmt(c, kind, at);
    s->local = p->local;
    s->field = p->field;
    s->plane = p->plane;
    s->subs = p->subs;
    s->nsubs = p->nsubs;
    s->value = value;
    return s;
}

static tx_expr *dynamic_component(checker *c, const place *p, int k, src_span at)
{
    if (p->comps[k] == 0)
        return p->dyn;
    tx_expr *offset = val_const_i(c, SC_I64, p->comps[k], at).e;
    return tx_op(c, OP_ADD, ty_scalar(c->types, SC_I64), at, 2, (tx_expr *[]){p->dyn, offset});
}

/* Leaf by leaf, once all of the value is known. */
static void store_struct(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, src_span at)
{
    binding *list = NULL;
    place_bind_subscripts(c, p);
    emit_bindings(c, p->bindings, at);
    value = bind_value(c, value, &list);
    emit_bindings(c, list, at);
    for (int k = 0; k < value->nargs; k++) {
        place leaf = place_leaf(c, p, k);
        if (!place_has_plane(c, &leaf))
            return;
        store_one(c, &leaf, kind, value->args[k], at);
    }
}

void store_place(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, ir_reduce red, src_span at)
{
    if (p->kind == PLACE_FIELD && !p->field->array)
        note_impure(c, "the field", p->field->name, at);
    if (p->type->kind == TY_STRUCT) {
        store_struct(c, p, kind, value, at);
        return;
    }
    bool many = p->dyn && p->ncomps > 1;
    binding *list = NULL;
    if (many) { /* a row chosen at run time: component by component */
        place_bind_subscripts(c, p);
        value = bind_repeated(c, value, &list);
    }
    emit_bindings(c, p->bindings, at);
    emit_bindings(c, list, at);
    if (p->dyn) {
        for (int k = 0; k < p->ncomps; k++)
            store_one(c, p, kind, many ? component_of(c, value, k) : value, at)->dyn = dynamic_component(c, p, k, at);
        return;
    }
    tx_stmt *s = store_one(c, p, kind, value, at);
    s->red = red;
    if (!p->all) {
        s->comps = p->comps;
        s->ncomps = p->ncomps;
    }
}

/* ---- all elements ---- */

void fill_elements(checker *c, place *p, int given, tx_expr *value, src_span at)
{
    const int n = p->missing,
              first = n > 0 ? (p->kind == PLACE_FIELD ? sym_ndim(p->sym) : p->local->type->ndim) - n : 0;
    tx_stmt *t = n > 0 ? emit_stmt(c, TX_FOR, at) : NULL, **tail = c->fn->tail;
    tx_expr **subs = ARENA_ARRAY(c->mem, tx_expr *, given + n);
    if (given)
        memcpy(subs, p->subs, (size_t)given * sizeof *subs);
    p->subs = subs;
    p->nsubs = given + n;
    p->missing = 0;
    if (t) {
        t->ndim = n;
        t->parallel = p->kind == PLACE_FIELD && c->fn->is_kernel && !c->fn->task;
        t->indices = ARENA_ARRAY(c->mem, tx_local *, n);
        t->lo = ARENA_ARRAY(c->mem, tx_expr *, n);
        t->hi = ARENA_ARRAY(c->mem, tx_expr *, n);
        c->fn->tail = &t->body;
    }
    for (int d = 0; d < n; d++) {
        t->indices[d] = local_new(c, d < 3 ? (const char *const[]){"i", "j", "k"}[d] : NULL,
                                  ty_scalar(c->types, SC_I64), t->loc);
        t->lo[d] = val_const_i(c, SC_I64, 0, at).e;
        t->hi[d] = extent_of(c, p->sym, first + d, at);
        subs[given + d] = tx_new(c, TX_LOCAL, t->indices[d]->type, at);
        subs[given + d]->local = t->indices[d];
    }
    store_place(c, p, p->kind == PLACE_FIELD ? TX_STORE : TX_ASSIGN, value, IR_RED_ADD, at);
    if (t)
        c->fn->tail = tail;
}
