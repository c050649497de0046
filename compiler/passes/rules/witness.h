/* Iterations in which accesses that stand under conditions, or have subscripts that are no sums, surely meet. */
#ifndef TKC_WITNESS_H
#define TKC_WITNESS_H

#include "passes/analysis/overlap/overlap.h"

/* How many values may still be computed, for all questions about one function: beyond that nothing is found. */
enum { WITNESS_BUDGET = 4000000 };

typedef struct witness {
    int64_t budget;
    const access *writes; /* all of the kernel */
    size_t nwrites;
    bool wide; /* draws from more iterations: a second search */
    char text[128]; /* of the one found: "t = 0 at the read and t = 2 at the write", "i = 0 and i = 1"; empty if it has
                       no named index */
} witness;

/* Looks for iterations of the loops around `read` and `write`, and for values of what the host decides and memory
 * holds, with which both are reached, touch the same element, and the write comes later. A small set of values is
 * tried, the same one in each run of the compiler: true is certain, provided that memory can hold those values; false
 * means nothing. o: of the two, over all shared loops. If it is not provable, subscripts that depend on anything but
 * indices and constants must be the same values. */
bool witness_overwritten(witness *w, const ir_module *m, const access *read, const access *write, const overlap *o);

/* The same for two different iterations of `task`, where no data decides whether they reach the accesses, and whether
 * they touch the same element. o: of the two, within the task. */
bool witness_race(witness *w, const ir_module *m, const access *a, const access *b, const overlap *o,
                  const ir_op *task);

#endif
