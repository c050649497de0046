/* The emitter, inside. One C function is printed through one `cfn`; its text goes to a buffer first, because what must be declared
 * at the top of the function (field pointers, extents, parameters) is known only when its body is printed.
 *
 * A value is in one of three states: not yet defined; pending, an expression that its only use will swallow; named, a C variable.
 */
#ifndef TKC_EMIT_INT_H
#define TKC_EMIT_INT_H

#include "emit/emit.h"
#include "ir/ops.h"
#include "util/strbuf.h"

/* TK_INTERFACE of the runtime that generated code is written for; the C says it in numbers, so that a library of another version is noticed. */
enum { EMIT_INTERFACE = 1 };

/* ---- names (names.c) ---- */

typedef struct names names;

/* Names of one C function, or of the whole file (outer == NULL). Names that `outer` has are not given out. */
names *names_create(arena *mem, const names *outer);
void names_free(names *n);
void names_push(names *n);
void names_pop(names *n); /* names given since the matching push are free again */
/* hint made a valid C identifier that nobody uses; NULL gives t1, t2, ... */
const char *names_unique(names *n, const char *hint);
/* The same, but taken to the end of the function whatever the scope. */
const char *names_unique_function(names *n, const char *hint);
void names_release(names *n, const char *name);
/* A name of the emitter's own, to the end of the function: gives way to names that the user may want (those taken in `hints`). */
const char *names_internal(names *n, const names *hints, const char *base);
/* A member of a struct or a parameter in the header: the user's name unless C or C++ reserve it. */
const char *name_member(arena *mem, const char *name);

/* Pointer to pointer; iteration order is never used. */
typedef struct ptrmap {
    const void **key;
    void **val;
    size_t len, cap;
} ptrmap;
void *ptrmap_get(const ptrmap *m, const void *key);
void ptrmap_set(ptrmap *m, const void *key, void *val);
void ptrmap_free(ptrmap *m);

/* ---- the file ---- */

enum { USE_READ = 1, USE_STORE = 2, USE_ACCUM = 4 };

/* What a function needs from its caller and does to fields, callees included. */
typedef struct func_info {
    const char *name;        /* C name */
    unsigned char *planes;   /* USE_* at [field->index * 4 + plane] */
    bool module, stack, can_fail; /* takes m, takes st, returns false after a failure */
    bool pure;               /* for export funcs: no session; saved values live in the caller's workspace, checks are C's assert */
    bool tasks;              /* holds parallel tasks */
    int64_t cost;            /* rough cycles of a run */
    bool busy, done;
} func_info;

typedef struct emitter {
    arena *mem;
    const ir_module *m;
    const emit_options *opt;
    strbuf *out;
    names *globals;
    ptrmap infos;            /* ir_func -> func_info */
    ptrmap pure_infos;       /* the same, of functions that export funcs call and that would take a module or a stack */
    bool pure;               /* what is printed now belongs to an export func */
    ptrmap layouts;          /* ir_layout -> struct tag, once its definition is printed */
    ptrmap params;           /* ir_mparam -> const char *, member name */
    const char **field_names; /* by index: the view in the module's struct, "x" or, of a member with soa, "p.link.pos" */
    bool uses_bounds, uses_take, uses_assert, uses_arrays;
    const char *take;        /* function that takes memory from a workspace */
    const char *kernels, *fields, *members, *desc, *bounds, *extents; /* static objects of the file */
    const char *base;        /* of the names that belong to the function being printed */
    int nlayouts;            /* of that function */
    strbuf sites;            /* --debug: rows of the table of accesses */
    int nsites;
    const char *sites_name, *places_name;
} emitter;

void emitter_init(emitter *e, const ir_module *m, const emit_options *opt);
void emitter_done(emitter *e);
/* Whether the module has an object; export funcs alone need none. */
bool emit_has_object(const ir_module *m);
func_info *func_info_of(emitter *e, const ir_func *f); /* funcs.c */
typedef struct layout_info {
    const char *tag;
    const char **members;
} layout_info;
const layout_info *layout_of(emitter *e, const ir_layout *l); /* prints the struct when first asked for */
/* "jelly__clear_run": of what only this file knows. The files of several modules may be one translation unit. */
const char *file_level(const emitter *e, const char *name);
const char *source_base(const emitter *e); /* file name of the .tk without folders */
const char *place_of(emitter *e, src_loc loc); /* "gravity.tk:14" */
/* A list of parameters or arguments that starts at `column`, on several lines where it is long; further lines are indented by 4 * indent. */
const char *wrap_list(arena *mem, const char *list, size_t column, int indent);
const char *c_string(arena *mem, const char *s); /* with quotes, escaped */

