/* Statements. */
#include <string.h>

#include "check/check.h"
#include "util/strbuf.h"

/* ---- let, var ---- */

static sym *declare_local(checker *c, const ast_name *n, const ty *type, bool mutable_)
{
    sym *s = scope_declare(c, SYM_LOCAL, n->name, n->span);
    sym_set_local(c, s, n->name, type, mutable_, report_span(c, n->span).begin);
    s->what = mutable_ ? "a 'var'" : "a 'let'";
    return s;
}

/* The locals that a symbol is, behind those in `out`. */
static int list_parts(const sym *s, tx_local **out)
{
    const int n = ty_nleaves(s->local->type);
    for (int k = 0; k < n; k++)
        out[k] = s->parts ? s->parts[k] : s->local;
    return n;
}

/* value NULL: zero. */
static void emit_local(checker *c, const sym *s, tx_expr *value, src_span at)
{
    tx_local **parts = ARENA_ARRAY(c->mem, tx_local *, ty_nleaves(s->local->type));
    const int n = list_parts(s, parts);
    if (value) {
        emit_decl(c, parts, n, value, at);
        return;
    }
    for (int k = 0; k < n; k++)
        emit_decl(c, parts + k, 1, NULL, at);
}

/* var w: T[n] = [a, b]; : the list's elements one by one. */
static void fill_array(checker *c, sym *s, const ast_expr *list, const ty *array, long at[], int dim)
{
    if (list->kind != AST_EXPR_LIST || ast_count(list->args) != array->extents[dim]) {
        ERR(c, list->span, DIAG_ARRAY_LIST, array->extents[dim]);
        return;
    }
    at[dim] = 0;
    for (const ast_expr *e = list->args; e; e = e->next, at[dim]++) {
        if (dim + 1 < array->ndim) {
            fill_array(c, s, e, array, at, dim + 1);
            continue;
        }
        place p = {.kind = PLACE_LOCAL,
                   .sym = s,
                   .local = s->local,
                   .whole = array->of,
                   .type = array->of,
                   .all = true,
                   .nsubs = array->ndim,
                   .at = e->span};
        p.subs = ARENA_ARRAY(c->mem, tx_expr *, array->ndim);
        for (int k = 0; k < array->ndim; k++)
            p.subs[k] = val_const_i(c, SC_I64, at[k], e->span).e;
        val v = convert(c, check_expr(c, e), array->of, e->span);
        if (!val_bad(v))
            store_place(c, &p, TX_ASSIGN, v.e, IR_RED_ADD, e->span);
    }
}

static bool has_constant_extents(const ty *array)
{
    for (int k = 0; k < array->ndim; k++)
        if (array->extents[k] < 0)
            return false;
    return true;
}

static void check_array_decl(checker *c, const ast_stmt *s)
{
    tx_expr **extents = ARENA_ARRAY(c->mem, tx_expr *, MAX_DIM);
    const ty *type = type_local_array(c, s->type, extents);
    const bool constant = type->kind != TY_ARRAY || has_constant_extents(type);
    if (s->value && !constant) {
        ERR(c, s->type->span, DIAG_NOT_CONSTANT, "the extent of an array with values");
        type = ty_error(c->types);
    }
    for (const ast_name *n = s->names; n; n = n->next) {
        sym *l = declare_local(c, n, type, true);
        if (!constant)
            local_set_extents(l, extents);
        long at[MAX_DIM];
        if (s->kind == AST_STMT_LET)
            ERR(c, s->span, DIAG_ARRAY_LET);
        emit_local(c, l, NULL, s->span);
        if (s->value && type->kind == TY_ARRAY)
            fill_array(c, l, s->value, type, at, 0);
    }
}

static void tuple_count(checker *c, src_span at, int names, int results)
{
    ERR(c, at, DIAG_TUPLE_COUNT, names, names == 1 ? "" : "s", results, results == 1 ? "" : "s");
}

