/* Reverse mode, internal to passes/derive/reverse/reverse*.c. docs/architecture.md tells the scheme. */
#ifndef TKC_REVERSE_H
#define TKC_REVERSE_H

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "util/ptrmap.h"

/* Value id -> value, for the few outer values that a scope contributes to. Insertion order is kept: it is the order of
 * results. */
typedef struct adj_entry {
    const ir_value *primal;
    ir_value *adj;   /* adjoint so far */
    ir_value *param; /* loops: the carried sum */
    ir_value *guard; /* of what was added */
} adj_entry;

/* A local array from outside a task, and what one iteration adds to its adjoint. */
typedef struct adj_array {
    const ir_value *primal;
    ir_value *shadow;
} adj_array;

/* A local array from around a checkpointed loop, and where its trips find what that held. */
typedef struct rev_held {
    const ir_value *primal;
    ir_value *there;
} rev_held;

/* One from around it that its trips store into. */
typedef struct rev_stored {
    const ir_value *primal;
    const ir_op *first, *last; /* operations of the body that do */
    bool is_kept;              /* what it held when the trip began */
    ir_value *kept;            /* that, once the loop is built */
    ir_layout *layout;
} rev_stored;

typedef enum scope_kind {
    SCOPE_ROOT,   /* both sweeps stand in one region: function, kernel, body of a task or of a fused loop */
    SCOPE_BRANCH, /* of an if */
    SCOPE_LOOP
} scope_kind;

/* A carried value of a reverse loop under construction. */
typedef struct rev_carry {
    ir_value *param, *init, *yield;
    const ir_value *primal; /* primal body parameter whose adjoint is carried, or NULL */
} rev_carry;

/* An adjoint that is zero without cond. */
typedef struct rev_guarded {
    ir_value *cond; /* NULL: none is known */
    ir_value *bare; /* what it is with cond, if it was made by a choice */
} rev_guarded;

/* The elements of a field that a task overwrites, as they were before it: a box of them. */
typedef struct rev_snapshot {
    const ir_op *task;
    ir_field *field;
    const struct box_side *sides; /* of each dimension: first and last */
    ir_layout *layout;
    ir_value *buf; /* beside the task's clone in the forward sweep */
} rev_snapshot;

typedef struct rev rev;
typedef struct scope scope;
typedef struct saved_plan saved_plan;
typedef struct rev_plan rev_plan;
typedef struct array_fill array_fill;

typedef struct rev_filled {
    bool looked;
    array_fill *fill; /* NULL: cannot be filled again */
} rev_filled;

struct scope {
    rev *rv;
    scope *outer;
    scope_kind kind;
    const ir_region *primal;
    ir_region *fwd, *rev;
    ir_op *marker; /* in rev: recomputed values are inserted before it, the reverse sweep behind it */
    VEC(adj_entry) outer_adj;
    uint32_t *slot; /* open addressing over outer_adj: primal id -> index + 1 */
    uint32_t nslots;
    bool uses_stack;    /* roots: allocated saved values */
    bool fused;         /* roots: the body of a loop (reverse_fused.c, reverse_checkpoint.c) */
    bool checkpointed;  /* and each trip has a state to begin with */
    bool once;          /* and one iteration of it alone (reverse_winner.c) */
    VEC(rev_held) held; /* and these arrays that it reads lie elsewhere */
    VEC(rev_stored) stored;
    VEC(adj_array) arrays; /* tasks: kernel-level arrays that the body reads */
    /* branches and loops */
    ir_op *fwd_op; /* the forward sweep's if or loop */
    int branch;
    /* loops */
    const ir_op *primal_op;
    ir_value *index;        /* primal index in rev; NULL for condition loops */
    bool looked, has_tasks; /* in primal */
    ir_layout *layout;
    ir_value *buf_fwd; /* array: in outer->fwd; chain: this iteration's struct in fwd */
    ir_value *buf_rev; /* array: in outer->rev; chain: parameter of rev */
    VEC(rev_carry) carry;
};