/* ---- constants and types (text.c) ---- */

const char *const_text(arena *mem, scalar type, int64_t i, double f, int *prec);
const char *zero_text(scalar type);
const char *element_dims(arena *mem, const ir_field *f, bool flat); /* "[2]", of a matrix "[2][3]" or flat "[6]", of a scalar "" */
/* C declaration of a pointer to field elements: "const float (*restrict const x)[2]"; flat: matrices as one row of components. Strided: to bytes. */
const char *field_pointer(arena *mem, const ir_field *f, bool is_const, const char *quals, const char *name, bool flat);
const char *scalar_enum(scalar s); /* TK_F32 */
const char *plane_enum(ir_plane p); /* TK_DATA */

/* ---- expressions ---- */

/* What a pending expression reads: a field plane (field * 4 + plane), a local array (its value), or the saved-value stack. */
typedef enum memory_kind { MEM_PLANE, MEM_LOCAL, MEM_STACK } memory_kind;
typedef struct memref {
    memory_kind kind;
    int plane;
    const ir_value *array;
    const struct memref *next;
} memref;
/* A loop-carried variable that an expression names. */
typedef struct varref {
    const ir_value *param;
    const struct varref *next;
} varref;

enum { PREC_PRIMARY = 20, PREC_UNARY = 15, PREC_MUL = 13, PREC_ADD = 12, PREC_REL = 10, PREC_EQ = 9, PREC_LAND = 5, PREC_LOR = 4, PREC_COND = 3 };

typedef struct expr {
    const char *text;
    int prec, nops;
    const memref *reads;
    const varref *vars;
    const char *bare; /* a widening cast to i64 without the cast, for places that convert by themselves; else NULL */
    int bare_prec;
} expr;

/* ---- one C function ---- */

typedef struct vstate {
    uint32_t uses;
    const ir_op *user;       /* the only one when uses == 1 */
    bool pending;
    expr e;                  /* e.text NULL: not defined yet */
    scalar elem;             /* SC_PTR: element type of the local array behind it, if uses tell */
    bool added;              /* SC_PTR: tasks add to it */
    const ir_layout *layout; /* SC_PTR: struct behind it, if uses tell */
    const char *hint;        /* what to call it if the user did not */
    uint32_t stamp;          /* task that captured it or defines it */
} vstate;

/* What all C functions made of one IR function share. */
typedef struct fstate {
    vstate *v;    /* by value id */
    names *hints; /* all names that values ask for */
} fstate;

typedef struct plane_ref {
    const char *name, *acc_name; /* hoisted pointer; the one that a scatter goes through */
    bool flat;                   /* a component index is not constant */
    bool read, written;          /* directly, by this function itself */
    bool plain_accum;
    bool used, acc_used;         /* printed */
    bool by_callee, callee_writes;
    struct plane_ref *same;      /* a member of the same structs whose pointer serves for this one, too */
    bool listed;                 /* in cfn.touched */
    bool scatter;                /* accumulations go through acc_name */
    const char **strides;        /* strided: by dimension, the hoisted strides; NULL until used */
} plane_ref;

/* A task that waits to be run with the next one. */
typedef struct stage {
    const char *text; /* of a tk_stage */
    int64_t cost;
} stage;

typedef enum cfn_kind { CFN_FUNC, CFN_RUN, CFN_TASK, CFN_EXTENTS, CFN_EXPORT } cfn_kind;

