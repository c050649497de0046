/* Activity over the whole module: which kernels have derivatives, and gradients that get lost in memory without
 * storage.
 *
 * Memory is looked at a field's plane at a time (a node). A value is varied if it depends on memory with storage or on
 * an active parameter; a node without storage is reached if a load from it comes to memory with storage, or to another
 * reached node. A varied value stored into a reached node loses its gradient. Kernels that have no derivative, by
 * intent or because they handle gradients themselves, are neither sources nor ways.
 *
 * A second-order product follows tangents through the adjoint as well, and what the adjoint reads for the sake of a
 * gradient needs its tangent: in kernels with one, memory with a gradient is an active output of forward mode too.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

typedef struct func_state {
    ir_func *f;
    unsigned char *touch; /* node -> FLOW_CALLEE_*, callees included */
    const ir_op **first;  /* node -> an operation of f or its callees that touches it */
    bool scanned;
    bool counted;  /* a differentiated kernel, or called by one */
    bool second;   /* forward mode: a kernel with a second-order product, or called by one */
    unsigned bits; /* of touch, for memory that is active now */
    flow w;
} func_state;

typedef struct lost {
    ir_module *m;
    activity_mode mode;
    size_t nodes;
    const bool *storage;
    bool *reached, *reported;
    const ir_op **reader; /* node -> the load by which it was reached */
    VEC(func_state) funcs;
    const func_state *now; /* whose flow is followed */
    const ir_field *array; /* the one argument that is followed, if it is an array */
    bool changed;
} lost;

static size_t node_of(const ir_field *f, ir_plane p)
{
    return ir_storage_of(f, p);
}

static const char *node_name(const ir_module *m, const ir_field *f, ir_plane p)
{
    return arena_printf(m->mem, "%s%s", f->name, ir_plane_text(p));
}

static func_state *state_of(lost *l, const ir_func *f)
{
    for (size_t i = 0; i < l->funcs.len; i++)
        if (l->funcs.at[i].f == f)
            return &l->funcs.at[i];
    return NULL;
}

/* ---- what a function touches ---- */

static void scan_func(lost *l, func_state *s);

static void scan_region(lost *l, func_state *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op_accesses_field(op->code)) {
            const size_t n = node_of(ir_field_of(op), ir_access_attr(op)->plane);
            s->touch[n] |= op->code == OP_LOAD     ? FLOW_CALLEE_LOADS
                           : op->code == OP_ATOMIC ? FLOW_CALLEE_LOADS | FLOW_CALLEE_STORES
                                                   : FLOW_CALLEE_STORES;
            if (!s->first[n])
                s->first[n] = op;
        } else if (op->code == OP_CALL) {
            func_state *callee = state_of(l, ir_callee_of(op));
            scan_func(l, callee);
            for (size_t n = 0; n < l->nodes; n++) {
                s->touch[n] |= callee->touch[n];
                if (!s->first[n])
                    s->first[n] = callee->first[n];
            }
        }
        for (int k = 0; k < op->nregions; k++)
            scan_region(l, s, op->regions[k]);
    }
}

static void scan_func(lost *l, func_state *s)
{
    if (s->scanned)
        return;
    s->scanned = true;
    scan_region(l, s, s->f->body);
}

static const ir_op *uses_plane(const lost *l, const func_state *s, ir_plane p)
{
    for (size_t n = p; n < l->nodes; n += IR_PLANES)
        if (s->touch[n])
            return s->first[n];
    return NULL;
}

/* ---- which derivatives a kernel has ---- */

