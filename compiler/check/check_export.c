/* Export funcs: what the host calls without a module object computes its results from its arguments and does nothing else. */
#include "check/check.h"

void note_impure(checker *c, const char *what, const char *name, src_span at)
{
    if (!c->fn || c->fn->inst->impure)
        return;
    c->fn->inst->impure = what ? arena_printf(c->mem, "uses %s '%s'", what, name) : "prints";
    c->fn->inst->impure_at = report_span(c, at);
}

/* ---- array parameters: to everything but the host's interface, fields of their function ---- */

/* A name that means nothing else is one of the extents. */
static bool names_extent(checker *c, const ast_expr *e)
{
    const sym *s = e->kind == AST_EXPR_NAME ? names_lookup(c, e->name) : NULL;
    return e->kind == AST_EXPR_NAME && (!s || (s->kind != SYM_CONST && s->kind != SYM_PARAM));
}

/* Whether a formula has a name of the function in it: another extent, or a parameter. */
static bool has_own_name(checker *c, const sym *s, const ast_expr *e)
{
    bool has = false;
    for (const ast_param *p = s->item->params; e && e->kind == AST_EXPR_NAME && p; p = p->next) {
        has = has || p->name == e->name;
        for (const ast_expr *x = p->type && p->type->kind == AST_TYPE_ARRAY ? p->type->extents : NULL; x; x = x->next)
            has = has || (names_extent(c, x) && x->name == e->name);
    }
    for (const ast_expr *a = e ? e->args : NULL; a; a = a->next)
        has = has || has_own_name(c, s, a);
    return has || (e && (has_own_name(c, s, e->a) || has_own_name(c, s, e->b) || has_own_name(c, s, e->c)));
}

/* An extent that is no name of its own: a constant, or in a kernel a param. Of an error type after a report. */
static tx_expr *fixed_extent(checker *c, const sym *s, const ast_param *p, const ast_expr *e)
{
    if (has_own_name(c, s, e)) {
        ERR(c, e->span, DIAG_NOT_COMPILED, arena_printf(c->mem, "an extent of '%s' that is computed from others", p->name));
        return val_error(c, e->span).e;
    }
    c->extents = true;
    c->constant = s->kind != SYM_KERNEL;
    tx_expr *x = to_i64(c, check_expr(c, e), e->span, "an extent");
    c->extents = c->constant = false;
    const tx_expr *inner = x;
    while (inner && inner->kind == TX_CAST)
        inner = inner->a;
    if (x && x->kind == TX_CONST && x->cval.i < 1) {
        ERR(c, e->span, DIAG_EXTENT, (long long)x->cval.i);
    } else if (x && x->kind != TX_CONST && inner->kind != TX_MPARAM) {
        ERR(c, e->span, DIAG_NOT_COMPILED, arena_printf(c->mem, "an extent of '%s' that is computed from params", p->name));
    } else {
        return x ? x : val_error(c, e->span).e;
    }
    return val_error(c, e->span).e;
}

const ty *array_param_type(checker *c, const sym *s, const ast_param *p, tx_expr ***extents)
{
    const ty *elem = type_resolve(c, p->type->elem);
    int n = 0;
    bool bad = false;
    *extents = ARENA_ARRAY(c->mem, tx_expr *, MAX_DIM);
    for (const ast_expr *e = p->type->extents; e; e = e->next, n++) {
        if (n == MAX_DIM) {
            ERR(c, e->span, DIAG_DIMENSIONS, MAX_DIM);
            return ty_error(c->types);
        }
        (*extents)[n] = names_extent(c, e) ? NULL : fixed_extent(c, s, p, e);
        bad = bad || ((*extents)[n] && (*extents)[n]->type->kind == TY_ERROR);
    }
    if (bad)
        return ty_error(c->types);
    if (elem->kind == TY_ERROR || elem->kind == TY_SCALAR || elem->kind == TY_VEC)
        return elem;
    ERR(c, p->type->span, DIAG_NOT_COMPILED, arena_printf(c->mem, "an array of %s as a parameter of '%s'", ty_name(c->types, elem), s->name));
    return ty_error(c->types);
}

static tx_local *find_extent(const fn *f, const char *name)
{
    for (int i = 0; i < f->tx->nparams; i++)
        if (f->tx->params[i]->name == name)
            return f->tx->params[i];
    return NULL;
}

static void declare_extent(checker *c, fn *f, const ast_expr *e)
{
    sym *s = scope_declare(c, SYM_LOCAL, e->name, e->span);
    sym_set_local(c, s, e->name, ty_scalar(c->types, SC_I64), false, report_span(c, e->span).begin);
    s->what = "an extent";
    for (const ast_param *o = f->sym->item->params; o; o = o->next)
        if (generated_param_collides(e->name, o)) {
            ERR(c, e->span, DIAG_GENERATED_NAME, e->name, e->name);
            NOTE(c, o->span, "derivatives have that argument beside '%s'", o->name);
        }
    f->tx->params[f->tx->nparams++] = s->local;
}

void declare_extents(checker *c, fn *f)
{
    int k = 0;
    for (const ast_param *p = f->sym->item->params; p; p = p->next, k++) {
        tx_expr *const *fixed = f->sym->param_extents[k];
        const ast_expr *e = fixed ? p->type->extents : NULL;
        for (int d = 0; e && d < MAX_DIM; e = e->next, d++)
            if (!fixed[d] && !find_extent(f, e->name)) /* equal names are one parameter */
                declare_extent(c, f, e);
    }
}

