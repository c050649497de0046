/* Calls: of functions of the program, of operations, of the prelude, and of functions that are computed at compile
 * time. */
#include <float.h>
#include <string.h>

#include "check/check.h"

static const char *arguments(checker *c, int n)
{
    return n == 1 ? "1 argument" : arena_printf(c->mem, "%d arguments", n);
}

static val call_op(checker *c, ir_opcode op, val *args, int n, src_span at)
{
    const op_info *info = op_get(op);
    bool chain = op == OP_MIN || op == OP_MAX;
    if (chain ? n < 2 : n != info->arity)
        return wrong_count(c, info->name, chain ? "2 or more arguments" : arguments(c, info->arity), n, at);
    if (op == OP_SELECT && args[1].e->type->kind == TY_STRUCT)
        return select_struct(c, args, at);
    if (op == OP_STOP && args[0].e->type->kind == TY_STRUCT)
        return stop_struct(c, args[0], at);
    if (!chain)
        return apply_op(c, op, args, n, at);
    val r = args[0];
    for (int k = 1; k < n; k++)
        r = apply_op(c, op, (val[]){r, args[k]}, 2, at);
    return r;
}

/* ---- what is known at compile time ---- */

static val soft_count(checker *c, int64_t n, src_span at)
{
    val v = val_const_i(c, SC_I64, n, at);
    v.soft = SOFT_INT;
    return v;
}

static val call_size(checker *c, static_call call, const ast_expr *e)
{
    place p;
    place_resolve(c, e->args, &p);
    if (p.kind == PLACE_BAD)
        return val_error(c, e->span);
    const ty *t = p.kind == PLACE_LOCAL && p.missing > 0 ? p.local->type : p.type;
    if (p.kind == PLACE_FIELD && call == CALL_LEN && p.missing > 0 && p.missing == sym_ndim(p.sym))
        return p.sym->extents[0] > 0 ? soft_count(c, p.sym->extents[0], e->span)
                                     : cast_to(c, val_typed(extent_of(c, p.sym, 0, e->span)), SC_I32, e->span);
    if (t->kind == TY_ARRAY && call == CALL_LEN && t->extents[0] < 0)
        return cast_to(c, val_typed(extent_of(c, p.sym, 0, e->span)), SC_I32, e->span);
    if (t->kind == TY_ARRAY && call == CALL_LEN)
        return soft_count(c, t->extents[0], e->span);
    if (!place_complete(c, &p, e->args->span))
        return val_error(c, e->span);
    if (t->kind == TY_MAT && call != CALL_LEN)
        return soft_count(c, call == CALL_COLS ? t->cols : t->rows, e->span);
    if (t->kind == TY_VEC && call == CALL_LEN)
        return soft_count(c, t->rows, e->span);
    ERR(c, e->args->span, DIAG_ARGUMENT,
        call == CALL_LEN    ? "len"
        : call == CALL_ROWS ? "rows"
                            : "cols",
        ty_name(c->types, t));
    return val_error(c, e->span);
}

static val zero_matrix(checker *c, const ty *t, bool unit, src_span at)
{
    tx_expr *e = tx_new(c, TX_BUILD, t, at);
    e->nargs = ty_ncomp(t);
    e->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
    for (int k = 0; k < e->nargs; k++) {
        e->args[k] = tx_new(c, TX_CONST, ty_scalar(c->types, t->elem), at);
        if (unit && k / t->cols == k % t->cols)
            e->args[k]->cval.f = 1.0;
    }
    return val_typed(e);
}

