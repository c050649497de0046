/* Reverse mode: gradients that programs ask for, f.grad(x), and what they are made of, where memory counts as constant.
 * To every pass they are functions of the program; what they have instead of an adjoint made of their text is told in
 * passes/derive/func_grad.c.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/reverse/reverse.h"
#include "passes/simplify/simplify.h"

/* ---- functions that a gradient calls, and gradients themselves ---- */

/* They are functions of the program like others, with derivatives of their own. */
static void become_source(ir_func *f)
{
    f->ad.primal = NULL;
    f->nouts = 0; /* the results are others */
    ir_forget_origins(f);
}

/* Whether what is made of f asks no more of its callers than f does: before decisions were looked for, a launch may
 * have got to decide by its results. Derivatives that are made later do not, and get one of their own. */
static bool serves(const ir_func *made, const ir_func *f)
{
    bool ok = made != NULL;
    for (int i = 0; ok && i < made->body->nparams; i++)
        ok = !made->body->params[i]->exact || (i < f->body->nparams && f->body->params[i]->exact);
    return ok;
}

ir_func *reverse_args_vjp(ir_func *f, const ir_op *call)
{
    if (f->ad.custom_grad)
        return leaves_memory(f->ad.custom_grad, f, call->loc) ? f->ad.custom_grad : NULL;
    if (serves(f->ad.args_vjp, f))
        return f->ad.args_vjp;
    ir_func *out = f->ad.args_vjp = rev_derived(f, IR_FUNC, "pull");
    rev_func(f, out, (rev_goal){.act = activity_of_params(f, NULL), .of_args = true});
    become_source(out);
    return out;
}

static ir_func *gradient(ir_func *f, const bool *wanted)
{
    ir_func *out = rev_derived(f, IR_FUNC, "grad");
    rev_func(f, out, (rev_goal){.act = activity_of_params(f, wanted), .of_args = true, .unit = true});
    become_source(out);
    return out;
}

/* One that keeps values must stay a call. */
static void finish(ir_func *gradient, ir_func *of)
{
    effects e = effects_of_region(gradient->module, gradient->body);
    of->ad.gradient = gradient;
    gradient->no_inline = e.stack;
    gradient->ad.gradient_of = e.stack ? of : NULL;
    effects_free(&e);
}

ir_func *gradient_of_source(ir_func *f, const bool *wanted)
{
    if (f->ad.gradient)
        return f->ad.gradient;
    ir_func *simple = ir_clone_func(f, f->name); /* f itself waits: simplified, it would hide what it has lost */
    pass_simplify(simple);
    ir_func *g = gradient(simple, wanted);
    rev_forget(f->module, simple);
    finish(g, f);
    return g;
}

ir_func *gradient_along(ir_func *along)
{
    if (serves(along->ad.gradient, along))
        return along->ad.gradient;
    bool *wanted = ARENA_ARRAY(along->module->mem, bool, along->body->nparams + 1);
    int n = along->body->nparams, tangents = 0;
    for (int i = 0; i + tangents < n; i++) {
        wanted[i] = scalar_is_float(along->body->params[i]->type);
        tangents += wanted[i];
    }
    ir_func *g = gradient(along, wanted);
    finish(g, along);
    return g;
}