struct rev {
    ir_module *module;
    const ir_func *primal;
    ir_func *out;
    activity act;
    ir_map fwd;     /* primal value -> its clone in the forward sweep */
    ptrmap fwd_ops; /* primal operation with regions -> its clone there; of a task that is not run again: what stands in
                       its place */
    ir_value **memo;          /* primal id -> its value on the reverse side (scopes that are not roots) */
    ir_value **adj;           /* primal id -> adjoint so far, in the scope that owns the value */
    ir_value **shadow;        /* LOCAL id -> array of adjoints */
    ir_layout **kept;         /* LOCAL id -> of the blocks that the iterations of its loop keep; NULL: not kept */
    rev_filled *filled;       /* LOCAL id -> what fills it */
    const ir_op **last_store; /* LOCAL id -> last operation of its own region that stores into it; valid when scanned */
    bool *scanned;
    rev_plan *plan;
    uint32_t *uses;          /* of the primal's values, by id; NULL: not counted yet */
    bool *wild;              /* primal id -> it may be infinite or NaN; NULL: not looked at yet */
    VEC(rev_guarded) guards; /* by an adjoint's id */
    /* saved fields that the adjoint replays */
    const saved_plan *memory; /* NULL: none */
    ir_value **old;           /* pos of a write -> what it overwrote, in the forward sweep */
    VEC(rev_snapshot) snapshots;
    bool in_task; /* the forward sweep of the kernel is inside a task */
    bool fusing;  /* the forward sweep of a body is being made that is swept backwards at once */
    bool of_args; /* memory counts as constant */
};

/* How a loop is swept backwards. */
typedef enum rev_loop_way {
    LOOP_PLAIN,          /* behind all of its forward sweep */
    LOOP_REMATERIALISED, /* each trip computes again what it takes, and the forward sweep is not run: reverse_again.c */
    LOOP_FUSED,          /* trip by trip, forwards and backwards: reverse_fused.c */
    LOOP_WINNER,         /* the trip alone that has set what it carries: reverse_winner.c */
    LOOP_CHECKPOINTED    /* trip by trip, from the state that the trip began with: reverse_checkpoint.c */
} rev_loop_way;

/* What it costs to have a value in the reverse sweep, each time that its region is run. */
typedef struct rev_price {
    const ir_value *value; /* NULL: not of a scope that may save */
    int save, bytes;
    int again;              /* -1: cannot be computed again */
    bool must;              /* be computed again */
    const array_fill *fill; /* of a local array; else NULL */
} rev_price;

/* A loop that could be checkpointed, and its state. */
typedef struct rev_candidate {
    struct rev_candidate *next;
    const ir_op *loop;
    const ir_value **arrays;
    size_t n;
    int numbers;
    bool taken;
} rev_candidate;

/* All that is decided before an adjoint is built, by id of the primal's values. reverse_plan.c */
struct rev_plan {
    size_t n;
    bool *pulled;                /* has an adjoint */
    bool *is_asked;              /* by a pull-back */
    VEC(const ir_value *) asked; /* these */
    bool *live;
    rev_price *price;
    bool *wanted, *is_saved; /* by the minimum cut */
    bool pricing, chosen;
    rev_candidate *candidates; /* loops that could be checkpointed; the innermost one first */
    ptrmap loops;
    effects touched; /* by the primal */
};

/* What an adjoint that replays saved fields has to do, by ir_op.pos of the primal. passes/derive/reverse/saved.c */
struct saved_plan {
    uint32_t npos;
    bool *keep;    /* writes: done again in the forward sweep of the kernel */
    bool *undo;    /* writes at kernel level: taken back in the reverse sweep */
    bool *fused;   /* writes in tasks: done again, and taken back, in the task's adjoint */
    bool *fixed;   /* loads: only the forward sweep finds the value */
    bool *ordered; /* tasks: one thread runs the adjoint, in order */
    bool *snap;    /* npos * number of fields; tasks: fields to be taken back as a whole */
};

