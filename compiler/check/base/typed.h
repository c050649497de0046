/* The typed tree: what checking leaves to lowering. Everything is resolved here:
 * names are pointers, conversions are explicit casts, methods are calls, constants are folded, generic functions are
 * instantiated, `static for` and `static if` are unrolled, swizzles are component lists, `for i in field` is a range,
 * built-ins are operations, a struct is its leaves (members that are no structs): so many locals, fields, parameters
 * and results; prelude functions are ordinary functions. What is not in issue scope was refused. Lowering can be dumb.
 */
#ifndef TKC_TYPED_H
#define TKC_TYPED_H

#include "check/base/types.h"
#include "ir/ir.h"
#include "syntax/ast.h"
#include "util/vec.h"

typedef struct tx_expr tx_expr;
typedef struct tx_stmt tx_stmt;
typedef struct tx_local tx_local;
typedef struct tx_func tx_func;
typedef struct tx_module tx_module;

/* A local: let, var, parameter or loop index. Indices of range loops are locals of their declared type (i32 unless a
 * bound is i64). */
struct tx_local {
    const char *name;
    const ty *type; /* TY_ARRAY for local arrays */
    src_loc loc;
    int index;         /* unique in its function */
    tx_expr **extents; /* local arrays of which one is not constant: i64 expressions of params and constants */
    bool mutable_;
    bool by_ref;           /* parameter: the caller's array */
    bool needs_grad;       /* parameter of a kernel, or by which a gradient of an export func is */
    bool no_dual;          /* float parameter of an export func without tangent */
    const tx_local *whole; /* of a parameter that is a struct, which this is leaf number `leaf` of */
    int leaf;
    ir_field *array; /* parameter that is an array of the host */
    void *lowered;   /* scratch of lowering */
};

typedef enum tx_expr_kind {
    TX_CONST,  /* cval: type is scalar; aggregates are TX_BUILD of constants */
    TX_LOCAL,  /* local, whole value */
    TX_MPARAM, /* mparam */
    TX_SHAPE,  /* field, dim: type i32 unless compared with i64 (checker casts); value is i64, cast explicit */
    TX_LOAD,   /* field, plane, args = subscripts (i64 scalars), type = element type of the field */
    TX_OP, /* opcode of ops.def; args all of the result's shape or scalars (scalars broadcast); component types already
              equal */
    TX_CAST,    /* a: component-wise to type's elem (same shape) */
    TX_BUILD,   /* args: scalars, one per component, row-major */
    TX_GROUP,   /* a struct: args are its leaves */
    TX_EXTRACT, /* a, comps[ncomps]: static components; type scalar or vector (a row, a swizzle) */
    TX_INDEX,   /* a (aggregate), args[0]: dynamic i64 component index in row-major order; type scalar */
    TX_WITHIN,  /* a: a dynamic subscript, i64, of a vector or matrix; --debug looks whether it is below ncomps. text:
                   what it is */
    TX_ELEMENT, /* local array element: local, args = i64 subscripts */
    TX_MATMUL,  /* a @ b: mat@mat, mat@vec, vec@mat; component types equal */
    TX_COND,    /* a ? b : c, lazily */
    TX_LAND,
    TX_LOR,    /* a && b, a || b, lazily; bool scalars */
    TX_CALL,   /* callee, args; type may be a tuple (only as value of a multi-name let), a struct, or void */
    TX_ATOMIC, /* field, args = subs, comps[0] or dyn (a component), opcode, b = value: the element's old value; type of
                  the element's component */
    TX_RANDOM, /* opcode RANDOM or RANDN, site; BELOW: an integer, args = bounds of its type */
    TX_LET /* locals[nlocals] = a, then the value is b: a subexpression that is used several times (locals are immutable
            * and occur in b only); several for a struct. GROUP, COND, CALL and LET are the only kinds of a struct, and
            * occur as value of DECL and LET only */
} tx_expr_kind;

struct tx_expr {
    tx_expr_kind kind;
    const ty *type;
    src_loc loc;
    union {
        int64_t i;
        double f;
    } cval;       /* CONST: .f for floats, .i for bool and integers */
    bool literal; /* CONST: a float literal, or one with a sign, whose type is open: */
    float single; /* what it is as f32, rounded once */
    tx_local *local;
    tx_local **locals;
    int nlocals;
    ir_mparam *mparam;
    ir_field *field;
    ir_plane plane;
    bool no_grad; /* LOAD under stop_grad(field) */
    int dim;
    ir_opcode opcode;
    tx_expr *a, *b, *c;
    tx_expr **args;
    int nargs;
    int *comps;
    int ncomps;
    const char *text;
    tx_func *callee;
    bool adjoint;           /* CALL: the adjoint of the kernel runs */
    bool gradient;          /* CALL: the gradient of the function, by each real parameter */
    bool jacobian, hessian; /* CALL: the blocks of that matrix, TX type: one for each real parameter, for each pair */
    bool along;     /* CALL: its derivative along tangents of the real parameters, which stand behind all of them */
    bool discarded; /* ATOMIC: a statement, nobody sees the old value */
    int site;       /* RANDOM, and CALL of a function that draws: its number in the function, from 1 */
};

typedef enum tx_stmt_kind {
#define TX(id, flow) TX_##id,
#include "check/base/stmts.def"
#undef TX
} tx_stmt_kind;

typedef enum tx_flow { TX_GOES_ON, TX_HOLDS, TX_LEAVES } tx_flow;
tx_flow tx_flow_of(const tx_stmt *s); /* tree.c */

/* A variable w of the kernel that keeps the least or greatest value of a parallel loop, and the variables that keep
 * what belongs to it: if e > w { w = e; k = i; } */
