/* The planes of a field, from the table that libtkc has as well, and parts of planes. */
#ifndef TKC_PLANE_H
#define TKC_PLANE_H

#include <stdbool.h>

#include "tkc/tkc_planes.h"
#include "util/arena.h"
#include "util/diag.h"
#include "util/scalar.h"

/* Which of a field's storages a memory operation touches. */
typedef enum ir_plane {
#define PLANE(id, ...) IR_##id,
    TK_PLANES(PLANE)
#undef PLANE
        IR_PLANES
} ir_plane;

/* The columns of tkc_planes.h. */
typedef struct ir_plane_info {
    const char *name, *text, *words, *attribute, *note;
    const char *constant, *flag, *tail; /* "TK_GRAD", "TK_FIELD_GRAD", "_grad" */
    unsigned derived;
    bool bound;
} ir_plane_info;
const ir_plane_info *ir_plane_get(ir_plane p);

/* What stands behind a field's name: "", ".grad". */
static inline const char *ir_plane_text(ir_plane p)
{
    return ir_plane_get(p)->text;
}
/* Adjoints, and their tangents; tangents of data and of adjoints. */
static inline bool ir_plane_is_adjoint(ir_plane p)
{
    return (ir_plane_get(p)->derived & TK_OF_ADJOINT) != 0;
}
static inline bool ir_plane_is_tangent(ir_plane p)
{
    return (ir_plane_get(p)->derived & TK_OF_TANGENT) != 0;
}
/* The plane of the adjoints, or tangents, of the numbers in p, which is none of these itself. */
ir_plane ir_adjoint_of(ir_plane p);
ir_plane ir_tangent_of(ir_plane p);
/* The plane that the attribute asks for; IR_PLANES: none. */
ir_plane ir_plane_asked(const char *attribute);
/* The plane that programs call so, x.grad; IR_PLANES: none. */
ir_plane ir_plane_named(const char *name);

/* ---- derivatives that a program asks for ---- */

typedef struct ir_field ir_field;
typedef struct ir_func ir_func;

/* ROWS, BLOCKS: the sparse Jacobian and Hessian of a kernel by a field. */
enum {
    IR_DERIVE_GRAD = 1,
    IR_DERIVE_JVP = 2,
    IR_DERIVE_HVP = 4,
    IR_DERIVE_JAC = 8,
    IR_DERIVE_HESS = 16,
    IR_DERIVE_ROWS = 32,
    IR_DERIVE_BLOCKS = 64
};

/* The columns of a kernel's matrix: the components of fields, one field after the other. */
typedef struct ir_columns {
    ir_field **at;
    int n;
} ir_columns;

bool ir_columns_have(const ir_columns *c, const ir_field *f);
bool ir_columns_have_grad(const ir_columns *c); /* some of them */
/* Components of the largest blocks that divide each element; the widest type. */
int ir_columns_block(const ir_columns *c);
scalar ir_columns_type(const ir_columns *c);
const char *ir_columns_names(arena *mem, const ir_columns *c, const char *between);

/* A derivative that a kernel or export func is to have. */
typedef struct ir_request {
    int kind;    /* IR_DERIVE_* */
    int *inputs; /* of an export func: numbers of the parameters in its signature by which it is, in the order of the
                    program, a struct's one after the other; NULL: by all floats */
    int ninputs;
    ir_columns by; /* of ROWS and BLOCKS */
} ir_request;

/* Of the values of a kernel's matrix. */
scalar ir_matrix_type(const ir_func *k, const ir_request *r);

/* What the host calls for the sparse matrix of a kernel's elements, the iterations of its parallel loops. */
typedef struct ir_elements {
    ir_func *places; /* kernel that stores the numbers of the vertices of each element, `arity` of them */
    ir_func *sweep;  /* kernel that adds value, gradient and blocks */
    int arity;
    ir_field *to; /* energy, or residual */
    bool replays; /* the sweep leaves data of fields unspecified, and does not run the kernel */
} ir_elements;

/* How a Jacobian or Hessian is made: what --explain says. */
typedef struct ir_matrix {
    const ir_func *of;        /* function or kernel of the program */
    int kind;                 /* IR_DERIVE_JAC and so on */
    src_loc at;               /* a value: its use; an element: its parallel loop; else that of the function */
    bool value;               /* f.jacobian(x), f.hessian(x) */
    int rows, cols, entries;  /* entries: not zero by structure */
    int vertices;             /* of an element */
    const ir_func *line;      /* the straight line; NULL: column by column */
    int64_t operations;       /* of the line, which may be too long; 0: there is none */
    int64_t shared;           /* of these: several results or entries follow from them */
    int64_t forward, reverse; /* operations of a sweep over the vertices that elimination leaves */
    const char *why;          /* why column by column */
    src_loc why_at;           /* line 0: nowhere */
} ir_matrix;

/* Flags of a part, by their names in libtkc (TK_READS, ..., tkc_gen.h) and in printed IR. The first three are OP_READS,
 * OP_STORES and OP_ADDS. */
#define IR_PART_FLAGS(X) \
    X(READS, "reads") \
    X(STORES, "stores") \
    X(ACCUMULATES, "adds") \
    X(NEEDED, "needed") \
    X(NEEDED_BY_PRODUCT, "product") \
    X(ALL, "all") \
    X(PERHAPS, "perhaps") \
    X(CUSTOM, "custom") \
    X(SAVED, "saved") \
    X(BEFORE_WANTED, "wanted") \
    X(BEFORE_REPLAYED, "replayed") \
    X(MARKED, "marked") \
    X(REPLACES, "replaces")
#define IR_PART_BIT_(id, word) IR_PART_BIT_##id,
#define IR_PART_FLAG_(id, word) IR_PART_##id = 1 << IR_PART_BIT_##id,
enum { IR_PART_FLAGS(IR_PART_BIT_) IR_PART_BITS };
enum { IR_PART_FLAGS(IR_PART_FLAG_) IR_PART_WRITES = IR_PART_STORES | IR_PART_ACCUMULATES };
#undef IR_PART_BIT_
#undef IR_PART_FLAG_

/* A part of a field that launches of a kernel touch: a row of their footprint. */
typedef struct ir_part {
    ir_field *field;
    ir_plane plane;
    unsigned what;   /* IR_PART_* */
    bool compared;   /* by tapes, from launch to launch */
    int first, last; /* components */
} ir_part;

#endif
