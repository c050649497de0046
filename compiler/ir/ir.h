/* The intermediate representation: SSA values in structured regions.
 *
 * A function holds one region. A region has parameters, a list of operations, and ends in `yield`. Control flow is
 * nested: `if`, `loop`, `task` hold regions and have results; what a loop carries are region parameters. There is no
 * phi and no graph. All values are scalars (aggregates were split by lowering); larger arrays live behind SC_PTR values
 * made by `local`.
 *
 * A value may be used by any operation that comes later in its own region or in regions nested there (free use, no
 * capture list). Integers of subscripts, bounds and loop indices are SC_I64.
 *
 * Everything is allocated in the module's arena and never freed singly.
 */
#ifndef TKC_IR_H
#define TKC_IR_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/layout.h"
#include "ir/plane.h"
#include "util/arena.h"
#include "util/diag.h"
#include "util/intern.h"
#include "util/ptrmap.h"
#include "util/scalar.h"
#include "util/strbuf.h"
#include "util/vec.h"

typedef struct ir_value ir_value;
typedef struct ir_op ir_op;
typedef struct ir_region ir_region;
typedef struct ir_func ir_func;
typedef struct ir_module ir_module;
typedef struct ir_field ir_field;
typedef struct ir_mparam ir_mparam;
typedef struct ir_layout ir_layout;
typedef struct ir_struct ir_struct;
typedef struct ir_partials ir_partials; /* passes/derive/jacobian */

/* Pure scalar operations come from ops.def, the others from struct_ops.def; one enumeration, so that a switch sees all.
 */
typedef enum ir_opcode {
#define OP(id, ...) OP_##id,
#include "ir/ops.def"
#undef OP
    OP_PURE_COUNT,
    OP_FIRST_STRUCT = OP_PURE_COUNT - 1,
#define SOP(id, ...) OP_##id,
#include "ir/struct_ops.def"
#undef SOP
    OP_COUNT
} ir_opcode;

#include "ir/attr.h"

struct ir_value {
    scalar type;
    uint32_t id;       /* unique in its function */
    const char *name;  /* the user's name or NULL; a hint, not unique */
    ir_op *def;        /* defining operation, NULL for region parameters */
    ir_region *region; /* of which it is a parameter, or in which def stands */
    int index;         /* among def's results or region's parameters */
    bool exact;  /* a float that decides, or from which one is computed: the same bits wherever it is computed. By the
                    decisions pass */
    bool finite; /* by an operation of a function whose numbers are finite: a product with 0 is 0, and zeros have no
                    sign */
    src_loc loc;
};

struct ir_region {
    ir_op *parent; /* the operation that holds it, NULL for a function's body */
    ir_func *func;
    ir_value **params;
    int nparams;
    ir_op *first, *last; /* last is the yield once built */
};

/* What every walk reads stands in front, in one cache line or two: large functions do not fit the cache. */
struct ir_op {
    ir_opcode code;
    int nargs, nres, nregions;
    ir_op *next, *prev;
    ir_region *region; /* in which it stands */
    ir_value **args;
    ir_value **res;
    ir_region **regions;
    uint32_t pos; /* scratch of the running pass, which sets it first: a position in program order */
    src_loc loc;
    ir_op *origin; /* in derived code: the primal operation that it replays or pulls back, else NULL */
    ir_op *twin;   /* in derived code, of a load: one like it that was merged into it, with an origin of its own */
    void *attr;    /* ir_attr_...: by its accessor, below; NULL: of a kind that has none */
};

extern const unsigned char ir_attr_kinds[OP_COUNT]; /* ir_attr_kind, by opcode */
static inline ir_attr_kind ir_attr_kind_of(ir_opcode code)
{
    return (ir_attr_kind)ir_attr_kinds[code];
}

_Noreturn void ir_wrong_kind(const ir_op *op); /* an internal error */

