/* How many directions the JVP of a kernel has: as many as the tangents that it carries. Who has several is refused what
 * one direction only is made for.
 */
#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

typedef struct width_check {
    ir_func *k;
    int width;
    bool passive, ok;
} width_check;

static void refuse(width_check *c, src_loc at, const char *what)
{
    if (c->ok)
        diag(c->k->module->diag, span_at(at), DIAG_WIDE, c->k->name, c->width, what);
    c->ok = false;
}

/* The field by which the JVP has its width; NULL: there is none. */
static const ir_field *find_width(width_check *c)
{
    ir_module *m = c->k->module;
    effects e = effects_of_region(m, c->k->body);
    const unsigned counts = c->passive ? OP_STORES : OP_READS | OP_STORES | OP_ADDS;
    const ir_field *by = NULL;
    for (size_t i = 0; i < m->fields.len && c->ok; i++) {
        const ir_field *f = m->fields.at[i];
        if (!ir_field_has_tangents(f) || !(e.at[ir_storage_of(f, IR_DATA)] & counts))
            continue;
        const int width = f->wide ? f->width : 1, known = c->width;
        if (by && width != known)
            diag(m->diag, span_at(c->k->loc), DIAG_WIDTHS, c->k->name, by->name, known, known == 1 ? "" : "s", f->name,
                 width);
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
        if ((e.at[i] & (OP_STORES | OP_ADDS)) || (e.at[i] && ir_field_has_tangents(ir_storage_field(f->module, i))))
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
    if (op->code == OP_ATOMIC && ir_atomic_has_winner(op) && ir_field_of(op)->wide)
        refuse(c, op->loc, "an atomic minimum or maximum");
}

static void check_signature(width_check *c)
{
    ir_func *k = c->k;
    for (int i = 0; i < k->nouts; i++)
        if (scalar_is_float(k->outs[i].elem))
            refuse(c, k->loc, "results that are floats");
    for (int i = 0; i < k->nsig; i++) {
        ir_sigparam *p = &k->sig[i];
        if (p->array && p->array->dual)
            refuse(c, k->loc, "arrays of floats of the host");
        if (p->structure && scalar_is_float(p->elem))
            refuse(c, k->loc, "arguments that are structs with floats");
        p->no_dual = p->no_dual || scalar_is_float(p->elem);
        p->lost_in = NULL;
    }
}

int jvp_width(ir_func *k, bool passive)
{
    width_check c = {.k = k, .width = 1, .passive = passive, .ok = true};
    const ir_field *by = find_width(&c);
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
        c.width = f->width;
        if (f->wide && e.at[ir_storage_of(f, IR_DATA)])
            refuse(&c, k->loc, "second-order products, derive(hvp)");
    }
    effects_free(&e);
    return c.ok;
}
