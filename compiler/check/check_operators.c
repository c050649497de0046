/* Operators and operations on values that are checked. */
#include <math.h>
#include <string.h>

#include "check/check.h"

val soft_const(checker *c, softness soft, int64_t i, double f, src_span at)
{
    tx_expr *e = tx_new(c, TX_CONST, ty_scalar(c->types, soft == SOFT_INT ? SC_I64 : SC_F64), at);
    if (soft == SOFT_INT)
        e->cval.i = i;
    else
        e->cval.f = f;
    return (val){.e = e, .soft = soft};
}

bool not_a_value(checker *c, val v, src_span at)
{
    const ty *t = v.e->type;
    return ERR(c, at, DIAG_NOT_A_VALUE, t->kind == TY_VOID ? "a call without result" : ty_name(c->types, t));
}

bool is_numeric_value(checker *c, val v, src_span at)
{
    if (val_bad(v))
        return false;
    if (ty_is_numeric(v.e->type))
        return true;
    return not_a_value(c, v, at);
}

/* ---- unary operators ---- */

val bad_operand(checker *c, const char *op, val v, src_span at)
{
    ERR(c, at, DIAG_OPERAND, op, name_of(c, v));
    return val_error(c, at);
}

val apply_unary(checker *c, ir_opcode op, val a, src_span at)
{
    if (a.soft == SOFT_INT && a.e->kind != TX_CONST && !const_is(a.e))
        a = settle(c, a);
    if (val_bad(a))
        return a;
    tx_expr *e = const_fold(c, tx_op(c, op, a.e->type, at, 1, &a.e), a.soft != SOFT_NO);
    if (e->type->kind == TY_ERROR)
        return val_typed(e);
    if (op == OP_NEG && a.e->literal && e->kind == TX_CONST) {
        e->literal = true;
        e->single = -a.e->single;
    }
    return (val){.e = e, .soft = a.soft, .lost = op == OP_NEG ? a.lost : (lossy){0}};
}

/* ---- binary operators ---- */

typedef enum op_class {
    CLASS_ARITH,
    CLASS_EQUAL,
    CLASS_ORDER,
    CLASS_BITS,
    CLASS_SHIFT,
    CLASS_POWER,
    CLASS_MATMUL,
    CLASS_LOGIC
} op_class;

static const struct {
    const char *text;
    op_class class;
    ir_opcode op;
} binops[] = {
    [AST_ADD] = {"+", CLASS_ARITH, OP_ADD},     [AST_SUB] = {"-", CLASS_ARITH, OP_SUB},
    [AST_MUL] = {"*", CLASS_ARITH, OP_MUL},     [AST_DIV] = {"/", CLASS_ARITH, OP_DIV},
    [AST_REM] = {"%", CLASS_ARITH, OP_REM},     [AST_POW] = {"**", CLASS_POWER, OP_POW},
    [AST_MATMUL] = {"@", CLASS_MATMUL, OP_MUL}, [AST_EQ] = {"==", CLASS_EQUAL, OP_EQ},
    [AST_NE] = {"!=", CLASS_EQUAL, OP_NE},      [AST_LT] = {"<", CLASS_ORDER, OP_LT},
    [AST_LE] = {"<=", CLASS_ORDER, OP_LE},      [AST_GT] = {">", CLASS_ORDER, OP_GT},
    [AST_GE] = {">=", CLASS_ORDER, OP_GE},      [AST_LAND] = {"&&", CLASS_LOGIC, OP_AND},
    [AST_LOR] = {"||", CLASS_LOGIC, OP_OR},     [AST_BAND] = {"&", CLASS_BITS, OP_AND},
    [AST_BOR] = {"|", CLASS_BITS, OP_OR},       [AST_BXOR] = {"^", CLASS_BITS, OP_XOR},
    [AST_SHL] = {"<<", CLASS_SHIFT, OP_SHL},    [AST_SHR] = {">>", CLASS_SHIFT, OP_SHR},
};

