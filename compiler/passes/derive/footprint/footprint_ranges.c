/* Values of subscripts that a launch knows before it begins, computed in the function `bounds` of footprint.c. */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/footprint/footprint.h"

enum { MAX_DEPTH = 24, BUDGET_EACH = 300 /* of a subscript */ };

/* ---- what is known before the launch ---- */

static bool is_fixed_load(const footprint *p, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    return op->code == OP_LOAD && ir_access_attr(op)->plane == IR_DATA && f->ndim == 0 && !f->array &&
           ir_component_known(op) && (p->own.at[ir_storage_of(f, IR_DATA)] & (OP_STORES | OP_ADDS)) == 0;
}

/* v as it is on entry, computed in `bounds`; NULL if it is no integer of arguments, params, extents and single numbers
 * in memory that stay. Floats are left out: they might be rounded in another way than in the kernel. */
static ir_value *entry_value(footprint *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if ((!scalar_is_int(v->type) && v->type != SC_BOOL) || depth > MAX_DEPTH || --p->budget < 0)
        return NULL;
    if (!op)
        return v->region == p->kernel->body ? p->b.region->params[v->index] : NULL;
    if (op->code == OP_CONST)
        return ir_const_i(&p->b, v->type, ir_const_attr(op)->i);
    if (op->code == OP_MPARAM)
        return ir_mparam_value(&p->b, ir_mparam_attr(op)->param);
    if (op->code == OP_SHAPE)
        return ir_field_of(op)->array ? NULL : ir_shape(&p->b, ir_field_of(op), (int)ir_shape_attr(op)->dim);
    if (is_fixed_load(p, op)) {
        ir_value *comp = ir_const_i(&p->b, SC_I64, ir_int(op->args[0]));
        return ir_load(&p->b, ir_field_of(op), IR_DATA, NULL, comp);
    }
    if (!op_is_pure_table(op->code) || op->nargs > 3 || op->nregions)
        return NULL;
    ir_value *args[3];
    for (int i = 0; i < op->nargs; i++) {
        args[i] = entry_value(p, op->args[i], depth + 1);
        if (!args[i])
            return NULL;
    }
    return op->code == OP_CAST ? ir_cast(&p->b, v->type, args[0])
                               : ir_insert(&p->b, op->code, op->nargs, args, 1, &v->type, 0)->res[0];
}

ir_value *footprint_entry_value(footprint *p, const ir_value *v)
{
    p->budget = BUDGET_EACH;
    return entry_value(p, v, 0);
}

static ir_value *wide(footprint *p, ir_value *v)
{
    return ir_cast(&p->b, SC_I64, v);
}

static ir_value *number(footprint *p, int64_t x)
{
    return ir_const_i(&p->b, SC_I64, x);
}

/* ---- intervals ---- */

static const range unknown;

static range range_of(footprint *p, const ir_value *v, int depth);

static range range_of_index(footprint *p, const ir_value *v, int depth)
{
    const ir_op *loop = v->region->parent;
    const bool task = loop && loop->code == OP_TASK;
    if (!task && !(loop && loop->code == OP_LOOP && ir_loop_attr(loop)->bounded && v->region == loop->regions[0] &&
                   v->index == 0))
        return unknown;
    const int dim = task ? v->index : 0;
    if (task && dim >= ir_task_attr(loop)->ndim)
        return unknown;
    const range lo = range_of(p, loop->args[2 * dim], depth + 1), hi = range_of(p, loop->args[2 * dim + 1], depth + 1);
    if (!lo.lo || !hi.hi)
        return unknown;
    return (range){lo.lo, ir_op2(&p->b, OP_SUB, hi.hi, number(p, 1)), v, lo.lo == lo.hi && hi.lo == hi.hi,
                   lo.wraps || hi.wraps};
}

static range sum(footprint *p, const ir_op *op, int depth)
{
    const range a = range_of(p, op->args[0], depth + 1), b = range_of(p, op->args[1], depth + 1);
    const bool minus = op->code == OP_SUB;
    if (!a.lo || !b.lo)
        return unknown;
    const bool single = !a.index || !b.index;
    return (range){ir_op2(&p->b, op->code, a.lo, minus ? b.hi : b.lo),
                   ir_op2(&p->b, op->code, a.hi, minus ? b.lo : b.hi), a.index ? a.index : b.index,
                   a.exact && b.exact && single, a.wraps || b.wraps};
}