typedef struct cfn {
    emitter *e;
    const ir_func *f;
    func_info *info;
    cfn_kind kind;
    fstate *fs;
    vstate *v;               /* fs->v */
    strbuf *out;
    int indent;
    names *names;
    src_loc last;            /* of the last comment */
    plane_ref *planes;       /* [field * 4 + plane] */
    VEC(int) touched;        /* planes that the scan met, in order */
    const char **shape_names; /* [field * 8 + dim], NULL until used */
    VEC(int) shapes;         /* those used, in order */
    const char **mparam_names; /* by index, NULL until used */
    bool *mparam_used;
    VEC(int) mparams;
    const char *key;         /* what random numbers start from, NULL until used */
    const char *m, *a, *st, *atomic; /* names; atomic: NULL at kernel level and in tasks without scatters */
    const char *fail;        /* statement that leaves the function after a failure */
    const char *watched;     /* --debug: index of the element printed last */
    bool pure;               /* see func_info */
    bool rounds[2];          /* has exact products, of f64 and f32 */
    bool uses_m, uses_rec, uses_st, uses_label, no_restrict;
    VEC(const ir_value *) loads; /* pending values that read memory, oldest first */
    strbuf tasks;            /* CFN_RUN: text of its task functions */
    int ntasks;
    VEC(stage) stages;
} cfn;

fstate fstate_create(const ir_func *f); /* counts uses */
void fstate_free(fstate *fs);
cfn *cfn_create(emitter *e, const ir_func *f, cfn_kind kind, fstate *fs);
void cfn_free(cfn *c);
/* Notes the memory that r touches; before anything of it is printed. */
void cfn_scan(cfn *c, const ir_region *r);
/* Takes the names of what will be hoisted, then the emitter's own. */
void cfn_take_names(cfn *c);
/* --debug: what a subscript of an array is held against, where that is not constant; else NULL. */
const ir_value *checked_count(const ir_module *m, const ir_op *op);
bool op_is_dead(const vstate *v, const ir_op *op);
/* Whether result k of a task is read, or decides about a companion that is. */
bool reduction_is_wanted(const vstate *v, const ir_op *task, int k);
/* Declarations at the top, for everything that the body turned out to use. */
void cfn_hoists(cfn *c, strbuf *out);

/* ---- printing statements (stmt.c) ---- */

__attribute__((format(printf, 3, 4))) void stmt(cfn *c, src_loc loc, const char *fmt, ...);
void close_block(cfn *c);
void emit_fail(cfn *c); /* what an `if` without braces does, printed before: the function ends */
void reset_line(emitter *e, strbuf *out); /* after a function, with #line directives */

/* ---- values (expr.c) ---- */

/* The expression of v; a pending one is swallowed. */
expr val(cfn *c, const ir_value *v);
/* Text of e as an operand that needs at least precedence prec. */
const char *paren(cfn *c, expr e, int prec);
/* A name or constant: a pending expression is given a name first. */
expr val_simple(cfn *c, const ir_value *v);
const char *val_text(cfn *c, const ir_value *v, int prec);
expr expr_leaf(const char *text);
void expr_absorb(cfn *c, expr *into, expr part);
/* Gives v its expression: kept for its only use, or printed as a declaration. */
void define(cfn *c, const ir_value *v, expr e, src_loc loc);
void define_name(cfn *c, const ir_value *v, const char *name);
/* Prints the declaration of a pending value now. */
void materialise(cfn *c, const ir_value *v);
/* Pending reads of this memory are printed before it changes; kind < 0: all. */
void flush_reads(cfn *c, int kind, int plane, const ir_value *array);
const char *negated(cfn *c, expr e); /* for conditions: "!(a < b)" */
expr pure_expr(cfn *c, const ir_op *op);
const char *c_type_of(cfn *c, const ir_value *v); /* "float", "struct k_save3 *" */
const char *declare(cfn *c, const ir_value *v, bool constant, const char *name); /* "const float name" */
bool fits_i64(const ir_value *v, int *bits);

/* ---- memory (memory.c) ---- */

