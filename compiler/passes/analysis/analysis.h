/* What passes know of a program before they change it: subscripts, memory, activity, exactness, ranges. Nothing here
 * changes the IR but for the marks of decisions. */
#ifndef TKC_PASSES_ANALYSIS_H
#define TKC_PASSES_ANALYSIS_H

#include "ir/ir.h"

/* What is varied (depends on an active input) and useful (reaches an active output) in one function: bit arrays indexed
 * by value id. */
typedef struct activity {
    bool *varied, *useful;
    uint32_t n;
} activity;
typedef enum activity_mode { ACTIVITY_REVERSE, ACTIVITY_FORWARD } activity_mode;

activity activity_compute(const ir_func *f, activity_mode mode);
/* Of a function by its parameters alone, or those that are wanted: memory counts as constant. */
activity activity_of_params(const ir_func *f, const bool *wanted);
/* By the active memory alone, by ir_storage. */
activity activity_of_memory(const ir_func *f, const bool *storage);
void activity_free(activity *a);
static inline bool activity_has(const activity *a, const ir_value *v)
{
    return v->id < a->n && a->varied[v->id] && a->useful[v->id];
}

/* Marks the floats that decide, and those that they are computed from, as exact. The second run takes the mark from
 * values of adjoints that decide nothing there. passes/analysis/decisions.c */
bool pass_decisions(ir_module *m);

/* Of a derivative, made after that: what it hands to functions that decide by it is exact, too. Nothing before. */
void decide_handed_on(ir_func *f);

/* Whether exact results would keep a loop of the export func f from being vectorised.
 * passes/analysis/exact_results_cost.c */
bool exact_results_are_costly(const ir_func *f);

/* Adjoints of kernels and functions, their JVPs, Jacobians: derived values, which need not be the same to the last bit
 * everywhere. */
static inline bool is_adjoint(const ir_func *f)
{
    return f->kind == IR_KERNEL_GRAD || f->kind == IR_KERNEL_HVP || f->kind == IR_KERNEL_JAC ||
           (f->kind == IR_FUNC && f->ad.primal && f->ad.primal->ad.vjp == f);
}

/* Whether an adjoint may have to keep what the element held before a write: data of a saved field, or of an array that
 * comes out. */
static inline bool adjoints_keep(const ir_op *access)
{
    const ir_field *f = ir_field_of(access);
    return ir_access_attr(access)->plane == IR_DATA && (f->saved || (f->array && f->out));
}

/* v as sum of coef[k] * term[k] + konst over opaque i64 values (casts of i32 looked through). passes/analysis/affine.c
 */
enum { AFFINE_TERMS = 8 };
typedef struct affine {
    const ir_value *term[AFFINE_TERMS];
    int64_t coef[AFFINE_TERMS];
    int n;
    int64_t konst;
    bool ok; /* false: more terms, or others than a caller knows. Nothing else is known then */
} affine;
affine affine_of(const ir_value *v);
bool affine_equal(const affine *a, const affine *b);
affine affine_sub(const affine *a, const affine *b);
affine affine_plus(const affine *a, const affine *b, int64_t scale); /* a + scale * b */
int64_t greatest_divisor(int64_t a, int64_t b);

/* a - b, if that is known, however the two are written. passes/analysis/injectivity.c */
bool affine_distance(const ir_module *m, const affine *a, const affine *b, int64_t *distance);

/* a, over parameters of the function that `call` calls, with the arguments put in; not ok if it has other terms. */
affine affine_in_call(const affine *a, const ir_op *call);

/* c * index of the bounded loop + what is the same in all its iterations, c not 0. */
bool varies_with_index(const ir_op *loop, const affine *a);

/* Whether it is known, and the same in all iterations of op (a loop or task). */
bool affine_is_invariant(const affine *a, const ir_op *op);

/* The least value of a (sign -1), or the greatest one, in all iterations of op: indices of loops are at their bounds.
 * Not ok if other values in it differ between iterations. passes/analysis/injectivity.c */
