/* Functions, signatures, extents. */
#include <assert.h>
#include <string.h>

#include "lower/lower_impl.h"

static ir_shape_kind shape_of(const ty *t)
{
    return t->kind == TY_MAT ? IR_SHAPE_MAT : t->kind == TY_VEC ? IR_SHAPE_VEC : IR_SHAPE_SCALAR;
}

static ir_sigparam sigparam(const tx_local *p, int first, bool pure)
{
    const ty *t = p->type;
    ir_sigparam s = {
        .name = p->name, .elem = t->elem, .shape = shape_of(t), .rows = t->rows, .cols = t->cols, .first = first};
    s.grad = p->needs_grad;
    s.no_dual = p->no_dual;
    if (p->whole) {
        s.name = p->whole->name;
        s.structure = p->whole->type->structure;
        s.path = p->whole->type->paths[p->leaf];
        s.leads = p->leaf == 0;
        s.struct_grad = p->whole->needs_grad || pure;
    }
    return s;
}

/* The parameters of the region, one for each component, and what they are for the user. */
static void lower_params(lower *l, ir_func *f, const tx_func *fn)
{
    if (f->kind == IR_KERNEL) {
        f->sig = ARENA_ARRAY(l->mem, ir_sigparam, fn->nparams);
        f->nsig = fn->nparams;
    }
    agg *args = ARENA_ARRAY(l->mem, agg, fn->nparams);
    for (int i = 0; i < fn->nparams; i++) {
        const tx_local *p = fn->params[i];
        const ty *t = p->type;
        if (p->array) {
            f->sig[i] = sigparam(p, 0, f->pure);
            f->sig[i].rows = f->sig[i].cols = 0;
            f->sig[i].grad = p->array->grad;
            f->sig[i].no_dual = scalar_is_float(p->array->elem) && !p->array->dual;
            f->sig[i].array = p->array;
            continue;
        }
        const char **names = component_names(l, p->name, t);
        args[i] = agg_scalars(l, t->elem, ty_ncomp(t));
        if (f->sig)
            f->sig[i] = sigparam(p, f->body->nparams, f->pure);
        for (int k = 0; k < args[i].n; k++) {
            args[i].at[k] = ir_region_param(f->body, t->elem, names[k]);
            args[i].at[k]->loc = p->loc;
        }
    }
    for (int i = 0; i < fn->nparams; i++)
        if (!fn->params[i]->array) {
            var_bind(l, fn->params[i], &args[i]);
            check_finite(l, &args[i], fn->params[i]->loc);
        }
}

static void set_results(lower *l, ir_func *f, ir_value *const *v, int n)
{
    f->nresults = n;
    f->results = ARENA_ARRAY(l->mem, scalar, n);
    for (int i = 0; i < n; i++)
        f->results[i] = v[i]->type;
    ir_yield(&l->b, n, v);
}

static ir_sigparam result_sig(lower *l, const ty *whole, int leaf, const char *name, int first)
{
    const ty *t = ty_leaf(l->types, whole, leaf);
    ir_sigparam s = {.name = name,
                     .elem = t->elem,
                     .shape = shape_of(t),
                     .rows = t->rows,
                     .cols = t->cols,
                     .first = first,
                     .grad = scalar_is_float(t->elem)};
    if (whole->kind == TY_STRUCT) {
        s.structure = whole->structure;
        s.path = whole->paths[leaf];
        s.leads = leaf == 0;
    }
    return s;
}

/* What the results are for the user; returns the number of their components. */
static int set_outs(lower *l, ir_func *f, const tx_func *fn)
{
    const int declared = result_count(fn->declared);
    int n = 0;
    f->outs = ARENA_ARRAY(l->mem, ir_sigparam, result_count(fn->result));
    for (int i = 0; i < declared; i++) {
        const ty *t = result_type(fn->declared, i);
        const char *name = declared == 1 ? "result" : arena_printf(l->mem, "result_%d", i);
        for (int k = 0; k < ty_nleaves(t); k++) {
            f->outs[f->nouts] = result_sig(l, t, k, name, n);
            n += f->outs[f->nouts].rows * f->outs[f->nouts].cols;
            f->nouts++;
        }
    }
    return n;
}