static val bad_operands(checker *c, const char *op, val a, val b, src_span at)
{
    ERR(c, at, DIAG_OPERANDS, op, name_of(c, a), name_of(c, b));
    if (!strcmp(op, "^"))
        NOTE(c, at, "a power is written '**'");
    return val_error(c, at);
}

static val matmul(checker *c, val a, val b, src_span at)
{
    val v[2] = {a, b};
    const ty *ta = a.e->type, *tb = b.e->type;
    if (ta->kind != TY_MAT && tb->kind != TY_MAT) {
        val r = bad_operands(c, "@", a, b, at);
        if (ta->kind == TY_VEC && tb->kind == TY_VEC)
            NOTE(c, at, "the product of two vectors is 'a.dot(b)' or 'outer_product(a, b)'");
        return r;
    }
    if (ta->kind == TY_SCALAR || tb->kind == TY_SCALAR || ta->elem == SC_BOOL || tb->elem == SC_BOOL)
        return bad_operands(c, "@", a, b, at);
    int inner_a = ta->kind == TY_MAT ? ta->cols : ta->rows;
    if (inner_a != tb->rows) {
        ERR(c, at, DIAG_SHAPES, "@", ty_name(c->types, ta), ty_name(c->types, tb));
        return val_error(c, at);
    }
    if (!unify(c, v, 2, "@", at))
        return val_error(c, at);
    for (int k = 0; k < 2; k++)
        v[k] = settle(c, v[k]);
    if (val_bad(v[0]) || val_bad(v[1]))
        return val_error(c, at);
    scalar s = v[0].e->type->elem;
    const ty *type = ta->kind == TY_VEC   ? ty_vec(c->types, tb->cols, s)
                     : tb->kind == TY_VEC ? ty_vec(c->types, ta->rows, s)
                                          : ty_mat(c->types, ta->rows, tb->cols, s);
    tx_expr *e = tx_new(c, TX_MATMUL, type, at);
    e->a = v[0].e;
    e->b = v[1].e;
    check_spectral(c, type, at);
    return val_typed(e);
}

static val apply_logic(checker *c, ast_binop op, val a, val b, src_span at)
{
    const ty *boolean = ty_scalar(c->types, SC_BOOL);
    if (a.e->type != boolean || b.e->type != boolean) {
        val r = bad_operands(c, binops[op].text, a, b, at);
        if (a.e->type->elem == SC_BOOL && b.e->type->elem == SC_BOOL)
            NOTE(c, at, "component by component: '%s'", op == AST_LAND ? "&" : "|");
        else
            NOTE(c, at, "operands must be bool; compare with zero: '!= 0'");
        return r;
    }
    if (a.e->kind == TX_CONST)
        return (a.e->cval.i != 0) == (op == AST_LAND) ? b : a;
    tx_expr *e = tx_new(c, op == AST_LAND ? TX_LAND : TX_LOR, boolean, at);
    e->a = a.e;
    e->b = b.e;
    return val_typed(e);
}

static bool class_admits(op_class class, scalar a)
{
    switch (class) {
    case CLASS_ARITH:
    case CLASS_ORDER:
    case CLASS_POWER:
        return a != SC_BOOL;
    case CLASS_BITS:
        return !scalar_is_float(a);
    case CLASS_SHIFT:
        return scalar_is_int(a);
    case CLASS_EQUAL:
    case CLASS_MATMUL:
    case CLASS_LOGIC:
        break;
    }
    return true;
}

/* Soft operands that are not constant stay soft through float arithmetic only: an integer one could meet a float inside
 * of `%` or `<<`. */
void settle_open_integers(checker *c, val *v, int n)
{
    for (int k = 0; k < n; k++)
        if (v[k].soft == SOFT_INT && !const_is(v[k].e)) {
            for (int i = 0; i < n; i++)
                v[i] = v[i].soft == SOFT_INT ? settle(c, v[i]) : v[i];
            return;
        }
}

