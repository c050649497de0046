/* Activity inside one function: what is varied (depends on an active input) and what is useful (reaches an active
 * output).
 *
 * Both are the least fixpoint of sweeps over the whole function: varied in program order, useful against it. Only loops
 * make a second sweep necessary. Local arrays count as a whole, saved-value buffers slot by slot. Calls are
 * conservative: one active operand makes all results varied.
 */
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"

bool activity_has_second_order(const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->kind == IR_KERNEL &&
            (ir_derives(m->funcs.at[i]) & (IR_DERIVE_HVP | IR_DERIVE_HESS | IR_DERIVE_BLOCKS)))
            return true;
    return false;
}

bool *activity_storage(const ir_module *m, activity_mode mode)
{
    bool *at = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
    const bool second = mode == ACTIVITY_FORWARD && activity_has_second_order(m);
    for (size_t i = 0; i < m->fields.len; i++) {
        const ir_field *f = m->fields.at[i];
        if (!scalar_is_float(f->elem))
            continue;
        at[ir_storage_of(f, IR_DATA)] = mode == ACTIVITY_REVERSE ? f->grad : ir_field_has_tangents(f);
        at[ir_storage_of(f, ir_adjoint_of(IR_DATA))] = second && f->grad;
    }
    return at;
}

bool *activity_storage_of(const ir_func *f, activity_mode mode)
{
    bool *at = activity_storage(f->module, mode);
    for (int i = 0; i < f->nsig && f->pure; i++) {
        const ir_sigparam *p = &f->sig[i];
        if (!p->array)
            continue;
        const bool wanted = mode == ACTIVITY_REVERSE ? p->grad : !p->no_dual;
        at[ir_storage_of(p->array, IR_DATA)] &= wanted;
        at[ir_storage_of(p->array, ir_adjoint_of(IR_DATA))] &= p->grad;
    }
    return at;
}

bool *activity_no_storage(const ir_module *m)
{
    return ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
}

/* ---- the sweeps ---- */

static bool can_be_active(const ir_value *v)
{
    return scalar_is_float(v->type) || v->type == SC_PTR;
}

static void set(flow *w, bool *bits, const ir_value *v)
{
    if (!can_be_active(v) || bits[v->id])
        return;
    bits[v->id] = true;
    w->changed = true;
}

static flow_slot *slot_of(flow *w, const ir_op *op)
{
    for (size_t i = 0; i < w->slots.len; i++)
        if (w->slots.at[i].layout == ir_layout_of(op) && w->slots.at[i].slot == ir_slot_attr(op)->number)
            return &w->slots.at[i];
    vec_push(&w->slots, ((flow_slot){.layout = ir_layout_of(op), .slot = ir_slot_attr(op)->number}));
    return &vec_last(&w->slots);
}

static void set_slot(flow *w, bool *bit)
{
    if (!*bit)
        w->changed = true;
    *bit = true;
}

static bool any_active(const bool *bits, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        if (can_be_active(v[i]) && bits[v[i]->id])
            return true;
    return false;
}

static void set_all(flow *w, bool *bits, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        set(w, bits, v[i]);
}

static void vary_region(flow *w, const ir_region *r);

static void vary_loop(flow *w, const ir_op *op)
{
    const int init = ir_loop_first_init(op), param = ir_loop_first_param(op), n = ir_loop_ncarried(op);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < n; k++) {
            if (!w->varied[op->args[init + k]->id] && !(pass && w->varied[ir_yield_of(op->regions[0])->args[k]->id]))
                continue;
            set(w, w->varied, op->regions[0]->params[param + k]);
            if (ir_loop_attr(op)->cond)
                set(w, w->varied, op->regions[1]->params[k]);
            set(w, w->varied, op->res[k]);
        }
        if (pass == 0)
            for (int k = op->nregions - 1; k >= 0; k--)
                vary_region(w, op->regions[k]);
    }
}

static void vary_task(flow *w, const ir_op *op)
{
    vary_region(w, op->regions[0]);
    const ir_op *y = ir_yield_of(op->regions[0]);
    for (int k = 0; k < op->nres; k++)
        if (w->varied[y->args[k]->id] || w->varied[op->args[ir_task_first_init(op) + k]->id])
            set(w, w->varied, op->res[k]);
}

