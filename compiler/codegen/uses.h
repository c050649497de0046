/* Who uses the values of a function, and what that tells of them. */
#ifndef TKC_CODEGEN_USES_H
#define TKC_CODEGEN_USES_H

#include "ir/ir.h"

typedef struct value_use {
    uint32_t uses;
    const ir_op *user;       /* the only one when uses == 1 */
    scalar elem;             /* SC_PTR: element type of the local array behind it, if uses tell */
    bool added;              /* SC_PTR: tasks add to it */
    bool sine, cosine;       /* of it are taken */
    const ir_op *angle;      /* the first sine or cosine of it */
    const ir_op *next_angle; /* of a sine or cosine: the next one of the same operand */
    const ir_layout *layout; /* SC_PTR: struct behind it, if uses tell */
    uint32_t stamp;          /* task that captured it */
} value_use;

/* By value id; what only unused values use is not counted. The caller frees it. */
value_use *value_uses(const ir_func *f);
/* Whether sine and cosine are taken of the operand of either. */
bool is_of_both(const value_use *use, const ir_op *op);
bool op_is_dead(const value_use *use, const ir_op *op);
/* Whether operand k of a yield is not printed: nobody reads the result, or the carried value never changes. */
bool yield_is_silent(const value_use *use, const ir_op *yield, int k);
/* Whether result k of a task is read, or decides about a companion that is. */
bool reduction_is_wanted(const value_use *use, const ir_op *task, int k);
/* --debug: what a subscript of an array is held against, where that is not constant; else NULL. */
const ir_value *checked_count(const ir_module *m, const ir_op *op);

#endif
