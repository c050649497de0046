/* Which values of a parallel loop's body are the same for neighbouring iterations, which loops all of them run
 * together, and whether it pays to run them so.
 *
 * A value is taken for uniform until something varying reaches it: the loop's index, memory that the loop writes, or a
 * branch that some iterations take and some do not. That is a fixpoint over values, local arrays and members of saved
 * structs.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/lanes/lanes.h"
#include "passes/schedule/schedule.h"

/* ---- saved structs ---- */

static lanes_layout *find_layout(const lanes_study *s, const ir_layout *l)
{
    for (size_t i = 0; i < s->layouts.len; i++)
        if (s->layouts.at[i].layout == l)
            return &s->layouts.at[i];
    return NULL;
}

bool lanes_member_varies(const lanes_study *s, const ir_layout *l, int64_t number)
{
    const lanes_layout *of = find_layout(s, l);
    return of && of->varies[number];
}

bool lanes_layout_is_wide(const lanes_study *s, const ir_layout *l)
{
    const lanes_layout *of = find_layout(s, l);
    return of && of->any;
}

/* ---- what varies ---- */

typedef struct spreading {
    lanes_study *s;
    bool changed;
} spreading;

static void vary(spreading *p, const ir_value *v)
{
    if (p->s->varying[v->id])
        return;
    p->s->varying[v->id] = true;
    p->changed = true;
}

static void vary_if(spreading *p, bool when, const ir_value *v)
{
    if (when)
        vary(p, v);
}

static bool any_varies(const lanes_study *s, const ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        if (s->varying[op->args[i]->id])
            return true;
    return false;
}

static void vary_member(spreading *p, const ir_op *op)
{
    const ir_layout *l = ir_layout_of(op);
    lanes_layout *of = find_layout(p->s, l);
    if (!of) {
        bool *varies = ARENA_ARRAY(p->s->f->module->mem, bool, l->n);
        vec_push(&p->s->layouts, ((lanes_layout){l, varies, false}));
        of = &vec_last(&p->s->layouts);
    }
    const int64_t number = ir_slot_attr(op)->number;
    p->changed |= !of->varies[number];
    of->varies[number] = of->any = true;
}

/* All lanes run it together, as often as each other. */
static bool runs_together(const lanes_study *s, const ir_op *loop, bool divergent)
{
    return !divergent && ir_loop_attr(loop)->bounded && !ir_loop_attr(loop)->cond && !s->varying[loop->args[0]->id] &&
           !s->varying[loop->args[1]->id];
}

/* apart: some lanes run this and some do not. */
static void spread_region(spreading *p, const ir_region *r, bool divergent);

static void spread_loop(spreading *p, const ir_op *op, bool divergent)
{
    lanes_study *s = p->s;
    const ir_region *body = op->regions[0];
    if (!runs_together(s, op, divergent)) {
        for (int k = 0; k < op->nregions; k++)
            for (int i = 0; i < op->regions[k]->nparams; i++)
                vary(p, op->regions[k]->params[i]);
        for (int i = 0; i < op->nres; i++)
            vary(p, op->res[i]);
        for (int k = 0; k < op->nregions; k++)
            spread_region(p, op->regions[k], true);
        return;
    }
    const ir_op *y = ir_yield_of(body);
    for (int k = 0; k < op->nres; k++) {
        const ir_value *param = body->params[1 + k];
        vary_if(p, s->varying[op->args[2 + k]->id] || s->varying[y->args[k]->id], param);
        vary_if(p, s->varying[param->id], op->res[k]);
    }
    spread_region(p, body, false);
}

static void spread_if(spreading *p, const ir_op *op, bool divergent)
{
    lanes_study *s = p->s;
    const bool choice = s->varying[op->args[0]->id];
    for (int k = 0; k < 2; k++)
        spread_region(p, op->regions[k], divergent || choice);
    for (int i = 0; i < op->nres; i++)
        vary_if(p,
                choice || s->varying[ir_yield_of(op->regions[0])->args[i]->id] ||
                    s->varying[ir_yield_of(op->regions[1])->args[i]->id],
                op->res[i]);
}

/* What a function reads of what the loop writes: the effects of calls are among what is touched, reads alone. */
static bool reads_what_is_written(const lanes_study *s, const ir_op *call)
{
    const ir_module *m = s->f->module;
    effects e = effects_of_op(m, call);
    bool any = false;
    for (ir_storage at = 0; at < ir_storage_count(m); at++)
        any |= e.at[at] && (s->touched[at] & (OP_STORES | OP_ADDS));
    effects_free(&e);
    return any;
}

static void vary_if_any(spreading *p, const ir_op *op, bool when)
{
    for (int i = 0; i < op->nres; i++)
        vary_if(p, when, op->res[i]);
}