static void vary_op(flow *w, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_ATOMIC:
        if (w->load_active(w->ctx, ir_field_of(op), ir_access_attr(op)->plane))
            set(w, w->varied, op->res[0]);
        return;
    case OP_LSTORE:
    case OP_LACCUM:
        if (w->varied[op->args[2]->id])
            set(w, w->varied, op->args[0]);
        return;
    case OP_LLOAD:
        if (w->varied[op->args[0]->id])
            set(w, w->varied, op->res[0]);
        return;
    case OP_STK_STORE:
        if (scalar_is_float(op->args[2]->type) && w->varied[op->args[2]->id])
            set_slot(w, &slot_of(w, op)->varied);
        return;
    case OP_STK_LOAD:
        if (slot_of(w, op)->varied)
            set(w, w->varied, op->res[0]);
        return;
    case OP_IF:
        for (int k = 0; k < op->nregions; k++) {
            vary_region(w, op->regions[k]);
            for (int i = 0; i < op->nres; i++)
                if (w->varied[ir_yield_of(op->regions[k])->args[i]->id])
                    set(w, w->varied, op->res[i]);
        }
        return;
    case OP_LOOP:
        vary_loop(w, op);
        return;
    case OP_TASK:
        vary_task(w, op);
        return;
    case OP_CALL:
        if (any_active(w->varied, op->args, op->nargs) || (w->callee(w->ctx, ir_callee_of(op)) & FLOW_CALLEE_LOADS)) {
            set_all(w, w->varied, op->res, op->nres);
            for (int i = 0; i < op->nargs; i++)
                if (op->args[i]->type == SC_PTR)
                    set(w, w->varied, op->args[i]);
        }
        return;
    default:
        if (!op_is_pure_table(op->code) || !scalar_is_float(op->res[0]->type))
            return;
        for (int k = 0; k < op->nargs; k++)
            if (w->varied[op->args[k]->id] && !op_zero_derivative(op->code, k))
                set(w, w->varied, op->res[0]);
    }
}

static void vary_region(flow *w, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        vary_op(w, op);
}

static void use_region(flow *w, const ir_region *r);

static void use_loop(flow *w, const ir_op *op)
{
    const int init = ir_loop_first_init(op), param = ir_loop_first_param(op), n = ir_loop_ncarried(op);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < n; k++) {
            if (!w->useful[op->res[k]->id] && !w->useful[op->regions[0]->params[param + k]->id] &&
                !(ir_loop_attr(op)->cond && w->useful[op->regions[1]->params[k]->id]))
                continue;
            set(w, w->useful, ir_yield_of(op->regions[0])->args[k]);
            set(w, w->useful, op->args[init + k]);
        }
        if (pass == 0)
            for (int k = 0; k < op->nregions; k++)
                use_region(w, op->regions[k]);
    }
}

static void use_call(flow *w, const ir_op *op)
{
    bool any = any_active(w->useful, op->res, op->nres) || (w->callee(w->ctx, ir_callee_of(op)) & FLOW_CALLEE_STORES);
    for (int i = 0; i < op->nargs && !any; i++)
        any = op->args[i]->type == SC_PTR && w->useful[op->args[i]->id];
    if (any)
        set_all(w, w->useful, op->args, op->nargs);
}

static void use_op(flow *w, const ir_op *op)
{
    switch (op->code) {
    case OP_STORE:
    case OP_ACCUM:
    case OP_ATOMIC:
        if (w->store_active(w->ctx, ir_field_of(op), ir_access_attr(op)->plane))
            set(w, w->useful, op->args[ir_field_of(op)->ndim + 1]);
        return;
    case OP_LSTORE:
    case OP_LACCUM:
        if (w->useful[op->args[0]->id])
            set(w, w->useful, op->args[2]);
        return;
    case OP_LLOAD:
        if (scalar_is_float(op->res[0]->type) && w->useful[op->res[0]->id])
            set(w, w->useful, op->args[0]);
        return;
    case OP_STK_STORE:
        if (slot_of(w, op)->useful)
            set(w, w->useful, op->args[2]);
        return;
    case OP_STK_LOAD:
        if (scalar_is_float(op->res[0]->type) && w->useful[op->res[0]->id])
            set_slot(w, &slot_of(w, op)->useful);
        return;
    case OP_IF:
        for (int k = 0; k < op->nregions; k++) {
            for (int i = 0; i < op->nres; i++)
                if (w->useful[op->res[i]->id])
                    set(w, w->useful, ir_yield_of(op->regions[k])->args[i]);
            use_region(w, op->regions[k]);
        }
        return;
    case OP_LOOP:
        use_loop(w, op);
        return;
    case OP_TASK:
        for (int k = 0; k < op->nres; k++) {
            if (!w->useful[op->res[k]->id])
                continue;
            set(w, w->useful, ir_yield_of(op->regions[0])->args[k]);
            set(w, w->useful, op->args[ir_task_first_init(op) + k]);
        }
        use_region(w, op->regions[0]);
        return;
    case OP_CALL:
        use_call(w, op);
        return;
    default:
        if (!op_is_pure_table(op->code) || !w->useful[op->res[0]->id])
            return;
        for (int k = 0; k < op->nargs; k++)
            if (!op_zero_derivative(op->code, k))
                set(w, w->useful, op->args[k]);
    }
}

