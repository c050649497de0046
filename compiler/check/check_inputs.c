/* derive(grad(p), hvp): which derivatives there are, and by which inputs those of an export func are. */
#include <string.h>

#include "check/check.h"

enum { KINDS = 7, OF_FIELDS = IR_DERIVE_ROWS | IR_DERIVE_BLOCKS, MATRICES = IR_DERIVE_JAC | IR_DERIVE_HESS };

static const char *const kind_names[KINDS] = {"grad", "jvp", "hvp", "jac",
                                              "hess", "jac", "hess"}; /* of IR_DERIVE_*, by bit */

static const char *kind_name(int kind)
{
    int i = 0;
    while (kind != 1 << i)
        i++;
    return kind_names[i];
}

/* ---- inputs ---- */

static bool is_const(const ast_param *p)
{
    bool found = false;
    for (const ast_attr *a = p->attrs; a; a = a->next)
        found = found || !strcmp(a->name, "const");
    return found;
}

static const ty *type_of(const sym *s, const ast_param *p)
{
    int k = 0;
    for (const ast_param *o = s->item->params; o != p; o = o->next)
        k++;
    return s->param_types[k];
}

/* The parameters that can be in a list, "a, b"; NULL: there are none. */
static const char *inputs_of(checker *c, const sym *s, int kind)
{
    const char *list = NULL;
    for (const ast_param *p = s->item->params; p; p = p->next) {
        const bool column = !(kind & MATRICES) || !p->type || p->type->kind != AST_TYPE_ARRAY;
        if (column && p->dir != AST_DIR_OUT && !is_const(p) && ty_has_floats(type_of(s, p)))
            list = list ? arena_printf(c->mem, "%s, %s", list, p->name) : p->name;
    }
    return list;
}

/* ---- which ---- */

static void bad_derivative(checker *c, src_span at)
{
    ERR(c, at, DIAG_DERIVE);
    NOTE(c, at,
         "derive(...) takes grad, jvp, hvp, and with inputs jac(x) and hess(x); derive() is a kernel without "
         "derivatives");
}

static tx_request *add_request(checker *c, tx_func *f, int kind, src_span at)
{
    if (!f->requests)
        f->requests = ARENA_ARRAY(c->mem, tx_request, KINDS);
    tx_request *r = &f->requests[f->nrequests++];
    *r = (tx_request){.kind = kind, .at = at};
    return r;
}

void default_requests(checker *c, tx_func *f)
{
    const src_span at = span_at(f->loc);
    add_request(c, f, IR_DERIVE_GRAD, at);
    add_request(c, f, IR_DERIVE_JVP, at);
}

/* 0: none is called so. */
static int kind_of(const sym *s, const ast_expr *e)
{
    int kind = 0;
    for (int i = 0; i < KINDS && e->kind == AST_EXPR_NAME; i++)
        if (strcmp(e->name, kind_names[i]) == 0 && !((1 << i) & (s->kind == SYM_KERNEL ? MATRICES : OF_FIELDS)))
            kind = 1 << i;
    return kind;
}

static void check_request(checker *c, const sym *s, const ast_expr *e, tx_func *f)
{
    const bool listed = e->kind == AST_EXPR_CALL;
    const ast_expr *name = listed ? e->a : e;
    const int kind = kind_of(s, name);
    if ((kind & (MATRICES | OF_FIELDS)) && !listed) {
        const char *inputs = kind & OF_FIELDS ? "x" : inputs_of(c, s, kind);
        ERR(c, name->span, DIAG_DERIVE);
        NOTE(c, name->span, kind & OF_FIELDS ? "name the field of the columns: %s(%s)" : "name its inputs: %s(%s)",
             name->name, inputs ? inputs : "...");
    } else if (!kind) {
        bad_derivative(c, name->span);
    } else if (tx_derives(f) & kind) {
        ERR(c, name->span, DIAG_ATTR_TWICE, name->name);
    } else if (listed && s->kind == SYM_KERNEL && !(kind & OF_FIELDS)) {
        ERR(c, e->span, DIAG_DERIVE_KERNEL, s->name, name->name);
        NOTE(c, e->span, "inputs of a kernel are the fields and parameters that are marked needs_grad");
    } else if (listed && !e->args) {
        ERR(c, e->span, DIAG_DERIVE_NOTHING, name->name, s->name, "its list is empty");
    } else {
        tx_request *r = add_request(c, f, kind, e->span);
        r->listed = listed;
        r->list = e->args;
    }
}

