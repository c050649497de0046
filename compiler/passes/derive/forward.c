/* Forward mode: one walk that builds value and tangent side by side.
 *
 * Every operation of the source is cloned, side effects included; behind it stands what computes the tangents of its
 * results. A value that is not varied has no tangent: its tangent is zero and nothing is built for it. Carried values,
 * branch results, reductions and slots of saved-value buffers get companions; memory of a plane gets the plane of its
 * tangents; a local array gets a second array. Applied to an adjoint this gives second-order products.
 */
#include <assert.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/forward.h"
#include "passes/simplify/simplify.h"

static ir_func *forward_args_func(const fwd *w, ir_func *f);

static bool has_storage(const fwd *w, const ir_op *op)
{
    return w->storage[ir_storage_of_op(op)];
}

/* ---- saved-value layouts ---- */

typedef struct slot_search {
    const fwd *w;
    const ir_layout *layout;
    bool *varied;
} slot_search;

static void find_varied_slots(ir_op *op, void *ctx)
{
    slot_search *s = ctx;
    if (op->code == OP_STK_STORE && ir_layout_of(op) == s->layout && varied(s->w, op->args[2]))
        s->varied[ir_slot_attr(op)->number] = true;
}

static const wide_layout *layout_of(fwd *w, const ir_op *op)
{
    ir_layout *from = ir_layout_of(op);
    for (size_t i = 0; i < w->layouts.len; i++)
        if (w->layouts.at[i].from == from)
            return &w->layouts.at[i];
    arena *mem = w->m->mem;
    slot_search s = {w, from, ARENA_ARRAY(mem, bool, from->n + 1)};
    ir_walk(w->from->body, find_varied_slots, &s);
    ir_layout *to = ARENA_NEW(mem, ir_layout);
    int *tangent = ARENA_ARRAY(mem, int, from->n + 1);
    to->id = from->id;
    to->types = ARENA_ARRAY(mem, scalar, 2 * from->n + 1);
    to->names = ARENA_ARRAY(mem, const char *, 2 * from->n + 1);
    to->n = from->n;
    for (int i = 0; i < from->n; i++) {
        to->types[i] = from->types[i];
        to->names[i] = from->names[i];
        tangent[i] = -1;
        if (!s.varied[i])
            continue;
        tangent[i] = to->n;
        to->types[to->n] = from->types[i];
        to->names[to->n++] = from->names[i] ? arena_printf(mem, "%s_dual", from->names[i]) : NULL;
    }
    vec_push(&w->layouts, ((wide_layout){from, to, tangent}));
    return &vec_last(&w->layouts);
}

/* ---- operations without regions ---- */

ir_op *fwd_plain(fwd *w, ir_builder *b, const ir_op *op)
{
    assert(op->nregions == 0);
    return ir_clone_op(b, op, &w->val);
}

static void fwd_pure(fwd *w, ir_builder *b, const ir_op *op)
{
    const ir_value *r = op->res[0];
    if (is_dropped(w, r))
        drop_value(w, b, r);
    else
        fwd_plain(w, b, op);
    if (!varied(w, r))
        return;
    ir_value *sum = NULL;
    rule_values at = {.result = val(w, r), .part = OP_COUNT};
    for (int k = 0; k < op->nargs; k++)
        at.args[k] = val(w, op->args[k]);
    const uint32_t first_new = w->out->next_value;
    for (int k = 0; k < op->nargs; k++) {
        const bool moves = has_tangent(w, op->args[k]) && !op_contributes_nothing(op, k) &&
                           !(activity_has(&w->act, r) && op_lacks_derivative(op, k)) &&
                           !op_not_differentiable(op->code, k);
        ir_value *t = moves ? tangent(w, b, op->args[k]) : NULL;
        ir_value *part = t ? rule_apply(tangents_at(w, b), op->code, k, &at, t, r->type) : NULL;
        if (part)
            sum = sum ? ir_op2(tangents_at(w, b), OP_ADD, sum, part) : part;
    }
    if (!sum)
        return;
    if (sum->id >= first_new)
        name_tangent(w, sum, r);
    set_tangent(w, r, sum);
}

