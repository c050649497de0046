/* The matrix of a kernel whose iterations are no elements: its two kernels. */
#include "ir/ops.h"
#include "passes/derive/computed/computed.h"
#include "passes/derive/computed/computed_int.h"
#include "passes/derive/derive.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/derive/jacobian/linearise.h"
#include "passes/simplify/simplify.h"

/* ---- gradients of fields that have no plane for them ---- */

typedef struct moved {
    ir_field *const *holders;
    VEC(ir_op *) all;
} moved;

static void find_moved(ir_op *op, void *ctx)
{
    moved *m = ctx;
    if ((op->code == OP_LOAD || op_writes_field(op->code)) && !ir_field_of(op)->array &&
        m->holders[ir_storage_of_op(op)])
        vec_push(&m->all, op);
}

/* Accesses of a gradient become accesses of its array. */
static void move_gradients(ir_func *f, ir_field *const *holders)
{
    moved m = {.holders = holders};
    ir_walk(f->body, find_moved, &m);
    for (size_t i = 0; i < m.all.len; i++) {
        ir_op *op = m.all.at[i];
        ir_field *a = holders[ir_storage_of_op(op)];
        ir_builder b = {.func = f, .region = op->region, .before = op, .loc = op->loc};
        ir_value *at = ir_component_number(&b, ir_field_of(op), op->args), *zero = ir_const_i(&b, SC_I64, 0);
        if (op->code == OP_LOAD)
            ir_replace_uses(f->body, op->res[0], ir_load(&b, a, IR_DATA, &at, zero));
        else if (op->code == OP_STORE)
            ir_store(&b, a, IR_DATA, &at, zero, ir_stored_value(op));
        else
            ir_accum(&b, a, IR_DATA, &at, zero, ir_stored_value(op));
        ir_remove(op);
    }
    vec_free(&m.all);
}

/* ---- the two kernels ---- */

ir_func *computed_product(computed *c, const char *name)
{
    ir_module *m = c->from->module;
    const size_t nstorages = m->nfields * IR_PLANES;
    ir_func *f = ir_clone_func(c->from, name);
    hidden_begin(f, c->from->ad.primal, 4 * (int)ir_storage_count(m));
    ir_field **holders = ARENA_ARRAY(m->mem, ir_field *, nstorages + 1),
             **tangents = computed_arrays(c, f, false, holders);
    ir_field **beside = ARENA_ARRAY(m->mem, ir_field *, ir_storage_count(m) + 1);
    bool *active = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
    for (size_t at = 0; at < nstorages; at++) {
        const size_t to = holders[at] ? ir_storage_of(holders[at], IR_DATA) : at;
        active[to] = c->active[at];
        beside[to] = tangents[at];
    }
    move_gradients(f, holders);
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
        k->ad.elements = (ir_elements){places, sweep, 0, c.to, c.replays};
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
