/* Sparse Jacobians and Hessians of kernels: derive(jac(x)), derive(hess(x)). A kernel whose parallel loops add to an
 * energy, or store residuals, gets two kernels beside it: its places, and its sweep. libtkc makes the pattern of the
 * one, and launches the other. */
#include "passes/derive/derive.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/simplify/simplify.h"

/* Calls are expanded and short loops written out, as far as possible. */
static ir_func *prepared(ir_func *k)
{
    ir_func *f = ir_clone_func(k, k->name);
    ir_request line = {.kind = IR_DERIVE_HESS};
    f->ad.requests = &line;
    f->ad.nrequests = 1;
    inline_calls_in(f);
    pass_simplify(f);
    if (pass_unroll(f))
        pass_simplify(f);
    f->ad = (ir_ad){.primal = k};
    return f;
}

static bool is_taken(const ir_module *m, const char *name)
{
    bool taken = false;
    for (size_t i = 0; i < m->funcs.len; i++)
        taken |= m->funcs.at[i]->name == name;
    return taken;
}

static ir_func *copy(const ir_func *f, const ir_func *k, const char *suffix)
{
    ir_module *m = f->module;
    const char *name = intern(m->names, arena_printf(m->mem, "%s_%s", k->name, suffix));
    while (is_taken(m, name))
        name = intern(m->names, arena_printf(m->mem, "%s_", name));
    return ir_clone_func(f, name);
}

static const char *kind_word(const ir_request *r)
{
    return r->kind == IR_DERIVE_BLOCKS ? "hess" : "jac";
}

static void refuse(const ir_func *k, const ir_request *r, const elements *e)
{
    diag(k->module->diag, span_at(e->at), DIAG_ELEMENTS, k->name, kind_word(r), r->by->name, e->why);
}

static void make(ir_func *k, const ir_request *r)
{
    ir_module *m = k->module;
    const char *word = kind_word(r);
    ir_func *base = prepared(k);
    ir_func *places = copy(base, k, arena_printf(m->mem, "%s_places", word)),
            *sweep = copy(base, k, arena_printf(m->mem, "%s_sweep", word));
    rev_forget(m, base);
    elements e = elements_of(places, r->kind, r->by);
    if (!e.why) {
        elements s = elements_of(sweep, r->kind, r->by);
        const int arity = elements_arity(&e);
        make_sweep(&s, k, arity);
        if (s.why)
            refuse(k, r, &s);
        else
            make_places(&e, k);
        k->ad.elements = (ir_elements){places, sweep, arity, e.to};
        elements_free(&s);
    } else {
        refuse(k, r, &e);
    }
    elements_free(&e);
}

bool pass_elements(ir_func *k)
{
    const int errors = diag_error_count(k->module->diag);
    for (int i = 0; i < k->ad.nrequests; i++)
        if (k->ad.requests[i].by)
            make(k, &k->ad.requests[i]);
    return diag_error_count(k->module->diag) == errors;
}
