/* Iterations of a parallel loop as the lanes of vectors, internal to passes/schedule/lanes/. lanes.c tells the
 * scheme.
 */
#ifndef TKC_LANES_H
#define TKC_LANES_H

#include "ir/target.h"

enum { LANES = VECTOR_STRIP, VECTOR = VECTOR_MOST };

/* What becomes of an operation of the loop's body. */
typedef enum lanes_kind {
    LANES_INNER,   /* runs for each lane, in a loop over the lanes, with all that is in it */
    LANES_UNIFORM, /* runs once for a strip: it does the same in all of its iterations */
    LANES_SPLIT    /* a loop or branch that all lanes go through together: once for a strip, its body in pieces */
} lanes_kind;

/* Levels of a body without inner loops, one loop over the lanes each: even ones copy, odd ones work, and in the last
 * one lanes do one after the other what they cannot do side by side. */
enum { LEVEL_END = 6, LEVEL_COUNT };

/* A layout of saved values, in which these members may differ between the iterations of a strip. */
typedef struct lanes_layout {
    const ir_layout *layout;
    bool *varies; /* by number */
    bool any;
} lanes_layout;

/* A loop's body, seen as that of many iterations side by side. */
typedef struct lanes_study {
    ir_func *f;
    ir_op *loop;
    const uint32_t *uses;
    uint32_t nvalues;    /* ids below */
    bool *varying;       /* by value id: may differ between the iterations of a strip; of a local array: its elements */
    bool *wide;          /* by value id of an array outside of all inner code: has an element for each lane */
    bool *carried;       /* by value id: follows from what the loop carries, so that iterations take turns */
    unsigned char *kind; /* lanes_kind, by ir_op.pos */
    VEC(ir_op *) ops;    /* by ir_op.pos */
    VEC(lanes_layout) layouts;
    unsigned char *touched; /* by ir_storage: what the loop does there */
    unsigned char *level;   /* by ir_op.pos, of operations of the body itself; NULL: it has inner loops */
    bool narrow;            /* with levels: no float of 64 bits is among what it computes */
    bool adds_to_array;     /* there is an LACCUM */
    bool hoists;            /* asks what comes of it once lanes_hoist_guarded has been there */
    ir_no_lanes why;        /* the body cannot be split; NONE: it can */
} lanes_study;

/* Fills everything but f and loop. */
void lanes_look(lanes_study *s);
void lanes_free(lanes_study *s);
/* Whether the pieces are worth more than the loop as it is; if not, s->why says so. */
bool lanes_pay(lanes_study *s);
static inline lanes_kind lanes_kind_of(const lanes_study *s, const ir_op *op)
{
    return (lanes_kind)s->kind[op->pos];
}
/* Whether elements of the layout's blocks are one for each lane; whether those of this member differ. */
bool lanes_layout_is_wide(const lanes_study *s, const ir_layout *l);
bool lanes_member_varies(const lanes_study *s, const ir_layout *l, int64_t number);

/* Whether the lanes' elements of a field are no neighbours. */
bool lanes_are_strided(const lanes_study *s, const ir_op *access);
/* The outermost loop in whose trips a load sees the same row of elements, which can be read in front of it; NULL: none.
 * lanes_rows.c */
ir_op *lanes_row_loop(const lanes_study *s, const ir_op *load);
/* Reads such rows once, into arrays of the iteration; true: s is to be filled again. */
bool lanes_read_rows(lanes_study *s);

/* Whether both sides of an if that some iterations take, and some do not, can be computed by all of them, and cost
 * little more than the branch. Of a branch in such a branch: by itself. lanes_masks.c */
bool lanes_mask_fits(const lanes_study *s, const ir_op *op);

/* The same of a branch that may be taken for all lanes, whatever it costs. */
bool lanes_branch_fits(const lanes_study *s, const ir_op *op);

/* Each value that op, or what is in it, asks for. */
void lanes_each_use(const ir_op *op, void (*use)(void *ctx, const ir_value *v), void *ctx);

/* The accumulation's element is one for all lanes, and nothing else in the loop looks at it. */
bool lanes_sum_up(const lanes_study *s, const ir_op *op);

/* Behind lanes_look, of a body without inner loops and arrays: fills level. lanes_straight.c */
void lanes_find_levels(lanes_study *s);

/* Of such a body: whether a load under conditions can stand in front of the branch, or a write behind it, under the
 * same conditions. Puts those there; true: s is to be filled again. And whether op is such a load. lanes_hoist.c */
bool lanes_is_hoisted(const lanes_study *s, const ir_op *access);
bool lanes_hoist_guarded(lanes_study *s);
bool lanes_is_guarded_load(const ir_op *op);

/* Whether a task, or an operation in one, is what lanes look at: a loop over rows, and a loop of it. */
bool lanes_may_in(const ir_op *task);
bool lanes_may(const ir_op *loop);
bool lanes_have_inner(const ir_op *loop);

/* Puts loops over strips in the place of s->loop. lanes_strips.c */
void lanes_build(lanes_study *s);
/* One strip at the end of `in`, which has no yield yet: of `lanes` iterations from `base` on. rounded: that, up to
 * whole vectors; from: what the loop carries, in front of the strip. */
void lanes_build_strip(lanes_study *s, ir_region *in, ir_value *base, ir_value *lanes, ir_value *rounded,
                       ir_value *const *from);

/* Directions whose tangents are all zero add nothing. still_directions.c */
bool lanes_leave_out_still(ir_func *f);

/* Trips of loops over lanes run four at a time, where all of them look at the same elements. unroll_and_jam.c */
bool unroll_and_jam(ir_func *f);

/* Minima and maxima that a row's loop carries are found in lanes. lanes_extrema.c */
bool lanes_find_extrema(ir_func *f);

#endif
