/* Parts of fields, internal to passes/derive/footprint/. */
#ifndef TKC_FOOTPRINT_H
#define TKC_FOOTPRINT_H

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

typedef struct footprint {
    ir_func *kernel;
    ir_module *m;
    ir_builder b;     /* in `bounds` */
    int budget, left; /* of this subscript, of all */
    range *known;     /* by value id: of whole subscripts */
    bool *is_known;
    const bool *written, *needed; /* by field: by any kernel of the module, by any adjoint */
    effects own;                  /* of this one */
    bool product;                 /* what comes is needed by the second-order product alone, */
    bool custom;                  /* or by a derivative of the program's own */
    VEC(ir_footprint) found;
    VEC(ends) ends; /* of each dimension of each */
} footprint;

/* The values of a subscript; lo NULL: they are not known before the launch. And those of a dimension. */
range footprint_subscript(footprint *p, const ir_value *v);
range footprint_whole_dim(footprint *p, ir_field *f, int d);
/* v as it is on entry, computed in `bounds`, or NULL. */
ir_value *footprint_entry_value(footprint *p, const ir_value *v);
void footprint_add(footprint *p, ir_footprint part, const range *dims);
bool footprint_is_among(const ir_value *const *indices, int n, const ir_value *v);
/* Whether an access of the data or duals of the field counts. */
bool footprint_is_wanted(const footprint *p, const ir_field *f, ir_plane plane, bool write);
/* What an adjoint that the program wrote finds and reads. */
void footprint_of_custom(footprint *p);

/* Joins what lies side by side, and yields the ends of what is left. */
void footprint_simplify(footprint *p);

#endif
