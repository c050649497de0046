/* The scalar types of the language, shared by all layers. */
#ifndef TKC_SCALAR_H
#define TKC_SCALAR_H

#include <stdbool.h>

typedef enum scalar {
#define SCALAR(id, name, c_type, bytes, kind) SC_##id,
#include "util/scalar.def"
#undef SCALAR
    SC_COUNT,
    SC_PTR = SC_COUNT, /* IR only: a local array or a saved-value buffer */
    SC_NONE
} scalar;

const char *scalar_name(scalar s);
const char *scalar_c_type(scalar s);
int scalar_bytes(scalar s);
bool scalar_is_float(scalar s);
bool scalar_is_int(scalar s);    /* signed or unsigned, not bool */
bool scalar_is_signed(scalar s); /* signed integers and floats */

#endif
