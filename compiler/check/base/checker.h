/* The base of the checker: its state, and builders of the typed tree.
 *
 *   tree.c         nodes and values                 types.c     types
 *   table.c        the name table                   hints.c     notes with other names and members
 *   spaces.c       items of files                   names.c     what names mean, scopes
 *   build.c        statements, bindings, leaves     effects.c   reads, effects
 *   conversions.c  literals, implicit conversions   builtins.c  tables of built-in functions
 *   constants.c    evaluation at compile time       libc.c      names and types of extern funcs
 *   log.c          uses of names, for editors
 */
#ifndef TKC_CHECKER_H
#define TKC_CHECKER_H

#include "check/base/typed.h"
#include "ir/ops.h"
#include "util/ptrmap.h"

enum {
    MAX_COMPONENTS = 1024,
    MAX_ARRAY = 65536,
    MAX_UNROLL = 100000,
    MAX_BODIES = 1000,
    MAX_DEPTH = 8000,
    MAX_DIM = 8
};

typedef struct checker checker;
typedef struct sym sym;
typedef struct fn fn;
typedef struct name_space name_space;
typedef struct source_file source_file;

/* ---- values ---- */

/* A value built of literals only is soft: it has no type yet and takes the one that it meets. Meanwhile its tree
 * carries SC_I64 or SC_F64. `c ? 0.1 : 0.2`, `[1.0, 2.0]` and `i * 0.5` are soft as well, so that 0.1 is never rounded
 * to f32 on its way to an f64. */
typedef enum softness { SOFT_NO, SOFT_INT, SOFT_FLOAT } softness;

/* What a float would have that an integer has not: the rest of 1 / 2, the range of 2 ** n. */
typedef enum cut { CUT_NO, CUT_DIVISION, CUT_POWER } cut;

/* Of the value of an integer division or power: using it as a float is an error. */
typedef struct lossy {
    cut kind;
    bool literals; /* made of literals, maybe by way of a `let` or a parameter without type, through which it is
                      followed: 1/2 is not meant to be 0 */
    src_span at;
} lossy;

typedef struct val {
    tx_expr *e;
    softness soft;
    lossy lost;
    const sym *quotient; /* the `let` of an integer division whose value it is; NULL: none */
    sym *ref;            /* an argument that is the name of an array or field: what it names; its type is an array */
} val;

static inline bool val_bad(val v)
{
    return v.e->type->kind == TY_ERROR;
}

/* ---- symbols ---- */

typedef enum sym_kind {
    SYM_CONST,
    SYM_PARAM,
    SYM_FIELD,
    SYM_FUNC,
    SYM_KERNEL,
    SYM_STRUCT,
    SYM_IMPORT, /* lib of `import "file.tk" as lib;` */
    SYM_LOCAL,
    SYM_STATIC,
    SYM_BAD
} sym_kind;
typedef enum sym_state { SYM_NEW, SYM_ACTIVE, SYM_DONE } sym_state;

/* One set of argument types that a function was called with; of fields, and of arrays of sizes known at run time, one
 * for each. */
