/* Calls: an operation for functions on scalars and small aggregates, an expansion in place for the others. */
#include <assert.h>
#include <string.h>

#include "lower/lower_impl.h"

int result_count(const ty *t)
{
    return t->kind == TY_VOID ? 0 : t->kind == TY_TUPLE ? t->nmembers : 1;
}

const ty *result_type(const ty *t, int i)
{
    return t->kind == TY_TUPLE ? t->members[i] : t;
}

bool is_expanded(arena *mem, tx_func *f)
{
    if (f->is_kernel || f->in_place || f->opened || f->atomics) /* an old value is recorded by the kernel's own loops */
        return true;
    for (int i = 0; i < f->nparams; i++) {
        if (in_memory(f->params[i]->type))
            return true;
    }
    for (int i = 0; i < result_count(f->result); i++) {
        if (in_memory(result_type(f->result, i)))
            return true;
    }
    return scan_func(mem, f)->body.task;
}

static void set_zero(lower *l, lvar **results, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; results[i]->val && k < results[i]->n; k++)
            results[i]->val[k] = ir_zero(&l->b, results[i]->elem);
}

/* What calls twice what calls twice doubles with each function. False, and reported once, beyond the limit. */
static bool has_room(lower *l, const tx_func *f)
{
    enum { MOST = 200000 };
    const ir_func *in = l->b.func;
    if (in->next_value <= MOST || l->grown == in)
        return in->next_value <= MOST;
    l->grown = in;
    const src_span at = span_at(l->b.loc);
    diag(l->m->diag, at, DIAG_EXPANDED, in->name, MOST);
    diag_note(l->m->diag, at,
              "'%s' is expanded where it is called, as functions with arrays or more than %d components in their "
              "signature are: call it in a loop, or on fewer",
              f->name, SPLIT_MAX);
    return false;
}

/* The callee's body at the place of the call, with variables of its own. */
static void expand(lower *l, tx_func *f, tx_expr *const *given, const agg *args, ir_value *key, agg *out)
{
    int n = result_count(f->result);
    lvar **results = ARENA_ARRAY(l->mem, lvar *, n);
    frame inner = {.fn = f,
                   .scan = scan_func(l->mem, f),
                   .results = results,
                   .nresults = n,
                   .returned = var_flag(l, "returned"),
                   .key = key};
    for (int i = 0; i < n; i++) {
        results[i] = var_create(l, f->name, result_type(f->result, i));
        if (!results[i]->val)
            results[i]->mem = ir_local(&l->b, results[i]->elem, results[i]->n, f->name);
    }
    frame *outer = l->frame;
    const bool finite = l->b.finite;
    for (int i = 0; i < f->nparams; i++) {
        agg a = args[i];
        a.stable = true; /* nothing of the caller changes while the callee runs, but arrays that it was given */
        if (f->params[i]->by_ref)
            f->params[i]->lowered = given[i]->local->lowered;
        else
            var_bind(l, f->params[i], &a);
    }
    l->frame = &inner;
    enter_finite(l, &inner, outer);
    for (int i = 0; i < f->nparams; i++)
        if (!f->params[i]->by_ref)
            check_finite(l, &args[i], l->b.loc);
    if (has_room(l, f))
        lower_list(l, f->body, NULL, 0);
    else
        set_zero(l, results, n);
    l->frame = outer;
    l->b.finite = finite;
    for (int i = 0; i < n; i++) {
        out[i] = var_agg(l, results[i]);
        out[i].stable = out[i].fresh = true; /* memory of this expansion alone */
    }
}

/* All components of the arguments, and room for one more value; *n: how many. */
static ir_value **components(lower *l, const tx_func *f, const agg *args, int *n)
{
    int at = 0;
    *n = 0;
    for (int i = 0; i < f->nparams; i++)
        *n += args[i].n;
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, *n + 1);
    for (int i = 0; i < f->nparams; i++) {
        for (int k = 0; k < args[i].n; k++)
            v[at++] = agg_get(l, &args[i], k);
    }
    return v;
}

static void call(lower *l, tx_func *f, const agg *args, ir_value *key, agg *out)
{
    assert(f->lowered);
    int n, at = 0;
    ir_value **v = components(l, f, args, &n);
    if (key)
        v[n++] = key;
    ir_op *op = ir_call(&l->b, f->lowered, n, v);
    if (f->spectral[0] && (!l->frame->fn->prelude || l->frame->fn->of_func))
        note_decomposition(l, f, op);
    for (int i = 0; i < result_count(f->result); i++) {
        const ty *t = result_type(f->result, i);
        out[i] = agg_scalars(l, t->elem, ty_ncomp(t));
        for (int k = 0; k < out[i].n; k++)
            out[i].at[k] = op->res[at++];
    }
    assert(at == op->nres);
}

/* An adjoint of the program's own is a kernel like any other; a generated one is not made yet. */
static void call_adjoint(lower *l, const tx_expr *e, const agg *args)
{
    tx_func *f = e->callee;
    if (f->custom_grad) {
        expand(l, f->custom_grad, e->args, args, NULL, NULL);
        return;
    }
    int n;
    ir_value **v = components(l, f, args, &n);
    ir_adjoint(&l->b, f->lowered, n, v);
}