/* Constants, without a remainder. */
static bool divides(const tx_expr *a, const tx_expr *b)
{
    return a->kind == TX_CONST && b->kind == TX_CONST && b->cval.i != 0 &&
           (b->cval.i == -1 || a->cval.i % b->cval.i == 0);
}

bool is_order(ast_binop op)
{
    return binops[op].class == CLASS_ORDER;
}

const char *operator_text(ast_binop op)
{
    return binops[op].text;
}

/* What (a < b) < c would be in C. */
val chained_comparison(checker *c, ast_binop op, val a, val b, src_span at)
{
    val r = bad_operands(c, binops[op].text, a, b, at);
    NOTE(c, at, "comparisons do not chain: write 'a < b && b < c'");
    return r;
}

/* ---- powers ---- */

enum { MAX_EXPANDED_POWER = 64 };

static tx_expr *multiply(checker *c, tx_expr *a, tx_expr *b, src_span at)
{
    return tx_op(c, OP_MUL, a->type, at, 2, (tx_expr *[]){a, b});
}

/* x ** n by squaring; |n| is small and not 0. */
static val power_by_products(checker *c, val a, int64_t n, src_span at)
{
    binding *list = NULL;
    bool inverse = n < 0;
    tx_expr *base = a.e, *r = NULL;
    for (int64_t k = inverse ? -n : n; k > 0;) {
        if (k > 1)
            base = bind_repeated(c, base, &list);
        if (k & 1)
            r = r ? multiply(c, r, base, at) : base;
        k >>= 1;
        if (k > 0)
            base = multiply(c, base, base, at);
    }
    if (inverse) {
        val one = soft_const(c, SOFT_FLOAT, 0, 1.0, at);
        one = convert(c, one, ty_scalar(c->types, r->type->elem), at);
        r = tx_op(c, OP_DIV, r->type, at, 2, (tx_expr *[]){one.e, r});
    }
    return val_typed(wrap_bindings(c, list, r));
}

static val constant_power(checker *c, val a, int64_t n, src_span at)
{
    bool integer = !scalar_is_float(a.e->type->elem);
    if (integer && n < 0) {
        ERR(c, at, DIAG_NEGATIVE_POWER);
        NOTE(c, at, "make the base a float: 10.0 ** -3");
        return val_error(c, at);
    }
    if (const_is(a.e)) {
        val k = val_const_i(c, a.soft == SOFT_INT || !integer ? SC_I64 : a.e->type->elem, n, at);
        tx_expr *e = const_fold(c, tx_op(c, integer ? OP_IPOW : OP_POWI, a.e->type, at, 2, (tx_expr *[]){a.e, k.e}),
                                a.soft == SOFT_INT);
        if (e->kind != TX_OP)
            return e->type->kind == TY_ERROR ? val_typed(e) : (val){.e = e, .soft = a.soft};
    }
    /* a product repeats its operand, and what is repeated needs a type */
    bool open = a.soft == SOFT_FLOAT && !const_is(a.e);
    if (!open)
        a = settle(c, a);
    if (val_bad(a))
        return a;
    if (!open && n != 0 && n >= -MAX_EXPANDED_POWER && n <= MAX_EXPANDED_POWER)
        return power_by_products(c, a, n, at);
    scalar t = integer ? a.e->type->elem : const_fits(SC_I32, n) ? SC_I32 : SC_I64;
    if (!const_fits(t, n)) {
        ERR(c, at, DIAG_LITERAL_RANGE, arena_printf(c->mem, "%lld", (long long)n), scalar_name(t));
        return val_error(c, at);
    }
    val k = val_const_i(c, t, n, at);
    return (val){.e = tx_op(c, integer ? OP_IPOW : OP_POWI, a.e->type, at, 2, (tx_expr *[]){a.e, k.e}), .soft = a.soft};
}