/* The subscripts and the component of a memory operation. */
static ir_value **subscripts(fwd *w, const ir_op *op)
{
    const int n = ir_field_of(op)->ndim + 1;
    ir_value **idx = ARENA_ARRAY(w->m->mem, ir_value *, n);
    for (int i = 0; i < n; i++)
        idx[i] = val(w, op->args[i]);
    return idx;
}

static void fwd_memory(fwd *w, ir_builder *b, const ir_op *op)
{
    if (!w->linear || !has_storage(w, op))
        fwd_plain(w, b, op);
    else if (op->code == OP_LOAD)
        drop_value(w, b, op->res[0]);
    if (!has_storage(w, op) || ((w->passive || w->still) && op->code == OP_LOAD))
        return;
    ir_field *f = ir_field_of(op), *const wide = wide_field(w, op);
    ir_plane plane = IR_DATA;
    ir_value **idx = subscripts(w, op), *comp = idx[f->ndim];
    if (w->beside) {
        idx[0] = ir_component_number(b, f, idx);
        comp = ir_const_i(b, SC_I64, 0);
        f = w->beside[ir_storage_of_op(op)];
    } else {
        plane = ir_tangent_of(ir_access_attr(op)->plane);
    }
    const ir_value *v = op->code == OP_LOAD ? op->res[0] : op->args[op->nargs - 1];
    if (op->code == OP_ACCUM && (!has_tangent(w, v) || (wide && wide_total(w, b, op, idx))))
        return;
    ir_builder *at = tangents_at(w, b);
    if (wide) {
        idx = wide_subscripts(w, f, idx, at->region->params[0]);
        comp = ir_const_i(at, SC_I64, 0);
        f = wide;
        plane = IR_DATA;
    }
    if (op->code == OP_LOAD) {
        ir_value *t = ir_load(at, f, plane, idx, comp);
        name_tangent(w, t, v);
        set_tangent(w, v, t);
    } else if (op->code == OP_STORE) {
        ir_store(at, f, plane, idx, comp, tan_or_zero(w, b, v));
    } else {
        ir_accum(at, f, plane, idx, comp, tangent(w, b, v));
    }
}

static void fwd_atomic(fwd *w, ir_builder *b, const ir_op *op)
{
    const bool active = ir_atomic_has_winner(op) && has_storage(w, op);
    assert(!active || w->width == 1);
    const ir_value *v = op->args[ir_field_of(op)->ndim + 1];
    ir_value *t = active ? tan_or_zero(w, b, v) : NULL;
    ir_op *c = fwd_plain(w, b, op);
    if (!active)
        return;
    if (ir_atomic_form(op) == IR_ATOMIC_RECORDED) {
        ir_add_arg(c, t);
        return;
    }
    /* at kernel level it is known at once whether it sets the element */
    ir_value *sets = ir_atomic_sets(b, op, val(w, v), c->res[0]), **idx = subscripts(w, op);
    ir_op *choice = ir_if(b, sets, 0, NULL);
    ir_builder in = {.func = w->out, .region = choice->regions[0], .loc = op->loc, .origin = b->origin};
    ir_store(&in, ir_field_of(op), ir_tangent_of(ir_access_attr(op)->plane), idx, idx[ir_field_of(op)->ndim], t);
    ir_yield(&in, 0, NULL);
    in.region = choice->regions[1];
    ir_yield(&in, 0, NULL);
}

