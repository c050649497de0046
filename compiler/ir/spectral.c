/* Functions of singular values and eigenvalues: the call of spectral_of (check/prelude/spectral.tk). It is told g at s,
 * and the derivatives of g by s: of the operations between s and g a function is made, and ALONG of that. */
#include "ir/spectral.h"

#include <stdlib.h>

#include "ir/ops.h"

enum { MOST = IR_SPECTRAL_MOST };

/* ---- the operations between s and g ---- */

typedef struct slice {
    ir_builder *b;
    const ir_spectral *f;
    unsigned char *by; /* by value: 1 + the set of values of s that it depends on; 0: not known yet */
    bool *outside;     /* by value: an operand of the slice that is not in it */
    VEC(ir_op *) ops;  /* in an order in which they can stand */
    VEC(ir_value *) given;
    bool bad; /* it cannot be made a function */
} slice;

static unsigned depends(slice *c, ir_value *v);

static unsigned depends_op(slice *c, ir_op *op)
{
    unsigned by = 0;
    for (int i = 0; i < op->nargs; i++)
        by |= depends(c, op->args[i]);
    for (int i = 0; i < op->nregions; i++)
        for (ir_op *in = op->regions[i]->first; in; in = in->next)
            by |= depends_op(c, in);
    return by;
}

/* It may be run again here: it has no effect, and nothing has any since it read what it may have read. */
static bool can_repeat(const ir_builder *b, const ir_op *op)
{
    if (ir_op_reads_memory(op) && op->region != b->region)
        return false;
    bool can = !ir_op_has_effect(op);
    for (const ir_op *next = op->next; next != b->before && can && ir_op_reads_memory(op); next = next->next)
        can = !ir_op_has_effect(next);
    return can;
}

static unsigned depends(slice *c, ir_value *v)
{
    if (c->by[v->id])
        return c->by[v->id] - 1u;
    unsigned by = 0;
    if (v->def == c->f->call) {
        for (int i = 0; i < c->f->n; i++)
            by |= v == c->f->s[i] ? 1u << i : 0;
        c->bad |= !by;
    } else if (v->def && v->def->code != OP_STOP) {
        by = depends_op(c, v->def);
        if (by && ir_region_is_ancestor(v->def->region, c->b->region)) {
            c->bad |= !can_repeat(c->b, v->def);
            vec_push(&c->ops, v->def);
        }
        for (int i = 0; i < v->def->nres; i++)
            c->by[v->def->res[i]->id] = (unsigned char)(by + 1);
    }
    c->by[v->id] = (unsigned char)(by + 1);
    return by;
}

/* What the operations of the slice take from outside. */
static void find_given(slice *c, const ir_op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        const ir_region *in = v->def ? v->def->region : v->region;
        if (c->outside[v->id] || ir_is_const(v) || depends(c, v) || !ir_region_is_ancestor(in, c->b->region))
            continue;
        c->outside[v->id] = true;
        c->bad |= v->type == SC_PTR;
        vec_push(&c->given, v);
    }
    for (int i = 0; i < op->nregions; i++)
        for (const ir_op *in = op->regions[i]->first; in; in = in->next)
            find_given(c, in);
}

/* ---- the function of it, and its derivatives ---- */

/* Callees stand before callers. */
static ir_func *new_func(const ir_builder *b, const char *name)
{
    ir_module *m = b->func->module;
    ir_func *f = ir_func_create(m, IR_FUNC, name);
    size_t at = m->funcs.len - 1;
    for (; m->funcs.at[at - 1] != b->func; at--)
        m->funcs.at[at] = m->funcs.at[at - 1];
    m->funcs.at[at] = b->func;
    m->funcs.at[at - 1] = f;
    f->prelude = true;
    f->loc = b->loc;
    f->nresults = 1;
    f->results = ARENA_ARRAY(m->mem, scalar, 1);
    return f;
}

static void end_func(ir_builder *b, ir_value *result)
{
    b->func->results[0] = result->type;
    ir_yield(b, 1, &result);
    ir_forget_origins(b->func);
}

/* Constants that stand in front of the slice, also where its branches and loops use them. */
static void clone_consts(ir_builder *b, const ir_op *op, const ir_op *top, ir_map *map)
{
    for (int k = 0; k < op->nargs; k++)
        if (ir_is_const(op->args[k]) && !ir_map_get(map, op->args[k]) &&
            ir_region_is_ancestor(op->args[k]->def->region, top->region))
            ir_clone_op(b, op->args[k]->def, map);
    for (int i = 0; i < op->nregions; i++)
        for (const ir_op *in = op->regions[i]->first; in; in = in->next)
            clone_consts(b, in, top, map);
}

static void clone_slice(const slice *c, ir_builder *b, ir_map *map)
{
    for (size_t i = 0; i < c->ops.len; i++) {
        clone_consts(b, c->ops.at[i], c->ops.at[i], map);
        ir_clone_op(b, c->ops.at[i], map);
    }
}

/* g_k of s and of what is given. */
static ir_func *value_func(slice *c, int k)
{
    const ir_func *in = c->b->func;
    ir_func *f = new_func(c->b, intern(in->module->names, arena_printf(in->module->mem, "%s_value", in->name)));
    ir_builder b = {.func = f, .region = f->body, .loc = c->b->loc};
    ir_map map = ir_map_create(in);
    for (int i = 0; i < c->f->n; i++)
        ir_map_set(&map, c->f->s[i], ir_region_param_like(f->body, c->f->s[i]));
    for (size_t i = 0; i < c->given.len; i++)
        ir_map_set(&map, c->given.at[i], ir_region_param_like(f->body, c->given.at[i]));
    clone_slice(c, &b, &map);
    end_func(&b, ir_map_get(&map, c->f->g[k]));
    ir_map_free(&map);
    return f;
}

