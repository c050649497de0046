/* What has no derivative: operations that only derivatives of a high order reach, C functions of the host for which the
 * program brings none along, functions that change memory where they are to be values. */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

bool op_lacks_derivative(const ir_op *op, int k)
{
    if (!op_not_differentiable(op->code, k))
        return false;
    diag_sink *d = op->region->func->module->diag;
    const char *name = op_name(op_written_as(op->code));
    diag(d, span_at(op->loc), DIAG_NOT_DIFFERENTIABLE, name);
    diag_note(d, span_at(op->loc),
              "no derivative of '%s' of this order is known, that of '%s': write 'stop_grad(...)' around it, or a "
              "function that has its derivative by 'grad(...)' or 'jvp_for'",
              name, op_name(op->code));
    return true;
}

bool extern_lacks_derivative(const ir_op *call, bool reverse)
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

/* ---- of functions, where memory counts as constant ---- */

static void find_access(ir_op *op, void *ctx)
{
    const ir_op **found = ctx;
    if (*found)
        return;
    const bool field = op_accesses_field(op->code);
    if (field && (op->code != OP_LOAD || ir_plane_is_tangent(ir_access_attr(op)->plane)))
        *found = op;
    else if (op->code == OP_CALL)
        ir_walk(ir_callee_of(op)->body, find_access, ctx);
}

/* Duals are read by JVPs of the program's own, and mean that fields are not constant. */
static bool touches_memory(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    bool any = false;
    for (size_t i = 0; i < ir_storage_count(f->module); i++) {
        const bool dual = f->ad.custom_of && ir_plane_is_tangent(ir_storage_plane(i));
        any |= (e.at[i] & (OP_STORES | OP_ADDS | (dual ? OP_READS : 0u))) != 0;
    }
    effects_free(&e);
    return any;
}

bool leaves_memory(const ir_func *f, const ir_func *asked, src_loc at)
{
    const ir_op *write = NULL;
    if (!touches_memory(f))
        return true;
    ir_walk(f->body, find_access, &write);
    diag_sink *d = f->module->diag;
    const char *name = arena_printf(f->module->mem, "%s%s", ir_field_of(write)->name,
                                    ir_plane_text(ir_access_attr(write)->plane));
    const char *does = write->code == OP_LOAD ? "reads" : "changes";
    diag(d, span_at(at), DIAG_FUNC_GRADIENT, asked->name,
         f == asked ? arena_printf(f->module->mem, "it %s '%s'", does, name)
                    : arena_printf(f->module->mem, "'%s' %s '%s'", f->name, does, name));
    diag_note(d, span_at(write->loc), "'%s' is %s here", name, write->code == OP_LOAD ? "read" : "changed");
    diag_note(d, span_at(at),
              "a derivative inside a function or kernel is a value, by the arguments alone: fields stay as they are");
    return false;
}
