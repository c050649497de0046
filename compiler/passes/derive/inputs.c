/* By which inputs the derivatives of an export func are: its signature as each of them has it. */
#include <string.h>

#include "passes/derive/derive.h"

/* A gradient that only the second-order product asked for is by the inputs of that one. */
static const ir_request *request_of(const ir_func *f, int kind)
{
    const ir_request *found = NULL;
    for (int i = 0; i < f->ad.nrequests; i++) {
        const ir_request *r = &f->ad.requests[i];
        if (r->kind == kind || (kind == IR_DERIVE_GRAD && r->kind == IR_DERIVE_HVP && !found))
            found = r;
    }
    return found;
}

static bool is_by(const ir_request *r, int input)
{
    bool by = !r->inputs;
    for (int i = 0; i < r->ninputs; i++)
        by = by || r->inputs[i] == input;
    return by;
}

ir_sigparam *signature_by(const ir_func *f, int kind)
{
    const ir_request *r = request_of(f, kind);
    if (!f->pure || !r || !r->inputs)
        return f->sig;
    ir_sigparam *sig = ARENA_ARRAY(f->module->mem, ir_sigparam, f->nsig + 1);
    for (int i = 0; i < f->nsig; i++) {
        sig[i] = f->sig[i];
        if (is_by(r, i) || (sig[i].array && sig[i].array->out))
            continue;
        sig[i].grad = sig[i].struct_grad = false;
        sig[i].no_dual = scalar_is_float(sig[i].elem);
    }
    return sig;
}

bool needs_bent(const ir_func *f)
{
    const ir_request *grad = request_of(f, IR_DERIVE_GRAD), *hvp = request_of(f, IR_DERIVE_HVP);
    bool other = false;
    for (int i = 0; i < f->nsig && f->pure && grad && hvp; i++)
        other = other || (scalar_is_float(f->sig[i].elem) && is_by(grad, i) != is_by(hvp, i));
    return other;
}
