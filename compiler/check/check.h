/* Inside the checker. Nothing outside compiler/check includes this.
 *
 *   check_module.c  module items: consts, params, fields, the order of functions
 *   check_names.c   the name table, reserved and colliding names        check_hints.c  what to write instead
 *   check_types.c   types as written        check_struct.c structs and their leaves
 *   check_conv.c    literals and implicit conversions
 *   check_const.c   evaluation at compile time
 *   check_expr.c    operators        check_build.c  T(...), [...]
 *   check_index.c   names, subscripts, members: places       check_place.c  their values
 *   check_call.c    calls            check_func.c   functions, kernels, instances
 *   check_array.c   arrays of the host        check_export.c  export func        check_extern.c  extern func
 *   check_custom.c  grad_for, jvp_for
 *   check_stmt.c    statements       check_assign.c assignment and reductions       check_loop.c   for, while, static for
 */
#ifndef TKC_CHECK_H
#define TKC_CHECK_H

#include "check/typed.h"
#include "ir/ops.h"

typedef struct checker checker;
typedef struct sym sym;
typedef struct fn fn;

/* ---- values ---- */

/* A value built of literals only is soft: it has no type yet and takes the one that it meets. Meanwhile its tree carries SC_I64 or SC_F64.
 * `c ? 0.1 : 0.2`, `[1.0, 2.0]` and `i * 0.5` are soft as well, so that 0.1 is never rounded to f32 on its way to an f64. */
typedef enum softness { SOFT_NO, SOFT_INT, SOFT_FLOAT } softness;

/* What a float would have that an integer has not: the rest of 1 / 2, the range of 2 ** n. */
typedef enum cut { CUT_NO, CUT_DIVISION, CUT_POWER } cut;

/* Of the value of an integer division or power: using it as a float is an error. */
typedef struct lossy {
    cut kind;
    bool literals; /* made of literals, maybe by way of a `let` or a parameter without type, through which it is followed: 1/2 is not meant to be 0 */
    src_span at;
} lossy;

typedef struct val {
    tx_expr *e;
    softness soft;
    lossy lost;
    sym *ref;       /* an argument that is the name of an array or field: what it names; its type is an array */
} val;

static inline bool val_bad(val v) { return v.e->type->kind == TY_ERROR; }

/* ---- symbols ---- */

typedef enum sym_kind { SYM_CONST, SYM_PARAM, SYM_FIELD, SYM_FUNC, SYM_KERNEL, SYM_STRUCT, SYM_LOCAL, SYM_STATIC, SYM_BAD } sym_kind;
typedef enum sym_state { SYM_NEW, SYM_ACTIVE, SYM_DONE } sym_state;

/* One set of argument types that a function was called with; of fields, and of arrays of sizes known at run time, one for each. */
typedef struct instance instance;
struct instance {
    const ty **args;
    lossy *lost;      /* of parameters without type */
    sym **refs;       /* what parameters that are arrays or fields stand for, NULL for others */
    bool *writes;     /* by parameter: a local array, elements of which it assigns */
    tx_func *tx;
    const ty *result;
    bool ready;       /* checked without errors */
    bool used;        /* reached from a kernel or an export func */
    int bodies;       /* of a kernel: its own and those of the kernels that become a part of it; 0: not counted yet */
    const instance *asked; /* for the search that asked last whether this runs that one */
    const char *impure; /* what makes it more than a function of its arguments, by itself: "uses the field 'x'"; NULL if nothing */
    src_span impure_at;
    const instance *searched; /* by the search from that one whether anything is */
    instance *next;   /* of the same function */
    instance *before; /* the one that was completed before: callees before callers */
    struct call_edge *callees;
};

typedef struct call_edge {
    instance *to;
    src_span at;  /* of a kernel calling a kernel */
    bool adjoint; /* it launches the adjoint */
    struct call_edge *next;
} call_edge;

