/* Pure operations: constants, and identities that are exact in IEEE and wrapping integer arithmetic. x*0 and x+0.0 of
 * floats only where numbers are finite. */
#include "passes/analysis/analysis.h"
#include "passes/simplify/fold.h"

#include <math.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/ops.h"

static const_value value_of(const ir_value *v)
{
    const_value k = {.type = v->type};
    if (scalar_is_float(v->type))
        k.f = ir_float(v);
    else
        k.i = ir_int(v);
    return k;
}

static ir_value *constant(ir_builder *b, const_value k)
{
    return scalar_is_float(k.type) ? ir_const_f(b, k.type, k.f) : ir_const_i(b, k.type, k.i);
}

bool fold_is_int(const ir_value *v, int64_t i)
{
    return ir_is_const(v) && !scalar_is_float(v->type) && v->type != SC_PTR && ir_int(v) == i;
}

static bool is_float(const ir_value *v, double f)
{
    return ir_is_const(v) && scalar_is_float(v->type) && ir_float(v) == f && !signbit(ir_float(v)) == !signbit(f);
}

bool fold_same(const ir_value *a, const ir_value *b)
{
    if (a == b)
        return true;
    if (!ir_is_const(a) || !ir_is_const(b) || a->type != b->type)
        return false;
    if (!scalar_is_float(a->type))
        return ir_int(a) == ir_int(b);
    return memcmp(&ir_const_attr(a->def)->f, &ir_const_attr(b->def)->f, sizeof(double)) == 0;
}

static bool is_op(const ir_value *v, ir_opcode code)
{
    return v->def && v->def->code == code;
}

static ir_value *fold_constant(ir_builder *b, const ir_op *op)
{
    const_value x[3] = {{0}}, r;
    /* the library of this machine need not be the one that the launch calls; what the program itself has is folded
     * before its functions are derived */
    if ((op_is_of_library(op->code) || op->code == OP_POWI) && op->res[0]->exact)
        return NULL;
    for (int i = 0; i < op->nargs; i++) {
        if (!ir_is_const(op->args[i]) || op->args[i]->type == SC_PTR)
            return NULL;
        x[i] = value_of(op->args[i]);
    }
    if (op->code == OP_CAST)
        r = eval_cast(x[0], op->res[0]->type);
    else if (!eval_op(op->code, x, &r))
        return NULL;
    return constant(b, r);
}

/* ---- floats ---- */

static ir_value *fold_float_mul(ir_builder *b, ir_value *x, ir_value *y)
{
    if (ir_is_const(x)) {
        ir_value *t = x;
        x = y;
        y = t;
    }
    if (is_float(y, 1.0))
        return x;
    if (is_float(y, -1.0))
        return ir_op1(b, OP_NEG, x);
    if (is_op(x, OP_NEG) && ir_is_const(y))
        return ir_op2(b, OP_MUL, x->def->args[0], ir_const_f(b, y->type, -ir_float(y)));
    if (is_op(x, OP_NEG) && is_op(y, OP_NEG))
        return ir_op2(b, OP_MUL, x->def->args[0], y->def->args[0]);
    return NULL;
}

static ir_value *fold_float_div(ir_builder *b, ir_value *x, ir_value *y)
{
    if (is_op(x, OP_NEG) && is_op(y, OP_NEG))
        return ir_op2(b, OP_DIV, x->def->args[0], y->def->args[0]);
    if (!ir_is_const(y))
        return NULL;
    const double c = ir_float(y);
    if (c == 1.0)
        return x;
    if (c == -1.0)
        return ir_op1(b, OP_NEG, x);
    /* the reciprocal of a power of two is exact unless it leaves the range of normal numbers */
    int e;
    if (!isfinite(c) || fabs(frexp(c, &e)) != 0.5 || e < -100 || e > 100)
        return NULL;
    return ir_op2(b, OP_MUL, x, ir_const_f(b, y->type, 1.0 / c));
}

