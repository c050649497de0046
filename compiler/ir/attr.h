/* What an operation says beside its operands. Each kind of operation has a struct of its own, named in the column
 * `attributes` of struct_ops.def; an accessor of the kind's name gives it, and stops the compiler where the operation
 * is of another kind. Included by ir/ir.h. */
#ifndef TKC_IR_ATTR_H
#define TKC_IR_ATTR_H

/* How an accumulation into memory is carried out; decided by the parallel pass. */
typedef enum ir_acc {
    IR_ACC_UNSET,  /* before that pass only: none is a default, and the verifier and the emitter refuse it */
    IR_ACC_PLAIN,  /* nobody else touches the element meanwhile: plain += */
    IR_ACC_SCATTER /* target in the task's list of scatter targets: private copy, atomic, or plain with one thread */
} ir_acc;

/* Why it is carried out so: classes.def. */
typedef enum ir_class {
#define CLASS(id, text, words) IR_CLASS_##id,
#include "ir/classes.def"
#undef CLASS
    IR_CLASS_COUNT
} ir_class;

/* Why a parallel loop has no lanes: no_lanes.def. */
typedef enum ir_no_lanes {
#define NO_LANES(id, text) IR_NO_LANES_##id,
#include "ir/reasons/no_lanes.def"
#undef NO_LANES
    IR_NO_LANES_COUNT
} ir_no_lanes;

/* Why a loop of a function with a Jacobian or Hessian is not unrolled: no_line.def. */
typedef enum ir_no_line {
#define NO_LINE(id, text) IR_NO_LINE_##id,
#include "ir/reasons/no_line.def"
#undef NO_LINE
    IR_NO_LINE_COUNT
} ir_no_line;

/* Why it is no gather: scatter.def. */
typedef enum ir_scatter_reason {
#define REASON(id, text) IR_SCATTER_##id,
#include "ir/reasons/scatter.def"
#undef REASON
    IR_SCATTER_COUNT
} ir_scatter_reason;

/* Whose an assertion is. Where a built-in one fails, its message tells the column as well; IR_ASSERT_BOUNDS has a
 * subscript and an extent in place of the condition. IR_ASSERT_RACE: no two iterations of the task behind it meet.
 * IR_ASSERT_DERIVATIVE: there is a derivative; fails where the session stops at numbers that are not finite.
 * IR_ASSERT_FINITE has a float in place of the condition: of a function whose numbers are finite, its text. */
typedef enum ir_assert {
    IR_ASSERT_USER,
    IR_ASSERT_BUILT_IN,
    IR_ASSERT_BOUNDS,
    IR_ASSERT_RACE,
    IR_ASSERT_DERIVATIVE,
    IR_ASSERT_FINITE
} ir_assert;

typedef enum ir_reduce { IR_RED_ADD, IR_RED_MIN, IR_RED_MAX, IR_RED_LAST_MIN, IR_RED_LAST_MAX } ir_reduce;

/* A result of a task: an init operand and a yielded value each, combined over all iterations.
 * ADD: init + sum. MIN/MAX: the least/greatest; ties keep the init, then the lowest iteration. `companions` further
 * init/yield/result triples follow it and are taken from the same winner (its iteration number, its tangent).
 * LAST_MIN/LAST_MAX: the same with ties for the highest iteration. Their first companion is a bool: the iteration
 * contributes. Without it an iteration that contributes nothing would win a tie with the least value of the type. */
typedef struct ir_reduction {
    ir_reduce kind;
    int companions;
} ir_reduction;

static inline bool ir_reduce_is_max(ir_reduce kind)
{
    return kind == IR_RED_MAX || kind == IR_RED_LAST_MAX;
}

static inline bool ir_reduce_is_last(ir_reduce kind)
{
    return kind == IR_RED_LAST_MIN || kind == IR_RED_LAST_MAX;
}

/* A field plane that a task scatters into. */
typedef struct ir_scatter {
    ir_field *field;
    ir_plane plane;
    bool shared; /* the task, or what it calls, also loads or stores it, or its elements have gaps: private copies are
                    impossible, only atomics */
    bool called; /* what the task calls adds to it */
    int nfixed;  /* leading subscripts that all iterations have in common: operands of the task, behind its initial
                    values; by the slabs pass */
} ir_scatter;

typedef struct ir_attr_const {
    union {
        int64_t i; /* of bool and integers (unsigned: same bits) */
        double f;  /* of floats */
    };
} ir_attr_const;

typedef struct ir_attr_mparam {
    ir_mparam *param;
} ir_attr_mparam;

typedef struct ir_attr_shape {
    ir_field *field;
    int64_t dim;
} ir_attr_shape;

