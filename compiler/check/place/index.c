/* Subscripts and members of places. */
#include <string.h>

#include "check/check.h"

/* ---- components ---- */

/* The places's components, listed. */
static void list_components(checker *c, place *p)
{
    if (!p->all)
        return;
    p->all = false;
    p->ncomps = ty_ncomp(p->whole);
    p->comps = ARENA_ARRAY(c->mem, int, p->ncomps);
    for (int k = 0; k < p->ncomps; k++)
        p->comps[k] = k;
}

/* extent -1: known at run time only. */
static void out_of_range(checker *c, src_span at, int64_t subscript, int64_t extent)
{
    ERR(c, at, DIAG_SUBSCRIPT_RANGE, (long long)subscript,
        extent < 0    ? "it is negative"
        : extent == 1 ? "it must be 0"
                      : arena_printf(c->mem, "it must be in 0 .. %lld", (long long)(extent - 1)));
}

/* A subscript that is known at run time only. */
static tx_expr *within(checker *c, const place *p, tx_expr *index, int count, const char *what, src_span at)
{
    tx_expr *e = tx_new(c, TX_WITHIN, index->type, at);
    const char *name = p->kind == PLACE_FIELD ? p->field->name : p->kind == PLACE_LOCAL ? p->local->name : NULL;
    e->a = index;
    e->ncomps = count;
    e->text = name ? arena_printf(c->mem, "%s of '%s'", what, name) : what;
    return e;
}

/* Chooses n of the place's components: all of them, or those from index * n on; index, a `what`, is a constant or known
 * at run time only. */
static void choose(checker *c, place *p, tx_expr *index, const char *what, int count, int n, const ty *type,
                   src_span at)
{
    list_components(c, p);
    p->type = type;
    if (index->kind == TX_CONST) {
        if (index->cval.i < 0 || index->cval.i >= count) {
            out_of_range(c, at, index->cval.i, count);
            place_fail(p);
            return;
        }
        int *comps = ARENA_ARRAY(c->mem, int, n);
        memcpy(comps, p->comps + index->cval.i * n, (size_t)n * sizeof *comps);
        p->comps = comps;
        p->ncomps = n;
        return;
    }
    int stride = p->ncomps > 1 ? p->comps[1] - p->comps[0] : 1;
    for (int k = 1; k < p->ncomps; k++)
        if (p->comps[k] - p->comps[k - 1] != stride) {
            ERR(c, at, DIAG_DYNAMIC_SWIZZLE);
            place_fail(p);
            return;
        }
    index = within(c, p, index, count, what, at);
    if (n * stride != 1)
        index = i64_op(c, OP_MUL, index, i64_const(c, n * stride, at), at);
    p->dyn = p->dyn ? i64_op(c, OP_ADD, p->dyn, index, at) : index;
    p->ncomps = n; /* the first n: offsets from dyn */
}

static void narrow_by_name(checker *c, place *p, const ast_expr *e)
{
    static const char letters[] = "xyzw";
    int n = (int)strlen(e->name), count = p->type->rows, comps[4] = {0, 0, 0, 0};
    bool fits = p->type->kind == TY_VEC && n <= 4;
    for (int k = 0; fits && k < n; k++) {
        const char *at = strchr(letters, e->name[k]);
        comps[k] = at ? (int)(at - letters) : count;
        fits = comps[k] < count;
    }
    if (!fits) {
        ERR(c, e->op_span, DIAG_NO_MEMBER, ty_name(c->types, p->type), e->name);
        const bool hinted = hint_member(c, e, p->type);
        if (!hinted && p->type->kind == TY_VEC)
            NOTE(c, e->op_span, "its components are %.*s%s", count < 4 ? count : 4, letters,
                 count > 4 ? " and v[4], ..." : "");
        else if (!hinted && p->type->kind == TY_MAT)
            NOTE(c, e->op_span, "a component of a matrix is A[i, j]");
        place_fail(p);
        return;
    }
    list_components(c, p);
    int *chosen = ARENA_ARRAY(c->mem, int, n);
    for (int k = 0; k < n; k++)
        chosen[k] = p->comps[comps[k]];
    p->comps = chosen;
    p->ncomps = n;
    const ty *of = p->type;
    p->type = n == 1 ? ty_scalar(c->types, of->elem) : ty_vec(c->types, n, of->elem);
    log_member(c, of, e->name, p->type, e->op_span);
}

