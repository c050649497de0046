/* Folding: constants, identities exact in IEEE arithmetic, constant branches, trivial loops, subscripts in 64 bits.
 *
 * One walk in program order with a map from replaced values to their replacements: every use comes later than its definition, so one walk resolves all.
 */
#include <math.h>

#include "ir/eval.h"
#include "passes/passes.h"

typedef struct folder {
    ir_func *f;
    ir_map map;
    bool changed;
} folder;

static void fold_region(folder *c, ir_region *r);

static ir_value *resolve(const folder *c, ir_value *v)
{
    for (ir_value *to; v->id < c->map.n && (to = ir_map_get(&c->map, v));)
        v = to;
    return v;
}

static void replace(folder *c, ir_value *v, ir_value *by)
{
    if (v == by)
        return;
    if (v->name && !by->name && by->def && by->def->code != OP_CONST)
        by->name = v->name;
    ir_map_set(&c->map, v, by);
    c->changed = true;
}

static ir_builder before(const folder *c, ir_op *op)
{
    return (ir_builder){.func = c->f, .region = op->region, .before = op, .loc = op->loc, .origin = op->origin};
}

static const_value value_of(const ir_value *v)
{
    const_value k = {.type = v->type};
    if (scalar_is_float(v->type))
        k.f = v->def->attr.f;
    else
        k.i = v->def->attr.i;
    return k;
}

static ir_value *constant(ir_builder *b, const_value k)
{
    return scalar_is_float(k.type) ? ir_const_f(b, k.type, k.f) : ir_const_i(b, k.type, k.i);
}

static bool is_int(const ir_value *v, int64_t i)
{
    return ir_is_const(v) && !scalar_is_float(v->type) && v->type != SC_PTR && v->def->attr.i == i;
}

static bool is_float(const ir_value *v, double f)
{
    return ir_is_const(v) && scalar_is_float(v->type) && v->def->attr.f == f && !signbit(v->def->attr.f) == !signbit(f);
}

static bool is_op(const ir_value *v, ir_opcode code)
{
    return v->def && v->def->code == code;
}

/* ---- pure operations ---- */

static ir_value *fold_constant(folder *c, ir_op *op)
{
    const_value x[3] = {{0}}, r;
    for (int i = 0; i < op->nargs; i++) {
        if (!ir_is_const(op->args[i]) || op->args[i]->type == SC_PTR)
            return NULL;
        x[i] = value_of(op->args[i]);
    }
    if (op->code == OP_CAST)
        r = eval_cast(x[0], op->res[0]->type);
    else if (!eval_op(op->code, x, &r))
        return NULL;
    ir_builder b = before(c, op);
    return constant(&b, r);
}

static ir_value *fold_float(ir_builder *b, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs > 1 ? op->args[1] : NULL;
    switch (op->code) {
    case OP_ADD:
        if (is_float(y, -0.0))
            return x;
        if (is_float(x, -0.0))
            return y;
        if (is_op(y, OP_NEG))
            return ir_op2(b, OP_SUB, x, y->def->args[0]);
        if (is_op(x, OP_NEG))
            return ir_op2(b, OP_SUB, y, x->def->args[0]);
        return NULL;
    case OP_SUB:
        if (is_float(y, 0.0))
            return x;
        if (is_op(y, OP_NEG))
            return ir_op2(b, OP_ADD, x, y->def->args[0]);
        return NULL;
    case OP_MUL:
        if (is_float(y, 1.0))
            return x;
        if (is_float(x, 1.0))
            return y;
        if (is_float(y, -1.0))
            return ir_op1(b, OP_NEG, x);
        if (is_float(x, -1.0))
            return ir_op1(b, OP_NEG, y);
        if (is_op(x, OP_NEG) && is_op(y, OP_NEG))
            return ir_op2(b, OP_MUL, x->def->args[0], y->def->args[0]);
        return NULL;
    case OP_DIV:
        if (is_float(y, 1.0))
            return x;
        return is_float(y, -1.0) ? ir_op1(b, OP_NEG, x) : NULL;
    case OP_NEG:
        return is_op(x, OP_NEG) ? x->def->args[0] : NULL;
    default:
        return NULL;
    }
}