static ir_value *fold_float_sum(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (op->code == OP_ADD) {
        if (is_float(y, -0.0))
            return x;
        if (is_float(x, -0.0))
            return y;
        if (is_op(y, OP_NEG))
            return ir_op2(b, OP_SUB, x, y->def->args[0]);
        return is_op(x, OP_NEG) ? ir_op2(b, OP_SUB, y, x->def->args[0]) : NULL;
    }
    if (is_float(y, 0.0))
        return x;
    if (is_float(x, -0.0))
        return ir_op1(b, OP_NEG, y);
    return is_op(y, OP_NEG) ? ir_op2(b, OP_ADD, x, y->def->args[0]) : NULL;
}

/* x to a small integer power as products, in the order of tk_powi. */
static ir_value *expand_power(ir_builder *b, ir_value *x, int64_t n)
{
    if (n < -16 || n > 16)
        return NULL;
    ir_value *r = NULL, *square = x;
    for (int64_t k = n < 0 ? -n : n; k; k >>= 1) {
        if (k & 1)
            r = r ? ir_op2(b, OP_MUL, r, square) : square;
        if (k > 1)
            square = ir_op2(b, OP_MUL, square, square);
    }
    if (!r)
        return ir_const_f(b, x->type, 1.0);
    return n < 0 ? ir_op2(b, OP_DIV, ir_const_f(b, x->type, 1.0), r) : r;
}

static bool is_any_zero(const ir_value *v)
{
    return is_float(v, 0.0) || is_float(v, -0.0);
}

/* Of a function whose numbers are finite. */
static ir_value *fold_finite(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs == 2 ? op->args[1] : NULL;
    switch (op->code) {
    case OP_ADD:
        return is_any_zero(y) ? x : is_any_zero(x) ? y : NULL;
    case OP_SUB:
        if (fold_same(x, y))
            return ir_zero(b, x->type);
        return is_any_zero(y) ? x : is_any_zero(x) ? ir_op1(b, OP_NEG, y) : NULL;
    case OP_MUL:
        return op_is_zeroed_by(op, 0) || op_is_zeroed_by(op, 1) ? ir_zero(b, x->type) : NULL;
    case OP_DIV:
        return op_is_zeroed_by(op, 0) ? ir_zero(b, x->type) : fold_same(x, y) ? ir_const_f(b, x->type, 1.0) : NULL;
    default:
        return NULL;
    }
}

static ir_value *fold_float(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs > 1 ? op->args[1] : NULL;
    /* what decides was folded before it was marked: a zero of another sign might decide otherwise than the launch */
    ir_value *v = op->res[0]->finite && !op->res[0]->exact ? fold_finite(b, op) : NULL;
    if (v)
        return v;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return fold_float_sum(b, op);
    case OP_MUL:
        return fold_float_mul(b, x, y);
    case OP_DIV:
        return fold_float_div(b, x, y);
    case OP_NEG:
        return is_op(x, OP_NEG) ? x->def->args[0] : NULL;
    case OP_ABS:
        if (is_op(x, OP_NEG))
            return ir_op1(b, OP_ABS, x->def->args[0]);
        return is_op(x, OP_ABS) ? x : NULL;
    case OP_MIN:
    case OP_MAX:
        return x == y ? x : NULL;
    case OP_POWI:
        return ir_is_const(y) ? expand_power(b, x, ir_int(y)) : NULL;
    case OP_POW: /* x ** 2 never calls pow; powers beyond this are as well left to the C library's rounding */
        if (ir_is_const(y) && fabs(ir_float(y)) <= 2.0 && ir_float(y) == trunc(ir_float(y)))
            return expand_power(b, x, (int64_t)ir_float(y));
        return NULL;
    default:
        return NULL;
    }
}

/* ---- integers and bools ---- */

/* x + k in one canonical form. */
static ir_value *add_constant(ir_builder *b, ir_value *x, int64_t k)
{
    k = ir_wrap_int(x->type, k);
    if (k == 0)
        return x;
    const int64_t minus = ir_wrap_int(x->type, (int64_t)(0 - (uint64_t)k));
    return k < 0 && minus > 0 ? ir_op2(b, OP_SUB, x, ir_const_i(b, x->type, minus))
                              : ir_op2(b, OP_ADD, x, ir_const_i(b, x->type, k));
}