/* ---- members ---- */

/* The place is now one member of what it was. */
static void narrow_to_member(checker *c, place *p, const ty *t, int k)
{
    if (p->kind == PLACE_VALUE)
        p->value.e = struct_bound(c, p->value.e, &p->bindings);
    p->leaf += t->first[k];
    p->whole = p->type = t->members[k];
    if (p->type->kind == TY_STRUCT)
        return;
    if (p->kind == PLACE_VALUE)
        p->value = val_typed(p->value.e->args[p->leaf]);
    else if (p->kind == PLACE_LOCAL)
        p->local = p->sym->parts[p->leaf];
    else
        p->field = p->sym->members[p->leaf];
    place_has_plane(c, p);
}

static void narrow_struct(checker *c, place *p, const ast_expr *e)
{
    const ty *t = p->type;
    const char *members = "";
    for (int k = 0; k < t->nmembers; k++) {
        if (t->names[k] == e->name) {
            log_member(c, t, e->name, t->members[k], e->op_span);
            narrow_to_member(c, p, t, k);
            return;
        }
        members = arena_printf(c->mem, "%s%s%s", members, k ? ", " : "", t->names[k]);
    }
    ERR(c, e->op_span, DIAG_NO_MEMBER, t->name, e->name);
    if (!hint_member(c, e, t))
        NOTE(c, e->op_span, "its members are %s", members);
    place_fail(p);
}

static void resolve_member(checker *c, const ast_expr *e, place *p)
{
    if (hint_library(c, e)) {
        place_fail(p);
        return;
    }
    place_resolve(c, e->a, p);
    if (p->kind == PLACE_BAD)
        return;
    bool bare = p->kind == PLACE_FIELD && e->a->kind == AST_EXPR_NAME;
    const ir_plane plane = ir_plane_named(e->name);
    if (bare && plane != IR_PLANES) {
        bool has = p->field->has[plane];
        for (int k = 0; p->sym->members && k < ty_nleaves(p->sym->type); k++)
            has = has || p->sym->members[k]->has[plane];
        if (p->field->wide[plane]) {
            ERR(c, e->op_span, DIAG_NOT_COMPILED,
                arena_printf(c->mem, "the %s of a field with several directions in a kernel",
                             ir_plane_get(plane)->words));
            place_fail(p);
        } else if (!has) {
            ERR(c, e->op_span, DIAG_NO_PLANE, p->sym->name, ir_plane_get(plane)->words);
            NOTE(c, p->sym->span, "declare it with '%s'", ir_plane_get(plane)->attribute);
            place_fail(p);
        }
        p->plane = plane;
        return;
    }
    if ((bare || (p->kind == PLACE_LOCAL && p->missing > 0)) && !strcmp(e->name, "shape")) {
        p->kind = PLACE_SHAPE;
        return;
    }
    if (!place_complete_for(c, p, e->a->span, e->name))
        return;
    if (p->type->kind == TY_STRUCT)
        narrow_struct(c, p, e);
    else
        narrow_by_name(c, p, e);
}

/* ---- subscripts ---- */

typedef struct subscripts {
    tx_expr *at[MAX_DIM + 1];
    src_span span[MAX_DIM + 1];
    int n; /* may be MAX_DIM + 1: too many */
    bool bad;
} subscripts;

static void add_subscript(checker *c, subscripts *s, tx_expr *e, src_span at)
{
    if (s->n > MAX_DIM)
        return;
    val v = cast_to(c, val_typed(e), SC_I64, at);
    s->at[s->n] = v.e;
    s->span[s->n++] = at;
}

