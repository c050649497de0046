/* Values as numbers. */
#ifndef TKC_VALUES_H
#define TKC_VALUES_H

#include "ir/ir.h"

/* True if a and b are the same number wherever both are seen: one value, or computed alike from constants, parameters,
 * extents and values in common. */
bool same_value(const ir_module *m, const ir_value *a, const ir_value *b);
/* A field's extent as one of these values; NULL: not known. */
const ir_value *extent_value(const ir_func *f, const ir_field *field, int dim);
/* v without casts that leave it the same number, and for an extent what it was computed as */
const ir_value *resolved_value(const ir_module *m, const ir_value *v);
/* Whether v may differ from one iteration of the loop or task to the next. */
bool value_depends_on(const ir_value *v, const ir_op *loop);
/* Whether v is an integer constant, which becomes *x. */
bool const_value_of(const ir_module *m, const ir_value *v, int64_t *x);

#endif
