/* Reverse mode, building: the adjoint, by its plan. */
#ifndef TKC_REVERSE_BUILD_H
#define TKC_REVERSE_BUILD_H

#include "passes/derive/reverse/plan/plan.h"

/* reverse.c */
/* The reverse sweep of r at the end of s->rev. */
void rev_region(scope *s, const ir_region *r);

/* ops.c, control.c, task.c: pull-back of one operation */
/* Whether this execution of the primal's atomic set element idx, comp; where: turn at step. */
ir_value *rev_won(ir_builder *b, ir_op *atomic, ir_value *const *idx, ir_value *const *where);
void rev_straight(scope *s, const ir_op *op);
void rev_if(scope *s, const ir_op *op);
void rev_loop(scope *s, const ir_op *op);
void rev_task(scope *s, const ir_op *op);
/* The forward sweep of the body of a task or fused loop at the start of c. */
void rev_sweep_body(scope *s, scope *c, const ir_op *op);

/* fused.c */
void rev_fused_loop(scope *s, const ir_op *op);

/* checkpoint.c */
/* At the start of the reverse loop's body c, one of s: what the trip began with is there again. */
void rev_restore_trip(scope *s, scope *c);

/* schedule.c */
/* The same, where the states of all trips do not fit: c->top is carried. */
void rev_schedule_trip(scope *s, scope *c);

/* winner.c */
void rev_winner(scope *s, const ir_op *op);
/* Gives the replayed task's minima and maxima the number of the winning iteration as a companion. */
void rev_add_winners(ir_op *task, const ir_op *primal, const ir_builder *outside);

/* The iteration's number among all of the task. */
ir_value *rev_iteration_number(ir_builder *b, const ir_op *task);

/* forward_sweep.c */
void rev_forward_sweep(scope *s, const ir_region *primal);
ir_func *reverse_replay(ir_func *f);
ir_value *rev_mapped(const ir_map *m, const ir_value *v);

/* lookup.c */
/* The primal value v as a value usable anywhere in s->rev. */
ir_value *rev_primal_value(scope *s, const ir_value *v);
/* The local array as the primal task found it, for the task's adjoint: itself, or a copy made where the task stood. */
ir_value *rev_array_at(scope *s, const ir_value *array, const ir_op *task);

/* The element that a load in s, or around it, read of a local array, which the reverse sweep still has: array and i as
 * rev_primal_value gives them. */
ir_value *rev_load_again(scope *s, ir_builder *b, const ir_op *load, ir_value *array, ir_value *i);

/* again.c */
/* The `if` that v is a result of once more, at the start of s->rev. */
ir_value *rev_recompute_if(scope *s, const ir_value *v);

/* fill.c */
/* The array at the start of home->rev. */
ir_value *rev_fill_again(scope *home, const ir_value *array);

/* guard.c: where an adjoint may be other than zero */
/* The condition without which g is zero, as no contribution to it was made; NULL: none is known. It is visible where g
 * is. */
ir_value *rev_guard(const rev *rv, const ir_value *g);
void rev_set_guard(rev *rv, const ir_value *g, ir_value *guard);
/* Of a sum of adjoints with these guards. */
ir_value *rev_either(ir_builder *b, ir_value *x, ir_value *y);
/* What the pull-back of op takes in place of g where that is zero without its guard, and infinity or NaN may be met;
 * NULL: g itself. */
ir_value *rev_pull(rev *rv, const ir_op *op, ir_value *g);
/* d, which is linear in g, with its guard; chosen: it was made of rev_pull, and is chosen by the guard. */
ir_value *rev_hand_on(rev *rv, ir_builder *b, const ir_value *g, bool chosen, ir_value *d);
/* x + y; guard: x's. */
ir_value *rev_sum(rev *rv, ir_builder *b, ir_value *x, ir_value *guard, ir_value *y);
/* Whether the pull-back of op, pure or a call, may meet infinity or NaN. */
bool rev_may_blow_up(rev *rv, const ir_op *op);
/* What follows from the guard of an inner region and is known at b; NULL: nothing. */
ir_value *rev_outer_guard(ir_builder *b, ir_value *guard);
/* The guard of a result of a reverse `if`, behind it at b. side: of what the branches yield; zero: they yield zero. */
ir_value *rev_branch_guard(ir_builder *b, ir_op *branch, ir_value *const side[2], const bool zero[2]);

/* buffer.c: saving */
/* A value of s->fwd as a value usable anywhere in s->rev. */
ir_value *rev_save(scope *s, ir_value *w, const char *name);
ir_layout *rev_layout_of(const rev *rv, scalar elem, const char *name); /* of arrays of elem */
/* One more member; its number. */
int rev_layout_add(const rev *rv, ir_layout *l, scalar type, const char *name);
ir_value *rev_stk_alloc(ir_builder *b, ir_value *count, ir_layout *l);
void rev_stk_store(ir_builder *b, ir_value *buf, ir_value *i, ir_value *v, ir_layout *l, int slot);
ir_value *rev_stk_load(ir_builder *b, ir_value *buf, ir_value *i, ir_layout *l, int slot);
/* Ends the life of what was saved, if anything. */
void rev_finish_root(scope *root);

/* saved.c: saved fields that the adjoint replays */
bool rev_keeps_any(const rev *rv, const ir_op *task);
/* The write once more in the forward sweep; what it overwrites is remembered if it is to be taken back. */
void rev_write_again(rev *rv, ir_builder *b, ir_map *map, ir_op *write);
void rev_take_snapshots(rev *rv, ir_builder *b, const ir_op *task);
/* In the reverse sweep: memory as it was before the write, before the task. */
void rev_undo_write(scope *s, const ir_op *write);
void rev_restore_snapshots(scope *s, const ir_op *task);

/* adjoint.c: adjoints so far */
void rev_mark(scope *s); /* places the marker at the end of s->rev */
ir_builder rev_at_end(scope *s, const ir_op *origin);
ir_builder rev_prologue(scope *s, src_loc loc); /* at the start of s->rev, behind what was put there before */
bool rev_has_work(scope *s, const ir_op *op);   /* of an if, loop or task: adjoints come in, or memory is touched */
void rev_add(scope *s, ir_builder *b, const ir_value *v, ir_value *g);
/* Behind iterations: the sum of what they added to a value around them. */
void rev_add_sum(scope *s, ir_builder *b, const adj_entry *e, ir_value *sum);
/* Adjoint so far of a value that s owns; NULL if nothing was added. */
ir_value *rev_adj(scope *s, const ir_value *v);
/* A zeroed array of the same size at the start of s->rev. */
ir_value *rev_array_like(scope *s, const ir_value *array, const char *name, src_loc loc);
/* The array of adjoints. shared: it belongs to the kernel, and all iterations of a task add to it. */
ir_value *rev_shadow(scope *s, const ir_value *array, bool *shared);

#endif
