/* Reverse mode, planning: all that is decided before an adjoint is built. */
#ifndef TKC_REVERSE_PLAN_H
#define TKC_REVERSE_PLAN_H

#include "passes/derive/reverse/reverse.h"

/* How a loop is swept backwards. */
typedef enum rev_loop_way {
    LOOP_PLAIN,          /* behind all of its forward sweep */
    LOOP_REMATERIALISED, /* each trip computes again what it takes, and the forward sweep is not run: plan/again.c */
    LOOP_FUSED,          /* trip by trip, forwards and backwards: build/fused.c */
    LOOP_WINNER,         /* the trip alone that has set what it carries: build/winner.c */
    LOOP_CHECKPOINTED    /* trip by trip, from the state that the trip began with: build/checkpoint.c */
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
    bool alone; /* in no other loop or branch, counted up, and with a state */
    bool taken;
} rev_candidate;

/* All that is decided before an adjoint is built, by id of the primal's values. plan.c */
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
    const ir_op **unary,
        **next_unary; /* operations of one operand: by its id the last one, by the result's the one before */
};

/* What an adjoint that replays saved fields has to do, by ir_op.pos of the primal. saved.c */
struct saved_plan {
    uint32_t npos;
    bool *keep;    /* writes: done again in the forward sweep of the kernel */
    bool *undo;    /* writes at kernel level: taken back in the reverse sweep */
    bool *fused;   /* writes in tasks: done again, and taken back, in the task's adjoint */
    bool *fixed;   /* loads: only the forward sweep finds the value */
    bool *ordered; /* tasks: one thread runs the adjoint, in order */
    bool *snap;    /* npos * number of fields; tasks: fields to be taken back as a whole */
};

/* plan.c */
rev_plan *rev_plan_begin(const ir_func *f);
void rev_plan_end(rev_plan *p);
/* Fills rv->plan, and of a kernel rv->memory. False after errors. */
bool rev_make_plan(rev *rv, bool kernel);
/* Ends the compiler if the adjoint reads an element of a field that the plan has not as a read, but for those that the
 * replay makes. */
void rev_check_reads(const rev *rv, const ir_func *adjoint);
/* One line for each loop, value and write that the plan decides on. */
void rev_print_plan(strbuf *text, const rev *rv);

/* loops.c */
/* The way of a loop, which is met in one scope alone: decided when it is met first. */
rev_loop_way rev_plan_loop(scope *s, const ir_op *loop);
/* False: the loop was not met. */
bool rev_way_of(const rev_plan *p, const ir_op *loop, rev_loop_way *way);
/* The loop of s, a plain one, is rematerialised. */
void rev_plan_again(scope *s);
/* NULL: the loop cannot be checkpointed. */
const rev_candidate *rev_candidate_of(const rev_plan *plan, const ir_op *loop);
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

/* needs.c */
/* Fills pulled and asked, and the prices where they are wanted. */
void rev_find_needs(rev *rv);

/* live.c */
/* Fills live, by what is asked for. */
void rev_find_live(rev *rv);

/* saved.c */
/* Where reads of scratch fields are live: the plan by which the adjoint makes them anew; else NULL. */
saved_plan *scratch_study(const rev *rv);
/* What live reads, with all that scratch fields are made of, show of the saved fields that the kernel overwrites:
 * launch.parts of the primal, and the plan of a replay, which has the scratch fields as well, NULL where none is
 * needed. False after errors. */
bool saved_study(const rev *rv, saved_plan **plan);

/* cut.c: what is saved */
/* Chooses by the prices. Whether loops are to be checkpointed that were not before: then all is to be found anew. */
bool rev_choose(rev *rv);
/* How often a region is run, about. */
int64_t rev_times(const ir_region *r);
/* At the end of a scope that is no root. */
void rev_set_prices(scope *s);
/* Whether v, of a scope that is no root, is saved; else it can be computed again. */
bool rev_saves(const rev_plan *plan, const ir_value *v);

/* again.c: what can be computed again */
/* Whether v, of the scope s or around it, can be computed again from its operands. */
bool rev_can_recompute(scope *s, const ir_value *v);
/* The first operand that computing op again takes. */
int rev_first_operand(const ir_op *op);
int rev_own_cost(const ir_op *op);
int64_t rev_guess_trips(const ir_op *loop);
/* Whether all that an iteration of s, or of the loop around it, computes can be computed again, and nothing that is
 * asked for is handed to the next one. */
bool rev_is_free(scope *s);
/* That is found out once, for the scope of a plain loop. */
void rev_find_free(scope *s);
bool rev_if_is_cheap(scope *s, const ir_op *op);
int rev_cost_of_if(scope *s, const ir_op *op);

