/* Ranges of floats: between which bounds a value lies, whatever the data, and whether it may be NaN. For casts to
 * integers that need no check of their own.
 *
 * Intervals from the leaves up, without regard to branches, so that what is found holds wherever the value is computed.
 * Each bound is widened by more than the rounding of an operation in f32, contracted or not.
 */
#include <float.h>
#include <math.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"

typedef struct range {
    double lo, hi;
    bool nan;
} range;

enum { BUDGET = 64 }; /* operations looked at; beyond it nothing is known */

static const range unknown = {-INFINITY, INFINITY, true};

static range widened(double lo, double hi, bool nan)
{
    const double slack = 0x1p-21;
    return lo == lo && hi == hi ? (range){lo - fabs(lo) * slack, hi + fabs(hi) * slack, nan} : unknown;
}

static bool is_finite(range r)
{
    return !r.nan && isfinite(r.lo) && isfinite(r.hi);
}

/* Over the four corners; NaN comes of infinities only. */
static range corners(range a, range b, bool divide)
{
    if (!is_finite(a) || !is_finite(b) || (divide && b.lo <= 0 && b.hi >= 0))
        return unknown;
    const double y[2] = {divide ? 1 / b.lo : b.lo, divide ? 1 / b.hi : b.hi};
    const double at[4] = {a.lo * y[0], a.lo * y[1], a.hi * y[0], a.hi * y[1]};
    return widened(fmin(fmin(at[0], at[1]), fmin(at[2], at[3])), fmax(fmax(at[0], at[1]), fmax(at[2], at[3])), false);
}

/* The second operand at NaN, as tkc_math.h has it. */
static range larger(range a, range b)
{
    return (range){a.nan ? b.lo : fmax(a.lo, b.lo), fmax(a.hi, b.hi), b.nan};
}

static range negated(range a)
{
    return (range){-a.hi, -a.lo, a.nan};
}

static range of_integers(scalar type)
{
    const int bits = 8 * scalar_bytes(type);
    if (type == SC_BOOL)
        return (range){0, 1, false};
    return scalar_is_signed(type) ? widened(-ldexp(1, bits - 1), ldexp(1, bits - 1), false)
                                  : widened(0, ldexp(1, bits), false);
}

static range of_value(const ir_value *v, int *budget);

static range of_op(const ir_op *op, int *budget)
{
    if (op->code == OP_CONST)
        return isnan(ir_const_attr(op)->f) ? unknown : (range){ir_const_attr(op)->f, ir_const_attr(op)->f, false};
    if (op->code == OP_CAST && !scalar_is_float(op->args[0]->type))
        return of_integers(op->args[0]->type);
    if (op->code == OP_SELECT) {
        const range a = of_value(op->args[1], budget), b = of_value(op->args[2], budget);
        return (range){fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.nan || b.nan};
    }
    if (op->code == OP_RANDOM)
        return (range){0, 1, false};
    if (op->nargs < 1 || op->nargs > 2 || !op_is_pure_table(op->code))
        return unknown;
    const range a = of_value(op->args[0], budget), b = op->nargs > 1 ? of_value(op->args[1], budget) : unknown;
    switch (op->code) {
    case OP_CAST:
        return widened(a.lo, a.hi, a.nan);
    case OP_STOP:
        return a;
    case OP_NEG:
        return negated(a);
    case OP_ADD:
        return is_finite(a) && is_finite(b) ? widened(a.lo + b.lo, a.hi + b.hi, false) : unknown;
    case OP_SUB:
        return is_finite(a) && is_finite(b) ? widened(a.lo - b.hi, a.hi - b.lo, false) : unknown;
    case OP_MUL:
        return corners(a, b, false);
    case OP_DIV:
        return corners(a, b, true);
    case OP_MAX:
        return larger(a, b);
    case OP_MIN:
        return negated(larger(negated(a), negated(b)));
    case OP_ABS:
        return (range){a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, fmax(-a.lo, a.hi), a.nan};
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
        return (range){floor(a.lo), ceil(a.hi), a.nan};
    case OP_FRACT:
        return (range){0, 1, !is_finite(a)};
    case OP_SIGN:
        return (range){-1, 1, false};
    case OP_SIN:
    case OP_COS:
        return widened(-1, 1, !is_finite(a));
    case OP_TANH:
    case OP_ERF:
        return widened(-1, 1, a.nan);
    default:
        return unknown;
    }
}

static range of_value(const ir_value *v, int *budget)
{
    if (!v->def || !scalar_is_float(v->type) || --*budget < 0)
        return unknown;
    const range r = of_op(v->def, budget);
    const double most = v->type == SC_F32 ? (double)FLT_MAX : DBL_MAX;
    return (range){r.lo < -most ? -INFINITY : r.lo, r.hi > most ? INFINITY : r.hi, r.nan}; /* it overflows */
}

bool cast_is_plain(const ir_op *cast)
{
    const scalar to = cast->res[0]->type;
    int budget = BUDGET;
    const range r = of_value(cast->args[0], &budget);
    const int bits = 8 * scalar_bytes(to) - scalar_is_signed(to);
    return !r.nan && r.lo >= (scalar_is_signed(to) ? -ldexp(1, bits) : 0) && r.hi < ldexp(1, bits);
}