/* v as base + k, where v is a sum or difference with a constant. */
static ir_value *split_sum(ir_opcode code, ir_value *x, ir_value *y, uint64_t *k)
{
    if (ir_is_const(y)) {
        const uint64_t c = (uint64_t)ir_int(y);
        *k += code == OP_SUB ? 0 - c : c;
        return x;
    }
    if (code == OP_ADD && ir_is_const(x)) {
        *k += (uint64_t)ir_int(x);
        return y;
    }
    return NULL;
}

static ir_value *fold_int_sum(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (op->code == OP_SUB && x == y)
        return ir_const_i(b, x->type, 0);
    if (op->code == OP_SUB && fold_is_int(x, 0))
        return ir_op1(b, OP_NEG, y);
    uint64_t k = 0;
    ir_value *base = split_sum(op->code, x, y, &k);
    if (!base)
        return NULL;
    const bool sum = is_op(base, OP_ADD) || is_op(base, OP_SUB);
    ir_value *inner = sum ? split_sum(base->def->code, base->def->args[0], base->def->args[1], &k) : NULL;
    const int64_t s = ir_wrap_int(x->type, (int64_t)k);
    const bool as_sub = s < 0 && ir_wrap_int(x->type, (int64_t)(0 - (uint64_t)s)) > 0;
    if (!inner && s != 0 && (op->code == OP_SUB) == as_sub)
        return NULL;
    return add_constant(b, inner ? inner : base, s);
}

static ir_value *fold_int(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs > 1 ? op->args[1] : NULL;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return fold_int_sum(b, op);
    case OP_MUL:
        if (fold_is_int(y, 1))
            return x;
        if (fold_is_int(x, 1))
            return y;
        if (scalar_is_signed(x->type) && fold_is_int(y, -1))
            return ir_op1(b, OP_NEG, x);
        return fold_is_int(x, 0) || fold_is_int(y, 0) ? ir_const_i(b, x->type, 0) : NULL;
    case OP_DIV:
        return fold_is_int(y, 1) ? x : NULL;
    case OP_REM:
    case OP_MOD:
        return fold_is_int(y, 1) ? ir_const_i(b, x->type, 0) : NULL;
    case OP_NEG:
        return is_op(x, OP_NEG) ? x->def->args[0] : NULL;
    case OP_MIN:
    case OP_MAX:
        return x == y ? x : NULL;
    case OP_SHL:
    case OP_SHR:
        return fold_is_int(y, 0) ? x : NULL;
    default:
        return NULL;
    }
}

static ir_opcode opposite(ir_opcode compare)
{
    switch (compare) {
    case OP_EQ:
        return OP_NE;
    case OP_NE:
        return OP_EQ;
    case OP_LT:
        return OP_GE;
    case OP_LE:
        return OP_GT;
    case OP_GT:
        return OP_LE;
    case OP_GE:
        return OP_LT;
    default:
        return OP_COUNT;
    }
}

/* b `mirrored` a is a `compare` b */
static ir_opcode mirrored(ir_opcode compare)
{
    switch (compare) {
    case OP_LT:
        return OP_GT;
    case OP_LE:
        return OP_GE;
    case OP_GT:
        return OP_LT;
    case OP_GE:
        return OP_LE;
    default:
        return compare;
    }
}

static ir_value *fold_not(ir_builder *b, const ir_value *x)
{
    if (is_op(x, OP_NOT))
        return x->def->args[0];
    const ir_opcode other = x->def ? opposite(x->def->code) : OP_COUNT;
    if (other == OP_COUNT)
        return NULL;
    /* with a NaN, not(a < b) is true and a >= b is false */
    if (scalar_is_float(x->def->args[0]->type) && other != OP_EQ && other != OP_NE)
        return NULL;
    return ir_op2(b, other, x->def->args[0], x->def->args[1]);
}

/* Whether v compares an integer with a constant: `subject` is compared by `code` with `k`. */
typedef struct comparison {
    const ir_value *subject;
    ir_opcode code;
    int64_t k;
} comparison;