static void fwd_local(fwd *w, ir_builder *b, const ir_op *op)
{
    const ir_value *array = op->code == OP_LOCAL ? op->res[0] : op->args[0];
    const bool drops = w->linear && w->act.varied[array->id];
    if (!drops)
        fwd_plain(w, b, op);
    else if (op->code == OP_LLOAD)
        drop_value(w, b, op->res[0]);
    if (!w->act.varied[array->id] || w->still)
        return;
    if (op->code == OP_LOCAL) {
        const char *name = array->name && !w->linear ? arena_printf(w->m->mem, "%s_dual", array->name) : array->name;
        ir_value *count = op->nargs ? val(w, op->args[0]) : NULL;
        if (count && w->width > 1)
            count = ir_op2(b, OP_MUL, count, ir_const_i(b, SC_I64, w->width));
        ir_map_set_other(&w->tan, array,
                         count ? ir_local_sized(b, ir_local_attr(op)->elem, count, name)
                               : ir_local(b, ir_local_attr(op)->elem, ir_local_attr(op)->count * w->width, name));
        return;
    }
    ir_value *shadow = ir_map_get(&w->tan, array);
    assert(shadow);
    ir_builder *at = tangents_at(w, b);
    ir_value *index = val(w, op->args[1]);
    if (w->width > 1)
        index = wide_element(w, at, index);
    if (op->code == OP_LSTORE) {
        ir_lstore(at, shadow, index, tan_or_zero(w, b, op->args[2]));
        return;
    }
    if (op->code == OP_LACCUM) {
        ir_laccum(at, shadow, index, tan_or_zero(w, b, op->args[2]));
        return;
    }
    ir_value *t = ir_lload(at, shadow, index);
    name_tangent(w, t, op->res[0]);
    set_tangent(w, op->res[0], t);
}

static void fwd_stack(fwd *w, ir_builder *b, const ir_op *op)
{
    const wide_layout *l = layout_of(w, op);
    assert(w->width == 1 || (w->linear && l->to->n == l->from->n)); /* what an adjoint saves is no gradient */
    ir_op *c = fwd_plain(w, b, op);
    ir_slot_attr(c)->layout = l->to;
    const int slot = op->code == OP_STK_ALLOC ? -1 : l->tangent[ir_slot_attr(op)->number];
    if (slot < 0)
        return;
    ir_op *t;
    if (op->code == OP_STK_STORE) {
        t = ir_insert(b, OP_STK_STORE, 3, (ir_value *[]){c->args[0], c->args[1], tan_or_zero(w, b, op->args[2])}, 0,
                      NULL, 0);
    } else {
        t = ir_insert(b, OP_STK_LOAD, 2, c->args, 1, &l->to->types[slot], 0);
        t->res[0]->name = l->to->names[slot];
        ir_map_set_other(&w->tan, op->res[0], t->res[0]);
    }
    ir_slot_attr(t)->layout = l->to;
    ir_slot_attr(t)->number = slot;
}

/* ---- calls ---- */

static bool touches_storage(const fwd *w, const ir_func *f)
{
    effects e = effects_of_region(w->m, f->body);
    bool any = false;
    for (size_t n = 0; n < ir_storage_count(w->m); n++)
        any |= e.at[n] && w->storage[n];
    effects_free(&e);
    return any;
}

/* Where the value decides, it is the function's own: what the program's derivative of it returns may have been computed
 * otherwise. */
static bool value_is_apart(const ir_op *call)
{
    const ir_func *f = ir_callee_of(call);
    bool exact = false;
    for (int i = 0; i < call->nres; i++)
        exact |= call->res[i]->exact;
    return exact && (f->external || (f->ad.custom_jvp && !f->ad.custom_jvp->prelude));
}

ir_op *fwd_call_of(fwd *w, ir_builder *b, const ir_op *op, ir_func *callee)
{
    value_list args = {0};
    for (int i = 0; i < op->nargs; i++)
        vec_push(&args, val(w, op->args[i]));
    for (int i = 0; i < op->nargs; i++)
        if (scalar_is_float(op->args[i]->type))
            vec_push(&args, tan_or_zero(w, b, op->args[i]));
    ir_op *c = ir_call(tangents_at(w, b), callee, (int)args.len, args.at);
    vec_free(&args);
    return c;
}

