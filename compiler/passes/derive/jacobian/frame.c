/* Regions and their graphs while a function is linearised; the values of its clone. */
#include "passes/derive/jacobian/linearise_int.h"

/* ---- frames ---- */

static int enter(jac_frame *f, const ir_value *v)
{
    const int n = jac_vertex_add(&f->graph, v->type);
    ptrmap_set(&f->vertex, v, (void *)(intptr_t)(n + 1));
    return n;
}

int frame_input(jac_frame *f, const ir_value *v)
{
    const int n = enter(f, v);
    vec_push(&f->inputs, n);
    vec_push(&f->input_values, v);
    return n;
}

int frame_result(jac_frame *f, const ir_value *v)
{
    return enter(f, v);
}

int frame_vertex(linearisation *w, jac_frame *f, const ir_value *v)
{
    const int known = (int)(intptr_t)ptrmap_get(&f->vertex, v) - 1;
    if (known >= 0 || !f->outer || !lin_active(w, v) || frame_vertex(w, f->outer, v) < 0)
        return known;
    return frame_input(f, v);
}

void frame_free(jac_frame *f)
{
    jac_graph_free(&f->graph);
    ptrmap_free(&f->vertex);
    vec_free(&f->inputs);
    vec_free(&f->input_values);
}

jac_matrix frame_matrix(linearisation *w, jac_frame *f, ir_builder *b, const ir_region *r)
{
    const ir_op *y = ir_yield_of(r);
    int *rows = ARENA_ARRAY(w->out->module->mem, int, y->nargs + 1);
    for (int i = 0; i < y->nargs; i++)
        rows[i] = scalar_is_float(y->args[i]->type) ? frame_vertex(w, f, y->args[i]) : -1;
    return jac_eliminate(&f->graph, b, rows, y->nargs, f->inputs.at, (int)f->inputs.len, false);
}

/* ---- values ---- */

ir_value *lin_value(const linearisation *w, const ir_value *v)
{
    ir_value *c = ir_map_get(&w->val, v);
    assert(c);
    return c;
}

bool lin_active(const linearisation *w, const ir_value *v)
{
    return scalar_is_float(v->type) && w->act.varied[v->id];
}

void lin_yielded(const linearisation *w, const ir_region *r, jac_values *to)
{
    const ir_op *y = ir_yield_of(r);
    for (int i = 0; i < y->nargs; i++)
        vec_push(to, lin_value(w, y->args[i]));
}
