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
    bool product;                 /* what comes is needed by the second-order product alone, */
    bool custom;                  /* or by a derivative of the program's own */
    VEC(ir_part) found;
    VEC(ends) ends; /* of each dimension of each */
} parts;

/* The values of a subscript; lo NULL: they are not known before the launch. And those of a dimension. */
range parts_subscript(parts *p, const ir_value *v);
range parts_whole_dim(parts *p, ir_field *f, int d);
/* v as it is on entry, computed in `bounds`, or NULL. */
ir_value *parts_entry_value(parts *p, const ir_value *v);
void parts_add(parts *p, ir_part part, const range *dims);
bool parts_is_among(const ir_value *const *indices, int n, const ir_value *v);
/* Whether an access of the data or duals of the field counts. */
bool parts_is_wanted(const parts *p, const ir_field *f, ir_plane plane, bool write);
/* What an adjoint that the program wrote finds and reads. */
void parts_of_custom(parts *p);

/* Joins what lies side by side, and yields the ends of what is left. */
void parts_simplify(parts *p);

#endif
