/* Evaluation at compile time. */
#include <math.h>

#include "check/base/checker.h"
#include "ir/eval.h"

bool const_is(const tx_expr *e)
{
    if (e->kind == TX_CONST)
        return true;
    if (e->kind != TX_BUILD && e->kind != TX_GROUP)
        return false;
    for (int k = 0; k < e->nargs; k++)
        if (!const_is(e->args[k]))
            return false;
    return true;
}

bool const_fits(scalar t, int64_t i)
{
    return t == SC_U64 ? i >= 0 : scalar_is_float(t) || ir_wrap_int(t, i) == i;
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
    const_value v = {.type = from};
    if (scalar_is_float(from)) {
        v.f = a->cval.f;
        double least = to == SC_U64 ? 0 : -0x1p63, limit = to == SC_U64 ? 0x1p64 : 0x1p63;
        if (scalar_is_int(to) &&
            !(trunc(v.f) >= least && trunc(v.f) < limit && (to == SC_U64 || const_fits(to, (int64_t)v.f))))
            return false;
    } else {
        v.i = a->cval.i;
    }
    v = eval_cast(v, to);
    if (scalar_is_float(to))
        r->cval.f = v.f;
    else
        r->cval.i = v.i;
    return true;
}

static bool power_overflows(int64_t base, int64_t n)
{
    int64_t r = 1;
    for (int64_t k = 0; k < n && base != 0 && base != 1 && base != -1; k++)
        if (__builtin_mul_overflow(r, base, &r))
            return true;
    return false;
}

/* Literals must not overflow; typed integers wrap. */
static bool overflows(ir_opcode op, int64_t a, int64_t b)
{
    int64_t r;
    if (op == OP_SHL)
        return b < 0 || b > 62 || a > (INT64_MAX >> b) || a < (INT64_MIN >> b);
    if (op == OP_SHR)
        return b < 0 || b > 63;
    if (op == OP_IPOW)
        return power_overflows(a, b);
    return (op == OP_ADD && __builtin_add_overflow(a, b, &r)) || (op == OP_SUB && __builtin_sub_overflow(a, b, &r)) ||
           (op == OP_MUL && __builtin_mul_overflow(a, b, &r)) || (op == OP_NEG && a == INT64_MIN) ||
           (op == OP_DIV && a == INT64_MIN && b == -1);
}

/* One component; 1: folded, 0: not, -1: reported. */
static int fold_scalar(checker *c, const tx_expr *e, const const_value *v, bool soft, const_value *r)
{
    ir_opcode op = e->opcode;
    bool integers = scalar_is_int(v[0].type);
    if (op == OP_STOP) { /* a constant has no derivative anyway */
        *r = v[0];
        return 1;
    }
    if (integers && (op == OP_DIV || op == OP_REM || op == OP_MOD) && v[1].i == 0) {
        ERR(c, span_at(e->loc), DIAG_CONST_DIV_ZERO);
        return -1;
    }
    if (integers && soft && overflows(op, v[0].i, v[1].i)) {
        ERR(c, span_at(e->loc), DIAG_CONST_OVERFLOW);
        return -1;
    }
    return eval_op(op, v, r);
}

static void set_const(tx_expr *e, const_value v)
{
    if (scalar_is_float(v.type))
        e->cval.f = v.f;
    else
        e->cval.i = v.i;
}

static const_value get_const(const tx_expr *e, int i)
{
    const tx_expr *a = e->kind == TX_BUILD ? e->args[i] : e;
    const_value v = {.type = a->type->elem};
    if (scalar_is_float(v.type))
        v.f = a->cval.f;
    else
        v.i = a->cval.i;
    return v;
}

tx_expr *const_fold(checker *c, tx_expr *e, bool soft)
{
    for (int k = 0; k < e->nargs; k++)
        if (!const_is(e->args[k]))
            return e;
    const ty *scalar_type = ty_scalar(c->types, e->type->elem);
    tx_expr *r = tx_new(c, e->type->kind == TY_SCALAR ? TX_CONST : TX_BUILD, e->type, span_at(e->loc));
    r->loc = e->loc;
    if (r->kind == TX_BUILD) {
        r->nargs = ty_ncomp(e->type);
        r->args = ARENA_ARRAY(c->mem, tx_expr *, r->nargs);
    }
    for (int i = 0; i < ty_ncomp(e->type); i++) {
        const_value v[3] = {{.type = SC_I64}, {.type = SC_I64}, {.type = SC_I64}}, out;
        for (int k = 0; k < e->nargs; k++)
            v[k] = get_const(e->args[k], i);
        int ok = fold_scalar(c, e, v, soft, &out);
        if (ok < 0)
            return val_error(c, span_at(e->loc)).e;
        if (!ok)
            return e;
        tx_expr *to = r->kind == TX_CONST ? r : tx_new(c, TX_CONST, scalar_type, span_at(e->loc));
        set_const(to, out);
        if (r->kind == TX_BUILD)
            r->args[i] = to;
    }
    return r;
}
