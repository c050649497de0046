/* Gathers, internal to passes/schedule/gather/. gather.c tells what they are. */
#ifndef TKC_GATHER_H
#define TKC_GATHER_H

#include "passes/analysis/analysis.h"

/* GATHER_DIMS: of a field. GATHER_EDGE: how many indices at an end of a dimension may be an exception to what is taken
 * for known between them; also the elements that a bound holds back. */
enum { GATHER_DIMS = 8, GATHER_EDGE = 16 };

/* Which element t of a dimension iteration i adds to, or when it does. The task's range is [lo, hi). */
typedef enum step_kind {
    STEP_SHIFT, /* t = i + by */
    STEP_WRAP,  /* t = i + by modulo hi, where lo is 0 */
    STEP_BELOW, /* t = i + by, if t < hi - edge: else a bound holds it back */
    STEP_ABOVE, /* t = i + by, if t >= lo + edge */
    STEP_LAST,  /* t = i + by, if t is hi - 1 - edge: one iteration of those held back */
    STEP_FIRST  /* t = i + by, if t is lo + edge */
} step_kind;

typedef struct step {
    step_kind kind;
    int64_t by, edge;
} step;

enum { MAX_STEPS = 5 };

/* Together they take each iteration once. */
typedef struct steps {
    step at[MAX_STEPS];
    int n;   /* 0: the subscript is none of these */
    int dim; /* of the task */
} steps;

/* Takes place for a few iterations at an end of the range. */
static inline bool step_is_edge(const step *s)
{
    return s->kind == STEP_LAST || s->kind == STEP_FIRST;
}

/* What a value is in all iterations but few at the ends of the range: in dimension d, in [lo + after, hi - before). */
typedef struct known {
    enum { KNOWN_NOT, KNOWN_TRUTH, KNOWN_INDEX } what;
    bool truth;
    int dim;              /* the value is this index */
    int64_t plus;         /* plus this */
    bool on[GATHER_DIMS]; /* the dimensions that it depends on */
    int64_t after[GATHER_DIMS], before[GATHER_DIMS];
} known;

/* One accumulation, or a part of its iterations. */
typedef struct piece {
    ir_op *accum;
    step at[GATHER_DIMS];
    int group; /* of equal steps */
} piece;

/* What only the launch knows. A gather that needs it is one of two versions of its loop. */
typedef struct ask {
    enum {
        ASK_POWER, /* the mask v is one less than a power of 2 */
        ASK_SMALL, /* v is so small that nothing wraps which is added to it */
        ASK_APART  /* the accesses a and b differ in a subscript that is the same in all iterations */
    } what;
    const ir_value *v;
    const ir_op *a, *b;
} ask;

typedef struct asks {
    VEC(ask) at;
    bool open; /* others may be asked as well */
} asks;

typedef struct gather {
    ir_func *f;
    ir_op *task;
    int nd;                  /* of the task; the field may have more, whose subscripts are the same in all iterations */
    int at_dim[GATHER_DIMS]; /* dimension of the field that task index k goes through; -1: not known yet */
    const ir_value *index[GATHER_DIMS]; /* of the task; of a row, once it is a loop */
    const ir_op *first;
    ir_value *fixed[GATHER_DIMS]; /* its subscripts in the other dimensions, in front of the task */
    ir_field *field;
    ir_plane plane;
    VEC(piece) at;
    int ngroups;
    bool *cone;       /* by value id: in the cone of a gathered value, or of a condition around it */
    known **is;       /* by value id: of what is in the cone; NULL: not looked at */
    uint32_t nvalues; /* of both arrays */
    bool inside;      /* all elements that receive must be looked for in the field: a subscript that leaves it is never
                         used */
    bool wraps[GATHER_DIMS]; /* a step of this dimension does */
    asks *asked;
    bool ok;
    ir_scatter_reason why; /* if not */
} gather;

/* ---- gather_asks.c ---- */

/* Whether that will be known where the gather runs. */
bool gather_ask(const gather *g, const ask *a);
/* Whether a and b, accesses of one plane, touch different elements in whichever iterations they run. */
bool gather_apart(const gather *g, const ir_op *a, const ir_op *b);
/* Whether the answer is yes, as a value in front of what is asked for. Not of ASK_APART. */
ir_value *gather_answer(ir_builder *b, const ask *a, ir_map *map);
/* Makes two versions of the task: as it is, in the place where all that was asked is true; and a copy. */
void gather_versions(gather *g);

/* ---- gather_steps.c ---- */

/* a as the index of a dimension plus `by`. */
bool gather_index(const gather *g, const affine *a, int *dim, int64_t *by);
/* a - b, if that is known, however the two are written. */
bool gather_distance(const gather *g, const affine *a, const affine *b, int64_t *distance);
/* v, seen from the bounds of dimension dim: v - lo, hi - v; false: neither is known. `unknown` if one is not. */
bool gather_place(const gather *g, const affine *a, int dim, int64_t *above, int64_t *below);
static const int64_t gather_unknown = INT64_MAX;

/* Of a dimension of the task, the lower bound (0) or the upper one (1); the lower one as a small constant; whether the
 * range is [0, n). */
affine gather_bound(const gather *g, int dim, int which);
bool gather_low(const gather *g, int dim, int64_t *low);
bool gather_is_range(const gather *g, int dim, const affine *n);
/* A constant, or a value and a constant that is known from the upper bound, and not beyond it: the range has elements,
 * so its arithmetic does not wrap. */
bool gather_is_bound(const gather *g, const affine *a, int dim);

/* What is added to an index of that dimension does not wrap. */
bool gather_is_small(const gather *g, scalar type, int dim, int64_t c);

static inline steps gather_step(step_kind kind, int dim, int64_t by)
{
    return (steps){.at = {{kind, by, 0}}, .n = 1, .dim = dim};
}

/* A subscript of the accumulation. */
steps gather_steps(const gather *g, const affine *subscript);
/* The same in others: `left` are the choices and bounds that may be looked through yet. */
steps gather_steps_of(const gather *g, const affine *subscript, int *left);
/* ---- gather_choice.c ---- */

/* For which indices a comparison holds: from lo + first on (GE), or in one (EQ); the contrary if `not`. */
typedef struct limit {
    bool one, not ;
    int dim;
    int64_t c;            /* what was added to the index */
    int64_t above, below; /* of the least index, from the bounds: gather_place */
} limit;
bool gather_limit(const gather *g, const ir_value *condition, int *left, limit *l);
/* Whether a condition is the same in all iterations. */
bool gather_decided(const gather *g, const ir_value *condition, int *left, bool *truth);
/* A subscript that is one of two by a condition. */
steps gather_choice(const gather *g, const ir_op *op, int *left);
/* The absolute value of one. */
steps gather_reflected(const gather *g, const ir_op *op);

/* ---- gather_known.c ---- */

known gather_known_truth(const gather *g, const ir_value *condition);
known gather_known_index(const gather *g, const ir_value *v);

/* ---- gather_wide.c ---- */

/* If op, in the task, is a loop over directions that may run behind all the rest: a task behind it that does the same,
 * for which the caller removes one of the two. */
ir_op *gather_split(ir_func *f, ir_op *task, ir_op *op);

/* ---- gather_build.c ---- */

void gather_build(gather *g);

#endif
