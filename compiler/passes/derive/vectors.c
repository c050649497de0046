/* Derivatives of singular vectors and eigenvectors: a warning. Where values meet these have none. What depends on the
 * values alone, or became a call of spectral_of, does not use the vectors any more. */
#include "ir/spectral.h"

#include "passes/analysis/activity.h"
#include "passes/derive/derive.h"

typedef VEC(src_loc) loc_list;

typedef struct vectors {
    activity_mode mode;
    const activity *act;
    VEC(const ir_func *) seen; /* functions that were looked into */
    loc_list told;
} vectors;

static void check_func(vectors *v, ir_func *f);

static void tell(vectors *v, const ir_op *op)
{
    for (size_t i = 0; i < v->told.len; i++)
        if (v->told.at[i].line == op->loc.line && v->told.at[i].col == op->loc.col &&
            v->told.at[i].file == op->loc.file)
            return;
    vec_push(&v->told, op->loc);
    diag_sink *d = op->region->func->module->diag;
    diag(d, span_at(op->loc), DIAG_VECTORS);
    diag_note(d, span_at(op->loc),
              "functions of the values are 'spectral(A, f)', or 'U @ diag(g) @ transpose(V)'; rotations are "
              "'polar_decompose(A)'; vectors of stop_grad(A) are constant");
}

static void check_call(ir_op *op, void *ctx)
{
    vectors *v = ctx;
    if (op->code != OP_CALL)
        return;
    bool active = false;
    for (int i = 0; i < op->nres; i++)
        active |= activity_has(v->act, op->res[i]);
    ir_func *of = ir_callee_of(op);
    ir_spectral f;
    if (!active || !of->ad.spectral[0] || !ir_spectral_begin(&f, op)) {
        if (active && !of->prelude && !of->no_inline)
            check_func(v, of);
        return;
    }
    bool by_vectors = false;
    for (int k = 0; k < f.n * f.n; k++)
        by_vectors |= activity_has(v->act, f.u[k]) || activity_has(v->act, f.v[k]);
    if (by_vectors)
        tell(v, op);
}

static void check_func(vectors *v, ir_func *f)
{
    for (size_t i = 0; i < v->seen.len; i++)
        if (v->seen.at[i] == f)
            return;
    vec_push(&v->seen, f);
    const activity *outer = v->act;
    activity act = activity_compute(f, v->mode);
    v->act = &act;
    ir_walk(f->body, check_call, v);
    v->act = outer;
    activity_free(&act);
}

bool pass_vectors(ir_module *m)
{
    static const int derivatives[] = {[ACTIVITY_REVERSE] = IR_DERIVE_GRAD | IR_DERIVE_HVP | IR_DERIVE_HESS,
                                      [ACTIVITY_FORWARD] = IR_DERIVE_JVP | IR_DERIVE_JAC};
    vectors v = {0};
    for (int mode = 0; mode < 2; mode++) {
        v.mode = (activity_mode)mode;
        v.seen.len = 0;
        for (size_t i = 0; i < m->funcs.len; i++) {
            ir_func *k = m->funcs.at[i];
            const bool own = mode == ACTIVITY_REVERSE ? k->ad.custom_grad : k->ad.custom_jvp;
            if (k->kind == IR_KERNEL && !k->ad.no_grad && !own && (ir_derives(k) & derivatives[mode]))
                check_func(&v, k);
        }
    }
    vec_free(&v.seen);
    vec_free(&v.told);
    return true;
}
