/* Gradients and JVPs inside functions and kernels: f.grad(x), f.jvp(x, dx).
 *
 * An operation GRADIENT becomes the call of a function, which reverse mode makes of f with the seed 1. Innermost
 * gradients come first, and this is the first pass of all: to the others such a function is one of the program.
 *
 * Its gradient is by the arguments alone: fields count as constant, and nothing is stored. Differentiated, it depends
 * on fields like any other function.
 *
 * One that keeps values of loops stays a call, as these cannot be reversed. Its pull-back is known without that:
 * forward_along, and rev_gradient in reverse/build/ops.c. A JVP, ALONG, keeps nothing, and is a function like any
 * other.
 */
#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

#include <stdlib.h>

/* ---- which results anybody uses ---- */

typedef struct asked {
    ptrmap wanted; /* function -> by parameter: bool */
    const uint32_t *uses;
} asked;

static void note_uses(ir_op *op, void *ctx)
{
    asked *a = ctx;
    if (op->code != OP_GRADIENT)
        return;
    ir_func *f = ir_callee_of(op);
    bool *wanted = ptrmap_get(&a->wanted, f);
    if (!wanted) {
        wanted = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
        ptrmap_set(&a->wanted, f, wanted);
    }
    for (int i = 0, k = 0; i < f->body->nparams; i++)
        if (scalar_is_float(f->body->params[i]->type))
            wanted[i] |= a->uses[op->res[k++]->id] > 0;
}

static asked find_asked(const ir_module *m)
{
    asked a = {0};
    for (size_t i = 0; i < m->funcs.len; i++) {
        uint32_t *uses = ir_count_uses(m->funcs.at[i]);
        a.uses = uses;
        ir_walk(m->funcs.at[i]->body, note_uses, &a);
        free(uses);
    }
    return a;
}

/* ---- what gradients are made of ---- */

static void reach_gradient(ir_op *op, void *ctx)
{
    if (ir_is_func_derivative(op))
        ir_reach(ctx, ir_callee_of(op));
}

/* Functions of which there are gradients, and those that they call. */
static ptrmap find_reached(const ir_module *m)
{
    ptrmap reached = {0};
    for (size_t i = 0; i < m->funcs.len; i++)
        ir_walk(m->funcs.at[i]->body, reach_gradient, &reached);
    return reached;
}

/* ---- the pass ---- */

typedef VEC(ir_op *) op_list;

static void collect_gradient(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (ir_is_func_derivative(op))
        vec_push(l, op);
}

static void expand_alongs(ir_func *f);

/* A gradient by singular values alone becomes a function of its own. */
static void spectral_gradient(ir_func *f, bool bends)
{
    ir_module *m = f->module;
    size_t i = 0;
    while (m->funcs.at[i] != f)
        i++;
    if (!spectral_in(f, bends))
        return;
    for (; m->funcs.at[i] != f; i++) /* what was made stands in front */
        expand_alongs(m->funcs.at[i]);
    expand_alongs(f);
    decide_handed_on(f);
    pass_simplify(f);
}

/* The call that takes the place of a gradient; NULL, and reported, if there is none. */
static const ir_op *call_gradient(ir_builder *b, const ir_op *op, const bool *wanted)
{
    ir_func *of = ir_callee_of(op), *g = of->ad.custom_grad;
    if (extern_lacks_derivative(op, true) || !leaves_memory(of, of, op->loc) || (g && !leaves_memory(g, of, op->loc)))
        return NULL;
    if (!g) {
        g = gradient_of_source(of, wanted);
        spectral_gradient(g, true);
    }
    ir_value **args = ARENA_ARRAY(b->func->module->mem, ir_value *, op->nargs + 1);
    int n = 0;
    for (; n < op->nargs; n++)
        args[n] = op->args[n];
    if (of->ad.custom_grad)
        args[n++] = ir_const_f(b, of->results[0], 1.0);
    return ir_call(b, g, n, args);
}

/* And of a JVP. One of the program's own gives the value as well, in front. */
static const ir_op *call_along(ir_builder *b, const ir_op *op)
{
    ir_func *of = ir_callee_of(op), *own = of->ad.custom_jvp;
    if (extern_lacks_derivative(op, false) || !leaves_memory(of, of, op->loc) ||
        (own && !leaves_memory(own, of, op->loc)))
        return NULL;
    return ir_call(b, own ? own : forward_along(of, ALONG_JVP, gradient_along), op->nargs, op->args);
}

