/* What prints the bodies of functions as C, inside. One C function is printed through one `cfn`; its text goes to a
 * buffer first, because what must be declared at the top of the function (field pointers, extents, parameters) is known
 * only when its body is printed.
 *
 * A value is in one of three states: not yet defined; pending, an expression that its only use will swallow; named, a C
 * variable.
 */
#ifndef TKC_EMIT_INT_H
#define TKC_EMIT_INT_H

#include "codegen/body.h"
#include "codegen/forms.h"
#include "codegen/layout.h"
#include "codegen/names.h"
#include "codegen/whole.h"
#include "emit/options.h"
#include "ir/ops.h"
#include "util/intern.h"
#include "util/ptrmap.h"
#include "util/quote.h"
#include "util/strbuf.h"
#include "util/vec.h"

/* TK_INTERFACE of the runtime that generated code is written for; the C says it in numbers, so that a library of
 * another version is noticed. */
enum { EMIT_INTERFACE = 1 };

/* ---- the file ---- */

typedef struct emitter {
    arena *mem;
    const ir_module *m;
    const emit_options *opt;
    strbuf *out;
    names *globals;
    facts facts;
    ptrmap functions;         /* func_facts -> c_function */
    ptrmap layouts;           /* ir_layout -> saved_struct, once its definition is printed */
    intern_pool *texts;       /* of what is printed once only, however many kernels have it: without its own name */
    ptrmap shared;            /* such a text -> its name */
    ptrmap params;            /* ir_mparam -> const char *, member name */
    const char **field_names; /* by index: layout_view, or where an array of a kernel is */
    bool uses_bounds, uses_take, uses_assert, uses_arrays;
    const char *take;                                                 /* function that takes memory from a workspace */
    const char *kernels, *fields, *members, *desc, *bounds, *extents; /* static objects of the file */
    const char *base; /* of the names that belong to the function being printed */
    int nlayouts;     /* of that function */
    strbuf sites;     /* --debug: rows of the table of accesses */
    int nsites;
    const char *sites_name, *places_name;
} emitter;

void emitter_init(emitter *e, const ir_module *m, const emit_options *opt);
void emitter_done(emitter *e);
typedef struct saved_struct {
    const char *tag;
    const char **members;
} saved_struct;
const saved_struct *saved_struct_of(emitter *e, const ir_layout *l); /* prints the struct when first asked for */
/* "jelly__clear_run": of what only this file knows. The files of several modules may be one translation unit. */
const char *file_level(const emitter *e, const char *name);
/* The name of what is printed already in these words, but for its own name; else `name`, and so it is from now on. */
const char *shared_name(emitter *e, const char *text, const char *name);
/* File names of .tk without folders, for people: of the module, of a place. */
const char *source_base(const emitter *e);
const char *base_of(const emitter *e, src_loc loc);
const char *place_of(const emitter *e, src_loc loc); /* "gravity.tk:14" */
/* A list of parameters or arguments that starts at `column`, on several lines where it is long; further lines are
 * indented by 4 * indent. */
const char *wrap_list(arena *mem, const char *list, size_t column, int indent);
const char *c_string(arena *mem, const char *s); /* with quotes, escaped */

/* ---- constants and types (text.c) ---- */

const char *const_text(arena *mem, scalar type, int64_t i, double f, int *prec);
const char *zero_text(scalar type);
const char *scalar_enum(scalar s); /* TK_F32 */

/* ---- expressions ---- */

/* What a pending expression reads: a storage, a local array (its value), or the saved-value stack. */
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

typedef struct expr {
    const char *text;
    int prec, nops;
    bool calls; /* a function of the C library */
    const memref *reads;
    const varref *vars;
    const char *bare; /* a widening cast to i64 without the cast, for places that convert by themselves; else NULL */
    int bare_prec;
    const char *pointer; /* its C type if it is a pointer to memory; NULL: no pointer, or the constant NULL */
} expr;

/* ---- one C function ---- */

typedef struct vstate {
    bool pending;
    expr e;           /* e.text NULL: not defined yet */
    const char *hint; /* what to call it if the user did not */
} vstate;