static val call_static(checker *c, static_call call, const ast_expr *e)
{
    if (call <= CALL_COLS)
        return call_size(c, call, e);
    if (call == CALL_IDENTITY || call == CALL_ZEROS_LIKE) {
        long size[2] = {type_size(c, e->args, "the size of a matrix", 32), 0};
        const ast_expr *last = e->args->next;
        if (call == CALL_IDENTITY)
            return size[0] ? zero_matrix(c, ty_mat(c->types, (int)size[0], (int)size[0], c->opt->real), true, e->span)
                           : val_error(c, e->span);
        if (last->next) {
            size[1] = type_size(c, last, "the size of a matrix", MAX_COMPONENTS);
            last = last->next;
        }
        scalar s = check_value(c, last).e->type->elem;
        if (!size[0] || s == SC_NONE)
            return val_error(c, e->span);
        return zero_matrix(
            c, size[1] ? ty_mat(c->types, (int)size[0], (int)size[1], s) : ty_vec(c->types, (int)size[0], s), false,
            e->span);
    }
    if (call == CALL_TAKES_VEC)
        return val_const_i(c, SC_BOOL, takes_vector(c, names_lookup(c, e->args->name, e->args->span)->stands_for),
                           e->span);
    val v = check_value(c, e->args);
    if (val_bad(v))
        return v;
    const ty *t = v.e->type;
    if (call == CALL_TO_ELEM) {
        val like = check_value(c, e->args->next);
        return val_bad(like) ? like : cast_to(c, v, like.e->type->elem, e->span);
    }
    if (call == CALL_EPSILON) {
        tx_expr *x = tx_new(c, TX_CONST, ty_scalar(c->types, t->elem), e->span);
        x->cval.f = t->elem == SC_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
        return val_typed(x);
    }
    bool yes = call == CALL_IS_VEC    ? t->kind == TY_VEC
               : call == CALL_IS_MAT  ? t->kind == TY_MAT
               : call == CALL_IS_BOOL ? t->elem == SC_BOOL
                                      : scalar_is_float(t->elem);
    return val_const_i(c, SC_BOOL, yes, e->span);
}

/* ---- arguments ---- */

typedef struct arg_list {
    val *v;
    src_span *spans;
    int n;
    bool bad;
} arg_list;

static val reference_to(checker *c, sym *s, const ast_expr *e)
{
    const ty *t = s->kind == SYM_FIELD ? ty_array(c->types, s->type, sym_ndim(s), s->extents) : s->local->type;
    return (val){.e = tx_new(c, TX_LOCAL, t, e->span), .ref = s};
}

/* x[t]: a field of its own, whose first subscripts are given. With all of them it is an element. */
static val slab_value(checker *c, const ast_expr *e, place *p)
{
    if (p->kind == PLACE_BAD)
        return val_error(c, e->span);
    if (p->missing == 0)
        return place_value(c, p, true);
    const int given = p->nsubs - p->sym->nlead;
    sym *s = ARENA_NEW(c->mem, sym);
    *s = *p->sym;
    s->lead_bound = p->bindings;
    s->nlead = p->nsubs;
    s->lead = p->subs;
    s->extents = p->sym->extents ? p->sym->extents + given : NULL;
    s->dims = p->sym->dims ? p->sym->dims + given : NULL;
    return reference_to(c, s, e);
}

/* Of the program, of the prelude, or an operation of one number. */
static bool function_by_name(checker *c, const ast_expr *e, val *v)
{
    if (e->kind != AST_EXPR_NAME)
        return false;
    sym *s = names_use(c, e->name, e->span);
    const ir_opcode op = s ? OP_COUNT : op_find_user(e->name);
    if (s && s->stands_for)
        s = s->stands_for;
    if (op != OP_COUNT && op_get(op)->arity == 1) {
        s = ARENA_NEW(c->mem, sym);
        *s = (sym){.kind = SYM_FUNC, .name = e->name, .span = e->span, .nparams = 1};
    }
    if (!s || s->kind != SYM_FUNC)
        return false;
    *v = (val){.e = tx_new(c, TX_LOCAL, ty_void(c->types), e->span), .ref = s};
    return true;
}

bool argument_by_name(checker *c, const ast_expr *e, by_name names, val *v)
{
    place p;
    if (names == NAME_IS_VALUE)
        return false;
    if (names == NAME_IS_FUNC)
        return function_by_name(c, e, v);
    if (place_slab(c, e, &p)) {
        *v = slab_value(c, e, &p);
        return true;
    }
    sym *s = e->kind == AST_EXPR_NAME ? names_use(c, e->name, e->span) : NULL;
    const bool field = s && s->kind == SYM_FIELD && !s->refused && s->type && s->type->kind != TY_ERROR &&
                       (sym_ndim(s) > 0 || names == NAME_IS_FIELD);
    if (!field && !(s && s->kind == SYM_LOCAL && s->local->type->kind == TY_ARRAY))
        return false;
    *v = reference_to(c, s, e);
    return true;
}

