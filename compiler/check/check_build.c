/* Construction: T(...) and [...]. */
#include <string.h>

#include "check/check.h"

static tx_expr *build(checker *c, const ty *t, tx_expr **args, src_span at)
{
    tx_expr *e = tx_new(c, TX_BUILD, t, at);
    e->args = args;
    e->nargs = ty_ncomp(t);
    return e;
}

val splat_to(checker *c, val v, const ty *t)
{
    if (val_bad(v) || t->kind == TY_SCALAR || v.e->type->kind != TY_SCALAR)
        return v;
    int n = ty_ncomp(t);
    binding *list = NULL;
    tx_expr *one = bind_repeated(c, v.e, &list);
    tx_expr **args = ARENA_ARRAY(c->mem, tx_expr *, n);
    for (int k = 0; k < n; k++)
        args[k] = one;
    return val_typed(
        wrap_bindings(c, list, build(c, ty_with_elem(c->types, t, v.e->type->elem), args, span_at(v.e->loc))));
}

/* The components of e, each used once. */
static int spread(checker *c, tx_expr *e, binding **list, tx_expr **out)
{
    int n = ty_ncomp(e->type);
    if (n > 1 && e->kind != TX_BUILD)
        e = bind_repeated(c, e, list);
    for (int k = 0; k < n; k++)
        out[k] = component_of(c, e, k);
    return n;
}

static bool is_component_list(const ty *t, const ty *arg)
{
    return arg->kind == TY_SCALAR || (arg->kind == TY_VEC && (t->kind == TY_VEC || arg->rows == t->cols));
}

static val build_from_one(checker *c, const ty *t, val v, src_span at)
{
    const ty *from = v.e->type;
    if (ty_is_numeric(from) && from->kind == t->kind && from->rows == t->rows && from->cols == t->cols)
        return cast_to(c, v, t->elem, at);
    if (from->kind == TY_SCALAR && t->kind == TY_VEC)
        return splat_to(c, cast_to(c, v, t->elem, at), t);
    if (from->kind == TY_SCALAR && t->kind == TY_MAT) {
        ERR(c, at, DIAG_MATRIX_OF_SCALAR, ty_name(c->types, t));
        if (t->rows == t->cols)
            NOTE(c, at, "the unit matrix is identity(%d); with all components the same, write them out", t->rows);
        else
            NOTE(c, at, "write all components; of zeros it is made by 'var' without a value");
    } else if (t->kind == TY_SCALAR || !ty_is_numeric(from)) {
        ERR(c, at, DIAG_CONVERT, name_of(c, v), ty_name(c->types, t));
    } else {
        ERR(c, at, DIAG_COMPONENT_COUNT, ty_name(c->types, t), ty_ncomp(t), ty_ncomp(from));
    }
    return val_error(c, at);
}

val build_of_type(checker *c, const ty *t, const ast_expr *args, src_span at)
{
    int count = ast_count(args), n = 0, want = ty_ncomp(t);
    if (!ty_is_numeric(t)) {
        ERR(c, at, DIAG_NOT_SCALAR_TYPE, "a constructed value", ty_name(c->types, t));
        return val_error(c, at);
    }
    if (count == 1) {
        val v = check_expr(c, args);
        return val_bad(v) ? v : build_from_one(c, t, v, args->span);
    }
    bool bad = false;
    binding *list = NULL;
    tx_expr **out = ARENA_ARRAY(c->mem, tx_expr *, want);
    for (const ast_expr *a = args; a; a = a->next) {
        val v = check_expr(c, a);
        const ty *from = v.e->type;
        if (!val_bad(v) && !is_component_list(t, from)) {
            ERR(c, a->span, DIAG_COMPONENT, ty_name(c->types, t), name_of(c, v));
            bad = true;
            continue;
        }
        if (!val_bad(v))
            v = convert(c, v, ty_with_elem(c->types, from, t->elem), a->span);
        bad = bad || val_bad(v);
        if (val_bad(v))
            continue;
        if (n + ty_ncomp(from) <= want)
            spread(c, v.e, &list, out + n);
        n += ty_ncomp(from);
    }
    if (bad)
        return val_error(c, at);
    if (n != want) {
        ERR(c, at, DIAG_COMPONENT_COUNT, ty_name(c->types, t), want, n);
        return val_error(c, at);
    }
    return val_typed(wrap_bindings(c, list, t->kind == TY_SCALAR ? out[0] : build(c, t, out, at)));
}

