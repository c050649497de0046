#include "ir/eval.h"

#include <math.h>

/* tk_T_from_f64 of tkc_math.h. */
static int64_t nearest_int(double f, scalar to)
{
    const bool sign = scalar_is_signed(to);
    const int bits = 8 * scalar_bytes(to) - sign;
    if (isnan(f) || (!sign && f <= 0))
        return 0;
    if (f >= ldexp(1, bits))
        return sign ? INT64_MAX >> (63 - bits) : ir_wrap_int(to, -1);
    if (f <= -ldexp(1, bits))
        return INT64_MIN >> (63 - bits);
    return to == SC_U64 ? (int64_t)(uint64_t)f : (int64_t)f;
}

const_value eval_cast(const_value v, scalar to)
{
    const_value r = {.type = to};
    if (scalar_is_float(to)) {
        double f = scalar_is_float(v.type) ? v.f : v.type == SC_U64 ? (double)(uint64_t)v.i : (double)v.i;
        if (to == SC_F32)
            f = scalar_is_float(v.type) ? (double)(float)v.f
                : v.type == SC_U64      ? (double)(float)(uint64_t)v.i
                                        : (double)(float)v.i;
        r.f = f;
    } else if (to == SC_BOOL) {
        r.i = scalar_is_float(v.type) ? v.f != 0 : v.i != 0;
    } else if (scalar_is_float(v.type)) {
        r.i = nearest_int(v.f, to);
    } else {
        r.i = ir_wrap_int(to, v.i);
    }
    return r;
}

static int64_t power(int64_t base, int64_t exponent, bool sign)
{
    uint64_t r = 1, b = (uint64_t)base;
    if (sign && exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    for (uint64_t n = (uint64_t)exponent; n; n >>= 1, b *= b)
        if (n & 1)
            r *= b;
    return (int64_t)r;
}

static bool eval_int(ir_opcode code, scalar t, int64_t a, int64_t b, int64_t *r)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool sign = scalar_is_signed(t);
    const unsigned bits = 8u * (unsigned)scalar_bytes(t);
    switch (code) {
    case OP_ADD:
        *r = (int64_t)(ua + ub);
        break;
    case OP_SUB:
        *r = (int64_t)(ua - ub);
        break;
    case OP_MUL:
        *r = (int64_t)(ua * ub);
        break;
    case OP_NEG:
        *r = (int64_t)(0 - ua);
        break;
    case OP_DIV:
        *r = b == 0 ? 0 : sign ? (b == -1 ? (int64_t)(0 - ua) : a / b) : (int64_t)(ua / ub);
        break;
    case OP_REM:
        *r = b == 0 ? 0 : sign ? (b == -1 ? 0 : a % b) : (int64_t)(ua % ub);
        break;
    case OP_MOD:
        if (b == 0 || (sign && b == -1)) {
            *r = 0;
            break;
        }
        *r = sign ? a % b : (int64_t)(ua % ub);
        if (sign && *r != 0 && (*r < 0) != (b < 0))
            *r += b;
        break;
    case OP_IPOW:
        *r = power(a, b, sign);
        break;
    case OP_AND:
        *r = a & b;
        break;
    case OP_OR:
        *r = a | b;
        break;
    case OP_XOR:
        *r = a ^ b;
        break;
    case OP_NOT:
        *r = t == SC_BOOL ? !a : ~a;
        break;
    case OP_SHL:
        *r = (int64_t)(ua << (ub & (bits - 1)));
        break;
    case OP_SHR:
        *r = sign ? a >> (ub & (bits - 1)) : (int64_t)(ua >> (ub & (bits - 1)));
        break;
    case OP_MIN:
        *r = sign ? (a < b ? a : b) : (ua < ub ? a : b);
        break;
    case OP_MAX:
        *r = sign ? (a > b ? a : b) : (ua > ub ? a : b);
        break;
    case OP_ABS:
        *r = sign && a < 0 ? (int64_t)(0 - ua) : a;
        break;
    case OP_SIGN:
        *r = sign ? (a > 0) - (a < 0) : a != 0;
        break;
    default:
        return false;
    }
    *r = ir_wrap_int(t, *r);
    return true;
}

static bool eval_compare(ir_opcode code, const const_value *x, int64_t *r)
{
    int less, equal;
    if (scalar_is_float(x[0].type)) {
        if (isnan(x[0].f) || isnan(x[1].f)) {
            *r = code == OP_NE;
            return code >= OP_EQ && code <= OP_GE;
        }
        less = x[0].f < x[1].f;
        equal = x[0].f == x[1].f;
    } else {
        less = scalar_is_signed(x[0].type) ? x[0].i < x[1].i : (uint64_t)x[0].i < (uint64_t)x[1].i;
        equal = x[0].i == x[1].i;
    }
    switch (code) {
    case OP_EQ:
        *r = equal;
        return true;
    case OP_NE:
        *r = !equal;
        return true;
    case OP_LT:
        *r = less;
        return true;
    case OP_LE:
        *r = less || equal;
        return true;
    case OP_GT:
        *r = !less && !equal;
        return true;
    case OP_GE:
        *r = !less;
        return true;
    default:
        return false;
    }
}

/* As tk_powi does it, rounding after each step. */
static double powi(bool single, double a, int64_t n)
{
    double r = 1, x = a;
    if (n > 7 || n < -7) {
        const double size = single ? (double)(float)pow(fabs(a), (double)n) : pow(fabs(a), (double)n);
        return n & 1 ? copysign(size, a) : size;
    }
    for (int64_t k = n < 0 ? -n : n; k; k >>= 1) {
        if (k & 1)
            r = single ? (double)(float)(r * x) : r * x;
        x = single ? (double)(float)(x * x) : x * x;
    }
    return n >= 0 ? r : single ? (double)(float)(1 / r) : 1 / r;
}