/* x + k in one canonical form. */
static ir_value *add_constant(ir_builder *b, ir_value *x, int64_t k)
{
    k = eval_wrap(x->type, k);
    if (k == 0)
        return x;
    const int64_t minus = eval_wrap(x->type, (int64_t)(0 - (uint64_t)k));
    return k < 0 && minus > 0 ? ir_op2(b, OP_SUB, x, ir_const_i(b, x->type, minus)) : ir_op2(b, OP_ADD, x, ir_const_i(b, x->type, k));
}

static ir_value *fold_int_sum(ir_builder *b, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->args[1];
    if (op->code == OP_ADD && ir_is_const(x)) {
        ir_value *t = x;
        x = y;
        y = t;
    }
    if (op->code == OP_SUB && x == y)
        return ir_const_i(b, x->type, 0);
    if (!ir_is_const(y))
        return NULL;
    uint64_t k = (uint64_t)y->def->attr.i;
    if (op->code == OP_SUB)
        k = 0 - k;
    const bool nested = (is_op(x, OP_ADD) || is_op(x, OP_SUB)) && ir_is_const(x->def->args[1]);
    if (nested) {
        const uint64_t inner = (uint64_t)x->def->args[1]->def->attr.i;
        k += x->def->code == OP_ADD ? inner : 0 - inner;
        x = x->def->args[0];
    }
    const int64_t s = eval_wrap(x->type, (int64_t)k);
    const bool canonical = !nested && x == op->args[0] && s != 0 && (op->code == OP_SUB) == (s < 0 && eval_wrap(x->type, -s) > 0);
    return canonical ? NULL : add_constant(b, x, s);
}

static ir_value *fold_int(ir_builder *b, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs > 1 ? op->args[1] : NULL;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return fold_int_sum(b, op);
    case OP_MUL:
        if (is_int(y, 1))
            return x;
        if (is_int(x, 1))
            return y;
        return is_int(x, 0) || is_int(y, 0) ? ir_const_i(b, x->type, 0) : NULL;
    case OP_DIV:
        return is_int(y, 1) ? x : NULL;
    case OP_NEG:
        return is_op(x, OP_NEG) ? x->def->args[0] : NULL;
    case OP_MIN:
    case OP_MAX:
        return x == y ? x : NULL;
    default:
        return NULL;
    }
}

static ir_value *fold_logic(ir_builder *b, ir_op *op)
{
    ir_value *x = op->args[0], *y = op->nargs > 1 ? op->args[1] : NULL;
    if (op->code == OP_NOT)
        return is_op(x, OP_NOT) ? x->def->args[0] : NULL;
    if (x == y && (op->code == OP_AND || op->code == OP_OR))
        return x;
    if (x->type != SC_BOOL)
        return NULL;
    if (op->code == OP_AND) {
        if (is_int(x, 1) || is_int(y, 0))
            return y;
        if (is_int(y, 1) || is_int(x, 0))
            return x;
    } else if (op->code == OP_OR) {
        if (is_int(x, 0) || is_int(y, 1))
            return y;
        if (is_int(y, 0) || is_int(x, 1))
            return x;
    }
    (void)b;
    return NULL;
}

static ir_value *fold_cast(ir_builder *b, ir_op *op)
{
    ir_value *x = op->args[0];
    const scalar to = op->res[0]->type;
    if (x->type == to)
        return x;
    if (!is_op(x, OP_CAST))
        return NULL;
    ir_value *inner = x->def->args[0];
    /* i64(i32(index)) */
    if (to == SC_I64 && inner->type == SC_I64 && x->type == SC_I32 && value_fits_i32(inner))
        return inner;
    /* widening twice */
    const bool ints = scalar_is_int(inner->type) && scalar_is_int(x->type) && scalar_is_int(to);
    if (ints && scalar_is_signed(inner->type) == scalar_is_signed(x->type) && scalar_bytes(inner->type) < scalar_bytes(x->type))
        return ir_cast(b, to, inner);
    return NULL;
}