void fwd_set_tangent(fwd *w, const ir_value *v, ir_value *t)
{
    name_tangent(w, t, v);
    set_tangent(w, v, t);
}

/* A pull-back: linear in the gradients that it is given. */
static void fwd_pull_back(fwd *w, ir_builder *b, const ir_op *op)
{
    value_list args = {0};
    bool active = false;
    for (int i = 0; i < op->nargs; i++)
        active |= has_tangent(w, op->args[i]);
    if (!active) {
        fwd_plain(w, b, op);
        return;
    }
    for (int i = 0; i < op->nargs; i++) {
        ir_value *t = has_tangent(w, op->args[i]) ? tangent(w, b, op->args[i]) : NULL;
        vec_push(&args, t ? t : val(w, op->args[i]));
    }
    const ir_op *c = ir_call(tangents_at(w, b), ir_callee_of(op), (int)args.len, args.at);
    vec_free(&args);
    for (int i = 0; i < op->nres; i++) {
        drop_value(w, b, op->res[i]);
        fwd_set_tangent(w, op->res[i], c->res[i]);
    }
}

static void fwd_call(fwd *w, ir_builder *b, const ir_op *op)
{
    if (w->linear) {
        fwd_pull_back(w, b, op);
        return;
    }
    bool active = !w->passive && touches_storage(w, ir_callee_of(op));
    for (int i = 0; i < op->nargs; i++) {
        assert(op->args[i]->type != SC_PTR); /* lowering passes no arrays to functions */
        active |= has_tangent(w, op->args[i]);
    }
    bool useful = !ir_callee_of(op)->external; /* what is active in other functions is seen there */
    for (int i = 0; i < op->nres; i++)
        useful |= activity_has(&w->act, op->res[i]);
    if (!active || !useful || w->still || extern_lacks_derivative(op, false)) {
        fwd_plain(w, b, op);
        return;
    }
    if (w->gradient && fwd_args_call(w, b, op))
        return;
    if (w->gradient && w->kind != ALONG_REVERSED && ir_callee_of(op)->ad.custom_jvp &&
        !leaves_memory(ir_callee_of(op)->ad.custom_jvp, ir_callee_of(op), op->loc)) {
        fwd_plain(w, b, op);
        return;
    }
    ir_func *f = ir_callee_of(op);
    ir_op *c = fwd_call_of(w, b, op, w->gradient ? forward_args_func(w, f) : forward_func(f));
    const bool apart = w->width > 1 || value_is_apart(op); /* the value is computed once */
    if (apart)
        fwd_plain(w, b, op);
    int at = op->nres;
    for (int i = 0; i < op->nres; i++) {
        if (!apart) {
            c->res[i]->name = op->res[i]->name;
            ir_map_set(&w->val, op->res[i], c->res[i]);
        }
        if (!scalar_is_float(op->res[i]->type))
            continue;
        fwd_set_tangent(w, op->res[i], c->res[at++]);
    }
}

/* ---- regions ---- */

static void fwd_op(fwd *w, ir_builder *b, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
        fwd_memory(w, b, op);
        return;
    case OP_ATOMIC:
        fwd_atomic(w, b, op);
        return;
    case OP_LOCAL:
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
        fwd_local(w, b, op);
        return;
    case OP_STK_ALLOC:
    case OP_STK_LOAD:
    case OP_STK_STORE:
        fwd_stack(w, b, op);
        return;
    case OP_IF:
        fwd_if(w, b, op);
        return;
    case OP_LOOP:
        fwd_loop(w, b, op);
        return;
    case OP_TASK:
        fwd_task(w, b, op);
        return;
    case OP_CALL:
        fwd_call(w, b, op);
        return;
    case OP_YIELD: /* built by fwd_fill, which knows the tangents */
        return;
    default:
        if (op_carries_nothing(op->code)) {
            fwd_plain(w, b, op);
            return;
        }
        assert(op_is_pure_table(op->code));
        fwd_pure(w, b, op);
    }
}