/* What all C functions made of one IR function share. */
typedef struct fstate {
    value_use *use; /* by value id, as what follows */
    vstate *v;
    names *hints; /* all names that values ask for */
} fstate;

/* How a body calls a plane that it uses. */
typedef struct plane_ref {
    const char *name, *acc_name; /* the pointer; the one that a scatter goes through */
    const char **strides;        /* by dimension; NULL until used */
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
    const func_facts *info;
    cfn_kind kind;
    fstate *fs;
    const value_use *use; /* fs->use */
    vstate *v;            /* fs->v */
    strbuf *out;
    int indent;
    names *names;
    src_loc last; /* of the last comment */
    const body_plan *plan;
    plane_ref *planes;               /* by ir_storage */
    const char **shape_names;        /* [field * 8 + dim], NULL until used */
    const char **mparam_names;       /* by index, NULL until used */
    const char *key;                 /* what random numbers start from, NULL until used */
    const char *m, *a, *st, *atomic; /* names; atomic: NULL at kernel level and in tasks without scatters */
    const char *fail;                /* statement that leaves the function after a failure */
    const char *release;             /* statement that releases the function's stack before; NULL: it has none */
    const char *watched;             /* --debug: index of the element printed last */
    bool pure;                       /* see func_facts */
    bool rounds[2];                  /* has exact products, of f64 and f32 */
    bool steps;                      /* has accesses at hidden steps */
    bool others[2];                  /* has numbers that are to be taken for others, of f64 and f32 */
    bool uses_m, uses_a, uses_rec, uses_st, fails;
    VEC(const ir_value *) loads; /* pending values that read memory, oldest first */
    strbuf tasks;                /* CFN_RUN: text of its task functions */
    int ntasks;
    VEC(stage) stages;
} cfn;

fstate fstate_create(const ir_func *f);
void fstate_free(fstate *fs);
cfn *cfn_create(emitter *e, const ir_func *f, cfn_kind kind, fstate *fs);
void cfn_free(cfn *c);
/* The plan of the function's body, of which c prints no more than that has; before anything of it is printed. */
body_plan cfn_plan(cfn *c);
/* Takes the names of the params that stand in the body, of the planes that it uses, then the emitter's own. */
void cfn_take_names(cfn *c, const body_plan *plan);
/* Declarations at the top, for what the plan has. */
void cfn_hoists(cfn *c, strbuf *out);

/* ---- printing statements (stmt.c) ---- */

__attribute__((format(printf, 3, 4))) void stmt(cfn *c, src_loc loc, const char *fmt, ...);
void close_block(cfn *c);
void emit_leave(cfn *c); /* the function ends after a failure */
/* `if (condition)`, the function ends. */
void emit_fail_if(cfn *c, src_loc loc, const char *condition);
const char *stack_release(const cfn *c);
void reset_line(emitter *e, strbuf *out); /* after a function, with #line directives */

/* ---- values (expr.c) ---- */

/* The expression of v; a pending one is swallowed. */
expr val(cfn *c, const ir_value *v);
/* Text of e as an operand that needs at least precedence prec. */
const char *paren(cfn *c, expr e, int prec);
/* A name or constant: a pending expression is given a name first. */
expr val_simple(cfn *c, const ir_value *v);
const char *val_text(cfn *c, const ir_value *v, int prec);
/* Text of e as `to` takes it: C++ converts no void * by itself. */
const char *converted_to(cfn *c, expr e, const ir_value *to);
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
const char *c_type_of(cfn *c, const ir_value *v);                                /* "float", "struct k_save3 *" */
const char *declare(cfn *c, const ir_value *v, bool constant, const char *name); /* "const float name" */
bool fits_i64(const ir_value *v, int *bits);

/* ---- memory (memory.c) ---- */

/* A subscript whose text stands in several places. */
expr named_index(cfn *c, const ir_value *v);
void emit_field(cfn *c, const ir_op *op);
void emit_record(cfn *c, const ir_op *op);
void emit_local(cfn *c, const ir_op *op);
void emit_stack(cfn *c, const ir_op *op);
const char *shape_name(cfn *c, const ir_field *f, int dim);
const char *mparam_name(cfn *c, const ir_mparam *p);
const char *key_name(cfn *c);
const char *plane_pointer(cfn *c, const ir_field *f, ir_plane p, bool scatter);
/* The hoisted stride of a plane. */
const char *stride_name(cfn *c, const ir_field *f, ir_plane p, int dim);

