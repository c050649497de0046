/* Inputs are symbols: they get a value when they are first read, and have it in the whole trial. What a loop carries is
 * computed from the iterations before. What the kernel computes otherwise (sums of loops, results of calls, memory that
 * it fills first) is a symbol as well, but all symbols of a trial are then of one such origin: two may exclude each
 * other. */
#include "passes/analysis/values.h"
#include "passes/rules/witness_values.h"

#include <stdlib.h>
#include <string.h>

uint64_t trial_draw(trial *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % n;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t mix_pointer(uint64_t h, const void *p)
{
    return mix(h, (uint64_t)(uintptr_t)p);
}

static uint64_t mix_value(uint64_t h, const_value v)
{
    uint64_t bits = (uint64_t)v.i;
    if (scalar_is_float(v.type))
        memcpy(&bits, &v.f, sizeof bits);
    return mix(h, bits);
}

static const_value fail(trial *s, scalar type)
{
    s->failed = true;
    return (const_value){.type = type};
}

static const_value integer(scalar type, int64_t i)
{
    return (const_value){.type = type, .i = ir_wrap_int(type, i)};
}

static const_value draw_value(trial *s, scalar type)
{
    static const double some[] = {-2, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 3};
    if (type == SC_BOOL)
        return integer(type, (int64_t)trial_draw(s, 2));
    const const_value *near = s->npool && trial_draw(s, 2) ? &s->pool[trial_draw(s, (uint64_t)s->npool)] : NULL;
    if (near && scalar_is_float(near->type) != scalar_is_float(type))
        near = NULL;
    if (scalar_is_float(type)) {
        const double f = near ? near->f + 0.5 * ((double)trial_draw(s, 3) - 1)
                              : some[trial_draw(s, sizeof some / sizeof *some)];
        return eval_cast((const_value){.type = SC_F64, .f = f}, type);
    }
    if (near)
        return integer(type, (int64_t)((uint64_t)near->i + trial_draw(s, 3) - 1));
    return integer(type, (int64_t)trial_draw(s, 11) - (scalar_is_signed(type) ? 1 : 0));
}

static const_value symbol_of(trial *s, uint64_t key, scalar type)
{
    s->data = true;
    for (int i = 0; i < s->nsymbols; i++)
        if (s->symbols[i].key == key)
            return s->symbols[i].v;
    if (s->nsymbols == TRIAL_SYMBOLS || type == SC_PTR)
        return fail(s, type);
    const const_value v = draw_value(s, type);
    s->symbols[s->nsymbols++] = (trial_symbol){key, v};
    return v;
}

/* The same for what the kernel computes: at one origin, in any iterations. */
static const_value computed(trial *s, uint64_t key, uint64_t origin, scalar type)
{
    origin |= 1;
    if (s->computed && s->computed != origin)
        return fail(s, type);
    s->computed = origin;
    s->memory = true;
    return symbol_of(s, key, type);
}

static void remember(trial *s, const_value v)
{
    for (int i = 0; i < s->npool; i++)
        if (s->pool[i].type == v.type && mix_value(0, s->pool[i]) == mix_value(0, v))
            return;
    if (s->npool < TRIAL_POOL)
        s->pool[s->npool++] = v;
}

/* ---- values ---- */

trial_slot *trial_slot_of(trial_side *x, const ir_op *op, int frame, int dim)
{
    for (int i = 0; i < (int)x->slots.len; i++)
        if (x->slots.at[i].op == op && x->slots.at[i].frame == frame && x->slots.at[i].dim == dim)
            return &x->slots.at[i];
    return NULL;
}

/* The result of a loop: nothing is known but where and in which iterations it is computed. */
static const_value result_of_loop(trial *s, const trial_side *x, const ir_value *v, int frame)
{
    uint64_t key = mix_pointer(1, v);
    for (int f = frame; f > 0; f--)
        key = mix_pointer(key, x->call.at[f]);
    for (int i = 0; i < (int)x->slots.len; i++)
        for (int k = 0; k < x->slots.at[i].op->nregions; k++)
            if (x->slots.at[i].frame < frame ||
                (x->slots.at[i].frame == frame && ir_region_is_ancestor(x->slots.at[i].op->regions[k], v->region)))
                key = mix(mix_pointer(key, x->slots.at[i].op), (uint64_t)x->slots.at[i].index);
    return computed(s, key, mix_pointer(1, v), v->type);
}

static uint64_t key_of_operands(trial *s, trial_side *x, const ir_op *op, int frame, uint64_t key)
{
    for (int i = 0; i < op->nargs && !s->failed; i++)
        key = mix_value(key, trial_eval(s, x, op->args[i], frame));
    return key;
}

/* The same inputs give the same outputs. */
static const_value uninterpreted(trial *s, trial_side *x, const ir_value *v, int frame, uint64_t key)
{
    s->memory = true;
    return symbol_of(s, key_of_operands(s, x, v->def, frame, key), v->type);
}

static const_value result_of_call(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const uint64_t origin = mix(mix_pointer(9, ir_callee_of(v->def)), (uint64_t)v->index);
    return computed(s, key_of_operands(s, x, v->def, frame, origin), origin, v->type);
}

static bool in_loop_around(const ir_op *op, const ir_op *other)
{
    for (const ir_op *o = op->region->parent; o; o = o->region->parent)
        for (int k = 0; k < o->nregions && o->code == OP_LOOP; k++)
            if (ir_region_is_ancestor(o->regions[k], other->region))
                return true;
    return false;
}

/* Whether the kernel changes what `load` reads, and whether it has done so before both accesses and does not again. */
static bool is_written(trial *s, const trial_side *x, const ir_op *load, int frame, bool *settled)
{
    const ir_op *at = frame ? x->call.at[1] : load, *ends[] = {s->read.a->op, s->write.a->op};
    bool written = false;
    *settled = true;
    for (size_t i = 0; i < s->nwrites; i++) {
        const access *w = &s->writes[i];
        if (w->field != ir_field_of(load) || w->plane != ir_access_attr(load)->plane)
            continue;
        written = true;
        for (int k = 0; k < 2; k++)
            *settled &= w->op->pos < at->pos && w->op->pos < ends[k]->pos && !in_loop_around(w->op, ends[k]);
    }
    return written;
}

/* Memory is taken to hold one value. What the kernel changes meanwhile holds anything in one iteration, but not in two:
 * what it is in the second one depends on what the first one did. */
static const_value eval_load(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_op *op = v->def;
    const uint64_t origin = mix(mix_pointer(7, ir_field_of(op)), ir_access_attr(op)->plane),
                   key = key_of_operands(s, x, op, frame, origin);
    bool settled;
    s->memory = true;
    if (!is_written(s, x, op, frame, &settled))
        return symbol_of(s, key, v->type);
    s->changing |= !settled;
    return computed(s, key, origin, v->type);
}

uint64_t trial_iteration_of(const trial_slot *at)
{
    return (uint64_t)at->index - (uint64_t)at->lo;
}

static const_value eval_index(trial *s, trial_side *x, const ir_op *loop, int frame, const ir_value *v)
{
    const trial_slot *at = trial_slot_of(x, loop, frame, v->index);
    if (!at)
        return fail(s, v->type);
    s->data |= at->data;
    return integer(v->type, at->index);
}

static const_value eval_carried(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_op *loop = v->region->parent;
    trial_slot *at = trial_slot_of(x, loop, frame, 0);
    const bool body = v->region == loop->regions[0];
    const int bounded = ir_loop_attr(loop)->bounded ? 1 : 0;
    const int j = v->index - (body ? bounded : 0);
    if (!at || trial_iteration_of(at) > TRIAL_CARRIED)
        return fail(s, v->type);
    if (at->index == at->lo)
        return trial_eval(s, x, loop->args[2 * bounded + j], frame);
    at->index--;
    const const_value r = trial_eval(s, x, ir_yield_of(loop->regions[0])->args[j], frame);
    at->index++;
    return r;
}

/* Bounds are short sums and quotients of sizes. */
enum { SIZE_DEPTH = 8 };

static void add_sizes(trial *s, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (op ? op->code == OP_MPARAM : !v->region->parent) {
        vec_push(&s->sizes, v);
        return;
    }
    for (int i = 0; op && op_is_pure_table(op->code) && i < op->nargs && depth < SIZE_DEPTH; i++)
        add_sizes(s, op->args[i], depth + 1);
}

void trial_add_sizes(trial *s, const ir_value *v)
{
    if (scalar_is_int(v->type))
        add_sizes(s, v, 0);
}

static bool is_size(const trial *s, const ir_value *v)
{
    for (size_t i = 0; i < s->sizes.len; i++) {
        const ir_value *size = s->sizes.at[i];
        if (v == size || (v->def && v->def->code == OP_MPARAM && size->def &&
                          ir_mparam_attr(v->def)->param == ir_mparam_attr(size->def)->param))
            return scalar_is_int(v->type);
    }
    return false;
}

static const_value eval_param(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_op *parent = v->region->parent;
    if (!parent && frame > 0)
        return trial_eval(s, x, x->call.at[frame]->args[v->index], frame - 1);
    if (!parent && is_size(s, v)) {
        s->sized = true;
        return integer(v->type, s->size);
    }
    if (!parent) {
        s->memory |= v->region->func->kind == IR_FUNC; /* its callers compute it */
        return symbol_of(s, mix_pointer(2, v), v->type);
    }
    if (parent->code == OP_LOOP && !(ir_loop_attr(parent)->bounded && v->region == parent->regions[0] && v->index == 0))
        return eval_carried(s, x, v, frame);
    return eval_index(s, x, parent, frame, v);
}

static const_value eval_pure(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_op *op = v->def;
    const_value args[3] = {{0}}, r;
    for (int i = 0; i < op->nargs && !s->failed; i++)
        args[i] = trial_eval(s, x, op->args[i], frame);
    if (s->failed)
        return fail(s, v->type);
    if (op->code == OP_CAST)
        return eval_cast(args[0], v->type);
    return eval_op(op->code, args, &r) ? r : uninterpreted(s, x, v, frame, mix(3, (uint64_t)op->code));
}

static const_value eval_extent(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_field *f = ir_field_of(v->def);
    const ir_value *extent = extent_value(v->def->region->func, f, (int)ir_shape_attr(v->def)->dim);
    return extent && extent != v ? trial_eval(s, x, extent, frame)
                                 : symbol_of(s, mix(mix_pointer(4, f), (uint64_t)ir_shape_attr(v->def)->dim), v->type);
}

static const_value eval_mparam(trial *s, const ir_value *v)
{
    const ir_mparam *p = ir_mparam_attr(v->def)->param;
    if (!s->defaults)
        return symbol_of(s, mix_pointer(5, p), v->type);
    /* A program that is wrong by default is wrong. Of a race, if only sizes decide. */
    s->data |= s->task && !p->sizes && !is_size(s, v);
    const_value r = {.type = v->type};
    if (scalar_is_float(v->type))
        r.f = p->fdefault;
    else
        r.i = p->idefault;
    return r;
}

static const_value constant(trial *s, const ir_value *v)
{
    const_value r = {.type = v->type};
    if (v->type == SC_PTR)
        return fail(s, v->type);
    if (scalar_is_float(v->type))
        r.f = ir_float(v);
    else
        r.i = ir_int(v);
    remember(s, r);
    return r;
}

const_value trial_eval(trial *s, trial_side *x, const ir_value *v, int frame)
{
    if (s->failed || --s->budget < 0)
        return fail(s, v->type);
    const ir_op *op = v->def;
    if (!op)
        return eval_param(s, x, v, frame);
    switch (op->code) {
    case OP_CONST:
        return constant(s, v);
    case OP_MPARAM:
        return eval_mparam(s, v);
    case OP_SHAPE:
        return eval_extent(s, x, v, frame);
    case OP_KEY:
        return symbol_of(s, 6, v->type);
    case OP_STOP:
        return trial_eval(s, x, op->args[0], frame);
    case OP_LOAD:
        return eval_load(s, x, v, frame);
    case OP_CALL:
        return result_of_call(s, x, v, frame);
    case OP_LOOP:
    case OP_TASK:
        return result_of_loop(s, x, v, frame);
    case OP_SELECT: {
        const const_value c = trial_eval(s, x, op->args[0], frame);
        return s->failed ? fail(s, v->type) : trial_eval(s, x, op->args[c.i ? 1 : 2], frame);
    }
    case OP_IF: {
        const const_value c = trial_eval(s, x, op->args[0], frame);
        return s->failed ? fail(s, v->type)
                         : trial_eval(s, x, ir_yield_of(op->regions[c.i ? 0 : 1])->args[v->index], frame);
    }
    default:
        return op_is_pure_table(op->code) ? eval_pure(s, x, v, frame) : fail(s, v->type); /* local arrays, atomics */
    }
}

/* ---- which value it is, whatever it is ---- */

static uint64_t key_of_value(trial *s, trial_side *x, const ir_value *v, int frame);

static uint64_t key_of_operation(trial *s, trial_side *x, const ir_op *op, int frame, uint64_t key)
{
    for (int i = 0; i < op->nargs; i++)
        key = mix(key, key_of_value(s, x, op->args[i], frame));
    return key;
}

static uint64_t key_of_input(trial *s, trial_side *x, const ir_value *v, int frame)
{
    const ir_op *op = v->def;
    bool settled;
    if (!op && !v->region->parent)
        return frame > 0 ? key_of_value(s, x, x->call.at[frame]->args[v->index], frame - 1) : mix_pointer(2, v);
    if (op && op->code == OP_MPARAM)
        return mix_pointer(5, ir_mparam_attr(op)->param);
    if (op && op->code == OP_CAST && scalar_is_int(v->type) && scalar_is_int(op->args[0]->type))
        return key_of_value(s, x, op->args[0], frame);
    if (op && op->code == OP_LOAD && !is_written(s, x, op, frame, &settled))
        return key_of_operation(s, x, op, frame, mix(mix_pointer(7, ir_field_of(op)), ir_access_attr(op)->plane));
    if (op && op_is_pure_table(op->code))
        return key_of_operation(s, x, op, frame, mix(3, (uint64_t)op->code));
    s->failed = true;
    return 0;
}

/* Without inputs, the value itself. */
static uint64_t key_of_value(trial *s, trial_side *x, const ir_value *v, int frame)
{
    s->data = false;
    const const_value known = trial_eval(s, x, v, frame);
    return s->failed ? 0 : s->data ? key_of_input(s, x, v, frame) : mix_value(10, known);
}

bool trial_is_same(trial *s, const ir_value *of_read, const ir_value *of_write)
{
    const uint64_t a = key_of_value(s, &s->read, of_read, (int)s->read.call.len - 1);
    const uint64_t b = key_of_value(s, &s->write, of_write, (int)s->write.call.len - 1);
    return !s->failed && a == b;
}