/* fill.c: local arrays that the reverse sweep fills again */
struct array_fill {
    bool *needed;             /* by value id: of what stands in the operations that store */
    const ir_value **outside; /* what they take from around them */
    size_t noutside;
    int cost;
};

typedef struct filling {
    scope *home; /* of the loop in whose body the array lives */
    const ir_value *array;
    array_fill *fill;
    VEC(const ir_value *) outside; /* while they are found */
    bool changed;
} filling;

/* What that takes; NULL: it cannot be done. home: the scope of the loop in whose body the array lives, else there is
 * nothing to gain. */
const array_fill *rev_fill_of(scope *home, const ir_value *array);
int rev_fill_cost(const array_fill *fill); /* of an iteration of the loop */
/* How many values it takes from outside of the operations that store, and which. */
size_t rev_fill_takes(const array_fill *fill, const ir_value *const **outside);
/* Whether op is one of the operations that fill the array, and whether the loop carries its number k for that. */
bool rev_fill_needs(const filling *f, const ir_op *op);
bool rev_fill_carries(const filling *f, const ir_op *loop, int k);

/* arrays.c */
/* What `reader` finds in an array is what the trip around it began with, which is kept; NULL: it may be something else.
 */
const rev_stored *rev_began_with(scope *s, const ir_value *array, const ir_op *reader);
/* Whether the array holds in the reverse sweep what it held at `reader`. */
bool rev_array_is_final(scope *s, const ir_value *array, const ir_op *reader);
/* Fills c->stored, of a checkpointed loop of s. */
void rev_find_stored(scope *s, scope *c);

/* boxes.c */
/* The first or the last subscript of what a task writes, each at least as far out as all the others that cannot be
 * compared with it; n 0: the end of the dimension. inside: it is a subscript of the field in any case. */
enum { MOST_SUBSCRIPTS = 4, MAX_FACTOR = 1 << 30 };
typedef struct box_side {
    affine at[MOST_SUBSCRIPTS];
    int n;
    bool inside;
} box_side;

/* First and last of each dimension, of what the snapshot's task writes. */
const box_side *rev_box_sides(const rev *rv, const rev_snapshot *c);
/* The values by which the boxes are found that the task's adjoint restores. */
typedef void (*rev_visit)(scope *s, const ir_value *v);
void rev_each_of_boxes(scope *s, const ir_op *task, rev_visit visit);

/* primal.c: questions about operations */
scope rev_scope(rev *rv, scope *outer, scope_kind kind, const ir_region *primal, ir_region *fwd, ir_region *reg);
void rev_scope_free(scope *s);
scope *rev_root_of(scope *s);
/* The scope of v, s or one around it. */
scope *rev_owner_of(scope *s, const ir_value *v);
bool rev_varied(const rev *rv, const ir_value *v);
/* The bits of rule_needs of all operands that matter, where what is computed beside op is at hand. */
unsigned rev_rule_needs(const rev *rv, const ir_op *op);
/* Notes the operations of one operand. */
void rev_note_unary(rev_plan *p, const ir_func *f);
/* The operation of the primal that computes a costly part of the rule of op; NULL: none. */
const ir_op *rev_computed_beside(const rev *rv, const ir_op *op);
/* Whether the element that op accesses has a gradient here. */
bool rev_has_gradient(const rev *rv, const ir_op *op);
/* y[i] = y[i] + v, or - v, of a local array: the operand of its value that is v; -1: the store is none. */
int rev_added_operand(const ir_op *store);
/* Whether the call changes memory that has a gradient. */
bool rev_call_has_memory(const rev *rv, const ir_op *call);
/* Whether the reverse loop carries an adjoint of what the loop carries as number k. from_behind: its result has one. */
bool rev_carries_adjoint(scope *s, const ir_op *loop, int k, bool from_behind);
bool rev_keeps_write(const rev *rv, const ir_op *write);
/* Whether the adjoint does the write again, and whether it takes it back. */
bool rev_writes_again(const rev *rv, const ir_op *write);
bool rev_undoes(const rev *rv, const ir_op *write);
/* Whether something in the region r of op is taken back, but for what tasks inside do. */
bool rev_takes_back(const rev *rv, const ir_op *op, const ir_region *r);
bool rev_has_active_memory(const ir_region *r);
bool rev_changes_memory(const rev *rv, const ir_op *op); /* of an if, loop or task: that, or it takes writes back */
/* Whether op, or what stands in it, stores into the local array. */
bool rev_stores_into(const ir_op *op, const ir_value *array);

#endif