/* reverse_plan.c */
rev_plan *rev_plan_begin(const ir_func *f);
void rev_plan_end(rev_plan *p);
/* Fills rv->plan, and of a kernel rv->memory. False after errors. */
bool rev_make_plan(rev *rv, bool kernel);
rev_loop_way rev_plan_loop(scope *s, const ir_op *loop);
/* The loop of s, a plain one, is rematerialised. */
void rev_plan_again(scope *s);
/* Ends the compiler if the adjoint reads an element of a field that the plan has not as a read, but for those that the
 * replay makes. */
void rev_check_reads(const rev *rv, const ir_func *adjoint);
/* One line for each loop, value and write that the plan decides on. */
void rev_print_plan(strbuf *text, const rev *rv);

/* reverse_loops.c */
/* Enters a loop that could be checkpointed among the candidates. */
rev_loop_way rev_way_of(scope *s, const ir_op *loop);
/* Whether what the loop carries as number k is a sum, which no trip reads. */
bool rev_hands_on_sum(rev *rv, const ir_op *loop, int k);
/* How one iteration replaces what the loop carries. */
typedef struct rev_replacement {
    const ir_value *cond; /* of selects and branches; NULL: a minimum or maximum */
    int side;             /* on which of them, or as which operand of the minimum, the new values stand */
} rev_replacement;
bool rev_find_replacement(const ir_op *loop, rev_replacement *r);
const ir_value *rev_carried_param(const ir_op *loop, int k);
/* What the winner's trip sets as number k. */
const ir_value *rev_winning_value(const ir_op *loop, int k);
/* The condition, or the extreme itself, by which a trip is found to be the winner's. */
const ir_value *rev_winner_goes_by(const ir_op *loop);

/* reverse_needs.c */
/* Fills pulled and asked, and the prices where they are wanted. */
void rev_find_needs(rev *rv);

/* reverse_live.c */
/* Fills live, by what is asked for. */
void rev_find_live(rev *rv);
/* Whether what the loop carries is live. */
bool rev_demands_carried(const rev *rv, const ir_op *loop);

/* reverse.c */
/* What the adjoint of a function is to give. */
typedef struct rev_goal {
    activity act; /* freed by rev_func */
    bool of_args; /* memory counts as constant */
    bool unit;    /* the seed of its one result is 1, and no parameter */
} rev_goal;
/* A new function, named after the one it is derived from. */
ir_func *rev_derived(ir_func *f, ir_func_kind kind, const char *suffix);
/* Takes a function out of the module. */
void rev_forget(ir_module *m, const ir_func *f);
/* The adjoints of all float parameters of a function. out: of rev_derived. */
void rev_func(ir_func *f, ir_func *out, rev_goal goal);
ir_func *reverse_vjp(ir_func *f);

/* What is marked grad_for f where only arguments count; NULL, and reported, if it changes memory. */
ir_func *reverse_args_vjp(ir_func *f, const ir_op *call);
/* The reverse sweep of r at the end of s->rev. */
void rev_region(scope *s, const ir_region *r);

/* reverse_ops.c, reverse_control.c, reverse_task.c: pull-back of one operation */
/* Whether this execution of the primal's atomic set element idx, comp; where: turn at step. */
ir_value *rev_won(ir_builder *b, ir_op *atomic, ir_value *const *idx, ir_value *const *where);
void rev_straight(scope *s, const ir_op *op);
/* The bits of rule_needs of all operands that matter, where what is computed beside op is at hand. */
unsigned rev_rule_needs(const rev *rv, const ir_op *op);
/* The operation of the primal that computes a costly part of the rule of op; NULL: none. */
const ir_op *rev_computed_beside(const rev *rv, const ir_op *op);
/* Whether the element that op accesses has a gradient here. */
bool rev_has_gradient(const rev *rv, const ir_op *op);
/* y[i] = y[i] + v, or - v, of a local array: the operand of its value that is v; -1: the store is none. */
int rev_added_operand(const ir_op *store);
/* Whether the call changes memory that has a gradient. */
bool rev_call_has_memory(const rev *rv, const ir_op *call);
void rev_if(scope *s, const ir_op *op);
void rev_loop(scope *s, const ir_op *op);
/* Whether the reverse loop carries an adjoint of what the loop carries as number k. from_behind: its result has one. */
bool rev_carries_adjoint(scope *s, const ir_op *loop, int k, bool from_behind);
void rev_task(scope *s, const ir_op *op);
/* The forward sweep of the body of a task or fused loop at the start of c. */
void rev_sweep_body(scope *s, scope *c, const ir_op *op);