static void expand_matrix(ir_func *f, ir_op *op, ir_map *results)
{
    ir_builder b = {.func = f, .region = op->region, .before = op, .loc = op->loc};
    ir_value **entries = ARENA_ARRAY(f->module->mem, ir_value *, op->nres + 1);
    const bool known = matrix_entries(&b, op, spectral_gradient, entries);
    for (int i = 0; i < op->nres; i++)
        ir_map_set(results, op->res[i], known ? entries[i] : ir_zero(&b, op->res[i]->type));
    ir_remove(op);
}

static void expand(ir_func *f, ir_op *op, const asked *a, ir_map *results)
{
    const ir_func *of = ir_callee_of(op);
    if (op->code == OP_JACOBIAN || op->code == OP_HESSIAN) {
        expand_matrix(f, op, results);
        return;
    }
    ir_builder b = {.func = f, .region = op->region, .before = op, .loc = op->loc};
    const ir_op *call = op->code == OP_ALONG ? call_along(&b, op) : call_gradient(&b, op, ptrmap_get(&a->wanted, of));
    const int first = op->code == OP_ALONG && of->ad.custom_jvp ? 1 : 0;
    for (int i = 0; i < op->nres; i++) { /* after an error the next ones are looked for */
        ir_value *v = call ? call->res[first + i] : ir_zero(&b, op->res[i]->type);
        v->name = op->res[i]->name;
        ir_map_set(results, op->res[i], v);
    }
    ir_remove(op);
}

static void expand_in(ir_func *f, const asked *a)
{
    op_list list = {0};
    ir_walk(f->body, collect_gradient, &list);
    ir_map results = ir_map_create(f);
    for (size_t i = 0; i < list.len; i++)
        expand(f, list.at[i], a, &results);
    if (list.len)
        ir_rewrite_uses(f, &results);
    ir_map_free(&results);
    vec_free(&list);
}

static void expand_alongs(ir_func *f)
{
    const asked none = {0};
    expand_in(f, &none);
}

/* Functions from `from` on come before the one at `at`, which calls them. */
static void put_before(ir_module *m, size_t at, size_t from)
{
    const size_t n = m->funcs.len - from;
    if (n == 0)
        return;
    ir_func **made = ARENA_ARRAY(m->mem, ir_func *, n + 1);
    for (size_t i = 0; i < n; i++)
        made[i] = m->funcs.at[from + i];
    for (size_t i = from; i-- > at;)
        m->funcs.at[i + n] = m->funcs.at[i];
    for (size_t i = 0; i < n; i++)
        m->funcs.at[at + i] = made[i];
}

bool pass_func_grad(ir_module *m)
{
    const int errors = diag_error_count(m->diag);
    asked a = find_asked(m);
    ptrmap reached = find_reached(m);
    for (size_t i = 0; i < m->funcs.len; i++) {
        const size_t n = m->funcs.len;
        ir_func *f = m->funcs.at[i];
        expand_in(f, &a);
        if (ptrmap_get(&reached, f))
            inline_calls_in(f); /* here already: then more is known of what need not be kept */
        put_before(m, i, n);
        i += m->funcs.len - n;
    }
    for (size_t i = 0; i < m->funcs.len; i++) { /* later ones see what decides by then */
        ir_ad *ad = &m->funcs.at[i]->ad;
        ad->partials = ad->matrix[0] = ad->matrix[1] = NULL;
    }
    ptrmap_free(&a.wanted);
    ptrmap_free(&reached);
    return diag_error_count(m->diag) == errors;
}

/* ---- the pass spectral ---- */

/* Of a function with one result: what it is multiplied with is the same for all values. */
static bool is_gradient(const ir_func *f)
{
    const ir_func *of = f->ad.primal;
    return f->kind == IR_KERNEL_GRAD || (of && of->ad.vjp == f && of->nresults == 1);
}

bool pass_spectral(ir_module *m)
{
    VEC(ir_func *) all = {0};
    for (size_t i = 0; i < m->funcs.len && activity_has_second_order(m); i++)
        vec_push(&all, m->funcs.at[i]);
    for (size_t i = 0; i < all.len; i++)
        if (is_gradient(all.at[i]))
            spectral_gradient(all.at[i], false);
    vec_free(&all);
    return true;
}