typedef struct tx_winner {
    tx_local *value;
    tx_local *taken; /* a tie replaces: a bool for whether something did; else NULL */
    tx_local **companions;
    int ncompanions;
} tx_winner;

struct tx_stmt {
    tx_stmt_kind kind;
    src_loc loc;
    tx_local **locals;
    int nlocals;
    tx_expr *value, *cond, *limit;
    tx_expr **values;
    int nvalues;
    tx_local *local;
    ir_field *field;
    ir_plane plane;
    tx_expr **subs;
    int nsubs;
    int *comps; /* NULL: all */
    int ncomps;
    tx_expr *dyn; /* dynamic component index (i64) or NULL; with comps: components dyn + comps[k] */
    ir_reduce red;
    const tx_winner *winner; /* of a reduction that replaces */
    tx_local **indices;
    tx_expr **lo, **hi;
    int64_t *steps; /* NULL: all 1 */
    int ndim;
    bool parallel, independent; /* its iterations never meet, says the program */
    const char *text;
    bool derivative;           /* an assertion of the prelude: there is a derivative */
    tx_stmt *body, *else_body; /* lists through next */
    tx_stmt *next;
    void *scan; /* scratch of lowering */
};

/* A field whose data a function reads where they have a derivative, itself or in what it calls. */
typedef struct tx_read {
    const ir_field *field;
    src_loc loc;
    struct tx_read *next;
} tx_read;

/* A derivative that a kernel or export func is to have. */
typedef struct tx_request {
    int kind; /* IR_DERIVE_* */
    src_span at;
    bool listed; /* it names its inputs: */
    const ast_expr *list;
    const char **inputs; /* parameters by which it is, in the order of the list; NULL: by all floats */
    int ninputs;
    ir_columns by; /* of ROWS and BLOCKS, which kernels have */
} tx_request;

struct tx_func {
    const char *name; /* unique: instances of generics are numbered f_1, f_2 */
    const char *doc;
    bool is_kernel;
    bool exported; /* export func: emitted for the host */
    bool external; /* extern func: a C function of the host, without a body */
    bool called;   /* by a function or kernel of the module */
    bool at_call;  /* a kernel as it is for arrays that its caller gives: never on its own */
    bool prelude;  /* a built-in function */
    src_loc loc;
    tx_local **params;
    int nparams;
    const ty *declared, *result; /* TY_VOID, one type, or TY_TUPLE; result is flat */
    tx_stmt *body;
    int nlocals;
    tx_request *requests; /* of kernels and export funcs, at most one of each kind */
    int nrequests;
    bool derive_explicit, no_grad;
    bool finite;                       /* its numbers are */
    bool in_place;                     /* refers to arrays of the host, which belong to its caller */
    bool atomics;                      /* uses old values of atomics, itself or what it calls */
    tx_read *reads;                    /* one of each field */
    int nsites;                        /* places where random numbers are drawn, by itself or by what it calls */
    tx_func *custom_grad, *custom_jvp; /* what is marked grad_for, jvp_for this one; NULL if nothing is */
    tx_func *spectral[2]; /* of a decomposition U diag(s) V^T: spectral_of for its types and functions of all values,
                             and of one number; NULL: it is none, or nothing is multiplied */
    bool of_func;         /* a built-in function that applies a function */
    bool opened;          /* a built-in function that is expanded where it is called: what its result is made of stays
                             known there */
    ir_func *lowered;     /* scratch of lowering */
    void *scan;           /* scratch of lowering */
    tx_func *next;
};

/* Which derivatives it is to have: IR_DERIVE_*. */
static inline int tx_derives(const tx_func *f)
{
    int kinds = 0;
    for (int i = 0; i < f->nrequests; i++)
        kinds |= f->requests[i].kind;
    return kinds;
}

struct tx_module {
    ir_module *ir;     /* fields and params are created by the checker; functions by lowering */
    tx_func *funcs;    /* functions and kernels, callees before callers */
    tx_expr **extents; /* i64 expressions over params and constants: all fields' extents in field order */
    int nextents;
    ty_pool *types;
};

/* A name where the program says it. */
typedef struct check_use {
    src_span at, declared;   /* the same: it is declared here. declared.begin.line == 0: built in */
    const char *name, *what; /* what: "a field", "a 'let'" */
    const char *id;          /* of an item: its name in the IR */
    const ast_item *item;    /* of what is declared at module level, else NULL */
    const ty *type;          /* NULL: it has none, or none is known */
    const ty *of;            /* of a member: the struct, or the vector whose component it is; else NULL */
    const long *extents;     /* of a field: -1 where params decide; NULL: it has none */
    bool planes[2];          /* of a field: it has gradients, duals */
    const void *sym;         /* the checker's; scratch */
} check_use;

/* An expression. */
typedef struct check_typed {
    src_span at;
    const ty *type;
} check_typed;

/* What an editor asks for: it is there, as far as it is known, after errors as well. Of a function that is checked
 * several times each of them tells. To be freed with check_log_free. */
typedef struct check_log {
    VEC(check_use) uses;
    VEC(check_typed) exprs;
    ty_pool *types;
} check_log;
void check_log_free(check_log *log);

typedef struct check_options {
    check_log *log;             /* NULL: nobody asks */
    scalar real;                /* SC_F32 or SC_F64 */
    const char *const *defines; /* NAME=VALUE */
    int ndefines;
    bool shadow;     /* -Wshadow */
    bool no_runtime; /* --no-runtime: export funcs and what they call, nothing else */
    bool finite;     /* --finite: the numbers of all functions are */
} check_options;

/* Checks a module; NULL after errors (all reported). `ir` is filled with fields and params. */
tx_module *check_module(arena *mem, intern_pool *names, diag_sink *d, const ast_module *ast, ir_module *ir,
                        const check_options *opt);

#endif