typedef struct instance instance;
struct instance {
    const ty **args;
    lossy *lost;  /* of parameters without type */
    sym **refs;   /* what parameters that are arrays or fields stand for, NULL for others */
    bool *writes; /* by parameter: a local array, elements of which it assigns */
    tx_func *tx;
    const ty *result;
    bool ready; /* checked without errors */
    bool used;  /* reached from a kernel or an export func */
    int bodies; /* of a kernel: its own and those of the kernels that become a part of it; 0: not counted yet */
    const instance *asked; /* for the search that asked last whether this runs that one */
    const char *impure; /* what makes it more than a function of its arguments, by itself: "uses the field 'x'"; NULL if
                           nothing */
    src_span impure_at;
    const instance *searched; /* by the search from that one whether anything is */
    instance *next;           /* of the same function */
    instance *before;         /* the one that was completed before: callees before callers */
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
    const char *id; /* of items: the name in the generated C */
    src_span span;
    const ast_item *item;
    bool refused;       /* already reported: uses stay silent */
    val value;          /* CONST, STATIC */
    ir_mparam *mparam;  /* PARAM */
    ir_field *field;    /* FIELD; of structs: of the first member */
    ir_field **members; /* FIELD of structs: by leaf; NULL: it is none */
    const ty *type;     /* FIELD: of an element; STRUCT, once it is done */
    long *extents;      /* FIELD: constant extents, -1 where not constant */
    tx_expr **dims;     /* FIELD that is an array parameter: its extents; else NULL */
    tx_expr **lead; /* FIELD that is a slab of one, x[t] of x[t, i]: the first subscripts, nlead of them. extents and
                       dims are those that are left */
    int nlead;
    struct binding *lead_bound; /* of an argument: what lead is made of */
    /* FUNC, KERNEL */
    instance *instances;
    sym *overload;                 /* prelude only: same name, other number of parameters */
    sym *custom_grad, *custom_jvp; /* prelude only: its derivatives */
    bool of_func;                  /* prelude only: its last argument is the name of a function */
    sym *stands_for;               /* such a parameter: the function; NULL: it is none */
    ast_binop op;                  /* operator(op): which one it is of the program's own, in the list of them */
    sym *next_operator;
    int nparams;
    const ty **param_types;   /* NULL: generic */
    tx_expr ***param_extents; /* of a parameter that is an array of the host: its extents, NULL where one is a name of
                                 its own; else NULL */
    const ty *result;         /* as declared, NULL if not */
    bool prelude, generic;
    sym *next;    /* in order of declaration */
    int checking; /* instances being checked: recursion if called meanwhile */
    /* LOCAL */
    tx_local *local;  /* of a struct, or an array of structs: of no use but for its type and name */
    tx_local **parts; /* its leaves; NULL: it is none */
    fn *owner;
    const struct scope *scope; /* in which it is declared */
    sym *hidden;               /* what the name meant before, in an outer block or function */
    sym *scope_next;
    bool int_literal;        /* its type came from an integer literal */
    lossy lost;              /* of a `let`, or a parameter without type, made of literals */
    src_span divided;        /* of a `let` that is an integer division: where; line 0: it is none */
    int ref_param;           /* of a parameter that is an array: its number, from 1 */
    const char *what;        /* "a 'let'", "a parameter", "a loop variable" */
    int task;                /* in which it is declared, 0: outside of any */
    int read_task, red_task; /* the last task that read or reduced it from outside */
    src_span read_span, red_span;
    ir_reduce red;
    tx_winner *winner; /* reduced so, or NULL */
};

typedef struct prelude_text prelude_text;

typedef struct name_entry {
    const char *name;
    prelude_text *unread; /* functions of the prelude that are not parsed yet */
    sym *prelude, *local;
    sym *inner; /* of the prelude, for itself only */
    sym *item;  /* that has this name in the generated C */
    bool taken; /* as name of a generated function */
    bool told;  /* at module level: that it is unknown */
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
    int task;              /* number of the parallel loop around, 0 if none */
    tx_stmt **before_task; /* where a statement in front of it goes */
    int optional;          /* > 0: in a part of an expression that is not computed just once */
    const ty *result;      /* NULL: not known yet, the first return tells */
    tx_stmt **tail;        /* where the next statement goes */
    bool stop;             /* a prelude function refused its arguments: nothing more to check */
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
    fn *fn;        /* NULL: module level */
    bool extents;  /* inside an extent: integers are 64 bits wide */
    bool constant; /* inside a constant expression: params and fields are errors */
    int depth;
    int next_task;
    long unrolled;
    sym *items, **items_tail;
    sym *operators;     /* functions that are operators of structs */
    source_file *files; /* by src_loc.file */
    size_t nfiles, root;
    name_space *spaces;
    int search;          /* over files: the last one */
    instance *completed; /* the last one, chained through before */
};

/* ---- tree.c ---- */

/* Where a fault is reported: in prelude code, the user's call. */
src_span report_span(const checker *c, src_span s);
tx_expr *tx_new(checker *c, tx_expr_kind kind, const ty *type, src_span at);
val val_error(checker *c, src_span at);
val val_typed(tx_expr *e);
val val_const_i(checker *c, scalar s, int64_t i, src_span at);
tx_expr *tx_op(checker *c, ir_opcode op, const ty *type, src_span at, int n, tx_expr *const *args);
const char *name_of(checker *c, val v); /* of its type, for messages; "an integer literal" if soft */
bool too_deep(checker *c, src_span at); /* reports */
int ast_count(const ast_expr *list);
/* Dimensions of what a name stands for that is a field: of a slab, those that are left. */
int sym_ndim(const sym *s);
/* Whether s has arrays of the host among its parameters. */
bool takes_arrays(const sym *s);

#define ERR(c, span, ...) diag((c)->d, report_span((c), (span)), __VA_ARGS__)
#define NOTE(c, span, ...) diag_note((c)->d, report_span((c), (span)), __VA_ARGS__)
/* An edit that would mend what the last ERR is about. */
#define FIX(c, at, old, text) diag_fix((c)->d, report_span((c), span_at(at)).begin, (old), (text))

/* ---- conversions.c ---- */