static void lower_results(lower *l, ir_func *f)
{
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, set_outs(l, f, l->frame->fn));
    int n = 0;
    for (int i = 0; i < l->frame->nresults; i++)
        for (int k = 0; k < l->frame->results[i]->n; k++)
            v[n++] = var_get(l, l->frame->results[i], k);
    set_results(l, f, v, n);
}

static void list_inputs(lower *l, const ir_func *f, const tx_request *from, ir_request *to)
{
    to->inputs = ARENA_ARRAY(l->mem, int, f->nsig + 1);
    for (int i = 0; i < from->ninputs; i++)
        for (int k = 0; k < f->nsig; k++)
            if (strcmp(f->sig[k].name, from->inputs[i]) == 0)
                to->inputs[to->ninputs++] = k;
}

static void lower_requests(lower *l, ir_func *f, const tx_func *fn)
{
    f->ad.derive_explicit = fn->derive_explicit;
    f->ad.requests = ARENA_ARRAY(l->mem, ir_request, fn->nrequests + 1);
    f->ad.nrequests = fn->nrequests;
    for (int i = 0; i < fn->nrequests; i++) {
        f->ad.requests[i].kind = fn->requests[i].kind;
        f->ad.requests[i].by = fn->requests[i].by;
        if (fn->requests[i].inputs && f->pure)
            list_inputs(l, f, &fn->requests[i], &f->ad.requests[i]);
    }
}

static ir_builder body_builder(ir_func *f, src_loc loc)
{
    return (ir_builder){.func = f, .region = f->body, .loc = loc};
}

static ir_func *lower_func(lower *l, tx_func *fn, ir_func_kind kind)
{
    ir_func *f = ir_func_create(l->m, kind, fn->name);
    f->pure = kind == IR_KERNEL && fn->exported;
    f->doc = fn->doc;
    f->prelude = fn->prelude;
    f->called = fn->is_kernel && fn->called;
    f->loc = fn->loc;
    f->ad.no_grad = fn->no_grad;
    frame fr = {.fn = fn,
                .scan = scan_func(l->mem, fn),
                .nresults = result_count(fn->result),
                .returned = var_flag(l, "returned")};
    fr.results = ARENA_ARRAY(l->mem, lvar *, fr.nresults);
    l->b = body_builder(f, fn->loc);
    l->frame = &fr;
    enter_finite(l, &fr, NULL);
    for (int i = 0; i < fr.nresults; i++) {
        fr.results[i] = var_create(l, "result", result_type(fn->result, i));
        if (!fr.results[i]->val)
            fr.results[i]->mem = ir_local(&l->b, fr.results[i]->elem, fr.results[i]->n, "result");
    }
    lower_params(l, f, fn);
    lower_requests(l, f, fn);
    f->draws = fn->nsites > 0;
    if (f->draws)
        fr.key = fn->is_kernel ? ir_key(&l->b) : ir_region_param(f->body, SC_U64, "key");
    lower_list(l, fn->body, NULL, 0);
    lower_results(l, f);
    l->frame = NULL;
    assert(ir_verify(f, "lower"));
    return f;
}

/* A C function of the host: its body is the call. */
static ir_func *lower_extern(lower *l, tx_func *fn)
{
    ir_func *f = ir_func_create(l->m, IR_FUNC, fn->name);
    f->doc = fn->doc;
    f->loc = fn->loc;
    f->external = f->no_inline = true;
    f->sig = ARENA_ARRAY(l->mem, ir_sigparam, fn->nparams);
    f->nsig = fn->nparams;
    for (int i = 0; i < fn->nparams; i++) {
        const tx_local *p = fn->params[i];
        const char **names = component_names(l, p->name, p->type);
        f->sig[i] = sigparam(p, f->body->nparams, false);
        for (int k = 0; k < ty_ncomp(p->type); k++)
            ir_region_param(f->body, p->type->elem, names[k])->loc = p->loc;
    }
    const int n = set_outs(l, f, fn);
    scalar *types = ARENA_ARRAY(l->mem, scalar, n);
    for (int i = 0; i < f->nouts; i++)
        for (int k = 0; k < f->outs[i].rows * f->outs[i].cols; k++)
            types[f->outs[i].first + k] = f->outs[i].elem;
    l->b = body_builder(f, fn->loc);
    const ir_op *call = ir_insert(&l->b, OP_EXTERN, f->body->nparams, f->body->params, n, types, 0);
    set_results(l, f, call->res, n);
    vec_push(&l->m->externs, f);
    assert(ir_verify(f, "lower"));
    return f;
}

