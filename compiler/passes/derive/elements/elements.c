/* Sparse Jacobians and Hessians of kernels: derive(jac(x)), derive(hess(x)). A kernel whose parallel loops add to an
 * energy, or store residuals, gets two kernels beside it: its places, and its sweep. libtkc makes the pattern of the
 * one, and launches the other. Other kernels get computed patterns: computed/. */
#include "passes/derive/computed/computed.h"
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

static const char *kind_word(const ir_request *r)
{
    return r->kind == IR_DERIVE_BLOCKS ? "hess" : "jac";
}

static void refuse(const ir_func *k, const ir_request *r, const char *why, src_loc at)
{
    diag(k->module->diag, span_at(at), DIAG_ELEMENTS, k->name, kind_word(r),
         ir_columns_names(k->module->mem, &r->by, ", "), why);
}

static ir_func *kernel_of(const ir_func *base, const ir_func *k, const ir_request *r, const char *what)
{
    return ir_clone_func(base, hidden_name(k, arena_printf(k->module->mem, "%s_%s", kind_word(r), what)));
}

/* Why the iterations are no elements; NULL: they are, and the kernels are made. */
static const char *make_elements(ir_func *k, const ir_request *r, const ir_func *base, src_loc *at)
{
    ir_func *places = kernel_of(base, k, r, "places"), *sweep = kernel_of(base, k, r, "sweep");
    const size_t listed = k->module->matrices.len;
    elements e = elements_of(places, r), s = {.why = e.why, .at = e.at};
    const int arity = elements_arity(&e);
    if (!e.why) {
        s = elements_of(sweep, r);
        make_sweep(&s, k, arity);
        if (!s.why)
            make_places(&e, k);
    }
    *at = s.at;
    if (s.why) {
        k->module->matrices.len = listed;
        rev_forget(k->module, places);
        rev_forget(k->module, sweep);
    } else {
        k->ad.elements = (ir_elements){places, sweep, arity, e.to, false};
    }
    elements_free(&s);
    elements_free(&e);
    return s.why;
}

static void make(ir_func *k, const ir_request *r)
{
    ir_func *base = prepared(k);
    src_loc at, computed_at = {0};
    const char *why = make_elements(k, r, base, &at);
    if (why) {
        const char *neither = make_computed(k, r, base, &computed_at);
        if (neither)
            refuse(k, r, neither, computed_at);
        else
            note_computed(k, r, why, at);
    }
    rev_forget(k->module, base);
}

bool pass_elements(ir_func *k)
{
    const int errors = diag_error_count(k->module->diag);
    for (int i = 0; i < k->ad.nrequests; i++)
        if (k->ad.requests[i].by.n)
            make(k, &k->ad.requests[i]);
    return diag_error_count(k->module->diag) == errors;
}