static const char *derivative_why(lost *l, const func_state *s, ir_plane plane, int mask, const char *what)
{
    ir_func *k = s->f;
    if (k->ad.custom_of)
        return arena_printf(l->m->mem, "it is the derivative of '%s'", k->ad.custom_of->name);
    if (ir_plane_is_adjoint(plane) ? k->ad.custom_grad : k->ad.custom_jvp)
        return NULL;
    const ir_op *use = uses_plane(l, s, plane);
    if (use) {
        const char *name = node_name(l->m, ir_field_of(use), plane);
        if (k->ad.derive_explicit && (ir_derives(k) & mask)) {
            diag(l->m->diag, span_at(k->loc), DIAG_DERIVE_PLANE, k->name, what, name);
            diag_note(l->m->diag, span_at(use->loc), "'%s' is used here", name);
        }
        return arena_printf(l->m->mem, "it uses %s", name);
    }
    if (!(ir_derives(k) & mask))
        return arena_printf(l->m->mem, "derive(...) does not list %s", what);
    return NULL;
}

static void decide(lost *l)
{
    for (size_t i = 0; i < l->funcs.len; i++) {
        func_state *s = &l->funcs.at[i];
        if (s->f->kind != IR_KERNEL || s->f->ad.no_grad)
            continue;
        const bool second = !(ir_derives(s->f) & IR_DERIVE_GRAD) &&
                            (ir_derives(s->f) & (IR_DERIVE_HVP | IR_DERIVE_HESS));
        s->f->ad.no_grad_why = derivative_why(l, s, ir_adjoint_of(IR_DATA),
                                              IR_DERIVE_GRAD | IR_DERIVE_HVP | IR_DERIVE_HESS, second ? "hvp" : "grad");
        s->f->ad.no_jvp_why = derivative_why(l, s, ir_tangent_of(IR_DATA), IR_DERIVE_JVP | IR_DERIVE_JAC, "jvp");
    }
}

/* ---- the module's fixpoints ---- */

static bool is_source(void *ctx, const ir_field *field, ir_plane plane)
{
    const lost *l = ctx;
    const bool chosen = field->launched && l->mode == ACTIVITY_FORWARD &&
                        !field->grad; /* as of a parameter, see start() */
    return l->storage[node_of(field, plane)] && !chosen;
}

static bool is_sink(void *ctx, const ir_field *field, ir_plane plane)
{
    const lost *l = ctx;
    const size_t n = node_of(field, plane);
    return l->storage[n] || l->reached[n] || (l->now->second && plane == IR_DATA && field->grad);
}

static unsigned callee_bits(void *ctx, const ir_func *f)
{
    const lost *l = ctx;
    const func_state *s = state_of(ctx, f);
    unsigned bits = s->bits;
    for (size_t i = 0; i < l->m->fields.len && s->second; i++)
        if (l->m->fields.at[i]->grad)
            bits |= s->touch[node_of(l->m->fields.at[i], IR_DATA)] & FLOW_CALLEE_STORES;
    return bits;
}

static void update_bits(lost *l)
{
    for (size_t i = 0; i < l->funcs.len; i++) {
        func_state *s = &l->funcs.at[i];
        s->bits = 0;
        for (size_t n = 0; n < l->nodes; n++) {
            if (l->storage[n])
                s->bits |= s->touch[n];
            if (l->reached[n])
                s->bits |= s->touch[n] & FLOW_CALLEE_STORES;
        }
    }
}

static void each_op(lost *l, func_state *s, const ir_region *r, void (*fn)(lost *, func_state *, const ir_op *))
{
    for (const ir_op *op = r->first; op; op = op->next) {
        fn(l, s, op);
        for (int k = 0; k < op->nregions; k++)
            each_op(l, s, op->regions[k], fn);
    }
}

static void raise(lost *l, bool *bit)
{
    if (!*bit)
        l->changed = true;
    *bit = true;
}

/* What stands in it does not matter to that mode then. */
static bool has_custom(const lost *l, const ir_func *f)
{
    return l->mode == ACTIVITY_REVERSE ? f->ad.custom_grad : f->ad.custom_jvp;
}

static void count_callees(lost *l, func_state *s, const ir_op *op)
{
    if (op->code != OP_CALL || has_custom(l, ir_callee_of(op)))
        return;
    func_state *callee = state_of(l, ir_callee_of(op));
    raise(l, &callee->counted);
    if (s->second)
        raise(l, &callee->second);
}

