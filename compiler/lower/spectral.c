/* Functions of singular values and eigenvalues.
 *
 * U diag(g(s)) V^T, where U, s, V are results of one decomposition of m, is smooth where values of s meet, but U, s and
 * V are not: their derivatives cannot be put together. So such a product becomes a call of spectral_of
 * (check/spectral.tk), which has rules of its own. It is told g at s, and the derivatives of g by s: of the operations
 * between s and g a function is made, of which the pass func-grad makes derivatives. */
#include <stdlib.h>

#include "ir/ops.h"
#include "lower/lower_impl.h"

enum { MOST = 3 }; /* values */

struct decomposition {
    const tx_func *of;
    ir_op *call;
    struct decomposition *next;
};

struct product {
    agg a, b, r;
    struct product *next;
};

void note_decomposition(lower *l, const tx_func *f, ir_op *call)
{
    struct decomposition *d = ARENA_NEW(l->mem, struct decomposition);
    *d = (struct decomposition){f, call, l->decompositions};
    l->decompositions = d;
}

void note_product(lower *l, const agg *a, const agg *b, const agg *r)
{
    struct product *p = ARENA_NEW(l->mem, struct product);
    *p = (struct product){*a, *b, *r, l->products};
    l->products = p;
}

/* ---- what is multiplied ---- */

typedef struct form {
    const struct decomposition *of;
    int n;
    bool flipped; /* V diag(g) U^T: the transpose */
    ir_value *u[MOST * MOST], *s[MOST], *v[MOST * MOST], *g[MOST];
} form;

static bool same(const agg *a, const agg *b)
{
    bool yes = a->n == b->n;
    for (int k = 0; yes && k < a->n; k++)
        yes = a->at[k] == b->at[k];
    return yes;
}

static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && ir_float(v) == 0;
}

/* u is U, vt is V^T, or the other way round; middle diagonal, NULL: the identity. */
static bool find_form(lower *l, int n, const agg *u, const agg *middle, const agg *vt, form *f)
{
    const struct decomposition *d = l->decompositions;
    while (d && d->call != u->at[0]->def)
        d = d->next;
    if (!d || d->call->nres != (d->of->symmetric ? n * n + n : 2 * n * n + n))
        return false;
    const int s = d->of->symmetric ? 0 : n * n, first = d->of->symmetric ? n : 0,
              second = d->of->symmetric ? n : n * n + n;
    *f = (form){.of = d, .n = n, .flipped = u->at[0] != d->call->res[first]};
    bool is = true;
    for (int i = 0; i < n; i++) {
        f->s[i] = d->call->res[s + i];
        f->g[i] = middle ? middle->at[i * n + i] : ir_const_f(&l->b, u->elem, 1);
        for (int k = 0; k < n; k++) {
            f->u[i * n + k] = d->call->res[first + i * n + k];
            f->v[i * n + k] = d->call->res[second + i * n + k];
            is = is && u->at[i * n + k] == (f->flipped ? f->v : f->u)[i * n + k] &&
                 vt->at[k * n + i] == (f->flipped ? f->u : f->v)[i * n + k] &&
                 (!middle || i == k || is_zero(middle->at[i * n + k]));
        }
    }
    return is;
}

static bool find_product(lower *l, int n, const agg *a, const agg *b, form *f)
{
    for (const struct product *p = l->products; p; p = p->next)
        if ((same(&p->r, a) && find_form(l, n, &p->a, &p->b, b, f)) ||
            (same(&p->r, b) && find_form(l, n, a, &p->a, &p->b, f)))
            return true;
    return find_form(l, n, a, NULL, b, f);
}

/* ---- the operations between s and g ---- */