/* ---- what --debug watches (watch.c) ---- */

/* After an access: index is its component's number in the whole field. */
void emit_watch(cfn *c, const ir_op *op, const char *index);
/* In front of what adds to an element, or compares with it. */
void emit_watch_before(cfn *c, const ir_op *op, const char *index);
void emit_watch_iteration(cfn *c);
void emit_decision(cfn *c, const ir_op *op);
void emit_mark(cfn *c, const ir_op *op); /* NEED, KEEP */
void emit_places(emitter *e);
void emit_sites(emitter *e);

/* ---- regions (region.c, loop.c) ---- */

void emit_op(cfn *c, const ir_op *op);
void emit_ops(cfn *c, const ir_region *r);
void emit_loop(cfn *c, const ir_op *op);
void emit_call(cfn *c, const ir_op *op);
const char *session_text(cfn *c);
/* A check of --debug that fails: the launch, or in an export func the program. The condition is what must hold. */
void emit_check(cfn *c, src_loc loc, const char *holds, const char *message);
/* Fails where the subscript is not in [0, extent); `number`: the extent is one. what: what is out of bounds, with its
 * place. */
void emit_bounds(cfn *c, src_loc loc, const ir_value *subscript, const char *extent, bool number, const char *what);

/* ---- tasks (task.c) ---- */

void emit_task(cfn *c, const ir_op *op);

/* ---- functions (funcs.c) ---- */

/* The C name of a function that is called; export funcs may call it under another one. */
const char *function_name(emitter *e, const ir_func *f);
void emit_function(emitter *e, const ir_func *f);     /* once, its callees first */
void emit_functions_of(emitter *e, const ir_func *f); /* those that f calls */
void emit_extents(emitter *e);

/* ---- parameters in C (signature.c) ---- */

typedef enum sig_use {
    SIG_INPUT,    /* a parameter's value */
    SIG_OPTIONAL, /* const, NULL for zero */
    SIG_RESULT,   /* added into, NULL: not wanted */
    SIG_MEMBER    /* of an argument struct */
} sig_use;

/* Result i, with the name that it has in C. */
ir_sigparam sig_result(arena *mem, const ir_func *f, int i);
const char *sig_decl(arena *mem, const ir_sigparam *p, ir_plane plane, sig_use use);
const char *sig_dual_text(arena *mem, const ir_sigparam *p); /* for comments: "dt_dual", "s_dual.link.pos" */
/* Component k: "p_grad[1]"; dot: behind the name of a struct, "." or, of a pointer, "->". */
const char *sig_component(arena *mem, const ir_sigparam *p, ir_plane plane, const char *dot, int k);

/* A parameter of a C function that the host calls. */
typedef struct sig_item {
    ir_sigparam p;
    ir_plane plane;
    sig_use use;
} sig_item;
typedef VEC(sig_item) sig_items;
/* Without the module, in their order. */
void kernel_items(arena *mem, sig_items *items, const ir_func *kernel, kernel_form form);
/* "float dt, const float *dt_dual" behind what b holds already. */
void add_items(arena *mem, strbuf *b, const sig_items *items);
/* "gravity *m, float dt, const float *dt_dual" */
const char *kernel_signature(arena *mem, const ir_module *m, const ir_func *kernel, kernel_form form);
const char *kernel_self(arena *mem, const ir_func *kernel); /* name of the module parameter */

/* ---- structs (structs.c) ---- */

const char *struct_zero(arena *mem, const ir_struct *r); /* initializer: all members 0 */
/* A field's tk_field: "m->x.field"; of an array of a kernel, "&m->tk.fields[2]". */
const char *field_address(emitter *e, const char *m, const ir_field *f);

/* ---- C functions of the host (extern.c) ---- */

void emit_extern(cfn *c, const ir_op *op);

/* ---- names of results ---- */

/* A name that no parameter of f and no C function of the host has, also not with a suffix. */
const char *free_name(arena *mem, const ir_func *f, const char *name);

#endif
