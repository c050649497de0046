/* Products and sums of partials. */
#include "passes/derive/jacobian/product.h"

bool jac_constant(const ir_value *v, double *x)
{
    const ir_op *op = v->def;
    double y, z;
    switch (op ? op->code : OP_COUNT) {
    case OP_CONST:
        *x = ir_float(v);
        return true;
    case OP_NEG:
        if (!jac_constant(op->args[0], &y))
            return false;
        *x = -y;
        return true;
    case OP_CAST:
        return scalar_is_float(op->args[0]->type) && jac_constant(op->args[0], x) && (*x == 1 || *x == -1 || *x == 0);
    case OP_MUL:
        if (!jac_constant(op->args[0], &y) || !jac_constant(op->args[1], &z) || (y != 1 && y != -1))
            return false;
        *x = y * z;
        return true;
    default:
        return false;
    }
}

bool jac_is(const ir_value *v, double x)
{
    double y;
    return jac_constant(v, &y) && y == x;
}

/* c ? x : 0 and c ? 0 : x. */
static bool chooses(const ir_value *v)
{
    return v->def && v->def->code == OP_SELECT && (jac_is(v->def->args[1], 0) || jac_is(v->def->args[2], 0));
}

static ir_value *choose(ir_builder *b, const ir_value *choice, ir_value *yes, ir_value *no, scalar type)
{
    ir_value *zero = yes && no ? NULL : ir_zero(b, type);
    return ir_op3(b, OP_SELECT, choice->def->args[0], yes ? yes : zero, no ? no : zero);
}

/* 1 / b may overflow where a quotient by b does not. */
static bool is_reciprocal(const ir_value *v)
{
    return v->def && v->def->code == OP_DIV && jac_is(v->def->args[0], 1);
}

ir_value *jac_product(ir_builder *b, ir_value *by, ir_value *of)
{
    const scalar type = by->type;
    if (jac_is(by, 0) || jac_is(of, 0))
        return NULL;
    if (jac_is(by, 1))
        return ir_cast(b, type, of);
    if (jac_is(of, 1))
        return by;
    if (jac_is(by, -1))
        return ir_op1(b, OP_NEG, ir_cast(b, type, of));
    if (jac_is(of, -1))
        return ir_op1(b, OP_NEG, by);
    if (chooses(by)) {
        ir_value *const *side = by->def->args;
        ir_value *yes = jac_product(b, side[1], of);
        return choose(b, by, yes, jac_product(b, side[2], of), type);
    }
    if (chooses(of)) {
        ir_value *const *side = of->def->args;
        ir_value *yes = jac_product(b, by, side[1]);
        return choose(b, of, yes, jac_product(b, by, side[2]), type);
    }
    if (is_reciprocal(by))
        return ir_op2(b, OP_DIV, ir_cast(b, type, of), by->def->args[1]);
    if (is_reciprocal(of) && of->type == type)
        return ir_op2(b, OP_DIV, by, of->def->args[1]);
    return ir_op2(b, OP_MUL, by, ir_cast(b, type, of));
}

ir_value *jac_sum(ir_builder *b, ir_value *x, ir_value *y)
{
    return !x ? y : !y ? x : ir_op2(b, OP_ADD, x, y);
}
