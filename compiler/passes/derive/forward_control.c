/* Forward mode of operations with regions: what they carry, yield and reduce gets its tangents beside it. */
#include <assert.h>

#include "passes/derive/forward.h"

typedef VEC(scalar) type_list;

void fwd_clone_params(fwd *w, ir_region *to, const ir_region *from)
{
    for (int i = 0; i < from->nparams; i++)
        ir_map_set(&w->val, from->params[i], ir_region_param_like(to, from->params[i]));
}

void fwd_tangent_param(fwd *w, ir_region *to, const ir_value *p)
{
    ir_value *t = ir_region_param(to, p->type, NULL);
    name_tangent(w, t, p);
    ir_map_set_other(&w->tan, p, t);
}

/* Puts the tangents of values into the arrays of other ones, all of them behind all that are read. */
static void fill_arrays(fwd *w, ir_builder *b, ir_value *const *from, ir_value *const *to, const bool *which, int n)
{
    value_list tangents = {0};
    for (int k = 0; k < n; k++)
        if (which[k])
            vec_push(&tangents, tan_or_zero(w, b, from[k]));
    for (int k = 0, at = 0; k < n; k++)
        if (which[k]) {
            ir_builder *in = tangents_at(w, b);
            ir_lstore(in, w->kept[to[k]->id], in->region->params[0], tangents.at[at++]);
        }
    vec_free(&tangents);
}

/* Of several directions: with the tangents of what the region yields in the arrays of `whose`. */
static void fill(fwd *w, ir_region *to, const ir_region *from, const bool *tangent, ir_value *const *whose)
{
    ir_builder b = {.func = w->out, .region = to};
    fwd_region(w, &b, from);
    const ir_op *y = ir_yield_of(from);
    b.loc = y->loc;
    if (whose)
        fill_arrays(w, &b, y->args, whose, tangent, y->nargs);
    if (w->width > 1 && w->open && w->open->region == to)
        wide_close(w, &b);
    value_list vals = {0};
    for (int k = 0; k < y->nargs; k++)
        vec_push(&vals, val(w, y->args[k]));
    for (int k = 0; k < y->nargs && !whose; k++)
        if (tangent && tangent[k])
            vec_push(&vals, tan_or_zero(w, &b, y->args[k]));
    ir_yield(&b, (int)vals.len, vals.at);
    vec_free(&vals);
}

void fwd_fill(fwd *w, ir_region *to, const ir_region *from, const bool *tangent)
{
    fill(w, to, from, tangent, NULL);
}

static ir_region *add_region(fwd *w, ir_op *op, int k)
{
    ir_region *r = ir_region_create(w->out);
    ir_set_region(op, k, r);
    return r;
}

static void map_results(fwd *w, const ir_op *op, const ir_op *c, const bool *tangent, int ncarried, int first_tangent)
{
    int at = first_tangent;
    for (int k = 0; k < ncarried; k++) {
        c->res[k]->name = op->res[k]->name;
        ir_map_set(&w->val, op->res[k], c->res[k]);
        if (!tangent[k] || w->width > 1)
            continue;
        name_tangent(w, c->res[at], op->res[k]);
        ir_map_set_other(&w->tan, op->res[k], c->res[at++]);
    }
}

/* Which results get a tangent; their types, then the tangents' types, are appended to `types`. In several directions
 * tangents are in arrays. */
static bool *choose(fwd *w, const ir_op *op, int n, type_list *types)
{
    bool *tangent = ARENA_ARRAY(w->m->mem, bool, n + 1);
    for (int k = 0; k < n; k++)
        vec_push(types, op->res[k]->type);
    for (int k = 0; k < n; k++) {
        tangent[k] = varied(w, op->res[k]);
        if (tangent[k] && w->width == 1)
            vec_push(types, op->res[k]->type);
    }
    return tangent;
}

