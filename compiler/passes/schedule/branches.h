/* Branches whose both sides are computed: what may be, and how. */
#ifndef TKC_BRANCHES_H
#define TKC_BRANCHES_H

#include "ir/ir.h"

/* Whether the element of a local array or of a field that op touches is there wherever the region runs, whatever the
 * branches between the two say: its subscripts lie within the extents, or something touches it there, or its like in a
 * field of the same extents. */
bool element_is_there(const ir_region *in, const ir_op *op);

/* What the sides do moves in front of `op`, an if, and its results become selects. A store of either side puts back
 * what it finds where the other one is taken, and so does an addition: both touch elements that are there, and that
 * nobody else looks at meanwhile. There is no other effect, and no branch, in them. */
void branch_open(ir_op *op);

/* Of an access: whether it may run where its side is not taken, or can be put under a mask. */
typedef struct branch_test {
    bool (*access)(const void *ctx, const ir_op *op);
    const void *ctx;
} branch_test;
/* Whether an if can be opened: pure operations are total, casts of floats to integers apart, and accesses are tested.
 */
bool branch_can_go(const branch_test *t, const ir_op *op);

#endif
