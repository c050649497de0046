/* Reverse mode, internal to passes/derive/reverse: what plan and build have in common. docs/architecture.md tells the
 * scheme. */
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
    bool fused;         /* roots: the body of a loop (build/fused.c, build/checkpoint.c) */
    bool checkpointed;  /* and each trip has a state to begin with */
    bool once;          /* and one iteration of it alone (build/winner.c) */
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
    rev_carry top; /* of states that fit a number of bytes: the slot of the last one */
};

struct rev {
    ir_module *module;
    const ir_func *primal;
    ir_func *out;
    activity act;
    const bool *storage; /* by ir_storage: memory that carries gradients */
    ir_map fwd;          /* primal value -> its clone in the forward sweep */
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

/* reverse.c */
/* What the adjoint of a function is to give. */
typedef struct rev_goal {
    activity act; /* freed by rev_func */
    bool of_args; /* memory counts as constant */
    bool unit;    /* the seed of its one result is 1, and no parameter */
} rev_goal;
/* A new function, named after the one it is derived from. */
ir_func *rev_derived(ir_func *f, ir_func_kind kind, const char *suffix);
/* The adjoints of all float parameters of a function. out: of rev_derived. */
void rev_func(ir_func *f, ir_func *out, rev_goal goal);
ir_func *reverse_vjp(ir_func *f);

/* What is marked grad_for f where only arguments count; NULL, and reported, if it changes memory. */
ir_func *reverse_args_vjp(ir_func *f, const ir_op *call);

/* record.c: old values of atomics, winners of minima and maxima. Before differentiation each atomic gets the numbers by
 * which they are recorded; then those that the adjoint needs are. False after errors: a winner that depends on the
 * order of iterations. */
bool record_number_atomics(ir_func *kernel);
void record_old_values(ir_func *kernel, ir_func *adjoint);

static inline bool rev_is_write(const ir_op *op)
{
    return op_writes_field(op->code);
}

#endif