val apply_power(checker *c, val a, val b, src_span at)
{
    if (val_bad(a) || val_bad(b))
        return val_error(c, at);
    if (b.lost.kind && b.lost.literals && scalar_is_float(a.e->type->elem))
        return int_division(c, b, at, "the exponent of a float", SC_I32);
    if (b.soft == SOFT_INT && b.e->kind == TX_CONST)
        return constant_power(c, a, b.e->cval.i, at);
    bool int_base = !scalar_is_float(a.e->type->elem), int_exponent = !scalar_is_float(b.e->type->elem);
    if (b.soft == SOFT_FLOAT && b.e->kind == TX_CONST && b.e->cval.f == floor(b.e->cval.f) &&
        fabs(b.e->cval.f) <= MAX_EXPANDED_POWER) {
        a = to_float(c, a, at);
        return val_bad(a) ? a : constant_power(c, a, (int64_t)b.e->cval.f, at);
    }
    val v[2] = {a, b};
    ir_opcode op = int_base ? OP_IPOW : OP_POWI;
    if (!int_base && int_exponent) {
        v[1] = settle(c, v[1]);
        if (val_bad(v[1]))
            return val_error(c, at);
        scalar t = v[1].e->type->elem;
        v[1] = cast_to(c, v[1], scalar_widens(t, SC_I32) ? SC_I32 : SC_I64, at);
    } else {
        settle_open_integers(c, v, 2);
        if (!unify(c, v, 2, "**", at))
            return val_error(c, at);
        if (!int_exponent)
            op = OP_POW;
    }
    const ty *shape = unify_shape(c, v, 2, "**", at);
    if (!shape)
        return val_error(c, at);
    tx_expr *e = const_fold(c, tx_op(c, op, shape, at, 2, (tx_expr *[]){v[0].e, v[1].e}), v[0].soft == SOFT_INT);
    return (val){.e = e,
                 .soft = e->type->kind == TY_ERROR ? SOFT_NO : v[0].soft,
                 .lost = op == OP_IPOW ? (lossy){CUT_POWER, v[0].soft == SOFT_INT, at} : (lossy){0}};
}

/* ---- all binary operators ---- */

val apply_binary(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span)
{
    op_class class = binops[op].class;
    const char *text = binops[op].text;
    if (!is_numeric_value(c, a, at) || !is_numeric_value(c, b, at))
        return val_error(c, at);
    if (class == CLASS_LOGIC)
        return apply_logic(c, op, a, b, op_span);
    if (class == CLASS_MATMUL)
        return matmul(c, a, b, op_span);
    if (!class_admits(class, a.e->type->elem) || !class_admits(class, b.e->type->elem))
        return bad_operands(c, text, a, b, op_span);
    if (class == CLASS_POWER)
        return apply_power(c, a, b, op_span);
    val v[2] = {a, b};
    if (class == CLASS_SHIFT && v[0].soft == SOFT_NO && v[1].soft == SOFT_NO) {
        v[1] = convert(c, v[1], ty_with_elem(c->types, v[1].e->type, v[0].e->type->elem), op_span);
        if (val_bad(v[1]))
            return v[1];
    } else if (class == CLASS_SHIFT && v[0].soft == SOFT_INT && v[1].soft == SOFT_NO) {
        v[0] = settle(c, v[0]); /* 1 << n: an i32, whatever the type of n */
        v[1] = cast_to(c, v[1], v[0].e->type->elem, op_span);
    }
    settle_open_integers(c, v, 2);
    if (!unify(c, v, 2, text, op_span))
        return val_error(c, at);
    const ty *shape = unify_shape(c, v, 2, text, op_span);
    if (!shape)
        return val_error(c, at);
    bool compares = class == CLASS_EQUAL || class == CLASS_ORDER;
    softness soft = v[0].soft;
    tx_expr *args[2] = {v[0].e, v[1].e};
    tx_expr *e = tx_op(c, binops[op].op, compares ? ty_with_elem(c->types, shape, SC_BOOL) : shape, op_span, 2, args);
    e = const_fold(c, e, soft == SOFT_INT);
    if (e->type->kind == TY_ERROR)
        return val_typed(e);
    if (compares) {
        for (int k = 0; k < 2 && e->kind == TX_OP && soft != SOFT_NO; k++) /* i < 0.5: the float type is still open */
            e->args[k] = settle(c, v[k]).e;
        return val_typed(e);
    }
    val r = {.e = e, .soft = soft};
    if (scalar_is_float(shape->elem))
        return r;
    bool linear = op == AST_ADD || op == AST_SUB || op == AST_MUL;
    if (op == AST_DIV && !divides(args[0], args[1]))
        r.lost = (lossy){CUT_DIVISION, soft == SOFT_INT, op_span};
    else if (linear || op == AST_DIV)
        r.lost = a.lost.kind ? a.lost : b.lost;
    return r;
}

