/* Jacobians and Hessians of export funcs: straight-line code of the local Jacobian of the function, and of its
 * gradient. Where there is none, or it is too long, columns of the JVP and of the second-order product take its place:
 * they are asked for here, and made by the rows behind. */
#include "passes/derive/derive.h"
#include "passes/derive/jacobian/linearise.h"
#include "passes/derive/reverse/reverse.h"
#include "passes/simplify/simplify.h"

typedef VEC(int) numbers;

/* The parameters that are columns, in their order. */
static void find_columns(const ir_func *f, const ir_request *by, numbers *cols)
{
    for (int i = 0; i < by->ninputs; i++) {
        const ir_sigparam *p = &f->sig[by->inputs[i]];
        for (int k = 0; scalar_is_float(p->elem) && k < p->rows * p->cols; k++)
            vec_push(cols, p->first + k);
    }
}

static void find_results(const ir_func *f, numbers *rows)
{
    for (int i = 0; i < f->nresults; i++)
        if (scalar_is_float(f->results[i]))
            vec_push(rows, i);
}

/* Where the adjoint, which is by these inputs alone, yields the gradients of the columns. */
static void find_gradients(const ir_func *f, const ir_request *by, numbers *rows)
{
    const ir_sigparam *sig = signature_by(f, by->kind);
    for (int i = 0; i < by->ninputs; i++) {
        int at = f->nresults;
        for (int k = 0; k < by->inputs[i]; k++)
            at += sig[k].grad ? sig[k].rows * sig[k].cols : 0;
        const ir_sigparam *p = &sig[by->inputs[i]];
        for (int k = 0; p->grad && k < p->rows * p->cols; k++)
            vec_push(rows, at + k);
    }
}

static const char *pattern_text(arena *mem, const bool *pattern, int nrows, int ncols)
{
    strbuf b = {0};
    for (int i = 0; i < nrows; i++) {
        sb_add(&b, i ? " " : "");
        for (int j = 0; j < ncols; j++)
            sb_addc(&b, pattern[i * ncols + j] ? '1' : '0');
    }
    const char *text = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return text;
}

/* The Hessian of one number has no multiplier. */
static void seed_with_one(const ir_func *f, ir_func *hess)
{
    ir_value *seed = hess->body->params[f->body->nparams];
    ir_builder b = {.func = hess, .region = hess->body, .before = hess->body->first, .loc = f->loc};
    ir_replace_uses(hess->body, seed, ir_const_f(&b, seed->type, 1));
    pass_simplify(hess);
}

static ir_func *matrix_of(ir_func *f, ir_func *from, const ir_request *by)
{
    ir_module *m = f->module;
    const bool hess = by->kind == IR_DERIVE_HESS;
    numbers rows = {0}, cols = {0};
    find_columns(f, by, &cols);
    if (hess)
        find_gradients(f, by, &rows);
    else
        find_results(f, &rows);
    const jac_wanted wanted = {rows.at, cols.at, (int)rows.len, (int)cols.len, f->nresults, .lower = hess};
    bool *pattern = ARENA_ARRAY(m->mem, bool, rows.len *cols.len + 1);
    const char *name = intern(m->names, arena_printf(m->mem, "%s_%s", f->name, hess ? "hess" : "jac"));
    ir_matrix *made = jac_made(f, by->kind, wanted.nrows, wanted.ncols);
    jac_list(made);
    ir_func *out = jac_linearise(from, IR_KERNEL_JAC, name, &wanted, pattern, made);
    if (out && !jac_is_short(out, made)) {
        rev_forget(m, out);
        out = NULL;
    }
    if (out) {
        jac_count_entries(made, pattern);
        if (hess && f->nresults == 1)
            seed_with_one(f, out);
        out->ad.primal = f;
        out->ad.pattern = pattern_text(m->mem, pattern, wanted.nrows, wanted.ncols);
    }
    vec_free(&rows);
    vec_free(&cols);
    return out;
}

/* ---- columns ---- */

static bool covers(const ir_request *r, const ir_request *by)
{
    bool all = true;
    for (int i = 0; i < by->ninputs && r->inputs; i++) {
        bool has = false;
        for (int k = 0; k < r->ninputs; k++)
            has |= r->inputs[k] == by->inputs[i];
        all &= has;
    }
    return all;
}

/* The derivative that gives the columns is asked for. It is an error if the program has it by other inputs. */
static void ask_for_columns(ir_func *f, const ir_request *by, int kind)
{
    const ir_request *own = ir_request_of(f, kind);
    if (own && !covers(own, by))
        diag(f->module->diag, span_at(f->loc), DIAG_MATRIX_COLUMNS, by->kind == IR_DERIVE_HESS ? "hess" : "jac",
             f->name, kind == IR_DERIVE_HVP ? "hvp" : "jvp");
    if (own)
        return;
    ir_request *all = ARENA_ARRAY(f->module->mem, ir_request, f->ad.nrequests + 1);
    for (int i = 0; i < f->ad.nrequests; i++)
        all[i] = f->ad.requests[i];
    all[f->ad.nrequests] = *by;
    all[f->ad.nrequests++].kind = kind;
    f->ad.requests = all;
}

static void make_jacobian(ir_func *f, const ir_request *by)
{
    f->ad.jac = matrix_of(f, f, by);
    if (!f->ad.jac)
        ask_for_columns(f, by, IR_DERIVE_JVP);
}

static void make_hessian(ir_func *f, const ir_request *by)
{
    ir_func *curved = f->ad.curved;
    f->ad.curved = NULL;
    f->ad.hess = matrix_of(f, curved, by);
    if (f->ad.hess || ir_request_of(f, IR_DERIVE_HVP))
        rev_forget(f->module, curved);
    else
        f->ad.bent = curved; /* the second-order product is made of it */
    if (!f->ad.hess)
        ask_for_columns(f, by, IR_DERIVE_HVP);
}

bool pass_jacobian(ir_func *f)
{
    const int errors = diag_error_count(f->module->diag);
    const ir_request *jac = ir_request_of(f, IR_DERIVE_JAC), *hess = ir_request_of(f, IR_DERIVE_HESS);
    if (jac && !f->ad.no_jvp_why)
        make_jacobian(f, jac);
    if (hess && f->ad.curved)
        make_hessian(f, ir_request_of(f, IR_DERIVE_HESS));
    return diag_error_count(f->module->diag) == errors;
}