/* The arguments with floats of f.grad(...), f.jacobian(...), f.hessian(...) each have a result: their names. */
static void hint_derivatives(checker *c, const ast_expr *e)
{
    const ast_expr *callee = e->kind == AST_EXPR_CALL ? e->a : e;
    const sym *f = callee->kind == AST_EXPR_MEMBER && strcmp(callee->name, "jvp") && callee->a->kind == AST_EXPR_NAME
                       ? names_lookup(c, callee->a->name, callee->a->span)
                       : NULL;
    const instance *i = f && f->kind == SYM_FUNC && !f->prelude ? c->fn->inst->callees->to : NULL;
    const char *names = "";
    const bool hess = i && !strcmp(callee->name, "hessian");
    int k = 0;
    for (const ast_param *p = i ? f->item->params : NULL; p; p = p->next, k++) {
        int n = k;
        for (const ast_param *q = p; q && ty_has_floats(i->args[k]); q = hess ? q->next : NULL, n++)
            if (ty_has_floats(i->args[n]))
                names = arena_printf(c->mem, "%s%sby_%s%s%s", names, *names ? ", " : "", p->name, hess ? "_" : "",
                                     hess ? q->name : "");
    }
    if (*names)
        NOTE(c, e->span, "each argument with floats has a result: let %s = %s.%s(...);", names, f->name, callee->name);
}

/* let a, b = v; */
static void check_apart_decl(checker *c, const ast_stmt *s, val v, int n)
{
    val *parts = ARENA_ARRAY(c->mem, val, n);
    const bool ok = take_apart(c, v, n, parts, "name", s->span);
    int k = 0;
    for (const ast_name *name = s->names; name; name = name->next, k++) {
        const val part = ok ? parts[k] : val_error(c, s->span);
        sym *l = declare_local(c, name, part.e->type, s->kind == AST_STMT_VAR);
        if (v.lost.literals && s->kind == AST_STMT_LET)
            l->lost = v.lost;
        emit_local(c, l, part.e, s->span);
    }
}

/* let a, b = e, f; : no name is there before all values are. */
static void check_several_decl(checker *c, const ast_stmt *s, int n)
{
    const int count = ast_count(s->values);
    const ty *type = s->type ? type_resolve(c, s->type) : NULL;
    val *v = ARENA_ARRAY(c->mem, val, count + n);
    int k = 0;
    for (const ast_expr *e = s->values; e; e = e->next, k++) {
        v[k] = check_expr(c, e);
        if (!val_bad(v[k]) && !ty_is_value(v[k].e->type)) {
            not_a_value(c, v[k], e->span);
            v[k] = val_error(c, e->span);
        }
        v[k] = type ? convert(c, v[k], type, e->span) : v[k];
    }
    if (count != n)
        ERR(c, s->span, DIAG_PARTS, n, "name", count, "s", "this list");
    k = 0;
    for (const ast_name *name = s->names; name; name = name->next, k++) {
        const val given = k < count ? v[k] : val_error(c, s->span), settled = settle(c, given);
        sym *l = declare_local(c, name, settled.e->type, s->kind == AST_STMT_VAR);
        l->int_literal = !type && given.soft == SOFT_INT;
        if (given.lost.literals && !type && s->kind == AST_STMT_LET)
            l->lost = given.lost;
        emit_local(c, l, settled.e, s->span);
    }
}

static void check_tuple_decl(checker *c, const ast_stmt *s, int n)
{
    if (s->type)
        ERR(c, s->type->span, DIAG_TUPLE_TYPE);
    val v = check_expr(c, s->value);
    const ty *t = v.e->type;
    if (t->kind == TY_VEC || t->kind == TY_MAT) {
        const lossy lost = v.lost;
        v = settle(c, v);
        v.lost = lost;
        check_apart_decl(c, s, v, n);
        return;
    }
    bool ok = t->kind == TY_TUPLE && t->nmembers == n;
    if (!ok && !val_bad(v) && !s->type)
        tuple_count(c, s->span, n, t->kind == TY_TUPLE ? t->nmembers : t->kind != TY_VOID);
    if (!ok && t->kind == TY_TUPLE && !s->type)
        hint_derivatives(c, s->value);
    tx_stmt *d = emit_stmt(c, TX_DECL, s->span);
    int leaves = n, k = 0;
    for (int i = 0; ok && i < n; i++)
        leaves += ty_nleaves(t->members[i]);
    d->locals = ARENA_ARRAY(c->mem, tx_local *, leaves);
    d->value = v.e;
    for (const ast_name *name = s->names; name; name = name->next)
        d->nlocals += list_parts(
            declare_local(c, name, ok ? t->members[k++] : ty_error(c->types), s->kind == AST_STMT_VAR),
            d->locals + d->nlocals);
}