/* A subscript whose text stands in several places. */
expr named_index(cfn *c, const ir_value *v);
void emit_load(cfn *c, const ir_op *op);
void emit_store(cfn *c, const ir_op *op);
/* Whether others may touch the element of an accumulation or atomic meanwhile; without a class it is an internal error. */
bool is_scatter(const ir_op *op);
void emit_accum(cfn *c, const ir_op *op);
void emit_atomic(cfn *c, const ir_op *op);
void emit_record(cfn *c, const ir_op *op);
void emit_local(cfn *c, const ir_op *op);
void emit_stack(cfn *c, const ir_op *op);
const char *shape_name(cfn *c, const ir_field *f, int dim);
const char *mparam_name(cfn *c, const ir_mparam *p);
const char *key_name(cfn *c);
const char *plane_pointer(cfn *c, const ir_field *f, ir_plane p, bool scatter);
/* "m->x.data" */
const char *plane_member(emitter *e, const char *m, const ir_field *f, ir_plane p);
/* The hoisted stride of a strided field's plane. */
const char *stride_name(cfn *c, const ir_field *f, ir_plane p, int dim);

/* ---- what --debug watches (watch.c) ---- */

bool is_watched(const cfn *c, const ir_op *op);
/* After an access: index is its component's number in the whole field. */
void emit_watch(cfn *c, const ir_op *op, const char *index);
void emit_watch_iteration(cfn *c);
void emit_decision(cfn *c, const ir_op *op);
void emit_places(emitter *e);
void emit_sites(emitter *e);

/* ---- regions (region.c, loop.c) ---- */

void emit_ops(cfn *c, const ir_region *r);
void emit_loop(cfn *c, const ir_op *op);
/* True if region r or a callee may leave the C function on a failure. */
bool region_may_fail(emitter *e, const ir_region *r);
void emit_call(cfn *c, const ir_op *op);
bool region_uses_stack(emitter *e, const ir_region *r); /* tasks inside not counted: they have stacks of their own */
int64_t region_cost(emitter *e, const ir_region *r);
int64_t task_cost(emitter *e, const ir_op *task); /* rough cycles of an iteration, at least 1 */
const char *session_text(cfn *c);
/* A check of --debug that fails: the launch, or in an export func the program. The condition is what must hold. */
void emit_check(cfn *c, src_loc loc, const char *holds, const char *message);
/* Fails where the subscript is not in [0, extent); `number`: the extent is one. what: what is out of bounds, with its place. */
void emit_bounds(cfn *c, src_loc loc, const ir_value *subscript, const char *extent, bool number, const char *what);

/* ---- tasks (task.c) ---- */

void emit_task(cfn *c, const ir_op *op);

/* ---- functions and kernels (funcs.c, kernel.c, kernel_entry.c, kernel_table.c, module.c) ---- */

void emit_function(emitter *e, const ir_func *f); /* once, its callees first */
void emit_functions_of(emitter *e, const ir_func *f); /* those that f calls */
void emit_extents(emitter *e);
void emit_kernels(emitter *e);
int emit_kernel_table(emitter *e); /* number of kernels */
void emit_entries(emitter *e);
void emit_module(emitter *e);
/* Why a kernel has no derivative: NULL if it has, or if its derivative is zero by intent. */
const char *why_no_grad(const ir_func *kernel);
const char *why_no_jvp(const ir_func *kernel);

/* ---- the interface (signature.c, header.c) ---- */

typedef enum kernel_form { FORM_RUN, FORM_GRAD, FORM_JVP, FORM_HVP } kernel_form;
typedef enum sig_use {
    SIG_INPUT,    /* a parameter's value */
    SIG_OPTIONAL, /* const, NULL for zero */
    SIG_RESULT,   /* added into, NULL: not wanted */
    SIG_MEMBER    /* of an argument struct */
} sig_use;

