/* Inside the checker. Nothing outside compiler/check includes this.
 *
 *   check_module.c  module items: consts, params, fields, the order of functions
 *   check_names.c   the name table, reserved and colliding names        check_hints.c  what to write instead
 *   check_types.c   types as written        check_struct.c structs and their leaves
 *   base/           what they stand on: their state, the typed tree, conversions, evaluation at compile time
 *   check_expr.c    operators        check_build.c  T(...), [...]
 *   check_root.c    names where places begin   check_index.c   subscripts, members   check_place.c  their values
 *   check_call.c    calls            check_func.c   functions, kernels, instances
 *   check_array.c   arrays of the host        check_export.c  export func        check_extern.c  extern func
 *   check_custom.c  grad_for, jvp_for
 *   check_stmt.c    statements       check_assign.c assignment and reductions       check_loop.c   for, while, static
 * for
 */
#ifndef TKC_CHECK_H
#define TKC_CHECK_H

#include "check/base/checker.h"

/* ---- check_names.c ---- */

name_entry *names_entry(checker *c, const char *name);
/* What the name means here, NULL if nothing. */
sym *names_lookup(checker *c, const char *name);
/* The same, for what the program says at this place. */
sym *names_use(checker *c, const char *name, src_span at);
/* Reports an unknown name, once for each function. */
void names_unknown(checker *c, const char *name, src_span at, bool function);
void names_check_item(checker *c, const ast_item *it);
void names_check_member(checker *c, const ast_param *p);
void names_check_generated(checker *c, const ast_module *m);
void scope_push(checker *c, scope *s);
void scope_pop(checker *c);
/* Declares a local of the current function; reports hiding and duplicates. Never NULL. */
sym *scope_declare(checker *c, sym_kind kind, const char *name, src_span at);
tx_local *local_new(checker *c, const char *name, const ty *type, src_loc loc);
const char *check_names_unique(checker *c, const char *base, bool numbered);

/* ---- check_types.c ---- */

const ty *type_resolve(checker *c, const ast_type *t);
/* A local array's type; `launch` gets its extents, which may then be known when the kernel runs only. NULL: they must
 * be constant. */
const ty *type_local_array(checker *c, const ast_type *t, tx_expr **launch);
/* A type name of the language: NULL if it is none. */
const ty *type_builtin(checker *c, const char *name);
/* A positive constant of at most max; 0 after an error. */
long type_size(checker *c, const ast_expr *e, const char *what, long max);

/* Checks e at compile time: the integer it stands for. False after an error; `what` names it. */
bool const_int(checker *c, const ast_expr *e, const char *what, int64_t *out);
bool const_bool(checker *c, const ast_expr *e, const char *what, bool *out);

/* ---- check_expr.c ---- */

bool not_a_value(checker *c, val v, src_span at); /* reports */
val check_expr(checker *c, const ast_expr *e);
val check_value(checker *c, const ast_expr *e); /* settled, not void, not a tuple */
val apply_binary(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span);
val apply_power(checker *c, val a, val b, src_span at);
/* A condition: bool scalar, or an error expression. */
/* Gives integer literals inside ?: and lists a type before an operation that floats do not have. */
void settle_open_integers(checker *c, val *v, int n);
tx_expr *check_condition(checker *c, const ast_expr *e, const char *where);

/* ---- check_root.c, check_index.c, check_place.c ---- */

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
    int missing; /* subscripts of a field or local array still to come */
    tx_expr **subs;
    int nsubs;
    val value;
    const ty *whole, *type;
    int leaf; /* of a struct: its first leaf that belongs to `type` */
    bool all; /* all components in order: comps unused */
    int *comps, ncomps;
    tx_expr *dyn;
    binding *bindings;
    src_span at;
} place;

void place_fail(place *p);
void place_set_whole(place *p, const ty *type); /* all of it, unless narrowed */
void place_of_value(place *p, val v);
void place_of_name(checker *c, const ast_expr *e, place *p);
void place_resolve(checker *c, const ast_expr *e, place *p);
/* Dimensions of what a name stands for that is a field: of a slab, those that are left. */
int sym_ndim(const sym *s);
/* x[t] of a field: the place without its last subscripts, or with all of them. False if e is nothing of that kind: then
 * nothing was checked. */
bool place_slab(checker *c, const ast_expr *e, place *p);
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
tx_expr *row_of(checker *c, tx_expr *e, int row);     /* of a matrix; the same */
void place_bind_subscripts(checker *c, place *p);
/* Whether the program writes to the field at all; else an error. */
bool may_write(checker *c, const ir_field *f, src_span at);

/* ---- check_hints.c: notes that tell what to write instead ---- */

/* The nearest known name, if one is near. */
void hint_near(checker *c, const char *name, src_span at, bool function);
/* What another language's name of a type, function or constant is called here; false: not known. */
bool hint_foreign(checker *c, const char *name, src_span at);
/* e is a member that its object, of that type, does not have: a function without parentheses, x[i].grad. False: no
 * note. */
