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

const ty *array_param_type(checker *c, const sym *s, const ast_param *p)
{
    const ty *elem = type_resolve(c, p->type->elem);
    int n = 0;
    for (const ast_expr *e = p->type->extents; e; e = e->next, n++) {
        if (e->kind == AST_EXPR_NAME && n < MAX_DIM)
            continue;
        if (n == MAX_DIM)
            ERR(c, e->span, DIAG_DIMENSIONS, MAX_DIM);
        else
            ERR(c, e->span, DIAG_NOT_COMPILED, arena_printf(c->mem, "an extent of '%s' that is not a name of its own", p->name));
        return ty_error(c->types);
    }
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

void declare_extents(checker *c, fn *f)
{
    for (const ast_param *p = f->sym->item->params; p; p = p->next)
        for (const ast_expr *e = p->type && p->type->kind == AST_TYPE_ARRAY ? p->type->extents : NULL; e; e = e->next) {
            if (find_extent(f, e->name)) /* equal names are one parameter */
                continue;
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
}

tx_local *declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, src_span at)
{
    sym *s = scope_declare(c, SYM_FIELD, p->name, at);
    ir_field *a = ARENA_NEW(c->mem, ir_field);
    long *extents = ARENA_ARRAY(c->mem, long, MAX_DIM);
    static const char *const what[] = {[AST_DIR_IN] = "an 'in' array", [AST_DIR_OUT] = "an 'out' array", [AST_DIR_INOUT] = "an 'inout' array"};
    s->what = what[p->dir];
    s->type = elem;
    s->field = a;
    s->extents = extents;
    s->dims = ARENA_ARRAY(c->mem, tx_local *, MAX_DIM);
    *a = (ir_field){.name = p->name, .elem = elem->elem, .shape = elem->kind == TY_VEC ? IR_SHAPE_VEC : IR_SHAPE_SCALAR, .rows = elem->rows,
                    .cols = elem->cols, .array = true, .in = p->dir != AST_DIR_OUT, .out = p->dir != AST_DIR_IN, .loc = at.begin, .index = (int)c->ir->fields.len};
    a->launched = f->is_kernel;
    a->dual = elem->kind != TY_ERROR && scalar_is_float(elem->elem);
    a->grad = a->dual && !f->is_kernel;
    a->dims = ARENA_ARRAY(c->mem, int, MAX_DIM);
    for (const ast_expr *e = p->type->extents; e; e = e->next) {
        extents[a->ndim] = -1;
        s->dims[a->ndim] = find_extent(f, e->name);
        for (int i = 0; i < f->tx->nparams; i++)
            if (f->tx->params[i] == s->dims[a->ndim])
                a->dims[a->ndim] = i;
        a->ndim++;
    }
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
    tx_expr *e = tx_new(c, s->dims ? TX_LOCAL : TX_SHAPE, ty_scalar(c->types, SC_I64), at);
    if (s->dims) {
        e->local = s->dims[d];
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