/* The arrays of results with tangents, in front of op; what is built then stands behind all tangents so far. */
static void begin_arrays(fwd *w, ir_builder *b, const ir_op *op, const bool *tangent, int n, ir_value *const *init)
{
    for (int k = 0; k < n; k++)
        if (tangent[k])
            wide_array(w, b, op->res[k]);
    if (init)
        fill_arrays(w, b, init, op->res, tangent, n);
    if (wide_stirs(w, op))
        wide_close(w, b);
}

void fwd_if(fwd *w, ir_builder *b, const ir_op *op)
{
    type_list types = {0};
    bool *tangent = choose(w, op, op->nres, &types);
    if (w->width > 1)
        begin_arrays(w, b, op, tangent, op->nres, NULL);
    ir_value *cond = val(w, op->args[0]);
    ir_op *c = ir_insert(b, OP_IF, 1, &cond, (int)types.len, types.at, 2);
    vec_free(&types);
    ir_copy_attr(c, op);
    for (int k = 0; k < 2; k++)
        fill(w, add_region(w, c, k), op->regions[k], tangent, w->width > 1 ? op->res : NULL);
    map_results(w, op, c, tangent, op->nres, op->nres);
}

/* The tangents of what a loop carries: parameters of the region, or in the arrays of the results. */
static void carried_tangents(fwd *w, ir_region *to, const ir_op *op, int region, int first, const bool *tangent)
{
    for (int k = 0; k < ir_loop_ncarried(op); k++) {
        const ir_value *p = op->regions[region]->params[first + k];
        if (tangent[k] && w->width > 1)
            w->kept[p->id] = w->kept[op->res[k]->id];
        else if (tangent[k])
            fwd_tangent_param(w, to, p);
    }
}

/* Of several directions: it decides, and no more. */
static void fill_condition(fwd *w, ir_op *c, const ir_op *op, const bool *tangent)
{
    const bool still = w->still;
    ir_region *cond = add_region(w, c, 1);
    fwd_clone_params(w, cond, op->regions[1]);
    w->still = w->still || w->width > 1;
    if (!w->still)
        carried_tangents(w, cond, op, 1, 0, tangent);
    fill(w, cond, op->regions[1], NULL, NULL);
    w->still = still;
}

void fwd_loop(fwd *w, ir_builder *b, const ir_op *op)
{
    const int init = ir_loop_first_init(op), param = ir_loop_first_param(op), n = ir_loop_ncarried(op);
    type_list types = {0};
    bool *tangent = choose(w, op, n, &types);
    for (int k = n; k < op->nres; k++) /* the trip count stays last */
        vec_push(&types, op->res[k]->type);
    value_list args = {0};
    for (int i = 0; i < op->nargs; i++)
        vec_push(&args, val(w, op->args[i]));
    if (w->width > 1)
        begin_arrays(w, b, op, tangent, n, op->args + init);
    for (int k = 0; k < n && w->width == 1; k++)
        if (tangent[k])
            vec_push(&args, tan_or_zero(w, b, op->args[init + k]));
    ir_op *c = ir_insert(b, OP_LOOP, (int)args.len, args.at, (int)types.len, types.at, op->nregions);
    ir_copy_attr(c, op);
    if (ir_loop_attr(op)->cond)
        fill_condition(w, c, op, tangent);
    ir_region *body = add_region(w, c, 0);
    fwd_clone_params(w, body, op->regions[0]);
    carried_tangents(w, body, op, 0, param, tangent);
    fill(w, body, op->regions[0], tangent, w->width > 1 ? op->res : NULL);
    map_results(w, op, c, tangent, n, n);
    for (int k = n; k < op->nres; k++)
        ir_map_set(&w->val, op->res[k], c->res[c->nres - op->nres + k]);
    vec_free(&types);
    vec_free(&args);
}

/* A result of the widened task: the value of the source's result `from`, or its tangent in a direction. */
typedef struct task_slot {
    int from;
    int direction; /* -1: the value */
} task_slot;

typedef VEC(task_slot) slot_list;

/* Sums get a second sum, of each direction; the tangent of a minimum or maximum, and of its companions, comes from the
 * winner. */