void fwd_region(fwd *w, ir_builder *b, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        b->loc = op->loc;
        b->origin = op->origin ? op->origin : (ir_op *)op;
        fwd_op(w, b, op);
    }
    b->origin = NULL;
}

/* ---- functions ---- */

/* Which parameters have a tangent. */
static bool *with_tangent(const ir_func *f)
{
    bool *at = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int i = 0; i < f->body->nparams; i++)
        at[i] = scalar_is_float(f->body->params[i]->type);
    for (int i = 0; i < f->nsig && f->kind != IR_FUNC; i++)
        for (int k = 0; f->sig[i].no_dual && k < f->sig[i].rows * f->sig[i].cols; k++)
            at[f->sig[i].first + k] = false;
    return at;
}

static void copy_signature(fwd *w)
{
    const ir_func *f = w->from;
    ir_func *out = w->out;
    out->doc = f->doc;
    out->loc = f->loc;
    out->pure = f->pure;
    out->sig = f->sig;
    out->nsig = f->nsig;
    out->outs = f->outs;
    out->nouts = f->nouts;
    out->no_inline = f->no_inline;
    out->results = ARENA_ARRAY(w->m->mem, scalar, 2 * f->nresults + 1);
    for (int i = 0; i < f->nresults; i++)
        out->results[out->nresults++] = f->results[i];
    for (int i = 0; i < f->nresults && !w->linear; i++)
        if (scalar_is_float(f->results[i]))
            out->results[out->nresults++] = f->results[i];
    if (!out->body)
        out->body = ir_region_create(out);
    fwd_clone_params(w, out->body, f->body);
    const bool *at = with_tangent(f);
    for (int i = 0; i < f->body->nparams && !w->linear; i++)
        if (at[i])
            fwd_tangent_param(w, out->body, f->body->params[i]);
}

/* w has what is active and where. */
static void build_by(fwd *w)
{
    const ir_func *f = w->from;
    w->val = ir_map_create(f);
    w->tan = ir_map_create(f);
    if (w->width > 1)
        wide_begin(w);
    copy_signature(w);
    bool *tangent = ARENA_ARRAY(w->m->mem, bool, f->nresults + 1);
    for (int i = 0; i < f->nresults; i++)
        tangent[i] = scalar_is_float(f->results[i]) && !w->linear;
    fwd_fill(w, w->out->body, f->body, tangent);
    if (w->width > 1)
        wide_end(w);
    vec_free(&w->layouts);
    ir_map_free(&w->val);
    ir_map_free(&w->tan);
    activity_free(&w->act);
    decide_handed_on(w->out);
}

static void build(ir_func *f, ir_func *out, gradient_maker gradient, along_kind kind, int width)
{
    fwd w = {.m = f->module,
             .from = f,
             .out = out,
             .gradient = gradient,
             .kind = kind,
             .width = width,
             .passive = f->ad.no_grad || (f->ad.primal && f->ad.primal->ad.no_grad)};
    w.act = gradient ? activity_of_params(f, NULL) : activity_compute(f, ACTIVITY_FORWARD);
    if (w.passive)
        memset(w.act.varied, 0, w.act.n * sizeof *w.act.varied);
    w.storage = gradient ? activity_no_storage(w.m) : activity_storage_of(f, ACTIVITY_FORWARD);
    build_by(&w);
}

ir_func *forward_func(ir_func *f)
{
    if (f->ad.fn_jvp)
        return f->ad.fn_jvp;
    ir_module *m = f->module;
    ir_func *out = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_jvp", f->name)));
    f->ad.fn_jvp = out;
    out->ad.primal = f;
    build(f, out, NULL, ALONG_JVP, 1);
    pass_simplify(out);
    return out;
}

