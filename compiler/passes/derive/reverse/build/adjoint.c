/* Reverse mode: scopes, the adjoints that they collect, and which operations have any.
 *
 * A contribution to a value of an outer scope is summed locally. At the end of the scope the sum becomes a result of
 * the reverse `if`, a carried sum of the reverse `loop`, or a sum reduction of the reverse `task`. A task adds to the
 * adjoint of a local array around it through one reduction per element while the elements are few, else by LACCUM.
 */
#include <assert.h>
#include <string.h>

#include "passes/derive/reverse/build/build.h"

void rev_mark(scope *s)
{
    ir_builder b = {.func = s->rv->out, .region = s->rev};
    s->marker = ir_const_i(&b, SC_BOOL, 0)->def;
}

ir_builder rev_at_end(scope *s, const ir_op *origin)
{
    return (ir_builder){.func = s->rv->out, .region = s->rev, .loc = origin->loc, .origin = (ir_op *)origin};
}

ir_builder rev_prologue(scope *s, src_loc loc)
{
    return (ir_builder){.func = s->rv->out, .region = s->rev, .before = s->marker, .loc = loc};
}

static uint32_t *find_slot(scope *s, uint32_t id)
{
    uint32_t i = id * 2654435761u & (s->nslots - 1);
    while (s->slot[i] && s->outer_adj.at[s->slot[i] - 1].primal->id != id)
        i = (i + 1) & (s->nslots - 1);
    return &s->slot[i];
}

static adj_entry *outer_entry(scope *s, const ir_value *v)
{
    if (2 * (s->outer_adj.len + 1) > s->nslots) {
        s->nslots = s->nslots ? 2 * s->nslots : 16;
        free(s->slot);
        s->slot = xmalloc(s->nslots * sizeof *s->slot);
        memset(s->slot, 0, s->nslots * sizeof *s->slot);
        for (size_t i = 0; i < s->outer_adj.len; i++)
            *find_slot(s, s->outer_adj.at[i].primal->id) = (uint32_t)i + 1;
    }
    uint32_t *slot = find_slot(s, v->id);
    if (!*slot) {
        vec_push(&s->outer_adj, ((adj_entry){.primal = v}));
        *slot = (uint32_t)s->outer_adj.len;
    }
    return &s->outer_adj.at[*slot - 1];
}

void rev_add(scope *s, ir_builder *b, const ir_value *v, ir_value *g)
{
    if (!g || !scalar_is_float(v->type) || !rev_varied(s->rv, v))
        return;
    assert(g->type == v->type);
    if (v->region == s->primal) {
        ir_value **a = &s->rv->adj[v->id];
        *a = *a ? rev_sum(s->rv, b, *a, rev_guard(s->rv, *a), g) : g;
        return;
    }
    adj_entry *e = outer_entry(s, v);
    if (!e->adj && (s->kind == SCOPE_LOOP || (s->fused && !s->once))) {
        e->param = ir_region_param(s->rev, v->type, NULL);
        e->adj = e->param;
    }
    if (!e->adj || e->adj == e->param) {
        e->adj = e->adj ? ir_op2(b, OP_ADD, e->adj, g) : g;
        e->guard = rev_guard(s->rv, g);
    } else {
        e->adj = rev_sum(s->rv, b, e->adj, e->guard, g);
        e->guard = rev_guard(s->rv, e->adj);
    }
}

void rev_add_sum(scope *s, ir_builder *b, const adj_entry *e, ir_value *sum)
{
    rev_set_guard(s->rv, sum, rev_outer_guard(b, e->guard));
    rev_add(s, b, e->primal, sum);
}

ir_value *rev_adj(scope *s, const ir_value *v)
{
    assert(v->region == s->primal);
    return s->rv->adj[v->id];
}

ir_value *rev_array_like(scope *s, const ir_value *array, const char *name, src_loc loc)
{
    const ir_op *local = array->def;
    ir_builder b = rev_prologue(s, loc);
    if (!local->nargs)
        return ir_local(&b, ir_local_attr(local)->elem, ir_local_attr(local)->count, name);
    rev *rv = s->rv;
    ir_map map = ir_map_create(rv->primal); /* computed again, never saved: it can be had anywhere */
    for (int i = 0; i < rv->primal->body->nparams; i++)
        ir_map_set(&map, rv->primal->body->params[i], rv->out->body->params[i]);
    ir_value *count = ir_clone_value(&b, local->args[0], &map);
    ir_map_free(&map);
    return ir_local_sized(&b, ir_local_attr(local)->elem, count, name);
}

static ir_value *make_shadow(scope *s, const ir_value *array)
{
    const char *name = arena_printf(s->rv->module->mem, "%s_grad", array->name ? array->name : "array");
    return rev_array_like(s, array, name, array->loc);
}

/* Iterations of a task run side by side: each sums into a small array of its own, which the task reduces. */
static ir_value *task_shadow(scope *task, const ir_value *array)
{
    for (size_t i = 0; i < task->arrays.len; i++)
        if (task->arrays.at[i].primal == array)
            return task->arrays.at[i].shadow;
    ir_value *shadow = make_shadow(task, array);
    vec_push(&task->arrays, ((adj_array){array, shadow}));
    return shadow;
}

ir_value *rev_shadow(scope *s, const ir_value *array, bool *shared)
{
    enum { MAX_SUMS = 64 };
    rev *rv = s->rv;
    const ir_op *local = array->def;
    *shared = false;
    for (; s->primal != array->region; s = s->outer) {
        if (s->kind != SCOPE_ROOT || s->fused)
            continue;
        if (!local->nargs && ir_local_attr(local)->count <= MAX_SUMS)
            return task_shadow(s, array);
        *shared = true;
    }
    if (!rv->shadow[array->id])
        rv->shadow[array->id] = make_shadow(s, array);
    return rv->shadow[array->id];
}

bool rev_has_work(scope *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (rev_adj(s, op->res[i]))
            return true;
    return rev_changes_memory(s->rv, op);
}