void check_requests(checker *c, const sym *s, const ast_attr *a, tx_func *f)
{
    f->nrequests = 0;
    f->derive_explicit = true;
    if (!a->parens)
        bad_derivative(c, a->span);
    for (const ast_expr *e = a->args; e; e = e->next)
        check_request(c, s, e, f);
}

/* ---- by which inputs ---- */

static bool has(const tx_request *r, const char *name)
{
    bool found = false;
    for (int i = 0; i < r->ninputs; i++)
        found = found || r->inputs[i] == name;
    return found;
}

static bool is_by(const tx_request *r, const ast_param *p)
{
    return !r->inputs || has(r, p->name);
}

static const ast_param *param_of(const sym *s, const char *name)
{
    const ast_param *p = s->item->params;
    while (p && p->name != name)
        p = p->next;
    return p;
}

/* What is wrong with an entry of a list, NULL: nothing is. */
static const char *misfit(checker *c, const sym *s, const tx_request *r, const ast_expr *e, const ast_param *p)
{
    if (e->kind == AST_EXPR_MEMBER)
        return "a struct counts as a whole: its name alone is listed";
    if (e->kind != AST_EXPR_NAME)
        return "the list takes names of inputs";
    if (!p)
        return arena_printf(c->mem, "it is no parameter of '%s'", s->name);
    if (p->dir == AST_DIR_OUT)
        return "an 'out' array is a result";
    if ((r->kind & MATRICES) && p->type && p->type->kind == AST_TYPE_ARRAY)
        return "it is an array of the host, which is no column of a matrix";
    return is_const(p) ? "it is const" : NULL;
}

static void list_input(checker *c, const sym *s, tx_request *r, const ast_expr *e)
{
    const char *name = e->kind == AST_EXPR_NAME ? e->name : NULL;
    const ast_param *p = name ? param_of(s, name) : NULL;
    const char *why = misfit(c, s, r, e, p);
    if (p)
        names_use(c, name, e->span);
    if (why) {
        ERR(c, e->span, DIAG_DERIVE_INPUT, name ? arena_printf(c->mem, "'%s'", name) : "this", kind_name(r->kind), why);
        if (p)
            NOTE(c, p->span, "'%s' is declared here", name);
        else if (inputs_of(c, s, r->kind))
            NOTE(c, e->span, "the inputs of '%s' are: %s", s->name, inputs_of(c, s, r->kind));
    } else if (has(r, name)) {
        ERR(c, e->span, DIAG_ATTR_TWICE, name);
    } else if (!ty_has_floats(type_of(s, p))) {
        ERR(c, e->span, DIAG_NEEDS_GRAD_INTEGER, name, ty_name(c->types, type_of(s, p)));
    } else {
        r->inputs[r->ninputs++] = name;
    }
}

static void check_list(checker *c, const sym *s, tx_request *r)
{
    int n = 0;
    for (const ast_expr *e = r->list; e; e = e->next)
        n++;
    r->inputs = ARENA_ARRAY(c->mem, const char *, n + 1);
    for (const ast_expr *e = r->list; e; e = e->next)
        list_input(c, s, r, e);
    for (const ast_param *p = s->item->params; p; p = p->next) {
        if ((r->kind & MATRICES) || p->dir != AST_DIR_INOUT || !ty_has_floats(type_of(s, p)) || has(r, p->name))
            continue;
        ERR(c, r->at, DIAG_DERIVE_INOUT, kind_name(r->kind), p->name);
        NOTE(c, p->span,
             "what '%s' holds at the end depends on what it held: add it to the list, or declare an 'in' "
             "and an 'out' array",
             p->name);
    }
}

/* Without a list: by all floats that are not const. */
static void list_all(checker *c, const sym *s, tx_request *r, bool first)
{
    bool floats = false, consts = false;
    r->inputs = ARENA_ARRAY(c->mem, const char *, s->nparams + 1);
    for (const ast_param *p = s->item->params; p; p = p->next) {
        if (p->dir == AST_DIR_OUT || !ty_has_floats(type_of(s, p)))
            continue;
        floats = floats || !is_const(p);
        consts = consts || is_const(p);
        if (!is_const(p))
            r->inputs[r->ninputs++] = p->name;
    }
    if (!consts)
        r->inputs = NULL;
    else if (!floats && first)
        ERR(c, r->at, DIAG_DERIVE_NOTHING, kind_name(r->kind), s->name, "all its inputs of floats are const");
}