/* A struct is one parameter in C: these are asked of the one that leads. */
bool sig_stands(const ir_sigparam *p);   /* is a parameter in C */
bool sig_is_float(const ir_sigparam *p); /* the component itself */
bool sig_has_dual(const ir_sigparam *p); /* has a tangent beside it in C */
/* Result i, with the name that it has in C. */
ir_sigparam sig_result(arena *mem, const ir_func *f, int i);
bool sig_is_seed(const ir_sigparam *p); /* an `out` array with gradient, which goes in */
bool sig_has_grad(const ir_sigparam *p); /* has a gradient in C */
const char *sig_decl(arena *mem, const ir_sigparam *p, const char *suffix, sig_use use);
const char *sig_dual_text(arena *mem, const ir_sigparam *p); /* for comments: "dt_dual", "s_dual.link.pos" */
/* Component k: "p_grad[1]"; dot: behind the name of a struct, "." or, of a pointer, "->". */
const char *sig_component(arena *mem, const ir_sigparam *p, const char *suffix, const char *dot, int k);
bool kernel_has_args(const ir_func *kernel); /* else it has no argument struct */
bool kernel_has_grad_args(const ir_func *kernel);
/* Of the argument struct, and of that of its gradients: "gravity_step_jvp_args", "gravity_step_grad_out". */
const char *kernel_args_tag(emitter *e, const ir_func *kernel, kernel_form form);
const char *kernel_out_tag(emitter *e, const ir_func *kernel, kernel_form form);
/* Whether a forward scope, or a tape, knows the derivatives of all that the kernel takes and gives: libtkc refuses others there. kernel_table.c */
bool kernel_fits_scope(const ir_func *kernel);
bool kernel_fits_tape(const ir_func *kernel);
const char *form_suffix(kernel_form form);
const ir_func *kernel_form_of(const ir_func *kernel, kernel_form form); /* NULL if not generated */
/* "gravity *m, float dt, const float *dt_dual" */
const char *kernel_signature(arena *mem, const ir_module *m, const ir_func *kernel, kernel_form form);
const char *kernel_self(arena *mem, const ir_func *kernel); /* name of the module parameter */
const char *field_decl_type(arena *mem, const ir_field *f, const char *name); /* "float (*data)[2]", with soa "float *data[2]" */
void add_doc(strbuf *b, const char *doc, const char *indent); /* text inside a comment; indent goes before each further line */

/* ---- structs (record.c) ---- */

const char *record_type(arena *mem, const ir_record *r); /* "gravity_Body" */
const char *record_zero(arena *mem, const ir_record *r); /* initializer: all members 0 */
const char *member_decl(arena *mem, const ir_member *m);
const char *member_path(arena *mem, const char *path, const char *dot);
void emit_records(emitter *e);
/* Of the view, and of functions of the interface: "x", "p_link_pos" for a member with soa, for the members of an array of structs that of the array. */
const char *field_id(arena *mem, const ir_field *f);
const char *field_object(emitter *e, const ir_field *f); /* its tk_field in the module's struct: "x.field", "p.field.link.pos" */
const char *field_address(emitter *e, const char *m, const ir_field *f); /* "m->x.field"; of an array of a kernel, "&m->tk.fields[2]" */
/* An array that is an argument of the C function itself. */
static inline bool is_argument(const ir_field *f) { return f->array && !f->launched; }
/* f, or the first member of its array of structs, that has this plane; NULL: the view has none. */
const ir_field *plane_leaf(const ir_module *m, const ir_field *f, ir_plane p);
bool field_begins(const ir_field *f); /* has a view: not a further member of an array of structs */
void emit_field_objects(emitter *e, const ir_field *f);
void emit_member_views(emitter *e, const ir_field *f);
/* Gradients have duals once the module has a second-order product. */
bool field_has_grad_dual(const ir_module *m, const ir_field *f);
const char *bind_signature(arena *mem, const ir_module *m, const ir_field *f);
const char *bind_strided_signature(arena *mem, const ir_module *m, const ir_field *f);

/* ---- C functions of the host (extern.c) ---- */

/* Whether C calls it as an expression: scalars go in, and one comes out. Others have a function around them. */
bool extern_is_direct(const ir_func *f);
void emit_extern(cfn *c, const ir_op *op);
void emit_prototypes(emitter *e);

/* ---- export funcs (export.c) ---- */

/* A name that no parameter of f and no C function of the host has, also not with a suffix. */
const char *free_name(arena *mem, const ir_func *f, const char *name);

/* "float a, const float v[3], float *result"; names of the results give way to the user's. */
const char *export_signature(arena *mem, const ir_module *m, const ir_func *f, kernel_form form);
/* "(n, steps)" of the macro that sizes a workspace, and its value; NULL: the form needs none. */
const char *export_workspace(arena *mem, const ir_func *f, kernel_form form);
void emit_exports(emitter *e);

#endif
