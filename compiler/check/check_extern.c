/* extern func: C functions of the host. grad(...), the derivative that stands behind a signature, becomes the two
 * functions that a program may also write itself, marked grad_for and jvp_for. */
#include <string.h>

#include "check/check.h"

/* ---- grad(...) ---- */

typedef struct derivative {
    sym *s;
    const ast_attr *attr;
    const ty *result; /* of the C function: a float */
    instance *inst;
    fn f;
    scope scope;
} derivative;

static void begin(checker *c, derivative *d, const char *suffix)
{
    instance *of = d->s->instances;
    const char *name = intern(c->names, arena_printf(c->mem, "%s_%s", d->s->id, suffix));
    d->inst = ARENA_NEW(c->mem, instance);
    d->inst->args = of->args;
    d->inst->tx = ARENA_NEW(c->mem, tx_func);
    d->inst->tx->name = check_names_unique(c, name, names_entry(c, name)->item != NULL);
    d->inst->tx->loc = d->attr->span.begin;
    d->f = (fn){.sym = d->s, .inst = d->inst, .tx = d->inst->tx, .site = d->attr->span};
    fn_begin(c, &d->f, &d->scope);
    declare_params(c, &d->f, of->args, d->s->nparams + 1);
}

/* Ends the function, which returns these values. */
static void finish(checker *c, derivative *d, tx_expr *const *values, int n)
{
    const ty **types = ARENA_ARRAY(c->mem, const ty *, n);
    tx_stmt *t = emit_stmt(c, TX_RETURN, d->attr->span);
    t->values = ARENA_ARRAY(c->mem, tx_expr *, n);
    t->nvalues = n;
    for (int k = 0; k < n; k++) {
        t->values[k] = values[k];
        types[k] = values[k]->type;
    }
    d->inst->result = d->inst->tx->declared = d->inst->tx->result = n == 1 ? types[0] : ty_tuple(c->types, n, types);
    d->inst->ready = true;
    call_edge *edge = ARENA_NEW(c->mem, call_edge);
    *edge = (call_edge){.to = d->inst, .next = d->s->instances->callees};
    d->s->instances->callees = edge;
    fn_end(c, &d->f);
    instance_complete(c, d->inst);
}

static tx_expr *local_value(checker *c, tx_local *l, src_span at)
{
    tx_expr *e = tx_new(c, TX_LOCAL, l->type, at);
    e->local = l;
    return e;
}

static tx_local *extra_param(checker *c, derivative *d, const char *name, const ty *type)
{
    tx_local *l = local_new(c, name, type, d->attr->span.begin);
    d->f.tx->params[d->f.tx->nparams++] = l;
    return l;
}

/* a * b, in the wider of their precisions. */
static tx_expr *product(checker *c, tx_expr *a, tx_expr *b, const ty *shape, src_span at)
{
    const scalar wide = a->type->elem == SC_F64 ? SC_F64 : b->type->elem;
    tx_expr *x = cast_to(c, val_typed(a), wide, at).e, *y = cast_to(c, val_typed(b), wide, at).e;
    return tx_op(c, OP_MUL, ty_with_elem(c->types, shape, wide), at, 2, (tx_expr *[]){x, y});
}

/* The derivative by each real parameter, as it is written: room for nparams of them. False after an error. */
static bool check_derivatives(checker *c, const derivative *d, tx_expr **out)
{
    const ast_expr *e = d->attr->args;
    int n = 0;
    bool ok = true;
    for (int k = 0; k < d->s->nparams; k++) {
        const tx_local *p = d->f.tx->params[k];
        if (!scalar_is_float(p->type->elem))
            continue;
        const val v = convert(c, check_expr(c, e), p->type, e->span);
        ok = ok && !val_bad(v);
        out[n++] = v.e;
        e = e->next;
    }
    return ok;
}

/* f_grad(parameters, seed): the seed times each derivative. */
static bool build_grad(checker *c, derivative *d)
{
    begin(c, d, "grad");
    tx_expr **by = ARENA_ARRAY(c->mem, tx_expr *, d->s->nparams);
    int n = 0;
    if (!check_derivatives(c, d, by)) {
        fn_end(c, &d->f);
        return false;
    }
    tx_local *seed = extra_param(c, d, "seed", d->result);
    for (int k = 0; k < d->s->nparams; k++) {
        const ty *t = d->f.tx->params[k]->type;
        if (!scalar_is_float(t->elem))
            continue;
        tx_expr *g = product(c, local_value(c, seed, d->attr->span), by[n], t, d->attr->span);
        by[n++] = cast_to(c, val_typed(g), t->elem, d->attr->span).e;
    }
    finish(c, d, by, n);
    d->s->instances->tx->custom_grad = d->inst->tx;
    return true;
}