static bool is_comparison(const ir_value *v, comparison *c)
{
    const ir_op *op = v->def;
    if (!op || opposite(op->code) == OP_COUNT || !scalar_is_int(op->args[0]->type) || op->args[0]->type == SC_U64)
        return false;
    const bool left = ir_is_const(op->args[0]);
    if (left == ir_is_const(op->args[1]))
        return false;
    *c = (comparison){op->args[left], left ? mirrored(op->code) : op->code, ir_int(op->args[!left])};
    return true;
}

static bool holds(const comparison *c, int64_t x)
{
    switch (c->code) {
    case OP_EQ:
        return x == c->k;
    case OP_NE:
        return x != c->k;
    case OP_LT:
        return x < c->k;
    case OP_LE:
        return x <= c->k;
    case OP_GT:
        return x > c->k;
    default:
        return x >= c->k;
    }
}

/* Comparisons of one integer with constants that no value, or every value, passes. The outcome changes only next to the
 * constants. */
static ir_value *fold_comparisons(ir_builder *b, ir_opcode logic, const ir_value *x, const ir_value *y)
{
    comparison p, q;
    if (!is_comparison(x, &p) || !is_comparison(y, &q) || p.subject != q.subject)
        return NULL;
    bool any = false, all = true;
    for (int i = -1; i <= 1; i++) {
        for (int j = 0; j < 2; j++) {
            const int64_t k = j ? q.k : p.k;
            if ((i < 0 && k == INT64_MIN) || (i > 0 && k == INT64_MAX))
                continue;
            const bool both = logic == OP_AND ? holds(&p, k + i) && holds(&q, k + i)
                                              : holds(&p, k + i) || holds(&q, k + i);
            any |= both;
            all &= both;
        }
    }
    return logic == OP_AND && !any ? ir_const_i(b, SC_BOOL, 0)
           : logic == OP_OR && all ? ir_const_i(b, SC_BOOL, 1)
                                   : NULL;
}

/* The values that v can have by its type, or by the narrower one that it was converted from. */
static void type_range(const ir_value *v, int64_t *lo, int64_t *hi)
{
    scalar t = v->type;
    const scalar from = is_op(v, OP_CAST) ? v->def->args[0]->type : t;
    if (scalar_is_int(from) && scalar_bytes(from) < scalar_bytes(t) && (!scalar_is_signed(from) || scalar_is_signed(t)))
        t = from;
    const int bits = 8 * scalar_bytes(t);
    *hi = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - scalar_is_signed(t))) - 1;
    *lo = scalar_is_signed(t) ? -*hi - 1 : 0;
}

/* A comparison that the type decides, of which C compilers warn. */
static ir_value *fold_limits(ir_builder *b, const ir_value *result)
{
    comparison c;
    int64_t lo, hi;
    if (!is_comparison(result, &c))
        return NULL;
    type_range(c.subject, &lo, &hi);
    const bool between = (c.code == OP_EQ || c.code == OP_NE) && c.k >= lo && c.k <= hi;
    return between || holds(&c, lo) != holds(&c, hi) ? NULL : ir_const_i(b, SC_BOOL, holds(&c, lo));
}

static ir_value *fold_logic(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (ir_is_const(x)) {
        ir_value *t = x;
        x = y;
        y = t;
    }
    ir_value *known = op->code == OP_XOR ? NULL : fold_comparisons(b, op->code, x, y);
    if (known)
        return known;
    const int64_t ones = ir_wrap_int(x->type, x->type == SC_BOOL ? 1 : -1);
    switch (op->code) {
    case OP_AND:
        return x == y || fold_is_int(y, ones) ? x : fold_is_int(y, 0) ? y : NULL;
    case OP_OR:
        return x == y || fold_is_int(y, 0) ? x : fold_is_int(y, ones) ? y : NULL;
    case OP_XOR:
        if (x == y)
            return ir_const_i(b, x->type, 0);
        return fold_is_int(y, 0) ? x : fold_is_int(y, ones) ? ir_op1(b, OP_NOT, x) : NULL;
    default:
        return NULL;
    }
}

