/* Computed matrices, internal to this folder: of kernels whose iterations are no elements. Two kernels are made. One
 * carries sets of columns through the program: 64 of them, a bit each, and yields which rows follow from them. The
 * other is a forward product. libtkc colours the columns of the pattern, and runs the product once a colour. */
#ifndef TKC_COMPUTED_INT_H
#define TKC_COMPUTED_INT_H

#include "passes/analysis/analysis.h"

/* What a value is computed from. Sets follow integers as they are today. A value that depends on floats, or on what the
 * program writes, does not exist while sets are carried. Both branches of a condition on it count. */
enum { FROM_INTEGERS, FROM_FLOATS };

/* What passes through a slot of saved values. */
typedef struct computed_slot {
    const ir_layout *layout;
    int64_t number;
    int level;
    bool varied;
} computed_slot;

typedef struct computed {
    ir_func *from; /* a copy of the kernel; of a Hessian, its adjoint behind it, or alone */
    bool replays;  /* the adjoint stands alone, on what the kernel finds in fields */
    bool hessian;  /* the Jacobian of the gradient */
    const ir_columns *by;
    ir_field *to;         /* the residuals, or the energy */
    ir_storage *out;      /* the memory of the rows */
    int nout;             /* 0: not known yet */
    bool *active;         /* by ir_storage: it depends on the columns */
    bool *written;        /* by ir_storage */
    bool *held;           /* by ir_storage: a gradient that its field has no plane for; arrays hold it. NULL: none */
    bool *varied;         /* by value: a float, or an array of floats, that depends on the columns */
    unsigned char *level; /* by value */
    bool *collapsed;      /* by value: an array whose elements share one set */
    VEC(computed_slot) slots;
    const char *why; /* it has no such matrix; NULL: it has */
    src_loc at;
} computed;

/* Finds out all of it. Sets why and at. adjoint: c->from has its adjoint behind it, and `to` is known. */
void computed_follow(computed *c, bool adjoint);
/* Of a Hessian that is followed: the energy. Then appends the adjoint. Sets why and at. */
void computed_append_adjoint(computed *c);
void computed_refuse(computed *c, src_loc at, const char *format, const char *name);
bool computed_is_row(const computed *c, ir_storage at);
computed_slot *computed_slot_of(computed *c, const ir_layout *l, int64_t number);
void computed_free(computed *c);
/* Arrays that hold gradients, by ir_storage; behind them, arrays, one for each active memory, in order, those of rows
 * last, behind the parameters of f: of sets, or of tangents. By ir_storage. */
ir_field **computed_arrays(const computed *c, ir_func *f, bool of_sets, ir_field **holders);
/* The kernel that carries sets: a new function in the module. */
ir_func *computed_sets(computed *c, const char *name);
/* The kernel of the product. */
ir_func *computed_product(computed *c, const char *name);

/* ---- the builder of sets ---- */

/* A layout of saved values with room for sets. */
typedef struct sets_layout {
    const ir_layout *from;
    ir_layout *to;
    int *set; /* slot -> slot of its set, or -1 */
} sets_layout;

typedef struct sets sets;
struct sets {
    computed *c;
    ir_func *out;
    ir_map val, set;   /* value -> its clone; its set, if it is varied (unset: empty) */
    ir_field **memory; /* by ir_storage: the array of sets; NULL: none */
    VEC(sets_layout) layouts;
    bool maybe; /* it is not known whether the program comes here: nothing is taken from a set */
    void (*region)(sets *s, ir_builder *b, const ir_region *r); /* at b, without a yield */
};

static inline bool sets_has_value(const sets *s, const ir_value *v)
{
    return s->c->level[v->id] < FROM_FLOATS;
}
static inline ir_value *sets_value(const sets *s, const ir_value *v)
{
    ir_value *here = ir_map_get(&s->val, v);
    assert(here);
    return here;
}
static inline ir_value *sets_set(const sets *s, ir_builder *b, const ir_value *v)
{
    ir_value *here = ir_map_get(&s->set, v);
    return here ? here : ir_const_i(b, SC_I64, 0);
}
static inline bool sets_is_varied(const sets *s, const ir_value *v)
{
    return scalar_is_float(v->type) && s->c->varied[v->id];
}
/* NULL counts as the empty set. */
static inline ir_value *sets_union(ir_builder *b, ir_value *x, ir_value *y)
{
    return !x ? y : !y || x == y ? x : ir_op2(b, OP_OR, x, y);
}

void sets_stack(sets *s, ir_builder *b, const ir_op *op);
void sets_if(sets *s, ir_builder *b, const ir_op *op);
void sets_loop(sets *s, ir_builder *b, const ir_op *op);
void sets_task(sets *s, ir_builder *b, const ir_op *op);

#endif