static ir_value *fold_pure(folder *c, ir_op *op)
{
    ir_value *v = fold_constant(c, op);
    if (v)
        return v;
    ir_builder b = before(c, op);
    ir_value *x = op->args[0];
    switch (op->code) {
    case OP_STOP:
        return NULL;
    case OP_CAST:
        return fold_cast(&b, op);
    case OP_SELECT:
        if (ir_is_const(x))
            return x->def->attr.i ? op->args[1] : op->args[2];
        if (op->args[1] == op->args[2])
            return op->args[1];
        if (is_op(x, OP_NOT))
            return ir_op3(&b, OP_SELECT, x->def->args[0], op->args[2], op->args[1]);
        if (op->args[1]->type == SC_BOOL && is_int(op->args[1], 1) && is_int(op->args[2], 0))
            return x;
        if (op->args[1]->type == SC_BOOL && is_int(op->args[1], 0) && is_int(op->args[2], 1))
            return ir_op1(&b, OP_NOT, x);
        return NULL;
    case OP_AND:
    case OP_OR:
    case OP_NOT:
        return fold_logic(&b, op);
    case OP_EQ:
    case OP_LE:
    case OP_GE:
        return op->args[0] == op->args[1] && !scalar_is_float(x->type) ? ir_const_i(&b, SC_BOOL, 1) : NULL;
    case OP_NE:
    case OP_LT:
    case OP_GT:
        return op->args[0] == op->args[1] && !scalar_is_float(x->type) ? ir_const_i(&b, SC_BOOL, 0) : NULL;
    default:
        return scalar_is_float(x->type) ? fold_float(&b, op) : fold_int(&b, op);
    }
}

/* ---- subscripts ---- */

/* The i32 expression v in 64 bits: in a subscript + - * do not wrap (docs/language.md). */
static ir_value *widen(ir_builder *b, ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (op && depth > 0 && v->type == SC_I32) {
        if (op->code == OP_CONST)
            return ir_const_i(b, SC_I64, op->attr.i);
        if (op->code == OP_CAST && op->args[0]->type == SC_I64 && value_fits_i32(op->args[0]))
            return op->args[0];
        if (op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL) {
            ir_value *x = widen(b, op->args[0], depth - 1), *y = widen(b, op->args[1], depth - 1);
            return ir_op2(b, op->code, x, y);
        }
        if (op->code == OP_NEG)
            return ir_op1(b, OP_NEG, widen(b, op->args[0], depth - 1));
    }
    return ir_cast(b, SC_I64, v);
}

static void widen_subscript(folder *c, ir_op *op, int i)
{
    ir_value *v = op->args[i];
    if (!is_op(v, OP_CAST) || v->def->args[0]->type != SC_I32)
        return;
    ir_value *x = v->def->args[0];
    if (!x->def || (x->def->code != OP_ADD && x->def->code != OP_SUB && x->def->code != OP_MUL && x->def->code != OP_NEG))
        return;
    ir_builder b = before(c, op);
    op->args[i] = widen(&b, x, 8);
    c->changed = true;
}

static void fold_memory(folder *c, ir_op *op)
{
    if (op->code == OP_LLOAD || op->code == OP_LSTORE) {
        widen_subscript(c, op, 1);
        return;
    }
    for (int i = 0; i <= op->attr.field->ndim; i++)
        widen_subscript(c, op, i);
}

/* ---- structure ---- */

/* Moves r's operations before op and maps op's results to its yield. */
static void splice(folder *c, ir_op *op, ir_region *r)
{
    ir_op *y = ir_yield_of(r);
    while (r->first != y)
        ir_move(r->first, op->region, op);
    for (int i = 0; i < y->nargs; i++)
        replace(c, op->res[i], resolve(c, y->args[i]));
    ir_remove(op);
    c->changed = true;
}

