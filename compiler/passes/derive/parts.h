/* Parts of fields, internal to passes/parts*.c. */
#ifndef TKC_PARTS_H
#define TKC_PARTS_H

#include "passes/analysis/analysis.h"

/* Values of the function `bounds`. index: the loop's index that it runs with; NULL: it is one value, lo and hi alike.
 */
typedef struct range {
    ir_value *lo, *hi;
    const ir_value *index;
    bool exact; /* each value between lo and hi comes */
    bool wraps; /* the kernel may compute it modulo 2^32: right where it lies in the field, which libtkc looks at */
} range;

/* Of the values of one subscript. least: if the last one is not so far behind the first one, they say nothing; 0: no
 * matter. */
typedef struct ends {
    ir_value *at[2];
    int64_t least;
} ends;

typedef struct parts {
    ir_func *kernel;
    ir_module *m;
    ir_builder b;     /* in `bounds` */
    int budget, left; /* of this subscript, of all */
    range *known;     /* by value id: of whole subscripts */
    bool *is_known;
    const bool *written, *needed; /* by field: by any kernel of the module, by any adjoint */
    effects own;                  /* of this one */
    bool product;                 /* what comes is needed by the second-order product alone */
    VEC(ir_part) found;
    VEC(ends) ends; /* of each dimension of each */
} parts;

/* Joins what lies side by side, and yields the ends of what is left. */
void parts_simplify(parts *p);

#endif
