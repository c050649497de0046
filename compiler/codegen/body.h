/* What the body of a C function takes from its module, as data, before any of it is printed: planes, extents, strides,
 * params, the key of random numbers. */
#ifndef TKC_CODEGEN_BODY_H
#define TKC_CODEGEN_BODY_H

#include "codegen/facts.h"
#include "codegen/uses.h"
#include "util/vec.h"

/* By the body itself, but for by_callee and callee_writes. */
typedef struct plane_use {
    bool listed;      /* in body_plan.touched */
    bool flat;        /* the number of a component is not constant */
    bool read;        /* an element is loaded */
    bool plain_accum; /* an element is added to by one iteration alone */
    bool written;     /* one is stored; behind the scan, where there is no scatter, or added to */
    bool scatter;     /* additions of several iterations go through a pointer that the function is given */
    bool by_callee;   /* functions that it calls load, store or add */
    bool callee_writes;
    bool pointer;           /* the pointer to the plane is used; where `same` has it, that one's */
    bool target;            /* the pointer of the scatter is used */
    bool separate;          /* both are needed, and may differ: additions may go to a private copy */
    bool hoisted;           /* the pointer is taken from the module */
    bool unique;            /* no other pointer of the function, or of those that it calls, goes to the same memory */
    unsigned strides;       /* that are used: a bit for each dimension */
    struct plane_use *same; /* one whose pointer serves for this one, too */
} plane_use;

typedef struct body_plan {
    plane_use *planes;       /* by ir_storage */
    VEC(ir_storage) touched; /* those that are used, in the order of the program */
    VEC(int) params;         /* of the module: those whose operations stand in the body, in the order of the program */
    bool *param_read;        /* by number: it is read, wherever its operation stands */
    bool *extent_read;       /* by 8 * field + dimension, of structs that of the first member */
    bool key_read;           /* where random numbers start */
    bool tasks;              /* tasks in it have pointers of their own to the same memory */
} body_plan;

typedef enum body_kind {
    BODY_FUNC,   /* of a function, or of a task */
    BODY_KERNEL, /* of a kernel: functions that it calls outside of tasks add to the fields */
    BODY_EXTENTS /* computes extents of fields: nothing in it is watched */
} body_kind;

/* steps: C compilers are not to know at which steps accesses stand that say so. */
body_plan plan_body(facts *x, const value_use *use, const ir_region *r, body_kind kind, bool steps);
void body_plan_free(body_plan *p);
/* Something beside the body reads v as well. */
void body_reads(body_plan *p, const ir_value *v);

/* With --debug libtkc is told the element of such an access: all of the program, and what derivatives write. */
bool access_is_watched(const ir_op *op);

#endif
