/* Values of one trial of witness.c: what conditions, bounds and subscripts are in drawn iterations, with drawn inputs.
 */
#ifndef TKC_WITNESS_VALUES_H
#define TKC_WITNESS_VALUES_H

#include "ir/eval.h"
#include "passes/analysis/overlap/overlap.h"

enum { TRIAL_SYMBOLS = 96, TRIAL_POOL = 16 };

/* Values that a loop carries are followed so many iterations far. */
enum { TRIAL_CARRIED = 8 };

/* A function on the way: the kernel first, then what it calls. */
typedef struct trial_place {
    const ir_op *op; /* if, loop or task */
    const ir_region *region;
    int frame;
} trial_place;

typedef struct trial_slot {
    const ir_op *op;
    int frame, dim;
    int64_t lo, index;
    bool data; /* of one access only, and that the loop comes to this index is not taken for granted: see enter_dim */
} trial_slot;

typedef struct trial_side {
    const access *a;
    const ir_op *inner;      /* the memory operation */
    VEC(const ir_op *) call; /* by frame: what calls it; of the kernel, frame 0, NULL */
    VEC(trial_place) at;
    VEC(trial_slot) slots;
} trial_side;

typedef struct trial_symbol {
    uint64_t key;
    const_value v;
} trial_symbol;

typedef struct trial {
    const ir_module *m;
    uint64_t random;
    uint64_t first; /* of so many first iterations one is drawn */
    VEC(const ir_value *) sizes; /* parameters and params that say how large things are */
    int64_t size;                /* what those that callers choose are in this trial */
    bool sized;                  /* one of them has been used */
    bool failed;
    bool reached;      /* in some trial, both accesses were */
    bool data, memory; /* a symbol has been used; one that a launch may change */
    int budget;
    trial_symbol symbols[TRIAL_SYMBOLS];
    int nsymbols;
    bool defaults; /* params are what they are unless the host changes them */
    bool changing; /* memory has been used that the kernel changes while the two accesses happen */
    uint64_t
        computed; /* where the symbols come from that the kernel computes in a way that is not followed; 0: none yet */
    const_value pool[TRIAL_POOL]; /* constants that were met: where conditions change */
    int npool;
    const access *writes; /* all of the kernel */
    size_t nwrites;
    trial_side read, write;
    const ir_op
        *task; /* whose iterations are held against each other; NULL: the write against reads that come before it */
} trial;

/* Notes that v, a bound or an extent, is computed from sizes. */
void trial_add_sizes(trial *s, const ir_value *v);
/* A number below n. */
uint64_t trial_draw(trial *s, uint64_t n);
/* The value of v in the iterations of x. Sets s->failed where it is not found: then the result means nothing. */
const_value trial_eval(trial *s, trial_side *x, const ir_value *v, int frame);
/* True if the two are one value whatever the inputs are. */
bool trial_is_same(trial *s, const ir_value *of_read, const ir_value *of_write);
/* NULL: x is in no iteration of it. */
trial_slot *trial_slot_of(trial_side *x, const ir_op *op, int frame, int dim);
uint64_t trial_iteration_of(const trial_slot *at);

#endif
