/* What every back end asks of kernels, functions of the host, their parameters and fields. */
#ifndef TKC_CODEGEN_FORMS_H
#define TKC_CODEGEN_FORMS_H

#include "ir/ir.h"

/* ---- a kernel and what is derived from it ---- */

typedef enum kernel_form { FORM_RUN, FORM_GRAD, FORM_JVP, FORM_HVP, FORM_JAC, FORM_HESS } kernel_form;
/* The last of kernels; export funcs have the others as well. */
enum { FORM_LAST = FORM_HVP, FORM_LAST_EXPORT = FORM_HESS };
const char *form_suffix(kernel_form form);                              /* "_grad" */
const ir_func *kernel_form_of(const ir_func *kernel, kernel_form form); /* NULL if not generated */
/* The inputs of an export func that such a derivative is by: "p, q"; NULL: all floats. */
const char *form_inputs(arena *mem, const ir_func *f, kernel_form form);
/* Why a kernel has no derivative: NULL if it has, or if its derivative is zero by intent. */
const char *why_no_grad(const ir_func *kernel);
const char *why_no_jvp(const ir_func *kernel);
/* Whether a forward scope, or a tape, knows the derivatives of all that the kernel takes and gives: the runtime refuses
 * others there. */
bool kernel_fits_scope(const ir_func *kernel);
bool kernel_fits_tape(const ir_func *kernel);
/* Its adjoint has several directions. */
bool kernel_has_wide_adjoint(const ir_func *kernel);
bool kernel_has_args(const ir_func *kernel);        /* else it has no argument struct */
bool kernel_gives_floats(const ir_func *kernel);    /* results */
bool kernel_gives_gradients(const ir_func *kernel); /* to its arguments */
bool kernel_has_grad_args(const ir_func *kernel);
/* Whether the module has an object; export funcs alone need none. */
bool module_has_object(const ir_module *m);

/* ---- parameters ---- */

/* A struct is one parameter in C: these are asked of the one that leads. */
bool sig_stands(const ir_sigparam *p);      /* is a parameter in C */
bool sig_is_float(const ir_sigparam *p);    /* the component itself */
bool sig_has_tangent(const ir_sigparam *p); /* the component itself */
bool sig_has_dual(const ir_sigparam *p);    /* has a tangent beside it in C */
bool sig_is_seed(const ir_sigparam *p);     /* an `out` array with gradient, which goes in */
bool sig_has_grad(const ir_sigparam *p);    /* has a gradient in C */
bool sig_is_shapeless(const ir_sigparam *p);
bool sig_is_scalar(const ir_sigparam *p); /* and no member of a struct */

/* ---- functions of the host ---- */

bool extern_returns(const ir_func *f); /* its only result, a scalar */
/* Whether it is called as an expression: scalars go in, and one comes out. Others have a function around them. */
bool extern_is_direct(const ir_func *f);

/* ---- structs ---- */

const char *struct_type(arena *mem, const ir_struct *r); /* "gravity_Body" */
/* "link.pos" as C has it, with `dot` for the dot. */
const char *member_path(arena *mem, const char *path, const char *dot);

/* ---- fields ---- */

const char *plane_name(ir_plane p); /* "data", "grad", "dual", "grad_dual" */
const char *plane_enum(ir_plane p); /* TK_DATA */
const char *plane_tail(ir_plane p); /* of what belongs to a name: "", "_grad", "_dual", "_grad_dual" */
/* Of what derivatives take and give: the data, their tangents, their gradients, the tangents of these. */
ir_plane plane_of(bool adjoint, bool tangent);
/* What of a kernel's result the host may ask for, in the order in which it is given. */
enum { RESULT_PLANES = 4 };
ir_plane result_plane(int k);

/* An array that is an argument of the C function itself. */
static inline bool is_argument(const ir_field *f)
{
    return f->array && !f->launched;
}
/* f, or the first member of its array of structs, that has this plane; NULL: the view has none. */
const ir_field *plane_leaf(const ir_module *m, const ir_field *f, ir_plane p);
/* Gradients have duals once the module has a second-order product. */
bool field_has_plane(const ir_module *m, const ir_field *f, ir_plane p);

#endif