struct sym {
    sym_kind kind;
    sym_state state;
    const char *name;
    src_span span;
    const ast_item *item;
    bool refused;         /* already reported: uses stay silent */
    val value;            /* CONST, STATIC */
    ir_mparam *mparam;    /* PARAM */
    ir_field *field;      /* FIELD; of structs: of the first member */
    ir_field **members;   /* FIELD of structs: by leaf; NULL: it is none */
    const ty *type;       /* FIELD: of an element; STRUCT, once it is done */
    long *extents;        /* FIELD: constant extents, -1 where not constant */
    tx_expr **dims;       /* FIELD that is an array parameter: its extents; else NULL */
    /* FUNC, KERNEL */
    instance *instances;
    sym *overload;        /* prelude only: same name, other number of parameters */
    sym *custom_grad, *custom_jvp; /* prelude only: its derivatives */
    int nparams;
    const ty **param_types; /* NULL: generic */
    tx_expr ***param_extents; /* of a parameter that is an array of the host: its extents, NULL where one is a name of its own; else NULL */
    const ty *result;       /* as declared, NULL if not */
    bool prelude, generic;
    sym *next;              /* in order of declaration */
    int checking;         /* instances being checked: recursion if called meanwhile */
    /* LOCAL */
    tx_local *local;      /* of a struct, or an array of structs: of no use but for its type and name */
    tx_local **parts;     /* its leaves; NULL: it is none */
    fn *owner;
    sym *hidden;          /* what the name meant before in an outer function */
    sym *scope_next;
    bool int_literal;     /* its type came from an integer literal */
    lossy lost;           /* of a `let`, or a parameter without type, made of literals */
    int ref_param;        /* of a parameter that is an array: its number, from 1 */
    const char *what; /* "a 'let'", "a parameter", "a loop variable" */
    int task;             /* in which it is declared, 0: outside of any */
    int read_task, red_task; /* the last task that read or reduced it from outside */
    src_span read_span, red_span;
    ir_reduce red;
};

typedef struct name_entry {
    const char *name;
    sym *global, *prelude, *local;
    sym *inner; /* of the prelude, for itself only */
    bool taken; /* as name of a generated function */
} name_entry;

/* ---- functions being checked ---- */

typedef enum loop_kind { LOOP_SEQUENTIAL, LOOP_TASK, LOOP_STATIC } loop_kind;

typedef struct loop {
    struct loop *outer;
    loop_kind kind;
    bool broken; /* has a break */
} loop;

typedef struct stopped {
    const ir_field *field;
    struct stopped *next;
} stopped;

typedef struct scope {
    struct scope *outer;
    sym *locals;
    stopped *stops; /* stop_grad(x); in this block */
} scope;

/* What the checker is in the middle of, put aside while a function or constant elsewhere in the module is checked. */
typedef struct context {
    fn *fn;
    bool constant, extents;
    int depth;
} context;

struct fn {
    context outer;
    sym *sym;
    instance *inst;
    tx_func *tx;
    bool is_kernel;
    bool in_header; /* while parameters of a kernel or export func are declared: they stand in the header */
    src_span site;  /* prelude functions: the user's call, where everything is reported */
    scope *scope;
    loop *loop;
    int task;       /* number of the parallel loop around, 0 if none */
    int optional;   /* > 0: in a part of an expression that is not computed just once */
    const ty *result; /* NULL: not known yet, the first return tells */
    tx_stmt **tail; /* where the next statement goes */
    bool stop;      /* a prelude function refused its arguments: nothing more to check */
};

struct checker {
    arena *mem;
    intern_pool *names;
    diag_sink *d;
    ty_pool *types;
    const check_options *opt;
    ir_module *ir;
    tx_module *tx;
    name_entry *entries;
    size_t nentries, cap;
    fn *fn;             /* NULL: module level */
    bool extents;       /* inside an extent: integers are 64 bits wide */
    bool constant;      /* inside a constant expression: params and fields are errors */
    int depth;
    int next_task;
    long unrolled;
    sym *items, **items_tail;
    instance *completed; /* the last one, chained through before */
};

/* ---- shared helpers (check_expr.c) ---- */

/* Where a fault is reported: in prelude code, the user's call. */
src_span report_span(const checker *c, src_span s);
tx_expr *tx_new(checker *c, tx_expr_kind kind, const ty *type, src_span at);
val val_error(checker *c, src_span at);
val val_typed(tx_expr *e);
val val_const_i(checker *c, scalar s, int64_t i, src_span at);
tx_expr *tx_op(checker *c, ir_opcode op, const ty *type, src_span at, int n, tx_expr *const *args);
const char *name_of(checker *c, val v); /* of its type, for messages; "an integer literal" if soft */
bool not_a_value(checker *c, val v, src_span at); /* reports */
bool too_deep(checker *c, src_span at); /* reports */

