/* Shared by the files of lowering.
 *
 * Mutable locals become SSA while the tree is walked: a `lvar` holds the current value of each component. Before a
 * branch or a loop the scan (scan.c) says which locals it assigns; these become results of the `if` or carried values
 * of the `loop`. break, continue and return are flags that are variables like any other.
 */
#ifndef TKC_LOWER_IMPL_H
#define TKC_LOWER_IMPL_H

#include "lower/lower.h"

/* Aggregates with more components than this stay in memory. */
enum { SPLIT_MAX = 16 };

/* ---- values and variables (vars.c) ---- */

/* The value of an expression: its components, or where they lie in memory. */
typedef struct agg {
    scalar elem;
    int n;
    ir_value **at; /* n values, NULL when in memory */
    ir_value *mem; /* SC_PTR */
    bool stable;   /* memory that nobody will write any more, or a temporary that nobody else has: need not be copied to
                      be kept */
    bool fresh;    /* memory that nobody else has: may be kept and written */
} agg;

typedef struct lvar lvar;
struct lvar {
    const char *name;
    scalar elem;
    int n;
    const char **names; /* of the components */
    ir_value **val;     /* current values; an entry is NULL before the first assignment. NULL when in memory */
    ir_value *mem;
    ir_value **extents; /* of an array of which one is not constant */
    bool constant;      /* never assigned after its declaration */
    const int *kinds;   /* of an accumulator: ir_reduce for each component, -1 where nothing is reduced; decides what an
                           unassigned component reads as */
    lvar *acc;          /* inside a task that reduces into this variable: the iteration's accumulator */
    ir_value *wide;     /* loop index: the i64 index that it is a cast of */
};

typedef struct loop_ctx {
    lvar *stop; /* set by break; NULL for a task */
    lvar *skip; /* set by continue */
    struct loop_ctx *outer;
} loop_ctx;

typedef struct func_scan func_scan;

/* The index of a loop around; in `while`, the number of its trip. */
typedef struct counter {
    ir_value *index;
    const struct counter *outer;
} counter;

/* A function being lowered, or expanded in place. */
typedef struct frame {
    const tx_func *fn;
    const func_scan *scan;
    lvar **results;
    int nresults;
    lvar *returned;
    loop_ctx *loop;
    ir_value *key;           /* what its random numbers start from; NULL if it draws none */
    const counter *counters; /* innermost loop first */
    bool finite;             /* its numbers are */
    const char *not_finite;  /* what --debug says of one that is not; NULL: nothing is checked */
} frame;

typedef struct lower {
    ir_module *m;
    arena *mem;
    ty_pool *types;
    ir_builder b;
    frame *frame;
    struct decomposition *decompositions; /* calls, and small products: spectral.c */
    struct product *products;
    const ir_func *grown; /* beyond what expansions may make of it: reported */
} lower;

scalar elem_of(const ty *t); /* component type, of arrays too */
bool in_memory(const ty *t);
agg agg_scalars(lower *l, scalar elem, int n); /* room for n values */
agg agg_one(lower *l, ir_value *v);
agg agg_memory(lower *l, scalar elem, int n, const char *name); /* a new local array */
/* Component k; the only one of a scalar for every k, so that scalars broadcast. */
ir_value *agg_get(lower *l, const agg *a, int k);
ir_value *agg_get_at(lower *l, const agg *a, ir_value *k); /* the same with a dynamic index */
/* Whether a dynamic index means component k; NULL: it never does. */
ir_value *is_component(lower *l, ir_value *index, int k);
agg agg_to_memory(lower *l, agg a);

const char **component_names(lower *l, const char *name, const ty *t);
lvar *var_create(lower *l, const char *name, const ty *t);
lvar *var_flag(lower *l, const char *name);
/* Binds a local to a value: takes the value over where it may, else copies it. NULL: zero. */
void var_bind(lower *l, tx_local *local, const agg *value);
lvar *var_of(const tx_local *local);
ir_value *var_get(lower *l, const lvar *v, int k);
agg var_agg(lower *l, const lvar *v);
void name_value(ir_value *v, const char *name);

/* ---- functions whose numbers are finite (finite.c) ---- */

/* The builder goes on in f, which is expanded in `outer`; NULL: it is a function. Built-in functions are as what calls
 * them. */
void enter_finite(lower *l, frame *f, const frame *outer);
bool checks_finite(const lower *l);
/* For --debug: a component that is not finite fails the launch. */
void check_finite(lower *l, const agg *a, src_loc loc);

/* ---- memory places (aggregates.c) ---- */

/* An element of a field or of a local array. */
typedef struct place {
    scalar elem;
    int n;           /* components */
    ir_field *field; /* NULL: local array */
    ir_plane plane;
    ir_value **idx;
    bool stop; /* loads carry no derivative */
    ir_value *mem;
    ir_value *base; /* first component's index, NULL for 0 */
} place;

ir_value *place_get(lower *l, const place *p, ir_value *comp);
void place_set(lower *l, const place *p, ir_value *comp, ir_value *v);
agg place_load(lower *l, const place *p);
place place_of_memory(ir_value *mem, scalar elem, int n);
place place_of_element(lower *l, const tx_local *local, tx_expr *const *subs);
/* For --debug: a subscript outside of [0, extent) fails the launch. */
void check_bounds(lower *l, ir_value *subscript, ir_value *extent, const char *what, src_loc loc);
/* Components chosen by a dynamic index: one, or with comps those at the index plus each of them. */
int dyn_count(const tx_stmt *s);
ir_value *dyn_component(lower *l, const tx_stmt *s, ir_value *dyn, int i);
/* What is done to each component that a statement names: place, component, value. */
typedef void (*place_update)(lower *l, const place *p, ir_value *comp, ir_value *v, void *ctx);
void place_assign(lower *l, const place *p, const tx_stmt *s, const agg *value, ir_value *dyn, place_update update,
                  void *ctx);
