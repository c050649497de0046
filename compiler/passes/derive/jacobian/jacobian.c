/* Jacobians and Hessians of export funcs: straight-line code of the local Jacobian of the function, and of its
 * gradient. Where there is none, or it is too long, columns of the JVP and of the second-order product take its place:
 * they are asked for here, and made by the rows behind. */
#include "passes/derive/derive.h"
#include "passes/derive/jacobian/linearise.h"
#include "passes/derive/reverse/reverse.h"
#include "passes/simplify/simplify.h"

/* Of straight-line code: beyond it a loop over directions is shorter, and C compilers take long. */
enum { MAX_OPERATIONS = 10000 };

typedef VEC(int) numbers;

static int turn_of(const ir_sigparam *p, bool hess)
{
    return hess ? p->hess : p->jac;
}

/* The parameters that are columns, in their order. */
static void find_columns(const ir_func *f, bool hess, numbers *cols)
{
    for (int turn = 1; turn <= f->nsig; turn++)
        for (int i = 0; i < f->nsig; i++)
            for (int k = 0; turn_of(&f->sig[i], hess) == turn && k < f->sig[i].rows * f->sig[i].cols; k++)
                vec_push(cols, f->sig[i].first + k);
}

static void find_results(const ir_func *f, numbers *rows)
{
    for (int i = 0; i < f->nresults; i++)
        if (scalar_is_float(f->results[i]))
            vec_push(rows, i);
}

/* Where the adjoint yields the gradients of the columns. */
static void find_gradients(const ir_func *f, numbers *rows)
{
    for (int turn = 1; turn <= f->nsig; turn++) {
        int at = f->nresults;
        for (int i = 0; i < f->nsig; i++) {
            const int n = f->sig[i].grad ? f->sig[i].rows * f->sig[i].cols : 0;
            for (int k = 0; k < n && f->sig[i].hess == turn; k++)
                vec_push(rows, at + k);
            at += n;
        }
    }
}

static void count(ir_op *op, void *ctx)
{
    *(int64_t *)ctx += op->nres > 0 && op->code != OP_CONST;
}

static bool is_short(const ir_func *f)
{
    int64_t n = 0;
    ir_walk(f->body, count, &n);
    return n <= MAX_OPERATIONS;
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

static ir_func *matrix_of(ir_func *f, ir_func *from, bool hess)
{
    ir_module *m = f->module;
    numbers rows = {0}, cols = {0};
    find_columns(f, hess, &cols);
    if (hess)
        find_gradients(f, &rows);
    else
        find_results(f, &rows);
    const jac_wanted wanted = {rows.at, cols.at, (int)rows.len, (int)cols.len, f->nresults, hess};
    bool *pattern = ARENA_ARRAY(m->mem, bool, rows.len *cols.len + 1);
    const char *name = intern(m->names, arena_printf(m->mem, "%s_%s", f->name, hess ? "hess" : "jac"));
    ir_func *out = jac_linearise(from, IR_KERNEL_JAC, name, &wanted, pattern);
    if (out && !is_short(out)) {
        rev_forget(m, out);
        out = NULL;
    }
    if (out) {
        if (hess && f->nresults == 1)
            seed_with_one(f, out);
        out->ad.primal = f;
        out->ad.pattern = pattern_text(m->mem, pattern, wanted.nrows, wanted.ncols);
    }
    vec_free(&rows);
    vec_free(&cols);
    return out;
}

bool pass_jacobian(ir_func *f)
{
    const int errors = diag_error_count(f->module->diag), asked = f->ad.derive;
    if ((asked & IR_DERIVE_JAC) && !f->ad.no_jvp_why) {
        f->ad.jac = matrix_of(f, f, false);
        f->ad.derive |= f->ad.jac ? 0 : IR_DERIVE_JVP;
    }
    if ((asked & IR_DERIVE_HESS) && f->ad.grad) {
        f->ad.hess = matrix_of(f, f->ad.grad, true);
        f->ad.derive |= f->ad.hess ? 0 : IR_DERIVE_HVP;
        if (!(f->ad.derive & (IR_DERIVE_GRAD | IR_DERIVE_HVP))) {
            rev_forget(f->module, f->ad.grad);
            f->ad.grad = NULL;
        }
    }
    return diag_error_count(f->module->diag) == errors;
}
