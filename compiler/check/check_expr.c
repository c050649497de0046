/* Expressions: literals, unary operators, conditions, and the recursion over all kinds. */
#include <math.h>
#include <string.h>

#include "check/check.h"

/* ---- helpers of the whole checker ---- */

static val float_literal(checker *c, const ast_expr *e)
{
    val v = soft_const(c, SOFT_FLOAT, 0, e->fval, e->span);
    v.e->literal = true;
    v.e->single = e->fsingle;
    return v;
}

static val check_unary(checker *c, const ast_expr *e)
{
    if (e->unop == AST_NEG && e->a->kind == AST_EXPR_INT && e->a->big && (uint64_t)e->a->ival == (uint64_t)1 << 63)
        return soft_const(c, SOFT_INT, INT64_MIN, 0, e->span);
    val a = check_expr(c, e->a);
    if (a.e->type->kind == TY_STRUCT)
        return apply_struct_unary(c, e->unop, a, e->span);
    if (!is_numeric_value(c, a, e->a->span))
        return val_error(c, e->span);
    scalar t = a.e->type->elem;
    switch (e->unop) {
    case AST_PLUS:
        return t == SC_BOOL ? bad_operand(c, "+", a, e->span) : a;
    case AST_NEG:
        return t == SC_BOOL ? bad_operand(c, "-", a, e->span) : apply_unary(c, OP_NEG, a, e->span);
    case AST_LNOT:
        if (t == SC_BOOL)
            return apply_unary(c, OP_NOT, a, e->span);
        a = bad_operand(c, "!", a, e->span);
        NOTE(c, e->span, "compare with zero: '== 0'");
        return a;
    case AST_BNOT:
        break;
    }
    return !scalar_is_int(t) ? bad_operand(c, "~", a, e->span) : apply_unary(c, OP_NOT, a, e->span);
}

/* Computed as often as something else says. */
static val check_optional(checker *c, const ast_expr *e)
{
    if (!c->fn)
        return check_expr(c, e);
    c->fn->optional++;
    val v = check_expr(c, e);
    c->fn->optional--;
    return v;
}

static bool orders(const ast_expr *e)
{
    return e->kind == AST_EXPR_BINARY && is_order(e->binop);
}

static bool is_operand(checker *c, val v, src_span at)
{
    return v.e->type->kind == TY_STRUCT || is_numeric_value(c, v, at);
}

static val check_binary(checker *c, const ast_expr *e)
{
    val a = check_expr(c, e->a);
    val b = e->binop == AST_LAND || e->binop == AST_LOR ? check_optional(c, e->b) : check_expr(c, e->b);
    if (val_bad(a) || val_bad(b))
        return val_error(c, e->span);
    if (!is_operand(c, a, e->a->span) || !is_operand(c, b, e->b->span))
        return val_error(c, e->span);
    if (orders(e) && orders(e->a))
        return chained_comparison(c, e->binop, a, b, e->op_span);
    return apply_operator(c, e->binop, a, b, e->span, e->op_span);
}

/* ---- ?: ---- */

tx_expr *check_condition(checker *c, const ast_expr *e, const char *where)
{
    val v = check_expr(c, e);
    if (val_bad(v))
        return v.e;
    if (v.soft == SOFT_NO && v.e->type == ty_scalar(c->types, SC_BOOL))
        return v.e;
    ERR(c, e->span, DIAG_CONDITION, where, name_of(c, v));
    if (v.e->type->kind == TY_VEC && v.e->type->elem == SC_BOOL)
        NOTE(c, e->span, "write all(...) or any(...)");
    else if (v.e->type->kind == TY_SCALAR)
        NOTE(c, e->span, "compare with zero: '!= 0'");
    return val_error(c, e->span).e;
}

static val check_cond(checker *c, const ast_expr *e)
{
    tx_expr *cond = check_condition(c, e->a, "the condition of '?:'");
    val v[2];
    v[0] = check_optional(c, e->b);
    v[1] = check_optional(c, e->c);
    const bool is_struct = v[0].e->type->kind == TY_STRUCT || v[1].e->type->kind == TY_STRUCT;
    if (cond->type->kind == TY_ERROR || !is_operand(c, v[0], e->b->span) || !is_operand(c, v[1], e->c->span))
        return val_error(c, e->span);
    if (!is_struct && !unify(c, v, 2, "?:", e->op_span))
        return val_error(c, e->span);
    if (v[0].e->type != v[1].e->type) {
        ERR(c, e->op_span, DIAG_SHAPES, "?:", is_struct ? name_of(c, v[0]) : ty_name(c->types, v[0].e->type),
            is_struct ? name_of(c, v[1]) : ty_name(c->types, v[1].e->type));
        return val_error(c, e->span);
    }
    if (cond->kind == TX_CONST)
        return v[cond->cval.i ? 0 : 1];
    tx_expr *r = tx_new(c, TX_COND, v[0].e->type, e->op_span);
    r->a = cond;
    r->b = v[0].e;
    r->c = v[1].e;
    return (val){.e = r, .soft = v[0].soft, .lost = v[v[0].lost.kind ? 0 : 1].lost};
}

/* ---- all kinds ---- */

static val check_number(checker *c, const ast_expr *e)
{
    if (e->kind == AST_EXPR_FLOAT)
        return float_literal(c, e);
    if (e->kind == AST_EXPR_BOOL)
        return val_const_i(c, SC_BOOL, e->ival != 0, e->span);
    return e->big ? val_const_i(c, SC_U64, e->ival, e->span) : soft_const(c, SOFT_INT, e->ival, 0, e->span);
}

static val check_place_value(checker *c, const ast_expr *e)
{
    place p;
    place_resolve(c, e, &p);
    return place_value(c, &p, true);
}

static val check_kind(checker *c, const ast_expr *e)
{
    switch (e->kind) {
    case AST_EXPR_INT:
    case AST_EXPR_FLOAT:
    case AST_EXPR_BOOL:
        return check_number(c, e);
    case AST_EXPR_STRING:
        ERR(c, e->span, DIAG_STRING);
        return val_error(c, e->span);
    case AST_EXPR_NAME:
    case AST_EXPR_INDEX:
    case AST_EXPR_MEMBER:
        return check_place_value(c, e);
    case AST_EXPR_UNARY:
        return check_unary(c, e);
    case AST_EXPR_BINARY:
        return check_binary(c, e);
    case AST_EXPR_COND:
        return check_cond(c, e);
    case AST_EXPR_CALL:
        return check_call(c, e, false);
    case AST_EXPR_TYPECALL: {
        const ty *t = type_resolve(c, e->type);
        return t->kind == TY_ERROR ? val_error(c, e->span) : build_of_type(c, t, e->args, e->span);
    }
    case AST_EXPR_LIST:
        return build_bracket(c, e);
    }
    return val_error(c, e->span);
}

val check_expr(checker *c, const ast_expr *e)
{
    if (too_deep(c, e->span))
        return val_error(c, e->span);
    c->depth++;
    val v = check_kind(c, e);
    c->depth--;
    log_expr(c, e->span, v.soft == SOFT_NO ? v.e->type : NULL);
    return v;
}

val check_value(checker *c, const ast_expr *e)
{
    val v = check_expr(c, e);
    if (v.e->type->kind != TY_STRUCT && !is_numeric_value(c, v, e->span))
        return val_error(c, e->span);
    return settle(c, v);
}