#define ERR(c, span, ...) diag((c)->d, report_span((c), (span)), __VA_ARGS__)
#define NOTE(c, span, ...) diag_note((c)->d, report_span((c), (span)), __VA_ARGS__)

/* ---- check_names.c ---- */

name_entry *names_entry(checker *c, const char *name);
/* What the name means here, NULL if nothing. */
sym *names_lookup(checker *c, const char *name);
/* Reports an unknown name, once for each function. */
void names_unknown(checker *c, const char *name, src_span at, bool function);
void names_check_item(checker *c, const ast_item *it);
void names_check_member(checker *c, const ast_param *p);
void names_check_generated(checker *c, const ast_module *m);
const char *sym_describe(const sym *s);
void scope_push(checker *c, scope *s);
void scope_pop(checker *c);
/* Declares a local of the current function; reports hiding and duplicates. Never NULL. */
sym *scope_declare(checker *c, sym_kind kind, const char *name, src_span at);
tx_local *local_new(checker *c, const char *name, const ty *type, src_loc loc);
const char *check_names_unique(checker *c, const char *base, bool numbered);

/* ---- check_types.c ---- */

const ty *type_resolve(checker *c, const ast_type *t);
/* A local array's type; `launch` gets its extents, which may then be known when the kernel runs only. NULL: they must be constant. */
const ty *type_local_array(checker *c, const ast_type *t, tx_expr **launch);
/* A type name of the language: NULL if it is none. */
const ty *type_builtin(checker *c, const char *name);
/* A positive constant of at most max; 0 after an error. */
long type_size(checker *c, const ast_expr *e, const char *what, long max);

enum { MAX_COMPONENTS = 1024, MAX_ARRAY = 65536, MAX_UNROLL = 100000, MAX_BODIES = 1000, MAX_DEPTH = 8000, MAX_DIM = 8 };

/* ---- check_conv.c ---- */

/* Default type for what is soft: i32 (i64 if it does not fit), real. */
val settle(checker *c, val v);
/* The value as type `to`, or an error and a value of TY_ERROR. */
val convert(checker *c, val v, const ty *to, src_span at);
/* The error that a value of an integer division is used "as" something; `cast` is what makes it one. */
val int_division(checker *c, val v, src_span at, const char *as, scalar cast);
/* One component type for all (softness included); false after an error. `op` names it in messages. */
bool unify(checker *c, val *v, int n, const char *op, src_span at);
/* The common shape, scalars aside; NULL after an error. The component type is v[0]'s. */
const ty *unify_shape(checker *c, const val *v, int n, const char *op, src_span at);
bool scalar_widens(scalar from, scalar to);
val to_float(checker *c, val v, src_span at); /* implicit integer to float, soft kept */
val cast_to(checker *c, val v, scalar s, src_span at); /* explicit */
tx_expr *to_i64(checker *c, val v, src_span at, const char *what); /* subscripts and bounds; NULL after an error */

/* ---- check_const.c ---- */

bool const_is(const tx_expr *e);          /* a scalar, or an aggregate of constants */
bool const_fits(scalar t, int64_t i);     /* for an i64 value */
tx_expr *const_clone(checker *c, const tx_expr *e, src_loc loc);
/* Evaluates an operation over constants if it can; reports overflow of literals and division by zero. */
tx_expr *const_fold(checker *c, tx_expr *e, bool soft);
bool const_cast(scalar from, scalar to, const tx_expr *a, tx_expr *r);
/* Checks e at compile time: the integer it stands for. False after an error; `what` names it. */
bool const_int(checker *c, const ast_expr *e, const char *what, int64_t *out);
bool const_bool(checker *c, const ast_expr *e, const char *what, bool *out);

/* ---- check_expr.c ---- */

val check_expr(checker *c, const ast_expr *e);
val check_value(checker *c, const ast_expr *e); /* settled, not void, not a tuple */
val apply_binary(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span);
val apply_power(checker *c, val a, val b, src_span at);
/* A condition: bool scalar, or an error expression. */
/* Gives integer literals inside ?: and lists a type before an operation that floats do not have. */
void settle_open_integers(checker *c, val *v, int n);
tx_expr *check_condition(checker *c, const ast_expr *e, const char *where);

/* ---- check_index.c, check_place.c ---- */

/* A call of what reads a field that is stopped here is an error; then false. Notes what the callee reads. */
bool check_stops(checker *c, const tx_func *callee, const char *name, src_span at);