/* Whether any derivative of these kinds is by p. Where there is none it does not matter. */
static bool any_by(const tx_func *f, int kinds, const ast_param *p)
{
    bool any = !(tx_derives(f) & kinds) && !is_const(p);
    for (int i = 0; i < f->nrequests; i++)
        any = any || ((f->requests[i].kind & kinds) && is_by(&f->requests[i], p));
    return any;
}

static void mark_local(tx_local *l, bool grad, bool dual)
{
    const bool is_float = l->type->kind != TY_ERROR && l->type->kind != TY_STRUCT && scalar_is_float(l->type->elem);
    l->needs_grad = grad && is_float;
    l->no_dual = is_float && !dual;
}

static void mark_param(checker *c, const fn *f, const ast_param *p)
{
    const bool grad = any_by(f->tx, IR_DERIVE_GRAD | IR_DERIVE_HVP | IR_DERIVE_HESS, p),
               dual = any_by(f->tx, IR_DERIVE_JVP | IR_DERIVE_HVP | MATRICES, p);
    const sym *s = names_lookup(c, p->name, p->span);
    const ty *t = type_of(f->sym, p);
    for (int i = 0; i < ty_nleaves(t); i++) {
        ir_field *array = s->kind != SYM_FIELD ? NULL : s->members ? s->members[i] : s->field;
        if (!array)
            mark_local(s->parts ? s->parts[i] : s->local, grad, dual);
        else if (!array->out) {
            array->grad = array->grad && grad;
            array->dual = array->dual && dual;
        }
    }
}

/* The matrices of a kernel are by fields. */
static const char *misfit_field(const ast_expr *e, const sym *s)
{
    if (e->kind != AST_EXPR_NAME || !s || s->kind != SYM_FIELD)
        return "the matrix of a kernel is by a field of the module";
    if (s->field->array)
        return "it is an array of the host";
    if (s->members)
        return "its elements are structs";
    if (!scalar_is_float(s->field->elem))
        return "it has no floats";
    return s->field->scratch ? "it is a scratch field" : NULL;
}

static void check_field(checker *c, tx_request *r, const ast_expr *e)
{
    const char *name = e->kind == AST_EXPR_NAME ? e->name : NULL;
    const sym *s = name ? names_use(c, name, e->span) : NULL;
    const char *why = misfit_field(e, s);
    if (why)
        ERR(c, e->span, DIAG_DERIVE_INPUT, name ? arena_printf(c->mem, "'%s'", name) : "this", kind_name(r->kind), why);
    else if (ir_columns_have(&r->by, s->field))
        ERR(c, e->span, DIAG_ATTR_TWICE, name);
    else
        r->by.at[r->by.n++] = s->field;
}

void check_fields(checker *c, const fn *f)
{
    for (int i = 0; i < f->tx->nrequests; i++) {
        tx_request *r = &f->tx->requests[i];
        int n = 0;
        for (const ast_expr *e = r->list; e && (r->kind & OF_FIELDS); e = e->next)
            n++;
        r->by.at = ARENA_ARRAY(c->mem, ir_field *, n + 1);
        for (const ast_expr *e = r->list; e && n > 0; e = e->next)
            check_field(c, r, e);
    }
}

void check_inputs(checker *c, const fn *f)
{
    for (int i = 0; i < f->tx->nrequests; i++) {
        tx_request *r = &f->tx->requests[i];
        if (r->listed)
            check_list(c, f->sym, r);
        else
            list_all(c, f->sym, r, i == 0);
    }
    for (const ast_param *p = f->sym->item->params; p; p = p->next)
        mark_param(c, f, p);
}

void check_rows(checker *c, const sym *s, const tx_func *f)
{
    bool floats = false, arrays = false;
    const ty *result = f->result;
    for (int k = 0; result && k < (result->kind == TY_TUPLE ? result->nmembers : 1); k++)
        floats |= ty_has_floats(result->kind == TY_TUPLE ? result->members[k] : result);
    for (const ast_param *p = s->item->params; p; p = p->next)
        arrays |= p->dir == AST_DIR_OUT || p->dir == AST_DIR_INOUT;
    for (int i = 0; i < f->nrequests; i++) {
        const tx_request *r = &f->requests[i];
        if ((r->kind & MATRICES) && arrays)
            ERR(c, r->at, DIAG_DERIVE_ROWS, kind_name(r->kind), s->name, "it writes arrays of the host");
        else if ((r->kind & MATRICES) && !floats && diag_error_count(c->d) == 0)
            ERR(c, r->at, DIAG_DERIVE_ROWS, kind_name(r->kind), s->name, "it has no result of floats");
    }
}