static void spread_op(spreading *p, const ir_op *op, bool divergent)
{
    lanes_study *s = p->s;
    switch (op->code) {
    case OP_IF:
        spread_if(p, op, divergent);
        return;
    case OP_LOOP:
        spread_loop(p, op, divergent);
        return;
    case OP_LOAD:
        vary_if(p, any_varies(s, op) || (s->touched[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS)), op->res[0]);
        return;
    case OP_LSTORE:
        vary_if(p, divergent || s->varying[op->args[1]->id] || s->varying[op->args[2]->id], op->args[0]);
        return;
    case OP_STK_STORE:
        if (divergent || s->varying[op->args[1]->id] || s->varying[op->args[2]->id])
            vary_member(p, op);
        return;
    case OP_CALL:
        vary_if_any(p, op, any_varies(s, op) || reads_what_is_written(s, op));
        return;
    case OP_STK_LOAD:
        vary_if(p, s->varying[op->args[1]->id] || lanes_member_varies(s, ir_layout_of(op), ir_slot_attr(op)->number),
                op->res[0]);
        return;
    default:
        for (int i = 0; i < op->nres; i++)
            vary_if(p, any_varies(s, op), op->res[i]);
    }
}

static void spread_region(spreading *p, const ir_region *r, bool divergent)
{
    for (const ir_op *op = r->first; op; op = op->next)
        spread_op(p, op, divergent);
}

/* ---- what cannot be split ---- */

static bool is_inside(const lanes_study *s, const ir_value *v)
{
    return ir_region_is_ancestor(s->loop->regions[0], v->region);
}

static void refuse(lanes_study *s, ir_no_lanes why)
{
    if (!s->why)
        s->why = why;
}

static void number(ir_op *op, void *ctx)
{
    lanes_study *s = ctx;
    op->pos = (uint32_t)s->ops.len;
    vec_push(&s->ops, op);
    op_touch touched[OP_TOUCHED_MAX];
    for (int n = op_touched(op, touched), i = 0; i < n; i++)
        s->touched[touched[i].at] |= (unsigned char)touched[i].what;
    if (op->code == OP_CALL && (ir_op_has_effect(op) || ir_callee_of(op)->external))
        refuse(s, IR_NO_LANES_CALLS);
    if (op->code == OP_CALL) { /* what is read there counts as read here */
        effects e = effects_of_op(s->f->module, op);
        for (ir_storage at = 0; at < ir_storage_count(s->f->module); at++)
            s->touched[at] |= e.at[at];
        effects_free(&e);
    }
    switch (op->code) {
    case OP_ATOMIC:
    case OP_REC_ALLOC:
    case OP_REC_GET:
    case OP_REC_STORE:
    case OP_REC_LOAD:
    case OP_REC_WON:
        refuse(s, IR_NO_LANES_ATOMICS);
        return;
    case OP_ASSERT:
    case OP_PRINT:
    case OP_DECISION:
    case OP_NEED:
    case OP_KEEP:
        refuse(s, IR_NO_LANES_ASSERTS);
        return;
    case OP_LSTORE:
        if (!is_inside(s, op->args[0]))
            refuse(s, IR_NO_LANES_ARRAY);
        return;
    case OP_LACCUM:
        s->adds_to_array = true;
        return;
    default:
        return;
    }
}

/* ---- kinds ---- */

static bool writes_field(const ir_op *op)
{
    return op->code == OP_STORE || op->code == OP_ACCUM || op->code == OP_LACCUM;
}

/* Nothing in it, nor what it gives, differs. */
static bool is_uniform(const lanes_study *s, const ir_op *op)
{
    if (writes_field(op))
        return false;
    for (int i = 0; i < op->nres; i++)
        if (s->varying[op->res[i]->id] && op->code != OP_LOCAL)
            return false;
    if (op->code == OP_LSTORE)
        return !s->varying[op->args[0]->id];
    if (op->code == OP_STK_STORE)
        return !lanes_member_varies(s, ir_layout_of(op), ir_slot_attr(op)->number);
    if (op->code != OP_LOCAL && op->code != OP_YIELD && any_varies(s, op))
        return false;
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            if (!is_uniform(s, in) || (in->code == OP_YIELD && any_varies(s, in)))
                return false;
    return true;
}

static bool region_kinds(lanes_study *s, const ir_region *r, bool divergent);

/* Whether it is split, or holds what is. */
static bool op_kind(lanes_study *s, ir_op *op, bool divergent)
{
    bool inside = false, together = !divergent;
    if (op->code == OP_LOOP)
        together = runs_together(s, op, divergent);
    else if (op->code == OP_IF)
        together = !divergent && !s->varying[op->args[0]->id];
    if (divergent && (op->code == OP_STK_ALLOC || op->code == OP_STK_MARK || op->code == OP_STK_RELEASE))
        refuse(s, IR_NO_LANES_SAVES);
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->type == SC_PTR && op->code != OP_LOCAL &&
            (s->varying[op->res[i]->id] || op->code == OP_IF || op->code == OP_LOOP))
            refuse(s, IR_NO_LANES_SAVES);
    for (int k = 0; k < op->nregions; k++)
        inside |= region_kinds(s, op->regions[k], !together);
    if (op->code == OP_LOCAL && !divergent && s->varying[op->res[0]->id])
        s->wide[op->res[0]->id] = true;
    if (!divergent && is_uniform(s, op)) {
        s->kind[op->pos] = LANES_UNIFORM;
        return op->code == OP_LOCAL || op->code == OP_STK_ALLOC || op->code == OP_STK_MARK;
    }
    const bool split = together && (op->code == OP_LOOP || (op->code == OP_IF && inside));
    s->kind[op->pos] = split ? LANES_SPLIT : LANES_INNER;
    return split;
}