/* takes: the parameters, where some have a type and others not; a 0-D field is a value to the former. */
static arg_list check_args_for(checker *c, const ast_expr *self, const ast_expr *args, by_name names,
                               const ast_param *takes)
{
    int n = ast_count(args) + (self != NULL);
    arg_list a = {.v = ARENA_ARRAY(c->mem, val, n + 1), .spans = ARENA_ARRAY(c->mem, src_span, n + 1)};
    for (const ast_expr *e = self ? self : args; e; e = e == self ? args : e->next) {
        val v;
        const by_name which = names == NAME_IS_FUNC && (e == self || e->next)  ? NAME_IS_VALUE
                              : takes && takes->type && names == NAME_IS_FIELD ? NAME_IS_ARRAY
                                                                               : names;
        if (!argument_by_name(c, e, which, &v))
            v = check_expr(c, e);
        takes = takes ? takes->next : NULL;
        if (!val_bad(v) && !v.ref && !ty_is_value(v.e->type)) {
            not_a_value(c, v, e->span);
            v = val_error(c, e->span);
        }
        a.bad = a.bad || val_bad(v);
        a.spans[a.n] = e->span;
        a.v[a.n++] = v;
    }
    return a;
}

static arg_list check_args(checker *c, const ast_expr *self, const ast_expr *args, by_name names)
{
    return check_args_for(c, self, args, names, NULL);
}

/* ---- random numbers ---- */

/* random_int(n), random_int(a, b): bounds as those of a range, of one integer type. */
static val random_int(checker *c, const ast_expr *e, tx_expr *t)
{
    arg_list a = check_args(c, NULL, e->args, NAME_IS_VALUE);
    if (a.bad)
        return val_error(c, e->span);
    if (a.n != 1 && a.n != 2)
        return wrong_count(c, "random_int", "1 or 2 arguments", a.n, e->span);
    for (int k = 0; k < a.n; k++)
        if (a.v[k].e->type->kind != TY_SCALAR || !scalar_is_int(a.v[k].e->type->elem)) {
            ERR(c, a.spans[k], DIAG_NOT_INTEGER, "a bound of 'random_int'", name_of(c, a.v[k]));
            return val_error(c, e->span);
        }
    if (!unify(c, a.v, a.n, "random_int", e->span))
        return val_error(c, e->span);
    for (int k = 0; k < a.n; k++)
        a.v[k] = settle(c, a.v[k]);
    if (a.n == 2 && a.v[0].e->type != a.v[1].e->type) { /* two literals of different widths */
        for (int k = 0; k < 2; k++)
            a.v[k] = cast_to(c, a.v[k], SC_I64, e->span);
    }
    t->type = a.v[0].e->type;
    t->opcode = OP_BELOW;
    t->nargs = 2;
    t->args = ARENA_ARRAY(c->mem, tx_expr *, 2);
    t->args[0] = a.n == 2 ? a.v[0].e : val_const_i(c, t->type->elem, 0, e->span).e;
    t->args[1] = a.v[a.n - 1].e;
    return val_typed(t);
}

/* Each check of a call is a place of its own: instances of generic functions and copies of an unrolled loop draw
 * different numbers. */
static val call_random(checker *c, const char *name, const ast_expr *e)
{
    if (c->constant || !c->fn)
        return called_too_early(c, e->span);
    note_impure(c, "the built-in function", name, e->span);
    tx_expr *t = tx_new(c, TX_RANDOM, ty_scalar(c->types, SC_F64), e->span);
    if (!strcmp(name, "random_int")) {
        val v = random_int(c, e, t);
        t->site = ++c->fn->tx->nsites;
        return v;
    }
    t->site = ++c->fn->tx->nsites;
    t->opcode = strcmp(name, "randn") ? OP_RANDOM : OP_RANDN;
    if (e->args)
        return wrong_count(c, name, "0 arguments", ast_count(e->args), e->span);
    return (val){.e = t, .soft = SOFT_FLOAT};
}

/* ---- by name ---- */

