/* Evaluation at compile time. */
#include <math.h>

#include "check/check.h"

typedef struct num {
    int64_t i;
    double f;
} num;

bool const_is(const tx_expr *e)
{
    if (e->kind == TX_CONST)
        return true;
    if (e->kind != TX_BUILD)
        return false;
    for (int k = 0; k < e->nargs; k++)
        if (e->args[k]->kind != TX_CONST)
            return false;
    return true;
}

int64_t const_wrap(scalar t, int64_t i)
{
    switch (t) {
    case SC_BOOL: return i != 0;
    case SC_I8:   return (int8_t)i;
    case SC_I16:  return (int16_t)i;
    case SC_I32:  return (int32_t)i;
    case SC_U8:   return (uint8_t)i;
    case SC_U16:  return (uint16_t)i;
    case SC_U32:  return (uint32_t)i;
    default:      return i;
    }
}

bool const_fits(scalar t, int64_t i)
{
    return t == SC_U64 ? i >= 0 : scalar_is_float(t) || const_wrap(t, i) == i;
}

tx_expr *const_clone(checker *c, const tx_expr *e, src_loc loc)
{
    tx_expr *r = ARENA_NEW(c->mem, tx_expr);
    *r = *e;
    r->loc = loc;
    if (e->nargs > 0) {
        r->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
        for (int k = 0; k < e->nargs; k++)
            r->args[k] = const_clone(c, e->args[k], loc);
    }
    return r;
}

/* False where C leaves the result open: not folded. */
bool const_cast(scalar from, scalar to, const tx_expr *a, tx_expr *r)
{
    bool from_float = scalar_is_float(from);
    if (scalar_is_float(to)) {
        double x = from_float ? a->cval.f : from == SC_U64 ? (double)(uint64_t)a->cval.i : (double)a->cval.i;
        r->cval.f = to == SC_F32 ? (double)(float)x : x;
        return true;
    }
    if (!from_float) {
        r->cval.i = const_wrap(to, a->cval.i);
        return true;
    }
    if (to == SC_BOOL) {
        r->cval.i = a->cval.f != 0;
        return true;
    }
    double x = trunc(a->cval.f);
    if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0))
        return false;
    r->cval.i = (int64_t)x;
    return const_fits(to, r->cval.i);
}

static int64_t ipow(scalar t, int64_t base, int64_t n)
{
    uint64_t r = 1, b = (uint64_t)base;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            r *= b;
        b *= b;
    }
    return const_wrap(t, (int64_t)r);
}

static bool eval_float(ir_opcode op, const num *v, double *r)
{
    double a = v[0].f, b = v[1].f;
    switch (op) {
    case OP_ADD:   *r = a + b; return true;
    case OP_SUB:   *r = a - b; return true;
    case OP_MUL:   *r = a * b; return true;
    case OP_DIV:   *r = a / b; return true;
    case OP_REM:   *r = fmod(a, b); return true;
    case OP_MOD:
        *r = fmod(a, b);
        if (*r != 0 && (*r < 0) != (b < 0))
            *r += b;
        return true;
    case OP_NEG:   *r = -a; return true;
    case OP_POW:   *r = pow(a, b); return true;
    case OP_POWI:  *r = pow(a, (double)v[1].i); return true;
    case OP_MIN:   *r = a < b ? a : b; return true;
    case OP_MAX:   *r = a > b ? a : b; return true;
    case OP_ABS:   *r = fabs(a); return true;
    case OP_SIGN:  *r = (double)((a > 0) - (a < 0)); return true;
    case OP_FLOOR: *r = floor(a); return true;
    case OP_CEIL:  *r = ceil(a); return true;
    case OP_ROUND: *r = round(a); return true;
    case OP_TRUNC: *r = trunc(a); return true;
    case OP_FRACT: *r = a - floor(a); return true;
    case OP_SQRT:  *r = sqrt(a); return true;
    case OP_RSQRT: *r = 1 / sqrt(a); return true;
    case OP_CBRT:  *r = cbrt(a); return true;
    case OP_EXP:   *r = exp(a); return true;
    case OP_EXP2:  *r = exp2(a); return true;
    case OP_EXPM1: *r = expm1(a); return true;
    case OP_LOG:   *r = log(a); return true;
    case OP_LOG2:  *r = log2(a); return true;
    case OP_LOG1P: *r = log1p(a); return true;
    case OP_SIN:   *r = sin(a); return true;
    case OP_COS:   *r = cos(a); return true;
    case OP_TAN:   *r = tan(a); return true;
    case OP_ASIN:  *r = asin(a); return true;
    case OP_ACOS:  *r = acos(a); return true;
    case OP_ATAN:  *r = atan(a); return true;
    case OP_ATAN2: *r = atan2(a, b); return true;
    case OP_SINH:  *r = sinh(a); return true;
    case OP_COSH:  *r = cosh(a); return true;
    case OP_TANH:  *r = tanh(a); return true;
    case OP_HYPOT: *r = hypot(a, b); return true;
    case OP_ERF:   *r = erf(a); return true;
    default:       return false;
    }
}

