/* Constant factors meet: in adjoints every value is seen as factor * base, and products, quotients and sums are built
 * from the bases. Derivative rules multiply by 2, 0.5 and -1 all the time; most of them cancel. Rounding may differ in
 * the last place, which is why this is done in adjoints only, whose values nobody compares bit for bit.
 *
 *     t = g * -i * i * -0.5 * i;  u = r * t;  v = u + u       becomes       v = r * (g * i * i * i)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/derive/algebra/algebra.h"

typedef struct scaled {
    double factor;
    ir_value *base; /* NULL: factor 1 and the value itself */
} scaled;

typedef struct scaler {
    ir_func *f;
    scaled *at; /* by value id */
    uint32_t n;
    ir_map map;
    bool changed;
} scaler;

static ir_value *resolve(const scaler *s, ir_value *v)
{
    for (ir_value *to; (to = ir_map_get(&s->map, v));)
        v = to;
    return v;
}

static scaled of(const scaler *s, ir_value *v)
{
    scaled x = {1.0, v};
    if (v->id < s->n && s->at[v->id].base)
        x = s->at[v->id];
    return x;
}

static void set(scaler *s, const ir_value *v, scaled x)
{
    if (v->id >= s->n) {
        const uint32_t n = 2 * v->id + 16;
        s->at = xrealloc(s->at, n * sizeof *s->at);
        memset(s->at + s->n, 0, (n - s->n) * sizeof *s->at);
        s->n = n;
    }
    s->at[v->id] = x;
}

bool algebra_is_near_one(double x, scalar type)
{
    const double most = type == SC_F32 ? 1e4 : 1e60;
    return fabs(x) > 1.0 / most && fabs(x) < most;
}

static bool constant(const ir_value *v, double *c)
{
    if (!ir_is_const(v) || !scalar_is_float(v->type))
        return false;
    *c = ir_float(v);
    return algebra_is_near_one(*c, v->type);
}

/* A product with a constant, or a negation, of a value that is its own base stays as it is. */
static bool is_scaled(scaler *s, const ir_op *op)
{
    double c = -1.0;
    if (op->code != OP_NEG && !(op->code == OP_MUL && constant(op->args[1], &c) && !ir_is_const(op->args[0])))
        return false;
    if (of(s, op->args[0]).factor != 1.0)
        return false;
    set(s, op->res[0], (scaled){c, op->args[0]});
    return true;
}

/* What an adjoint begins with. */
static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && scalar_is_float(v->type) && ir_float(v) == 0.0;
}

/* op's value as a factor and an operation on the bases; false: nothing to gain. */
static bool rebuild(scaler *s, ir_builder *b, const ir_op *op, scaled *out)
{
    const scaled x = of(s, op->args[0]), y = op->nargs > 1 ? of(s, op->args[1]) : x;
    double c;
    switch (op->code) {
    case OP_NEG:
        *out = (scaled){-x.factor, x.base};
        return true;
    case OP_MUL:
        if (constant(op->args[1], &c) || constant(op->args[0], &c)) {
            *out = constant(op->args[1], &c) ? (scaled){x.factor * c, x.base} : (scaled){y.factor * c, y.base};
            return algebra_is_near_one(out->factor, op->res[0]->type);
        }
        if (x.factor == 1.0 && y.factor == 1.0)
            return false;
        out->factor = x.factor * y.factor;
        if (!algebra_is_near_one(out->factor, op->res[0]->type))
            return false;
        out->base = ir_op2(b, OP_MUL, x.base, y.base);
        return true;
    case OP_DIV:
        if (ir_is_const(op->args[1]) || (x.factor == 1.0 && y.factor == 1.0))
            return false;
        out->factor = x.factor / y.factor;
        if (!algebra_is_near_one(out->factor, op->res[0]->type) || ir_is_const(x.base))
            return false;
        out->base = ir_op2(b, OP_DIV, x.base, y.base);
        return true;
    case OP_ADD:
        if (is_zero(op->args[0]) || is_zero(op->args[1])) {
            *out = is_zero(op->args[1]) ? x : y;
            return true;
        }
        /* fall through */
    case OP_SUB: {
        const double sign = op->code == OP_SUB ? -1.0 : 1.0;
        if (x.base == y.base) {
            *out = (scaled){x.factor + sign * y.factor, x.base};
            return algebra_is_near_one(out->factor, op->res[0]->type);
        }
        if (fabs(x.factor) != fabs(y.factor) || (x.factor == 1.0 && y.factor == 1.0))
            return false;
        const bool same = (x.factor == y.factor) == (op->code == OP_ADD);
        *out = (scaled){x.factor, ir_op2(b, same ? OP_ADD : OP_SUB, x.base, y.base)};
        return true;
    }
    default:
        return false;
    }
}

static void scale_op(scaler *s, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        op->args[i] = resolve(s, op->args[i]);
    if (op->nres != 1 || op->nargs == 0 || !scalar_is_float(op->res[0]->type) || op->res[0]->exact)
        return;
    ir_builder b = {.func = s->f, .region = op->region, .before = op, .loc = op->loc, .origin = op->origin};
    scaled x;
    if (is_scaled(s, op) || !rebuild(s, &b, op, &x))
        return;
    ir_value *v = x.base;
    if (x.factor == -1.0)
        v = ir_op1(&b, OP_NEG, x.base);
    else if (x.factor != 1.0)
        v = ir_op2(&b, OP_MUL, x.base, ir_const_f(&b, x.base->type, x.factor));
    if (!v->name)
        v->name = op->res[0]->name;
    set(s, v, x);
    ir_map_set(&s->map, op->res[0], v);
    s->changed = true;
}

static void scale_region(scaler *s, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        scale_op(s, op);
        for (int k = 0; k < op->nregions; k++)
            scale_region(s, op->regions[k]);
    }
}

bool scale_values(ir_func *f)
{
    scaler s = {.f = f, .map = ir_map_create(f)};
    scale_region(&s, f->body);
    ir_map_free(&s.map);
    free(s.at);
    return s.changed;
}
