/* Passes over the IR. Each is one file; the pipeline (passes/pipeline.c) is one table that names them in order.
 * A pass takes one function, or the module where it must see all, and leaves valid IR (the verifier runs after each in tests and debug builds).
 */
#ifndef TKC_PASSES_H
#define TKC_PASSES_H

#include "ir/ir.h"

/* ---- clean-up: passes/fold.c, cse.c, dce.c, inline.c, licm.c ---- */

/* Constant folding, algebraic identities that are exact in IEEE arithmetic (x*1, x+(-0), x-0, --x; never x*0 or x+0 on floats), constant
 * branches, single-trip and zero-trip loops, loop-carried values that never change, widening of subscripts (sext(add(trunc(iv), c)) -> i64 add).
 * Never touches STOP. Returns true if something changed. */
bool pass_fold(ir_func *f);
/* Common subexpressions, over pure operations and over loads with no write to that field plane in between; dominance by region nesting. */
bool pass_cse(ir_func *f);
/* Unused operations; unused results and carried values of if, loop and task; branches and loops without effect. Local arrays and saved-value
 * buffers that are only written are removed with their writes. */
bool pass_dce(ir_func *f);
/* fold, cse, dce until nothing changes (bounded). */
void pass_simplify(ir_func *f);
/* Folding and dead code only. Behind it every load is a read that the function needs; to be asked before loads are merged. */
void pass_settle(ir_func *f);
/* Replaces calls by bodies where the callee is small or called once and the result stays below a size; never no_inline callees. */
void pass_inline(ir_module *m);
/* Puts adjoints in the place of the operations that launch them. False after errors: an adjoint that does not exist, or cannot run there. */
bool pass_adjoint_calls(ir_func *f);
/* Moves invariant pure operations, and loads not written in the loop, out of sequential loops whose body surely runs or where the operation cannot trap. */
bool pass_licm(ir_func *f);

/* ---- differentiation ---- */

/* Module-wide activity before anything is optimised: reports lost gradients (a value that depends on an active input reaches an active output through a
 * field without storage); decides for each kernel whether it has an adjoint and a JVP (no_grad_why, no_jvp_why). False after errors. passes/activity.c */
bool pass_activity(ir_module *m);

/* What is varied (depends on an active input) and useful (reaches an active output) in one function: bit arrays indexed by value id. */
typedef struct activity {
    bool *varied, *useful;
    uint32_t n;
} activity;
typedef enum activity_mode { ACTIVITY_REVERSE, ACTIVITY_FORWARD } activity_mode;
/* param_active: for functions (not kernels), which parameters are varied and which results useful; NULL: all floats. */
activity activity_compute(const ir_func *f, activity_mode mode);
void activity_free(activity *a);
static inline bool activity_has(const activity *a, const ir_value *v) { return v->id < a->n && a->varied[v->id] && a->useful[v->id]; }

/* Marks the floats that decide, and those that they are computed from, as exact. passes/decisions.c */
bool pass_decisions(ir_module *m);
/* Whether exact results would keep a loop of the export func f from being vectorised. passes/dear_results.c */
bool results_are_dear(const ir_func *f);

/* `out` arrays begin as zeros; of export funcs f->with_locals, where the gradient cannot work in the host's memory. passes/arrays.c */
void pass_arrays(ir_func *f);

/* The adjoint of a kernel, as a new function of kind IR_KERNEL_GRAD, entered in f->grad and in the module; dead code, loads above all, is gone from it.
 * Decides what it wants of saved fields that the kernel overwrites (f->before). False after errors. passes/saved.c, reverse*.c */
bool pass_reverse(ir_func *kernel);
/* Forward mode needs winners of minima and maxima whether or not an adjoint does: a kernel keeps them while its JVP is made. False after errors. passes/record.c */
bool record_for_tangents(ir_func *kernel);
void record_forget_tangents(ir_func *kernel);
/* The JVP of a kernel, or of its adjoint (hvp). passes/forward.c */
ir_func *pass_forward(ir_func *f, ir_func_kind kind, const char *name);
/* True, and reported, if what is called is a C function of the host without that derivative. passes/extern.c */
bool extern_lacks(const ir_op *call, bool reverse);
/* Replaces STOP and SLOPE by their first operand; after all differentiation. */
void pass_drop_stop(ir_func *f);

/* Adjoints of kernels and functions, and their JVPs: derived values, which need not be the same to the last bit everywhere. */
static inline bool is_adjoint(const ir_func *f)
{
    return f->kind == IR_KERNEL_GRAD || f->kind == IR_KERNEL_HVP || (f->kind == IR_FUNC && f->primal && f->primal->vjp == f);
}
/* Divisions by one value share its reciprocal, in adjoints. passes/reciprocal.c */
void pass_reciprocal(ir_func *f);
/* Constant factors are collected, in adjoints. passes/scale.c */
void pass_scale(ir_func *f);

/* Data-access rules (DESIGN: a read that the adjoint needs must still hold its value when the adjoint runs), provable violations only: the loads of primal data
 * that the simplified adjoint still contains are the needed reads; each is held against the primal's writes that may follow it. Also provable races between
 * iterations of one parallel loop. For kernels, and for functions that stayed calls. False after errors. passes/rules.c */
