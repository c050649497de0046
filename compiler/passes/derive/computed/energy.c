/* Computed Hessians: the energy of a kernel, and its adjoint. An adjoint that reads fields as the kernel leaves them
 * stands behind the kernel. If the kernel writes a field where it has been read, the adjoint reads fields as the kernel
 * finds them, as that of saved fields: it stands alone, and replays the writes. */
#include "ir/ops.h"
#include "passes/derive/computed/computed_int.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"

/* ---- which fields ---- */

/* Where the kernel writes data of a field for the last time, and where it reads data for the first time: numbers of
 * operations at kernel level. */
typedef struct access_order {
    int last_write, first_read; /* -1, INT32_MAX: nowhere */
    src_loc write;
} access_order;

static access_order order_of(const computed *c, const ir_field *f)
{
    access_order o = {-1, INT32_MAX, c->from->loc};
    int n = 0;
    for (const ir_op *op = c->from->body->first; op; op = op->next, n++) {
        effects e = effects_of_op(c->from->module, op);
        const unsigned what = e.at[ir_storage_of(f, IR_DATA)];
        if (what & (OP_STORES | OP_ADDS)) {
            o.last_write = n;
            o.write = op->loc;
        }
        if ((what & OP_READS) && n < o.first_read)
            o.first_read = n;
        effects_free(&e);
    }
    return o;
}

static bool is_energy(const ir_field *f)
{
    return !f->ndim && ir_field_ncomp(f) == 1 && scalar_is_float(f->elem) && !f->array && !f->scratch;
}

static void check_field(computed *c, ir_field *f)
{
    const ir_storage at = ir_storage_of(f, IR_DATA);
    const access_order o = order_of(c, f);
    const bool read = o.first_read != INT32_MAX;
    const bool again = c->written[at] && read && o.last_write >= o.first_read;
    c->replays |= again;
    if (again && f->scratch)
        computed_refuse(c, o.write, "the scratch field '%s' is written where it has been read: write to another field",
                        f->name);
    c->held[ir_storage_of(f, IR_GRAD)] = false;
    if (!c->active[at] || c->why)
        return;
    if (c->written[at] && !read && is_energy(f)) {
        if (c->to)
            computed_refuse(c, o.write, "'%s' is a second energy", f->name);
        c->to = f;
    }
    const bool needed = ir_columns_have(c->by, f) || f == c->to || read;
    c->held[ir_storage_of(f, IR_GRAD)] = needed && !f->grad;
}

static void find_energy(computed *c)
{
    const ir_module *m = c->from->module;
    c->held = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
    for (size_t i = 0; i < m->nfields && !c->why; i++)
        check_field(c, m->fields.at[i]);
    if (!c->to)
        computed_refuse(c, c->from->loc, "no energy depends on '%s': that is a field of one float",
                        ir_columns_names(m->mem, c->by, "' or '"));
}

/* ---- the adjoint ---- */

static void refuse_atomic(ir_op *op, void *ctx)
{
    if (op->code == OP_ATOMIC)
        computed_refuse(ctx, op->loc,
                        "'%s' gets a minimum or maximum at once, and another field is written where it "
                        "has been read",
                        ir_field_of(op)->name);
}

/* By the fields that depend on the columns alone. NULL: refused, and reported. */
static ir_func *adjoint_of(computed *c)
{
    ir_func *f = c->from;
    const ir_module *m = f->module;
    bool *grad = ARENA_ARRAY(m->mem, bool, m->fields.len + 1), *saved = ARENA_ARRAY(m->mem, bool, m->fields.len + 1);
    for (size_t i = 0; i < m->fields.len; i++) {
        ir_field *field = m->fields.at[i];
        grad[i] = field->grad;
        saved[i] = field->saved;
        field->grad &= c->active[ir_storage_of(field, IR_DATA)];
        field->grad |= c->held[ir_storage_of(field, IR_GRAD)];
        field->saved = c->replays && c->written[ir_storage_of(field, IR_DATA)] && !field->scratch;
    }
    ir_sigparam *sig = ARENA_ARRAY(m->mem, ir_sigparam, f->nsig + 1);
    for (int i = 0; i < f->nsig; i++) {
        sig[i] = f->sig[i];
        sig[i].grad = sig[i].struct_grad = false;
    }
    f->sig = sig;
    ir_forget_origins(f);
    f->launch.from_before = true;
    ir_func *g = pass_reverse(f) ? f->ad.grad : NULL;
    f->ad.grad = NULL;
    c->replays &= f->launch.nparts > 0;
    for (size_t i = 0; i < m->fields.len; i++) {
        m->fields.at[i]->grad = grad[i];
        m->fields.at[i]->saved = saved[i];
    }
    return g;
}

void computed_append_adjoint(computed *c)
{
    find_energy(c);
    if (c->replays)
        ir_walk(c->from->body, refuse_atomic, c);
    if (c->why)
        return;
    ir_func *f = c->from, *g = adjoint_of(c);
    if (!g) {
        computed_refuse(c, f->loc, "it has no adjoint%s", "");
        return;
    }
    pass_simplify(g);
    for (ir_op *op; c->replays && (op = ir_yield_of(f->body)->prev);)
        ir_remove(op);
    ir_builder b = {.func = f, .region = f->body, .before = ir_yield_of(f->body), .loc = f->loc};
    ir_value *zero = ir_const_i(&b, SC_I64, 0);
    ir_store(&b, c->to, ir_adjoint_of(IR_DATA), NULL, zero, ir_const_f(&b, c->to->elem, 1.0));
    ir_map map = ir_map_create(g);
    for (int i = 0; i < g->body->nparams; i++)
        ir_map_set(&map, g->body->params[i], f->body->params[i]);
    ir_clone_region_ops(&b, g->body, &map);
    ir_map_free(&map);
    ir_forget_origins(f);
    rev_forget(f->module, g);
}