/* reverse_fused.c */
void rev_fused_loop(scope *s, const ir_op *op);

/* reverse_checkpoint.c */
/* Fills c->stored, of a checkpointed loop of s. */
void rev_find_stored(scope *s, scope *c);
/* At the start of the reverse loop's body c, one of s: what the trip began with is there again. */
void rev_restore_trip(scope *s, scope *c);

/* reverse_winner.c */
void rev_winner(scope *s, const ir_op *op);

/* Gives the replayed task's minima and maxima the number of the winning iteration as a companion. */
void rev_add_winners(ir_op *task, const ir_op *primal, const ir_builder *outside);

/* The iteration's number among all of the task. */
ir_value *rev_iteration_number(ir_builder *b, const ir_op *task);

/* saved.c. Where reads of scratch fields are live: the plan by which the adjoint makes them anew; else NULL. */
saved_plan *scratch_study(const rev *rv);
/* What live reads, with all that scratch fields are made of, show of the saved fields that the kernel overwrites:
 * launch.before of the primal, and the plan of a replay, which has the scratch fields as well, NULL where none is
 * needed. False after errors. */
bool saved_study(const rev *rv, saved_plan **plan);

/* record.c: old values of atomics, winners of minima and maxima. Before differentiation each atomic gets the numbers by
 * which they are recorded; then those that the adjoint needs are. False after errors: a winner that depends on the
 * order of iterations. */
bool record_number_atomics(ir_func *kernel);
void record_old_values(ir_func *kernel, ir_func *adjoint);

/* reverse_replay.c: forward sweep */
void rev_forward_sweep(scope *s, const ir_region *primal);
ir_func *reverse_replay(ir_func *f);
ir_value *rev_mapped(const ir_map *m, const ir_value *v);

/* reverse_lookup.c */
/* The primal value v as a value usable anywhere in s->rev. */
ir_value *rev_lookup(scope *s, const ir_value *v);
/* The local array as the primal task found it, for the task's adjoint: itself, or a copy made where the task stood. */
ir_value *rev_array_at(scope *s, const ir_value *array, const ir_op *task);

/* The element that a load in s, or around it, read of a local array, which the reverse sweep still has: array and i as
 * rev_lookup gives them. */
ir_value *rev_load_again(scope *s, ir_builder *b, const ir_op *load, ir_value *array, ir_value *i);

/* Whether v, of the scope s or around it, can be computed again from its operands. */
bool rev_can_recompute(scope *s, const ir_value *v);
/* Whether op, or what stands in it, stores into the local array. */
bool rev_stores_into(const ir_op *op, const ir_value *array);
/* The first operand that computing op again takes. */
int rev_first_operand(const ir_op *op);

/* reverse_choice.c: what is saved */
/* Chooses by the prices. Whether loops are to be checkpointed that were not before: then all is to be found anew. */
bool rev_choose(rev *rv);
/* At the end of a scope that is no root. */
void rev_set_prices(scope *s);
/* Whether v, of a scope that is no root, is saved; else it can be computed again. */
bool rev_saves(const rev_plan *plan, const ir_value *v);
int rev_own_cost(const ir_op *op);
/* A loop that could be checkpointed; the arrays of its state, and how many numbers it has. */
void rev_add_candidate(rev_plan *plan, const ir_op *loop, const ir_value *const *arrays, size_t n, int numbers);
/* NULL: it could not. */
const rev_candidate *rev_candidate_of(const rev_plan *plan, const ir_op *loop);
int64_t rev_guess_trips(const ir_op *loop);

/* reverse_again.c: loops that save nothing */
/* Whether all that an iteration of s, or of the loop around it, computes can be computed again, and nothing that is
 * asked for is handed to the next one. */
