/* How loops run: who meets at an element, in which order and form, with which vectors. */
#ifndef TKC_PASSES_SCHEDULE_H
#define TKC_PASSES_SCHEDULE_H

#include "ir/ir.h"

/* Accumulations whose element is the same for all iterations of a task or loop become reductions; several into one
 * element become one. passes/schedule/promote.c */
void pass_promote(ir_func *f);
/* Before derivatives are made: sums into one element of a saved field, or of an array that comes out, leave the counted
 * loop around them. */
bool pass_kept_sums(ir_func *f);
/* Whether v is a subscript of that dimension, as a bool; NULL: for certain. */
ir_value *subscript_in_range(ir_builder *b, ir_field *f, int dim, ir_value *v);

/* What all pairs (i, j) add to element j becomes what they add to element i, where exchanging the two changes a sign at
 * most. passes/schedule/symmetry.c */
bool pass_symmetry(ir_func *f);

/* Constant-shift accumulations become gathers with boundary strips where the value is cheap to recompute.
 * passes/schedule/gather/gather.c */
bool pass_gather(ir_func *f);

/* Classes each write (own, reduction, row, scatter), sets attr.acc, attr.scatters, attr.label.
 * passes/schedule/parallel.c */
void pass_parallel(ir_func *f);

/* Sums of f32 over parallel loops are added in f64. passes/schedule/wide_sums.c */
void pass_wide_sums(ir_func *f);

/* Turns each task's innermost dimension into an explicit loop over a row segment, marked simd where its iterations are
 * independent. passes/schedule/rows.c */
void pass_rows(ir_func *f);

/* Periodic subscripts, and those that a bound holds back, are plain ones between the ends of a row.
 * passes/schedule/gather/peel.c */
bool pass_peel(ir_func *f);

/* Gathers run interleaved with what is left of the task that they were taken from (attr.ahead).
 * passes/schedule/stages.c */
void pass_stages(ir_func *f);

/* Puts large arrays, and those whose size is known at run time only, on the stack of saved values.
 * passes/schedule/frames.c */
void pass_frames(ir_func *f);

/* Operations of a matrix stand by the entry that they are for, so that fewer values are live at a time.
 * passes/schedule/live_order.c */
void pass_live_order(ir_func *f);

/* Which part of a field each task scatters into (ir_scatter.nfixed). passes/schedule/scatter_window.c */
void pass_slabs(ir_func *f);

/* Cheap values that a task would be handed, it computes by itself. passes/schedule/rematerialize_captures.c */
void pass_captures(ir_func *f);

/* Branches with little in them are computed by all iterations, in loops that are to become lanes: what they store is
 * put there under a mask. passes/schedule/lanes/masks.c */
bool pass_masks(ir_func *f);

/* Iterations that compilers cannot see as vectors become lanes: short loops without dependences, of which trips run
 * four at a time where all of them look at the same elements. Minima and maxima over a row are found in lanes as well.
 * passes/schedule/lanes/lanes.c */
void pass_lanes(ir_func *f);

/* Branches with functions of the C library become selects, where a loop can be vectorised then.
 * passes/schedule/selects.c */
bool pass_selects(ir_func *f);

/* Marks loops that may be vectorised with reordering, and stores what they save member by member.
 * passes/schedule/simd.c */
bool pass_simd(ir_module *m);
/* Whether it would mark this loop; uses: ir_count_uses. */
bool simd_fits(const ir_func *f, const ir_op *loop, const uint32_t *uses);
/* Of loads, stores and accumulations that it asks about, of a loop with nothing else that would touch their elements:
 * whether no two iterations meet at what one of them writes; whether b touches in the same iteration what a, which
 * stands before it, has written. */
bool simd_iterations_independent(const ir_op *loop, ir_op *const *memory, size_t n, const ir_op *write);
bool simd_touches_again(const ir_op *a, const ir_op *b);

/* Where the element of a loop's access stands from iteration to iteration. */
typedef enum place_kind {
    PLACE_FIXED, /* it is the same one */
    PLACE_STEPS, /* so many numbers further on */
    PLACE_ROWS,  /* further on by what the launch knows */
    PLACE_ANY
} place_kind;
place_kind place_in_loop(const ir_op *loop, const ir_op *access, int64_t *step);
/* Of a vectorised loop, the accesses whose step is hidden from compilers (attr.stepped). passes/schedule/steps.c */
void mark_steps(const ir_op *loop);

/* What marked loops save is stored member by member. passes/schedule/soa_saved.c */
void store_by_member(ir_module *m);

/* What --explain and --explain-adjoint tell of a function's loops: a task, what functions that it calls add to, and
 * each write once (components of one vector, and a gather's strips and interior, are one). */
typedef struct explained {
    const ir_op *op;          /* a task, or what writes */
    const ir_scatter *called; /* of a task: what its functions add to; NULL: the task itself */
    ir_class class;           /* NONE: of the task itself */
    ir_scatter_reason why;    /* of a scatter: why it is no gather */
} explained;
void explain_writes(const ir_func *f, void (*tell)(const explained *x, void *ctx), void *ctx);
/* --explain-adjoint: prints the class of each write with its source line. */
void explain_kernel(FILE *out, const ir_func *f);

#endif