static void vary_callees(lost *l, func_state *s, const ir_op *op)
{
    if (op->code != OP_CALL)
        return;
    func_state *callee = state_of(l, ir_callee_of(op));
    for (int i = 0; i < op->nargs; i++)
        if (s->w.varied[op->args[i]->id])
            raise(l, &callee->w.varied[callee->f->body->params[i]->id]);
}

/* Results that a caller finds useful are useful in the callee; loads whose value is useful reach their node. */
static void use_callees_and_loads(lost *l, func_state *s, const ir_op *op)
{
    if (op->code == OP_CALL) {
        func_state *callee = state_of(l, ir_callee_of(op));
        const ir_op *y = ir_yield_of(callee->f->body);
        for (int i = 0; i < op->nres; i++)
            if (scalar_is_float(op->res[i]->type) && s->w.useful[op->res[i]->id])
                raise(l, &callee->w.useful[y->args[i]->id]);
        return;
    }
    if ((op->code != OP_LOAD && op->code != OP_ATOMIC) || !scalar_is_float(op->res[0]->type) ||
        !s->w.useful[op->res[0]->id])
        return;
    const size_t n = node_of(ir_field_of(op), ir_access_attr(op)->plane);
    if (l->storage[n] || l->reached[n])
        return;
    raise(l, &l->reached[n]);
    l->reader[n] = op;
}

static void for_counted(lost *l, bool (*sweep)(flow *), void (*fn)(lost *, func_state *, const ir_op *))
{
    do {
        l->changed = false;
        update_bits(l);
        for (size_t i = l->funcs.len; i-- > 0;) { /* callers mostly stand behind their callees */
            func_state *s = &l->funcs.at[i];
            if (!s->counted)
                continue;
            l->now = s;
            if (sweep)
                sweep(&s->w);
            each_op(l, s, s->f->body, fn);
        }
    } while (l->changed);
}

static bool differentiated(const lost *l, const ir_func *k)
{
    return k->kind == IR_KERNEL && !k->ad.no_grad && !has_custom(l, k) &&
           !(l->mode == ACTIVITY_REVERSE ? k->ad.no_grad_why : k->ad.no_jvp_why);
}

static bool has_second_order(const ir_func *k)
{
    return k->kind == IR_KERNEL && !k->ad.no_grad && !k->ad.no_grad_why &&
           (ir_derives(k) & (IR_DERIVE_HVP | IR_DERIVE_HESS));
}

static void start(lost *l)
{
    l->storage = activity_storage(l->m, l->mode);
    memset(l->reached, 0, l->nodes);
    memset(l->reported, 0, l->nodes);
    for (size_t i = 0; i < l->funcs.len; i++) {
        func_state *s = &l->funcs.at[i];
        s->second = l->mode == ACTIVITY_FORWARD && has_second_order(s->f);
        s->counted = differentiated(l, s->f) || s->second;
        s->w = flow_create(s->f);
        s->w.load_active = is_source;
        s->w.store_active = is_sink;
        s->w.callee = callee_bits;
        s->w.ctx = l;
        /* Of a kernel's parameters those marked needs_grad are sources in both modes: of the others a tangent is the
         * caller's choice. */
        if (s->f->kind == IR_KERNEL) {
            flow_mark_params(&s->w, s->f->pure ? l->mode : ACTIVITY_REVERSE);
            const ir_op *y = ir_yield_of(s->f->body);
            for (int k = 0; k < y->nargs; k++)
                s->w.useful[y->args[k]->id] |= scalar_is_float(y->args[k]->type);
        }
    }
}

/* ---- reports ---- */

static const char *kernel_of(const lost *l, const func_state *s)
{
    if (s->f->kind == IR_KERNEL)
        return s->f->name;
    for (size_t i = 0; i < l->funcs.len; i++) {
        const func_state *k = &l->funcs.at[i];
        for (size_t n = 0; k->counted && k->f->kind == IR_KERNEL && n < l->nodes; n++)
            if (s->first[n] && k->first[n] == s->first[n])
                return k->f->name;
    }
    return s->f->name;
}