/* Literals for parameters without type take the float type of the other arguments. */
static void adapt_literals(checker *c, const sym *s, arg_list *a, bool integers)
{
    const ast_param *p = s->item->params;
    scalar widest = SC_NONE;
    for (int k = 0; k < a->n; k++) {
        scalar type = a->v[k].e->type->elem;
        if (a->v[k].soft == SOFT_NO && scalar_is_float(type) && widest != SC_F64)
            widest = type;
    }
    for (int k = 0; k < a->n; k++, p = p ? p->next : NULL) {
        val *v = &a->v[k];
        if (p && p->type)
            continue;
        if (v->soft == SOFT_FLOAT || (v->soft == SOFT_INT && integers))
            *v = widest != SC_NONE ? convert(c, *v, ty_with_elem(c->types, v->e->type, widest), a->spans[k])
                                   : settle(c, *v);
        a->bad = a->bad || val_bad(*v);
    }
}

static val call_prelude(checker *c, sym *s, arg_list *a, src_span at)
{
    const char *name = s->name, *takes = "";
    const sym *first = s;
    while (s && s->nparams != a->n)
        s = s->overload;
    if (!s) {
        takes = arguments(c, first->nparams);
        for (const sym *o = first->overload; o; o = o->overload)
            takes = arena_printf(c->mem, "%d or %s", o->nparams, takes);
        return wrong_count(c, name, takes, a->n, at);
    }
    if (s->of_func && (!a->v[a->n - 1].ref || a->v[0].ref)) {
        ERR(c, a->spans[a->n - 1], DIAG_BUILTIN_ARGUMENTS,
            arena_printf(c->mem, "'%s' takes a matrix and the name of a function", name));
        return val_error(c, at);
    }
    for (int k = 0; k < a->n; k++)
        if (a->v[k].e->type->kind == TY_STRUCT) {
            ERR(c, a->spans[k], DIAG_ARGUMENT, name, name_of(c, a->v[k]));
            return val_error(c, at);
        }
    adapt_literals(c, s, a, true);
    const val v = a->bad ? val_error(c, at) : call_function(c, s, a->v, a->n, a->spans, at);
    if (!val_bad(v))
        check_decomposition(c, s, a->v[0].e->type, at);
    return v;
}

/* A kernel that takes fields: one with a parameter without type. */
static bool is_template(const sym *s)
{
    for (const ast_param *p = s->item->params; p; p = p->next)
        if (!p->type)
            return true;
    return false;
}

/* Outside of parallel loops only: a task holds none. adjoint: s.grad(...) */
static val call_kernel(checker *c, sym *s, const ast_expr *e, bool adjoint)
{
    if (adjoint && (takes_arrays(s) || is_template(s) || s->item->result)) {
        ERR(c, e->span, DIAG_NOT_COMPILED,
            arena_printf(c->mem, "a launch of the adjoint of '%s', which has %s, by a kernel", s->name,
                         takes_arrays(s)  ? "array parameters"
                         : is_template(s) ? "parameters without type"
                                          : "a result"));
        return val_error(c, e->span);
    }
    arg_list a = check_args_for(c, NULL, e->args,
                                is_template(s)    ? NAME_IS_FIELD
                                : takes_arrays(s) ? NAME_IS_ARRAY
                                                  : NAME_IS_VALUE,
                                s->item->params);
    if (a.bad)
        return val_error(c, e->span);
    if (c->constant || !c->fn)
        return called_too_early(c, e->span);
    if (!c->fn->is_kernel || c->fn->task || c->fn->optional) {
        const char *name = adjoint ? arena_printf(c->mem, "%s.grad", s->name) : s->name;
        const bool optional = c->fn->is_kernel && !c->fn->task;
        ERR(c, e->span, DIAG_KERNEL_CALL_PLACE, name,
            optional      ? "in a part of an expression that may be left out, or computed again"
            : c->fn->task ? "in a parallel loop"
                          : "by a function");
        NOTE(c, e->span,
             optional ? "call it in a statement of its own: let e = %s(...);"
                      : "kernels call kernels outside of their parallel loops: what both need belongs in a function",
             name);
        return val_error(c, e->span);
    }
    adapt_literals(c, s, &a, false);
    val v = a.bad ? val_error(c, e->span) : call_function(c, s, a.v, a.n, a.spans, e->span);
    if (adjoint && !val_bad(v)) {
        tx_expr *call = v.e;
        while (call->kind == TX_LET) /* around arguments that are structs */
            call = call->b;
        call->adjoint = c->fn->inst->callees->adjoint = true;
    }
    return v;
}