static ir_value *fold_compare(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (scalar_is_float(x->type))
        return NULL;
    if (x == y)
        return ir_const_i(b, SC_BOOL, op->code == OP_EQ || op->code == OP_LE || op->code == OP_GE);
    ir_value *known = fold_limits(b, op->res[0]);
    if (known)
        return known;
    if (x->type != SC_BOOL || (op->code != OP_EQ && op->code != OP_NE))
        return NULL;
    if (ir_is_const(x)) {
        ir_value *t = x;
        x = y;
        y = t;
    }
    if (!ir_is_const(y))
        return NULL;
    return (ir_int(y) != 0) == (op->code == OP_EQ) ? x : ir_op1(b, OP_NOT, x);
}

/* ---- choices and conversions ---- */

static ir_value *fold_select(ir_builder *b, const ir_op *op)
{
    ir_value *c = op->args[0], *x = op->args[1], *y = op->args[2];
    if (ir_is_const(c))
        return ir_int(c) ? x : y;
    if (fold_same(x, y))
        return x;
    if (is_op(c, OP_NOT))
        return ir_op3(b, OP_SELECT, c->def->args[0], y, x);
    if (is_op(x, OP_SELECT) && x->def->args[0] == c)
        return ir_op3(b, OP_SELECT, c, x->def->args[1], y);
    if (is_op(y, OP_SELECT) && y->def->args[0] == c)
        return ir_op3(b, OP_SELECT, c, x, y->def->args[2]);
    if (x->type != SC_BOOL)
        return NULL;
    if (fold_is_int(x, 1))
        return fold_is_int(y, 0) ? c : ir_op2(b, OP_OR, c, y);
    if (fold_is_int(y, 0))
        return ir_op2(b, OP_AND, c, x);
    return fold_is_int(x, 0) && fold_is_int(y, 1) ? ir_op1(b, OP_NOT, c) : NULL;
}

/* Every value of `from` is one of `to`. */
static bool keeps_values(scalar from, scalar to)
{
    if (from == to || from == SC_BOOL)
        return true;
    if (to == SC_BOOL || to == SC_PTR || from == SC_PTR)
        return false;
    if (scalar_is_float(from))
        return to == SC_F64;
    const int bits = 8 * scalar_bytes(from) - (scalar_is_signed(from) ? 1 : 0);
    if (scalar_is_float(to))
        return bits <= (to == SC_F64 ? 53 : 24);
    if (scalar_is_signed(from) && !scalar_is_signed(to))
        return false;
    return bits <= 8 * scalar_bytes(to) - (scalar_is_signed(to) ? 1 : 0);
}

static ir_value *fold_cast(ir_builder *b, const ir_op *op)
{
    ir_value *x = op->args[0];
    const scalar to = op->res[0]->type;
    if (x->type == to)
        return x;
    if (!is_op(x, OP_CAST))
        return NULL;
    ir_value *inner = x->def->args[0];
    if (to == SC_I64 && inner->type == SC_I64 && x->type == SC_I32 && value_fits_i32(inner))
        return inner;
    if (keeps_values(inner->type, x->type))
        return ir_cast(b, to, inner);
    /* cutting twice; not to bool, which asks whether the value is zero */
    const bool ints = scalar_is_int(inner->type) && scalar_is_int(x->type) && scalar_is_int(to);
    return ints && scalar_bytes(to) <= scalar_bytes(x->type) ? ir_cast(b, to, inner) : NULL;
}

ir_value *fold_pure(ir_builder *b, const ir_op *op)
{
    if (op->code == OP_STOP)
        return NULL;
    ir_value *v = fold_constant(b, op);
    if (v)
        return v;
    switch (op->code) {
    case OP_CAST:
        return fold_cast(b, op);
    case OP_SELECT:
        return fold_select(b, op);
    case OP_NOT:
        return fold_not(b, op->args[0]);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return fold_logic(b, op);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return fold_compare(b, op);
    default:
        return scalar_is_float(op->args[0]->type) ? fold_float(b, op) : fold_int(b, op);
    }
}