typedef struct slice {
    lower *l;
    const form *f;
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

static bool reads_memory(const ir_op *op);

static bool region_reads(const ir_region *r)
{
    bool reads = false;
    for (const ir_op *in = r->first; in && !reads; in = in->next)
        reads = reads_memory(in);
    return reads;
}

static bool reads_memory(const ir_op *op)
{
    if (op->code == OP_CALL || op->code == OP_GRADIENT || op->code == OP_ALONG)
        return region_reads(ir_callee_of(op)->body);
    bool reads = !op_is_pure_table(op->code) && op->nregions == 0 && op->code != OP_CONST && op->code != OP_YIELD;
    for (int i = 0; i < op->nregions; i++)
        reads |= region_reads(op->regions[i]);
    return reads;
}

/* It may be run again here: it has no effect, and nothing has any since it read what it may have read. */
static bool can_repeat(const lower *l, const ir_op *op)
{
    if (reads_memory(op) && op->region != l->b.region)
        return false;
    bool can = !ir_op_has_effect(op);
    for (const ir_op *next = op->next; next && can && reads_memory(op); next = next->next)
        can = !ir_op_has_effect(next);
    return can;
}

static unsigned depends(slice *c, ir_value *v)
{
    if (c->by[v->id])
        return c->by[v->id] - 1u;
    unsigned by = 0;
    if (v->def == c->f->of->call) {
        for (int i = 0; i < c->f->n; i++)
            by |= v == c->f->s[i] ? 1u << i : 0;
        c->bad |= !by;
    } else if (v->def) {
        by = depends_op(c, v->def);
        if (by && ir_region_is_ancestor(v->def->region, c->l->b.region)) {
            c->bad |= !can_repeat(c->l, v->def);
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
        if (c->outside[v->id] || ir_is_const(v) || depends(c, v) || !ir_region_is_ancestor(in, c->l->b.region))
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
static ir_func *new_func(lower *l, const char *name)
{
    ir_func *f = ir_func_create(l->m, IR_FUNC, name);
    size_t at = l->m->funcs.len - 1;
    for (; l->m->funcs.at[at - 1] != l->b.func; at--)
        l->m->funcs.at[at] = l->m->funcs.at[at - 1];
    l->m->funcs.at[at] = l->b.func;
    l->m->funcs.at[at - 1] = f;
    f->prelude = true;
    f->loc = l->b.loc;
    f->nresults = 1;
    f->results = ARENA_ARRAY(l->mem, scalar, 1);
    return f;
}

static void end_func(ir_builder *b, ir_value *result)
{
    b->func->results[0] = result->type;
    ir_yield(b, 1, &result);
    ir_forget_origins(b->func);
    assert(ir_verify(b->func, "lower"));
}

static void clone_slice(const slice *c, ir_builder *b, ir_map *map)
{
    for (size_t i = 0; i < c->ops.len; i++) {
        const ir_op *op = c->ops.at[i];
        for (int k = 0; k < op->nargs; k++)
            if (ir_is_const(op->args[k]) && !ir_map_get(map, op->args[k]))
                ir_clone_op(b, op->args[k]->def, map);
        ir_clone_op(b, op, map);
    }
}

/* g_k of s and of what is given. */
static ir_func *value_func(slice *c, int k)
{
    ir_func *f = new_func(c->l, intern(c->l->m->names, arena_printf(c->l->mem, "%s_value", c->l->b.func->name)));
    ir_builder b = {.func = f, .region = f->body, .loc = c->l->b.loc};
    ir_map map = ir_map_create(c->l->b.func);
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
static ir_value *derivative(lower *l, ir_builder *b, ir_func *f, int i, ir_value *const *args)
{
    const int n = f->body->nparams;
    ir_value **all = ARENA_ARRAY(l->mem, ir_value *, 2 * n);
    int at = n;
    for (int k = 0; k < n; k++) {
        all[k] = args[k];
        if (scalar_is_float(args[k]->type))
            all[at++] = ir_const_f(b, args[k]->type, k == i);
    }
    return ir_along(b, f, at, all);
}

static ir_func *derivative_func(lower *l, ir_func *of, int i)
{
    ir_func *f = new_func(l, of->name);
    ir_builder b = {.func = f, .region = f->body, .loc = l->b.loc};
    for (int k = 0; k < of->body->nparams; k++)
        ir_region_param_like(f->body, of->body->params[k]);
    end_func(&b, derivative(l, &b, of, i, f->body->params));
    return f;
}

typedef VEC(ir_value *) values;

/* j, h0, h1, h2 as spectral_of takes them. */
static void push_derivatives(slice *c, bool single, ir_value *const *args, values *out)
{
    lower *l = c->l;
    const int n = c->f->n;
    ir_value *zero = ir_zero(&l->b, c->f->s[0]->type), *j[MOST][MOST], *h[MOST][MOST][MOST];
    for (int i = 0; i < n; i++) {
        const unsigned by = depends(c, c->f->g[i]);
        ir_func *f = by ? value_func(c, i) : NULL;
        for (int k = 0; k < n; k++) {
            const bool is = by >> k & 1;
            ir_func *d = is ? derivative_func(l, f, k) : NULL;
            j[i][k] = is ? derivative(l, &l->b, f, k, args) : zero;
            for (int q = k; q < n; q++)
                h[i][k][q] = h[i][q][k] = is && by >> q & 1 ? derivative(l, &l->b, d, q, args) : zero;
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

static void push_stopped(lower *l, values *out, ir_value *const *v, int n)
{
    for (int k = 0; k < n; k++)
        vec_push(out, ir_op1(&l->b, OP_STOP, v[k]));
}

/* The call in place of the product. */
static agg call_spectral(slice *c)
{
    lower *l = c->l;
    const form *f = c->f;
    const int n = f->n;
    const tx_func *of = f->of->of;
    bool single = true;
    for (int i = 0; i < n; i++)
        single &= (depends(c, f->g[i]) & ~(1u << i)) == 0;
    values v = {0}, args = {0};
    for (int k = 0; k < n * n; k++)
        vec_push(&v, f->of->call->args[k]);
    push_stopped(l, &v, f->u, n * n);
    push_stopped(l, &args, f->s, n);
    for (int i = 0; i < n; i++)
        vec_push(&v, args.at[i]);
    if (of->symmetric)
        vec_push(&v, ir_zero(&l->b, f->s[0]->type));
    else
        push_stopped(l, &v, f->v, n * n);
    ir_map map = ir_map_create(l->b.func);
    for (int i = 0; i < n; i++)
        ir_map_set(&map, f->s[i], args.at[i]);
    clone_slice(c, &l->b, &map);
    for (int i = 0; i < n; i++)
        vec_push(&v, ir_map_get(&map, f->g[i]) ? ir_map_get(&map, f->g[i]) : f->g[i]);
    ir_map_free(&map);
    for (size_t i = 0; i < c->given.len; i++)
        vec_push(&args, c->given.at[i]);
    push_derivatives(c, single, args.at, &v);
    const ir_op *op = ir_call(&l->b, of->spectral[single]->lowered, (int)v.len, v.at);
    agg r = agg_scalars(l, f->s[0]->type, n * n);
    for (int k = 0; k < r.n; k++)
        r.at[f->flipped ? k % n * n + k / n : k] = op->res[k];
    ir_forget_origins(l->b.func);
    vec_free(&v);
    vec_free(&args);
    return r;
}

bool lower_spectral(lower *l, int n, const agg *a, const agg *b, agg *r)
{
    form f;
    if (!l->decompositions || n > MOST || !find_product(l, n, a, b, &f) || !f.of->of->spectral[0])
        return false;
    const size_t nvalues = l->b.func->next_value;
    slice c = {.l = l, .f = &f, .by = calloc(nvalues, sizeof *c.by), .outside = calloc(nvalues, sizeof *c.outside)};
    for (int i = 0; i < n; i++)
        depends(&c, f.g[i]);
    for (size_t i = 0; i < c.ops.len; i++)
        find_given(&c, c.ops.at[i]);
    const bool can = !c.bad;
    if (can)
        *r = call_spectral(&c);
    else if (l->frame->fn->of_func)
        diag(l->m->diag, span_at(l->b.loc), DIAG_BUILTIN_ARGUMENTS,
             "a function of singular values or eigenvalues has no effect, and no array parameters");
    free(c.by);
    free(c.outside);
    vec_free(&c.ops);
    vec_free(&c.given);
    return can;
}