/* The same where memory counts as constant. */
static ir_func *push_func(ir_func *f, along_kind kind, gradient_maker gradient)
{
    if (f->ad.custom_jvp && (f->prelude || kind != ALONG_REVERSED))
        return forward_func(f);
    if (f->ad.args_jvp[kind])
        return f->ad.args_jvp[kind];
    ir_module *m = f->module;
    ir_func *out = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_push", f->name)));
    f->ad.args_jvp[kind] = out;
    build(f, out, gradient, kind, 1);
    pass_simplify(out);
    out->nouts = 0; /* the results are others */
    ir_forget_origins(out);
    return out;
}

static ir_func *forward_args_func(const fwd *w, ir_func *f)
{
    return push_func(f, w->kind, w->gradient);
}

/* Of what has derivatives of its own, and of gradients that keep values, those of a call. */
ir_func *forward_column(ir_func *f, src_loc at)
{
    if (f->ad.custom_jvp) {
        (void)leaves_memory(f->ad.custom_jvp, f, at);
        return forward_func(f);
    }
    if ((!f->ad.custom_grad && !f->ad.gradient_of) || f->ad.args_jvp[ALONG_COLUMN])
        return push_func(f, ALONG_COLUMN, gradient_along);
    ir_func *calls = ir_func_that_calls(f, f, false);
    f->ad.args_jvp[ALONG_COLUMN] = push_func(calls, ALONG_COLUMN, gradient_along);
    rev_forget(f->module, calls);
    return f->ad.args_jvp[ALONG_COLUMN];
}

ir_func *forward_along(ir_func *f, along_kind kind, gradient_maker gradient)
{
    if (f->ad.along[kind])
        return f->ad.along[kind];
    ir_module *m = f->module;
    ir_func *out = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_along", f->name)));
    f->ad.along[kind] = out;
    build(f, out, gradient, kind, 1);
    ir_remove_arg(ir_yield_of(out->body), 0); /* the value */
    out->results++;
    out->nresults--;
    pass_simplify(out);
    out->nouts = 0; /* the results are others */
    ir_forget_origins(out);
    return out;
}

ir_func *pass_forward(ir_func *f, ir_func_kind kind, const char *name, int width)
{
    assert(kind == IR_KERNEL_HVP ? f->kind == IR_KERNEL_GRAD : kind == IR_KERNEL_JVP && f->kind == IR_KERNEL);
    ir_func *out = ir_func_create(f->module, kind, name);
    out->ad.primal = f->ad.primal ? f->ad.primal : f;
    if (kind == IR_KERNEL_HVP)
        out->ad.primal->ad.hvp = out;
    else
        f->ad.jvp = out;
    build(f, out, NULL, ALONG_JVP, width);
    return out;
}

ir_func *forward_beside(ir_func *f, const char *name, const bool *active, ir_field *const *beside)
{
    fwd w = {.m = f->module,
             .from = f,
             .out = ir_func_create(f->module, f->kind, name),
             .storage = active,
             .width = 1,
             .beside = beside,
             .act = activity_of_memory(f, active)};
    build_by(&w);
    w.out->ad = f->ad;
    return w.out;
}

ir_func *forward_wide_adjoint(ir_func *adjoint, int width)
{
    ir_module *m = adjoint->module;
    bool *active = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
    for (size_t i = 0; i < m->fields.len; i++)
        active[ir_storage_of(m->fields.at[i], IR_GRAD)] = m->fields.at[i]->wide[IR_GRAD] != NULL;
    fwd w = {.m = m,
             .from = adjoint,
             .out = ir_func_create(m, adjoint->kind, adjoint->name),
             .storage = active,
             .width = width,
             .linear = true,
             .act = activity_of_memory(adjoint, active)};
    build_by(&w);
    w.out->ad = adjoint->ad;
    return w.out;
}