/* Default type for what is soft: i32 (i64 if it does not fit), real. */
val settle(checker *c, val v);
/* Whether v is of type `to`, or becomes it implicitly. */
bool converts(val v, const ty *to);
/* The value as type `to`, or an error and a value of TY_ERROR. */
val convert(checker *c, val v, const ty *to, src_span at);
/* The error that a value of an integer division is used "as" something; `cast` is what makes it one. */
val int_division(checker *c, val v, src_span at, const char *as, scalar cast);
/* One component type for all (softness included); false after an error. `op` names it in messages. */
bool unify(checker *c, val *v, int n, const char *op, src_span at);
/* The common shape, scalars aside; NULL after an error. The component type is v[0]'s. */
const ty *unify_shape(checker *c, const val *v, int n, const char *op, src_span at);
bool scalar_widens(scalar from, scalar to);
val to_float(checker *c, val v, src_span at);                      /* implicit integer to float, soft kept */
val cast_to(checker *c, val v, scalar s, src_span at);             /* explicit */
tx_expr *to_i64(checker *c, val v, src_span at, const char *what); /* subscripts and bounds; NULL after an error */

/* ---- constants.c ---- */

bool const_is(const tx_expr *e);      /* a scalar, or an aggregate of constants */
bool const_fits(scalar t, int64_t i); /* for an i64 value */
tx_expr *const_clone(checker *c, const tx_expr *e, src_loc loc);
/* Evaluates an operation over constants if it can; reports overflow of literals and division by zero. */
tx_expr *const_fold(checker *c, tx_expr *e, bool soft);
bool const_cast(scalar from, scalar to, const tx_expr *a, tx_expr *r);

/* ---- log.c: nothing is noted of what stands in the prelude ---- */

/* What it is, in words: "a field". */
const char *sym_describe(const sym *s);
void log_use(checker *c, const sym *s, src_span at);
/* A member of a struct, or components of a vector. */
void log_member(checker *c, const ty *of, const char *name, const ty *type, src_span at);
/* The names of a local or of members of it that stand there again, and are not checked, since the first were. */
void log_again(checker *c, const ast_expr *first, const ast_expr *again);
/* NULL: of no type, or of one that is open still. */
void log_expr(checker *c, src_span at, const ty *type);
/* Once all is checked that could be. */
void log_end(checker *c);

/* ---- prelude.c ---- */

extern const char check_prelude[];
extern const unsigned check_prelude_size;

/* Notes the names of all functions of the prelude. */
void prelude_index(checker *c);
/* Parses those of this name. */
void prelude_read(checker *c, name_entry *e);
/* The entry of a name, a new one if there is none, with the functions of the prelude. */
name_entry *names_entry(checker *c, const char *name);

/* ---- table.c ---- */

/* The same, but it parses no function of the prelude. */
name_entry *names_slot(checker *c, const char *name);
/* Reports a name that C, or in_header the interface, cannot have. */
bool names_check_fit(checker *c, const char *name, src_span at, bool in_header);
/* Whether derivatives have an argument of that name beside a parameter. */
bool generated_param_collides(const char *name, const ast_param *other);

/* ---- names.c ---- */

/* What the name means at this place, NULL if nothing. */
sym *names_lookup(checker *c, const char *name, src_span at);
/* The same; editors are told. */
sym *names_use(checker *c, const char *name, src_span at);
void scope_push(checker *c, scope *s);
void scope_pop(checker *c);
/* Declares a local of the current function; reports a second one in the same block. Never NULL. */
sym *scope_declare(checker *c, sym_kind kind, const char *name, src_span at);
/* The built-in that a call means by this name, unless the program uses the name for something else. */
bool calls_builtin(checker *c, const ast_expr *e, const char *name);
tx_local *local_new(checker *c, const char *name, const ty *type, src_loc loc);
const char *check_names_unique(checker *c, const char *base, bool numbered);

/* ---- spaces.c ---- */

/* Finds the files of the module, before its items are added. */
void spaces_begin(checker *c, const ast_module *m);
void spaces_end(checker *c);
/* False, and reported, if the name is taken, here or in the generated C. */
bool spaces_add(checker *c, sym *s);
/* Once all items are there: what imports add to them. */
void spaces_link(checker *c, const ast_module *m);
/* The item that the name means at this place; NULL: none. */
sym *names_item(checker *c, const char *name, src_span at);
/* The name of an item in the generated C, behind the module's. */
const char *names_in_c(checker *c, const ast_item *it);
/* Whether the item is one of the file of this place, or of one that the file imports. */
bool names_sees(checker *c, src_span at, const sym *s);
/* -Wshadow: the declaration of `name` hides `hidden`, or a built-in function. */
void names_warn_hidden(checker *c, const char *name, src_span at, const sym *hidden);

/* ---- hints.c: notes that tell what to write instead ---- */