/* As tk_mod does it. */
static double mod(bool single, double a, double b)
{
    const double r = fmod(a, b);
    if (r == 0)
        return copysign(r, b);
    if ((r < 0) == (b < 0))
        return r;
    const double whole = single ? (double)(float)(r + b) : r + b;
    return whole != b ? whole : single ? (double)nextafterf((float)b, 0.0f) : nextafter(b, 0.0);
}

#define MATH(name) (single ? (double)name##f((float)a) : name(a))

static bool eval_float(ir_opcode code, bool single, double a, double b, double *r)
{
    switch (code) {
    case OP_ADD:
        *r = a + b;
        break;
    case OP_SUB:
        *r = a - b;
        break;
    case OP_MUL:
        *r = a * b;
        break;
    case OP_DIV:
        *r = a / b;
        break;
    case OP_REM:
        *r = fmod(a, b);
        break;
    case OP_MOD:
        *r = mod(single, a, b);
        break;
    case OP_NEG:
        *r = -a;
        break;
    case OP_POW:
        *r = single ? (double)powf((float)a, (float)b) : pow(a, b);
        break;
    case OP_MIN:
        *r = a < b ? a : b;
        break;
    case OP_MAX:
        *r = a > b ? a : b;
        break;
    case OP_ABS:
        *r = fabs(a);
        break;
    case OP_SIGN:
        *r = (a > 0) - (a < 0);
        break;
    case OP_FLOOR:
        *r = floor(a);
        break;
    case OP_CEIL:
        *r = ceil(a);
        break;
    case OP_ROUND:
        *r = round(a);
        break;
    case OP_TRUNC:
        *r = trunc(a);
        break;
    case OP_FRACT:
        *r = a - floor(a);
        break;
    case OP_NONZERO:
        *r = a == 0 ? INFINITY : a;
        break;
    case OP_SQRT:
    case OP_ROOT:
        *r = MATH(sqrt);
        break;
    case OP_RSQRT:
        *r = single ? (double)(1.0f / sqrtf((float)a)) : 1 / sqrt(a);
        break;
    case OP_CBRT:
        *r = MATH(cbrt);
        break;
    case OP_EXP:
        *r = MATH(exp);
        break;
    case OP_EXP2:
        *r = MATH(exp2);
        break;
    case OP_EXPM1:
        *r = MATH(expm1);
        break;
    case OP_LOG:
        *r = MATH(log);
        break;
    case OP_LOG2:
        *r = MATH(log2);
        break;
    case OP_LOG1P:
        *r = MATH(log1p);
        break;
    case OP_SIN:
        *r = MATH(sin);
        break;
    case OP_COS:
        *r = MATH(cos);
        break;
    case OP_TAN:
        *r = MATH(tan);
        break;
    case OP_ASIN:
        *r = MATH(asin);
        break;
    case OP_ACOS:
        *r = MATH(acos);
        break;
    case OP_ATAN:
        *r = MATH(atan);
        break;
    case OP_ATAN2:
        *r = single ? (double)atan2f((float)a, (float)b) : atan2(a, b);
        break;
    case OP_SINH:
        *r = MATH(sinh);
        break;
    case OP_COSH:
        *r = MATH(cosh);
        break;
    case OP_TANH:
        *r = MATH(tanh);
        break;
    case OP_HYPOT:
        *r = single ? (double)hypotf((float)a, (float)b) : hypot(a, b);
        break;
    case OP_ERF:
        *r = MATH(erf);
        break;
    case OP_ERFC:
        *r = MATH(erfc);
        break;
    case OP_SIGMOID:
        *r = single ? (double)(1.0f / (1.0f + expf(-(float)a))) : 1 / (1 + exp(-a));
        break;
    case OP_SOFTPLUS:
        *r = single ? (double)(fmaxf((float)a, 0.0f) + log1pf(expf(-fabsf((float)a))))
                    : fmax(a, 0) + log1p(exp(-fabs(a)));
        break;
    default:
        return false; /* lgamma and its derivatives are left to run time */
    }
    if (single)
        *r = (double)(float)*r;
    return true;
}

bool eval_op(ir_opcode code, const const_value *x, const_value *out)
{
    const scalar t = x[0].type;
    if (code == OP_CAST || code == OP_STOP)
        return false;
    const_value r = {.type = t};
    if (code == OP_SELECT) {
        *out = x[0].i ? x[1] : x[2];
        return true;
    }
    if (code >= OP_EQ && code <= OP_GE) {
        r.type = SC_BOOL;
        if (!eval_compare(code, x, &r.i))
            return false;
        *out = r;
        return true;
    }
    const int arity = op_get(code)->arity;
    if (!scalar_is_float(t)) {
        if (!eval_int(code, t, x[0].i, arity > 1 ? x[1].i : 0, &r.i))
            return false;
    } else if (code == OP_ISNAN || code == OP_ISINF) {
        r.type = SC_BOOL;
        r.i = code == OP_ISNAN ? isnan(x[0].f) : isinf(x[0].f) != 0;
    } else if (code == OP_POWI) {
        r.f = powi(t == SC_F32, x[0].f, x[1].i);
    } else if (!eval_float(code, t == SC_F32, x[0].f, arity > 1 ? x[1].f : 0, &r.f)) {
        return false;
    }
    *out = r;
    return true;
}