/* Subscripts as i64 scalars; an integer vector counts as its components. */
static subscripts check_subscripts(checker *c, const ast_expr *list, binding **bindings)
{
    subscripts s = {.n = 0};
    for (const ast_expr *a = list; a; a = a->next) {
        val v = check_expr(c, a);
        if (v.soft == SOFT_INT)
            v = settle(c, v);
        const ty *t = v.e->type;
        if (val_bad(v)) {
            s.bad = true;
        } else if ((t->kind != TY_SCALAR && t->kind != TY_VEC) || !scalar_is_int(t->elem)) {
            ERR(c, a->span, DIAG_NOT_INTEGER, "a subscript", name_of(c, v));
            if (scalar_is_float(t->elem))
                NOTE(c, a->span, "write the cast: %s(...)",
                     t->kind == TY_VEC ? arena_printf(c->mem, "ivec%d", t->rows) : "i32");
            s.bad = true;
        } else if (t->kind == TY_SCALAR) {
            add_subscript(c, &s, v.e, a->span);
        } else {
            tx_expr *e = bind_repeated(c, v.e, bindings);
            for (int k = 0; k < t->rows; k++)
                add_subscript(c, &s, component_of(c, e, k), a->span);
        }
    }
    return s;
}

static void check_extent(checker *c, const subscripts *s, int k, long extent)
{
    const tx_expr *e = s->at[k];
    if (e->kind == TX_CONST && (e->cval.i < 0 || (extent >= 0 && e->cval.i >= extent)))
        out_of_range(c, s->span[k], e->cval.i, extent);
}

/* Those that s has, which may not be all that are missing. */
static void take_subscripts(checker *c, place *p, const subscripts *s)
{
    const ty *array = p->kind == PLACE_LOCAL ? p->local->type : NULL;
    const int lead = p->kind == PLACE_FIELD ? p->sym->nlead : 0;
    p->subs = ARENA_ARRAY(c->mem, tx_expr *, lead + s->n);
    p->nsubs = lead + s->n;
    for (int k = 0; k < lead; k++) {
        p->subs[k] = tx_new(c, TX_LOCAL, p->sym->lead[k]->type, p->at);
        *p->subs[k] = *p->sym->lead[k];
    }
    for (int k = 0; k < s->n; k++) {
        check_extent(c, s, k, array ? array->extents[k] : p->sym->extents ? p->sym->extents[k] : -1);
        p->subs[lead + k] = s->at[k];
    }
    p->missing -= s->n;
}

static void index_elements(checker *c, const ast_expr *e, place *p, const subscripts *s)
{
    if (s->n != p->missing) {
        ERR(c, e->op_span, DIAG_SUBSCRIPT_COUNT, p->sym->name, p->missing, p->missing == 1 ? "" : "s", s->n);
        if (s->n > p->missing && p->type->kind != TY_SCALAR)
            NOTE(c, e->op_span, "a component of its %s is subscripted behind: %s[...][k]", ty_name(c->types, p->type),
                 p->sym->name);
        place_fail(p);
        return;
    }
    take_subscripts(c, p, s);
}

bool place_slab(checker *c, const ast_expr *e, place *p)
{
    const ast_expr *base = e->kind == AST_EXPR_INDEX ? e->a : NULL;
    const sym *named = base && base->kind == AST_EXPR_NAME ? names_lookup(c, base->name, base->span) : NULL;
    if (!named || named->kind != SYM_FIELD || named->refused || !named->type || named->type->kind == TY_ERROR ||
        ast_count(e->args) >= sym_ndim(named))
        return false;
    place_resolve(c, base, p);
    p->at = e->span;
    subscripts s = check_subscripts(c, e->args, &p->bindings);
    if (p->kind == PLACE_BAD || s.bad)
        place_fail(p);
    else if (s.n > p->missing)
        index_elements(c, e, p, &s); /* reports */
    else
        take_subscripts(c, p, &s);
    return true;
}