static void use_region(flow *w, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        use_op(w, op);
}

flow flow_create(const ir_func *f)
{
    flow w = {.f = f};
    w.varied = xmalloc((size_t)f->next_value + 1);
    w.useful = xmalloc((size_t)f->next_value + 1);
    memset(w.varied, 0, (size_t)f->next_value + 1);
    memset(w.useful, 0, (size_t)f->next_value + 1);
    return w;
}

void flow_free(flow *w)
{
    free(w->varied);
    free(w->useful);
    vec_free(&w->slots);
    w->varied = w->useful = NULL;
}

bool flow_vary(flow *w)
{
    bool any = false;
    do {
        w->changed = false;
        vary_region(w, w->f->body);
        any |= w->changed;
    } while (w->changed);
    return any;
}

bool flow_use(flow *w)
{
    bool any = false;
    do {
        w->changed = false;
        use_region(w, w->f->body);
        any |= w->changed;
    } while (w->changed);
    return any;
}

/* ---- one function by itself ---- */

typedef struct callee_bits {
    const ir_func *f;
    unsigned bits;
} callee_bits;

typedef struct local_ctx {
    const bool *storage;
    VEC(callee_bits) callees;
} local_ctx;

static bool local_storage(void *ctx, const ir_field *field, ir_plane plane)
{
    const local_ctx *c = ctx;
    return c->storage[ir_storage_of(field, plane)];
}

static unsigned local_callee(void *ctx, const ir_func *f);

static unsigned scan_region(local_ctx *c, const ir_region *r)
{
    unsigned bits = 0;
    for (const ir_op *op = r->first; op; op = op->next) {
        if ((op->code == OP_LOAD || op->code == OP_ATOMIC) &&
            local_storage(c, ir_field_of(op), ir_access_attr(op)->plane))
            bits |= FLOW_CALLEE_LOADS;
        if (op_writes_field(op->code) && local_storage(c, ir_field_of(op), ir_access_attr(op)->plane))
            bits |= FLOW_CALLEE_STORES;
        if (op->code == OP_CALL)
            bits |= local_callee(c, ir_callee_of(op));
        for (int k = 0; k < op->nregions; k++)
            bits |= scan_region(c, op->regions[k]);
    }
    return bits;
}

static unsigned local_callee(void *ctx, const ir_func *f)
{
    local_ctx *c = ctx;
    for (size_t i = 0; i < c->callees.len; i++)
        if (c->callees.at[i].f == f)
            return c->callees.at[i].bits;
    const unsigned bits = scan_region(c, f->body);
    vec_push(&c->callees, ((callee_bits){f, bits}));
    return bits;
}

void flow_mark_params(flow *w, activity_mode mode)
{
    const ir_func *f = w->f;
    const bool all = f->kind == IR_FUNC || mode == ACTIVITY_FORWARD;
    for (int i = 0; i < f->body->nparams && all; i++)
        set(w, w->varied, f->body->params[i]);
    for (int s = 0; s < f->nsig && f->kind != IR_FUNC; s++)
        for (int k = 0; k < f->sig[s].rows * f->sig[s].cols; k++)
            if (all ? f->sig[s].no_dual : f->sig[s].grad)
                w->varied[f->body->params[f->sig[s].first + k]->id] = !all;
}

/* From the parameters that are marked. */
static activity follow(flow *w, const bool *storage)
{
    local_ctx c = {.storage = storage};
    w->load_active = w->store_active = local_storage;
    w->callee = local_callee;
    w->ctx = &c;
    const ir_op *y = ir_yield_of(w->f->body);
    set_all(w, w->useful, y->args, y->nargs);
    flow_vary(w);
    flow_use(w);
    vec_free(&c.callees);
    vec_free(&w->slots);
    return (activity){.varied = w->varied, .useful = w->useful, .n = w->f->next_value};
}

activity activity_compute(const ir_func *f, activity_mode mode)
{
    flow w = flow_create(f);
    flow_mark_params(&w, mode);
    return follow(&w, activity_storage_of(f, mode));
}

activity activity_of_params(const ir_func *f, const bool *wanted)
{
    flow w = flow_create(f);
    for (int i = 0; i < f->body->nparams; i++)
        if (!wanted || wanted[i])
            set(&w, w.varied, f->body->params[i]);
    return follow(&w, activity_no_storage(f->module));
}

activity activity_of_memory(const ir_func *f, const bool *storage)
{
    flow w = flow_create(f);
    return follow(&w, storage);
}

void activity_free(activity *a)
{
    free(a->varied);
    free(a->useful);
    a->varied = a->useful = NULL;
    a->n = 0;
}
