/* Arrays of the host among the parameters of kernels and export funcs: to everything but the host's interface, fields
 * of their function. Where the program calls one, it gives arrays of its own by their names, and the callee is checked
 * for these. */
#include <string.h>

#include "check/check.h"

/* ---- declarations ---- */

/* A name that means nothing else is one of the extents. */
static bool names_extent(checker *c, const ast_expr *e)
{
    const sym *s = e->kind == AST_EXPR_NAME ? names_lookup(c, e->name, e->span) : NULL;
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
        ERR(c, e->span, DIAG_NOT_COMPILED,
            arena_printf(c->mem, "an extent of '%s' that is computed from others", p->name));
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
        ERR(c, e->span, DIAG_NOT_COMPILED,
            arena_printf(c->mem, "an extent of '%s' that is computed from params", p->name));
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
    if (elem->kind == TY_ERROR || ty_is_value(elem))
        return elem;
    ERR(c, p->type->span, DIAG_NOT_SCALAR_TYPE, "an element of an array", ty_name(c->types, elem));
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

/* The k-th field of an array: the only one, or that of a member of its structs. */
static ir_field *declare_leaf(checker *c, fn *f, const ast_param *p, sym *s, const tx_local *whole, int k)
{
    const ty *elem = s->type, *t = ty_leaf(c->types, elem, k);
    const bool member = elem->kind == TY_STRUCT;
    ir_field *a = ARENA_NEW(c->mem, ir_field);
    *a = (ir_field){.name = member ? arena_printf(c->mem, "%s.%s", p->name, elem->paths[k]) : p->name,
                    .elem = t->elem,
                    .shape = shape_of(t),
                    .rows = t->rows,
                    .cols = t->cols,
                    .array = true,
                    .in = p->dir != AST_DIR_OUT,
                    .out = p->dir != AST_DIR_IN,
                    .loc = whole->loc,
                    .index = (int)c->ir->fields.len};
    a->launched = f->is_kernel;
    a->dual = t->kind != TY_ERROR && scalar_is_float(t->elem);
    a->grad = a->dual && whole->needs_grad;
    tx_local *l = local_new(c, p->name, t, whole->loc);
    l->array = a;
    if (member) {
        s->members = s->members ? s->members : ARENA_ARRAY(c->mem, ir_field *, elem->nleaves);
        s->members[k] = a;
        a->lead = s->members[0];
        a->layout = ir_field_layout_plain(a);
        a->structure = elem->structure;
        a->whole = p->name;
        a->path = elem->paths[k];
        l->whole = whole;
        l->leaf = k;
    }
    vec_push(&c->ir->fields, a);
    f->tx->params[f->tx->nparams++] = l;
    return a;
}

void declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, tx_expr *const *fixed, src_span at, bool grad)
{
    sym *s = scope_declare(c, SYM_FIELD, p->name, at);
    static const char *const what[] = {
        [AST_DIR_IN] = "an 'in' array", [AST_DIR_OUT] = "an 'out' array", [AST_DIR_INOUT] = "an 'inout' array"};
    tx_local *whole = ARENA_NEW(c->mem, tx_local); /* of structs: stands for the whole; no statement has it */
    *whole = (tx_local){.name = p->name, .type = elem, .loc = at.begin, .needs_grad = grad};
    s->what = what[p->dir];
    s->type = elem;
    s->extents = ARENA_ARRAY(c->mem, long, MAX_DIM);
    s->dims = ARENA_ARRAY(c->mem, tx_expr *, MAX_DIM);
    for (int k = 0; k < ty_nleaves(elem); k++) {
        ir_field *a = declare_leaf(c, f, p, s, whole, k);
        s->field = k ? s->field : a;
        a->dims = k ? s->field->dims : ARENA_ARRAY(c->mem, ir_extent, MAX_DIM);
        for (const ast_expr *e = p->type->extents; e && a->ndim < MAX_DIM; e = e->next, a->ndim++)
            if (k == 0)
                set_extent(c, f, s, a->ndim, e, fixed[a->ndim]);
    }
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

/* ---- calls: parameters are other names of arrays that the caller has ---- */

/* What a call of s says of a name of an extent: the extents of arguments from `from` on that have it. NULL: none does.
 */
static tx_expr *named_extent(checker *c, const sym *s, const char *name, const val *args, int n, int *from)
{
    const ast_param *p = s->item->params;
    for (int k = 0; k < n; k++, p = p->next) {
        const ast_expr *e = s->param_extents[k] ? p->type->extents : NULL;
        for (int d = 0; e; e = e->next, d++)
            if (!s->param_extents[k][d] && e->name == name) {
                *from = k;
                return extent_of(c, args[k].ref, d, s->span);
            }
    }
    return NULL;
}

/* What a call of s says of a name of an extent in front of dimension n of parameter k; -1: it is not known. */
static long known_extent(const sym *s, const char *name, const val *args, int k, int n)
{
    const ast_param *p = s->item->params;
    for (int i = 0; i <= k; i++, p = p->next) {
        const ty *given = s->param_extents[i] && args[i].ref && args[i].e->type->kind == TY_ARRAY ? args[i].e->type
                                                                                                  : NULL;
        const ast_expr *e = given ? p->type->extents : NULL;
        for (int d = 0; e && d < (i == k ? n : given->ndim); e = e->next, d++)
            if (!s->param_extents[i][d] && e->name == name && d < given->ndim && given->extents[d] >= 0)
                return given->extents[d];
    }
    return -1;
}

/* The type that parameter k has in this call, as far as it is known: with -1 for extents that are not. */
static const ty *array_in_call(checker *c, const sym *s, const ast_param *p, int k, const val *args)
{
    long extents[MAX_DIM];
    int n = 0;
    for (const ast_expr *e = p->type->extents; e; e = e->next, n++) {
        const tx_expr *x = s->param_extents[k][n];
        extents[n] = x ? (x->kind == TX_CONST ? (long)x->cval.i : -1) : known_extent(s, e->name, args, k, n);
    }
    return ty_array(c->types, s->param_types[k], n, extents);
}

static bool fits_array(const ty *given, const ty *t)
{
    bool fits = given->kind == TY_ARRAY && given->of == t->of && given->ndim == t->ndim;
    for (int d = 0; fits && d < t->ndim; d++)
        fits = given->extents[d] < 0 || t->extents[d] < 0 || given->extents[d] == t->extents[d];
    return fits;
}

/* As far as the text tells. */
static bool same_extent(const tx_expr *a, const tx_expr *b)
{
    while (a->kind == TX_CAST && b->kind == TX_CAST && a->type == b->type) {
        a = a->a;
        b = b->a;
    }
    if (a->kind != b->kind)
        return false;
    return a->kind == TX_CONST    ? a->cval.i == b->cval.i
           : a->kind == TX_LOCAL  ? a->local == b->local
           : a->kind == TX_MPARAM ? a->mparam == b->mparam
           : a->kind == TX_SHAPE  ? a->field == b->field && a->dim == b->dim
                                  : false;
}

/* x[t] and x[t + 1] are taken for different slabs. */
static bool same_slab(const sym *a, const sym *b)
{
    bool same = true;
    for (int k = 0; k < a->nlead && k < b->nlead; k++)
        same = same && same_extent(a->lead[k], b->lead[k]);
    return same;
}

/* Also by another name, which a parameter gives a field. */
static bool same_array(const sym *a, const sym *b)
{
    return a == b || (a && a->kind == SYM_FIELD && b->kind == SYM_FIELD && a->field == b->field && same_slab(a, b));
}

/* What the callee changes must be the caller's to change, and have one name in it. */
static bool may_change(checker *c, const sym *s, const ast_param *p, int k, const val *args, const src_span *spans)
{
    const sym *ref = args[k].ref;
    if (ref->kind == SYM_FIELD && ref->field->array && !ref->field->out) {
        ERR(c, spans[k], DIAG_NOT_MUTABLE, ref->name, ref->what);
        NOTE(c, p->span, "'%s' changes it: here it is %s", s->name, p->dir == AST_DIR_OUT ? "'out'" : "'inout'");
        return false;
    }
    if (ref->kind == SYM_FIELD && !may_write(c, ref->field, spans[k]))
        return false;
    if (ref->kind == SYM_LOCAL && s->kind == SYM_KERNEL) {
        ERR(c, spans[k], DIAG_TASK_WRITE, ref->name);
        NOTE(c, p->span, "kernel '%s' changes it in its parallel loops: give it a field, or an array of the host",
             s->name);
        return false;
    }
    for (int i = 0; i < s->nparams; i++)
        if (i != k && same_array(args[i].ref, ref)) {
            ERR(c, spans[i > k ? i : k], DIAG_ARRAY_TWICE, ref->name, s->name);
            NOTE(c, p->span, "it is changed as '%s'", p->name);
            return false;
        }
    return true;
}

bool check_array_args(checker *c, const sym *s, const val *args, const src_span *spans)
{
    int k = 0;
    for (const ast_param *p = s->item->params; p; p = p->next, k++) {
        if (!s->param_extents[k])
            continue;
        const ty *t = array_in_call(c, s, p, k, args);
        if (!args[k].ref || !fits_array(args[k].e->type, t)) {
            ERR(c, spans[k], DIAG_ARRAY_ARGUMENT, s->name, args[k].ref ? ty_name(c->types, t) : "the name of an array",
                p->name, name_of(c, args[k]));
            NOTE(c, p->span, "'%s' is declared here", p->name);
            return false;
        }
    }
    k = 0;
    for (const ast_param *p = s->item->params; p; p = p->next, k++)
        if (s->param_extents[k] && p->dir != AST_DIR_IN && !may_change(c, s, p, k, args, spans))
            return false;
    return true;
}

/* --debug looks at what the text does not tell. */
static void assert_extent(checker *c, tx_expr *is, tx_expr *must, const char *text, src_span at)
{
    if (same_extent(is, must))
        return;
    tx_stmt *t = emit_stmt(c, TX_ASSERT, at);
    t->cond = tx_op(c, OP_EQ, ty_scalar(c->types, SC_BOOL), at, 2, (tx_expr *[]){is, must});
    t->text = text;
}

static void bind_extent(checker *c, const fn *f, const ast_param *p, int k, int d, const ast_expr *e, const val *given)
{
    tx_expr *is = extent_of(c, given[k].ref, d, p->span), *fixed = f->sym->param_extents[k][d];
    int from = 0;
    if (fixed) {
        assert_extent(c, is, fixed, arena_printf(c->mem, "extent %d of '%s' is not as it is declared", d, p->name),
                      p->span);
        return;
    }
    tx_expr *first = named_extent(c, f->sym, e->name, given, f->sym->nparams, &from);
    const sym *local = names_entry(c, e->name)->local;
    if (from != k || (local && local->owner == c->fn)) {
        assert_extent(c, is, first, arena_printf(c->mem, "extent %d of '%s' is not '%s'", d, p->name, e->name),
                      p->span);
        return;
    }
    sym *s = scope_declare(c, SYM_LOCAL, e->name, e->span);
    sym_set_local(c, s, e->name, ty_scalar(c->types, SC_I64), false, report_span(c, e->span).begin);
    s->what = "an extent";
    tx_local **locals = ARENA_ARRAY(c->mem, tx_local *, 1);
    locals[0] = s->local;
    emit_decl(c, locals, 1, is, e->span);
}

static tx_expr *zero_of(checker *c, const ty *t, src_span at)
{
    const bool build = t->kind == TY_VEC || t->kind == TY_MAT, group = t->kind == TY_STRUCT;
    tx_expr *e = tx_new(c, build ? TX_BUILD : group ? TX_GROUP : TX_CONST, t, at);
    e->nargs = build ? ty_ncomp(t) : group ? t->nleaves : 0;
    e->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs + 1);
    for (int k = 0; k < e->nargs; k++)
        e->args[k] = zero_of(c, group ? t->leaves[k] : ty_scalar(c->types, t->elem), at);
    return e;
}