/* LOAD STORE ACCUM ATOMIC: an element of a field. */
typedef struct ir_attr_access {
    ir_field *field;
    ir_plane plane;
    ir_acc acc;            /* ACCUM, ATOMIC */
    ir_class class;        /* STORE, ACCUM, ATOMIC */
    ir_scatter_reason why; /* ACCUM */
    ir_opcode with;        /* ATOMIC: the element becomes old `with` value */
    ir_layout *layout;     /* ATOMIC that records: of the block; else NULL */
    bool needed;           /* LOAD of a primal: the adjoint needs what it reads; by the rules pass */
    bool unproved;         /* STORE in a task: nothing proves that no other iteration touches the element */
    bool discarded;        /* ATOMIC: a statement, nobody sees the old value */
    bool no_alias; /* STORE, ACCUM under a condition: no other iteration of the task touches the plane's element,
                   whether the condition holds or not; by the parallel pass */
    bool stepped;  /* LOAD STORE ACCUM in a loop that C compilers vectorise: they are not to know at which step from
                      each other its elements stand; by the simd pass */
    bool exact;    /* ACCUM: what is read of the sum decides, so its order counts; by the decisions pass */
} ir_attr_access;

typedef struct ir_attr_local {
    int64_t count; /* if there is no operand */
    scalar elem;
    bool set;     /* all elements that are read were stored before: they need no zeros */
    bool cleared; /* all elements are zeros again when the region ends that it lives in; of floats */
    bool stacked; /* taken from the stack of saved values, not zeroed; by the frames pass */
} ir_attr_local;

/* LLOAD LACCUM: an element of a local array. */
typedef struct ir_attr_element {
    ir_class class; /* LACCUM */
    bool final;     /* LLOAD: nothing in the function changes the element behind it; by the arrays pass */
} ir_attr_element;

/* Saved values, and a launch's record. */
typedef struct ir_attr_slot {
    ir_layout *layout; /* NULL: a record's block that is not known yet */
    int64_t number;    /* of STK_LOAD, STK_STORE: the layout's member; of REC_ALLOC, REC_GET: the block */
} ir_attr_slot;

/* DECISION */
typedef struct ir_attr_place {
    int64_t number; /* in the module's list of places */
} ir_attr_place;

typedef struct ir_attr_call {
    ir_func *callee;
} ir_attr_call;

typedef struct ir_attr_text {
    const char *text; /* ASSERT: message; PRINT: format with one %v per operand */
    ir_assert whose;
} ir_attr_text;

/* NEED, KEEP: by the rules pass. */
typedef struct ir_attr_mark {
    ir_field *field;
    const char *place; /* KEEP: of a read that needs the value, "a.tk:7:12" */
} ir_attr_mark;

typedef struct ir_attr_loop {
    bool bounded; /* operands start with lo, hi and the body's parameters with the index */
    bool cond;    /* regions[1] decides before each iteration whether it runs; last result is the i64 trip count */
    bool limit;   /* of both: the bound was promised, so values are saved in an array of that size; else the trips that
                     happen count */
    bool down;    /* index runs from hi-1 to lo */
    bool simd;    /* iterations are independent but for carried sums: may be vectorised with reordering */
    bool short_trip;    /* runs a few times only: not worth vectorising */
    bool unrolled_by_4; /* does four trips at a time, what is left of them is behind it; by the jam pass */
    bool parallel;      /* iterations are unordered by the language (inner part of a task after the rows pass) */
    ir_no_line no_line; /* by the unroll pass */
} ir_attr_loop;

typedef struct ir_attr_task {
    int ndim;
    int unit_dims; /* how many trailing dimensions one thread must run as a whole (a row that accumulates into one
                      element); by the parallel pass */
    bool rows;     /* after the rows pass: the body runs once per row segment, its last two parameters are the segment's
                      bounds */
    bool independent; /* its iterations never meet, says the program */
    bool ordered;     /* one thread runs it all in order: what it adds up decides, and the adjoint adds it up again; by
                         reverse mode */
    int lanes;        /* iterations that run side by side as the lanes of vectors, 0: none; by the lanes pass */
    ir_no_lanes no_lanes; /* or why there are none */
    bool overlap_next;    /* runs interleaved with the next task, some rows ahead; by the stages pass */
    int periodic_halo;    /* a gather whose first index goes around the end: by so many elements, both ways together */
    const ir_op
        *fused_with; /* a gather: the task that it was taken from. Compared, never looked into: it may be gone */
    ir_reduction *reductions;
    int nreductions;
    int nscatters;
    ir_scatter *scatters; /* targets written with IR_ACC_SCATTER; by the parallel pass */
} ir_attr_task;

/* The kinds: in struct_ops.def in capitals, in the names of types and accessors small. */
#define IR_ATTRIBUTES(X) \
    X(CONST, const) \
    X(MPARAM, mparam) \
    X(SHAPE, shape) \
    X(ACCESS, access) \
    X(LOCAL, local) \
    X(ELEMENT, element) \
    X(SLOT, slot) X(PLACE, place) X(CALL, call) X(TEXT, text) X(MARK, mark) X(LOOP, loop) X(TASK, task)

typedef enum ir_attr_kind {
    IR_ATTR_NOTHING,
#define KIND(id, name) IR_ATTR_##id,
    IR_ATTRIBUTES(KIND)
#undef KIND
        IR_ATTR_KINDS
} ir_attr_kind;

#endif