bool pass_rules(ir_func *f);

/* Which parts of fields each kernel's launches write, and need to stay for their adjoints (ir_func.parts, bounds). passes/parts.c */
bool pass_parts(ir_module *m);
/* Behind all that removes reads: parts that no adjoint reads any more are not needed. */
bool pass_parts_left(ir_module *m);

/* ---- parallel code: after differentiation, on every kernel ---- */

/* What an iteration stored is handed on to where it loads or adds to it: each element is written once, where that can be seen. passes/forward_stores.c */
bool pass_forward_stores(ir_func *f);
/* Accumulations whose element is the same for all iterations of a task or loop become reductions; several into one element become one. passes/promote.c */
bool pass_promote(ir_func *f);
/* Constant-shift accumulations become gathers with boundary strips where the value is cheap to recompute. passes/gather.c */
bool pass_gather(ir_func *f);
/* Classes each write (own, reduction, row, scatter), sets attr.acc, attr.scatters, attr.label. passes/parallel.c */
void pass_parallel(ir_func *f);
/* Sums of f32 over parallel loops are added in f64. passes/wide_sums.c */
void pass_wide_sums(ir_func *f);
/* Turns each task's innermost dimension into an explicit loop over a row segment, marked simd where its iterations are independent. passes/rows.c */
void pass_rows(ir_func *f);
/* Gathers run interleaved with what is left of the task that they were taken from (attr.ahead). passes/stages.c */
void pass_stages(ir_func *f);
/* Puts large arrays, and those whose size is known at run time only, on the stack of saved values. passes/frames.c */
void pass_frames(ir_func *f);
/* Which part of a field each task scatters into (ir_scatter.nfixed). passes/slabs.c */
void pass_slabs(ir_func *f);
/* Marks loops that may be vectorised with reordering. Last of all. passes/simd.c */
void pass_simd(ir_func *f);
/* --explain-adjoint: prints the class of each write with its source line. */
void explain_kernel(FILE *out, const ir_func *f);

/* What the derivatives of export funcs keep: sets f->workspace, refuses what has no bound known on entry. Last of all. passes/workspace.c */
bool pass_workspace(ir_module *m);

/* ---- shared analyses ---- */

/* v as sum of coef[k] * term[k] + konst over opaque i64 values (casts of i32 looked through). passes/affine.c */
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
/* a, over parameters of the function that `call` calls, with the arguments put in; not ok if it has other terms. */
affine affine_in_call(const affine *a, const ir_op *call);
/* c * index of the bounded loop + what is the same in all its iterations, c not 0. */
bool varies_with_index(const ir_op *loop, const affine *a);
/* Whether it is known, and the same in all iterations of op (a loop or task). */
bool affine_is_invariant(const affine *a, const ir_op *op);
/* Two memory operations on one plane inside `op` (a loop or task) that touch different elements in whichever iterations they run: other components, or
 * subscripts that in some dimension are the same in all iterations and differ by a constant. */
bool never_meet(const ir_op *op, const ir_op *a, const ir_op *b);
/* Whether two memory operations, in one iteration of all loops around both, may touch the same element. passes/forward_stores.c */
bool meet_in_iteration(const ir_op *a, const ir_op *b);
/* never_meet for whole elements, whatever their components. */
bool elements_never_meet(const ir_op *op, const ir_op *a, const ir_op *b);
/* n memory operations on one plane inside `op`, as groups: two of different groups never meet, nor do others that would join them. The number of each one's
 * group, that of its first member; freed by the caller. passes/groups.c */
size_t *groups_that_meet(const ir_op *op, ir_op *const *accesses, size_t n);
/* Whether v is known to be in the range of i32: constants, extents, widened values, and indices of loops between such bounds. */
bool value_fits_i32(const ir_value *v);
/* Whether what a cast from float to integer is given is known to be in the integer's range, and no NaN. passes/ranges.c */
bool cast_is_plain(const ir_op *cast);

/* What a region does to fields, nested regions and callees included: one byte per field and plane. passes/effects.c */
enum { EFFECT_READ = 1, EFFECT_STORE = 2, EFFECT_ACCUM = 4 };
typedef struct effects {
    unsigned char *at; /* [field->index * 4 + plane] */
    bool other;        /* prints, asserts */
    bool stack;        /* uses the saved-value stack */
} effects;
effects effects_of_region(const ir_module *m, const ir_region *r);
effects effects_of_op(const ir_module *m, const ir_op *op);
void effects_free(effects *e);

/* ---- the pipeline ---- */

typedef struct pipeline_options {
    const char *dump_after; /* pass name, "all" or NULL; to stderr */
    bool verify;            /* after every pass */
    bool explain;           /* explain_kernel to stdout */
} pipeline_options;

/* Everything from lowered IR to IR ready for the emitter. False after errors. */
bool pipeline_run(ir_module *m, const pipeline_options *opt);
/* --list-passes */
void pipeline_list(FILE *out);

#endif