static void check_decl(checker *c, const ast_stmt *s)
{
    int n = 0;
    for (const ast_name *name = s->names; name; name = name->next)
        n++;
    if (s->values) {
        check_several_decl(c, s, n);
        return;
    }
    if (n > 1 && s->value) {
        check_tuple_decl(c, s, n);
        return;
    }
    if (s->type && s->type->kind == AST_TYPE_ARRAY) {
        check_array_decl(c, s);
        return;
    }
    const ty *type = s->type ? type_resolve(c, s->type) : NULL;
    if (type && type->kind == TY_TUPLE) {
        ERR(c, s->type->span, DIAG_NOT_SCALAR_TYPE, "a local", ty_name(c->types, type));
        type = ty_error(c->types);
    }
    if (!s->value && (!type || s->kind == AST_STMT_LET)) {
        ERR(c, s->span, DIAG_NEEDS_TYPE,
            s->kind == AST_STMT_LET ? "a 'let' needs a value" : "a 'var' without value needs a type");
        type = ty_error(c->types);
    }
    val v = {0};
    bool literal = false;
    lossy lost = {0};
    src_span divided = {0};
    if (s->value) {
        v = check_expr(c, s->value);
        literal = !type && v.soft == SOFT_INT;
        if (v.lost.literals && !type && s->kind == AST_STMT_LET)
            lost = v.lost;
        else if (v.lost.kind == CUT_DIVISION && !type && s->kind == AST_STMT_LET)
            divided = v.lost.at;
        if (v.e->type->kind == TY_TUPLE) {
            tuple_count(c, s->span, 1, v.e->type->nmembers);
            hint_derivatives(c, s->value);
            v = val_error(c, s->span);
        } else if (!val_bad(v) && !ty_is_value(v.e->type)) {
            not_a_value(c, v, s->value->span);
            v = val_error(c, s->span);
        }
        v = type ? convert(c, v, type, s->value->span) : settle(c, v);
    }
    for (const ast_name *name = s->names; name; name = name->next) {
        sym *l = declare_local(c, name, type ? type : v.e->type, s->kind == AST_STMT_VAR);
        l->divided = divided;
        l->int_literal = literal;
        l->lost = lost;
        emit_local(c, l, v.e, s->span);
    }
}

/* ---- parameters of a kernel that is made of another ---- */

/* A name for what its argument is: a field, or a value of the module. */
static void declare_bound_one(checker *c, fn *f, const ast_param *p, const ast_expr *e)
{
    val v;
    if (!p->type && argument_by_name(c, e, NAME_IS_FIELD, &v) && v.ref) {
        const sym *s = declare_field(c, f, p, v.ref);
        emit_bindings(c, v.ref->lead_bound, e->span);
        for (int k = 0; k < s->nlead; k++)
            emit_decl(c, &s->lead[k]->local, 1, v.ref->lead[k], e->span);
        return;
    }
    v = check_value(c, e);
    if (p->type && !val_bad(v))
        v = convert(c, v, type_resolve(c, p->type), e->span);
    sym *s = scope_declare(c, SYM_LOCAL, p->name, p->span);
    sym_set_local(c, s, p->name, v.e->type, false, report_span(c, p->span).begin);
    s->what = "a parameter";
    emit_decl(c, s->parts ? s->parts : &s->local, ty_nleaves(v.e->type), v.e, e->span);
}

void declare_bound(checker *c, fn *f)
{
    const ast_item *it = f->sym->item;
    const ast_param *p = it->bound;
    for (const ast_expr *e = p ? it->args : NULL; e; e = e->next, p = p->next)
        declare_bound_one(c, f, p, e);
}

/* ---- calls as statements ---- */

static void add_escaped(strbuf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '%')
            sb_addc(b, '%');
        sb_addc(b, *text);
    }
}

static void print_value(checker *c, strbuf *b, tx_stmt *s, int *cap, val v);

/* S(a, b, ...), as it would be written. */
static void print_struct(checker *c, strbuf *b, tx_stmt *s, int *cap, val v)
{
    const ty *t = v.e->type;
    binding *list = NULL;
    tx_expr *e = struct_bound(c, v.e, &list);
    emit_bindings(c, list, span_at(v.e->loc));
    sb_printf(b, "%s(", t->name);
    for (int k = 0; k < t->nmembers; k++) {
        const ty *m = t->members[k];
        sb_add(b, k ? ", " : "");
        print_value(c, b, s, cap,
                    val_typed(m->kind == TY_STRUCT ? group_new(c, m, e->args + t->first[k], span_at(e->loc))
                                                   : e->args[t->first[k]]));
    }
    sb_add(b, ")");
}

