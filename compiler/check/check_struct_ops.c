/* Operators on structs: built in, member by member, and those that a func of the program is, operator(*). */
#include <string.h>

#include "check/check.h"

static bool is_struct(val v)
{
    return v.e->type->kind == TY_STRUCT;
}

/* ---- what is built in ---- */

/* Whatever the members are: sums and differences of one struct, its multiples by a scalar. */
static bool is_memberwise(ast_binop op, const ty *a, const ty *b)
{
    if (a->kind == TY_STRUCT && b->kind == TY_STRUCT)
        return a == b && (op == AST_ADD || op == AST_SUB);
    const ty *factor = a->kind == TY_STRUCT ? b : a;
    return factor->kind == TY_SCALAR && factor->elem != SC_BOOL && (op == AST_MUL || (op == AST_DIV && factor == b));
}

/* The first leaf that has no such result of its own type, -1: none. factor: NULL between structs. */
static int unfit_leaf(checker *c, const ty *t, const val *factor)
{
    for (int k = 0; k < t->nleaves; k++) {
        const scalar s = t->leaves[k]->elem;
        if (s == SC_BOOL || (factor && !converts(*factor, ty_scalar(c->types, s))))
            return k;
    }
    return -1;
}

static const val *factor_of(const val *a, const val *b)
{
    return is_struct(*a) && is_struct(*b) ? NULL : is_struct(*a) ? b : a;
}

static int unfit_operands(checker *c, const val *a, const val *b)
{
    return unfit_leaf(c, is_struct(*a) ? a->e->type : b->e->type, factor_of(a, b));
}

bool sums_members(checker *c, const ty *t, val v)
{
    return v.e->type == t && unfit_leaf(c, t, NULL) < 0;
}

/* ---- member by member ---- */

/* Computed once. A constant without a type stays open, for each member's type; others become what all members are, or
 * the widest type. */
static bool bind_factor(checker *c, const ty *t, val *v, binding **list, src_span at)
{
    if (v->soft != SOFT_NO && const_is(v->e))
        return true;
    scalar to = t->leaves[0]->elem;
    for (int k = 1; k < t->nleaves; k++) {
        const scalar s = t->leaves[k]->elem;
        if (v->lost.kind && scalar_is_float(s))
            to = s; /* an error, as where the member stands alone */
        else if (s != to && !(v->lost.kind && scalar_is_float(to)))
            to = v->soft == SOFT_INT ? SC_I64 : SC_F64;
    }
    if (v->soft != SOFT_NO)
        *v = convert(c, *v, ty_scalar(c->types, to), at);
    if (val_bad(*v))
        return false;
    v->e = bind_repeated(c, v->e, list);
    return true;
}

static val factor_for(checker *c, val v, scalar elem, src_span at)
{
    if (v.soft != SOFT_NO)
        v.e = const_clone(c, v.e, at.begin);
    else if (!scalar_widens(v.e->type->elem, elem))
        return cast_to(c, v, elem, at);
    return v;
}

static val memberwise(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span)
{
    val v[2] = {a, b};
    const ty *t = is_struct(a) ? a.e->type : b.e->type;
    binding *list = NULL;
    for (int i = 0; i < 2; i++)
        if (is_struct(v[i]))
            v[i].e = struct_bound(c, v[i].e, &list);
        else if (!bind_factor(c, t, &v[i], &list, at))
            return val_error(c, at);
    tx_expr *r = group_new(c, t, v[is_struct(a) ? 0 : 1].e->args, op_span);
    for (int k = 0; k < t->nleaves; k++) {
        val x[2];
        for (int i = 0; i < 2; i++)
            x[i] = is_struct(v[i]) ? val_typed(v[i].e->args[k]) : factor_for(c, v[i], t->leaves[k]->elem, at);
        const val e = apply_binary(c, op, x[0], x[1], at, op_span);
        if (val_bad(e))
            return val_error(c, at);
        r->args[k] = e.e;
    }
    return val_typed(wrap_bindings(c, list, r));
}

static void note_unfit(checker *c, const ty *t, int leaf, const val *factor, src_span at)
{
    const char *path = t->paths[leaf], *type = ty_name(c->types, t->leaves[leaf]);
    if (factor && t->leaves[leaf]->elem != SC_BOOL)
        NOTE(c, at, "%s does not convert to its member '%s', of type %s", name_of(c, *factor), path, type);
    else
        NOTE(c, at, "its member '%s' is %s", path, type);
}

val apply_struct_unary(checker *c, ast_unop op, val a, src_span at)
{
    static const char *const text[] = {[AST_NEG] = "-", [AST_PLUS] = "+", [AST_LNOT] = "!", [AST_BNOT] = "~"};
    const ty *t = a.e->type;
    const bool arithmetic = op == AST_NEG || op == AST_PLUS;
    const int unfit = unfit_leaf(c, t, NULL);
    if (!arithmetic || unfit >= 0) {
        const val r = bad_operand(c, text[op], a, at);
        if (arithmetic)
            note_unfit(c, t, unfit, NULL, at);
        else
            NOTE(c, at, "write it for its members");
        return r;
    }
    if (op == AST_PLUS)
        return a;
    binding *list = NULL;
    tx_expr *whole = struct_bound(c, a.e, &list), *r = group_new(c, t, whole->args, at);
    for (int k = 0; k < t->nleaves; k++)
        r->args[k] = apply_unary(c, OP_NEG, val_typed(whole->args[k]), at).e;
    return val_typed(wrap_bindings(c, list, r));
}