/* `checked`: literals must not overflow; typed integers wrap. */
static bool overflows(ir_opcode op, int64_t a, int64_t b)
{
    int64_t r;
    return (op == OP_ADD && __builtin_add_overflow(a, b, &r)) || (op == OP_SUB && __builtin_sub_overflow(a, b, &r)) ||
           (op == OP_MUL && __builtin_mul_overflow(a, b, &r)) || (op == OP_NEG && a == INT64_MIN) || (op == OP_DIV && a == INT64_MIN && b == -1);
}

static bool eval_int(ir_opcode op, scalar t, const num *v, int64_t *r)
{
    int64_t a = v[0].i, b = v[1].i;
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    bool big = t == SC_U64; /* narrower unsigned values are non-negative int64_t */
    int bits = 8 * scalar_bytes(t);
    switch (op) {
    case OP_ADD: *r = (int64_t)(ua + ub); return true;
    case OP_SUB: *r = (int64_t)(ua - ub); return true;
    case OP_MUL: *r = (int64_t)(ua * ub); return true;
    case OP_NEG: *r = (int64_t)(0 - ua); return true;
    case OP_DIV:
        *r = big ? (int64_t)(ua / ub) : b == -1 ? (int64_t)(0 - ua) : a / b;
        return true;
    case OP_REM:
        *r = big ? (int64_t)(ua % ub) : b == -1 ? 0 : a % b;
        return true;
    case OP_MOD:
        *r = big ? (int64_t)(ua % ub) : b == -1 ? 0 : a % b;
        if (!big && *r != 0 && (*r < 0) != (b < 0))
            *r += b;
        return true;
    case OP_AND: *r = a & b; return true;
    case OP_OR:  *r = a | b; return true;
    case OP_XOR: *r = a ^ b; return true;
    case OP_NOT: *r = t == SC_BOOL ? !a : ~a; return true;
    case OP_SHL:
        if (b < 0 || b >= bits)
            return false;
        *r = (int64_t)(ua << b);
        return true;
    case OP_SHR:
        if (b < 0 || b >= bits)
            return false;
        *r = big ? (int64_t)(ua >> b) : a >> b;
        return true;
    case OP_MIN: *r = (big ? ua < ub : a < b) ? a : b; return true;
    case OP_MAX: *r = (big ? ua > ub : a > b) ? a : b; return true;
    case OP_ABS: *r = !scalar_is_signed(t) || a >= 0 ? a : (int64_t)(0 - ua); return true;
    case OP_SIGN: *r = !scalar_is_signed(t) ? a != 0 : (a > 0) - (a < 0); return true;
    case OP_IPOW:
        if (b < 0)
            return false;
        *r = ipow(t, a, b);
        return true;
    default:
        return false;
    }
}

static bool eval_bool(ir_opcode op, scalar t, const num *v, bool *r)
{
    if (scalar_is_float(t)) {
        double a = v[0].f, b = v[1].f;
        switch (op) {
        case OP_EQ: *r = a == b; return true;
        case OP_NE: *r = a != b; return true;
        case OP_LT: *r = a < b; return true;
        case OP_LE: *r = a <= b; return true;
        case OP_GT: *r = a > b; return true;
        case OP_GE: *r = a >= b; return true;
        case OP_ISNAN: *r = isnan(a); return true;
        case OP_ISINF: *r = isinf(a); return true;
        default: return false;
        }
    }
    int64_t a = v[0].i, b = v[1].i;
    bool less = t == SC_U64 ? (uint64_t)a < (uint64_t)b : a < b;
    switch (op) {
    case OP_EQ: *r = a == b; return true;
    case OP_NE: *r = a != b; return true;
    case OP_LT: *r = less; return true;
    case OP_LE: *r = less || a == b; return true;
    case OP_GT: *r = !less && a != b; return true;
    case OP_GE: *r = !less; return true;
    default: return false;
    }
}

