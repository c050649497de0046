/* Compile-time evaluation of the pure operations, bit for bit what the generated C computes (f32 in float, integers
 * wrapping). */
#ifndef TKC_EVAL_H
#define TKC_EVAL_H

#include "ir/ops.h"

typedef struct const_value {
    scalar type;
    union {
        int64_t i; /* bool and integers; unsigned ones as the same bits, zero-extended */
        double f;
    };
} const_value;

/* False if the operation is not evaluated at compile time (then nothing was written). */
bool eval_op(ir_opcode code, const const_value *args, const_value *out);
const_value eval_cast(const_value v, scalar to);

#endif