/* The C function itself. */
static tx_expr *call_itself(checker *c, derivative *d)
{
    instance *of = d->s->instances;
    tx_expr *e = tx_new(c, TX_CALL, d->result, d->attr->span);
    e->callee = of->tx;
    e->nargs = d->s->nparams;
    e->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
    for (int k = 0; k < e->nargs; k++)
        e->args[k] = local_value(c, d->f.tx->params[k], d->attr->span);
    of->tx->called = true;
    return e;
}

/* f_jvp(parameters, tangents): the value, and the sum of the derivatives times the tangents. */
static void build_jvp(checker *c, derivative *d)
{
    begin(c, d, "jvp");
    const src_span at = d->attr->span;
    tx_expr **by = ARENA_ARRAY(c->mem, tx_expr *, d->s->nparams), *sum = NULL;
    if (!check_derivatives(c, d, by)) { /* not the second time */
        fn_end(c, &d->f);
        return;
    }
    for (int k = 0, n = 0; k < d->s->nparams; k++) {
        tx_local *p = d->f.tx->params[k];
        if (!scalar_is_float(p->type->elem))
            continue;
        tx_local *dual = extra_param(c, d, arena_printf(c->mem, "%s_dual", p->name), p->type);
        const ty *wide = ty_with_elem(c->types, p->type, d->result->elem == SC_F64 ? SC_F64 : p->type->elem);
        tx_expr *by_wide = cast_to(c, val_typed(by[n++]), wide->elem, at).e;
        val part = val_typed(product(c, by_wide, local_value(c, dual, at), p->type, at));
        if (p->type->kind != TY_SCALAR)
            part = call_function(c, names_entry(c, intern(c->names, "sum"))->prelude, &part, 1, &at, at);
        tx_expr *term = cast_to(c, part, d->result->elem, at).e;
        sum = sum ? tx_op(c, OP_ADD, d->result, at, 2, (tx_expr *[]){sum, term}) : term;
    }
    finish(c, d, (tx_expr *[]){call_itself(c, d), sum}, 2);
    d->s->instances->tx->custom_jvp = d->inst->tx;
}

static const char *refusal(checker *c, const sym *s, int nreal)
{
    const ty *r = s->result;
    const char *instead = arena_printf(c->mem, "write functions marked 'grad_for(%s)' and 'jvp_for(%s)'", s->name,
                                       s->name);
    if (r->kind == TY_TUPLE)
        return arena_printf(c->mem, "it has several results; %s", instead);
    if (r->kind != TY_SCALAR)
        return arena_printf(c->mem, "its result is %s and not one number; %s", ty_name(c->types, r), instead);
    if (!scalar_is_float(r->elem))
        return arena_printf(c->mem, "its result is %s: only floats have derivatives", ty_name(c->types, r));
    for (int k = 0; k < s->nparams; k++)
        if (s->param_types[k]->kind == TY_STRUCT)
            return arena_printf(c->mem, "it takes a struct; give the derivative to a function of its members");
    return nreal ? NULL : "no parameter is a float";
}

static const ast_attr *grad_attr(const sym *s)
{
    const ast_attr *a = s->item->attrs;
    while (a && strcmp(a->name, "grad") != 0)
        a = a->next;
    return a;
}

static bool fits(checker *c, const sym *s, const ast_attr *a)
{
    int nreal = 0;
    for (int k = 0; k < s->nparams; k++)
        nreal += s->param_types[k]->kind != TY_STRUCT && scalar_is_float(s->param_types[k]->elem);
    const char *why = refusal(c, s, nreal);
    if (why) {
        ERR(c, a->span, DIAG_CUSTOM_CONFLICT, s->name, "grad", why);
        return false;
    }
    const int n = ast_count(a->args);
    if (n == nreal)
        return true;
    ERR(c, a->span, DIAG_ARGUMENT_COUNT, "grad",
        nreal == 1 ? "1 derivative" : arena_printf(c->mem, "%d derivatives", nreal), n);
    NOTE(c, s->span, "one for each parameter of '%s' that is made of floats, in their order", s->name);
    return false;
}

static void check_one(checker *c, sym *s, const ast_attr *a)
{
    derivative d = {.s = s, .attr = a, .result = s->result};
    if (!s->instances || !s->instances->ready || !fits(c, s, a) || !build_grad(c, &d))
        return;
    const instance *found = find_impure(d.inst);
    if (found) {
        ERR(c, a->span, DIAG_CUSTOM_CONFLICT, s->name, "grad",
            arena_printf(c->mem, "'%s' is a function of its parameters alone, but this %s", s->name, found->impure));
        NOTE(c, found->impure_at, "here");
        return;
    }
    build_jvp(c, &d);
}

void check_externs(checker *c)
{
    for (sym *s = c->items; s; s = s->next)
        if (s->kind == SYM_FUNC && s->item->is_extern && !s->refused && grad_attr(s))
            check_one(c, s, grad_attr(s));
}