/* Extents of arrays that are no parameters, which nothing runs: what extents of loops are compared with. */
static void lower_array_extents(lower *l, const ir_field *array)
{
    for (int d = 0; d < array->ndim; d++)
        if (array->dims[d].param < 0)
            array->dims[d].value = ir_shape(&l->b, (ir_field *)array, d);
}

/* One after the other, as libtkc takes them: members apart have the extents of the first once more, members of an array
 * of structs have none. */
static void lower_extents(lower *l, const tx_module *tx)
{
    ir_func *f = ir_func_create(l->m, IR_FUNC, "extents");
    l->b = body_builder(f, (src_loc){0});
    ir_value **given = lower_scalars(l, tx->extents, tx->nextents);
    int total = 0, n = 0, at = 0;
    for (size_t i = 0; i < l->m->nfields; i++)
        total += l->m->fields.at[i]->ndim;
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, total + 1);
    for (size_t i = 0; i < l->m->nfields; i++) {
        ir_field *field = l->m->fields.at[i];
        const bool leads = !field->lead || field->lead == field, begins = ir_field_begins(field);
        field->extent0 = begins ? n : field->lead->extent0;
        for (int d = 0; d < field->ndim && begins; d++) {
            const ir_field *with = field->wide_of ? field->wide_of : field->lead;
            const int fixed = ir_wide_extent(field, d);
            v[n] = fixed                      ? ir_const_i(&l->b, SC_I64, fixed)
                   : leads && !field->wide_of ? given[at++]
                                              : v[with->extent0 + d];
            n++;
        }
    }
    assert(at == tx->nextents);
    for (size_t i = l->m->nfields; i < l->m->fields.len; i++)
        lower_array_extents(l, l->m->fields.at[i]);
    set_results(l, f, v, n);
    l->m->extents = f;
    assert(ir_verify(f, "lower"));
}

/* Derivatives that the program brings along. Nothing is inlined that has them: they belong to the call. */
static void link_custom(const tx_func *f)
{
    ir_func *grad = f->custom_grad ? f->custom_grad->lowered : NULL,
            *jvp = f->custom_jvp ? f->custom_jvp->lowered : NULL;
    for (int k = 0; k < 2 && f->lowered; k++)
        f->lowered->ad.spectral[k] = f->spectral[k] ? f->spectral[k]->lowered : NULL;
    if (!f->lowered || (!grad && !jvp))
        return;
    f->lowered->ad.custom_grad = grad;
    f->lowered->ad.custom_jvp = jvp;
    if (grad)
        grad->ad.custom_of = f->lowered;
    if (jvp)
        jvp->ad.custom_of = f->lowered;
    if (f->is_kernel)
        return;
    f->lowered->ad.vjp = grad;
    f->lowered->ad.fn_jvp = jvp;
    f->lowered->no_inline = true;
}

void lower_module(tx_module *tx)
{
    lower l = {.m = tx->ir, .mem = tx->ir->mem, .types = tx->types};
    lower_extents(&l, tx);
    for (tx_func *f = tx->funcs; f; f = f->next) {
        if (f->exported)
            lower_func(&l, f, IR_KERNEL);
        if (f->external)
            f->lowered = lower_extern(&l, f);
        else if (f->is_kernel ? !f->at_call : ((f->called || !f->exported) && !is_expanded(l.mem, f)))
            f->lowered = lower_func(&l, f, f->is_kernel ? IR_KERNEL : IR_FUNC);
    }
    for (const tx_func *f = tx->funcs; f; f = f->next)
        link_custom(f);
}
