/* Accesses that surely never meet in the order that matters. */
#ifndef TKC_APART_H
#define TKC_APART_H

#include "passes/analysis/overlap/overlap.h"

/* Whether the write never touches, after it, what `read` has read: whichever order the loops around both give them, in
 * some dimension the subscripts differ. False: that is not known. o: of the two, over all shared loops. Iterations of
 * one parallel loop have no order, and are left out. */
bool surely_kept(const ir_module *m, const access *read, const access *write, const overlap *o);
/* The same within one iteration of a task around both. NULL: surely_kept. */
bool surely_kept_within(const ir_module *m, const access *read, const access *write, const overlap *o,
                        const ir_op *task);
/* The same where the write stands in a later run of the task around both. */
bool surely_kept_beyond(const ir_module *m, const access *read, const access *write, const overlap *o,
                        const ir_op *task);

/* Whether a and b never touch the same element from two different iterations of the task. o: of the two, within it. */
bool surely_disjoint(const ir_module *m, const access *a, const access *b, const overlap *o, const ir_op *task);

#endif