void copy_memory(lower *l, ir_value *to, const agg *from);

/* A loop over the components 0 .. n-1 of something large: between open and close the builder stands in its body. */
typedef struct comp_loop {
    ir_builder outer;
    ir_op *loop;
    ir_value *k;
} comp_loop;
comp_loop comp_loop_open(lower *l, int64_t n, const char *index, ir_value *init);
/* next: the next value of the carried one when there is one. Returns its last value. */
ir_value *comp_loop_close(lower *l, comp_loop *c, ir_value *next);

/* ---- what statements assign and how they are left (scan.c) ---- */

enum { EXIT_BREAK = 1, EXIT_CONTINUE = 2, EXIT_RETURN = 4 };

typedef struct scan {
    uint64_t *assigned;   /* bit sets of locals by index; locals declared inside are left out */
    uint64_t *reduced;    /* targets of TX_REDUCE in the task around */
    unsigned exits;       /* how it may be left early */
    bool always;          /* it is always left early */
    bool task;            /* holds a parallel loop */
    unsigned inner_exits; /* loops: how the body may be left early */
    bool then_always, else_always;
} scan;

struct func_scan {
    tx_local **locals; /* by index */
    int nlocals, nwords;
    bool writes; /* to fields, or to arrays of the caller; callees included */
    scan body;
};

/* What follows a list of statements. */
typedef struct continuation {
    const tx_stmt *list;
    const struct continuation *outer;
} continuation;

const func_scan *scan_func(arena *mem, tx_func *f);
const scan *scan_of(const tx_stmt *s); /* if, for, while, block */
/* A list with what follows it, as if it were one statement. */
scan scan_list(arena *mem, const func_scan *f, const tx_stmt *list, const continuation *r);
static inline bool bit_get(const uint64_t *set, int i)
{
    return set[i / 64] >> (i % 64) & 1;
}

/* ---- the variables that a branch or loop changes (vars.c) ---- */

typedef struct slots {
    int n;
    lvar **var;
    int *comp;
    bool *live; /* read afterwards */
    ir_value **before;
} slots;

/* `exits`: which flags may be set; `need`: which of them are read later. */
slots slots_collect(lower *l, const scan *s, unsigned exits, unsigned need);
void slots_restore(const slots *s);
void slots_set(const slots *s, ir_value *const *values);
ir_value *slot_get(lower *l, const slots *s, int i);
ir_value **slot_values(lower *l, const slots *s);
/* For values that are made for the slots: results and parameters. */
void slots_name(const slots *s, ir_value *const *values);
ir_value *const_i64(lower *l, int64_t x);
/* The or of the flags in `exits`. */
ir_value *exit_flags(lower *l, unsigned exits);
void set_flag(lower *l, lvar *flag);

/* ---- expressions, statements ---- */

agg lower_expr(lower *l, const tx_expr *e);
ir_value *lower_scalar(lower *l, const tx_expr *e);
ir_value **lower_scalars(lower *l, tx_expr *const *e, int n);
agg lower_matmul(lower *l, const tx_expr *e);
/* The call of a decomposition; a product of square matrices: to be found by lower_spectral. */
void note_decomposition(lower *l, const tx_func *f, ir_op *call);
void note_product(lower *l, const agg *a, const agg *b, const agg *r);
/* Of square matrices: a @ b as a function of singular values or eigenvalues, if it is one; false: it is none. */
bool lower_spectral(lower *l, const agg *a, const agg *b, agg *r);
agg lower_random(lower *l, const tx_expr *e);
/* A number of that place in the function. */
ir_value *lower_draw(lower *l, ir_opcode code, scalar type, int site);
void counter_push(lower *l, counter *c, ir_value *index);
void counter_pop(lower *l, int n);
/* out has room for as many values as the call has results. */
void lower_call(lower *l, const tx_expr *e, agg *out);
/* A struct, or the results of a call: one value after the other. */
void lower_group(lower *l, const tx_expr *e, agg *out);
/* Binds the locals of a declaration; value NULL: zero. */
void lower_bind(lower *l, tx_local *const *locals, int n, const tx_expr *value);
int result_count(const ty *t);
const ty *result_type(const ty *t, int i);
/* Functions that are not called but expanded: those with large aggregates in their signature or with parallel loops. */
bool is_expanded(arena *mem, tx_func *f);

/* `need`: flags that are read after the list. */
void lower_list(lower *l, const tx_stmt *list, const continuation *r, unsigned need);
void lower_simple(lower *l, const tx_stmt *s);
void lower_assign(lower *l, const tx_stmt *s);
void lower_return(lower *l, const tx_stmt *s, unsigned need);
void lower_for(lower *l, const tx_stmt *s);
void lower_while(lower *l, const tx_stmt *s);
/* The dimensions of a loop: a counter runs from lo to below hi, and the index begins with `first`. */
typedef struct counted {
    const tx_stmt *s;
    ir_value **lo, **hi, **first;
} counted;
counted lower_bounds(lower *l, const tx_stmt *s);
/* Binds the user's index of dimension d to what follows from the counter. */
void bind_index(lower *l, const counted *n, int d, ir_value *count);
void lower_task(lower *l, const tx_stmt *s);
void lower_reduce(lower *l, const tx_stmt *s);

#endif