/* Which iteration comes first is not known to a derivative: the old value depends on it. */
static void check_atomic(lost *l, const func_state *s, const ir_op *op)
{
    diag_sink *d = l->m->diag;
    const char *name = node_name(l->m, ir_field_of(op), ir_access_attr(op)->plane);
    diag(d, span_at(op->loc), DIAG_NOT_DIFFERENTIABLE,
         arena_printf(l->m->mem, "atomic_%s", op_name(ir_access_attr(op)->with)));
    diag_note(d, span_at(ir_field_of(op)->loc), "'%s' has a %s", name,
              l->mode == ACTIVITY_REVERSE ? "gradient" : "dual");
    diag_note(d, span_at(s->f->loc), "write 'derive()' on kernel '%s' if it is never to be differentiated%s",
              kernel_of(l, s),
              ir_access_attr(op)->with == OP_ADD ? "; without the old value '+=' has a derivative"
                                                 : "; as a statement, without the old value, it has a derivative");
}

static void check_op(lost *l, func_state *s, const ir_op *op)
{
    diag_sink *d = l->m->diag;
    const bool reverse = l->mode == ACTIVITY_REVERSE;
    if (op_is_pure_table(op->code)) {
        for (int k = 0; k < op->nargs; k++)
            if (op_not_differentiable(op->code, k) && s->w.varied[op->args[k]->id] && s->w.useful[op->res[0]->id])
                diag(d, span_at(op->loc), DIAG_NOT_DIFFERENTIABLE, op_name(op->code));
        return;
    }
    if (!op_writes_field(op->code) || !scalar_is_float(ir_field_of(op)->elem))
        return;
    const size_t n = node_of(ir_field_of(op), ir_access_attr(op)->plane);
    if (op->code == OP_ATOMIC && l->storage[n]) {
        if (!ir_atomic_has_winner(op))
            check_atomic(l, s, op);
        return;
    }
    if (!s->w.varied[op->args[ir_field_of(op)->ndim + 1]->id] || l->storage[n] || !l->reached[n] || l->reported[n])
        return;
    l->reported[n] = true;
    const char *name = node_name(l->m, ir_field_of(op), ir_access_attr(op)->plane);
    diag(d, span_at(op->loc), reverse ? DIAG_LOST_GRADIENT : DIAG_LOST_TANGENT, name);
    diag_note(d, span_at(l->reader[n]->loc), "'%s' is read here, on the way to an active output", name);
    if (ir_access_attr(op)->plane == IR_DATA)
        diag_note(d, span_at(ir_field_of(op)->loc), "declare '%s' with '%s' to keep the derivative",
                  ir_field_of(op)->whole ? ir_field_of(op)->whole : name, reverse ? "needs_grad" : "needs_dual");
    else
        diag_note(d, span_at(ir_field_of(op)->loc), "keep what is to be differentiated in a field of its own");
    diag_note(d, span_at(op->loc), "or store 'stop_grad(...)' if no derivative shall pass");
    if (reverse || s->f->ad.no_grad_why)
        diag_note(d, span_at(s->f->loc), "or write 'derive()' on kernel '%s' if it is never to be differentiated",
                  kernel_of(l, s));
    else
        diag_note(d, span_at(s->f->loc), "or write 'derive(grad)' on kernel '%s' if it is not for forward mode",
                  kernel_of(l, s));
}

static void run_mode(lost *l, activity_mode mode)
{
    l->mode = mode;
    start(l);
    for_counted(l, NULL, count_callees);
    for_counted(l, flow_vary, vary_callees);
    for_counted(l, flow_use, use_callees_and_loads);
    for (size_t i = 0; i < l->funcs.len; i++)
        if (l->funcs.at[i].counted)
            each_op(l, &l->funcs.at[i], l->funcs.at[i].f->body, check_op);
    for (size_t i = 0; i < l->funcs.len; i++)
        flow_free(&l->funcs.at[i].w);
}

/* ---- tangents of parameters ----
 * Whether a parameter has a tangent is the caller's choice, so one that would be lost is no error of the module: the
 * JVP refuses it. */