static by_name names_of_prelude(const sym *s)
{
    return s->of_func ? NAME_IS_FUNC : s->prelude ? NAME_IS_VALUE : NAME_IS_ARRAY;
}

static val call_builtin(checker *c, const char *name, const ast_expr *self, const ast_expr *e, src_span at);

static val call_symbol(checker *c, sym *s, const ast_expr *e)
{
    switch (s->kind) {
    case SYM_FUNC: {
        if (s->stands_for)
            return s->stands_for->item ? call_symbol(c, s->stands_for, e)
                                       : call_builtin(c, s->stands_for->name, NULL, e, e->a->span);
        arg_list a = check_args(c, NULL, e->args, names_of_prelude(s));
        if (s->refused || a.bad)
            return val_error(c, e->span);
        if (c->constant || !c->fn)
            return called_too_early(c, e->span);
        if (s->prelude)
            return call_prelude(c, s, &a, e->span);
        adapt_literals(c, s, &a, false);
        return a.bad ? val_error(c, e->span) : call_function(c, s, a.v, a.n, a.spans, e->span);
    }
    case SYM_KERNEL:
        return call_kernel(c, s, e, false);
    case SYM_STRUCT:
        return build_struct(c, s, e->args, e->span);
    case SYM_BAD:
        return val_error(c, e->span);
    case SYM_CONST:
    case SYM_PARAM:
    case SYM_FIELD:
    case SYM_LOCAL:
    case SYM_STATIC:
    case SYM_IMPORT:
        break;
    }
    ERR(c, e->a->span, DIAG_NOT_A_FUNCTION, s->name, sym_describe(s));
    if ((s->kind == SYM_FIELD && sym_ndim(s) > 0) || (s->kind == SYM_LOCAL && s->local->type->kind == TY_ARRAY))
        NOTE(c, e->a->span, "an element is written '%s[...]'", s->name);
    NOTE(c, s->span, "'%s' is declared here", s->name);
    return val_error(c, e->span);
}

/* f.jvp(x, dx) */
static val call_jvp(checker *c, sym *s, const ast_expr *e)
{
    arg_list a = check_args(c, NULL, e->args, NAME_IS_ARRAY);
    if (s->refused || a.bad)
        return val_error(c, e->span);
    if (c->constant || !c->fn)
        return called_too_early(c, e->span);
    arg_list own = a;
    own.n = a.n < s->nparams ? a.n : s->nparams;
    adapt_literals(c, s, &own, false);
    const val v = own.bad ? val_error(c, e->span) : call_function(c, s, own.v, own.n, own.spans, e->span);
    return val_bad(v) ? v : jvp_of_call(c, s, v, a.v + own.n, a.n - own.n, a.spans + own.n, e->span);
}

/* f.jac(x), f.hess(x): the names that derive(...) has for matrices. */
static bool hint_matrix(checker *c, const sym *f, const ast_expr *e)
{
    const char *name = e->a->name, *here = !strcmp(name, "jac") ? "jacobian" : !strcmp(name, "hess") ? "hessian" : NULL;
    if (!here || f->kind != SYM_FUNC)
        return false;
    ERR(c, e->a->op_span, DIAG_NO_METHOD, name);
    NOTE(c, e->a->op_span, "write %s.%s(...)", e->a->a->name, here);
    FIX(c, e->a->op_span.begin, name, here);
    return true;
}

/* The members of functions that call_derivative knows. */
static bool is_derivative(const char *name)
{
    return !strcmp(name, "grad") || !strcmp(name, "jvp") || !strcmp(name, "jacobian") || !strcmp(name, "hessian");
}