/* Reports an unknown name, once for each function. */
void names_unknown(checker *c, const char *name, src_span at, bool function);
/* The nearest known name, if one is near. */
void hint_spelling(checker *c, const char *name, src_span at, bool function);
/* What another language's name of a type, function or constant is called here; false: not known. */
bool hint_foreign(checker *c, const char *name, src_span at);
/* Reports a member of a library of another language, np.sin, and its name here. False: e is not such a member. */
bool hint_library(checker *c, const ast_expr *e);
/* The target is an unknown name; after its error, how to declare it. */
bool is_undeclared(checker *c, const ast_expr *target);
void hint_undeclared(checker *c, const ast_stmt *s);
/* A whole field has no member of that name; false: no note. */
bool hint_size(checker *c, const char *field, const char *member, src_span at);
/* s is a local that hides an item: perhaps the item is meant. */
void hint_hidden(checker *c, const sym *s);
/* e is a member that its object, of that type, does not have: a function without parentheses, x[i].grad. False: no
 * note. */
bool hint_member(checker *c, const ast_expr *e, const ty *of);
/* An error, with the nearest of the known attributes. */
void bad_attribute(checker *c, const ast_attr *a, const char *of, const char *const *known,
                   int n); /* known: "" is none */
/* An attribute that is a word alone; true if it is. */
bool plain_attribute(checker *c, const ast_attr *a);

/* ---- build.c ---- */

/* Subexpressions bound to hidden locals because they are used several times. */
typedef struct binding {
    tx_local **locals; /* several for a struct */
    int nlocals;
    tx_expr *value;
    struct binding *next;
} binding;

tx_stmt *emit_stmt(checker *c, tx_stmt_kind kind, src_span at);
tx_expr *emit_lets(checker *c, tx_expr *e, src_span at);
void emit_decl(checker *c, tx_local **locals, int n, tx_expr *value, src_span at);
void emit_bindings(checker *c, const binding *b, src_span at);
/* Of a local array of which an extent is not constant. */
void local_set_extents(const sym *s, tx_expr **extents);
tx_local **local_parts(checker *c, const tx_local *whole);
void sym_set_local(checker *c, sym *s, const char *name, const ty *type, bool mutable_, src_loc loc);
/* A cheap expression for e that may be repeated; binds if need be. */
tx_expr *bind_repeated(checker *c, tx_expr *e, binding **list);
tx_expr *bind_value(checker *c, tx_expr *e, binding **list); /* in any case */
tx_expr *wrap_bindings(checker *c, const binding *list, tx_expr *e);
/* n components of e. once: each component of e is asked for exactly once. */
tx_expr *components_of(checker *c, tx_expr *e, int n, const int *comps, const ty *type, bool once);
tx_expr *component_of(checker *c, tx_expr *e, int k); /* e must be repeatable */
tx_expr *row_of(checker *c, tx_expr *e, int row);     /* of a matrix; the same */
tx_expr *group_new(checker *c, const ty *t, tx_expr *const *leaves, src_span at);
tx_expr *struct_bound(checker *c, tx_expr *e, binding **list);
int spread_values(checker *c, tx_expr *const *values, int n, tx_expr **out, binding **list);
int count_leaves(tx_expr *const *values, int n);
ir_shape_kind shape_of(const ty *t);
/* Subscripts: a constant, and an operation on two, folded. */
tx_expr *i64_const(checker *c, int64_t i, src_span at);
tx_expr *i64_op(checker *c, ir_opcode op, tx_expr *a, tx_expr *b, src_span at);

/* ---- effects.c ---- */

/* Notes that the function being checked does more than compute its results from its arguments. */
void note_impure(checker *c, const char *what, const char *name, src_span at);
/* The first that makes i, or what it calls, more than a function of its arguments; NULL if nothing does. */
const instance *find_impure(instance *i);
/* Marks a use of a local as a read. */
void note_read(checker *c, sym *s, src_span at);
/* A field is read with its derivative; stop_grad(...) stands around. */
void note_active(checker *c, const ir_field *f, src_loc loc);
bool is_stopped(const checker *c, const ir_field *f);
/* A call of what reads a field that is stopped here is an error; then false. Notes what the callee reads. */
bool check_stops(checker *c, const tx_func *callee, const char *name, src_span at);
/* Extent d of a field or array, an i64. */
tx_expr *extent_of(checker *c, const sym *s, int d, src_span at);
/* Whether the program writes to the field at all; else an error. */
bool may_write(checker *c, const ir_field *f, src_span at);

/* ---- libc.c ---- */

/* False, with an error, if the headers of generated C declare another function of that name. */
bool extern_fits_libc(checker *c, const sym *s);
/* Whether a C function can have this parameter or result; reports. */
bool extern_has_type(checker *c, const char *what, const ty *t, src_span at);

#endif