val build_bracket(checker *c, const ast_expr *e)
{
    int n = ast_count(e->args);
    if (n == 0 || n > MAX_COMPONENTS) {
        ERR(c, e->span, DIAG_SIZE, "the length of a list", (long)MAX_COMPONENTS, (long long)n);
        return val_error(c, e->span);
    }
    val *v = ARENA_ARRAY(c->mem, val, n);
    int k = 0;
    bool bad = false;
    for (const ast_expr *a = e->args; a; a = a->next, k++) {
        v[k] = check_expr(c, a);
        if (v[k].soft != SOFT_NO && v[k].e->type->kind != TY_SCALAR && v[k].e->kind != TX_BUILD)
            v[k] = settle(c, v[k]);
        const ty *t = v[k].e->type;
        bad = bad || val_bad(v[k]);
        if (bad)
            continue;
        if ((t->kind != TY_SCALAR && t->kind != TY_VEC) || t->kind != v[0].e->type->kind ||
            t->rows != v[0].e->type->rows) {
            ERR(c, a->span, DIAG_LIST, name_of(c, v[k]));
            bad = true;
        }
    }
    if (bad || !unify(c, v, n, "[...]", e->span))
        return val_error(c, e->span);
    const ty *row = v[0].e->type;
    if (n * ty_ncomp(row) > MAX_COMPONENTS) {
        ERR(c, e->span, DIAG_SIZE, "the number of components", (long)MAX_COMPONENTS, (long long)n * ty_ncomp(row));
        return val_error(c, e->span);
    }
    const ty *t = row->kind == TY_SCALAR ? ty_vec(c->types, n, row->elem) : ty_mat(c->types, n, row->rows, row->elem);
    tx_expr **out = ARENA_ARRAY(c->mem, tx_expr *, ty_ncomp(t));
    binding *list = NULL;
    int at = 0;
    val r = {.soft = v[0].soft};
    for (k = 0; k < n; k++) {
        at += spread(c, v[k].e, &list, out + at);
        if (v[k].lost.kind)
            r.lost = v[k].lost;
    }
    r.e = wrap_bindings(c, list, build(c, t, out, e->span));
    return r;
}

/* ---- U diag(g(s)) V^T of a decomposition: what lowering needs to make one function of it ---- */

/* spectral_of(m, u, s, v, g, j, h0, h1, h2), see spectral.tk. */
static instance *spectral_of(checker *c, const ty *mat, bool symmetric, bool single, src_span at)
{
    const ty *number = ty_scalar(c->types, mat->elem), *vec = ty_vec(c->types, mat->rows, mat->elem);
    const ty *types[] = {mat,
                         mat,
                         vec,
                         symmetric ? number : mat,
                         vec,
                         single ? vec : mat,
                         single ? vec : mat,
                         single ? number : mat,
                         single || mat->rows == 2 ? number : mat};
    return call_instance(c, names_entry(c, intern(c->names, "spectral_of"))->inner, types, at);
}

void check_spectral(checker *c, const ty *type, src_span at)
{
    if (!c->fn || !scalar_is_float(type->elem) || type->kind != TY_MAT || type->rows != type->cols || type->rows > 3 ||
        (c->fn->sym->prelude && !c->fn->sym->of_func))
        return;
    for (int k = 0; k < DECOMPOSITIONS; k++) {
        const sym *s = decomposition(c, k);
        for (instance *i = s ? s->instances : NULL; i; i = i->next)
            for (int single = 0; i->args[0] == type && i->ready && single < 2; single++)
                i->tx->spectral[single] = spectral_of(c, type, k == 2, single, at)->tx;
    }
}

void check_decomposition(checker *c, const sym *s, const ty *type, src_span at)
{
    for (int k = 0; k < DECOMPOSITIONS; k++)
        if (!strcmp(s->name, decompositions[k]))
            check_spectral(c, type, at);
}