/* One %v for each component; vectors and matrices in brackets. */
static void print_value(checker *c, strbuf *b, tx_stmt *s, int *cap, val v)
{
    const ty *t = v.e->type;
    if (t->kind == TY_STRUCT) {
        print_struct(c, b, s, cap, v);
        return;
    }
    int n = ty_ncomp(t);
    binding *list = NULL;
    tx_expr *e = n > 1 ? bind_repeated(c, v.e, &list) : v.e;
    emit_bindings(c, list, span_at(v.e->loc));
    for (int k = 0; k < n; k++) {
        bool mat = t->kind == TY_MAT;
        if (k > 0)
            sb_add(b, mat && k % t->cols == 0 ? "], [" : ", ");
        else if (t->kind != TY_SCALAR)
            sb_add(b, mat ? "[[" : "[");
        sb_add(b, "%v");
        if (s->nvalues == *cap) {
            tx_expr **grown = ARENA_ARRAY(c->mem, tx_expr *, 2 * *cap + 8);
            if (s->nvalues)
                memcpy(grown, s->values, (size_t)s->nvalues * sizeof *grown);
            s->values = grown;
            *cap = 2 * *cap + 8;
        }
        s->values[s->nvalues++] = component_of(c, e, k);
    }
    if (t->kind != TY_SCALAR)
        sb_add(b, t->kind == TY_MAT ? "]]" : "]");
}

static void check_print(checker *c, const ast_expr *call)
{
    tx_stmt collected = {0};
    strbuf text = {0};
    int cap = 0;
    bool bad = false;
    if (!call->args)
        bad = !ERR(c, call->span, DIAG_ARGUMENT_COUNT, "print", "1 or more arguments", 0);
    for (const ast_expr *e = call->args; e; e = e->next) {
        if (e != call->args)
            sb_addc(&text, ' ');
        if (e->kind == AST_EXPR_STRING) {
            add_escaped(&text, e->text);
            continue;
        }
        val v = check_value(c, e);
        bad = bad || val_bad(v);
        if (!val_bad(v))
            print_value(c, &text, &collected, &cap, v);
    }
    sb_addc(&text, '\n');
    note_impure(c, NULL, "print", call->span);
    if (!bad) {
        tx_stmt *s = emit_stmt(c, TX_PRINT, call->span);
        s->text = arena_strdup(c->mem, sb_str(&text));
        s->values = collected.values;
        s->nvalues = collected.nvalues;
    }
    sb_free(&text);
}

static void check_assert(checker *c, const ast_expr *call)
{
    int n = ast_count(call->args);
    if (n < 1 || n > 2) {
        ERR(c, call->span, DIAG_ARGUMENT_COUNT, "assert", "a condition and a text", n);
        return;
    }
    const ast_expr *text = call->args->next;
    tx_expr *cond = check_condition(c, call->args, "the condition of 'assert'");
    if (text && text->kind != AST_EXPR_STRING) {
        ERR(c, text->span, DIAG_ASSERT_TEXT);
        return;
    }
    tx_stmt *s = emit_stmt(c, TX_ASSERT, call->span);
    s->cond = cond;
    s->text = text ? text->text : "assertion failed";
    s->derivative = c->fn->sym->prelude;
}

static void check_stop_grad(checker *c, const ast_expr *call)
{
    const ast_expr *arg = call->args;
    const sym *s = arg && arg->kind == AST_EXPR_NAME ? names_use(c, arg->name, arg->span) : NULL;
    if (!s || arg->next || s->kind != SYM_FIELD) {
        ERR(c, call->span, DIAG_STOP_GRAD);
        NOTE(c, call->span, "as an expression, stop_grad(e) is the value of e without its derivative");
        return;
    }
    if (s->refused)
        return;
    if (s->nlead) {
        ERR(c, call->span, DIAG_STOP_GRAD);
        NOTE(c, call->span,
             "'%s' is a slab here, and other slabs of its field would be stopped as well: stop its elements, "
             "stop_grad(%s[...])",
             s->name, s->name);
        return;
    }
    const int n = s->members ? ty_nleaves(s->type) : 1;
    for (int k = 0; k < n; k++) {
        stopped *stop = ARENA_NEW(c->mem, stopped);
        stop->field = s->members ? s->members[k] : s->field;
        stop->next = c->fn->scope->stops;
        c->fn->scope->stops = stop;
    }
}

static void check_require(checker *c, const ast_expr *call)
{
    bool holds = false;
    if (!const_bool(c, call->args, "a requirement of the prelude", &holds))
        c->fn->stop = true;
    else if (!holds) {
        const ast_expr *text = call->args->next;
        c->fn->stop = !ERR(c, call->span, DIAG_BUILTIN_ARGUMENTS, text->text);
        if (text->next)
            NOTE(c, call->span, "%s", text->next->text);
    }
}

