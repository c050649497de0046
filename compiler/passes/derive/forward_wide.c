/* Several directions in one run: tangents stand in loops over the directions, the primal outside of them.
 *
 *     v = load x[i]; s = sin v; store y[i], s
 *
 *     v = load x[i]; s = sin v; store y[i], s
 *     loop d { t = load x.dual[i, d]; store y.dual[i, d], cos v * t }
 *
 * A stretch is such a loop with the tangents of the operations of one region since the last one. Branches and loops
 * that carry tangents end it: what is needed behind them, and what they yield, is kept in arrays of one number a
 * direction. So the primal, and the partials after licm, are computed once, and each stretch is a vector loop.
 *
 * An adjoint is linear in the gradients that it reads, so its tangents along these are its gradients once more: in
 * several directions they take the place of the gradients, which go.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/derive/forward.h"

void wide_begin(fwd *w)
{
    const size_t n = w->from->next_value + 1;
    w->home = ARENA_ARRAY(w->m->mem, stretch *, n);
    w->kept = ARENA_ARRAY(w->m->mem, ir_value *, n);
    memset(w->home, 0, n * sizeof *w->home);
    memset(w->kept, 0, n * sizeof *w->kept);
}

void wide_end(fwd *w)
{
    for (size_t i = 0; i < w->stretches.len; i++) {
        ir_builder in = {.func = w->out, .region = w->stretches.at[i]->body};
        ir_yield(&in, 0, NULL);
    }
    vec_free(&w->stretches);
}

ir_builder *wide_open(fwd *w, const ir_builder *b)
{
    if (!w->open) {
        w->open = ARENA_NEW(w->m->mem, stretch);
        *w->open = (stretch){.region = b->region, .body = ir_region_create(w->out)};
        ir_region_param(w->open->body, SC_I64, "direction");
    }
    assert(w->open->region == b->region);
    w->in = (ir_builder){.func = w->out, .region = w->open->body, .loc = b->loc, .origin = b->origin};
    return &w->in;
}

void wide_close(fwd *w, const ir_builder *b)
{
    stretch *s = w->open;
    w->open = NULL;
    if (!s || !s->body->first)
        return;
    assert(s->region == b->region);
    ir_builder end = {.func = w->out, .region = s->region, .loc = b->loc};
    ir_value *const bounds[] = {ir_const_i(&end, SC_I64, 0), ir_const_i(&end, SC_I64, w->width)};
    s->loop = ir_insert(&end, OP_LOOP, 2, bounds, 0, NULL, 1);
    ir_loop_attr(s->loop)->bounded = true;
    ir_set_region(s->loop, 0, s->body);
    vec_push(&w->stretches, s);
}

ir_value *wide_array(fwd *w, ir_builder *b, const ir_value *v)
{
    ir_value *array = w->kept[v->id] = ir_local(b, v->type, w->width, NULL);
    name_tangent(w, array, v);
    return array;
}

/* The array with the tangents of v, all directions. Its stretch has ended. */
static ir_value *keep(fwd *w, const ir_value *v)
{
    const stretch *s = w->home[v->id];
    if (w->kept[v->id])
        return w->kept[v->id];
    assert(s && s->loop);
    ir_builder before = {.func = w->out, .region = s->region, .before = s->loop, .loc = v->loc},
               in = {.func = w->out, .region = s->body, .loc = v->loc};
    ir_lstore(&in, wide_array(w, &before, v), s->body->params[0], ir_map_get(&w->tan, v));
    return w->kept[v->id];
}

ir_value *wide_tangent(fwd *w, const ir_builder *b, const ir_value *v)
{
    if (!has_tangent(w, v))
        return NULL;
    if (w->open && w->home[v->id] == w->open)
        return ir_map_get(&w->tan, v);
    ir_value *array = keep(w, v);
    ir_builder *in = wide_open(w, b);
    ir_value *t = ir_lload(in, array, in->region->params[0]);
    set_tangent(w, v, t);
    return t;
}

ir_value *wide_direction(fwd *w, ir_builder *b, const ir_value *v, int direction)
{
    assert(!w->open);
    if (!has_tangent(w, v))
        return ir_zero(b, v->type);
    ir_value *array = keep(w, v);
    return ir_lload(b, array, ir_const_i(b, SC_I64, direction));
}

ir_field *wide_field(const fwd *w, const ir_op *op)
{
    const ir_plane plane = ir_access_attr(op)->plane;
    return w->beside ? NULL : ir_field_of(op)->wide[w->linear ? plane : ir_tangent_of(plane)];
}

ir_value **wide_subscripts(fwd *w, const ir_field *f, ir_value *const *idx, ir_value *direction)
{
    ir_value **to = ARENA_ARRAY(w->m->mem, ir_value *, f->ndim + 2);
    int n = 0;
    for (; n < f->ndim; n++)
        to[n] = idx[n];
    if (ir_field_ncomp(f) > 1)
        to[n++] = idx[f->ndim];
    to[n] = direction;
    return to;
}

ir_value *wide_element(const fwd *w, ir_builder *in, ir_value *index)
{
    ir_value *row = ir_op2(in, OP_MUL, index, ir_const_i(in, SC_I64, w->width));
    return ir_op2(in, OP_ADD, row, in->region->params[0]);
}

/* The sums of a task: each direction is a number of its own, so that it becomes a reduction. */
bool wide_total(fwd *w, ir_builder *b, const ir_op *op, ir_value *const *idx)
{
    const ir_field *f = ir_field_of(op);
    const ir_op *task = ir_task_of(op);
    bool total = task != NULL;
    for (int i = 0; i <= f->ndim && total; i++)
        total = ir_can_leave(op->args[i], task);
    if (!total)
        return false;
    const ir_value *v = op->args[f->ndim + 1];
    wide_close(w, b);
    ir_value *zero = ir_const_i(b, SC_I64, 0);
    for (int d = 0; d < w->width; d++) {
        ir_value **at = wide_subscripts(w, f, idx, ir_const_i(b, SC_I64, d));
        ir_accum(b, wide_field(w, op), IR_DATA, at, zero, wide_direction(w, b, v, d));
    }
    return true;
}

bool wide_stirs(const fwd *w, const ir_op *op)
{
    bool any = op->code == OP_CALL || (op_accesses_field(op->code) && w->storage[ir_storage_of_op(op)]);
    for (int i = 0; i < op->nres; i++)
        any |= varied(w, op->res[i]);
    const bool array = op->code == OP_LOCAL, stores = op->code == OP_LSTORE || op->code == OP_LACCUM;
    any |= (array || stores) && w->act.varied[(array ? op->res[0] : op->args[0])->id];
    for (int k = 0; k < op->nregions && !any; k++)
        for (const ir_op *in = op->regions[k]->first; in && !any; in = in->next)
            any = wide_stirs(w, in);
    return any;
}