/* ---- the program's own ---- */

static bool may_be_own(ast_binop op)
{
    return op <= AST_GE;
}

static sym *find_own(const checker *c, ast_binop op, val a, val b)
{
    for (sym *s = c->operators; s; s = s->next_operator)
        if (s->op == op && converts(a, s->param_types[0]) && converts(b, s->param_types[1]))
            return s;
    return NULL;
}

static bool alike(const ty *a, const ty *b)
{
    return a == b ||
           (ty_is_numeric(a) && ty_is_numeric(b) && a->kind == b->kind && a->rows == b->rows && a->cols == b->cols);
}

static const sym *find_alike(const checker *c, ast_binop op, const ty *const *types)
{
    for (const sym *s = c->operators; s; s = s->next_operator)
        if (s->op == op && alike(s->param_types[0], types[0]) && alike(s->param_types[1], types[1]))
            return s;
    return NULL;
}

static val call_own(checker *c, sym *s, val a, val b, src_span at, src_span op_span)
{
    if (c->constant || !c->fn)
        return called_too_early(c, at);
    return call_function(c, s, (val[]){a, b}, 2, (src_span[]){op_span, op_span}, at);
}

/* As a parameter would be declared. */
static const char *written_type(checker *c, val v)
{
    const ty *t = v.e->type;
    if (v.soft != SOFT_NO)
        t = ty_with_elem(c->types, t, v.soft == SOFT_FLOAT ? c->opt->real : SC_I32);
    return ty_name(c->types, t);
}

static val no_operator(checker *c, ast_binop op, val a, val b, src_span op_span)
{
    const char *text = operator_text(op);
    ERR(c, op_span, DIAG_OPERANDS, text, name_of(c, a), name_of(c, b));
    if (is_memberwise(op, a.e->type, b.e->type))
        note_unfit(c, is_struct(a) ? a.e->type : b.e->type, unfit_operands(c, &a, &b), factor_of(&a, &b), op_span);
    const sym *near = find_alike(c, op, (const ty *[]){a.e->type, b.e->type});
    if (near)
        NOTE(c, near->span, "'%s' is the operator for %s and %s", near->name, ty_name(c->types, near->param_types[0]),
             ty_name(c->types, near->param_types[1]));
    else if (may_be_own(op))
        NOTE(c, op_span, "declare it: func NAME(a: %s, b: %s) -> TYPE operator(%s) { ... }", written_type(c, a),
             written_type(c, b), text);
    else
        NOTE(c, op_span, "write it for its members");
    return val_error(c, op_span);
}

val apply_operator(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span)
{
    if (!is_struct(a) && !is_struct(b))
        return apply_binary(c, op, a, b, at, op_span);
    if ((!is_struct(a) && !is_numeric_value(c, a, at)) || (!is_struct(b) && !is_numeric_value(c, b, at)))
        return val_error(c, at);
    if (is_memberwise(op, a.e->type, b.e->type) && unfit_operands(c, &a, &b) < 0)
        return memberwise(c, op, a, b, at, op_span);
    sym *own = find_own(c, op, a, b);
    return own ? call_own(c, own, a, b, at, op_span) : no_operator(c, op, a, b, op_span);
}

/* ---- operator(*) ---- */

/* Why the function cannot be this operator, NULL: it can. */
static const char *conflict(checker *c, const sym *s, const ast_attr *a)
{
    const ty *const *t = s->param_types;
    if (!a->has_op)
        return "one of + - * / % ** @ == != < <= > >= stands in the parentheses";
    if (s->nparams != 2)
        return "it takes two operands";
    for (int k = 0; k < 2; k++)
        if (!t[k] || s->param_extents[k] || !ty_is_value(t[k]))
            return "each operand has a type, and is no array";
    if (t[0]->kind != TY_STRUCT && t[1]->kind != TY_STRUCT)
        return "one operand must be a struct";
    if (!s->result || !ty_is_value(s->result))
        return "it needs one result, with a type";
    val v[2];
    for (int k = 0; k < 2; k++)
        v[k] = val_typed(tx_new(c, TX_LOCAL, t[k], s->span));
    return is_memberwise(a->op, t[0], t[1]) && unfit_operands(c, &v[0], &v[1]) < 0 ? "structs have it, member by member"
                                                                                   : NULL;
}

void declare_operator(checker *c, sym *s)
{
    const ast_attr *a = s->item->attrs;
    while (a && strcmp(a->name, "operator") != 0)
        a = a->next;
    if (!a)
        return;
    check_signature(c, s);
    if (s->refused)
        return;
    const char *why = conflict(c, s, a);
    const sym *first = why ? NULL : find_alike(c, a->op, s->param_types);
    const char *text = a->has_op ? operator_text(a->op) : "";
    if (why || first) {
        ERR(c, a->span, DIAG_OPERATOR, s->name, text,
            why ? why : arena_printf(c->mem, "'%s' is it already", first->name));
        if (first)
            NOTE(c, first->span, "'%s' is declared here", first->name);
        return;
    }
    s->op = a->op;
    s->next_operator = c->operators;
    c->operators = s;
}
