/* Forward mode where memory counts as constant, f.jvp(x, dx) and what is made of a function to be reversed: calls that
 * are another one there.
 */
#include "ir/ops.h"
#include "passes/derive/derive.h"
#include "passes/derive/forward.h"

/* The tangent of result i by the gradient that the program has for the function: its seed is that result. So what is
 * reversed is what the gradient is made of, and no other derivative of the function. */
static ir_value *tangent_by_gradient(fwd *w, ir_builder *b, const ir_op *op, int i)
{
    value_list args = {0};
    for (int k = 0; k < op->nargs; k++)
        vec_push(&args, val(w, op->args[k]));
    for (int k = 0; k < op->nres; k++)
        if (scalar_is_float(op->res[k]->type))
            vec_push(&args, ir_const_f(b, op->res[k]->type, k == i ? 1.0 : 0.0));
    const ir_op *g = ir_call(b, ir_callee_of(op)->ad.custom_grad, (int)args.len, args.at);
    vec_free(&args);
    ir_value *sum = NULL;
    for (int k = 0, at = 0; k < op->nargs; k++) {
        if (!scalar_is_float(op->args[k]->type))
            continue;
        ir_value *t = tangent(w, b, op->args[k]), *by = g->res[at++];
        if (!t)
            continue;
        ir_value *part = ir_cast(b, op->res[i]->type, ir_op2(b, OP_MUL, by, t));
        sum = sum ? ir_op2(b, OP_ADD, sum, part) : part;
    }
    return sum;
}

/* The tangent of the gradient of f is the gradient of the derivative of f along the tangent of its arguments. */
static void fwd_gradient(fwd *w, ir_builder *b, const ir_op *op)
{
    const ir_op *c = fwd_call_of(
        w, b, op, w->gradient(forward_along(ir_callee_of(op)->ad.gradient_of, ALONG_REVERSED, w->gradient)));
    for (int i = 0; i < op->nres; i++)
        fwd_set_tangent(w, op->res[i], c->res[i]);
}

bool fwd_args_call(fwd *w, ir_builder *b, const ir_op *op)
{
    const ir_func *f = ir_callee_of(op);
    const bool by_gradient = w->kind == ALONG_REVERSED || (w->kind == ALONG_COLUMN && !f->ad.custom_jvp),
               custom = by_gradient && f->ad.custom_grad && !f->ad.custom_grad->prelude;
    if (!custom && !f->ad.gradient_of)
        return false;
    fwd_plain(w, b, op);
    if (f->ad.gradient_of)
        fwd_gradient(w, b, op);
    const bool leaves = w->kind == ALONG_REVERSED || !custom || leaves_memory(f->ad.custom_grad, f, op->loc);
    for (int i = 0; i < op->nres && custom && leaves; i++)
        if (activity_has(&w->act, op->res[i]))
            fwd_set_tangent(w, op->res[i], tangent_by_gradient(w, b, op, i));
    return true;
}