/* Extent d of the array behind s, once as the checker sees it and once for the IR. */
static void set_extent(checker *c, const fn *f, sym *s, int d, const ast_expr *e, tx_expr *fixed)
{
    ir_extent *x = &s->field->dims[d];
    *x = (ir_extent){.param = -1};
    const tx_expr *inner = fixed;
    while (inner && inner->kind == TX_CAST)
        inner = inner->a;
    if (!fixed) {
        s->dims[d] = tx_new(c, TX_LOCAL, ty_scalar(c->types, SC_I64), e->span);
        s->dims[d]->local = find_extent(f, e->name);
        while (f->tx->params[++x->param] != s->dims[d]->local)
            continue;
    } else {
        s->dims[d] = fixed;
        x->mparam = inner->mparam;
        x->count = fixed->kind == TX_CONST ? fixed->cval.i : 0;
    }
    s->extents[d] = x->count ? (long)x->count : -1;
}

tx_local *declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, tx_expr *const *fixed, src_span at)
{
    sym *s = scope_declare(c, SYM_FIELD, p->name, at);
    ir_field *a = ARENA_NEW(c->mem, ir_field);
    static const char *const what[] = {[AST_DIR_IN] = "an 'in' array", [AST_DIR_OUT] = "an 'out' array", [AST_DIR_INOUT] = "an 'inout' array"};
    s->what = what[p->dir];
    s->type = elem;
    s->field = a;
    s->extents = ARENA_ARRAY(c->mem, long, MAX_DIM);
    s->dims = ARENA_ARRAY(c->mem, tx_expr *, MAX_DIM);
    *a = (ir_field){.name = p->name, .elem = elem->elem, .shape = elem->kind == TY_VEC ? IR_SHAPE_VEC : IR_SHAPE_SCALAR, .rows = elem->rows,
                    .cols = elem->cols, .array = true, .in = p->dir != AST_DIR_OUT, .out = p->dir != AST_DIR_IN, .loc = at.begin, .index = (int)c->ir->fields.len};
    a->launched = f->is_kernel;
    a->dual = elem->kind != TY_ERROR && scalar_is_float(elem->elem);
    a->grad = a->dual && !f->is_kernel;
    a->dims = ARENA_ARRAY(c->mem, ir_extent, MAX_DIM);
    for (const ast_expr *e = p->type->extents; e && a->ndim < MAX_DIM; e = e->next, a->ndim++)
        set_extent(c, f, s, a->ndim, e, fixed[a->ndim]);
    vec_push(&c->ir->fields, a);
    tx_local *l = local_new(c, p->name, elem, at.begin);
    l->array = a;
    return l;
}

bool array_has_plane(checker *c, const place *p, src_span at)
{
    return p->plane == IR_DATA || ERR(c, at, DIAG_NOT_COMPILED, "the gradient or dual of an array parameter in its own function");
}

tx_expr *extent_of(checker *c, const sym *s, int d, src_span at)
{
    tx_expr *e = tx_new(c, TX_SHAPE, ty_scalar(c->types, SC_I64), at);
    if (s->dims) {
        const src_loc loc = e->loc;
        *e = *s->dims[d];
        e->loc = loc;
    } else {
        note_impure(c, "the field", s->field->whole ? s->field->whole : s->field->name, at);
        e->field = s->field;
        e->dim = d;
    }
    return e;
}

void order_arrays(checker *c)
{
    ir_module *m = c->ir;
    const size_t n = m->fields.len;
    ir_field **old = ARENA_ARRAY(c->mem, ir_field *, n + 1);
    for (size_t i = 0; i < n; i++)
        old[i] = m->fields.at[i];
    size_t at = m->nfields;
    for (int launched = 1; launched >= 0; launched--)
        for (size_t i = m->nfields; i < n; i++)
            if (old[i]->launched == launched) {
                old[i]->index = (int)at;
                m->fields.at[at++] = old[i];
                m->narrays += (size_t)launched;
            }
}

/* ---- nothing but a function of the arguments ---- */

/* A function and its custom derivatives may call each other in a circle. */
static const instance *search_impure(instance *i, const instance *from)
{
    if (i->impure)
        return i;
    i->searched = from;
    for (const call_edge *e = i->callees; e; e = e->next) {
        const instance *found = e->to->searched == from ? NULL : search_impure(e->to, from);
        if (found)
            return found;
    }
    return NULL;
}

const instance *find_impure(instance *i)
{
    return search_impure(i, i);
}

/* --no-runtime: what needs a module object is refused. */
static void check_standalone(checker *c)
{
    bool exports = false, refused = false;
    for (const sym *s = c->items; s; s = s->next) {
        exports = exports || (s->kind == SYM_FUNC && s->item->is_export);
        if (s->kind != SYM_KERNEL && s->kind != SYM_FIELD && s->kind != SYM_PARAM)
            continue;
        ERR(c, s->span, DIAG_NEEDS_RUNTIME, s->name, sym_describe(s));
        if (!refused)
            NOTE(c, s->span, "constants and functions remain, and export funcs that take what they need as arguments");
        refused = true;
    }
    if (!exports && !refused)
        diag(c->d, (src_span){{0, 0, 0}, {0, 0, 0}}, DIAG_NO_EXPORTS);
}

void check_exports(checker *c)
{
    if (c->opt->no_runtime)
        check_standalone(c);
    for (const sym *s = c->items; s; s = s->next) {
        instance *i = s->kind == SYM_FUNC && s->item->is_export ? s->instances : NULL;
        const instance *found = i ? find_impure(i) : NULL;
        if (!found)
            continue;
        ERR(c, found->impure_at, DIAG_EXPORT_IMPURE, found->tx->name, found->impure);
        if (found != i)
            NOTE(c, s->span, "'%s' is an export func and comes to call it", s->name);
        NOTE(c, s->span, "the host calls '%s' without a module object: pass what it needs as arguments", s->name);
    }
}