static bool check_builtin_statement(checker *c, const ast_expr *e)
{
    const char *name = e->kind == AST_EXPR_CALL && e->a->kind == AST_EXPR_NAME ? e->a->name : "";
    const statement_builtin *s = statement_find(name, c->fn->sym->prelude);
    if (!s || names_lookup(c, name, e->a->span))
        return check_fill(c, e) || check_atomic_statement(c, e);
    switch (s->call) {
    case CALL_PRINT:
        check_print(c, e);
        break;
    case CALL_ASSERT:
        check_assert(c, e);
        break;
    case CALL_STOP_GRAD:
        check_stop_grad(c, e);
        break;
    case CALL_REQUIRE:
        check_require(c, e);
        break;
    }
    return true;
}

void check_call_statement(checker *c, const ast_stmt *s)
{
    const ast_expr *e = s->value;
    if (e->kind != AST_EXPR_CALL && e->kind != AST_EXPR_TYPECALL) {
        val v = check_expr(c, e);
        if (val_bad(v))
            return;
        ERR(c, e->span, DIAG_DISCARDED);
        if (e->kind == AST_EXPR_BINARY && e->binop == AST_EQ)
            NOTE(c, e->op_span, "an assignment is written '='");
        return;
    }
    if (!check_builtin_statement(c, e)) {
        val v = e->kind == AST_EXPR_CALL ? check_call(c, e, true) : check_expr(c, e);
        if (val_bad(v))
            return;
        if (v.e->type->kind != TY_VOID) {
            ERR(c, e->span, DIAG_DISCARDED);
            return;
        }
        tx_expr *call = emit_lets(c, v.e, s->span); /* before the statement is there */
        emit_stmt(c, TX_EXPR, s->span)->value = call;
    }
}

/* ---- return ---- */

/* The first return of a function without declared result tells what it returns. */
static void infer_result(checker *c, const val *v, int n)
{
    const ty **types = ARENA_ARRAY(c->mem, const ty *, n + 1);
    for (int k = 0; k < n; k++)
        types[k] = v[k].e->type;
    c->fn->result = n == 0 ? ty_void(c->types) : n == 1 ? types[0] : ty_tuple(c->types, n, types);
}

static void emit_return(checker *c, const val *v, int n, src_span at)
{
    tx_expr **given = ARENA_ARRAY(c->mem, tx_expr *, n + 1);
    for (int k = 0; k < n; k++)
        given[k] = v[k].e->type->kind == TY_TUPLE ? emit_lets(c, v[k].e, at) : v[k].e;
    binding *list = NULL;
    tx_expr **values = ARENA_ARRAY(c->mem, tx_expr *, count_leaves(given, n) + 1);
    const int nvalues = spread_values(c, given, n, values, &list);
    emit_bindings(c, list, at);
    tx_stmt *t = emit_stmt(c, TX_RETURN, at);
    t->nvalues = nvalues;
    t->values = values;
}

void check_return(checker *c, const ast_stmt *s)
{
    if (c->fn->task) {
        ERR(c, s->span, DIAG_LEAVES_TASK, "return");
        NOTE(c, s->span, "'continue' ends this iteration");
        return;
    }
    int n = ast_count(s->values), k = 0;
    val *v = ARENA_ARRAY(c->mem, val, n + 1);
    bool bad = false;
    for (const ast_expr *e = s->values; e; e = e->next, k++) {
        v[k] = check_expr(c, e);
        bool tuple = v[k].e->type->kind == TY_TUPLE && n == 1;
        if (!val_bad(v[k]) && !tuple && !ty_is_value(v[k].e->type)) {
            not_a_value(c, v[k], e->span);
            bad = true;
        }
        if (!c->fn->result)
            v[k] = settle(c, v[k]);
        bad = bad || val_bad(v[k]);
    }
    if (bad) {
        if (!c->fn->result)
            c->fn->result = ty_error(c->types);
        return;
    }
    if (!c->fn->result)
        infer_result(c, v, n);
    const ty *t = c->fn->result;
    int want = t->kind == TY_VOID ? 0 : t->kind == TY_TUPLE ? t->nmembers : 1;
    if (t->kind == TY_ERROR)
        return;
    if (n == 1 && v[0].e->type == t && t->kind == TY_TUPLE) {
        emit_return(c, v, 1, s->span);
        return;
    }
    const ty *several = n == 1 && v[0].e->type->kind == TY_TUPLE ? v[0].e->type : NULL; /* results of a call */
    if (several && several->nmembers == want) {
        ERR(c, s->span, DIAG_CONVERT, ty_name(c->types, several), ty_name(c->types, t));
    } else if (several || n != want) {
        ERR(c, s->span, DIAG_RETURN_COUNT, c->fn->sym->name, want, want == 1 ? "" : "s",
            several ? several->nmembers : n);
    }
    if (several)
        NOTE(c, s->span, "give the results names, 'let a, b = ...;', and return what is wanted of them");
    if (several || n != want)
        return;
    k = 0;
    for (const ast_expr *e = s->values; e; e = e->next, k++) {
        v[k] = convert(c, v[k], t->kind == TY_TUPLE ? t->members[k] : t, e->span);
        bad = bad || val_bad(v[k]);
    }
    if (!bad)
        emit_return(c, v, n, s->span);
}

