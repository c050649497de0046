/* Literals and implicit conversions. */
#include <math.h>
#include <string.h>

#include "check/base/checker.h"

/* ---- soft values ---- */

static bool soft_int_fits(const tx_expr *e, scalar to)
{
    switch (e->kind) {
    case TX_CONST:
        return const_fits(to, e->cval.i);
    case TX_COND:
        return soft_int_fits(e->b, to) && soft_int_fits(e->c, to);
    case TX_BUILD:
        for (int k = 0; k < e->nargs; k++)
            if (!soft_int_fits(e->args[k], to))
                return false;
        return true;
    case TX_EXTRACT:
    case TX_INDEX:
        return soft_int_fits(e->a, to);
    default:
        return true;
    }
}

static bool retype_const(checker *c, tx_expr *e, softness soft, scalar to)
{
    bool was_float = soft == SOFT_FLOAT;
    if (scalar_is_float(to)) {
        double x = was_float ? e->cval.f : (double)e->cval.i;
        if (to == SC_F32) {
            const float f = !was_float ? (float)e->cval.i : e->literal ? e->single : (float)x;
            if ((isinf(f) && !isinf(x)) || (f == 0.0f && x != 0.0 && was_float && e->literal))
                return ERR(c, span_at(e->loc), DIAG_LITERAL_RANGE, arena_printf(c->mem, "%g", x), "f32");
            x = (double)f;
        }
        e->cval.f = x;
        e->literal = false;
    } else if (!const_fits(to, e->cval.i)) {
        return ERR(c, span_at(e->loc), DIAG_LITERAL_RANGE, arena_printf(c->mem, "%lld", (long long)e->cval.i),
                   scalar_name(to));
    }
    return true;
}

/* Gives a soft tree the component type `to`; in place, it belongs to nobody else. */
static bool retype(checker *c, tx_expr *e, softness soft, scalar to)
{
    bool ok = true;
    if (e->kind == TX_CONST)
        ok = retype_const(c, e, soft, to);
    scalar from = e->type->elem;
    e->type = ty_with_elem(c->types, e->type, to);
    switch (e->kind) {
    case TX_OP:
    case TX_BUILD:
        for (int k = 0; k < e->nargs; k++) {
            /* the condition of select and an integer exponent keep their type */
            bool other = e->kind == TX_OP && ((e->opcode == OP_SELECT && k == 0) || (e->opcode == OP_POWI && k == 1));
            if (!other && e->args[k]->type->elem == from)
                ok = retype(c, e->args[k], soft, to) && ok;
        }
        break;
    case TX_COND:
        ok = retype(c, e->b, soft, to) && retype(c, e->c, soft, to);
        break;
    case TX_EXTRACT:
    case TX_INDEX:
        ok = retype(c, e->a, soft, to);
        break;
    case TX_MATMUL:
        ok = retype(c, e->a, soft, to) && retype(c, e->b, soft, to);
        break;
    case TX_CAST: /* of a typed integer to whatever float the tree becomes */
    default:
        break;
    }
    return ok;
}

val int_division(checker *c, val v, src_span at, const char *as, scalar cast)
{
    const bool power = v.lost.kind == CUT_POWER;
    ERR(c, v.lost.at, DIAG_INT_DIVISION, power ? "power" : "division", as);
    if (v.lost.at.begin.line != at.begin.line)
        NOTE(c, at, "used as %s here", as);
    NOTE(c, v.lost.at, "make one operand a float, as in %s, or cast the result: %s(...)",
         power ? "2.0 ** n" : "1.0 / 2", scalar_name(cast));
    return val_error(c, at);
}

static bool is_lost(val v, scalar to)
{
    return v.lost.kind && v.soft == SOFT_INT && scalar_is_float(to);
}

static val soft_to(checker *c, val v, scalar to, src_span at)
{
    if (is_lost(v, to))
        return int_division(c, v, at, scalar_name(to), to);
    if (!retype(c, v.e, v.soft, to))
        return val_error(c, at);
    v.soft = SOFT_NO;
    return v;
}

/* SOFT_INT to SOFT_FLOAT. */
static val soften_float(checker *c, val v, src_span at)
{
    v = is_lost(v, SC_F64) ? int_division(c, v, at, "a float", c->opt->real) : soft_to(c, v, SC_F64, at);
    if (!val_bad(v)) {
        v.soft = SOFT_FLOAT;
        v.lost = (lossy){0};
    }
    return v;
}

val settle(checker *c, val v)
{
    src_span at = span_at(v.e->loc);
    if (v.soft == SOFT_FLOAT)
        return soft_to(c, v, c->opt->real, at);
    if (v.soft == SOFT_INT)
        return soft_to(c, v, c->extents || !soft_int_fits(v.e, SC_I32) ? SC_I64 : SC_I32, at);
    return v;
}