bool hint_member(checker *c, const ast_expr *e, const ty *of);
/* An error, with the nearest of the known attributes. */
void bad_attribute(checker *c, const ast_attr *a, const char *of, const char *const *known,
                   int n); /* known: "" is none */
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

/* What of an argument that is a name is handed over: its value; arrays and fields with extents as they are; 0-D fields,
 * too; names of functions. */
typedef enum by_name { NAME_IS_VALUE, NAME_IS_ARRAY, NAME_IS_FIELD, NAME_IS_FUNC } by_name;
/* An argument that is the name of such a thing, or a slab of a field; false: it is something else, not yet checked. */
bool argument_by_name(checker *c, const ast_expr *e, by_name names, val *v);

/* as_statement: the value may be void. */
val check_call(checker *c, const ast_expr *e, bool as_statement);
/* The built-in that a call means by this name, unless the program uses the name for something else. */
bool calls_builtin(checker *c, const ast_expr *e, const char *name);
int ast_count(const ast_expr *list);
bool is_random(const char *name);                           /* a function that draws */
bool is_builtin(checker *c, const char *name);              /* a function that programs call, and do not declare */
int atomic_find(const char *name);                          /* -1: not an atomic */
bool check_atomic_statement(checker *c, const ast_expr *e); /* false: not one */
val apply_op(checker *c, ir_opcode op, val *args, int n, src_span at);

/* ---- check_func.c ---- */

val call_function(checker *c, sym *s, val *args, int n, const src_span *spans, src_span at);
void check_kernel(checker *c, sym *s);
/* Checks a function that is not generic whether it is called or not. */
void check_plain_func(checker *c, sym *s);
/* Whether a function takes one vector, by its declaration. */
bool takes_vector(checker *c, sym *s);
/* The instance of a function of the prelude for these types, as one that the current function calls. */
instance *call_instance(checker *c, sym *s, const ty *const *types, src_span at);

/* ---- check_build.c, decompositions ---- */

/* Behind a product of matrices of this type: what lowering puts in the place of U diag(...) V^T. */
void check_spectral(checker *c, const ty *type, src_span at);
/* svd, svd_rotation, sym_eig, and their pull-backs. */
bool is_decomposition(checker *c, const sym *s);
/* Behind the call of a built-in function: the same for second derivatives of functions of singular values alone. */
void check_decomposition(checker *c, const sym *s, const ty *type, src_span at);
void check_return(checker *c, const ast_stmt *s);
/* Between these f, elsewhere in the module, is the function being checked. */
void fn_begin(checker *c, fn *f, scope *sc);
void fn_end(checker *c, const fn *f);
/* A parameter that is a field: another name of it. */
sym *declare_field(checker *c, fn *f, const ast_param *p, const sym *field);
/* Declares the parameters of f; room for `more` of them is left. */
void declare_params(checker *c, fn *f, const ty *const *args, int more);
/* Nothing more is called by i. */
void instance_complete(checker *c, instance *i);

/* ---- check_custom.c ---- */

/* grad_for and jvp_for of the whole module, once all bodies are checked; then, what kernels may call each other. */
void check_custom(checker *c);
/* f.grad(...), from the call of f with these arguments, which was checked just now. */
val gradient_of_call(checker *c, const sym *s, val v, src_span at);
/* f.jvp(...), likewise, and from the n tangents. */
val jvp_of_call(checker *c, const sym *s, val v, const val *tangents, int n, const src_span *spans, src_span at);

/* ---- check_array.c ---- */

/* The element type of an array parameter, an error type after a report, and its extents: sym.param_extents. */
const ty *array_param_type(checker *c, const sym *s, const ast_param *p, tx_expr ***extents);
/* Whether derivatives have an argument of that name beside a parameter. check_func.c */
bool generated_param_collides(const char *name, const ast_param *other);
/* Declares the extents of all array parameters, which come first, and the arrays. */
void declare_extents(checker *c, fn *f);
void declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, tx_expr *const *fixed, src_span at,
                   bool grad);
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
/* Stores a value, which may be repeated, into all elements of a field or array; of those whose first `given` subscripts
 * p has, the rest is p->missing. */
void fill_elements(checker *c, place *p, int given, tx_expr *value, src_span at);
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
void check_assign_several(checker *c, const ast_stmt *s);
/* x.fill(e); False: the call is another one. */
bool check_fill(checker *c, const ast_expr *call);
/* The n parts of a value: results of a call, components of a vector, rows of a matrix. Evaluates it now. False after an
 * error, which counts `names` of this kind. */
bool take_apart(checker *c, val v, int n, val *parts, const char *names, src_span at);
void store_place(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, ir_reduce red, src_span at);
void check_call_statement(checker *c, const ast_stmt *s);
bool is_statement(const char *name, bool prelude); /* a built-in, or one of the prelude, that has no value */
bool check_loop(checker *c, const ast_stmt *s);

/* ---- check_module.c ---- */

/* Of a kernel made of another one: declares the parameters that it does not have itself. */
void declare_bound(checker *c, fn *f);

void resolve_const(checker *c, sym *s, src_span use);

extern const char check_prelude[];
extern const unsigned check_prelude_size;

#endif
