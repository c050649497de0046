#include "ir/ops.h"

#include <assert.h>
#include <string.h>

const op_info op_pure_rows[OP_PURE_COUNT] = {
#define FN OP_FOR_USERS
#define IN OP_FOR_PRELUDE
#define NO OP_WITHOUT_NAME
#define OP(id, name, arity, user, operands, result, prec, cost, c_float, c_int, da, db, dc, domain) \
    [OP_##id] = {name, arity,   user,  OPERANDS_##operands, RESULT_##result, prec, \
                 cost, c_float, c_int, {da, db, dc},        domain},
#include "ir/ops.def"
#undef OP
#undef NO
#undef IN
#undef FN
};

enum {
    TOUCHES_NOTHING = 0,
    TOUCHES_BLOCK = 0,
    TOUCHES_READS = OP_READS,
    TOUCHES_STORES = OP_STORES,
    TOUCHES_ADDS = OP_ADDS,
    TOUCHES_READS_ADDS = OP_READS | OP_ADDS
};
enum { WHERE_HERE, WHERE_LAUNCH };
enum { DERIVATIVE_NONE, DERIVATIVE_OWN };

const op_struct_info op_struct_rows[OP_COUNT - OP_PURE_COUNT] = {
#define SOP(id, name, effect, memory, touches, where, derivative, attributes) \
    {name, \
     OP_EFFECT_##effect, \
     MEMORY_##memory, \
     TOUCHES_##touches, \
     WHERE_##where == WHERE_LAUNCH, \
     DERIVATIVE_##derivative == DERIVATIVE_OWN},
#include "ir/struct_ops.def"
#undef SOP
};

int op_cost(ir_opcode code)
{
    return op_is_pure_table(code) ? op_pure_rows[code].cost : 0;
}

bool op_carries_nothing(ir_opcode code)
{
    return !op_is_pure_table(code) && !op_struct_rows[code - OP_PURE_COUNT].derivative;
}

bool op_follows_from_operands(ir_opcode code)
{
    return op_is_pure_table(code) || op_is_launch_constant(code);
}

bool op_is_launch_constant(ir_opcode code)
{
    return !op_is_pure_table(code) && op_struct_rows[code - OP_PURE_COUNT].launch;
}

int op_touched(const ir_op *op, op_touch out[OP_TOUCHED_MAX])
{
    if (!op_accesses_field(op->code))
        return 0;
    out[0] = (op_touch){ir_storage_of_op(op), op_touches(op->code)};
    if (op->code != OP_ATOMIC || ir_atomic_form(op) != IR_ATOMIC_WITH_TANGENT)
        return 1;
    out[1] = (op_touch){ir_storage_of(ir_field_of(op), ir_tangent_of(ir_access_attr(op)->plane)), OP_STORES};
    return 2;
}

bool op_has_subscripts(ir_opcode code)
{
    const op_memory memory = op_memory_of(code);
    return memory == MEMORY_FIELD || (memory == MEMORY_ARRAY && op_touches(code));
}

bool op_writes_field(ir_opcode code)
{
    return op_memory_of(code) == MEMORY_FIELD && (op_touches(code) & (OP_STORES | OP_ADDS));
}

const char *op_name(ir_opcode code)
{
    return op_is_pure_table(code) ? op_pure_rows[code].name : op_struct_rows[code - OP_PURE_COUNT].name;
}

static ir_opcode find(const char *name, op_reach reach)
{
    for (int i = 0; i < OP_PURE_COUNT; i++)
        if (op_pure_rows[i].user == reach && strcmp(op_pure_rows[i].name, name) == 0)
            return (ir_opcode)i;
    return OP_COUNT;
}

ir_opcode op_find_user(const char *name)
{
    return find(name, OP_FOR_USERS);
}

ir_opcode op_find_prelude(const char *name)
{
    return find(name, OP_FOR_PRELUDE);
}

bool op_admits(ir_opcode code, int k, scalar t)
{
    const op_info *op = op_get(code);
    if (k < 0 || k >= op->arity || t == SC_NONE)
        return false;
    switch (op->operands) {
    case OPERANDS_F:
        return scalar_is_float(t);
    case OPERANDS_I:
        return scalar_is_int(t);
    case OPERANDS_N:
        return scalar_is_float(t) || scalar_is_int(t);
    case OPERANDS_L:
        return t == SC_BOOL || scalar_is_int(t);
    case OPERANDS_B:
        return t == SC_BOOL;
    case OPERANDS_FI:
        return k == 0 ? scalar_is_float(t) : scalar_is_int(t);
    case OPERANDS_BAA: /* pointers too: a saved-value buffer may be chosen */
        return k == 0 ? t == SC_BOOL : true;
    case OPERANDS_A:
    case OPERANDS_X:
        return t != SC_PTR;
    }
    return false;
}

scalar op_result_type(ir_opcode code, const scalar *operands)
{
    const op_info *op = op_get(code);
    assert(op->result != RESULT_X);
    if (op->result == RESULT_B)
        return SC_BOOL;
    return op->operands == OPERANDS_FI ? operands[0] : operands[op->arity - 1];
}

/* A constant, folded or not. */
static bool is_known(const ir_value *v)
{
    bool known = ir_is_const(v) || (v->def && op_is_pure_table(v->def->code));
    for (int i = 0; known && i < v->def->nargs; i++)
        known = ir_is_const(v->def->args[i]);
    return known;
}

bool op_decides(const ir_op *op, int k)
{
    if (!scalar_is_float(op->args[k]->type))
        return false;
    switch (op->code) {
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_MIN:
    case OP_MAX:
    case OP_ABS:
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
    case OP_FRACT:
    case OP_MOD:
    case OP_REM:
    case OP_ISNAN:
    case OP_ISINF:
        return true;
    case OP_POW: /* the rule asks for zeros where the exponent is no constant */
        return !is_known(op->args[1]);
    case OP_POW_LOG: /* the rules have powers */
        return k < 2;
    case OP_CAST:
        return !scalar_is_float(op->res[0]->type);
    default:
        return false;
    }
}

bool op_may_have_poles(ir_opcode code)
{
    for (int k = 0; op_is_pure_table(code) && k < op_get(code)->arity; k++)
        if (strpbrk(op_get(code)->d[k], "/(r")) /* a quotient, a function, the result: of exp that may be infinite */
            return true;
    return false;
}

bool op_is_of_library(ir_opcode code)
{
    switch (code) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_REM:
    case OP_MOD:
    case OP_NEG:
    case OP_POWI:
    case OP_IPOW:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_SHL:
    case OP_SHR:
    case OP_SELECT:
    case OP_CAST:
    case OP_STOP:
    case OP_MIN:
    case OP_MAX:
    case OP_ABS:
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
    case OP_FRACT:
    case OP_ISNAN:
    case OP_ISINF:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_RANDOM:
    case OP_BELOW:
    case OP_LEG:
    case OP_TIMES:
    case OP_MAX_ABS:
    case OP_UNIT_SCALE:
    case OP_EVEN_SCALE:
    case OP_NORM_SCALE:
    case OP_NORM_UNSCALE:
    case OP_SAFE_SCALE:
    case OP_NONZERO:
    case OP_ROOT:
    case OP_SLOPE:
        return false;
    default:
        return true;
    }
}