static void index_shape(checker *c, const ast_expr *e, place *p, const subscripts *s)
{
    bool usable = s->n == 1 && s->at[0]->kind == TX_CONST;
    const int ndim = p->sym->kind == SYM_FIELD ? sym_ndim(p->sym) : p->local->type->ndim;
    int64_t k = usable ? s->at[0]->cval.i : -1;
    if (!usable)
        ERR(c, e->op_span, DIAG_SHAPE_USE);
    else if (ndim == 0)
        ERR(c, e->op_span, DIAG_ZERO_D_SHAPE, p->sym->name);
    else if (k < 0 || k >= ndim)
        out_of_range(c, s->span[0], k, ndim);
    if (k < 0 || k >= ndim) {
        place_fail(p);
        return;
    }
    tx_expr *shape = extent_of(c, p->sym, (int)k, e->span);
    place_of_value(p, cast_to(c, val_typed(shape), SC_I32, e->span));
}

static void index_components(checker *c, const ast_expr *e, place *p, const subscripts *s)
{
    const ty *t = p->type;
    const ty *scalar_type = ty_is_numeric(t) ? ty_scalar(c->types, t->elem) : NULL;
    if (t->kind == TY_VEC && s->n == 1) {
        choose(c, p, s->at[0], "component", t->rows, 1, scalar_type, s->span[0]);
    } else if (t->kind == TY_MAT && (s->n == 1 || s->n == 2)) {
        choose(c, p, s->at[0], "row", t->rows, t->cols, ty_vec(c->types, t->cols, t->elem), s->span[0]);
        if (s->n == 2 && p->kind != PLACE_BAD)
            choose(c, p, s->at[1], "column", t->cols, 1, scalar_type, s->span[1]);
    } else {
        if (t->kind == TY_VEC || t->kind == TY_MAT)
            ERR(c, e->op_span, DIAG_COMPONENT_SUBSCRIPTS, ty_name(c->types, t),
                t->kind == TY_VEC ? "one subscript" : "one or two subscripts", s->n);
        else if (p->kind == PLACE_FIELD && p->field->ndim == 0)
            ERR(c, e->op_span, DIAG_ZERO_D_SUBSCRIPT, p->sym->name);
        else {
            ERR(c, e->op_span, DIAG_NOT_INDEXABLE, ty_name(c->types, t));
            hint_hidden(c, p->sym);
        }
        place_fail(p);
    }
}

static void resolve_index(checker *c, const ast_expr *e, place *p)
{
    place_resolve(c, e->a, p);
    if (p->kind == PLACE_FIELD && p->missing == 0 && p->nsubs == 0 && p->type->kind == TY_SCALAR &&
        p->type == p->whole) {
        ERR(c, e->op_span, DIAG_ZERO_D_SUBSCRIPT, p->sym->name);
        place_fail(p);
        return;
    }
    subscripts s = check_subscripts(c, e->args, &p->bindings);
    if (p->kind == PLACE_BAD)
        return;
    if (s.bad)
        place_fail(p);
    else if (p->kind == PLACE_SHAPE)
        index_shape(c, e, p, &s);
    else if (p->missing > 0)
        index_elements(c, e, p, &s);
    else
        index_components(c, e, p, &s);
}

void place_resolve(checker *c, const ast_expr *e, place *p)
{
    if (e->kind == AST_EXPR_NAME || (e->kind != AST_EXPR_MEMBER && e->kind != AST_EXPR_INDEX)) {
        *p = (place){.at = e->span};
        if (e->kind == AST_EXPR_NAME)
            place_of_name(c, e, p);
        else
            place_of_value(p, check_expr(c, e));
        log_expr(c, e->span, p->kind == PLACE_BAD || p->missing ? NULL : p->type);
        return;
    }
    if (too_deep(c, e->span)) {
        *p = (place){.at = e->span};
        return;
    }
    c->depth++;
    if (e->kind == AST_EXPR_MEMBER)
        resolve_member(c, e, p);
    else
        resolve_index(c, e, p);
    c->depth--;
    p->at = e->span;
    log_expr(c, e->span, p->kind == PLACE_BAD || p->missing ? NULL : p->type);
}
