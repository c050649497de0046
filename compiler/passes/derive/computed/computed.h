/* Computed matrices of kernels. */
#ifndef TKC_COMPUTED_H
#define TKC_COMPUTED_H

#include "ir/ir.h"

/* Makes the two kernels of a computed matrix from a copy of the kernel whose calls are expanded. Returns why there is
 * none, with the place; NULL: they are made. */
const char *make_computed(ir_func *k, const ir_request *r, const ir_func *base, src_loc *at);
/* For --explain: why the iterations are no elements. */
void note_computed(ir_func *k, const ir_request *r, const char *why, src_loc at);

#endif
