/* How many directions the JVP of a kernel has: as many as the tangents that it carries. The adjoint: as many as the
 * gradients. Who has several is refused what one direction only is made for.
 */
#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

typedef struct width_check {
    ir_func *k;
    ir_plane plane; /* of tangents, or gradients */
    int width;
    bool passive, ok;
} width_check;

static const char *derivative(const width_check *c)
{
    return ir_plane_is_tangent(c->plane) ? "JVP" : "adjoint";
}

static void refuse(width_check *c, src_loc at, const char *what)
{
    if (c->ok)
        diag(c->k->module->diag, span_at(at), DIAG_WIDE, derivative(c), c->k->name, c->width, what);
    c->ok = false;
}

/* The field by which the derivative has its width; NULL: there is none. touched: of the region, what it does to `of`
 * tells whether a field counts. */
static const ir_field *find_width(width_check *c, const ir_region *touched, ir_plane of)
{
    ir_module *m = c->k->module;
    effects e = effects_of_region(m, touched);
    const unsigned counts = c->passive ? OP_STORES : OP_READS | OP_STORES | OP_ADDS;
    const ir_field *by = NULL;
    for (size_t i = 0; i < m->fields.len && c->ok; i++) {
        const ir_field *f = m->fields.at[i];
        if (!(f->has[c->plane] || f->wide[c->plane]) || !(e.at[ir_storage_of(f, of)] & counts))
            continue;
        const int width = f->wide[c->plane] ? f->width[c->plane] : 1, known = c->width;
        if (by && width != known)
            diag(m->diag, span_at(c->k->loc), DIAG_WIDTHS, derivative(c), c->k->name, by->name, known,
                 known == 1 ? "" : "s", f->name, width);
        c->ok = !by || width == known;
        by = f;
        c->width = width;
    }
    effects_free(&e);
    return by;
}

static bool prints(const ir_op *op)
{
    return op->code == OP_PRINT;
}

static void check_call(width_check *c, const ir_op *op)
{
    const ir_func *f = ir_callee_of(op);
    effects e = effects_of_region(f->module, f->body);
    for (ir_storage i = 0; i < ir_storage_count(f->module); i++)
        if ((e.at[i] & (OP_STORES | OP_ADDS)) || (e.at[i] && ir_storage_field(f->module, i)->wide[c->plane]))
            refuse(c, op->loc, "a function that is not inlined and uses fields");
    effects_free(&e);
    if (ir_has(f->body, prints))
        refuse(c, op->loc, "a function that is not inlined and prints");
}

static void check_op(ir_op *op, void *ctx)
{
    width_check *c = ctx;
    if (op->code == OP_CALL)
        check_call(c, op);
    if (op->code == OP_ATOMIC && ir_atomic_has_winner(op) && ir_field_of(op)->wide[IR_DUAL] &&
        ir_plane_is_tangent(c->plane))
        refuse(c, op->loc, "an atomic minimum or maximum");
}

static void check_signature(width_check *c)
{
    ir_func *k = c->k;
    const bool tangents = ir_plane_is_tangent(c->plane);
    for (int i = 0; i < k->nouts; i++)
        if (scalar_is_float(k->outs[i].elem))
            refuse(c, k->loc, "results that are floats");
    for (int i = 0; i < k->nsig; i++) {
        ir_sigparam *p = &k->sig[i];
        if (p->array && p->array->has[c->plane])
            refuse(c, k->loc, "arrays of floats of the host");
        if (!tangents && p->grad)
            refuse(c, k->loc, "arguments that are needs_grad");
        if (!tangents)
            continue;
        if (p->structure && scalar_is_float(p->elem))
            refuse(c, k->loc, "arguments that are structs with floats");
        p->no_dual = p->no_dual || scalar_is_float(p->elem);
        p->lost_in = NULL;
    }
}

int jvp_width(ir_func *k, bool passive)
{
    width_check c = {.k = k, .plane = IR_DUAL, .width = 1, .passive = passive, .ok = true};
    const ir_field *by = find_width(&c, k->body, IR_DATA);
    if (!by || !c.ok || c.width == 1)
        return c.ok ? 1 : 0;
    if (k->ad.custom_jvp)
        refuse(&c, k->ad.custom_jvp->loc, "a JVP of the program's own");
    check_signature(&c);
    ir_walk(k->body, check_op, &c);
    return c.ok ? c.width : 0;
}

bool refuse_wide_product(ir_func *k)
{
    width_check c = {.k = k, .ok = true};
    effects e = effects_of_region(k->module, k->body);
    for (size_t i = 0; i < k->module->fields.len; i++) {
        const ir_field *f = k->module->fields.at[i];
        c.plane = f->wide[IR_DUAL] ? IR_DUAL : IR_GRAD;
        c.width = f->width[c.plane];
        if (f->wide[c.plane] && e.at[ir_storage_of(f, IR_DATA)])
            refuse(&c, k->loc, "second-order products, derive(hvp)");
    }
    effects_free(&e);
    return c.ok;
}

/* Whether the kernel uses fields whose gradients have several directions. */
static bool uses_wide(const ir_func *k)
{
    effects e = effects_of_region(k->module, k->body);
    bool any = false;
    for (size_t i = 0; i < k->module->fields.len; i++) {
        const ir_field *f = k->module->fields.at[i];
        any |= f->wide[IR_GRAD] && e.at[ir_storage_of(f, IR_DATA)];
    }
    effects_free(&e);
    return any;
}

/* The adjoint of k in as many directions as it has. */
static bool widen_adjoint(ir_func *k)
{
    width_check c = {.k = k, .plane = IR_GRAD, .width = 1, .ok = true};
    if (k->ad.custom_grad) {
        if (uses_wide(k) && find_width(&c, k->body, IR_DATA) && c.ok)
            refuse(&c, k->ad.custom_grad->loc, "a gradient of the program's own");
        return c.ok;
    }
    const ir_field *by = find_width(&c, k->ad.grad->body, IR_GRAD);
    if (!by || !c.ok || c.width == 1)
        return c.ok;
    check_signature(&c);
    ir_walk(k->ad.grad->body, check_op, &c);
    if (!c.ok)
        return false;
    ir_func *narrow = k->ad.grad;
    k->ad.grad = forward_wide_adjoint(narrow, c.width);
    rev_forget(k->module, narrow);
    return true;
}

/* A sparse Hessian adds its gradient to that of the field. */
static bool check_request(ir_func *k)
{
    const ir_request *r = ir_request_of(k, IR_DERIVE_BLOCKS);
    width_check c = {.k = k, .plane = IR_GRAD, .ok = true};
    for (int i = 0; r && i < r->by.n && c.ok; i++) {
        c.width = r->by.at[i]->width[IR_GRAD];
        if (r->by.at[i]->wide[IR_GRAD])
            refuse(&c, k->loc, "sparse Hessians");
    }
    return c.ok;
}

bool pass_wide_grad(ir_module *m)
{
    bool ok = true;
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *k = m->funcs.at[i];
        ok &= check_request(k);
        if (k->kind == IR_KERNEL && k->ad.grad)
            ok &= widen_adjoint(k);
    }
    for (size_t i = 0; i < m->fields.len; i++)
        m->fields.at[i]->grad &= !m->fields.at[i]->wide[IR_GRAD];
    return ok;
}
