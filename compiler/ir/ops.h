/* Access to the operation table (ops.def, struct_ops.def). */
#ifndef TKC_OPS_H
#define TKC_OPS_H

#include <assert.h>

#include "ir/ir.h"

typedef enum op_operands {
    OPERANDS_F,
    OPERANDS_I,
    OPERANDS_N,
    OPERANDS_L,
    OPERANDS_B,
    OPERANDS_A,
    OPERANDS_FI,
    OPERANDS_BAA,
    OPERANDS_X
} op_operands;
typedef enum op_result { RESULT_T, RESULT_B, RESULT_X } op_result;

typedef enum op_reach { OP_WITHOUT_NAME, OP_FOR_PRELUDE, OP_FOR_USERS } op_reach; /* who calls it by name in .tk */

typedef struct op_info {
    const char *name;
    int arity;
    op_reach user;
    op_operands operands;
    op_result result;
    int prec, cost;
    const char *c_float, *c_int;
    const char *d[3]; /* derivative rules */
    const char *domain;
} op_info;

extern const op_info op_pure_rows[OP_PURE_COUNT];

/* One of ops.def. */
static inline bool op_is_pure_table(ir_opcode code)
{
    return code < OP_PURE_COUNT;
}

/* For pure operations only. */
static inline const op_info *op_get(ir_opcode code)
{
    assert(op_is_pure_table(code));
    return &op_pure_rows[code];
}

/* Any opcode's name. */
const char *op_name(ir_opcode code);

/* Columns of struct_ops.def; of ops.def, all are pure and touch nothing. */
typedef enum op_effect { OP_EFFECT_PURE, OP_EFFECT_READ, OP_EFFECT_WRITE, OP_EFFECT_EVENT, OP_EFFECT_CTRL } op_effect;
typedef enum op_memory { MEMORY_NONE, MEMORY_FIELD, MEMORY_ARRAY, MEMORY_STACK, MEMORY_RECORD } op_memory;
enum { OP_READS = 1, OP_STORES = 2, OP_ADDS = 4 };

typedef struct op_struct_info {
    const char *name;
    op_effect effect;
    op_memory memory;
    unsigned touches; /* OP_READS, OP_STORES, OP_ADDS: what it does to the element */
    bool launch, derivative;
} op_struct_info;

extern const op_struct_info op_struct_rows[OP_COUNT - OP_PURE_COUNT];

static inline op_effect op_effect_of(ir_opcode code)
{
    return op_is_pure_table(code) ? OP_EFFECT_PURE : op_struct_rows[code - OP_PURE_COUNT].effect;
}

static inline op_memory op_memory_of(ir_opcode code)
{
    return op_is_pure_table(code) ? MEMORY_NONE : op_struct_rows[code - OP_PURE_COUNT].memory;
}

static inline unsigned op_touches(ir_opcode code)
{
    return op_is_pure_table(code) ? 0 : op_struct_rows[code - OP_PURE_COUNT].touches;
}

/* Reads an element of a field, stores or adds to it. */
static inline bool op_accesses_field(ir_opcode code)
{
    return op_memory_of(code) == MEMORY_FIELD && op_touches(code);
}

/* The storages that an operation itself touches, its regions and callees aside; how many. */
typedef struct op_touch {
    ir_storage at;
    unsigned what;
} op_touch;
enum { OP_TOUCHED_MAX = 2 };
int op_touched(const ir_op *op, op_touch out[OP_TOUCHED_MAX]);
bool op_writes_field(ir_opcode code);          /* stores or adds to an element of a field */
bool op_has_subscripts(ir_opcode code);        /* names an element of a field or local array */
int op_cost(ir_opcode code);                   /* rough cycles of what follows from its operands */
bool op_follows_from_operands(ir_opcode code); /* the same wherever in a launch its operands are the same: pure
                                                  operations, and launch constants */
bool op_carries_nothing(ir_opcode code);       /* no derivative: forward mode copies it, reverse mode passes it by */
bool op_is_launch_constant(ir_opcode code); /* without operands, and the same wherever in a launch: a constant, a param,
                                               an extent, the launch's key */

/* The operation that .tk code calls by that name; OP_COUNT if none. */
ir_opcode op_find_user(const char *name);
/* The one that a program writes, of which this is a derivative of some order; itself if it can be written. */
ir_opcode op_written_as(ir_opcode code);
/* Likewise, of those that only the prelude knows. */
ir_opcode op_find_prelude(const char *name);
/* Whether operand type t is admitted at position k. */
bool op_admits(ir_opcode code, int k, scalar t);
/* Result type for the given operand types. Not for CAST. */
scalar op_result_type(ir_opcode code, const scalar *operands);
/* Whether float operand k of a pure operation steers: the result is no continuous function of it, or its derivative is
 * none. */
bool op_decides(const ir_op *op, int k);
/* Not what IEEE arithmetic rounds correctly: the last bit depends on whether a scalar or a vector variant is called, or
 * the compiler computes it. Where it decides, generated code calls tk_exact_NAME of tkc_math.h. */
bool op_is_of_library(ir_opcode code);
/* Of those, what both compilers find a variant for vectors of. */
bool op_has_vector_form(ir_opcode code);
/* Whether its derivative may be infinite or NaN where its value is of use: it is neither linear nor a product. */
bool op_may_have_poles(ir_opcode code);
/* True if the derivative with respect to operand k is zero by table. */
bool op_zero_derivative(ir_opcode code, int k);
/* Whether operand k is a factor or numerator, and 0 by structure: a constant 0, a product with one, a sum of those. */
bool op_is_zeroed_by(const ir_op *op, int k);
bool op_contributes_nothing(const ir_op *op, int k); /* the same, or the other operand is such a 0 */
bool op_not_differentiable(ir_opcode code, int k);

/* ---- derivative rules as IR (ir/rule.c) ---- */

/* What a rule is computed from, there at the builder. */
typedef struct rule_values {
    ir_value *args[3], *result; /* NULL: rule_needs has it not */
    ir_opcode part;             /* OP_COUNT: none is given */
    ir_value *part_of_a;        /* part(args[0]) */
} rule_values;

/* Builds, at b, what seed g contributes through operand k of the pure operation `op`. The value returned has type
 * `type`. NULL where the table says zero. Reverse: type = the operand's; forward: type = the result's. Both modes call
 * this and nobody else writes a derivative. Small simplifications (1*x, x*1) are left to folding. */
ir_value *rule_apply(ir_builder *b, ir_opcode op, int k, const rule_values *at, ir_value *g, scalar type);
enum { RULE_RESULT = 8 };
/* Which operands, and whether the result, rule k reads: bit 0..2 for a b c, RULE_RESULT for r. part: is given;
 * OP_COUNT: none is. */
unsigned rule_needs(ir_opcode op, int k, ir_opcode part);
/* A costly function of the one operand that its rule computes, which the primal may have computed as well; OP_COUNT:
 * none. */
ir_opcode rule_costly_part(ir_opcode op);
/* Whether the derivative takes no operand, but the result. */
bool rule_is_by_result(ir_opcode op);
/* A result that the adjoint need not compute again to pull it back, if it can be read from where it was stored. */
bool ir_op_is_rereadable(const ir_op *op);

#endif