bool op_has_vector_form(ir_opcode code)
{
    return op_is_of_library(code) && code != OP_TAN && code != OP_ERFC && code != OP_LGAMMA && code != OP_DIGAMMA &&
           code != OP_TRIGAMMA && code != OP_TETRAGAMMA;
}

bool op_zero_derivative(ir_opcode code, int k)
{
    return strcmp(op_get(code)->d[k], "0") == 0;
}

/* A constant 0, and what is made of it, operations deep at most. */
static bool is_zero(const ir_value *v, int deep)
{
    const ir_op *op = v->def;
    if (!op || deep == 0 || !scalar_is_float(v->type))
        return false;
    switch (op->code) {
    case OP_CONST:
        return ir_float(v) == 0.0;
    case OP_NEG:
    case OP_CAST:
    case OP_DIV:
        return is_zero(op->args[0], deep - 1);
    case OP_MUL:
        return is_zero(op->args[0], deep - 1) || is_zero(op->args[1], deep - 1);
    case OP_ADD:
    case OP_SUB:
        return is_zero(op->args[0], deep - 1) && is_zero(op->args[1], deep - 1);
    default:
        return false;
    }
}

bool op_is_zeroed_by(const ir_op *op, int k)
{
    enum { DEEP = 8 };
    return (op->code == OP_MUL || (op->code == OP_DIV && k == 0)) && is_zero(op->args[k], DEEP);
}

bool op_contributes_nothing(const ir_op *op, int k)
{
    return op_zero_derivative(op->code, k) || op_is_zeroed_by(op, 1 - k);
}

static bool has_in_rule(const op_info *of, const char *name)
{
    const size_t n = strlen(name);
    for (int k = 0; k < 3; k++)
        for (const char *at = of->d[k]; at && (at = strstr(at, name)) != NULL; at += n)
            if (at[n] == '(')
                return true;
    return false;
}

ir_opcode op_written_as(ir_opcode code)
{
    for (int p = 0; p < OP_COUNT && (int)op_find_user(op_name(code)) != (int)code; p++)
        if (p != (int)code && has_in_rule(op_get((ir_opcode)p), op_name(code))) {
            code = (ir_opcode)p;
            p = -1;
        }
    return code;
}

bool op_not_differentiable(ir_opcode code, int k)
{
    return strcmp(op_get(code)->d[k], "!") == 0;
}
