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

void fwd_fill(fwd *w, ir_region *to, const ir_region *from, const bool *tangent)
{
    ir_builder b = {.func = w->out, .region = to};
    fwd_region(w, &b, from);
    const ir_op *y = ir_yield_of(from);
    b.loc = y->loc;
    value_list vals = {0};
    for (int k = 0; k < y->nargs; k++)
        vec_push(&vals, val(w, y->args[k]));
    for (int k = 0; k < y->nargs; k++)
        if (tangent && tangent[k])
            vec_push(&vals, tan_or_zero(w, &b, y->args[k]));
    ir_yield(&b, (int)vals.len, vals.at);
    vec_free(&vals);
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
        if (!tangent[k])
            continue;
        name_tangent(w, c->res[at], op->res[k]);
        ir_map_set_other(&w->tan, op->res[k], c->res[at++]);
    }
}

/* Which results get a tangent; their types, then the tangents' types, are appended to `types`. */
static bool *choose(fwd *w, const ir_op *op, int n, type_list *types)
{
    bool *tangent = ARENA_ARRAY(w->m->mem, bool, n + 1);
    for (int k = 0; k < n; k++)
        vec_push(types, op->res[k]->type);
    for (int k = 0; k < n; k++) {
        tangent[k] = varied(w, op->res[k]);
        if (tangent[k])
            vec_push(types, op->res[k]->type);
    }
    return tangent;
}

void fwd_if(fwd *w, ir_builder *b, const ir_op *op)
{
    type_list types = {0};
    bool *tangent = choose(w, op, op->nres, &types);
    ir_value *cond = val(w, op->args[0]);
    ir_op *c = ir_insert(b, OP_IF, 1, &cond, (int)types.len, types.at, 2);
    vec_free(&types);
    ir_copy_attr(c, op);
    for (int k = 0; k < 2; k++)
        fwd_fill(w, add_region(w, c, k), op->regions[k], tangent);
    map_results(w, op, c, tangent, op->nres, op->nres);
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
    for (int k = 0; k < n; k++)
        if (tangent[k])
            vec_push(&args, tan_or_zero(w, b, op->args[init + k]));
    ir_op *c = ir_insert(b, OP_LOOP, (int)args.len, args.at, (int)types.len, types.at, op->nregions);
    ir_copy_attr(c, op);
    if (ir_loop_attr(op)->cond) {
        ir_region *cond = add_region(w, c, 1);
        fwd_clone_params(w, cond, op->regions[1]);
        for (int k = 0; k < n; k++)
            if (tangent[k])
                fwd_tangent_param(w, cond, op->regions[1]->params[k]);
        fwd_fill(w, cond, op->regions[1], NULL);
    }
    ir_region *body = add_region(w, c, 0);
    fwd_clone_params(w, body, op->regions[0]);
    for (int k = 0; k < n; k++)
        if (tangent[k])
            fwd_tangent_param(w, body, op->regions[0]->params[param + k]);
    fwd_fill(w, body, op->regions[0], tangent);
    map_results(w, op, c, tangent, n, n);
    for (int k = n; k < op->nres; k++)
        ir_map_set(&w->val, op->res[k], c->res[c->nres - op->nres + k]);
    vec_free(&types);
    vec_free(&args);
}

/* A result of the widened task: value or tangent of the source's result `from`. */
typedef struct task_slot {
    int from;
    bool tangent;
} task_slot;

typedef VEC(task_slot) slot_list;

/* Sums get a second sum; the tangent of a minimum or maximum, and of its companions, comes from the winner. */
static ir_reduction *widen_reductions(const fwd *w, const ir_op *op, slot_list *slots, int *count)
{
    ir_reduction *reds = ARENA_ARRAY(w->m->mem, ir_reduction, 2 * ir_task_attr(op)->nreductions + 1);
    int n = 0, at = 0;
    for (int k = 0; k < ir_task_attr(op)->nreductions; k++) {
        const ir_reduction red = ir_task_attr(op)->reductions[k];
        ir_reduction *to = &reds[n++];
        *to = red;
        assert(red.kind != IR_RED_ADD || red.companions == 0);
        for (int c = 0; c <= red.companions; c++)
            vec_push(slots, ((task_slot){at + c, false}));
        for (int c = 0; c <= red.companions; c++) {
            if (!varied(w, op->res[at + c]))
                continue;
            vec_push(slots, ((task_slot){at + c, true}));
            if (red.kind == IR_RED_ADD)
                reds[n++] = red;
            else
                to->companions++;
        }
        at += red.companions + 1;
    }
    *count = n;
    return reds;
}

void fwd_task(fwd *w, ir_builder *b, const ir_op *op)
{
    const int init = ir_task_first_init(op);
    slot_list slots = {0};
    int nreds;
    ir_reduction *reds = widen_reductions(w, op, &slots, &nreds);
    value_list args = {0};
    type_list types = {0};
    for (int i = 0; i < init; i++)
        vec_push(&args, val(w, op->args[i]));
    for (size_t i = 0; i < slots.len; i++) {
        const ir_value *v = op->args[init + slots.at[i].from];
        vec_push(&args, slots.at[i].tangent ? tan_or_zero(w, b, v) : val(w, v));
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
    vec_clear(&args);
    for (size_t i = 0; i < slots.len; i++) {
        const ir_value *v = y->args[slots.at[i].from];
        vec_push(&args, slots.at[i].tangent ? tan_or_zero(w, &in, v) : val(w, v));
    }
    ir_yield(&in, (int)args.len, args.at);
    for (size_t i = 0; i < slots.len; i++) {
        const ir_value *r = op->res[slots.at[i].from];
        if (slots.at[i].tangent) {
            name_tangent(w, c->res[i], r);
            ir_map_set_other(&w->tan, r, c->res[i]);
        } else {
            c->res[i]->name = r->name;
            ir_map_set(&w->val, r, c->res[i]);
        }
    }
    vec_free(&slots);
    vec_free(&args);
    vec_free(&types);
}