/* ---- typed values ---- */

bool scalar_widens(scalar from, scalar to)
{
    if (from == to)
        return true;
    if (from == SC_BOOL || to == SC_BOOL)
        return false;
    if (scalar_is_float(to))
        return scalar_is_int(from) || (from == SC_F32 && to == SC_F64);
    if (scalar_is_float(from))
        return false;
    if (scalar_bytes(from) >= scalar_bytes(to))
        return false;
    return !scalar_is_signed(from) || scalar_is_signed(to);
}

static tx_expr *make_cast(checker *c, tx_expr *e, scalar to)
{
    if (e->type->elem == to)
        return e;
    const ty *type = ty_with_elem(c->types, e->type, to);
    if (e->kind == TX_BUILD) { /* keeps constants constant and swizzles of constructors simple */
        tx_expr *r = tx_new(c, TX_BUILD, type, span_at(e->loc));
        r->nargs = e->nargs;
        r->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
        for (int k = 0; k < e->nargs; k++)
            r->args[k] = make_cast(c, e->args[k], to);
        return r;
    }
    tx_expr *r = tx_new(c, TX_CAST, type, span_at(e->loc));
    if (e->kind == TX_CONST && const_cast(e->type->elem, to, e, r)) {
        r->kind = TX_CONST;
        return r;
    }
    /* an extent is an i64 that was narrowed for arithmetic: no detour through i32 */
    if (e->kind == TX_CAST && e->a->kind == TX_SHAPE && to == SC_I64)
        return e->a;
    r->a = e;
    return r;
}

val cast_to(checker *c, val v, scalar s, src_span at)
{
    if (val_bad(v))
        return v;
    if (v.soft == SOFT_FLOAT && !scalar_is_float(s))
        v = soft_to(c, v, SC_F64, at);
    else if (v.soft == SOFT_INT && (s == SC_BOOL || !soft_int_fits(v.e, s)))
        v = soft_to(c, v, SC_I64, at);
    else if (v.soft != SOFT_NO) {
        v.lost = (lossy){0}; /* the cast was asked for */
        v = soft_to(c, v, s, at);
    }
    if (val_bad(v))
        return v;
    return val_typed(make_cast(c, v.e, s));
}

/* A `let` without a type is used as a float, and its value is an integer division. */
static void warn_quotient(checker *c, const sym *s, src_span at)
{
    ERR(c, at, DIAG_QUOTIENT, s->name);
    NOTE(c, s->divided, "the rest is dropped here; make one operand a float, as in real(a) / b, or write 'let %s: i32'",
         s->name);
}

/* Component type only; the caller knows that the conversion is allowed. */
static val coerce(checker *c, val v, scalar to, src_span at)
{
    if (v.soft != SOFT_NO)
        return soft_to(c, v, to, at);
    if (v.lost.kind && scalar_is_int(v.e->type->elem) && scalar_is_float(to))
        return int_division(c, v, at, scalar_name(to), to);
    if (v.quotient && scalar_is_int(v.e->type->elem) && scalar_is_float(to))
        warn_quotient(c, v.quotient, at);
    v.quotient = NULL;
    v.e = make_cast(c, v.e, to);
    return v;
}

static bool soft_converts(softness soft, scalar to)
{
    return soft == SOFT_INT ? to != SC_BOOL : scalar_is_float(to);
}

static val mismatch(checker *c, val v, const ty *to, src_span at)
{
    const ty *from = v.e->type;
    ERR(c, at, DIAG_CONVERT, name_of(c, v), ty_name(c->types, to));
    if (to->kind == TY_STRUCT)
        NOTE(c, at, "a value of it is made by %s(...), with one argument for each member", ty_name(c->types, to));
    else if (from->kind == to->kind && from->rows == to->rows && from->cols == to->cols && ty_is_numeric(to))
        NOTE(c, at, to->elem == SC_BOOL ? "compare with zero: '!= 0'" : "write the cast: %s(...)",
             ty_name(c->types, to));
    else if (from->kind == TY_SCALAR && to->kind == TY_VEC)
        NOTE(c, at, "all components the same: %s(...)", ty_name(c->types, to));
    return val_error(c, at);
}

bool converts(val v, const ty *to)
{
    const ty *from = v.e->type;
    if (from == to && v.soft == SOFT_NO)
        return true;
    return ty_is_numeric(from) && ty_is_numeric(to) && from->kind == to->kind && from->rows == to->rows &&
           from->cols == to->cols &&
           (v.soft != SOFT_NO ? soft_converts(v.soft, to->elem) : scalar_widens(from->elem, to->elem));
}