/* ---- operations of the table ---- */

static bool admits(op_operands class, scalar s)
{
    switch (class) {
    case OPERANDS_F:
    case OPERANDS_N:
    case OPERANDS_FI:
        return s != SC_BOOL;
    case OPERANDS_I:
        return scalar_is_int(s);
    case OPERANDS_L:
        return !scalar_is_float(s);
    case OPERANDS_B:
        return s == SC_BOOL;
    case OPERANDS_A:
    case OPERANDS_BAA:
    case OPERANDS_X:
        break;
    }
    return true;
}

static val apply_select(checker *c, val *args, src_span at)
{
    if (args[0].e->type->elem != SC_BOOL) {
        ERR(c, at, DIAG_CONDITION, "the first argument of 'select'", name_of(c, args[0]));
        NOTE(c, at, "compare with zero: '!= 0'");
        return val_error(c, at);
    }
    val v[3] = {args[1], args[2], args[0]};
    settle_open_integers(c, v, 2);
    if (!unify(c, v, 2, "select", at))
        return val_error(c, at);
    const ty *shape = unify_shape(c, v, 3, "select", at);
    if (!shape)
        return val_error(c, at);
    tx_expr *e = const_fold(c, tx_op(c, OP_SELECT, shape, at, 3, (tx_expr *[]){v[2].e, v[0].e, v[1].e}),
                            v[0].soft == SOFT_INT);
    return (val){.e = e, .soft = v[0].soft};
}

/* Component-wise, scalars broadcast. The number of arguments is right. */
val apply_op(checker *c, ir_opcode op, val *args, int n, src_span at)
{
    const op_info *info = op_get(op);
    for (int k = 0; k < n; k++) {
        if (val_bad(args[k]))
            return args[k];
        if (!ty_is_numeric(args[k].e->type) || !admits(info->operands, args[k].e->type->elem)) {
            ERR(c, at, DIAG_ARGUMENT, info->name, name_of(c, args[k]));
            return val_error(c, at);
        }
    }
    if (op == OP_POW)
        return apply_power(c, args[0], args[1], at);
    if (op == OP_SELECT)
        return apply_select(c, args, at);
    if (info->operands == OPERANDS_F)
        for (int k = 0; k < n; k++)
            args[k] = to_float(c, args[k], at);
    settle_open_integers(c, args, n);
    if (!unify(c, args, n, info->name, at))
        return val_error(c, at);
    bool boolean = info->result == RESULT_B;
    if (op == OP_STOP)
        args[0] = settle(c, args[0]);
    const ty *shape = unify_shape(c, args, n, info->name, at);
    if (!shape || val_bad(args[0]))
        return val_error(c, at);
    tx_expr *v[3];
    for (int k = 0; k < n; k++)
        v[k] = args[k].e;
    tx_expr *e = const_fold(c, tx_op(c, op, boolean ? ty_with_elem(c->types, shape, SC_BOOL) : shape, at, n, v),
                            args[0].soft == SOFT_INT);
    if (e->type->kind == TY_ERROR)
        return val_typed(e);
    if (boolean) {
        for (int k = 0; k < n && e->kind == TX_OP; k++)
            e->args[k] = settle(c, args[k]).e;
        return val_typed(e);
    }
    return (val){.e = e, .soft = args[0].soft};
}