/* What an `out` parameter holds at first. The loop is a parallel one of a kernel. */
static void clear_array(checker *c, const ast_param *p)
{
    sym *s = names_lookup(c, p->name, p->span);
    const bool field = s->kind == SYM_FIELD;
    place q = {.kind = field ? PLACE_FIELD : PLACE_LOCAL,
               .sym = s,
               .local = s->local,
               .field = s->field,
               .all = true,
               .missing = field ? sym_ndim(s) : s->local->type->ndim,
               .at = p->span,
               .subs = s->lead,
               .nsubs = s->nlead};
    q.whole = q.type = field ? s->type : s->local->type->of;
    fill_elements(c, &q, q.nsubs, zero_of(c, q.type, p->span), p->span);
}

void bind_arrays(checker *c, const fn *f)
{
    int k = 0;
    val *given = ARENA_ARRAY(c->mem, val, f->sym->nparams + 1);
    for (; k < f->sym->nparams; k++)
        given[k].ref = f->inst->refs[k];
    k = 0;
    for (const ast_param *p = f->sym->item->params; p; p = p->next, k++) {
        int d = 0;
        for (const ast_expr *e = f->sym->param_extents[k] ? p->type->extents : NULL; e; e = e->next)
            bind_extent(c, f, p, k, d++, e, given);
    }
    k = 0;
    for (const ast_param *p = f->sym->item->params; p; p = p->next, k++) {
        f->inst->writes[k] = f->inst->writes[k] || (f->sym->param_extents[k] && p->dir != AST_DIR_IN);
        if (f->sym->param_extents[k] && p->dir == AST_DIR_OUT)
            clear_array(c, p);
    }
}