affine affine_extreme(const ir_op *op, affine a, int sign);

/* Two memory operations on one plane inside `op` (a loop or task) that touch different elements in whichever iterations
 * they run: other components, or subscripts that in some dimension are the same in all iterations and differ by a
 * constant. */
bool never_meet(const ir_op *op, const ir_op *a, const ir_op *b);

/* Whether two memory operations, in one iteration of all loops around both, may touch the same element. */
bool meet_in_iteration(const ir_op *a, const ir_op *b);

/* Two such operations of which one has a greater subscript than the other in some dimension, in whichever iterations
 * they run, as the bounds of loops tell. passes/analysis/injectivity.c */
bool stay_apart(const ir_op *op, const ir_op *a, const ir_op *b);

/* never_meet for whole elements, whatever their components. */
bool elements_never_meet(const ir_op *op, const ir_op *a, const ir_op *b);

/* Whether no two iterations of the task (or bounded loop, t 0) that differ in its index t touch one element by these
 * memory operations on one plane: the subscripts tell the index. relies, by field index: those whose elements must
 * differ for that are set; NULL: of no field that counts as known. passes/analysis/injectivity.c */
bool subscript_is_injective(const ir_op *task, ir_op *const *ops, size_t n, int t, bool *relies);
/* a and b, both coef times an index and more, differ whatever the index is in either. */
bool strides_differ(const affine *a, const affine *b, int64_t coef);

/* n memory operations on one plane inside `op`, as groups: two of different groups never meet, nor do others that would
 * join them. The number of each one's group, that of its first member; freed by the caller. passes/analysis/groups.c */
size_t *groups_that_meet(const ir_op *op, ir_op *const *accesses, size_t n);

/* Whether v is known to be in the range of i32: constants, extents, widened values, and indices of loops between such
 * bounds. */
bool value_fits_i32(const ir_value *v);
/* Whether all elements of the local array are stored before anything reads one, so that nobody sees its zeros.
 * passes/analysis/set_first.c */
bool local_is_set_first(const ir_op *local);
/* Whether r stores all elements of the array, from around it, before it reads one. */
bool region_sets_first(const ir_region *r, const ir_value *array);
/* Whether nothing reads what the store puts into a local array before it is overwritten, or the array ends: all of its
 * elements are stored again first. left: how many operations may be looked at. */
bool store_is_unread(const ir_op *store, int64_t *left);
/* Notes which arrays of f are set first (attr.set), and which ones end with the zeros that they began with
 * (attr.cleared). */
void mark_locals(ir_func *f);
/* Whether what a loop carries as number k is a sum: each trip adds to it, or takes from it, and nothing else looks at
 * it. uses: ir_count_uses. exact: also where the sum decides, so that its order counts. passes/analysis/sums.c */
bool carries_sum(const ir_op *loop, int k, const uint32_t *uses, bool exact);

/* So many times the elements of an allocation, n >= 1; a count that no memory has room for stays one. */
ir_value *count_times(ir_builder *b, ir_value *count, int64_t n);

/* Whether what a cast from float to integer is given is known to be in the integer's range, and no NaN.
 * passes/analysis/ranges.c */
bool cast_is_plain(const ir_op *cast);

/* What a region does to fields, nested regions and callees included: one byte per field and plane.
 * passes/analysis/effects.c */
typedef struct effects {
    unsigned char *at; /* by ir_storage */
    bool other;        /* prints, asserts */
    bool stack;        /* uses the saved-value stack */
    bool custom;       /* calls a derivative of the program's own */
} effects;
effects effects_of_region(const ir_module *m, const ir_region *r);
effects effects_of_op(const ir_module *m, const ir_op *op);
void effects_free(effects *e);

/* Whether f is one straight line without memory, so long that the order of its operations decides about its time: C
 * compilers keep that order, and run out of registers. */
bool is_long_line(const ir_func *f);

#endif
