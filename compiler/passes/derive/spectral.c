/* Second derivatives of functions of singular values or eigenvalues alone.
 *
 * Such a function has the gradient U diag(g(s)) V^T, which the rule of the decomposition makes of the gradient g by s.
 * In a second-order product that is differentiated once more: so it becomes the call of spectral_of, which knows the
 * derivatives of g by s, as for a product that the program wrote. The rest stays with the rule: a gradient by vectors,
 * and one that comes from outside of the adjoint, which may depend on s in any way. */
#include "ir/spectral.h"

#include "passes/derive/derive.h"

typedef VEC(ir_op *) op_list;

static void collect_rule(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    const ir_func *of = op->code == OP_CALL ? ir_callee_of(op)->ad.custom_of : NULL;
    if (of && of->ad.spectral[0] && of->ad.custom_grad == ir_callee_of(op))
        vec_push(l, op);
}

/* The call of the decomposition with the arguments of its rule, in front of that; NULL: there is none. */
static ir_op *decomposition_of(const ir_op *rule)
{
    const ir_func *of = ir_callee_of(rule)->ad.custom_of;
    for (const ir_op *at = rule; at; at = at->region->parent)
        for (ir_op *op = at->prev; op; op = op->prev) {
            bool same = op->code == OP_CALL && ir_callee_of(op) == of;
            for (int i = 0; same && i < op->nargs; i++)
                same = op->args[i] == rule->args[i];
            if (same)
                return op;
        }
    return NULL;
}

/* The gradients by values, behind the matrix; false: there are others. */
static bool is_of_values(const ir_op *rule, ir_spectral *f)
{
    const int n2 = f->n * f->n;
    ir_value *const *by = rule->args + n2;
    bool is = true;
    for (int k = 0; k < f->call->nres; k++) {
        const int i = f->symmetric ? k : k - n2;
        if (i >= 0 && i < f->n)
            f->g[i] = by[k];
        else
            is = is && ir_is_const(by[k]) && ir_float(by[k]) == 0;
    }
    return is;
}

static bool replace(ir_func *f, ir_op *rule, bool bends, ir_map *map)
{
    ir_spectral form;
    ir_op *call = decomposition_of(rule);
    if (!call || !ir_spectral_begin(&form, call) || !is_of_values(rule, &form))
        return false;
    ir_builder b = {.func = f, .region = rule->region, .before = rule, .loc = rule->loc, .origin = rule->origin};
    const ir_op *made = ir_spectral_call(&b, &form, ir_callee_of(rule)->ad.custom_of->ad.spectral, bends);
    for (int k = 0; made && k < rule->nres; k++)
        ir_map_set(map, rule->res[k], made->res[k]);
    if (made)
        ir_remove(rule);
    return made;
}

bool spectral_in(ir_func *f, bool bends)
{
    op_list rules = {0};
    ir_walk(f->body, collect_rule, &rules);
    ir_map map = ir_map_create(f);
    bool changed = false;
    for (size_t i = 0; i < rules.len; i++)
        changed |= replace(f, rules.at[i], bends, &map);
    if (changed)
        ir_rewrite_uses(f, &map);
    ir_map_free(&map);
    vec_free(&rules);
    return changed;
}