val convert(checker *c, val v, const ty *to, src_span at)
{
    if (v.e->type->kind == TY_ERROR || to->kind == TY_ERROR)
        return val_error(c, at);
    if (v.e->type == to && v.soft == SOFT_NO)
        return v;
    if (!converts(v, to))
        return mismatch(c, v, to, at);
    v = coerce(c, v, to->elem, at);
    if (scalar_is_float(to->elem))
        v.lost = (lossy){0};
    return v;
}

val to_float(checker *c, val v, src_span at)
{
    if (val_bad(v) || v.soft == SOFT_FLOAT || (v.soft == SOFT_NO && !scalar_is_int(v.e->type->elem)))
        return v;
    if (v.soft == SOFT_INT)
        return soften_float(c, v, at);
    v = coerce(c, v, SC_F64, at);
    v.soft = val_bad(v) ? SOFT_NO : SOFT_FLOAT; /* the float type is still open */
    v.lost = (lossy){0};
    return v;
}

tx_expr *to_i64(checker *c, val v, src_span at, const char *what)
{
    if (val_bad(v))
        return NULL;
    if (v.e->type->kind != TY_SCALAR || (v.soft != SOFT_INT && !scalar_is_int(v.e->type->elem))) {
        ERR(c, at, DIAG_NOT_INTEGER, what, name_of(c, v));
        if (v.e->type->kind == TY_SCALAR && scalar_is_float(v.e->type->elem))
            NOTE(c, at, "write the cast: i32(...)");
        return NULL;
    }
    v = cast_to(c, v, SC_I64, at);
    return val_bad(v) ? NULL : v.e;
}

/* ---- operands ---- */

static scalar join(scalar a, scalar b)
{
    if (a == SC_NONE || a == b)
        return b;
    if (a == SC_BOOL || b == SC_BOOL)
        return SC_NONE;
    if (scalar_is_float(a) && scalar_is_float(b))
        return SC_F64;
    if (scalar_is_float(a) || scalar_is_float(b))
        return scalar_is_float(a) ? a : b;
    return scalar_widens(a, b) ? b : scalar_widens(b, a) ? a : SC_NONE;
}

static bool no_common_type(checker *c, const val *v, int n, const char *op, src_span at)
{
    int a = -1, b = -1;
    for (int k = 0; k < n && b < 0; k++) {
        if (a >= 0 && v[k].e->type->elem != v[a].e->type->elem)
            b = k;
        if (a < 0)
            a = k;
    }
    if (b < 0)
        b = a;
    ERR(c, at, DIAG_OPERANDS, op, name_of(c, v[a]), name_of(c, v[b]));
    if (scalar_is_int(v[a].e->type->elem) && scalar_is_int(v[b].e->type->elem))
        NOTE(c, at, "neither type holds all values of the other: cast one of them");
    return false;
}

bool unify(checker *c, val *v, int n, const char *op, src_span at)
{
    scalar common = SC_NONE;
    bool typed = false, soft_float = false;
    for (int k = 0; k < n; k++) {
        if (val_bad(v[k]))
            return false;
        if (v[k].soft == SOFT_NO) {
            common = join(common, v[k].e->type->elem);
            typed = true;
            if (common == SC_NONE)
                return no_common_type(c, v, n, op, at);
        }
        soft_float = soft_float || v[k].soft == SOFT_FLOAT;
    }
    if (common == SC_BOOL) {
        for (int k = 0; k < n; k++)
            if (v[k].soft != SOFT_NO)
                return no_common_type(c, v, n, op, at);
        return true;
    }
    bool open = !typed || (soft_float && !scalar_is_float(common));
    if (open && !soft_float)
        return true; /* integer literals among themselves */
    for (int k = 0; k < n; k++) {
        v[k] = open ? to_float(c, v[k], at) : coerce(c, v[k], common, at);
        if (val_bad(v[k]))
            return false;
    }
    return true;
}

const ty *unify_shape(checker *c, const val *v, int n, const char *op, src_span at)
{
    const ty *shape = v[0].e->type;
    for (int k = 1; k < n; k++) {
        const ty *t = v[k].e->type;
        if (t->kind == TY_SCALAR)
            continue;
        if (shape->kind == TY_SCALAR) {
            shape = t;
        } else if (t->kind != shape->kind || t->rows != shape->rows || t->cols != shape->cols) {
            ERR(c, at, DIAG_SHAPES, op, ty_name(c->types, shape), ty_name(c->types, t));
            if (!strcmp(op, "*") && (t->kind == TY_MAT || shape->kind == TY_MAT))
                NOTE(c, at, "'*' is element-wise; the matrix product is '@'");
            return NULL;
        }
    }
    return ty_with_elem(c->types, shape, v[0].e->type->elem);
}