/* f.grad(x), f.jvp(x, dx), f.jacobian(x), f.hessian(x) */
static val call_derivative(checker *c, sym *s, const ast_expr *e)
{
    if (!s || s->prelude) {
        ERR(c, e->span, DIAG_FUNC_GRADIENT, e->a->a->name, "it is built in: write a function that calls it");
        return val_error(c, e->span);
    }
    if (!strcmp(e->a->name, "jvp"))
        return call_jvp(c, s, e);
    const char *name = e->a->name;
    const val v = call_symbol(c, s, e);
    if (val_bad(v))
        return v;
    return strcmp(name, "grad") ? matrix_of_call(c, s, v, e->span, !strcmp(name, "hessian"))
                                : gradient_of_call(c, s, v, e->span);
}

/* A call by a name that the program did not declare; self: the object of a method call. */
static val call_builtin(checker *c, const char *name, const ast_expr *self, const ast_expr *e, src_span at)
{
    ir_opcode op = op_find_user(name);
    if (op == OP_COUNT && c->fn && c->fn->sym->prelude)
        op = op_find_prelude(name);
    if (op != OP_COUNT) {
        arg_list a = check_args(c, self, e->args, NAME_IS_VALUE);
        return a.bad ? val_error(c, e->span) : call_op(c, op, a.v, a.n, e->span);
    }
    if (!self && is_random(name))
        return call_random(c, name, e);
    if (!self && atomic_find(name))
        return call_atomic(c, atomic_find(name), e);
    if (!self && (is_range(name) || is_statement(name, true))) {
        ERR(c, at, DIAG_STATEMENT_ONLY, name);
        return val_error(c, e->span);
    }
    const static_builtin *known = self ? NULL : static_find(name, c->fn && c->fn->sym->prelude);
    if (known) {
        int n = ast_count(e->args);
        if (n < known->least || n > known->most)
            return wrong_count(c, name, arguments(c, known->least), n, e->span);
        return call_static(c, known->call, e);
    }
    if (self) {
        val v = check_expr(c, self);
        if (val_bad(v))
            return v;
        ERR(c, at, DIAG_NO_METHOD, name);
        const sym *s = names_lookup(c, name, at);
        if (s && s->kind == SYM_FUNC)
            NOTE(c, at, "built-in functions only are methods: write %s(...)", name);
        return val_error(c, e->span);
    }
    names_unknown(c, name, at, true);
    return val_error(c, e->span);
}

static val call_method(checker *c, const ast_expr *e)
{
    const char *name = e->a->name;
    if (hint_library(c, e->a))
        return val_error(c, e->span);
    if (e->a->a->kind == AST_EXPR_NAME && is_derivative(name)) {
        sym *of = names_use(c, e->a->a->name, e->a->a->span);
        if (of && of->kind == SYM_KERNEL && !strcmp(name, "grad"))
            return call_kernel(c, of, e, true);
        if ((of && of->kind == SYM_FUNC) || (!of && is_builtin(c, e->a->a->name)))
            return call_derivative(c, of, e);
    }
    const sym *f = e->a->a->kind == AST_EXPR_NAME ? names_lookup(c, e->a->a->name, e->a->a->span) : NULL;
    if (f && hint_matrix(c, f, e))
        return val_error(c, e->span);
    sym *s = names_entry(c, name)->prelude;
    if (!s)
        return call_builtin(c, name, e->a->a, e, e->a->op_span);
    if (c->constant || !c->fn)
        return called_too_early(c, e->span);
    arg_list a = check_args(c, e->a->a, e->args, names_of_prelude(s));
    return a.bad ? val_error(c, e->span) : call_prelude(c, s, &a, e->span);
}

val check_call(checker *c, const ast_expr *e, bool as_statement)
{
    val v;
    if (e->a->kind == AST_EXPR_MEMBER) {
        v = call_method(c, e);
    } else if (e->a->kind == AST_EXPR_NAME) {
        sym *s = names_use(c, e->a->name, e->a->span);
        const ty *t = s ? NULL : type_builtin(c, e->a->name);
        v = s   ? call_symbol(c, s, e)
            : t ? build_of_type(c, t, e->args, e->span)
                : call_builtin(c, e->a->name, NULL, e, e->a->span);
    } else {
        ERR(c, e->a->span, DIAG_NOT_CALLABLE);
        return val_error(c, e->span);
    }
    if (!as_statement && v.e->type->kind == TY_VOID) {
        not_a_value(c, v, e->span);
        return val_error(c, e->span);
    }
    return v;
}
