/* Folding of single operations, for passes/simplify/fold.c. */
#ifndef TKC_FOLD_H
#define TKC_FOLD_H

#include "ir/ir.h"

/* What the pure operation op is equal to, built before it at b where that takes operations of its own; NULL if it
 * cannot be simplified. */
ir_value *fold_pure(ir_builder *b, const ir_op *op);

/* Whether v is the integer or bool constant i. */
bool fold_is_int(const ir_value *v, int64_t i);
/* Whether two values are the same or equal constants. */
bool fold_same(const ir_value *a, const ir_value *b);

#endif
