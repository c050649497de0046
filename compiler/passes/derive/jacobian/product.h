/* Products and sums of partials. */
#ifndef TKC_JACOBIAN_PRODUCT_H
#define TKC_JACOBIAN_PRODUCT_H

#include "ir/ir.h"

/* The number that v is by its operations, before anything is folded. */
bool jac_constant(const ir_value *v, double *x);
bool jac_is(const ir_value *v, double x);
/* by * of, in the type of `by`. A partial that chooses, `c ? x : 0`, chooses the product: no 0 * inf becomes NaN. NULL:
 * zero. */
ir_value *jac_product(ir_builder *b, ir_value *by, ir_value *of);
/* NULL is zero. */
ir_value *jac_sum(ir_builder *b, ir_value *x, ir_value *y);

#endif
