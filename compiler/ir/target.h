/* The machine and the C compilers that passes and printers count on: costs, vectors, and what compilers do to loops.
 * docs/c-compilers.md says which version of which compiler each of these is about. Costs of operations: ops.def. */
#ifndef TKC_IR_TARGET_H
#define TKC_IR_TARGET_H

#include "ir/ops.h"

/* Rough cycles. */
enum {
    COST_MEMORY = 2,      /* a load or store of a field or array */
    COST_BRANCH = 3,      /* a branch that goes now one way, now the other */
    COST_STORE_BLEND = 2, /* a store under a mask: it loads what is there */
    COST_PRINT = 1000,
    COST_EXTERN = 50,       /* a C function of the host: a guess */
    COST_SAVE_LOOP = 6,     /* a value saved by a trip of a loop, and read by the reverse sweep */
    COST_SAVE_BRANCH = 2,   /* a value handed out of a branch */
    COST_KEEP = 5,          /* an element of an array: it is stored in any case, but not into memory that stays */
    COST_CHEAP_IF = 24,     /* the dearer branch, up to which an `if` is computed again */
    COST_CHEAP_ARGUMENT = 3 /* up to which a task computes a value that it could be handed */
};

/* Trips of a loop whose bounds are no constants. */
enum {
    TRIPS_UNKNOWN = 16,      /* where a loop's form is chosen: what is saved, whether lanes pay */
    TRIPS_FOR_THREADS = 32,  /* where its work is held against the start of threads */
    TRIPS_OF_FOURS = 8,      /* of trips that lanes take four at a time */
    TRIPS_BRIEF = 2,         /* of a loop that is marked as brief */
    TRIPS_MOST = 1000000,    /* beyond which a constant number counts no further */
    TRIPS_MOST_WEIGHED = 64, /* the same where saves are weighed; of each parallel loop, too */
    TRIPS_SHORT = 3          /* fewer than the shortest vector has elements: compilers write the loop out */
};

/* Vectors. */
enum {
    VECTOR_BYTES = 32,    /* of the usual ones */
    VECTOR_MOST = 16,     /* elements of the longest ones; two usual ones of f32 */
    VECTOR_STRIP = 32,    /* iterations of a strip of lanes: a multiple of VECTOR_MOST */
    VECTOR_SAVES_F64 = 3, /* times less than without vectors, at least, functions of the C library included */
    VECTOR_SAVES_F32 = 5,
    VECTOR_SAVES_CHOSEN = 2 /* the same of a loop with elements that data choose: these are loaded one by one */
};

/* Accesses of a loop that is to be vectorised, at elements that data choose. gcc makes no vectors of one that stores
 * there, nor of one that loads less than the 64 bits of its subscripts. */
static inline bool target_has_no_gather(const ir_op *access)
{
    return access->code != OP_LOAD || scalar_bytes(ir_field_of(access)->elem) < 8;
}

/* Neighbouring numbers that iterations take at one step: gcc permutes groups of 3 and of powers of 2 alone. */
static inline bool target_permutes(int64_t group)
{
    return group == 3 || (group > 0 && (group & (group - 1)) == 0);
}

#endif
