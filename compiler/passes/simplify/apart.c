/* Functions that export funcs and kernels share. The gradient of an export func gives the function's results, too, with
 * the same bits, so whatever those are computed from is exact (passes/analysis/decisions.c): no product is fused with a
 * sum, no function of the C library becomes a vector's. Kernels promise less, and would pay for it in the functions
 * that they have in common. So kernels get copies of those, which are marked for themselves.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

typedef struct worlds {
    ptrmap kernels, exports; /* the functions that are reached from one of them */
    ptrmap *into;            /* which of both is being filled */
    ptrmap dear;             /* functions that results make more exact */
    ptrmap copy;             /* of a function, for kernels */
} worlds;

static void reach(worlds *w, ir_func *f);

static void reach_op(ir_op *op, void *ctx)
{
    if (op->code == OP_CALL)
        reach(ctx, ir_callee_of(op));
}

static void reach(worlds *w, ir_func *f)
{
    if (ptrmap_get(w->into, f))
        return;
    ptrmap_set(w->into, f, f);
    ir_walk(f->body, reach_op, w);
}

static void find_worlds(worlds *w, const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *f = m->funcs.at[i];
        w->into = ir_is_export(f) ? &w->exports : &w->kernels;
        if (f->kind != IR_FUNC)
            reach(w, f);
    }
}

/* Not what is tied to others: by derivatives of the program's own, or those that it asks for. */
static bool may_be_copied(const ir_func *f)
{
    const ir_ad *ad = &f->ad;
    return f->kind == IR_FUNC && !f->external && !ad->custom_grad && !ad->custom_jvp && !ad->custom_of &&
           !ad->gradient && !ad->gradient_of && !ad->along[0] && !ad->along[1] && !ad->vjp && !ad->fn_jvp &&
           !ad->primal;
}

static void redirect(ir_op *op, void *ctx)
{
    const worlds *w = ctx;
    ir_func *copy = op->code == OP_CALL ? ptrmap_get(&w->copy, ir_callee_of(op)) : NULL;
    if (copy)
        ir_call_attr(op)->callee = copy;
}

/* Copies stand behind what they are copies of: callees come before callers. */
static void copy_shared(worlds *w, ir_module *m)
{
    const size_t n = m->funcs.len;
    func_list order = {0};
    for (size_t i = 0; i < n; i++) {
        ir_func *f = m->funcs.at[i];
        vec_push(&order, f);
        const bool shared = ptrmap_get(&w->kernels, f) && ptrmap_get(&w->exports, f) && may_be_copied(f);
        if (!shared || !ptrmap_get(&w->dear, f))
            continue;
        ir_func *copy = ir_clone_func(f, f->name);
        ptrmap_set(&w->copy, f, copy);
        ptrmap_set(&w->kernels, copy, copy);
        vec_push(&order, copy);
    }
    for (size_t i = 0; i < order.len; i++)
        m->funcs.at[i] = order.at[i];
    vec_free(&order);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ptrmap_get(&w->kernels, m->funcs.at[i]) && !ptrmap_get(&w->exports, m->funcs.at[i]))
            ir_walk(m->funcs.at[i]->body, redirect, w);
}

bool pass_apart(ir_module *m)
{
    worlds w = {0};
    func_list more = {0};
    decisions_of_results(m, &more);
    for (size_t i = 0; i < more.len; i++)
        ptrmap_set(&w.dear, more.at[i], more.at[i]);
    find_worlds(&w, m);
    const size_t n = m->funcs.len;
    if (more.len)
        copy_shared(&w, m);
    /* One function called from two places may be two now that are called from one each. */
    if (m->funcs.len > n) {
        pass_inline(m);
        for (size_t i = 0; i < m->funcs.len; i++)
            if (m->funcs.at[i] != m->extents)
                pass_simplify(m->funcs.at[i]);
    }
    vec_free(&more);
    ptrmap_free(&w.kernels);
    ptrmap_free(&w.exports);
    ptrmap_free(&w.dear);
    ptrmap_free(&w.copy);
    return true;
}