static range scaled(footprint *p, range a, int64_t by, scalar type)
{
    if (!a.lo || (a.index && (by > INT32_MAX || by < INT32_MIN)))
        return unknown;
    ir_value *lo = ir_op2(&p->b, OP_MUL, by < 0 ? a.hi : a.lo, number(p, by)),
             *hi = ir_op2(&p->b, OP_MUL, by < 0 ? a.lo : a.hi, number(p, by));
    const bool plain = by == 1 || by == -1;
    return (range){lo, hi, a.index, a.exact && plain, a.wraps || (!plain && type != SC_I64)};
}

/* Of x and y, one after the other: both take of one budget, and C does not say which argument is computed first. */
static range joined(footprint *p, ir_opcode low, const ir_value *x, ir_opcode high, const ir_value *y, int depth)
{
    const range b = range_of(p, y, depth + 1), a = range_of(p, x, depth + 1);
    if (!a.lo || !b.lo || a.wraps || b.wraps)
        return unknown;
    return (range){ir_op2(&p->b, low, a.lo, b.lo), ir_op2(&p->b, high, a.hi, b.hi), a.index ? a.index : b.index, false,
                   false};
}

/* A floored or truncated remainder by a positive number. */
static range remainder_of(footprint *p, const ir_op *op)
{
    const ir_value *by = op->args[1];
    if (!ir_is_const(by) || ir_int(by) <= 0)
        return unknown;
    const int64_t top = ir_int(by) - 1;
    return (range){number(p, op->code == OP_MOD ? 0 : -top), number(p, top), by, false, false};
}

static range range_of_op(footprint *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return sum(p, op, depth);
    case OP_NEG:
        return scaled(p, range_of(p, op->args[0], depth + 1), -1, v->type);
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (ir_is_const(op->args[i]))
                return scaled(p, range_of(p, op->args[1 - i], depth + 1), ir_int(op->args[i]), v->type);
        return unknown;
    case OP_MOD:
    case OP_REM:
        return remainder_of(p, op);
    case OP_MIN:
    case OP_MAX:
        return joined(p, op->code, op->args[0], op->code, op->args[1], depth);
    case OP_SELECT:
        return joined(p, OP_MIN, op->args[1], OP_MAX, op->args[2], depth);
    case OP_IF:
        return joined(p, OP_MIN, ir_yield_of(op->regions[0])->args[v->index], OP_MAX,
                      ir_yield_of(op->regions[1])->args[v->index], depth);
    case OP_CAST: {
        const scalar from = op->args[0]->type;
        if (from != SC_I64 && from != SC_I32)
            return unknown;
        range a = range_of(p, op->args[0], depth + 1);
        a.wraps = a.wraps || (from == SC_I64 && v->type == SC_I32 && !value_fits_i32(op->args[0]));
        return a;
    }
    default:
        return unknown;
    }
}

static range range_of(footprint *p, const ir_value *v, int depth)
{
    if (!scalar_is_int(v->type) || depth > MAX_DEPTH || --p->budget < 0)
        return unknown;
    ir_value *one = entry_value(p, v, depth);
    if (one) {
        one = wide(p, one);
        return (range){one, one, NULL, true, false};
    }
    if (!v->def)
        return range_of_index(p, v, depth);
    if (v->type != SC_I64 && v->type != SC_I32)
        return unknown;
    return range_of_op(p, v, depth);
}

range footprint_subscript(footprint *p, const ir_value *v)
{
    if (!p->is_known[v->id]) {
        const int budget = p->left < BUDGET_EACH ? p->left : BUDGET_EACH;
        p->budget = budget;
        p->known[v->id] = range_of(p, v, 0);
        p->is_known[v->id] = true;
        p->left -= budget - (p->budget > 0 ? p->budget : 0);
    }
    return p->known[v->id];
}