/* One component; 1: folded, 0: not, -1: reported. */
static int fold_scalar(checker *c, const tx_expr *e, const num *v, bool soft, num *r)
{
    scalar t = e->args[0]->type->elem, result = e->type->elem;
    bool b = false;
    if (e->opcode == OP_STOP || e->opcode == OP_SELECT) {
        *r = e->opcode == OP_STOP || v[0].i == 0 ? v[e->opcode == OP_STOP ? 0 : 2] : v[1];
        return 1;
    }
    if (result == SC_BOOL && t != SC_BOOL) {
        int ok = eval_bool(e->opcode, t, v, &b);
        r->i = b;
        return ok;
    }
    if (scalar_is_float(t)) {
        if (!eval_float(e->opcode, v, &r->f))
            return 0;
        if (result == SC_F32)
            r->f = (double)(float)r->f;
        return 1;
    }
    if (t == SC_BOOL && eval_bool(e->opcode, t, v, &b)) {
        r->i = b;
        return 1;
    }
    if ((e->opcode == OP_DIV || e->opcode == OP_REM || e->opcode == OP_MOD) && v[1].i == 0) {
        ERR(c, span_at(e->loc), DIAG_CONST_DIV_ZERO);
        return -1;
    }
    if (soft && overflows(e->opcode, v[0].i, v[1].i)) {
        ERR(c, span_at(e->loc), DIAG_CONST_OVERFLOW);
        return -1;
    }
    if (!eval_int(e->opcode, t, v, &r->i))
        return 0;
    r->i = const_wrap(result, r->i);
    return 1;
}

tx_expr *const_fold(checker *c, tx_expr *e, bool soft)
{
    for (int k = 0; k < e->nargs; k++)
        if (!const_is(e->args[k]))
            return e;
    int n = ty_ncomp(e->type);
    tx_expr *r = tx_new(c, n == 1 && e->type->kind == TY_SCALAR ? TX_CONST : TX_BUILD, e->type, span_at(e->loc));
    if (r->kind == TX_BUILD) {
        r->nargs = n;
        r->args = ARENA_ARRAY(c->mem, tx_expr *, n);
    }
    for (int i = 0; i < n; i++) {
        num v[3] = {{0, 0}, {0, 0}, {0, 0}}, out = {0, 0};
        for (int k = 0; k < e->nargs; k++) {
            const tx_expr *a = e->args[k]->kind == TX_BUILD ? e->args[k]->args[i] : e->args[k];
            if (scalar_is_float(a->type->elem))
                v[k].f = a->cval.f;
            else
                v[k].i = a->cval.i;
        }
        int ok = fold_scalar(c, e, v, soft, &out);
        if (ok < 0)
            return val_error(c, span_at(e->loc)).e;
        if (!ok)
            return e;
        tx_expr *to = r->kind == TX_CONST ? r : tx_new(c, TX_CONST, ty_scalar(c->types, e->type->elem), span_at(e->loc));
        if (scalar_is_float(e->type->elem))
            to->cval.f = out.f;
        else
            to->cval.i = out.i;
        if (r->kind == TX_BUILD)
            r->args[i] = to;
    }
    return r;
}

bool const_int(checker *c, const ast_expr *e, const char *what, int64_t *out)
{
    val v = check_expr(c, e);
    if (val_bad(v))
        return false;
    if (v.soft != SOFT_INT && (v.e->type->kind != TY_SCALAR || !scalar_is_int(v.e->type->elem)))
        return ERR(c, e->span, DIAG_NOT_INTEGER, what, name_of(c, v));
    if (v.e->kind != TX_CONST)
        return ERR(c, e->span, DIAG_NOT_CONSTANT, what);
    if (v.e->type->elem == SC_U64 && v.e->cval.i < 0)
        return ERR(c, e->span, DIAG_LITERAL_RANGE, arena_printf(c->mem, "%llu", (unsigned long long)v.e->cval.i), "i64");
    *out = v.e->cval.i;
    return true;
}

bool const_bool(checker *c, const ast_expr *e, const char *what, bool *out)
{
    val v = check_expr(c, e);
    if (val_bad(v))
        return false;
    if (v.soft != SOFT_NO || v.e->type != ty_scalar(c->types, SC_BOOL))
        return ERR(c, e->span, DIAG_CONDITION, what, name_of(c, v));
    if (v.e->kind != TX_CONST)
        return ERR(c, e->span, DIAG_NOT_CONSTANT, what);
    *out = v.e->cval.i != 0;
    return true;
}
