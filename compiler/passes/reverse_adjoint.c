/* Reverse mode: scopes and the adjoints that they collect. */
#include <assert.h>
#include <string.h>

#include "passes/reverse.h"

scope rev_scope(rev *rv, scope *outer, scope_kind kind, const ir_region *primal, ir_region *fwd, ir_region *reg)
{
    scope s = {0};
    s.rv = rv;
    s.outer = outer;
    s.kind = kind;
    s.primal = primal;
    s.fwd = fwd;
    s.rev = reg;
    return s;
}

void rev_scope_free(scope *s)
{
    vec_free(&s->outer_adj);
    vec_free(&s->carry);
    vec_free(&s->arrays);
    free(s->slot);
    s->slot = NULL;
}

void rev_mark(scope *s)
{
    ir_builder b = {.func = s->rv->out, .region = s->rev};
    s->marker = ir_const_i(&b, SC_BOOL, 0)->def;
}

bool rev_varied(const rev *rv, const ir_value *v)
{
    return v->id < rv->act.n && rv->act.varied[v->id];
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
        *a = *a ? ir_op2(b, OP_ADD, *a, g) : g;
        return;
    }
    adj_entry *e = outer_entry(s, v);
    if (!e->adj && s->kind == SCOPE_LOOP) {
        e->param = ir_region_param(s->rev, v->type, NULL);
        e->adj = e->param;
    }
    e->adj = e->adj ? ir_op2(b, OP_ADD, e->adj, g) : g;
}

ir_value *rev_adj(scope *s, const ir_value *v)
{
    assert(v->region == s->primal);
    return s->rv->adj[v->id];
}

static ir_value *make_shadow(scope *s, const ir_value *array)
{
    ir_builder b = rev_prologue(s, array->loc);
    const char *name = array->name ? arena_printf(s->rv->module->mem, "%s_grad", array->name) : NULL;
    return ir_local(&b, array->def->attr.elem, array->def->attr.i, name);
}

/* Iterations of a task run side by side: each sums into an array of its own, which the task reduces. */
static ir_value *task_shadow(scope *task, const ir_value *array)
{
    for (size_t i = 0; i < task->arrays.len; i++)
        if (task->arrays.at[i].primal == array)
            return task->arrays.at[i].shadow;
    ir_value *shadow = make_shadow(task, array);
    vec_push(&task->arrays, ((adj_array){array, shadow}));
    return shadow;
}

ir_value *rev_shadow(scope *s, const ir_value *array)
{
    rev *rv = s->rv;
    for (; s->primal != array->region; s = s->outer)
        if (s->kind == SCOPE_ROOT)
            return task_shadow(s, array);
    if (!rv->shadow[array->id])
        rv->shadow[array->id] = make_shadow(s, array);
    return rv->shadow[array->id];
}
