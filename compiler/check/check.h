/* Inside the checker. Nothing outside compiler/check includes this. Files that stand further up call those further
 * down; tests/tools/layers.py lists the calls that go up, which the recursion of the grammar makes.
 *
 *   check_module.c     items of a module, the order of functions
 *   check_derive.c     derive(...)
 *   check_custom.c     grad_for, jvp_for        check_export.c  export func        check_extern.c  extern func
 *   check_loop.c       for, while, static for
 *   check_stmt.c       statements               check_assign.c  assignment
 *   check_reduce.c     stored values, reductions
 *   check_expr.c       expressions
 *   check_call.c       calls                    check_atomic.c  atomic_add(x[i], v) and its like
 *   check_struct_ops.c operators on structs
 *   check_operators.c  operators and operations check_build.c   T(...), [...]
 *   check_func.c       functions, kernels, instances            check_array.c   arrays of the host
 *   check_inputs.c     derive(...)
 *   check_generated.c  names that the interface makes of the program's
 *   place/             root.c  names where places begin, index.c  subscripts and members, value.c, store.c
 *   types/             types.c  types as written, const.c  constants, struct.c  values that are structs
 *   base/              state, the typed tree and its builders, names, built-ins, conversions, evaluation
 */
#ifndef TKC_CHECK_H
#define TKC_CHECK_H

#include "check/base/builtins.h"

/* ---- check_generated.c ---- */

void names_check_item(checker *c, const ast_item *it);
void names_check_member(checker *c, const ast_param *p);
void names_check_generated(checker *c, const ast_module *m);

/* ---- types/types.c ---- */

const ty *type_resolve(checker *c, const ast_type *t);
/* A local array's type; `launch` gets its extents, which may then be known when the kernel runs only. NULL: they must
 * be constant. */
const ty *type_local_array(checker *c, const ast_type *t, tx_expr **launch);
/* A type name of the language: NULL if it is none. */
const ty *type_builtin(checker *c, const char *name);
/* The struct's type; its members are resolved when first asked for. */
const ty *resolve_struct(checker *c, sym *s, src_span use);

/* ---- types/const.c ---- */

/* A positive constant of at most max; 0 after an error. */
long type_size(checker *c, const ast_expr *e, const char *what, long max);
/* Checks e at compile time: the integer it stands for. False after an error; `what` names it. */
bool const_int(checker *c, const ast_expr *e, const char *what, int64_t *out);
bool const_bool(checker *c, const ast_expr *e, const char *what, bool *out);
/* The value of a constant of this type, NULL: of any. */
val constant_value(checker *c, const ast_expr *e, const ty *type);
void resolve_const(checker *c, sym *s, src_span use);

/* ---- check_expr.c ---- */

val check_expr(checker *c, const ast_expr *e);
val check_value(checker *c, const ast_expr *e); /* settled, not void, not a tuple */
/* A condition: bool scalar, or an error expression. */
tx_expr *check_condition(checker *c, const ast_expr *e, const char *where);

/* ---- place/ ---- */

typedef enum place_kind { PLACE_BAD, PLACE_LOCAL, PLACE_FIELD, PLACE_SHAPE, PLACE_VALUE } place_kind;