/* Subexpressions bound to hidden locals because they are used several times. */
typedef struct binding {
    tx_local **locals; /* several for a struct */
    int nlocals;
    tx_expr *value;
    struct binding *next;
} binding;

typedef enum place_kind { PLACE_BAD, PLACE_LOCAL, PLACE_FIELD, PLACE_SHAPE, PLACE_VALUE } place_kind;

/* Something that has components and may be assignable. Component k of it is component dyn + comps[k] of `whole`. */
typedef struct place {
    place_kind kind; /* PLACE_BAD: reported */
    sym *sym;
    tx_local *local;
    ir_field *field;
    ir_plane plane;
    bool plane_named;
    int missing;       /* subscripts of a field or local array still to come */
    tx_expr **subs;
    int nsubs;
    val value;
    const ty *whole, *type;
    int leaf;          /* of a struct: its first leaf that belongs to `type` */
    bool all;          /* all components in order: comps unused */
    int *comps, ncomps;
    tx_expr *dyn;
    binding *bindings;
    src_span at;
} place;

void place_resolve(checker *c, const ast_expr *e, place *p);
/* False, and reported, for the gradient or dual of a member that has none. */
bool place_has_plane(checker *c, place *p);
bool place_complete(checker *c, place *p, src_span at); /* no subscripts missing; reports */
/* Subscripts: a constant, and an operation on two, folded. */
tx_expr *i64_const(checker *c, int64_t i, src_span at);
tx_expr *i64_op(checker *c, ir_opcode op, tx_expr *a, tx_expr *b, src_span at);
/* Marks a use of a local as a read. */
void note_read(checker *c, sym *s, src_span at);

place place_leaf(const checker *c, const place *p, int k);
val place_value(checker *c, place *p, bool wrap);
/* A cheap expression for e that may be repeated; binds if need be. */
tx_expr *bind_repeated(checker *c, tx_expr *e, binding **list);
tx_expr *bind_value(checker *c, tx_expr *e, binding **list); /* in any case */
tx_expr *wrap_bindings(checker *c, const binding *list, tx_expr *e);
tx_expr *component_of(checker *c, tx_expr *e, int k); /* e must be repeatable */
void place_bind_subscripts(checker *c, place *p);

/* ---- check_hints.c: notes that tell what to write instead ---- */

/* The nearest known name, if one is near. */
void hint_near(checker *c, const char *name, src_span at, bool function);
/* What another language's name of a type, function or constant is called here; false: not known. */
bool hint_foreign(checker *c, const char *name, src_span at);
/* e is a member that its object, of that type, does not have: a function without parentheses, x[i].grad. False: no note. */
bool hint_member(checker *c, const ast_expr *e, const ty *of);
/* An error, with the nearest of the known attributes. */
void bad_attribute(checker *c, const ast_attr *a, const char *of, const char *const *known, int n);
/* An attribute that is a word alone; true if it is. */
bool plain_attribute(checker *c, const ast_attr *a);

/* ---- check_struct.c ---- */

ir_shape_kind shape_of(const ty *t);
/* The struct's type; its members are resolved when first asked for. */
const ty *resolve_struct(checker *c, sym *s, src_span use);
tx_expr *group_new(checker *c, const ty *t, tx_expr *const *leaves, src_span at);
tx_expr *struct_bound(checker *c, tx_expr *e, binding **list);
int spread_values(checker *c, tx_expr *const *values, int n, tx_expr **out, binding **list);
int count_leaves(tx_expr *const *values, int n);
val build_struct(checker *c, sym *s, const ast_expr *args, src_span at);
val select_struct(checker *c, const val *v, src_span at);
val stop_struct(checker *c, val v, src_span at);
tx_local **local_parts(checker *c, const tx_local *whole);
void sym_set_local(checker *c, sym *s, const char *name, const ty *type, bool mutable_, src_loc loc);

/* ---- check_build.c ---- */

val build_of_type(checker *c, const ty *t, const ast_expr *args, src_span at);
val build_bracket(checker *c, const ast_expr *e);
val splat_to(checker *c, val v, const ty *t);

/* ---- check_call.c ---- */

/* as_statement: the value may be void. */
val check_call(checker *c, const ast_expr *e, bool as_statement);
/* The built-in that a call means by this name, unless the program uses the name for something else. */
bool calls_builtin(checker *c, const ast_expr *e, const char *name);
int ast_count(const ast_expr *list);
bool is_random(const char *name); /* a function that draws */
bool is_builtin(checker *c, const char *name); /* a function that programs call, and do not declare */
int atomic_find(const char *name); /* -1: not an atomic */
bool check_atomic_statement(checker *c, const ast_expr *e); /* false: not one */
val apply_op(checker *c, ir_opcode op, val *args, int n, src_span at);