bool rev_is_free(scope *s);
/* That is found out once, for the scope of a plain loop. */
void rev_find_free(scope *s);
bool rev_if_is_cheap(scope *s, const ir_op *op);
int rev_cost_of_if(scope *s, const ir_op *op);
/* The `if` that v is a result of once more, at the start of s->rev. */
ir_value *rev_recompute_if(scope *s, const ir_value *v);

/* reverse_fill.c: local arrays that the reverse sweep fills again */
/* What that takes; NULL: it cannot be done. home: the scope of the loop in whose body the array lives, else there is
 * nothing to gain. */
const array_fill *rev_fill_of(scope *home, const ir_value *array);
int rev_fill_cost(const array_fill *fill); /* of an iteration of the loop */
/* How many values it takes from outside of the operations that store, and which. */
size_t rev_fill_takes(const array_fill *fill, const ir_value *const **outside);
/* The array at the start of home->rev. */
ir_value *rev_fill_again(scope *home, const ir_value *array);

/* reverse_guard.c: where an adjoint may be other than zero */
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

/* reverse_buffer.c: saving */
/* A value of s->fwd as a value usable anywhere in s->rev. */
ir_value *rev_save(scope *s, ir_value *w, const char *name);
ir_layout *rev_layout_of(const rev *rv, scalar elem, const char *name); /* of arrays of elem */
ir_value *rev_stk_alloc(ir_builder *b, ir_value *count, ir_layout *l);
void rev_stk_store(ir_builder *b, ir_value *buf, ir_value *i, ir_value *v, ir_layout *l, int slot);
ir_value *rev_stk_load(ir_builder *b, ir_value *buf, ir_value *i, ir_layout *l, int slot);
scope *rev_root_of(scope *s);
/* Ends the life of what was saved, if anything. */
void rev_finish_root(scope *root);

/* reverse_saved.c: saved fields that the adjoint replays */
static inline bool rev_is_write(const ir_op *op)
{
    return op_writes_field(op->code);
}
bool rev_keeps_write(const rev *rv, const ir_op *write);
bool rev_keeps_any(const rev *rv, const ir_op *task);
/* The write once more in the forward sweep; what it overwrites is remembered if it is to be taken back. */
void rev_write_again(rev *rv, ir_builder *b, ir_map *map, ir_op *write);
void rev_take_snapshots(rev *rv, ir_builder *b, const ir_op *task);
/* In the reverse sweep: memory as it was before the write, before the task. */
void rev_undo_write(scope *s, const ir_op *write);
void rev_restore_snapshots(scope *s, const ir_op *task);
/* The values by which the boxes are found that the task's adjoint restores. */
typedef void (*rev_visit)(scope *s, const ir_value *v);
void rev_each_of_boxes(scope *s, const ir_op *task, rev_visit visit);
/* Whether the adjoint does the write again, and whether it takes it back. */
bool rev_writes_again(const rev *rv, const ir_op *write);
bool rev_undoes(const rev *rv, const ir_op *write);
/* Whether something in the region r of op is taken back, but for what tasks inside do. */
bool rev_takes_back(const rev *rv, const ir_op *op, const ir_region *r);

/* reverse_adjoint.c: scopes and adjoints so far */
scope rev_scope(rev *rv, scope *outer, scope_kind kind, const ir_region *primal, ir_region *fwd, ir_region *reg);
void rev_scope_free(scope *s);
void rev_mark(scope *s); /* places the marker at the end of s->rev */
ir_builder rev_at_end(scope *s, const ir_op *origin);
ir_builder rev_prologue(scope *s, src_loc loc); /* at the start of s->rev, behind what was put there before */
bool rev_varied(const rev *rv, const ir_value *v);
bool rev_has_active_memory(const ir_region *r);
bool rev_changes_memory(const rev *rv, const ir_op *op); /* of an if, loop or task: that, or it takes writes back */
bool rev_has_work(scope *s, const ir_op *op); /* of an if, loop or task: adjoints come in, or memory is touched */
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
