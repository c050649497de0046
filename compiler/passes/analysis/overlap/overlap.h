/* When do two accesses of one field provably touch the same element? */
#ifndef TKC_OVERLAP_H
#define TKC_OVERLAP_H

#include "passes/analysis/analysis.h"

typedef struct path_step {
    const ir_op *op;         /* if, loop or task */
    const ir_region *region; /* of op, on the way to the access */
} path_step;

/* What stands around an access, outermost first. */
typedef struct path {
    const path_step *at;
    int n;
} path;

/* A memory operation of a field, or one in a function that stays a call, seen at the call. */
typedef struct access {
    const ir_op *op;             /* the operation, or the call */
    path way;                    /* to op */
    const ir_op *inner;          /* the operation in the function, or NULL */
    const struct access *deeper; /* the access seen in the function, or NULL */
    bool guarded;                /* in the function it stands under a condition */
    bool repeated;               /* with other arguments, too: they were too many (called.h) */
    const ir_field *field;
    ir_plane plane;
    unsigned kind; /* OP_READS, OP_STORES or OP_ADDS */
    int nsub;      /* subscripts and component */
    const affine *sub;
} access;

/* beside: one made before, or NULL; if it stands in the same region, they share the way there. */
access access_of_op(const ir_module *m, const ir_op *op, const access *beside);
/* a, which stands in the function that `call` calls: its subscripts with the call's arguments put in. */
access access_in_call(const ir_module *m, const ir_op *call, const access *a, const access *beside);

/* A loop, or one dimension of a task, around both accesses: the second touches the element `delta` iterations after the
 * first if fixed, else in any. */
typedef struct common_loop {
    const ir_op *op;
    int dim;
    bool fixed;
    int64_t delta;
    bool pinned[2]; /* of a task: the first (second) access touches the element in iteration `pin` only */
    int64_t pin[2];
} common_loop;

/* Two indices that stand for each other in one dimension. */
typedef struct index_pair {
    const ir_value *p, *q; /* free indices; q NULL: p has been used to cover a dimension */
    int64_t shift;         /* q is p + shift */
} index_pair;

/* What is known of two accesses. One serves for many questions, one after the other: its memory is used again. */
typedef struct overlap {
    bool placed; /* what follows is known: the accesses are not apart at a glance */
    bool provable;
    VEC(common_loop) loops; /* outermost first */
    VEC(index_pair) pairs;
    path a, b;
    int ncommon; /* steps of both paths that are the same operation; the last one may differ in its region */
} overlap;

/* Certain at a glance: other memory, or other constant subscripts. */
bool access_never_aliases(const access *a, const access *b);
/* provable: for some iterations that keep to the loops' deltas, a and b touch the same element.
 * within: a task of which iterations are held against each other; loops inside of it run for each access by itself,
 * also where they are the same; NULL: every shared loop is common. */
void overlap_find(overlap *o, const ir_module *m, const access *a, const access *b, const ir_op *within);
void overlap_free(overlap *o);
/* True if nothing on the path from step `from` to the access decides at run time whether it is reached (loops are taken
 * to run). */
bool path_is_unconditional(const path *p, int from);
/* True if what decides there is data, arguments or results of loops, but no index: where the access is reached at all,
 * it is reached for the iterations that the overlap speaks of. */
bool path_is_index_free(const path *p, int from);
/* True if the loop or task dimension runs at most `n` times for certain. */
bool loop_runs_at_most(const ir_op *op, int dim, int64_t n);

#endif