/* Something that has components and may be assignable. Component k of it is component dyn + comps[k] of `whole`. */
typedef struct place {
    place_kind kind; /* PLACE_BAD: reported */
    sym *sym;
    tx_local *local;
    ir_field *field;
    ir_plane plane;
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
/* x[t] of a field: the place without its last subscripts, or with all of them. False if e is nothing of that kind: then
 * nothing was checked. */
bool place_slab(checker *c, const ast_expr *e, place *p);
/* False, and reported, for the gradient or dual of a member that has none. */
bool place_has_plane(checker *c, place *p);
bool place_complete(checker *c, place *p, src_span at); /* no subscripts missing; reports */
/* The same, where `member` is asked of it. */
bool place_complete_for(checker *c, place *p, src_span at, const char *member);
/* False after an error: a place in an array of the host is in its data. */
bool array_has_plane(checker *c, const place *p, src_span at);

place place_leaf(const checker *c, const place *p, int k);
val place_value(checker *c, place *p, bool wrap);
void place_bind_subscripts(checker *c, place *p);
void store_place(checker *c, place *p, tx_stmt_kind kind, tx_expr *value, ir_reduce red, src_span at);
/* Stores a value, which may be repeated, into all elements of a field or array; of those whose first `given` subscripts
 * p has, the rest is p->missing. */
void fill_elements(checker *c, place *p, int given, tx_expr *value, src_span at);

/* ---- types/struct.c ---- */

val build_struct(checker *c, sym *s, const ast_expr *args, src_span at);
val select_struct(checker *c, const val *v, src_span at);
val stop_struct(checker *c, val v, src_span at);

/* ---- check_build.c ---- */

val build_of_type(checker *c, const ty *t, const ast_expr *args, src_span at);
val build_bracket(checker *c, const ast_expr *e);
val splat_to(checker *c, val v, const ty *t);
/* Behind a product of matrices of this type: what lowering puts in the place of U diag(...) V^T. */
void check_spectral(checker *c, const ty *type, src_span at);
/* Behind the call of a built-in function: the same for second derivatives of functions of singular values alone. */
void check_decomposition(checker *c, const sym *s, const ty *type, src_span at);

/* ---- check_operators.c ---- */

val soft_const(checker *c, softness soft, int64_t i, double f, src_span at);
bool not_a_value(checker *c, val v, src_span at);      /* reports */
bool is_numeric_value(checker *c, val v, src_span at); /* reports */
val bad_operand(checker *c, const char *op, val v, src_span at);
val apply_unary(checker *c, ir_opcode op, val a, src_span at);
const char *operator_text(ast_binop op);
bool is_order(ast_binop op);                                                 /* <, <=, >, >= */
val chained_comparison(checker *c, ast_binop op, val a, val b, src_span at); /* reports */
val apply_binary(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span);
val apply_power(checker *c, val a, val b, src_span at);
/* Gives integer literals inside ?: and lists a type before an operation that floats do not have. */
void settle_open_integers(checker *c, val *v, int n);
val apply_op(checker *c, ir_opcode op, val *args, int n, src_span at);

/* ---- check_struct_ops.c ---- */

/* Whether v is the struct t, and t + v is built in. */
bool sums_members(checker *c, const ty *t, val v);
val apply_struct_unary(checker *c, ast_unop op, val a, src_span at);
/* Of structs as well. */
val apply_operator(checker *c, ast_binop op, val a, val b, src_span at, src_span op_span);
/* Makes a function an operator if it is marked so; reports. */
void declare_operator(checker *c, sym *s);

/* ---- check_atomic.c ---- */

/* What e adds, or else does, to which place; false after an error. */
bool atomic_operands(checker *c, const atomic_builtin *a, const ast_expr *e, place *p, val *v);
tx_expr *atomic_value(checker *c, const atomic_builtin *a, const place *p, tx_expr *v, src_span at);
val call_atomic(checker *c, const atomic_builtin *a, const ast_expr *e);

/* ---- check_call.c ---- */

/* What of an argument that is a name is handed over: its value; arrays and fields with extents as they are; 0-D fields,
 * too; names of functions. */
typedef enum by_name { NAME_IS_VALUE, NAME_IS_ARRAY, NAME_IS_FIELD, NAME_IS_FUNC } by_name;
/* An argument that is the name of such a thing, or a slab of a field; false: it is something else, not yet checked. */
bool argument_by_name(checker *c, const ast_expr *e, by_name names, val *v);

/* as_statement: the value may be void. */
val check_call(checker *c, const ast_expr *e, bool as_statement);

/* ---- check_func.c ---- */

/* Resolves the types of parameters and result, once. */
void check_signature(checker *c, sym *s);
val call_function(checker *c, sym *s, val *args, int n, const src_span *spans, src_span at);
void check_kernel(checker *c, sym *s);
/* Checks a function that is not generic whether it is called or not. */
void check_plain_func(checker *c, sym *s);
/* Whether a function takes one vector, by its declaration. */
bool takes_vector(checker *c, sym *s);
/* The instance of a function of the prelude for these types, as one that the current function calls. */
instance *call_instance(checker *c, sym *s, const ty *const *types, src_span at);

/* Between these f, elsewhere in the module, is the function being checked. */
void fn_begin(checker *c, fn *f, scope *sc);
void fn_end(checker *c, const fn *f);
/* A parameter that is a field: another name of it. */
sym *declare_field(checker *c, fn *f, const ast_param *p, const sym *field);
/* Declares the parameters of f; room for `more` of them is left. */
void declare_params(checker *c, fn *f, const ty *const *args, int more);
/* Nothing more is called by i. */
void instance_complete(checker *c, instance *i);

/* ---- check_derive.c ---- */

/* IR_DERIVE_* of derive(...), whose inputs are checked. */
int derive_bits(checker *c, const sym *s, const ast_attr *a);
/* Once the body is checked: whether the results of an export func have the matrices that derive(...) asks for. */
void derive_check_rows(checker *c, const sym *s, const tx_func *f);
/* The turn of a parameter in `matrix`, which is jac or hess, from 1 on; 0: it is not there. */
int derive_turn(const fn *f, const ast_param *p, const char *matrix);

/* ---- check_custom.c ---- */

/* grad_for and jvp_for of the whole module, once all bodies are checked; then, what kernels may call each other. */
void check_custom(checker *c);
/* f.grad(...), from the call of f with these arguments, which was checked just now. */
val gradient_of_call(checker *c, const sym *s, val v, src_span at);
/* f.jacobian(...), f.hessian(...), likewise. check_matrix.c */
val matrix_of_call(checker *c, const sym *s, val v, src_span at, bool hess);
/* Why no derivative by the arguments is a value there; NULL: nothing. */
const char *no_derivative(checker *c, const sym *s, const instance *i);
/* f.jvp(...), likewise, and from the n tangents. */
val jvp_of_call(checker *c, const sym *s, val v, const val *tangents, int n, const src_span *spans, src_span at);

/* ---- check_array.c ---- */

/* The element type of an array parameter, an error type after a report, and its extents: sym.param_extents. */
const ty *array_param_type(checker *c, const sym *s, const ast_param *p, tx_expr ***extents);
/* Declares the extents of all array parameters, which come first, and the arrays. */
void declare_extents(checker *c, fn *f);
void declare_array(checker *c, fn *f, const ast_param *p, const ty *elem, tx_expr *const *fixed, src_span at,
                   bool grad);
/* Those of kernels before those of export funcs, once all bodies are checked. */
void order_arrays(checker *c);
/* False after an error: the arrays in a call of s are such as it takes. */
bool check_array_args(checker *c, const sym *s, const val *args, const src_span *spans);
/* In an instance for a call: extents are values, and what `out` parameters name is cleared. */
void bind_arrays(checker *c, const fn *f);

/* ---- check_export.c ---- */

/* Every export func is a function of its arguments, once all bodies are checked. */
void check_exports(checker *c);

/* ---- check_inputs.c ---- */

/* grad and jvp: what there is without derive(...). */
void default_requests(checker *c, tx_func *f);
/* derive(...): which derivatives there are. */
void check_requests(checker *c, const sym *s, const ast_attr *a, tx_func *f);
/* By which inputs those of an export func are, once its parameters are declared. */
void check_inputs(checker *c, const fn *f);
/* The field of a kernel's matrices. */
void check_fields(checker *c, const fn *f);
/* Once the body is checked: whether an export func has the matrices that derive(...) asks for. */
void check_rows(checker *c, const sym *s, const tx_func *f);

/* ---- check_extern.c ---- */

/* grad(...) of extern funcs, once all bodies are checked. */
void check_externs(checker *c);

/* ---- check_reduce.c ---- */

/* A value for the place; and one that is added: its component type, and its shape or a scalar. */
val convert_stored(checker *c, val v, const place *p, src_span at);
val convert_added(checker *c, val v, const place *p, src_span at);
/* What `+=` or `-=` adds; NULL after an error. */
tx_expr *added_value(checker *c, const ast_stmt *s, const place *p, val v);
bool is_sum(const ast_stmt *s); /* += or -= */
/* Whether += v adds numbers, and is no operator of the program's own. */
bool accumulates(checker *c, const place *p, val v);
/* Both are the same text: names, members, subscripts, literals, operators and casts, but no calls. */
bool same_expr(const ast_expr *a, const ast_expr *b);
/* A statement of a parallel loop that assigns a variable of the kernel. */
void check_reduction(checker *c, const ast_stmt *s, place *p);
/* if e > w { w = e; k = i; } in a parallel loop; false: s is no such statement, and nothing was checked. */
bool check_winner(checker *c, const ast_stmt *s);

/* ---- check_stmt.c, check_assign.c, check_loop.c ---- */

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
void check_call_statement(checker *c, const ast_stmt *s);
bool check_loop(checker *c, const ast_stmt *s);
void check_return(checker *c, const ast_stmt *s);
bool check_atomic_statement(checker *c, const ast_expr *e); /* false: not one */
/* Of a kernel made of another one: declares the parameters that it does not have itself. */
void declare_bound(checker *c, fn *f);

#endif