/* f.grad(...): by each real parameter. Integers in a struct beside floats have none: zero. */
static void call_gradient(lower *l, const tx_func *f, const agg *args, agg *out)
{
    int n, at = 0, result = 0;
    ir_value **v = components(l, f, args, &n);
    const ir_op *op = ir_gradient(&l->b, f->lowered, n, v);
    for (int i = 0; i < f->nparams; i++) {
        const tx_local *p = f->params[i];
        const bool real = scalar_is_float(p->type->elem);
        if (!real && !(p->whole && ty_has_floats(p->whole->type)))
            continue;
        agg *g = &out[result++];
        *g = agg_scalars(l, p->type->elem, ty_ncomp(p->type));
        for (int k = 0; k < g->n; k++)
            g->at[k] = real ? op->res[at++] : ir_zero(&l->b, g->elem);
    }
    assert(at == op->nres);
}

/* Entries of one block; large ones go to memory. */
static agg block(lower *l, const ty *t, ir_value **entries)
{
    agg a = agg_scalars(l, t->elem, ty_ncomp(t));
    for (int k = 0; k < a.n; k++)
        a.at[k] = ir_cast(&l->b, t->elem, entries[k]);
    return in_memory(t) ? agg_to_memory(l, a) : a;
}

/* Of the real parameters of f the numbers of their first columns; the last is how many columns there are. */
static int *first_columns(lower *l, const tx_func *f, int *n)
{
    int *first = ARENA_ARRAY(l->mem, int, f->nparams + 1);
    *n = 0;
    for (int i = 0; i < f->nparams; i++)
        if (scalar_is_float(f->params[i]->type->elem)) {
            first[*n + 1] = first[*n] + ty_ncomp(f->params[i]->type);
            ++*n;
        }
    return first;
}

/* f.jacobian(...), f.hessian(...): block by block, each row by row. */
static void call_matrix(lower *l, const tx_expr *e, const agg *args, agg *out)
{
    int nargs, n, result = 0;
    ir_value **v = components(l, e->callee, args, &nargs);
    const ir_op *op = ir_func_matrix(&l->b, e->hessian ? OP_HESSIAN : OP_JACOBIAN, e->callee->lowered, nargs, v);
    const int *first = first_columns(l, e->callee, &n), width = first[n];
    ir_value **entries = ARENA_ARRAY(l->mem, ir_value *, op->nres + width + 1);
    for (int p = 0; p < (e->hessian ? n : 1); p++)
        for (int q = e->hessian ? p : 0; q < n; q++) {
            const int row = e->hessian ? first[p] : 0, end = e->hessian ? first[p + 1] : ty_ncomp(e->callee->result);
            int at = 0;
            for (int i = row; i < end; i++)
                for (int j = first[q]; j < first[q + 1]; j++) {
                    const int lo = i < j ? i : j, hi = i < j ? j : i;
                    entries[at++] = op->res[e->hessian ? hi * (hi + 1) / 2 + lo : i * width + j];
                }
            out[result] = block(l, result_type(e->type, result), entries);
            result++;
        }
}

/* f.jvp(...): behind the arguments stand the tangents of the real ones. */
static void call_along(lower *l, const tx_expr *e, const agg *args, agg *out)
{
    int n, more = 0;
    ir_value **own = components(l, e->callee, args, &n);
    for (int i = e->callee->nparams; i < e->nargs; i++)
        more += args[i].n;
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, n + more + 1);
    memcpy(v, own, (size_t)n * sizeof *v);
    for (int i = e->callee->nparams; i < e->nargs; i++)
        for (int k = 0; k < args[i].n; k++)
            v[n++] = agg_get(l, &args[i], k);
    out[0] = agg_scalars(l, e->callee->result->elem, 1);
    out[0].at[0] = ir_along(&l->b, e->callee->lowered, n, v);
}

static bool is_derivative(const tx_expr *e)
{
    return e->adjoint || e->gradient || e->jacobian || e->hessian || e->along;
}

void lower_call(lower *l, const tx_expr *e, agg *out)
{
    tx_func *f = e->callee;
    agg *args = ARENA_ARRAY(l->mem, agg, e->nargs);
    assert(e->nargs == f->nparams || e->along);
    for (int i = 0; i < e->nargs; i++)
        if (i >= f->nparams || !f->params[i]->by_ref)
            args[i] = lower_expr(l, e->args[i]);
    l->b.loc = e->loc;
    ir_value *key = e->site ? lower_draw(l, OP_RANDOM, SC_U64, e->site) : NULL;
    if (e->adjoint)
        call_adjoint(l, e, args);
    else if (e->gradient)
        call_gradient(l, f, args, out);
    else if (e->jacobian || e->hessian)
        call_matrix(l, e, args, out);
    else if (e->along)
        call_along(l, e, args, out);
    else if (is_expanded(l->mem, f))
        expand(l, f, e->args, args, key, out);
    else
        call(l, f, args, key, out);
    l->b.loc = e->loc;
    for (int i = 0; !is_derivative(e) && i < result_count(f->result); i++)
        check_finite(l, &out[i], e->loc);
}