#define KIND(id, name) \
    static inline ir_attr_##name *ir_##name##_attr(const ir_op *op) \
    { \
        if (ir_attr_kind_of(op->code) != IR_ATTR_##id) \
            ir_wrong_kind(op); \
        return op->attr; \
    }
IR_ATTRIBUTES(KIND)
#undef KIND

/* New ones for an operation; NULL: of a kind that has none. */
void *ir_attr_new(arena *mem, ir_opcode code);
/* The same attributes for `to`, which is of the same kind. */
void ir_copy_attr(ir_op *to, const ir_op *from);
/* Of any operation, NULL: it has none. */
static inline ir_field *ir_field_of(const ir_op *op)
{
    const ir_attr_kind kind = ir_attr_kind_of(op->code);
    return kind == IR_ATTR_ACCESS ? ir_access_attr(op)->field : kind == IR_ATTR_SHAPE ? ir_shape_attr(op)->field : NULL;
}
ir_layout *ir_layout_of(const ir_op *op);
void ir_set_layout(ir_op *op, ir_layout *l); /* of one that may have a layout */
ir_class ir_class_of(const ir_op *op);
void ir_set_class(ir_op *op, ir_class c); /* of one that may have a class */
const char *ir_class_text(ir_class c);
const char *ir_class_words(ir_class c); /* a sentence for whoever has not read the documentation */
const char *ir_no_lanes_text(ir_no_lanes why);
const char *ir_no_line_text(ir_no_line why);

const char *ir_scatter_reason_text(ir_scatter_reason w);
static inline ir_func *ir_callee_of(const ir_op *op)
{
    return ir_call_attr(op)->callee;
}

/* Saved values of one loop: a C struct, one element an iteration. Types are added while the reverse pass finds what it
 * needs. */
struct ir_layout {
    scalar *types;
    const char **names;
    int n;
    uint32_t id;
    bool log;     /* of a record: its member is many values, one after the other */
    bool winners; /* of a record: its member tells who set an element */
};

typedef enum ir_shape_kind { IR_SHAPE_SCALAR, IR_SHAPE_VEC, IR_SHAPE_MAT } ir_shape_kind;

/* A parameter of the module, fixed at creation or changed by set_params. */
struct ir_mparam {
    const char *name, *doc;
    scalar type;
    bool sizes; /* used in a field's extent: fixed at creation */
    double fdefault;
    int64_t idefault;
    src_loc loc;
    int index;
};

/* A struct of the program. To the IR its members are fields and values of their own; this is what its C type is made
 * of. */
typedef struct ir_member {
    const char *name;
    const ir_struct *structure; /* NULL: elem, shape, rows, cols */
    scalar elem;
    ir_shape_kind shape;
    int rows, cols;
} ir_member;

struct ir_struct {
    const ir_module *module;
    const char *name, *doc;
    ir_member *members;
    int nmembers;
    src_loc loc;
};

/* An extent of an array of the host: a parameter of its function, a param of the module, or a constant. */
typedef struct ir_extent {
    int param;         /* number of the parameter; -1: none */
    ir_mparam *mparam; /* NULL: none */
    int64_t count;     /* else this */
    ir_value *value;   /* of what is no parameter: in module->extents, to be compared with */
} ir_extent;

enum { IR_MAX_WIDTH = 1024 };

struct ir_field {
    const char *name, *doc; /* of a member: "p.link.pos" */
    scalar elem;            /* of one component */
    ir_shape_kind shape;
    int rows, cols;          /* vec: rows = n, cols = 1; mat: rows x cols, row-major; scalar 1 x 1 */
    int ndim;                /* 0 to 8 */
    union {                  /* the planes that were asked for */
        bool has[IR_PLANES]; /* without the data, which each field has */
        struct {
#define PLANE(id, name, ...) bool name;
            TK_PLANES(PLANE)
#undef PLANE
        };
    };
    bool saved;    /* a tape keeps what launches overwrite */
    bool scratch;  /* zero when a launch begins; adjoints make it anew */
    bool distinct; /* no two elements are the same number: launches whose loops rely on it look first */
    ir_field_layout layout;
    src_loc loc;
    bool array;    /* an array that the host gives to an export func or a kernel: behind all fields, memory of that
                      function alone */
    bool launched; /* of a kernel: during a launch, a field of the module object */
    bool in, out;  /* of an array: its values go in, come out */
    bool copied; /* of an `out` array of a kernel: the adjoint changes its gradient, and works on a copy; by the arrays
                    pass */
    ir_extent *dims;        /* of an array */
    const ir_field *beside; /* of an array: it holds the tangents, or sets of columns, of a plane of that field, by the
                               number of the component; NULL: none */
    ir_plane beside_plane;
    int index; /* in module->fields */
    /* a field of structs is a field for each member that is no struct, in order */
    ir_field *lead; /* the one of the first member, whose extents are everybody's; NULL: no field of structs */
    const ir_struct *structure; /* of its elements */
    const char *whole, *path;   /* the field's name, and the member's in it: "p", "link.pos" */
    int extent0;                /* its extents are the values extent0 .. extent0+ndim-1 yielded by module->extents */
    /* tangents, or gradients, in several directions are the data of a field of their own, behind those of the program:
     * its subscripts are those of the field, the component if there are several, the direction */
    int width[IR_PLANES];      /* by plane, the number of directions; 0: one, in the plane itself */
    ir_field *wide[IR_PLANES]; /* the field that is in the plane's place; reverse mode has the gradients in the plane
                                  still, until wide-grad */
    ir_field *wide_of;         /* of such a field: in whose place it is */
    ir_plane wide_plane;
};

static inline int ir_field_ncomp(const ir_field *f)
{
    return f->rows * f->cols;
}
static inline bool ir_field_has_tangents(const ir_field *f)
{
    return f->dual || f->wide[IR_DUAL];
}
/* Of a field in the place of a plane: the extent that no launch changes; 0: it is one of the field whose plane it is.
 */
static inline int ir_wide_extent(const ir_field *f, int dim)
{
    return !f->wide_of || dim < f->wide_of->ndim ? 0
           : dim == f->ndim - 1                  ? f->wide_of->width[f->wide_plane]
                                                 : ir_field_ncomp(f->wide_of);
}
/* Adds the fields in the place of f's planes, whose widths are set, to the module's. */
void ir_add_wide(ir_module *m, ir_field *f);
/* What of a user-visible type remains after splitting, for signatures: `components` scalars starting at the function's
 * parameter `first`. */
typedef struct ir_sigparam {
    const char *name;
    scalar elem;
    ir_shape_kind shape;
    int rows, cols;
    int first;
    bool grad;           /* needs_grad, of an export func wanted: the adjoint yields its gradient */
    bool no_dual;        /* of an export func: a float without tangent */
    ir_field *array;     /* an array of the host, which has no components: 0 x 0; NULL: none */
    const char *lost_in; /* the field without dual in which its tangent would be lost, or NULL */
    /* a struct is a parameter for each member that is no struct, in order; `name` is the struct's */
    const ir_struct *structure; /* NULL: none */
    const char *path;           /* "link.pos" */
    bool leads;                 /* the first of them, which stands for the whole */
    bool struct_grad;           /* the struct has a gradient */
} ir_sigparam;

typedef enum ir_func_kind {
    IR_FUNC,        /* a function of the module, reached by CALL */
    IR_KERNEL,      /* primal of a kernel, or of an export func (`pure`) */
    IR_KERNEL_GRAD, /* adjoint. Parameters: the primal's, then the gradients of its float results; yields the results,
                       then the gradients of the needs_grad parameters' components, in order */
    IR_KERNEL_JVP,  /* parameters: the primal's, then a tangent for each float one without no_dual, in order; results
                       alike */
    IR_KERNEL_HVP,  /* JVP of the adjoint, whose results all have tangents */
    IR_KERNEL_JAC /* of an export func. Parameters: the primal's (Hessian: the adjoint's). Yields what these yield, then
                     the entries of the matrix that its pattern has, row by row; of a Hessian, its lower triangle */
} ir_func_kind;

/* Blocks of a caller's workspace are multiples of this. */
enum { IR_WORKSPACE_ALIGN = 8 };

/* What differentiation knows of a function, and makes of it. */
typedef struct ir_ad {
    ir_request *requests; /* of a kernel: at most one of each kind (a derivative kernel: none) */
    int nrequests;
    bool derive_explicit;    /* by a derive(...) clause */
    bool no_grad;            /* "derivative zero, by intent" */
    bool results_separate;   /* of an export func: its gradient has results from the function itself; by the decisions
                                pass */
    const char *no_grad_why; /* why there is no adjoint (reads .grad, ...): message for TK_NO_DERIVATIVE; NULL if there
                                is one */
    const char *no_jvp_why;
    ir_func *primal; /* of a derived function */
    ir_func *grad, *jvp,
        *hvp;      /* of a primal kernel, once generated; jvp is the primal itself where there are no duals */
    ir_func *bent; /* of an export func whose hvp is by other inputs than its grad: the adjoint that the former is made
                      from, until it is */
    ir_func *curved;      /* the adjoint that its Hessian is made from, until it is */
    ir_func *jac, *hess;  /* of an export func; NULL: none was asked for, or it is made of columns of jvp, of hvp */
    const char *pattern;  /* of these: '1' for an entry that may not be zero, '0'; a blank behind each row */
    ir_elements elements; /* of a kernel with ROWS or BLOCKS */
    ir_func *elements_of; /* of a places or sweep: that kernel */
    const ir_partials *matrix[2];   /* Jacobian and Hessian as values, while func-grad runs */
    const ir_partials *partials;    /* of a function that is called, while Jacobians are made */
    ir_func *vjp, *fn_jvp, *replay; /* of functions, on demand. replay: without side effects */
    /* of functions whose derivatives a program asks for, f.grad(x), where memory counts as constant; passes/derive */
    ir_func *gradient;    /* of a function with one real result: by each float parameter */
    ir_func *gradient_of; /* of such a gradient, where it cannot be reversed itself */
    ir_func *along[3];    /* the derivative of the one result along tangents of the parameters: to be reversed; f.jvp(x,
                             dx);    columns of matrices have none */
    ir_func *args_vjp, *args_jvp[3];   /* like vjp and fn_jvp, of functions that these call */
    ir_func *custom_grad, *custom_jvp; /* marked grad_for, jvp_for this kernel or function by the program */
    ir_func *custom_of;                /* what this is marked grad_for or jvp_for */
    ir_func *spectral[2];              /* of a decomposition, U diag(s) V^T: that of g(s), ir/spectral.h */
    ir_func *with_locals; /* of an export func: what its gradient is made from, where that is not itself; not in the
                             module. passes/derive/arrays.c */
    ir_func *workspace; /* of a pure derivative that keeps values: bytes that its caller provides, from the parameters;
                           not in the module */
} ir_ad;

/* What has to be known of a kernel's launches. */
typedef struct ir_launch {
    bool *distinct; /* of a kernel of any kind, by field index: its loops rely on the elements of the field to differ;
                       NULL: of none. By the parallel pass */
    int records;    /* number of blocks that it keeps for its adjoint: old values of atomics, winners */
    /* the footprint, by the parts pass; before, of saved fields alone, by what the adjoint does to them */
    ir_part *parts;
    int nparts;
    bool from_before; /* the adjoint runs on the state before the launch, of all saved fields or of none */
    /* of the same parameters; yield lo, hi (i64) of each subscript, and of the components, part by part: of the parts
     * that are compared, which come first, and of the others; not in the module. Until the kernel is classed `bounds`
     * is of all parts */
    ir_func *bounds, *beside;
} ir_launch;

struct ir_func {
    ir_module *module;
    ir_func_kind kind;
    const char *name, *doc;
    ir_region *body; /* parameters: the components of the source parameters in order */
    scalar *results; /* types of the yielded values */
    int nresults;
    src_loc loc;
    uint32_t next_value; /* id of the next value */
    ir_ad ad;
    bool
        classed; /* each accumulation and atomic has a class, also what passes add from here on; by the parallel pass */
    bool no_inline; /* custom derivative or too large: stays a call */
    bool external;  /* a C function of the host, by this name; has sig and outs. The body is one EXTERN */
    bool called;    /* a kernel that other kernels call */
    bool prelude;   /* a built-in function: what is inlined of it counts as the caller's */
    /* kernels, and what else has a signature */
    ir_sigparam *sig;
    int nsig;
    ir_sigparam *outs; /* results, `first` counts among the yielded values */
    int nouts;
    bool pure;  /* an export func: a function of its arguments, called by the host without a module object */
    bool draws; /* random numbers */
    ir_launch launch;
};

/* Which derivatives it is to have: IR_DERIVE_*. */
static inline int ir_derives(const ir_func *f)
{
    int kinds = 0;
    for (int i = 0; i < f->ad.nrequests; i++)
        kinds |= f->ad.requests[i].kind;
    return kinds;
}
static inline const ir_request *ir_request_of(const ir_func *f, int kind) /* NULL: it is not asked for */
{
    for (int i = 0; i < f->ad.nrequests; i++)
        if (f->ad.requests[i].kind == kind)
            return &f->ad.requests[i];
    return NULL;
}

/* What its launches do to the data of a field, all parts together. */
static inline unsigned ir_touches(const ir_func *kernel, const ir_field *f)
{
    unsigned what = 0;
    for (int i = 0; i < kernel->launch.nparts; i++)
        if (kernel->launch.parts[i].field == f && kernel->launch.parts[i].plane == IR_DATA)
            what |= kernel->launch.parts[i].what;
    return what;
}

/* What the host launches with a module object. */
static inline bool ir_is_kernel(const ir_func *f)
{
    return f->kind == IR_KERNEL && !f->pure;
}
/* One that is not the program's: a part of a sparse matrix. */
static inline bool ir_is_hidden(const ir_func *f)
{
    return f->ad.elements_of != NULL;
}
/* A derivative of the program's own, or one of that. */
static inline bool ir_is_of_rule(const ir_func *f)
{
    while (f && !f->ad.custom_of)
        f = f->ad.primal;
    return f;
}
/* What the host calls without one. */
static inline bool ir_is_export(const ir_func *f)
{
    return f->kind == IR_KERNEL && f->pure;
}

/* What a pass may do in more than one way: where it is to do it. */
typedef enum ir_where { IR_WHERE_IT_PAYS, IR_WHEREVER_POSSIBLE, IR_NOWHERE } ir_where;

struct ir_module {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    const char *name;   /* prefix of everything generated */
    const char *source; /* path of the .tk file, for comments */
    scalar real;
    bool debug;               /* --debug */
    ir_where lanes;           /* parallel loops whose iterations run as lanes: passes/schedule/lanes/lanes.c */
    ir_where checkpoints;     /* loops that are swept from states: passes/derive/reverse/build/checkpoint.c */
    int64_t checkpoint_bytes; /* of all states of a loop; 0: of each trip (build/schedule.c) */
    strbuf *plans;            /* takes the plans of the adjoints as text; NULL: nobody reads them */
    VEC(ir_struct *) structs; /* members before those that hold them */
    VEC(ir_field *) fields;   /* then the arrays of kernels, then those of export funcs */
    size_t nfields;           /* without these */
    size_t narrays;           /* of kernels */
    VEC(ir_mparam *) params;
    VEC(ir_func *) funcs;            /* functions and kernels, derived ones included, in order of creation */
    VEC(ir_func *) externs;          /* the C functions that the host provides, called or not */
    ir_func *extents;                /* no parameters; yields every field's extents as i64 */
    VEC(src_loc) places;             /* --debug: of DECISION, by number */
    VEC(const ir_matrix *) matrices; /* Jacobians and Hessians, in order of creation; a value counts once per use */
    bool decides;                    /* floats steer, so that flags of C compilers which change them are refused */
    bool decided;                    /* behind the decisions pass: the verifier looks at exact values */
};

/* ---- storages: all planes of all fields, numbered ---- */

typedef size_t ir_storage; /* an index into what is kept for each storage of a module */

static inline size_t ir_storage_count(const ir_module *m)
{
    return m->fields.len * IR_PLANES;
}
static inline ir_storage ir_storage_of(const ir_field *f, ir_plane p)
{
    return (size_t)f->index * IR_PLANES + (size_t)p;
}
/* What a load, store, accumulation or atomic touches. */
static inline ir_storage ir_storage_of_op(const ir_op *op)
{
    return ir_storage_of(ir_access_attr(op)->field, ir_access_attr(op)->plane);
}
static inline ir_field *ir_storage_field(const ir_module *m, ir_storage s)
{
    return m->fields.at[s / IR_PLANES];
}
static inline ir_plane ir_storage_plane(ir_storage s)
{
    return (ir_plane)(s % IR_PLANES);
}

/* ---- builder (ir/build.c) ---- */

/* Where operations are inserted: before `before`, at the region's end when it is NULL. New values get `loc`. */
typedef struct ir_builder {
    ir_func *func;
    ir_region *region;
    ir_op *before;
    src_loc loc;
    ir_op *origin;
    bool exact;  /* new floats are exact */
    bool finite; /* new floats are of a function whose numbers are finite */
} ir_builder;

ir_module *ir_module_create(arena *mem, intern_pool *names, diag_sink *diag, const char *name);
/* Frees the lists; all else lives in the arena. */
void ir_module_destroy(ir_module *m);
ir_func *ir_func_create(ir_module *m, ir_func_kind kind, const char *name);
/* A region without parent: give it to an operation with ir_op_set_region, or it is a function's body. */
ir_region *ir_region_create(ir_func *f);
ir_value *ir_region_param(ir_region *r, scalar type, const char *name);
ir_value *ir_region_param_like(ir_region *r, const ir_value *v); /* with its name and place */
void ir_region_remove_param(ir_region *r, int i);

/* Makes an operation with room for its operands and results and inserts it. Result types are set by the caller in the
 * typed helpers below. */
ir_op *ir_insert(ir_builder *b, ir_opcode code, int nargs, ir_value *const *args, int nres, const scalar *res_types,
                 int nregions);
ir_value *ir_add_result(ir_op *op, scalar type); /* appends a result */
void ir_add_arg(ir_op *op, ir_value *v);         /* appends an operand */
void ir_remove_arg(ir_op *op, int i);
void ir_remove_result(ir_op *op, int i); /* must be unused */
void ir_set_region(ir_op *op, int i, ir_region *r);
void ir_remove(ir_op *op); /* unlinks; its results must be unused */
void ir_move(ir_op *op, ir_region *to, ir_op *before);

ir_value *ir_const_i(ir_builder *b, scalar type, int64_t x);
ir_value *ir_const_f(ir_builder *b, scalar type, double x);
ir_value *ir_zero(ir_builder *b, scalar type); /* of SC_PTR: the null buffer (emitted as NULL) */
static inline bool ir_is_const(const ir_value *v)
{
    return v->def && v->def->code == OP_CONST;
}
/* What a constant is. */
static inline int64_t ir_int(const ir_value *v)
{
    return ir_const_attr(v->def)->i;
}
static inline double ir_float(const ir_value *v)
{
    return ir_const_attr(v->def)->f;
}
/* Whether it is known which component a load, store, accumulation or atomic of a field means. A constant may lie
 * outside, in what is never run or must fail. */
bool ir_component_known(const ir_op *op);
/* x brought into the range of an integer type (or bool) by wrapping, as constants hold it. */
int64_t ir_wrap_int(scalar type, int64_t x);
/* A pure operation of ops.def; the result type follows from the table. Folds nothing. */
ir_value *ir_op1(ir_builder *b, ir_opcode code, ir_value *a);
ir_value *ir_op2(ir_builder *b, ir_opcode code, ir_value *a, ir_value *c);
ir_value *ir_op3(ir_builder *b, ir_opcode code, ir_value *a, ir_value *c, ir_value *d);
ir_value *ir_cast(ir_builder *b, scalar to, ir_value *a); /* returns a when the type is the same already */

ir_value *ir_key(ir_builder *b);
/* RANDOM or RANDN. */
ir_value *ir_random(ir_builder *b, ir_opcode code, scalar type, ir_value *key, ir_value *i, ir_value *j);

/* Memory: `idx` are ndim i64 subscripts, `comp` the i64 component (row-major), a constant for static access. */
ir_value *ir_load(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp);
ir_op *ir_store(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp, ir_value *v);
ir_op *ir_accum(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp, ir_value *v);
/* The element becomes old `with` v; the old value. */
ir_value *ir_atomic(ir_builder *b, ir_opcode with, ir_field *f, ir_value *const *idx, ir_value *comp, ir_value *v);
/* An ATOMIC's operands behind the value: none, or these many. */
enum { IR_ATOMIC_NUMBERED = 3, IR_ATOMIC_RECORDED = 4, IR_ATOMIC_WITH_TANGENT = 5 };
static inline int ir_atomic_form(const ir_op *op)
{
    return op->nargs - ir_access_attr(op)->field->ndim - 2;
}
bool ir_atomic_is_extreme(const ir_op *op); /* a minimum or maximum of floats */
/* One that stands as a statement. Its derivatives are those of a plain store by the execution that sets the element in
 * the end, the winner, and of nothing by the others. */
bool ir_atomic_has_winner(const ir_op *op);
/* Whether `value` sets an element of that value, as the atomic decides: a tie keeps it, a NaN never wins. */
ir_value *ir_atomic_sets(ir_builder *b, const ir_op *op, ir_value *value, ir_value *old);
ir_value *ir_shape(ir_builder *b, ir_field *f, int dim);
ir_value *ir_array_extent(const ir_func *f, const ir_field *array, int dim); /* only to be compared with */
/* Of a field: how many components all its elements have; the number among them of component idx[ndim] of element idx.
 */
ir_value *ir_component_count(ir_builder *b, ir_field *f);
ir_value *ir_component_number(ir_builder *b, ir_field *f, ir_value *const *idx);
ir_value *ir_mparam_value(ir_builder *b, ir_mparam *p);
ir_value *ir_local(ir_builder *b, scalar elem, int64_t count, const char *name); /* zero-initialised */
ir_value *ir_local_sized(ir_builder *b, scalar elem, ir_value *count,
                         const char *name);                  /* the count is a value that a launch does not change */
ir_value *ir_local_count(ir_builder *b, const ir_op *local); /* its operand, or a constant */
ir_value *ir_lload(ir_builder *b, ir_value *array, ir_value *idx);
ir_op *ir_lstore(ir_builder *b, ir_value *array, ir_value *idx, ir_value *v);
ir_op *ir_laccum(ir_builder *b, ir_value *array, ir_value *idx, ir_value *v);
ir_op *ir_yield(ir_builder *b, int n, ir_value *const *vals);

/* Structured operations: made with empty regions that the caller fills and ends with ir_yield. */
ir_op *ir_if(ir_builder *b, ir_value *cond, int nres, const scalar *types);
/* bounded: lo, hi given and body parameter 0 is the index; then the carried values. `cond`: regions[1] gets the carried
 * values as parameters. */
ir_op *ir_loop(ir_builder *b, ir_value *lo, ir_value *hi, bool cond, int ncarried, ir_value *const *init);
ir_op *ir_task(ir_builder *b, int ndim, ir_value *const *lo, ir_value *const *hi, int nred, const ir_reduction *reds,
               ir_value *const *init);
ir_op *ir_call(ir_builder *b, ir_func *callee, int nargs, ir_value *const *args);
void ir_adjoint(ir_builder *b, ir_func *kernel, int nargs, ir_value *const *args);
ir_op *ir_gradient(ir_builder *b, ir_func *f, int nargs, ir_value *const *args);
ir_value *ir_along(ir_builder *b, ir_func *f, int nargs, ir_value *const *args); /* tangents behind the others */
/* JACOBIAN or HESSIAN. */
ir_op *ir_func_matrix(ir_builder *b, ir_opcode code, ir_func *f, int nargs, ir_value *const *args);

/* One more carried value, behind the others: its parameter of the body, *result what comes out. The caller adds what
 * the body yields. */
ir_value *ir_loop_carry(ir_op *loop, ir_value *init, ir_value **result);
/* First carried operand of a loop (0 or 2), first carried body parameter (0 or 1), number of carried values. */
int ir_loop_first_init(const ir_op *loop);
int ir_loop_first_param(const ir_op *loop);
int ir_loop_ncarried(const ir_op *loop);
/* First init operand of a task: 2 * ndim. */
int ir_task_first_init(const ir_op *task);
/* Where the operands for the fixed subscripts of scatter target 0 begin. */
int ir_task_first_fixed(const ir_op *task);
/* Whether the order of a sum over the iterations counts: then chunks depend on extents alone, not on what else the task
 * does. */
bool ir_task_sum_decides(const ir_op *task);
ir_op *ir_yield_of(const ir_region *r);
const ir_op *ir_task_of(const ir_op *op);   /* the task around op, or op itself; NULL: none */
scalar ir_elem_type(const ir_value *array); /* element type of a LOCAL */

/* ---- walking and rewriting (ir/walk.c) ---- */

/* Calls fn on each operation of r and of nested regions, outer before inner, in order; fn may remove or replace the
 * operation given. */
void ir_walk(ir_region *r, void (*fn)(ir_op *op, void *ctx), void *ctx);
/* Whether an operation in the region, at any depth, is so. */
bool ir_has(const ir_region *r, bool (*is)(const ir_op *op));
/* Adds f and all functions that it calls, or whose derivatives it asks for. */
void ir_reach(ptrmap *reached, ir_func *f);
/* GRADIENT, ALONG, JACOBIAN, HESSIAN. */
bool ir_is_func_derivative(const ir_op *op);
/* Of derived code, the operation of the primal that op replays or pulls back; NULL: none. */
ir_op *ir_root_of(const ir_op *op);
/* Of a STORE, ACCUM or ATOMIC of a field. */
ir_value *ir_stored_value(const ir_op *op);
/* f is no derivative of anything any more. */
void ir_forget_origins(ir_func *f);
/* Replaces every use of `from` inside r and nested regions by the same value. */
void ir_replace_uses(ir_region *r, ir_value *from, ir_value *to);
/* Uses counted over a whole function: array indexed by value id, freed by the caller. */
uint32_t *ir_count_uses(const ir_func *f);

/* Values get their ids in program order. */
void ir_renumber(ir_func *f);
bool ir_region_is_ancestor(const ir_region *outer, const ir_region *inner); /* reflexive */
/* True if v may be used at the end of region r (defined there or in an enclosing region). */
bool ir_is_visible(const ir_value *v, const ir_region *r);
/* The parameters, results and memory of op without its regions: no effect when unused (pure, load, shape, const, ...).
 */
bool ir_op_is_pure(const ir_op *op);
bool ir_op_has_effect(
    const ir_op *op); /* store, accum, print, assert, task or call with effects inside: may not be dropped */
bool ir_op_reads_memory(const ir_op *op); /* or callees and regions of op do */

/* Value map for cloning: old id -> new value, in one function or between two. The new value is the old one's: exact if
 * that is. */
typedef struct ir_map {
    ir_value **at; /* indexed by old id */
    uint32_t n;
} ir_map;
ir_map ir_map_create(const ir_func *from);
void ir_map_set(ir_map *m, const ir_value *from, ir_value *to);
void ir_map_set_other(ir_map *m, const ir_value *from, ir_value *to); /* to is another value than from's: its tangent */
ir_value *ir_map_get(const ir_map *m, const ir_value *from);          /* NULL if unset */
void ir_map_free(ir_map *m);
/* A part of a region to be cloned, with other operands. All but the map may be NULL. */
typedef struct ir_slice {
    ir_map *map; /* takes what is cloned */
    void *ctx;
    bool (*has)(const ir_op *op, void *ctx); /* whether op belongs to the part; NULL: all do */
    /* Whether the clone of a loop carries what the loop carries as number k, and of an `if` has the result k. */
    bool (*has_result)(const ir_op *op, int k, void *ctx);
    ir_value *(*outside)(const ir_value *v, void *ctx); /* v, which the map has not, for the clone; NULL: v itself */
    /* Does at b, in place of a clone, what takes the place of op, if anything; false: op is to be cloned. */
    bool (*instead)(ir_builder *b, const ir_op *op, void *ctx);
} ir_slice;
/* Clones the operations of r that the slice has at b, without the yield of r. Sets origin to them (or their origin). */
void ir_clone_slice(ir_builder *b, const ir_region *r, const ir_slice *s);
/* One operation of it, with its regions. */
ir_op *ir_clone_in_slice(ir_builder *b, const ir_op *op, const ir_slice *s);
/* Clones op (with regions) at b; operands through the map (identity when unset); results are added to the map. Sets
 * origin to op (or op's origin). */
ir_op *ir_clone_op(ir_builder *b, const ir_op *op, ir_map *map);
/* v once more, with all that it is computed from: constants, params, extents and pure operations of them. Region
 * parameters through the map. */
ir_value *ir_clone_value(ir_builder *b, const ir_value *v, ir_map *map);
/* Whether v, which is used inside op, can be had in front of it: it is visible there, or follows by pure operations
 * from what is, and from what a launch does not change. */
bool ir_can_leave(const ir_value *v, const ir_op *op);
/* Such a value at b, in front of op: itself where it is visible, else made once more; the map remembers what was. */
ir_value *ir_value_before(ir_builder *b, ir_value *v, ir_map *map);
/* Clones the operations of r, without its yield, at b. */
void ir_clone_region_ops(ir_builder *b, const ir_region *r, ir_map *map);
ir_func *ir_clone_func(const ir_func *f, const char *name);
/* A function of of's parameters that does nothing but call `called`; seeded: with 1 behind them. */
ir_func *ir_func_that_calls(ir_func *of, ir_func *called, bool seeded);
/* Replaces every use in f of a value that the map has an entry for, following chains, in one sweep. */
void ir_rewrite_uses(ir_func *f, ir_map *map);

/* ---- verifier ---- */

/* What can be gone for good behind a pass. */
typedef enum ir_gone {
    IR_GONE_OLD = 1,        /* questions whether an old value is recorded, and who won: OLD, WON */
    IR_GONE_ADJOINT = 2,    /* launches of adjoints */
    IR_GONE_STOP = 4,       /* what only derivatives look at: STOP, SLOPE, LEG, ROOT */
    IR_GONE_NARROW_SUM = 8, /* sums of f32 over a task */
    IR_GONE_FLAT_TASK = 16, /* tasks without row segments, but for those that --debug leaves so */
    IR_GONE_SIZED = 32,     /* local arrays of sizes known at run time on C's stack */
    IR_GONE_GRADIENT = 64   /* gradients and JVPs of functions that are not functions yet */
} ir_gone;
/* ir_verify, and that there is none of what is gone (a set of these). */
bool ir_verify_gone(const ir_func *f, const char *after_pass, unsigned gone);
/* Checks structure and types; on a fault prints it with the pass's name (NULL: it was read so) to stderr and returns
 * false. */
bool ir_verify(const ir_func *f, const char *after_pass);

#endif
