/* What a function that stays a call does to memory, calls in it included. */
#ifndef TKC_CALLED_H
#define TKC_CALLED_H

#include "passes/analysis/overlap/overlap.h"

typedef struct called {
    const ir_func *func;
    bool reads; /* what it reads and the adjoint needs; else what it writes */
    VEC(access) found;
    size_t *slot; /* a hash table: numbers in found, plus 1 */
    size_t nslots, again;
} called;

/* Adds an access: one of the function itself (call: NULL), or one that what `call` calls makes.
 *
 * A chain of functions that each call the next one twice makes 2^depth accesses. Those that are surely of one element
 * are one; and of the others, once each operation has been seen, no more than CALLED_AGAIN are taken. What is left out
 * is found by validated tapes and --debug alone. */
enum { CALLED_AGAIN = 256 };
void called_add(called *c, const ir_module *m, const ir_op *op, const access *inside);
void called_free(called *c);

#endif
