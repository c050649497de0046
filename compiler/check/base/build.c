/* Builders of the typed tree: statements, what is bound because it is used several times, components, leaves. */
#include <string.h>

#include "check/base/checker.h"

/* ---- statements ---- */

tx_stmt *emit_stmt(checker *c, tx_stmt_kind kind, src_span at)
{
    tx_stmt *s = ARENA_NEW(c->mem, tx_stmt);
    s->kind = kind;
    s->loc = report_span(c, at).begin;
    *c->fn->tail = s;
    c->fn->tail = &s->next;
    return s;
}

void emit_decl(checker *c, tx_local **locals, int n, tx_expr *value, src_span at)
{
    tx_stmt *s = emit_stmt(c, TX_DECL, at);
    s->locals = locals;
    s->nlocals = n;
    s->value = value;
}

void emit_bindings(checker *c, const binding *b, src_span at)
{
    for (; b; b = b->next)
        emit_decl(c, b->locals, b->nlocals, b->value, at);
}

/* What is bound around e becomes declarations; returns what is inside. */
tx_expr *emit_lets(checker *c, tx_expr *e, src_span at)
{
    for (; e->kind == TX_LET; e = e->b)
        emit_decl(c, e->locals, e->nlocals, e->a, at);
    return e;
}

/* ---- locals ---- */

/* The locals that a local of this type is: itself, or one for each leaf. */
tx_local **local_parts(checker *c, const tx_local *whole)
{
    const ty *t = whole->type, *s = t->kind == TY_ARRAY ? t->of : t;
    const int n = ty_nleaves(t);
    tx_local **parts = ARENA_ARRAY(c->mem, tx_local *, n);
    for (int k = 0; k < n; k++) {
        const char *name = whole->name ? arena_printf(c->mem, "%s_%s", whole->name, s->paths[k]) : NULL;
        for (char *dot = (char *)name; dot && (dot = strchr(dot, '.'));)
            *dot = '_';
        parts[k] = local_new(c, name, ty_leaf(c->types, t, k), whole->loc);
        parts[k]->mutable_ = whole->mutable_;
    }
    return parts;
}

/* Declares the variable behind a symbol; its type tells whether it is one local or several. */
void sym_set_local(checker *c, sym *s, const char *name, const ty *type, bool mutable_, src_loc loc)
{
    const bool is_struct = type->kind == TY_STRUCT || (type->kind == TY_ARRAY && type->of->kind == TY_STRUCT);
    if (!is_struct) {
        s->local = local_new(c, name, type, loc);
        s->local->mutable_ = mutable_;
        return;
    }
    s->local = ARENA_NEW(c->mem, tx_local); /* stands for the whole; no statement has it */
    *s->local = (tx_local){.name = name, .type = type, .loc = loc, .mutable_ = mutable_};
    s->parts = local_parts(c, s->local);
}

void local_set_extents(const sym *s, tx_expr **extents)
{
    s->local->extents = extents;
    for (int k = 0; s->parts && k < ty_nleaves(s->local->type); k++)
        s->parts[k]->extents = extents;
}

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

tx_expr *group_new(checker *c, const ty *t, tx_expr *const *leaves, src_span at)
{
    tx_expr *e = tx_new(c, TX_GROUP, t, at);
    e->nargs = ty_nleaves(t);
    e->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
    memcpy(e->args, leaves, (size_t)e->nargs * sizeof *leaves);
    return e;
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

/* ---- components and leaves ---- */

/* once: each component of e is asked for exactly once. What is built is then not needed as a whole; else no effect of a
 * component may be lost or doubled. */
tx_expr *components_of(checker *c, tx_expr *e, int n, const int *comps, const ty *type, bool once)
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
    return e->type->kind == TY_SCALAR ? e : components_of(c, e, 1, &k, ty_scalar(c->types, e->type->elem), true);
}

tx_expr *row_of(checker *c, tx_expr *e, int row)
{
    const int n = e->type->cols;
    int *comps = ARENA_ARRAY(c->mem, int, n);
    for (int k = 0; k < n; k++)
        comps[k] = row * n + k;
    return components_of(c, e, n, comps, ty_vec(c->types, n, e->type->elem), true);
}

/* On module level, where nothing can be bound and everything is pure: leaf by leaf. */
static tx_expr *spread_choice(checker *c, const tx_expr *e)
{
    const tx_expr *sides[2] = {e->b, e->c};
    for (int i = 0; i < 2; i++)
        sides[i] = sides[i]->kind == TX_GROUP ? sides[i] : spread_choice(c, sides[i]);
    tx_expr *r = group_new(c, e->type, sides[0]->args, span_at(e->loc));
    for (int k = 0; k < r->nargs; k++) {
        r->args[k] = tx_new(c, TX_COND, sides[0]->args[k]->type, span_at(e->loc));
        r->args[k]->a = e->a;
        r->args[k]->b = sides[0]->args[k];
        r->args[k]->c = sides[1]->args[k];
    }
    return r;
}

/* e as a group whose leaves may be repeated, or left out: what computes them is bound. */
tx_expr *struct_bound(checker *c, tx_expr *e, binding **list)
{
    e = bind_repeated(c, e, list);
    return e->kind == TX_GROUP ? e : spread_choice(c, e);
}

/* n values with their structs taken apart, for places where lowering expects one value after the other: returns how
 * many. They are computed in order. */
int spread_values(checker *c, tx_expr *const *values, int n, tx_expr **out, binding **list)
{
    int count = 0;
    bool in_order = false; /* something of a later value is computed in front: then what is before it must be, too */
    for (int k = 0; k < n; k++)
        in_order = in_order || (values[k]->type->kind == TY_STRUCT && values[k]->kind != TX_GROUP);
    for (int k = 0; k < n; k++) {
        tx_expr *e = in_order && ty_is_value(values[k]->type) ? bind_repeated(c, values[k], list) : values[k];
        if (e->type->kind != TY_STRUCT) {
            out[count++] = e;
            continue;
        }
        memcpy(out + count, e->args, (size_t)e->nargs * sizeof *out);
        count += e->nargs;
    }
    return count;
}

int count_leaves(tx_expr *const *values, int n)
{
    int count = 0;
    for (int k = 0; k < n; k++)
        count += ty_nleaves(values[k]->type);
    return count;
}

ir_shape_kind shape_of(const ty *t)
{
    return t->kind == TY_MAT ? IR_SHAPE_MAT : t->kind == TY_VEC ? IR_SHAPE_VEC : IR_SHAPE_SCALAR;
}

/* ---- integers ---- */

tx_expr *i64_const(checker *c, int64_t i, src_span at)
{
    return val_const_i(c, SC_I64, i, at).e;
}

tx_expr *i64_op(checker *c, ir_opcode op, tx_expr *a, tx_expr *b, src_span at)
{
    return const_fold(c, tx_op(c, op, ty_scalar(c->types, SC_I64), at, 2, (tx_expr *[]){a, b}), false);
}
