/* The footprint of a kernel's launches, internal to passes/derive/footprint. */
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
    effects own; /* of the kernel */
    VEC(ir_part) found;
    VEC(ends) ends; /* of each dimension of each */
} footprint;

/* The values of a subscript; lo NULL: they are not known before the launch. And those of a dimension. */
range footprint_subscript(footprint *p, const ir_value *v);
range footprint_whole_dim(footprint *p, ir_field *f, int d);
/* v as it is on entry, computed in `bounds`, or NULL. */
ir_value *footprint_entry_value(footprint *p, const ir_value *v);
bool footprint_is_among(const ir_value *const *indices, int n, const ir_value *v);
/* The part that an access touches, without what it does; false: none. */
bool footprint_of_access(footprint *p, const ir_op *op, ir_part *part, range *dims);
void footprint_add(footprint *p, ir_part part, const range *dims);
void footprint_add_whole(footprint *p, ir_field *f, ir_plane plane, unsigned what);
/* Of whole fields: what an operation, or else a function, does of it. */
void footprint_add_effects(footprint *p, const effects *e, unsigned touches, unsigned what);
/* Whether the data or duals of the field may be needed. */
bool footprint_may_need(const ir_field *f, ir_plane plane);

/* What the kernel finds and reads; what an adjoint that the program wrote finds, reads and spoils. */
void footprint_of_reads(footprint *p);
void footprint_of_custom(footprint *p);

/* Joins what lies side by side, and yields the ends of what is left. */
void footprint_simplify(footprint *p);

#endif
