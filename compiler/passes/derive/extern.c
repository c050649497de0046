/* C functions of the host: without a derivative that the program brings along there is none. */
#include "passes/derive/derive.h"

bool extern_lacks(const ir_op *call, bool reverse)
{
    const ir_func *f = ir_callee_of(call);
    if (!f->external || (reverse ? f->ad.vjp : f->ad.fn_jvp))
        return false;
    diag_sink *d = f->module->diag;
    diag(d, span_at(call->loc), DIAG_NOT_DIFFERENTIABLE, f->name);
    diag_note(d, span_at(f->loc),
              "'%s' is a C function of the host: its derivative stands in 'grad(...)' behind its result, or in a "
              "function marked '%s_for(%s)'",
              f->name, reverse ? "grad" : "jvp", f->name);
    diag_note(d, span_at(call->loc), "or write 'stop_grad(...)' around the call if no derivative shall pass");
    return true;
}