/* ---- check_func.c ---- */

val call_function(checker *c, sym *s, val *args, int n, const src_span *spans, src_span at);
void check_kernel(checker *c, sym *s);
/* Checks a function that is not generic whether it is called or not. */
void check_plain_func(checker *c, sym *s);
void check_return(checker *c, const ast_stmt *s);
/* Between these f, elsewhere in the module, is the function being checked. */
void fn_begin(checker *c, fn *f, scope *sc);
void fn_end(checker *c, const fn *f);
/* Declares the parameters of f; room for `more` of them is left. */
void declare_params(checker *c, fn *f, const ty *const *args, int more);
/* Nothing more is called by i. */
void instance_complete(checker *c, instance *i);

/* ---- check_custom.c ---- */

/* grad_for and jvp_for of the whole module, once all bodies are checked; then, what kernels may call each other. */
void check_custom(checker *c);

/* ---- check_array.c ---- */

/* The element type of an array parameter, an error type after a report, and its extents: sym.param_extents. */
const ty *array_param_type(checker *c, const sym *s, const ast_param *p, tx_expr ***extents);
/* Whether derivatives have an argument of that name beside a parameter. check_func.c */
bool generated_param_collides(const char *name, const ast_param *other);
/* Declares the extents of all array parameters, which come first, and the arrays. */
void declare_extents(checker *c, fn *f);
void declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, tx_expr *const *fixed, src_span at, bool grad);
/* False after an error: a place in an array of the host is in its data. */
bool array_has_plane(checker *c, const place *p, src_span at);
/* Those of kernels before those of export funcs, once all bodies are checked. */
void order_arrays(checker *c);
/* Extent d of a field or array, an i64. */
tx_expr *extent_of(checker *c, const sym *s, int d, src_span at);
/* Whether s has arrays of the host among its parameters. */
bool takes_arrays(const sym *s);
/* False after an error: the arrays in a call of s are such as it takes. */
bool check_array_args(checker *c, const sym *s, const val *args, const src_span *spans);
/* In an instance for a call: extents are values, and what `out` parameters name is cleared. */
void bind_arrays(checker *c, const fn *f);

/* ---- check_export.c ---- */

/* Notes that the function being checked does more than compute its results from its arguments. */
void note_impure(checker *c, const char *what, const char *name, src_span at);
/* Every export func is a function of its arguments, once all bodies are checked. */
void check_exports(checker *c);

/* The first that makes i, or what it calls, more than a function of its arguments; NULL if nothing does. */
const instance *find_impure(instance *i);

/* ---- check_extern.c ---- */

/* Whether a C function can have this parameter or result; reports. */
bool extern_has_type(checker *c, const char *what, const ty *t, src_span at);
/* check_libc.c: false, with an error, if the headers of generated C declare another function of that name. */
bool extern_fits_libc(checker *c, const sym *s);
/* grad(...) of extern funcs, once all bodies are checked. */
void check_externs(checker *c);

/* ---- check_stmt.c, check_assign.c, check_loop.c ---- */

tx_stmt *emit_stmt(checker *c, tx_stmt_kind kind, src_span at);
tx_expr *emit_lets(checker *c, tx_expr *e, src_span at);
/* Of a local array of which an extent is not constant. */
void local_set_extents(const sym *s, tx_expr **extents);
void emit_decl(checker *c, tx_local **locals, int n, tx_expr *value, src_span at);
void emit_bindings(checker *c, const binding *b, src_span at);
/* All false if control cannot reach the end. */
bool check_block(checker *c, const ast_stmt *list, tx_stmt **out);
bool check_stmts(checker *c, const ast_stmt *list);
void check_assign(checker *c, const ast_stmt *s);
void store_place(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, ir_reduce red, src_span at);
void check_call_statement(checker *c, const ast_stmt *s);
bool check_for(checker *c, const ast_stmt *s);
bool check_while(checker *c, const ast_stmt *s);

/* ---- check_module.c ---- */

void resolve_const(checker *c, sym *s, src_span use);

extern const char check_prelude[];
extern const unsigned check_prelude_size;

#endif