/* ---- control flow ---- */

bool check_block(checker *c, const ast_stmt *list, tx_stmt **out)
{
    scope s;
    tx_stmt **tail = c->fn->tail;
    c->fn->tail = out;
    scope_push(c, &s);
    bool falls = check_stmts(c, list);
    scope_pop(c);
    c->fn->tail = tail;
    return falls;
}

static bool check_static_if(checker *c, const ast_stmt *s)
{
    bool yes;
    if (!const_bool(c, s->cond, "the condition of 'static if'", &yes))
        return true;
    tx_stmt *b = emit_stmt(c, TX_BLOCK, s->span);
    return check_block(c, yes ? s->body : s->else_body, &b->body);
}

static bool check_if(checker *c, const ast_stmt *s)
{
    if (s->is_static)
        return check_static_if(c, s);
    if (check_winner(c, s))
        return true;
    tx_expr *cond = check_condition(c, s->cond, "the condition of 'if'");
    tx_stmt *t = emit_stmt(c, TX_IF, s->span);
    t->cond = cond;
    bool then_falls = check_block(c, s->body, &t->body);
    bool else_falls = check_block(c, s->else_body, &t->else_body);
    return then_falls || else_falls;
}

static bool check_jump(checker *c, const ast_stmt *s)
{
    bool is_break = s->kind == AST_STMT_BREAK;
    const char *word = is_break ? "break" : "continue";
    loop *l = c->fn->loop;
    if (!l) {
        ERR(c, s->span, DIAG_OUTSIDE_LOOP, word);
    } else if (l->kind == LOOP_STATIC) {
        ERR(c, s->span, DIAG_STATIC_JUMP, word);
    } else if (l->kind == LOOP_TASK && is_break) {
        ERR(c, s->span, DIAG_LEAVES_TASK, word);
        NOTE(c, s->span, "its iterations are unordered; 'serial for' runs them one after the other");
    } else {
        l->broken = l->broken || is_break;
        emit_stmt(c, is_break ? TX_BREAK : TX_CONTINUE, s->span);
        return false;
    }
    return true;
}

static bool check_stmt(checker *c, const ast_stmt *s)
{
    switch (s->kind) {
    case AST_STMT_LET:
    case AST_STMT_VAR:
        check_decl(c, s);
        return true;
    case AST_STMT_ASSIGN:
        check_assign(c, s);
        return true;
    case AST_STMT_SEVERAL:
        check_assign_several(c, s);
        return true;
    case AST_STMT_EXPR:
        check_call_statement(c, s);
        return true;
    case AST_STMT_IF:
        return check_if(c, s);
    case AST_STMT_FOR:
    case AST_STMT_WHILE:
        return check_loop(c, s);
    case AST_STMT_BREAK:
    case AST_STMT_CONTINUE:
        return check_jump(c, s);
    case AST_STMT_RETURN:
        check_return(c, s);
        return false;
    case AST_STMT_BLOCK:
        return check_block(c, s->body, &emit_stmt(c, TX_BLOCK, s->span)->body);
    }
    return true;
}

bool check_stmts(checker *c, const ast_stmt *list)
{
    bool falls = true, warned = false;
    for (const ast_stmt *s = list; s && !c->fn->stop && !diag_too_many(c->d); s = s->next) {
        if (too_deep(c, s->span))
            return true;
        if (!falls && !warned && !c->fn->sym->prelude) {
            ERR(c, s->span, DIAG_UNREACHABLE);
            warned = true;
        }
        c->depth++;
        falls = check_stmt(c, s) && falls;
        c->depth--;
    }
    return falls;
}