/* The derivative of f by argument i, for its arguments `args`. */
static ir_value *derivative(ir_builder *b, ir_func *f, int i, ir_value *const *args)
{
    const int n = f->body->nparams;
    ir_value **all = ARENA_ARRAY(f->module->mem, ir_value *, 2 * n);
    int at = n;
    for (int k = 0; k < n; k++) {
        all[k] = args[k];
        if (scalar_is_float(args[k]->type))
            all[at++] = ir_const_f(b, args[k]->type, k == i);
    }
    return ir_along(b, f, at, all);
}

static ir_func *derivative_func(const ir_builder *in, ir_func *of, int i)
{
    ir_func *f = new_func(in, of->name);
    ir_builder b = {.func = f, .region = f->body, .loc = in->loc};
    for (int k = 0; k < of->body->nparams; k++)
        ir_region_param_like(f->body, of->body->params[k]);
    end_func(&b, derivative(&b, of, i, f->body->params));
    return f;
}

typedef VEC(ir_value *) values;

/* j, h0, h1, h2 as spectral_of takes them; without `bends`, these are zero. */
static void push_derivatives(slice *c, bool single, bool bends, ir_value *const *args, values *out)
{
    const int n = c->f->n;
    ir_value *zero = ir_zero(c->b, c->f->s[0]->type), *j[MOST][MOST], *h[MOST][MOST][MOST];
    for (int i = 0; i < n; i++) {
        const unsigned by = depends(c, c->f->g[i]);
        ir_func *f = by ? value_func(c, i) : NULL;
        for (int k = 0; k < n; k++) {
            const bool is = by >> k & 1;
            ir_func *d = is && bends ? derivative_func(c->b, f, k) : NULL;
            j[i][k] = is ? derivative(c->b, f, k, args) : zero;
            for (int q = k; q < n; q++)
                h[i][k][q] = h[i][q][k] = d && by >> q & 1 ? derivative(c->b, d, q, args) : zero;
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = single ? i : 0; k < (single ? i + 1 : n); k++)
            vec_push(out, j[i][k]);
    for (int i = 0; i < n; i++)
        for (int k = single ? i : 0; k < (single ? i + 1 : n); k++)
            for (int q = single ? i : 0; q < (single ? i + 1 : n); q++)
                vec_push(out, h[i][k][q]);
    for (int i = single ? 1 : n; i < MOST; i++)
        vec_push(out, zero);
}

static void push_stopped(ir_builder *b, values *out, ir_value *const *v, int n)
{
    for (int k = 0; k < n; k++)
        vec_push(out, ir_op1(b, OP_STOP, v[k]));
}

static ir_op *call_of(slice *c, ir_func *const *of, bool bends)
{
    const ir_spectral *f = c->f;
    const int n = f->n;
    bool single = true;
    for (int i = 0; i < n; i++)
        single &= (depends(c, f->g[i]) & ~(1u << i)) == 0;
    values v = {0}, args = {0};
    for (int k = 0; k < n * n; k++)
        vec_push(&v, f->call->args[k]);
    push_stopped(c->b, &v, f->u, n * n);
    push_stopped(c->b, &args, f->s, n);
    for (int i = 0; i < n; i++)
        vec_push(&v, args.at[i]);
    if (f->symmetric)
        vec_push(&v, ir_zero(c->b, f->s[0]->type));
    else
        push_stopped(c->b, &v, f->v, n * n);
    ir_map map = ir_map_create(c->b->func);
    for (int i = 0; i < n; i++)
        ir_map_set(&map, f->s[i], args.at[i]);
    clone_slice(c, c->b, &map);
    for (int i = 0; i < n; i++)
        vec_push(&v, ir_map_get(&map, f->g[i]) ? ir_map_get(&map, f->g[i]) : f->g[i]);
    ir_map_free(&map);
    for (size_t i = 0; i < c->given.len; i++)
        vec_push(&args, c->given.at[i]);
    push_derivatives(c, single, bends, args.at, &v);
    ir_op *op = ir_call(c->b, of[single], (int)v.len, v.at);
    vec_free(&v);
    vec_free(&args);
    return op;
}

bool ir_spectral_begin(ir_spectral *f, ir_op *call)
{
    const int n = call->nargs == 4 ? 2 : call->nargs == 9 ? 3 : 0, n2 = n * n;
    *f = (ir_spectral){.call = call, .n = n, .symmetric = call->nres == n2 + n};
    if (!n || (!f->symmetric && call->nres != 2 * n2 + n))
        return false;
    for (int k = 0; k < n; k++)
        f->s[k] = call->res[f->symmetric ? k : n2 + k];
    for (int k = 0; k < n2; k++) {
        f->u[k] = call->res[f->symmetric ? n + k : k];
        f->v[k] = call->res[f->symmetric ? n + k : n2 + n + k];
    }
    return true;
}

ir_op *ir_spectral_call(ir_builder *b, const ir_spectral *f, ir_func *const *of, bool bends)
{
    const size_t nvalues = b->func->next_value;
    slice c = {.b = b, .f = f, .by = calloc(nvalues, sizeof *c.by), .outside = calloc(nvalues, sizeof *c.outside)};
    if (!c.by || !c.outside)
        abort();
    for (int i = 0; i < f->n; i++)
        depends(&c, f->g[i]);
    for (size_t i = 0; i < c.ops.len; i++)
        find_given(&c, c.ops.at[i]);
    ir_op *op = c.bad ? NULL : call_of(&c, of, bends);
    free(c.by);
    free(c.outside);
    vec_free(&c.ops);
    vec_free(&c.given);
    return op;
}