static void fold_if(folder *c, ir_op *op)
{
    ir_value *cond = op->args[0];
    fold_region(c, op->regions[0]);
    fold_region(c, op->regions[1]);
    if (ir_is_const(cond)) {
        splice(c, op, op->regions[cond->def->attr.i ? 0 : 1]);
        return;
    }
    for (int i = 0; i < op->nres; i++) {
        ir_value *a = ir_yield_of(op->regions[0])->args[i], *b = ir_yield_of(op->regions[1])->args[i];
        if (a == b)
            replace(c, op->res[i], a);
        else if (ir_is_const(a) && ir_is_const(b) && a->type == b->type && a->type != SC_PTR && scalar_is_float(a->type) &&
                 is_float(a, b->def->attr.f)) {
            ir_builder at = before(c, op);
            replace(c, op->res[i], ir_const_f(&at, a->type, a->def->attr.f));
        } else if (a->type == SC_BOOL && is_int(a, 1) && is_int(b, 0)) {
            replace(c, op->res[i], cond);
        }
    }
}

/* Carried values that come back unchanged are their initial values. */
static void fold_carried(folder *c, ir_op *op)
{
    const int i0 = ir_loop_first_init(op), p0 = ir_loop_first_param(op);
    ir_op *y = ir_yield_of(op->regions[0]);
    for (int k = ir_loop_ncarried(op) - 1; k >= 0; k--) {
        ir_value *p = op->regions[0]->params[p0 + k], *back = resolve(c, y->args[k]);
        if (back != p && back != op->args[i0 + k])
            continue;
        replace(c, p, op->args[i0 + k]);
        replace(c, op->res[k], op->args[i0 + k]);
        if (op->attr.cond) {
            replace(c, op->regions[1]->params[k], op->args[i0 + k]);
            ir_region_remove_param(op->regions[1], k);
        }
        ir_region_remove_param(op->regions[0], p0 + k);
        ir_remove_arg(y, k);
        ir_remove_arg(op, i0 + k);
        ir_remove_result(op, k);
    }
}

static void fold_loop(folder *c, ir_op *op)
{
    fold_carried(c, op);
    const bool known = op->attr.bounded && ir_is_const(op->args[0]) && ir_is_const(op->args[1]);
    const int i0 = ir_loop_first_init(op), n = ir_loop_ncarried(op);
    if (known && op->args[0]->def->attr.i >= op->args[1]->def->attr.i) {
        ir_builder b = before(c, op);
        for (int k = 0; k < n; k++)
            replace(c, op->res[k], op->args[i0 + k]);
        if (op->attr.cond)
            replace(c, op->res[n], ir_const_i(&b, SC_I64, 0));
        ir_remove(op);
        c->changed = true;
        return;
    }
    if (known && !op->attr.cond && op->args[1]->def->attr.i - op->args[0]->def->attr.i == 1) {
        ir_region *body = op->regions[0];
        replace(c, body->params[0], op->args[0]);
        for (int k = 0; k < n; k++)
            replace(c, body->params[1 + k], op->args[i0 + k]);
        fold_region(c, body);
        splice(c, op, body);
        return;
    }
    if (op->attr.cond)
        fold_region(c, op->regions[1]);
    fold_region(c, op->regions[0]);
}

static void fold_op(folder *c, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        op->args[i] = resolve(c, op->args[i]);
    switch (op->code) {
    case OP_IF:
        fold_if(c, op);
        return;
    case OP_LOOP:
        fold_loop(c, op);
        return;
    case OP_TASK:
        fold_region(c, op->regions[0]);
        return;
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
    case OP_LLOAD:
    case OP_LSTORE:
        fold_memory(c, op);
        return;
    default:
        break;
    }
    if (!op_is_pure_table(op->code))
        return;
    ir_value *v = fold_pure(c, op);
    if (v)
        replace(c, op->res[0], v);
}

static void fold_region(folder *c, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        fold_op(c, op);
    }
}

bool pass_fold(ir_func *f)
{
    folder c = {f, ir_map_create(f), false};
    fold_region(&c, f->body);
    ir_map_free(&c.map);
    return c.changed;
}