static bool no_source(void *ctx, const ir_field *field, ir_plane plane)
{
    (void)ctx, (void)field, (void)plane;
    return false;
}

static bool is_followed(void *ctx, const ir_field *field, ir_plane plane)
{
    const lost *l = ctx;
    return field == l->array && plane == IR_DATA;
}

static unsigned no_callee(void *ctx, const ir_func *f)
{
    (void)ctx, (void)f;
    return 0;
}

static const char *lost_in(lost *l, const func_state *s, const ir_region *r)
{
    const char *name = NULL;
    for (const ir_op *op = r->first; op && !name; op = op->next) {
        if ((op->code == OP_STORE || op->code == OP_ACCUM) && s->w.varied[op->args[op->nargs - 1]->id]) {
            const size_t n = node_of(ir_field_of(op), ir_access_attr(op)->plane);
            if (!l->storage[n] && l->reached[n])
                name = node_name(l->m, ir_field_of(op), ir_access_attr(op)->plane);
        }
        for (int k = 0; k < op->nregions && !name; k++)
            name = lost_in(l, s, op->regions[k]);
    }
    return name;
}

/* What depends on one parameter of one kernel, there and in what it calls. */
static const char *follow_param(lost *l, func_state *kernel, const ir_sigparam *p)
{
    for (size_t i = 0; i < l->funcs.len; i++) {
        func_state *s = &l->funcs.at[i];
        s->counted = s == kernel;
        s->second = false;
        s->w = flow_create(s->f);
        s->w.load_active = is_followed;
        s->w.store_active = no_source;
        s->w.callee = no_callee;
        s->w.ctx = l;
    }
    l->array = p->array;
    for (int k = 0; k < p->rows * p->cols; k++)
        kernel->w.varied[kernel->f->body->params[p->first + k]->id] = true;
    for_counted(l, NULL, count_callees);
    for_counted(l, flow_vary, vary_callees);
    const char *name = NULL;
    for (size_t i = 0; i < l->funcs.len; i++) {
        func_state *s = &l->funcs.at[i];
        if (s->counted && !name)
            name = lost_in(l, s, s->f->body);
        flow_free(&s->w);
    }
    return name;
}

static void find_lost_tangents(lost *l)
{
    bool any = false; /* l is as forward mode left it */
    for (size_t n = 0; n < l->nodes; n++)
        any |= l->reached[n];
    for (size_t i = 0; i < l->funcs.len && any; i++) {
        func_state *s = &l->funcs.at[i];
        for (int k = 0; k < s->f->nsig && (differentiated(l, s->f) || has_second_order(s->f)); k++)
            if (scalar_is_float(s->f->sig[k].elem))
                s->f->sig[k].lost_in = follow_param(l, s, &s->f->sig[k]);
    }
}

bool pass_lost_gradient(ir_module *m)
{
    const int errors = diag_error_count(m->diag);
    lost l = {.m = m, .nodes = ir_storage_count(m)};
    l.reached = ARENA_ARRAY(m->mem, bool, l.nodes + 1);
    l.reported = ARENA_ARRAY(m->mem, bool, l.nodes + 1);
    l.reader = ARENA_ARRAY(m->mem, const ir_op *, l.nodes + 1);
    for (size_t i = 0; i < m->funcs.len; i++)
        vec_push(&l.funcs, ((func_state){.f = m->funcs.at[i],
                                         .touch = ARENA_ARRAY(m->mem, unsigned char, l.nodes + 1),
                                         .first = ARENA_ARRAY(m->mem, const ir_op *, l.nodes + 1)}));
    for (size_t i = 0; i < l.funcs.len; i++)
        scan_func(&l, &l.funcs.at[i]);
    decide(&l);
    run_mode(&l, ACTIVITY_REVERSE);
    run_mode(&l, ACTIVITY_FORWARD);
    find_lost_tangents(&l);
    vec_free(&l.funcs);
    return diag_error_count(m->diag) == errors;
}
