/* Reverse mode: the forward sweep, a clone of the primal without its side effects. Unused values are removed later.
 */
#include <assert.h>

#include "passes/analysis/analysis.h"
#include "passes/derive/reverse/build/build.h"
#include "passes/simplify/simplify.h"

/* ---- forward sweep ---- */

ir_value *rev_mapped(const ir_map *m, const ir_value *v)
{
    ir_value *w = ir_map_get(m, v);
    assert(w);
    return w;
}

static bool has_effects(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    bool any = e.other;
    for (size_t i = 0; i < ir_storage_count(f->module); i++)
        any |= (e.at[i] & (OP_STORES | OP_ADDS)) != 0;
    effects_free(&e);
    return any;
}

/* rv: NULL for functions, whose memory is left alone. */
typedef struct replay {
    rev *rv;
    ir_slice slice;
} replay;

static void replay_structured(replay *r, ir_builder *b, const ir_op *op)
{
    ir_op *c = ir_clone_in_slice(b, op, &r->slice);
    if (op->code == OP_TASK)
        rev_add_winners(c, op, b);
    if (r->rv)
        ptrmap_set(&r->rv->fwd_ops, op, c);
}

static void replay_task(replay *r, ir_builder *b, const ir_op *op)
{
    rev *rv = r->rv;
    const bool keeps = rv && rev_keeps_any(rv, op);
    if (op->nres == 0 && !keeps) {
        if (rv)
            ptrmap_set(&rv->fwd_ops, op, ir_const_i(b, SC_BOOL, 0)->def); /* marks the place, see rev_array_at */
        return;
    }
    if (keeps)
        rev_take_snapshots(rv, b, op);
    b->origin = (ir_op *)op;
    if (rv)
        rv->in_task = true;
    replay_structured(r, b, op);
    if (rv)
        rv->in_task = false;
}

/* The result of an atomic is the old value that the launch has recorded. */
static void replay_atomic(replay *r, ir_builder *b, const ir_op *op)
{
    if (r->rv && rev_keeps_write(r->rv, op))
        rev_write_again(r->rv, b, r->slice.map, (ir_op *)op);
    ir_value *where[3]; /* turn at step */
    const int first = ir_field_of(op)->ndim + 2, n = op->nargs - first;
    if (n == 0 || ir_atomic_has_winner(op))
        return; /* nobody uses what it returns */
    for (int i = 0; i < n; i++)
        where[i] = rev_mapped(r->slice.map, op->args[first + i]);
    b->origin = (ir_op *)op;
    ir_op *old = ir_insert(b, OP_OLD, n, where, 1, &op->res[0]->type, 0);
    ir_map_set(r->slice.map, op->res[0], old->res[0]);
}

/* What is done in place of a clone of op. */
static bool replay_op(ir_builder *b, const ir_op *op, void *ctx)
{
    replay *r = ctx;
    rev *rv = r->rv;
    b->loc = op->loc;
    b->origin = (ir_op *)op;
    switch (op->code) {
    case OP_STORE:
    case OP_ACCUM:
        if (!rv || !rev_keeps_write(rv, op))
            return !rv || !rv->primal->pure || ir_field_of(op)->in || rv->fusing; /* else a result */
        rev_write_again(rv, b, r->slice.map, (ir_op *)op);
        return true;
    case OP_ATOMIC:
        replay_atomic(r, b, op);
        return true;
    case OP_TASK:
        replay_task(r, b, op);
        return true;
    case OP_IF:
    case OP_LOOP:
        replay_structured(r, b, op);
        return true;
    case OP_CALL: {
        ir_op *c = ir_clone_op(b, op, r->slice.map);
        if (has_effects(ir_callee_of(op)))
            ir_call_attr(c)->callee = reverse_replay(ir_callee_of(op));
        return true;
    }
    case OP_ASSERT: /* of a gradient that a program asks for, nothing else looks */
        return !rv || !rv->of_args;
    default:
        return op_effect_of(op->code) == OP_EFFECT_EVENT;
    }
}

static void replay_region(rev *rv, ir_builder *b, ir_map *map, const ir_region *from)
{
    replay r = {rv, {.map = map, .ctx = &r, .instead = replay_op}};
    ir_clone_slice(b, from, &r.slice);
    b->origin = NULL;
}

void rev_forward_sweep(scope *s, const ir_region *primal)
{
    ir_builder b = {.func = s->rv->out, .region = s->fwd};
    replay_region(s->rv, &b, &s->rv->fwd, primal);
}

ir_func *reverse_replay(ir_func *f)
{
    if (f->ad.replay)
        return f->ad.replay;
    ir_module *m = f->module;
    ir_func *c = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_replay", f->name)));
    f->ad.replay = c;
    c->loc = f->loc;
    c->no_inline = f->no_inline;
    c->results = f->results;
    c->nresults = f->nresults;
    c->ad.primal = f;
    if (!c->body)
        c->body = ir_region_create(c);
    ir_map map = ir_map_create(f);
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&map, f->body->params[i], ir_region_param_like(c->body, f->body->params[i]));
    ir_builder b = {.func = c, .region = c->body};
    replay_region(NULL, &b, &map, f->body);
    const ir_op *y = ir_yield_of(f->body);
    ir_value **vals = ARENA_ARRAY(m->mem, ir_value *, y->nargs + 1);
    for (int i = 0; i < y->nargs; i++)
        vals[i] = rev_mapped(&map, y->args[i]);
    ir_yield(&b, y->nargs, vals);
    ir_map_free(&map);
    pass_simplify(c);
    return c;
}