static ir_reduction *widen_reductions(const fwd *w, const ir_op *op, slot_list *slots, int *count)
{
    ir_reduction *reds = ARENA_ARRAY(w->m->mem, ir_reduction, (1 + w->width) * ir_task_attr(op)->nreductions + 1);
    int n = 0, at = 0;
    for (int k = 0; k < ir_task_attr(op)->nreductions; k++) {
        const ir_reduction red = ir_task_attr(op)->reductions[k];
        const bool drops = is_dropped(w, op->res[at]);
        ir_reduction *to = drops ? NULL : &reds[n++];
        assert(red.kind != IR_RED_ADD || red.companions == 0);
        if (to)
            *to = red;
        for (int c = 0; c <= red.companions && !drops; c++)
            vec_push(slots, ((task_slot){at + c, -1}));
        for (int c = 0; c <= red.companions; c++) {
            for (int d = 0; d < w->width && varied(w, op->res[at + c]); d++) {
                vec_push(slots, ((task_slot){at + c, d}));
                if (red.kind == IR_RED_ADD)
                    reds[n++] = red;
                else
                    to->companions++;
            }
        }
        at += red.companions + 1;
    }
    *count = n;
    return reds;
}

/* A slot of v at b. */
static ir_value *slot_value(fwd *w, ir_builder *b, const ir_value *v, int direction)
{
    if (direction < 0)
        return val(w, v);
    return w->width > 1 ? wide_direction(w, b, v, direction) : tan_or_zero(w, b, v);
}

static void map_slot(fwd *w, ir_builder *b, const ir_value *r, ir_value *to, int direction)
{
    if (direction < 0) {
        to->name = r->name;
        ir_map_set(&w->val, r, to);
        return;
    }
    name_tangent(w, to, r);
    if (w->width == 1) {
        ir_map_set_other(&w->tan, r, to);
        return;
    }
    ir_value *array = direction ? w->kept[r->id] : wide_array(w, b, r);
    ir_lstore(b, array, ir_const_i(b, SC_I64, direction), to);
}

void fwd_task(fwd *w, ir_builder *b, const ir_op *op)
{
    const int init = ir_task_first_init(op);
    slot_list slots = {0};
    int nreds;
    ir_reduction *reds = widen_reductions(w, op, &slots, &nreds);
    value_list args = {0};
    type_list types = {0};
    if (w->width > 1)
        wide_close(w, b);
    for (int i = 0; i < init; i++)
        vec_push(&args, val(w, op->args[i]));
    for (size_t i = 0; i < slots.len; i++) {
        const ir_value *v = op->args[init + slots.at[i].from];
        vec_push(&args, slot_value(w, b, v, slots.at[i].direction));
        vec_push(&types, v->type);
    }
    ir_op *c = ir_insert(b, OP_TASK, (int)args.len, args.at, (int)types.len, types.at, 1);
    ir_copy_attr(c, op);
    ir_task_attr(c)->reductions = reds;
    ir_task_attr(c)->nreductions = nreds;
    ir_region *body = add_region(w, c, 0);
    fwd_clone_params(w, body, op->regions[0]);
    ir_builder in = {.func = w->out, .region = body};
    fwd_region(w, &in, op->regions[0]);
    const ir_op *y = ir_yield_of(op->regions[0]);
    in.loc = y->loc;
    if (w->width > 1)
        wide_close(w, &in);
    vec_clear(&args);
    for (size_t i = 0; i < slots.len; i++)
        vec_push(&args, slot_value(w, &in, y->args[slots.at[i].from], slots.at[i].direction));
    ir_yield(&in, (int)args.len, args.at);
    for (int i = 0; i < op->nres; i++)
        if (is_dropped(w, op->res[i]))
            drop_value(w, b, op->res[i]);
    for (size_t i = 0; i < slots.len; i++)
        map_slot(w, b, op->res[slots.at[i].from], c->res[i], slots.at[i].direction);
    vec_free(&slots);
    vec_free(&args);
    vec_free(&types);
}
