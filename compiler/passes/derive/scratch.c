/* Scratch fields live within one launch: each launch that touches one finds it zero, so that nothing of an earlier
 * launch reaches it, and its adjoint may make it anew (passes/derive/reverse/plan/saved.c).
 *
 * A kernel that reads a scratch field and never writes to it is a part of others, which call it; on its own it would
 * read zeros. It is not launched by the host.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

typedef struct touched {
    const ir_module *m;
    unsigned char *bits; /* by field: OP_READS, ... of its data */
    const ir_op **read;  /* by field: the first that reads it */
} touched;

static void collect_touched(ir_op *op, void *ctx)
{
    touched *t = ctx;
    const bool calls = op->code == OP_CALL;
    if (!calls && !op_accesses_field(op->code)) /* an adjoint that is launched sees to its own */
        return;
    effects e = effects_of_op(t->m, op);
    for (size_t i = 0; i < t->m->fields.len; i++) {
        const unsigned bits = t->m->fields.at[i]->scratch ? e.at[ir_storage_of(t->m->fields.at[i], IR_DATA)] : 0;
        if ((bits & OP_READS) && !t->read[i])
            t->read[i] = op;
        t->bits[i] |= (unsigned char)bits;
    }
    effects_free(&e);
}

static void zero_element(ir_builder *b, ir_field *f, ir_value *const *subs)
{
    ir_value **idx = ARENA_ARRAY(b->func->module->mem, ir_value *, f->ndim + 1);
    for (int d = 0; d < f->ndim; d++)
        idx[d] = subs[d];
    ir_value *zero = ir_zero(b, f->elem);
    for (int c = 0; c < ir_field_ncomp(f); c++)
        ir_store(b, f, IR_DATA, idx, ir_const_i(b, SC_I64, c), zero);
}

/* In front of everything else, a parallel loop over the field. */
static void zero_field(ir_func *k, ir_field *f)
{
    arena *mem = k->module->mem;
    ir_builder b = {.func = k, .region = k->body, .before = k->body->first, .loc = k->loc};
    ir_value **lo = ARENA_ARRAY(mem, ir_value *, f->ndim + 1), **hi = ARENA_ARRAY(mem, ir_value *, f->ndim + 1);
    for (int d = 0; d < f->ndim; d++) {
        lo[d] = ir_const_i(&b, SC_I64, 0);
        hi[d] = ir_shape(&b, f, d);
    }
    if (f->ndim == 0) {
        zero_element(&b, f, NULL);
        return;
    }
    ir_op *task = ir_task(&b, f->ndim, lo, hi, 0, NULL, NULL);
    ir_builder in = {.func = k, .region = task->regions[0], .loc = k->loc};
    zero_element(&in, f, task->regions[0]->params);
    ir_yield(&in, 0, NULL);
}

static bool refuse(ir_func *k, const ir_field *f, const ir_op *read)
{
    diag_sink *d = k->module->diag;
    diag(d, span_at(read->loc), DIAG_SCRATCH, f->name, k->name);
    diag_note(d, span_at(f->loc),
              "a scratch field is zero when a launch begins: the kernel that fills it calls '%s', or does it all",
              k->name);
    return false;
}

typedef struct launched {
    const touched *by_kernel;
    bool ok;
} launched;

/* What an adjoint leaves in a scratch field is nobody's, so a kernel that uses the field launches none that does. */
static void check_adjoint(ir_op *op, void *ctx)
{
    launched *l = ctx;
    const ir_module *m = l->by_kernel->m;
    if (op->code != OP_ADJOINT)
        return;
    touched of = {m, ARENA_ARRAY(m->mem, unsigned char, m->fields.len + 1),
                  ARENA_ARRAY(m->mem, const ir_op *, m->fields.len + 1)};
    ir_walk(ir_callee_of(op)->body, collect_touched, &of);
    for (size_t i = 0; i < m->fields.len && l->ok; i++) {
        if (!of.bits[i] || !l->by_kernel->bits[i])
            continue;
        diag(m->diag, span_at(op->loc), DIAG_KERNEL_CALL, op->region->func->name,
             arena_printf(m->mem, "%s.grad", ir_callee_of(op)->name),
             arena_printf(m->mem, "makes the scratch field '%s' anew, which this kernel uses as well",
                          m->fields.at[i]->name));
        l->ok = false;
    }
}

/* *part: k is one of other kernels, and not launched. */
static bool check_kernel(ir_func *k, bool *part)
{
    ir_module *m = k->module;
    touched t = {m, ARENA_ARRAY(m->mem, unsigned char, m->fields.len + 1),
                 ARENA_ARRAY(m->mem, const ir_op *, m->fields.len + 1)};
    ir_walk(k->body, collect_touched, &t);
    *part = false;
    launched l = {&t, true};
    ir_walk(k->body, check_adjoint, &l);
    if (!l.ok)
        return false;
    for (size_t i = 0; i < m->fields.len; i++)
        if (t.read[i] && !(t.bits[i] & (OP_STORES | OP_ADDS))) {
            *part = true;
            if (!k->called)
                return refuse(k, m->fields.at[i], t.read[i]);
        }
    for (size_t i = m->fields.len; i-- > 0 && !*part;)
        if (t.bits[i])
            zero_field(k, m->fields.at[i]);
    return true;
}

typedef struct adjoint_of {
    const ir_func *part;
    bool ok;
} adjoint_of;

static void refuse_adjoint(ir_op *op, void *ctx)
{
    adjoint_of *a = ctx;
    if (op->code != OP_ADJOINT || ir_callee_of(op) != a->part)
        return;
    const ir_func *f = op->region->func;
    diag(f->module->diag, span_at(op->loc), DIAG_KERNEL_CALL, f->name,
         arena_printf(f->module->mem, "%s.grad", a->part->name),
         "does not exist: it reads a scratch field that other kernels fill");
    a->ok = false;
}

bool pass_scratch(ir_module *m)
{
    bool any = false, ok = true;
    for (size_t i = 0; i < m->fields.len; i++)
        any = any || m->fields.at[i]->scratch;
    for (size_t i = 0; any && i < m->funcs.len; i++) {
        ir_func *k = m->funcs.at[i];
        bool part = false;
        if (k->kind != IR_KERNEL || k->pure || !check_kernel(k, &part)) {
            ok = ok && (k->kind != IR_KERNEL || k->pure);
            continue;
        }
        if (!part)
            continue;
        adjoint_of a = {k, true};
        for (size_t f = 0; f < m->funcs.len; f++)
            ir_walk(m->funcs.at[f]->body, refuse_adjoint, &a);
        ok = ok && a.ok;
        for (size_t f = i; f + 1 < m->funcs.len; f++)
            m->funcs.at[f] = m->funcs.at[f + 1];
        m->funcs.len--;
        i--;
    }
    return ok;
}
