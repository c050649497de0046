/* The function of an element, and its local Jacobian or Hessian. */
#include "ir/ops.h"
#include "passes/derive/derive.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/derive/jacobian/linearise.h"
#include "passes/simplify/simplify.h"

/* ---- the function: what the outputs follow from, of the components that are read and of all else that is used ---- */

typedef struct extraction {
    const elements *e;
    ir_func *func;
    ir_map *map;
    element_matrix *x;
} extraction;

static bool is_part(const ir_op *op, void *ctx)
{
    const extraction *t = ctx;
    const bool read = op->code == OP_LOAD && ir_columns_have(t->e->by, ir_field_of(op));
    if (op->region->parent->code != OP_TASK)
        return true;
    return op->nres && !read && t->e->active[op->res[0]->id];
}

static ir_value *from_outside(const ir_value *v, void *ctx)
{
    extraction *t = ctx;
    ir_value *here;
    if (ir_is_const(v)) {
        ir_builder b = {.func = t->func, .region = t->func->body, .before = t->func->body->first, .loc = v->loc};
        here = scalar_is_float(v->type) ? ir_const_f(&b, v->type, ir_float(v)) : ir_const_i(&b, v->type, ir_int(v));
    } else {
        here = ir_region_param(t->func->body, v->type, v->name);
        vec_push(&t->x->outer, (ir_value *)v);
    }
    ir_map_set(t->map, v, here);
    return here;
}

static ir_value *value_of(extraction *t, const ir_value *v)
{
    ir_value *here = ir_map_get(t->map, v);
    return here ? here : from_outside(v, t);
}

static void yield_outputs(extraction *t, ir_builder *b, const element_loop *l)
{
    VEC(ir_value *) all = {0};
    for (size_t i = 0; i < l->writes.len; i++) {
        ir_value *v = value_of(t, ir_stored_value(l->writes.at[i]));
        if (t->e->kind == IR_DERIVE_BLOCKS && all.len)
            all.at[0] = ir_op2(b, OP_ADD, all.at[0], v);
        else
            vec_push(&all, v);
    }
    ir_func *f = t->func;
    f->nresults = (int)all.len;
    f->results = ARENA_ARRAY(f->module->mem, scalar, all.len + 1);
    for (size_t i = 0; i < all.len; i++)
        f->results[i] = all.at[i]->type;
    ir_yield(b, f->nresults, all.at);
    vec_free(&all);
}

static ir_func *function_of(const elements *e, const element_loop *l, element_matrix *x)
{
    ir_module *m = e->kernel->module;
    ir_func *f = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_element", e->kernel->name)));
    f->loc = l->task->loc;
    ir_map map = ir_map_create(e->kernel);
    extraction t = {e, f, &map, x};
    for (size_t i = 0; i < l->reads.len; i++) {
        const ir_value *v = l->reads.at[i].load->res[0];
        ir_map_set(&map, v, ir_region_param_like(f->body, v));
    }
    ir_builder b = {.func = f, .region = f->body, .loc = f->loc};
    const ir_slice s = {.map = &map, .ctx = &t, .has = is_part, .outside = from_outside};
    ir_clone_slice(&b, l->task->regions[0], &s);
    yield_outputs(&t, &b, l);
    ir_map_free(&map);
    ir_forget_origins(f);
    decide_handed_on(f);
    pass_simplify(f);
    return f;
}

/* ---- its matrix ---- */

static void numbers_to(int *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = i;
}

/* The gradient of f by the first n parameters; grads[i]: the number of its result that is the i-th entry, -1: zero by
 * structure. By reverse mode, or where that keeps values of loops, by the local Jacobian. */
static ir_func *gradient_of(ir_func *f, int n, int *grads)
{
    arena *mem = f->module->mem;
    bool *wanted = ARENA_ARRAY(mem, bool, f->body->nparams + 1), *pattern = ARENA_ARRAY(mem, bool, n + 1);
    for (int i = 0; i < n; i++)
        wanted[i] = true;
    numbers_to(grads, n);
    ir_func *g = gradient_of_source(f, wanted);
    if (!g->no_inline)
        return g;
    int *cols = ARENA_ARRAY(mem, int, n + 1), row = 0, at = 0;
    numbers_to(cols, n);
    rev_forget(f->module, g);
    const jac_wanted wanted_of = {.rows = &row, .cols = cols, .nrows = 1, .ncols = n};
    g = jac_linearise(f, IR_FUNC, f->name, &wanted_of, pattern, NULL);
    for (int i = 0; i < n && g; i++)
        grads[i] = pattern[i] ? at++ : -1;
    return g;
}

static ir_func *hessian_of(ir_func *f, int n, element_matrix *x, ir_matrix *made)
{
    arena *mem = f->module->mem;
    int *grads = ARENA_ARRAY(mem, int, n + 1), *rows = ARENA_ARRAY(mem, int, n + 1);
    ir_func *g = gradient_of(f, n, grads);
    if (!g)
        return NULL;
    for (int i = 0; i < n; i++)
        if (grads[i] >= 0) {
            rows[x->nrows] = grads[i];
            x->rows[x->nrows] = x->cols[x->nrows] = i;
            x->ncols = ++x->nrows;
        }
    const jac_wanted wanted = {.rows = rows, .cols = x->cols, .nrows = x->nrows, .ncols = x->ncols, .lower = true};
    ir_func *h = jac_linearise(g, IR_FUNC, f->name, &wanted, x->pattern, made);
    rev_forget(f->module, g);
    return h;
}

static ir_func *jacobian_of(ir_func *f, int n, element_matrix *x, ir_matrix *made)
{
    x->nrows = f->nresults;
    x->ncols = n;
    numbers_to(x->rows, x->nrows);
    numbers_to(x->cols, n);
    const jac_wanted wanted = {.rows = x->rows, .cols = x->cols, .nrows = x->nrows, .ncols = n};
    return jac_linearise(f, IR_FUNC, f->name, &wanted, x->pattern, made);
}

static void note_element(ir_matrix *made, const element_loop *l, const element_matrix *x)
{
    made->at = l->task->loc;
    made->rows = x->nrows;
    made->cols = x->ncols;
    made->vertices = (int)l->vertices.len;
    jac_count_entries(made, x->pattern);
    jac_list(made);
}

element_matrix element_matrix_of(elements *e, const element_loop *l)
{
    ir_module *m = e->kernel->module;
    element_matrix x = {0};
    const int n = (int)l->reads.len, most = n + (int)l->writes.len;
    x.rows = ARENA_ARRAY(m->mem, int, most + 1);
    x.cols = ARENA_ARRAY(m->mem, int, most + 1);
    x.pattern = ARENA_ARRAY(m->mem, bool, (size_t)most *(size_t)most + 1);
    ir_func *f = function_of(e, l, &x);
    ir_matrix *made = jac_made(e->kernel->ad.primal, e->kind, 0, 0);
    x.func = e->kind == IR_DERIVE_BLOCKS ? hessian_of(f, n, &x, made) : jacobian_of(f, n, &x, made);
    rev_forget(m, f);
    if (x.func)
        rev_forget(m, x.func);
    e->at = l->task->loc;
    if (!x.func && made->why)
        e->at = made->why_at;
    if (!x.func)
        e->why = "an iteration computes with a local array at subscripts that vary: use a vector";
    else if (!jac_is_short(x.func, made))
        e->why = "the matrix of an iteration takes more than 10000 operations";
    else
        note_element(made, l, &x);
    return x;
}

void element_matrix_free(element_matrix *x)
{
    vec_free(&x->outer);
}