static bool region_kinds(lanes_study *s, const ir_region *r, bool divergent)
{
    bool inside = false;
    for (ir_op *op = r->first; op; op = op->next)
        inside |= op_kind(s, op, divergent);
    return inside;
}

/* What follows from the values that the loop carries runs lane after lane, behind all else. */
static void find_carried(lanes_study *s)
{
    const ir_region *body = s->loop->regions[0];
    for (int i = 1; i < body->nparams; i++)
        s->carried[body->params[i]->id] = true;
    for (size_t n = 0; n < s->ops.len; n++) {
        const ir_op *op = s->ops.at[n];
        bool follows = false;
        for (int i = 0; i < op->nargs; i++)
            follows |= s->carried[op->args[i]->id];
        if (!follows || (op->code == OP_YIELD && op->region == body))
            continue;
        if (op->region != body || !op_follows_from_operands(op->code))
            refuse(s, IR_NO_LANES_CARRIED);
        for (int i = 0; i < op->nres; i++)
            s->carried[op->res[i]->id] = true;
    }
}

void lanes_look(lanes_study *s)
{
    arena *mem = s->f->module->mem;
    const ir_region *body = s->loop->regions[0];
    s->nvalues = s->f->next_value;
    s->varying = ARENA_ARRAY(mem, bool, s->nvalues + 1);
    s->wide = ARENA_ARRAY(mem, bool, s->nvalues + 1);
    s->carried = ARENA_ARRAY(mem, bool, s->nvalues + 1);
    s->touched = ARENA_ARRAY(mem, unsigned char, ir_storage_count(s->f->module) + 1);
    ir_walk(s->loop->regions[0], number, s);
    s->kind = ARENA_ARRAY(mem, unsigned char, s->ops.len + 1);
    for (int i = 0; i < body->nparams; i++)
        s->varying[body->params[i]->id] = true;
    spreading p = {.s = s, .changed = true};
    while (p.changed) {
        while (p.changed) {
            p.changed = false;
            spread_region(&p, body, false);
        }
        region_kinds(s, body, false);
        for (size_t n = 0; n < s->ops.len; n++) /* what lanes compute one by one is not there in front of them */
            for (int i = 0; i < s->ops.at[n]->nres; i++)
                vary_if(&p, lanes_kind_of(s, s->ops.at[n]) == LANES_INNER, s->ops.at[n]->res[i]);
    }
    find_carried(s);
}

void lanes_free(lanes_study *s)
{
    vec_free(&s->ops);
    vec_free(&s->layouts);
}

static bool is_inner(const ir_op *op)
{
    return op->code == OP_LOOP || op->code == OP_LOCAL;
}

bool lanes_have_inner(const ir_op *loop)
{
    return ir_has(loop->regions[0], is_inner);
}

void lanes_each_use(const ir_op *op, void (*use)(void *ctx, const ir_value *v), void *ctx)
{
    for (int i = 0; i < op->nargs; i++)
        use(ctx, op->args[i]);
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            lanes_each_use(in, use, ctx);
}

bool lanes_sum_up(const lanes_study *s, const ir_op *op)
{
    if (op->code != OP_ACCUM || ir_access_attr(op)->exact || s->touched[ir_storage_of_op(op)] != OP_ADDS)
        return false;
    for (int i = 0; i <= ir_field_of(op)->ndim; i++)
        if (is_inside(s, op->args[i]) && s->varying[op->args[i]->id])
            return false;
    return true;
}

/* ---- where they look ---- */

/* Neighbouring iterations touch neighbouring elements. */
static bool is_contiguous(const lanes_study *s, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const ir_value *index = s->loop->regions[0]->params[0];
    if (f->ndim == 0)
        return false;
    for (int d = 0; d < f->ndim; d++) {
        const affine a = affine_of(op->args[d]);
        if (!a.ok)
            return false;
        for (int k = 0; k < a.n; k++)
            if (s->varying[a.term[k]->id] && (a.term[k] != index || d != f->ndim - 1 || a.coef[k] != 1))
                return false;
    }
    return true;
}

bool lanes_are_strided(const lanes_study *s, const ir_op *access)
{
    bool varies = false;
    for (int d = 0; d < ir_field_of(access)->ndim; d++)
        varies |= s->varying[access->args[d]->id];
    return varies && !is_contiguous(s, access);
}
