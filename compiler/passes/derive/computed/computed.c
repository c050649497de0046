/* The matrix of a kernel whose iterations are no elements: its two kernels. */
#include "passes/derive/computed/computed.h"
#include "passes/derive/computed/computed_int.h"
#include "passes/derive/derive.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/derive/jacobian/linearise.h"
#include "passes/simplify/simplify.h"

ir_func *computed_product(computed *c, const char *name)
{
    ir_module *m = c->from->module;
    ir_func *f = ir_clone_func(c->from, name);
    hidden_begin(f, c->from->ad.primal, 2 * (int)ir_storage_count(m));
    ir_field **beside = computed_arrays(c, f, false);
    bool *active = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
    for (int i = 0; i < (int)m->nfields * IR_PLANES; i++)
        active[i] = c->active[i];
    ir_func *out = forward_beside(f, name, active, beside);
    rev_forget(m, f);
    hidden_end(out, NULL, NULL, 0);
    pass_simplify(out);
    return out;
}

const char *make_computed(ir_func *k, const ir_request *r, const ir_func *base, src_loc *at)
{
    arena *mem = k->module->mem;
    const char *word = r->kind == IR_DERIVE_BLOCKS ? "hess" : "jac";
    computed c = {.by = &r->by, .hessian = r->kind == IR_DERIVE_BLOCKS};
    c.from = ir_clone_func(base, hidden_name(k, arena_printf(mem, "%s_computed", word)));
    c.from->ad = (ir_ad){.primal = k};
    computed_follow(&c, false);
    if (!c.why && c.hessian) {
        computed_append_adjoint(&c);
        if (!c.why)
            computed_follow(&c, true);
    }
    if (!c.why) {
        ir_func *places = computed_sets(&c, hidden_name(k, arena_printf(mem, "%s_places", word)));
        ir_func *sweep = computed_product(&c, hidden_name(k, arena_printf(mem, "%s_sweep", word)));
        k->ad.elements = (ir_elements){places, sweep, 0, c.to};
    }
    rev_forget(k->module, c.from);
    computed_free(&c);
    *at = c.at;
    return c.why;
}

void note_computed(ir_func *k, const ir_request *r, const char *why, src_loc at)
{
    ir_matrix *made = jac_made(k, r->kind, 0, 0);
    made->why = why;
    made->why_at = at;
    jac_list(made);
}
