/* New functions from old ones: adjoints, JVPs and second-order products, and what they keep, need and ask their callers
 * for. */
#ifndef TKC_PASSES_DERIVE_H
#define TKC_PASSES_DERIVE_H

#include "ir/ir.h"

/* Scratch fields: zeroed where a kernel begins; kernels that are parts of others alone are taken out. False after
 * errors. */
bool pass_scratch(ir_module *m);
/* Module-wide activity before anything is optimised: reports lost gradients (a value that depends on an active input
 * reaches an active output through a field without storage); decides for each kernel whether it has an adjoint and a
 * JVP (no_grad_why, no_jvp_why). False after errors. passes/analysis/activity.c */
bool pass_lost_gradient(ir_module *m);

/* `out` arrays begin as zeros; of export funcs f->ad.with_locals, where the gradient cannot work in the host's memory.
 * passes/derive/arrays.c */
void pass_arrays(ir_func *f);

/* The signature that a derivative of that kind has: without gradients and tangents of inputs by which it is not.
 * passes/derive/inputs.c */
ir_sigparam *signature_by(const ir_func *f, int kind);
/* Whether the second-order product of an export func is by other inputs than its gradient. */
bool needs_bent(const ir_func *f);

/* The adjoint of a kernel, as a new function of kind IR_KERNEL_GRAD, entered in f->ad.grad and in the module; dead
 * code, loads above all, is gone from it. Decides what it wants of saved fields that the kernel overwrites
 * (f->launch.parts). False after errors. passes/derive/reverse/ */
bool pass_reverse(ir_func *kernel);
/* Takes a function out of the module. */
void rev_forget(ir_module *m, const ir_func *f);

/* Forward mode needs winners of minima and maxima whether or not an adjoint does: a kernel keeps them while its JVP is
 * made. False after errors. passes/derive/reverse/record.c */
bool record_for_tangents(ir_func *kernel);
void record_forget_tangents(ir_func *kernel);

/* The JVP of a function: arguments, then the tangents of the float ones; results, then the tangents of the float ones.
 * Made once. passes/derive/forward.c */
ir_func *forward_func(ir_func *f);
/* The JVP of a kernel, or of its adjoint (hvp). passes/derive/forward.c */
ir_func *pass_forward(ir_func *f, ir_func_kind kind, const char *name, int width);
/* The adjoint of a kernel, in several directions: gradients are those of the fields in their place, and take a loop
 * over the directions; passes/derive/forward.c */
ir_func *forward_wide_adjoint(ir_func *adjoint, int width);
/* The adjoints that have several directions: passes/derive/width.c. False after errors. */
bool pass_wide_grad(ir_module *m);
/* The number of directions of a kernel's JVP, 0 after an error; passive: nothing but what it overwrites counts.
 * Tangents in several directions are of fields alone: arguments have none then. passes/derive/width.c */
int jvp_width(ir_func *k, bool passive);
/* False, and reported, if a second-order product of the kernel has fields with several directions. */
bool refuse_wide_product(ir_func *k);

/* The JVP of a kernel along memory alone, whose tangents stand in arrays: a new kernel of the same signature. active,
 * beside: by ir_storage. passes/derive/forward.c */
ir_func *forward_beside(ir_func *f, const char *name, const bool *active, ir_field *const *beside);

/* The Jacobian and the Hessian of an export func that asks for them. False after errors. passes/derive/jacobian/ */
bool pass_jacobian(ir_func *f);

/* The sparse matrix of a kernel that asks for one. False after errors. passes/derive/elements/ */
bool pass_elements(ir_func *kernel);

/* Gradients that functions and kernels ask for, f.grad(x), become functions. False after errors.
 * passes/derive/func_grad.c */
bool pass_func_grad(ir_module *m);
/* Warns of derivatives of singular vectors and eigenvectors. passes/derive/vectors.c */
bool pass_vectors(ir_module *m);
/* In a gradient, that by singular values alone becomes a function of its own, with ALONG in it and in functions made in
 * front; bends: which may be differentiated twice. False: there is none. passes/derive/spectral.c */
bool spectral_in(ir_func *f, bool bends);
/* Gradients by singular values, where second-order products are made of adjoints. passes/derive/func_grad.c */
bool pass_spectral(ir_module *m);
/* The gradient of a function with one real result by each float parameter, zero for those that are not wanted; memory
 * counts as constant. passes/derive/reverse/reverse.c */
ir_func *gradient_of_source(ir_func *f, const bool *wanted);
/* Of forward_along's function, by the parameters of the function itself. */
ir_func *gradient_along(ir_func *along);
/* The derivative of a function with one real result along tangents, which are parameters behind the others; memory
 * counts as constant. gradient: gradient_along, which forward mode does not know. passes/derive/forward.c */
typedef enum along_kind {
    ALONG_REVERSED, /* made to be reversed: of a function with a gradient of the program's own it is that gradient's */
    ALONG_JVP,      /* as forward mode has it: of a function with a JVP of the program's own it is that one's */
    ALONG_COLUMN    /* by a JVP of the program's own, else by a gradient of the program's own */
} along_kind;
typedef ir_func *(*gradient_maker)(ir_func *along);
ir_func *forward_along(ir_func *f, along_kind kind, gradient_maker gradient);

/* Likewise of any function: results, then their tangents. For columns of matrices that are values. */
ir_func *forward_column(ir_func *f, src_loc at);
/* gradient_of_source of all parameters, of a function that the caller throws away. */
ir_func *gradient_by_args(ir_func *f);
/* Its derivatives are not made of its text. */
static inline bool has_own_derivative(const ir_func *f)
{
    return f->external || f->ad.custom_jvp || f->ad.custom_grad;
}
/* The entries that a JACOBIAN or HESSIAN gives, at b; false, and reported: there are none. settle: ends a gradient,
 * func_grad.c. passes/derive/jacobian/value.c */
typedef void (*gradient_settler)(ir_func *gradient, bool bends);
bool matrix_entries(ir_builder *b, const ir_op *op, gradient_settler settle, ir_value **entries);

/* False, and reported as a reason why `asked` has no derivative there: f stores into fields, or goes by their duals. */
bool leaves_memory(const ir_func *f, const ir_func *asked, src_loc at);

/* True, and reported, if the operation has no derivative by its operand k: what only derivatives reach, once too often.
 */
bool op_lacks_derivative(const ir_op *op, int k);
/* True, and reported, if what is called is a C function of the host without that derivative.
 * passes/derive/missing_derivative.c */
bool extern_lacks_derivative(const ir_op *call, bool reverse);

/* In adjoints divisions by one value share its reciprocal, constant factors are collected, and common factors of sums
 * are taken out. passes/derive/algebra/ */
void pass_algebra(ir_func *f);
/* The constant factors alone. */
void pass_scale(ir_func *f);
/* A gradient that the program asks for shares reciprocals where what follows from the seeds is divided. */
void share_pulled_reciprocals(ir_func *f, const ir_value *const *seeds, int n);

/* What a kernel has stored its adjoint reads, where it needs the elements in any case. passes/derive/reread.c */
void pass_reread(ir_func *kernel);

/* The footprint of each kernel's launches: ir_launch.parts, bounds. Of a kernel that is classed it is known: parts go
 * that neither it nor an adjoint touches any more, and the ends of those that tapes do not compare go to
 * ir_launch.beside. passes/derive/footprint/ */
bool pass_parts(ir_module *m);

/* What the derivatives of export funcs keep: sets f->workspace, refuses what has no bound known on entry. Last of all.
 * passes/derive/workspace.c */
bool pass_workspace(ir_module *m);

#endif
