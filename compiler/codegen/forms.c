/* What every back end asks of kernels, functions of the host, their parameters and fields. */
#include "codegen/forms.h"

#include <stddef.h>
#include <string.h>

#include "codegen/names.h"
#include "ir/ops.h"

const ir_func *kernel_form_of(const ir_func *kernel, kernel_form form)
{
    switch (form) {
    case FORM_RUN:
        return kernel;
    case FORM_GRAD:
        return kernel->ad.grad;
    case FORM_JVP:
        return kernel->ad.jvp;
    case FORM_HVP:
        return kernel->ad.hvp;
    case FORM_JAC:
        return kernel->ad.jac;
    case FORM_HESS:
        return kernel->ad.hess;
    }
    return NULL;
}

const char *form_suffix(kernel_form form)
{
    static const char *const suffix[] = {[FORM_RUN] = "",     [FORM_GRAD] = "_grad", [FORM_JVP] = "_jvp",
                                         [FORM_HVP] = "_hvp", [FORM_JAC] = "_jac",   [FORM_HESS] = "_hess"};
    return suffix[form];
}

const char *form_inputs(arena *mem, const ir_func *f, kernel_form form)
{
    const ir_sigparam *sig = kernel_form_of(f, form)->sig;
    const char *text = "", *last = NULL;
    bool all = true;
    for (int i = 0; i < f->nsig; i++) {
        const bool by = form == FORM_GRAD ? sig[i].grad : !sig[i].no_dual;
        if (!sig_is_float(&sig[i]) || sig[i].name == last || (sig[i].array && !sig[i].array->in))
            continue;
        last = sig[i].name;
        all = all && by;
        if (by)
            text = arena_printf(mem, "%s%s%s", text, *text ? ", " : "", last);
    }
    return all ? NULL : text;
}

bool sig_is_float(const ir_sigparam *p)
{
    return scalar_is_float(p->elem);
}

bool sig_has_tangent(const ir_sigparam *p)
{
    return sig_is_float(p) && !p->no_dual;
}

bool sig_stands(const ir_sigparam *p)
{
    return !p->structure || p->leads;
}

static bool has_floats(const ir_struct *r)
{
    bool has = false;
    for (int k = 0; k < r->nmembers; k++)
        has = has ||
              (r->members[k].structure ? has_floats(r->members[k].structure) : scalar_is_float(r->members[k].elem));
    return has;
}

bool sig_has_dual(const ir_sigparam *p)
{
    return p->structure ? p->leads && has_floats(p->structure) : sig_has_tangent(p);
}

bool sig_has_grad(const ir_sigparam *p)
{
    return p->structure ? p->leads && p->struct_grad : p->grad;
}

bool kernel_has_grad_args(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nsig; i++)
        if (kernel->sig[i].grad && !kernel->sig[i].array)
            return true;
    return false;
}

bool sig_is_seed(const ir_sigparam *p)
{
    return p->array && (p->structure ? p->struct_grad : p->grad) && !p->array->in;
}

static bool has_second_order(const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->ad.hvp)
            return true;
    return false;
}

bool field_has_plane(const ir_module *m, const ir_field *f, ir_plane p)
{
    if (ir_plane_is_adjoint(p) && ir_plane_is_tangent(p))
        return f->grad && has_second_order(m);
    return p == IR_DATA || f->has[p];
}

bool kernel_has_args(const ir_func *kernel)
{
    return kernel->nsig || kernel->nouts;
}

const char *why_no_grad(const ir_func *kernel)
{
    if (kernel->ad.grad || kernel->ad.no_grad)
        return NULL;
    return kernel->ad.no_grad_why ? kernel->ad.no_grad_why : "its derive(...) does not ask for one";
}

const char *why_no_jvp(const ir_func *kernel)
{
    if (kernel->ad.jvp)
        return NULL;
    if (kernel->ad.no_grad)
        return "it is marked no_grad, and uses duals, or sets minima or maxima of a field that has them";
    return kernel->ad.no_jvp_why ? kernel->ad.no_jvp_why : "its derive(...) does not ask for one";
}

bool kernel_gives_floats(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nouts; i++)
        if (sig_is_float(&kernel->outs[i]))
            return true;
    return false;
}

bool kernel_gives_gradients(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nsig; i++)
        if (kernel->sig[i].grad)
            return true;
    return false;
}

bool kernel_fits_scope(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nsig; i++)
        if (kernel->sig[i].array && kernel->sig[i].array->out && kernel->sig[i].array->dual)
            return false;
    return !kernel_gives_floats(kernel);
}

static bool is_wide_gradient(const ir_op *op)
{
    return op_accesses_field(op->code) && ir_field_of(op)->wide_of && ir_field_of(op)->wide_plane == IR_GRAD;
}

bool kernel_has_wide_adjoint(const ir_func *kernel)
{
    return kernel->ad.grad && ir_has(kernel->ad.grad->body, is_wide_gradient);
}

bool kernel_fits_tape(const ir_func *kernel)
{
    return kernel_fits_scope(kernel) && !kernel_gives_gradients(kernel) && !kernel_has_wide_adjoint(kernel);
}

const char *plane_tail(ir_plane p)
{
    return p == IR_DATA ? "" : ir_plane_get(p)->tail;
}

const char *plane_name(ir_plane p)
{
    return ir_plane_get(p)->name;
}

const char *plane_enum(ir_plane p)
{
    return ir_plane_get(p)->constant;
}

ir_plane plane_of(bool adjoint, bool tangent)
{
    const ir_plane p = adjoint ? ir_adjoint_of(IR_DATA) : IR_DATA;
    return tangent ? ir_tangent_of(p) : p;
}

ir_plane result_plane(int k)
{
    return plane_of(k / 2, k % 2);
}

const char *struct_type(arena *mem, const ir_struct *r)
{
    return arena_printf(mem, "%s_%s", r->module->name, r->name);
}

const char *member_path(arena *mem, const char *path, const char *dot)
{
    const char *next = strchr(path, '.');
    if (!next)
        return name_member(mem, path);
    const char *first = name_member(mem, arena_printf(mem, "%.*s", (int)(next - path), path));
    return arena_printf(mem, "%s%s%s", first, dot, member_path(mem, next + 1, dot));
}

const ir_field *plane_leaf(const ir_module *m, const ir_field *f, ir_plane p)
{
    for (size_t i = (size_t)f->index; i < m->fields.len; i++) {
        const ir_field *x = m->fields.at[i];
        if (x != f && (!f->lead || x->lead != f->lead))
            return NULL;
        if (field_has_plane(m, x, p))
            return x;
    }
    return NULL;
}

bool module_has_object(const ir_module *m)
{
    bool exports = false;
    for (size_t i = 0; i < m->funcs.len; i++) {
        if (ir_is_kernel(m->funcs.at[i]))
            return true;
        exports |= ir_is_export(m->funcs.at[i]);
    }
    return m->nfields || m->params.len || !exports;
}

bool sig_is_shapeless(const ir_sigparam *p)
{
    return p->shape == IR_SHAPE_SCALAR;
}

bool sig_is_scalar(const ir_sigparam *p)
{
    return sig_is_shapeless(p) && !p->structure;
}

bool extern_returns(const ir_func *f)
{
    return f->nouts == 1 && sig_is_scalar(&f->outs[0]);
}

bool extern_is_direct(const ir_func *f)
{
    bool direct = extern_returns(f);
    for (int i = 0; i < f->nsig; i++)
        direct = direct && sig_is_scalar(&f->sig[i]);
    return direct;
}
