/* The same program, smaller: every pass gives what computes the same bits. */
#ifndef TKC_PASSES_SIMPLIFY_H
#define TKC_PASSES_SIMPLIFY_H

#include "ir/ir.h"

/* Constant folding, algebraic identities that are exact in IEEE arithmetic (x*1, x+(-0), x-0, --x; x*0 and x+0 of
 * floats only where numbers are finite), constant branches, single-trip and zero-trip loops, loop-carried values that
 * never change, widening of subscripts (sext(add(trunc(iv), c)) -> i64 add). Never touches STOP. Returns true if
 * something changed. */
bool pass_fold(ir_func *f);

/* Common subexpressions, over pure operations and over loads with no write to that field plane in between; dominance by
 * region nesting. */
bool pass_cse(ir_func *f);

/* Branches of one condition in one region become one branch, where nothing between them forbids it; results of a branch
 * that are the same on both sides become one. passes/simplify/join.c */
bool pass_join(ir_func *f);

/* Which operand of a sum or product comes first follows from where both are computed, not from which pass made them:
 * equal loops are equal pieces of C. */
void pass_order(ir_func *f);

/* Unused operations; unused results and carried values of if, loop and task; branches and loops without effect. Local
 * arrays and saved-value buffers that are only written are removed with their writes. */
bool pass_dce(ir_func *f);

/* fold, cse, branches joined, stores into arrays, dce until nothing changes (bounded). */
void pass_simplify(ir_func *f);
/* The same, but for the branches: what was made two stays two. */
void pass_simplify_clones(ir_func *f);

/* Folding and dead code only. Behind it every load is a read that the function needs; to be asked before loads are
 * merged. */
void pass_settle(ir_func *f);

/* Replaces calls by bodies where the callee is small or called once and the result stays below a size; never no_inline
 * callees. */
void pass_inline(ir_module *m);

/* The same in one function alone, whose callees it was done in. */
void inline_calls_in(ir_func *f);

/* Puts adjoints in the place of the operations that launch them. False after errors: an adjoint that does not exist, or
 * cannot run there. */
bool pass_adjoint_calls(ir_func *f);

/* Moves invariant pure operations, and loads not written in the loop, out of sequential loops whose body surely runs or
 * where the operation cannot trap. */
bool pass_licm(ir_func *f);
/* The same before an adjoint is made of f: what has_poles stays in loops that may not run. */
bool pass_invariants(ir_func *f);
bool loop_surely_runs(const ir_op *loop);
/* Whether a pull-back of the value may be infinite or NaN at a number where the value is of use, as of sqrt at 0. */
bool has_poles(const ir_op *op);
bool has_pole_by(const ir_op *op, int k); /* a quotient by its operand k: that may be 0 */

/* Integers that grow by the same step in each trip of a counted loop follow from its index.
 * passes/simplify/inductions.c */
bool pass_inductions(ir_func *f);

/* Loops of few trips in parallel loops are written out.
 * passes/simplify/unroll.c */
bool pass_unroll(ir_func *f);
/* Of a function with a Jacobian: it becomes a straight line without local arrays, as far as that is short. */
bool unroll_to_line(ir_func *f);
/* Elements of local arrays at constant subscripts become values. passes/simplify/scalars.c */
bool pass_scalars(ir_func *f);

/* Stores into local arrays that are overwritten before anybody reads the element go.
 * passes/simplify/array_stores.c */
bool pass_array_stores(ir_func *f);
/* Stores into local arrays whose elements are all stored again before one is read. */
bool pass_unread_stores(ir_func *f);

/* Where no second derivatives are made: functions of the prelude that these alone call go. passes/simplify/strip.c */
void strip_second_order(ir_module *m);

/* What only differentiation needed goes, behind all of it: STOP and SLOPE, functions that nobody calls, and arguments
 * that functions do not read; is_fixed: whether nothing may move in that function. passes/simplify/strip.c */
bool pass_strip(ir_module *m, bool (*is_fixed)(const ir_func *f));

/* Before derivatives are made: stores that may put back what a kept element holds stand under a condition.
 * passes/simplify/spared_stores.c */
bool pass_spared_stores(ir_func *f);
/* Once they are made: such stores are plain ones again. */
bool pass_plain_stores(ir_func *f);

/* In adjoints: sums of what one side of a branch yields stand on that side. passes/simplify/sunk_sums.c */
bool pass_sunk_sums(ir_func *f);

/* What an iteration stored is handed on to where it loads or adds to it: each element is written once, where that can
 * be seen. passes/simplify/forward_stores.c */
bool pass_forward_stores(ir_func *f);
/* The same, before derivatives are made, in saved fields and in arrays that come out: an adjoint would keep what these
 * held before each write. */
bool pass_forward_kept(ir_func *f);

#endif
